//! A bot as the original of its game takes it: one source file, a flat zip, or a zipped folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use agon_bot::build::SOURCES;
use agon_bot::manifest::Manifest;
use agon_game::HandIn;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::DeskError;

/// Folders left out, besides hidden ones and those agon writes.
const BEHIND: &[&str] = &["test", "tests", "__pycache__", "node_modules", "target", "client"];

/// A folder larger than this is not a bot.
const LARGEST: u64 = 256 << 20;

/// A bot as it is handed in.
pub struct PackedBot {
    /// What to hand in, byte for byte.
    pub bytes: Vec<u8>,
    /// The bot's own file, if that is handed in as it is.
    pub own: Option<PathBuf>,
    /// What the file is usually called.
    pub name: String,
    /// The files that are handed in with it.
    pub files: Vec<String>,
    /// What it is, in words.
    pub what: &'static str,
}

impl PackedBot {
    /// Packs a bot, its folder or its only file, in the form that is taken.
    ///
    /// # Errors
    /// When the original would refuse it, and why; when a file cannot be read.
    pub fn of(bot: &Path, form: HandIn) -> Result<Self, DeskError> {
        match form {
            HandIn::Source { endings, largest } => Self::source(bot, endings.unwrap_or(SOURCES), largest),
            HandIn::Flat(wanted) => Self::zipped(&folder(bot), &[wanted], true),
            HandIn::Folder(wanted) => Self::zipped(&folder(bot), wanted, false),
        }
    }

    /// One source file, which must not need another.
    fn source(bot: &Path, endings: &[&str], largest: u64) -> Result<Self, DeskError> {
        let own = if bot.is_file() { bot.to_owned() } else { main_file(&folder(bot), endings)? };
        if !endings.contains(&ending(&own).as_str()) {
            return Err(DeskError::Impossible(format!(
                "`{}`: the contest takes one source file ({})",
                own.display(),
                endings.join(", ")
            )));
        }
        let failed = |error: io::Error| DeskError::Own(format!("{}: {error}", own.display()));
        let size = fs::metadata(&own).map_err(failed)?.len();
        if size > largest {
            let shown = own.display();
            return Err(DeskError::Impossible(format!("{shown}: {size} bytes; the contest takes {largest}")));
        }
        let bytes = fs::read(&own).map_err(failed)?;
        if let Some(other) = needed(&own, &String::from_utf8_lossy(&bytes)) {
            return Err(DeskError::Impossible(format!(
                "{} needs {}, but the contest takes one file: copy what it needs into it",
                own.display(),
                other.display()
            )));
        }
        let (name, files) = (name(&own), vec![name(&own)]);
        Ok(Self { bytes, own: Some(own), name, files, what: "its single source file" })
    }

    /// A zip, without folders when `flat`. The same files give the same bytes.
    fn zipped(folder: &Path, wanted: &[&str], flat: bool) -> Result<Self, DeskError> {
        let full = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let label = fs::canonicalize(&full).unwrap_or(full);
        let label =
            label.file_name().map_or_else(|| "bot".to_owned(), |name| name.to_string_lossy().into_owned());
        let wants = |missing: &&str| {
            DeskError::Impossible(format!("{}: the contest needs a file {missing}", folder.display()))
        };
        // First report what makes it no bot of this contest at all; its folders are a lesser problem.
        if let Some(missing) = wanted.iter().find(|wanted| !folder.join(wanted).exists()) {
            return Err(wants(missing));
        }
        let files = gather(folder, flat)?;
        if let Some(missing) = wanted.iter().find(|wanted| !files.iter().any(|file| file == *wanted)) {
            return Err(wants(missing));
        }
        let inside: Vec<String> =
            files.iter().map(|file| if flat { file.clone() } else { format!("{label}/{file}") }).collect();
        let plain = |c: char| c.is_ascii_alphanumeric() || ['.', '-', '_', '/'].contains(&c);
        if let Some(odd) = inside.iter().find(|file| !file.chars().all(plain)) {
            return Err(DeskError::Impossible(format!(
                "`{odd}`: contests refuse names with spaces and special characters; rename it"
            )));
        }
        let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
        for (file, name) in files.iter().zip(&inside) {
            let place = folder.join(file);
            let failed = |error: io::Error| DeskError::Own(format!("{}: {error}", place.display()));
            let runs = name.ends_with(".sh") || is_executable(&place);
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Deflated)
                .last_modified_time(DateTime::default())
                .unix_permissions(if runs { 0o755 } else { 0o644 });
            zip.start_file(name.as_str(), options).map_err(|error| failed(error.into()))?;
            io::copy(&mut File::open(&place).map_err(failed)?, &mut zip).map_err(failed)?;
        }
        let bytes = zip.finish().map_err(|error| DeskError::Own(error.to_string()))?.into_inner();
        let what = if flat { "a flat zip" } else { "a zipped folder" };
        Ok(Self { bytes, own: None, name: format!("{label}.zip"), files: inside, what })
    }
}

