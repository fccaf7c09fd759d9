//! What a bot consists of: the files its name refers to, and a hash of them.
//!
//! A bot is what its name refers to: a single file, or a folder with everything in it except what tools leave there ([`LEFT_OUT`],
//! [`LEFT_OUT_ENDINGS`]). A helper beside a single file is not part of it; name the folder instead.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use agon_bot::{BotName, Launch, NameKind};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Folders that are not part of a bot: what version control, compilers, package managers and agon itself leave behind.
pub const LEFT_OUT: [&str; 10] = [
    ".git",
    ".hg",
    ".svn",
    "__pycache__",
    "node_modules",
    "target",
    ".agon",
    "agon-bots",
    "agon-replays",
    "agon-series",
];

/// Endings of files that are not part of a bot: what it, or an editor, writes while it runs.
pub const LEFT_OUT_ENDINGS: [&str; 4] = ["log", "tmp", "pyc", "swp"];

/// The most files in a bot's folder.
const MOST_FILES: usize = 20_000;
/// Above this size (weights of a network), size and modification time stand for the content.
const LARGE: u64 = 64 << 20;

/// The hash of a text: of rules, of a map.
pub fn of_text(text: &[u8]) -> u64 {
    xxh3_64(text)
}

/// Which built-in bots these are. It changes when one of them plays otherwise, which the transcripts of `agon-games` show: it is another bot
/// then, in a series that resumes and on a contest's ladder. It does not change with the program's version.
pub const BUILT_INS: &str = "built-in bots 1";

/// A hash of everything that makes the bot play as it does, as far as that can be known.
///
/// # Errors
/// A sentence for the user when files cannot be read.
pub fn of_bot(name: &BotName) -> Result<u64, String> {
    let mut hash = Xxh3::new();
    match &name.kind {
        NameKind::Builtin { .. } => {
            hash.update(name.text.as_bytes());
            hash.update(BUILT_INS.as_bytes());
        }
        NameKind::Command(words) => {
            for word in words {
                hash.update(word.as_bytes());
                hash.update(&[0]);
                let path = Path::new(word);
                if path.is_file() || path.is_dir() {
                    add_path(&mut hash, path)?;
                }
            }
        }
        NameKind::Path(path) => {
            add_path(&mut hash, path)?;
            // The program may be in a folder that is left out: `run = "target/release/bot"`.
            if path.is_dir()
                && let Ok(Some(launch)) = Launch::of(name)
            {
                for word in std::iter::once(&launch.program).chain(&launch.arguments) {
                    let file = path.join(word);
                    if file.is_file() {
                        add_file(&mut hash, &file)?;
                    }
                }
            }
        }
        _ => hash.update(name.text.as_bytes()),
    }
    Ok(hash.digest())
}

fn add_path(hash: &mut Xxh3, path: &Path) -> Result<(), String> {
    if !path.is_dir() {
        return add_file(hash, path);
    }
    for file in files(path)? {
        hash.update(file.as_os_str().as_encoded_bytes());
        hash.update(&[0]);
        add_file(hash, &path.join(file))?;
    }
    Ok(())
}

fn add_file(hash: &mut Xxh3, path: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    hash.update(&about.len().to_le_bytes());
    if about.len() > LARGE {
        let changed = about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        hash.update(&changed.unwrap_or_default().as_nanos().to_le_bytes());
        return Ok(());
    }
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(()),
            length => hash.update(&buffer[..length]),
        }
    }
}

/// The files that make up the bot in `folder`, relative to it, in order. Links to folders are not followed.
///
/// # Errors
/// A sentence for the user.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        let place = folder.join(&inner);
        let failed = |error: std::io::Error| format!("{}: {error}", place.display());
        for entry in std::fs::read_dir(&place).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = inner.join(entry.file_name());
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                if !LEFT_OUT.iter().any(|left_out| entry.file_name() == *left_out) {
                    open.push(name);
                }
            } else if !is_left_out(&name) && (kind.is_file() || entry.path().is_file()) {
                found.push(name);
            }
            if found.len() + open.len() > MOST_FILES {
                return Err(format!(
                    "{}: more than {MOST_FILES} files cannot be a bot; give it a folder of its own",
                    folder.display()
                ));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What a bot's folder holds that is no part of the bot, although a bot may need it, each with what to do: the packages of a
/// package manager, what a build made, files with the ending of a log, and links to folders.
pub fn needed_but_left_out(folder: &Path) -> Vec<String> {
    let is_there = |name: &str| folder.join(name).is_dir();
    let mut missed = Vec::new();
    if is_there("node_modules") {
        missed.push(
            "node_modules: packages stay behind, and a contest has no network; pack what the bot needs into one file (npx esbuild bot.js \
             --bundle --platform=node --outfile=out.js), or copy it into a folder with another name"
                .to_owned(),
        );
    }
    if is_there("target") {
        missed
            .push("target: what is built stays behind; agon.toml's `build` makes it again there".to_owned());
    }
    let (mut odd, mut open, mut seen) = (Vec::new(), vec![PathBuf::new()], 0);
    while let Some(inner) = open.pop().filter(|_| seen < MOST_FILES) {
        for entry in std::fs::read_dir(folder.join(&inner)).into_iter().flatten().flatten() {
            seen += 1;
            let name = inner.join(entry.file_name());
            let kind = entry.file_type().ok();
            let is_deeper = inner.components().next().is_some();
            if kind.is_some_and(|kind| kind.is_dir()) {
                let is_out = LEFT_OUT.iter().any(|left_out| entry.file_name() == *left_out);
                if !is_out {
                    open.push(name);
                } else if is_deeper && entry.file_name() == "node_modules" {
                    missed.push(format!("{}: packages stay behind, as above", name.display()));
                }
            } else if kind.is_some_and(|kind| kind.is_symlink()) && entry.path().is_dir() {
                missed.push(format!(
                    "{}: links to folders are not followed; copy what the bot needs",
                    name.display()
                ));
            } else if name.extension().is_some_and(|ending| ending == "log" || ending == "tmp") {
                odd.push(name.display().to_string());
            }
        }
    }
    odd.sort();
    if let Some(first) = odd.first() {
        let more = if odd.len() > 1 { format!(" and {} more", odd.len() - 1) } else { String::new() };
        missed.push(format!(
            "{first}{more}: files that end in .log or .tmp stay behind; rename what the bot reads"
        ));
    }
    missed
}

fn is_left_out(file: &Path) -> bool {
    file.extension().is_some_and(|ending| LEFT_OUT_ENDINGS.iter().any(|left_out| ending == *left_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> u64 {
        of_bot(&BotName::parse(text).expect("a name")).expect("a hash")
    }

    #[test]
    fn a_folder_is_its_files_but_not_what_tools_leave_there() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("bot");
        std::fs::create_dir_all(folder.join("lib")).expect("a folder");
        std::fs::write(folder.join("bot.py"), "one").expect("a file");
        std::fs::write(folder.join("lib/help.py"), "help").expect("a file");
        let text = folder.to_str().expect("a name");
        let first = hash(text);
        std::fs::create_dir_all(folder.join("__pycache__")).expect("a folder");
        std::fs::write(folder.join("__pycache__/bot.pyc"), "noise").expect("a file");
        std::fs::write(folder.join("lib/today.log"), "noise").expect("a file");
        assert_eq!(hash(text), first);
        std::fs::write(folder.join("lib/help.py"), "halp").expect("a file");
        let second = hash(text);
        assert_ne!(second, first);
        std::fs::rename(folder.join("lib/help.py"), folder.join("lib/hulp.py")).expect("renamed");
        assert_ne!(hash(text), second, "names count");
    }

    #[test]
    fn what_stays_behind_and_may_be_missed_is_named() {
        let place = tempfile::tempdir().expect("a folder");
        std::fs::write(place.path().join("bot.js"), "").expect("a file");
        std::fs::create_dir(place.path().join("__pycache__")).expect("a folder");
        assert_eq!(needed_but_left_out(place.path()), [""; 0], "nobody misses what an interpreter leaves");
        std::fs::create_dir_all(place.path().join("node_modules/left")).expect("a folder");
        std::fs::create_dir(place.path().join("target")).expect("a folder");
        std::fs::write(place.path().join("book.log"), "").expect("a file");
        std::os::unix::fs::symlink("/usr/share", place.path().join("share")).expect("a link");
        let said = needed_but_left_out(place.path());
        for (line, what) in said.iter().zip(["node_modules:", "target:", "share:", "book.log:"]) {
            assert!(line.starts_with(what), "{said:?}");
        }
        assert_eq!(said.len(), 4, "{said:?}");
    }

    #[test]
    fn the_program_a_folder_runs_counts_wherever_it_lies() {
        let place = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(place.path().join("target")).expect("a folder");
        std::fs::write(place.path().join("agon.toml"), "run = 'target/bot'").expect("a file");
        std::fs::write(place.path().join("target/bot"), "old").expect("a file");
        let text = place.path().to_str().expect("a name");
        let first = hash(text);
        std::fs::write(place.path().join("target/bot"), "new").expect("a file");
        assert_ne!(hash(text), first);
    }

    #[test]
    fn files_in_a_command_count() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("bot.py");
        std::fs::write(&file, "one").expect("a file");
        let text = format!("cmd:python3 '{}'", file.display());
        let first = hash(&text);
        std::fs::write(&file, "two").expect("a file");
        assert_ne!(hash(&text), first);
        assert_ne!(hash("builtin:a"), hash("builtin:b"));
    }
}