/// The folder of a bot that is a folder, or one file in it.
pub fn folder(bot: &Path) -> PathBuf {
    let folder = if bot.is_dir() { bot } else { bot.parent().unwrap_or(Path::new("")) };
    if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
}

/// The main source file of a bot: the one its commands name, or one with a usual name.
fn main_file(folder: &Path, endings: &[&str]) -> Result<PathBuf, DeskError> {
    let manifest = Manifest::read(folder).map_err(DeskError::Impossible)?.unwrap_or_default();
    let commands = [&manifest.build, &manifest.run].into_iter().flatten();
    let words = commands.filter_map(|command| command.words().ok()).flatten();
    let usual = ["bot", "main", "Player", "index"];
    let usual = usual.iter().flat_map(|stem| endings.iter().map(move |ending| format!("{stem}.{ending}")));
    let mut candidates =
        words.filter(|word| endings.contains(&ending(Path::new(word)).as_str())).chain(usual);
    candidates.find(|name| folder.join(name).is_file()).map(|name| folder.join(name)).ok_or_else(|| {
        DeskError::Impossible(format!(
            "{}: the contest takes one source file ({}), and there is none; name it: agon pack FILE",
            folder.display(),
            endings.join(", ")
        ))
    })
}

/// Another source file of the folder that `text` imports.
fn needed(own: &Path, text: &str) -> Option<PathBuf> {
    let folder = own.parent()?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let headers = ["h", "hpp"].map(str::to_owned);
    let mut others: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| name(path) != name(own) && path.is_file())
        .filter(|path| ending(path) == ending(own) || headers.contains(&ending(path)))
        .collect();
    others.sort();
    // Only lines that import something count; a name in a comment does not.
    let taking = |line: &str| {
        let starts =
            ["import ", "from ", "#include \"", "mod ", "use ", "pub mod ", "require ", "require_relative "];
        starts.iter().any(|start| line.starts_with(start))
            || line.contains("require(")
            || line.contains("import(")
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| taking(line)).collect();
    others.into_iter().find(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        lines.iter().any(|line| line.split(|c| !is_word(c)).any(|word| word == stem))
    })
}

/// The files to hand in, by their paths inside the folder, sorted.
fn gather(folder: &Path, flat: bool) -> Result<Vec<String>, DeskError> {
    let (mut files, mut size, mut open) = (Vec::new(), 0, vec![String::new()]);
    while let Some(inside) = open.pop() {
        let place = folder.join(&inside);
        let failed = |error: io::Error| DeskError::Own(format!("{}: {error}", place.display()));
        for entry in fs::read_dir(&place).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let own = entry.file_name().to_string_lossy().into_owned();
            let name = if inside.is_empty() { own.clone() } else { format!("{inside}/{own}") };
            // Links are skipped: they lead out of the folder, or in circles.
            let kind = entry.file_type().map_err(failed)?;
            let ours = inside.is_empty()
                && (own.starts_with("agon-")
                    || ["agon.toml", "README.md", "AGENTS.md"].contains(&own.as_str()));
            let behind = own.starts_with('.') || ours || own.ends_with(".zip") || own.ends_with(".zip.part");
            if behind || kind.is_symlink() {
                continue;
            }
            if kind.is_file() {
                size += entry.metadata().map_err(failed)?.len();
                files.push(name);
            } else if kind.is_dir() && !BEHIND.contains(&own.as_str()) {
                if flat {
                    return Err(DeskError::Impossible(format!(
                        "{}: the contest takes a flat zip, without folders; move its files up, or remove it",
                        entry.path().display()
                    )));
                }
                open.push(name);
            }
            if size > LARGEST {
                return Err(DeskError::Impossible(format!(
                    "{}: more than 256 MiB; is this the folder of a bot?",
                    folder.display()
                )));
            }
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(DeskError::Impossible(format!("{}: there is nothing to hand in", folder.display())));
    }
    Ok(files)
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(folder: &Path, game: &str) -> Result<PackedBot, String> {
        let hand_in = agon_games::find(game).expect("a game").info().hand_in;
        PackedBot::of(folder, hand_in).map_err(|error| error.to_string())
    }

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let whole = tempfile::tempdir().expect("a folder");
        let bot = whole.path().join("my-bot");
        for (name, text) in files {
            let path = bot.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        (whole, bot)
    }

    #[test]
    fn one_source_file_is_found_by_its_command_and_must_stand_alone() {
        let toml = ("agon.toml", "build = 'g++ -o bot seeker.cpp'\nrun = './bot'");
        let (_whole, bot) = folder(&[toml, ("seeker.cpp", "#include <map>\nint main() {}"), ("bot.py", "")]);
        let packed = pack(&bot, "cultist-wars").expect("it stands alone");
        assert_eq!(packed.files, ["seeker.cpp"]);
        assert!(packed.bytes.ends_with(b"int main() {}"));
        fs::write(bot.join("grid.h"), "").expect("a file");
        fs::write(bot.join("seeker.cpp"), "// grid.h is not needed\n").expect("a file");
        pack(&bot, "cultist-wars").expect("a comment takes nothing in");
        fs::write(bot.join("seeker.cpp"), "#include \"grid.h\"\n").expect("a file");
        assert!(pack(&bot, "cultist-wars").err().expect("refused").contains("grid.h"));
        fs::write(bot.join("seeker.cpp"), "x".repeat(100_001)).expect("a file");
        assert!(pack(&bot, "cultist-wars").err().expect("refused").contains("100000"));
        fs::remove_file(bot.join("seeker.cpp")).expect("it was there");
        assert!(pack(&bot, "ostibot").err().expect("refused").contains("(js, mjs, cjs)"));
    }

    #[test]
    fn zips_hold_the_bot_and_nothing_else() {
        let files = [
            ("grid_player.py", "class GridPlayer: pass"),
            ("paths.py", ""),
            ("README.md", ""),
            ("AGENTS.md", ""),
            ("agon.toml", ""),
            (".git/config", ""),
            ("test/test_it.py", ""),
            ("client/helper_classes.py", ""),
            ("agon-replays/x.replay", ""),
            ("__pycache__/x.pyc", ""),
        ];
        let (_whole, bot) = folder(&files);
        let packed = pack(&bot, "deerhunt").expect("a flat zip");
        assert_eq!(packed.files, ["grid_player.py", "paths.py"]);
        let again = pack(&bot, "deerhunt").expect("again");
        assert_eq!(packed.bytes, again.bytes, "the same files give the same bytes");
        let mut zip = zip::ZipArchive::new(io::Cursor::new(packed.bytes)).expect("a zip");
        let mut text = String::new();
        io::Read::read_to_string(&mut zip.by_name("grid_player.py").expect("it is in"), &mut text)
            .expect("text");
        assert_eq!(text, "class GridPlayer: pass");
        fs::create_dir(bot.join("deep")).expect("a folder");
        assert!(pack(&bot, "deerhunt").err().expect("refused").contains("flat"));
        assert!(pack(&bot, "terminal").err().expect("refused").contains("run.sh"));
    }

    #[test]
    fn a_zipped_folder_keeps_the_exec_bit_and_refuses_odd_names() {
        let (_whole, bot) = folder(&[("run.sh", "#!/bin/sh"), ("algo.json", "{}"), ("src/a.py", "")]);
        let packed = pack(&bot, "terminal").expect("a zip");
        assert_eq!(packed.files, ["my-bot/algo.json", "my-bot/run.sh", "my-bot/src/a.py"]);
        let mut zip = zip::ZipArchive::new(io::Cursor::new(packed.bytes)).expect("a zip");
        assert_eq!(
            zip.by_name("my-bot/run.sh").expect("it is in").unix_mode().map(|mode| mode & 0o777),
            Some(0o755)
        );
        fs::write(bot.join("my notes.txt"), "").expect("a file");
        assert!(pack(&bot, "terminal").err().expect("refused").contains("my notes.txt"));
    }
}
