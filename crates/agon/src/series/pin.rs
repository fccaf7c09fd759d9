//! `agon pin`: freezes a bot as it is now, to play against later.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use agon_bot::{BotName, Build, Launch, NameKind, manifest};
use agon_contest::content;
use agon_store::names::is_mark;
use clap::Args;

use crate::common::sandbox::Bots;
use crate::common::{self, Done, Failure};
use crate::series::json::Pinned;

/// The folder of frozen bots.
const FOLDER: &str = "agon-bots";

/// Examples for the help.
pub const EXAMPLES: &str =
    "The bot is copied to ./agon-bots/NAME and write-protected; that path names it from then on.
A file is copied alone; name its folder to take everything it needs.

Examples:
  agon pin bot.py v1                      then: agon sprt cultist-wars bot.py agon-bots/v1
  agon pin . before-the-rewrite
  agon pin git:v2.0:bots/mine v2";

/// Options of `agon pin`.
#[derive(Args, Debug)]
pub struct PinOptions {
    /// The bot: a file, a folder, or `git:REV[:PATH]`
    pub bot: String,
    /// Its name
    pub name: String,
    /// Prints what was frozen as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon pin`.
pub fn run(options: &PinOptions) -> Done {
    let PinOptions { bot, name, json } = options;
    if name.is_empty() || name.starts_with(['.', '-']) || !name.chars().all(is_plain) {
        return Err(Failure::usage(format!(
            "the name `{name}`: write letters, digits, `.`, `-` and `_`, not beginning with `.` or `-`"
        )));
    }
    let found = common::bot(bot, &Bots::usual())?;
    let NameKind::Path(from) = &found.kind else {
        return Err(Failure::usage(match found.kind {
            NameKind::Builtin { .. } => {
                format!("`{bot}` is part of agon and changes only with it; there is nothing to freeze")
            }
            _ => format!("`{bot}` is a command; name the file or folder that makes up the bot"),
        }));
    };
    // A bot that can never run is not worth freezing.
    Launch::of(&found).map_err(|error| Failure::usage(error.to_string()))?;
    let place = Path::new(FOLDER).join(name);
    if place.exists() {
        return Err(Failure::usage(format!(
            "{0} is there already; choose another name, or remove it: rm -r {0}",
            place.display()
        )));
    }
    let temporary = Path::new(FOLDER).join(format!(".{name}.{}.new", std::process::id()));
    let failed = |error: io::Error| Failure::own(format!("{}: {error}", place.display()));
    fs::create_dir_all(&temporary).map_err(failed)?;
    let copied = copy(&found, from, &temporary).and_then(|files| {
        fs::rename(&temporary, &place).map_err(failed)?;
        Ok(files)
    });
    if copied.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    let files = copied?;
    if *json {
        return common::print_json(&mut io::stdout(), &Pinned { bot, frozen: &place, files });
    }
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    writeln!(io::stdout(), "{}: {files} of {bot}, frozen", place.display())?;
    Ok(())
}

/// What was frozen last in this folder.
pub fn last() -> Option<String> {
    let entries = fs::read_dir(FOLDER).ok()?.flatten();
    let frozen = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    let dated = frozen.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
    dated.max().map(|(_, path)| path.display().to_string())
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c) || ['.', '-', '_'].contains(&c)
}

/// Copies the bot and returns its number of files.
fn copy(bot: &BotName, from: &Path, to: &Path) -> Result<usize, Failure> {
    let (folder, files) = if from.is_dir() {
        (from, content::files(from).map_err(Failure::Own)?)
    } else {
        let file = PathBuf::from(from.file_name().unwrap_or_default());
        (from.parent().unwrap_or(Path::new("")), vec![file])
    };
    for file in &files {
        let target = to.join(file);
        let failed = |error: io::Error| Failure::own(format!("{}: {error}", file.display()));
        target.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        fs::copy(folder.join(file), &target).map_err(failed)?;
        protect(&target).map_err(failed)?;
    }
    if from.is_dir() {
        carry_program(bot, from, to)?;
    } else {
        // A single file needs a note of how to run it once it is in a folder.
        let launch = Launch::of(bot).ok().flatten().expect("a file runs, or was refused before");
        let own = absolute(from.as_os_str());
        // The compiled program is frozen with it, because the cache may be emptied.
        let made =
            Build::of(bot).map_err(Failure::Usage)?.and_then(|build| build.made).map(|made| made.place);
        if let Some(made) = &made {
            for file in content::files(made).map_err(Failure::Own)? {
                let target = to.join("built").join(&file);
                let failed = |error: io::Error| Failure::own(format!("{}: {error}", file.display()));
                target.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
                fs::copy(made.join(&file), &target).map_err(failed)?;
            }
        }
        let word = |word: &std::ffi::OsString| match made
            .as_ref()
            .and_then(|made| Path::new(word).strip_prefix(made).ok())
        {
            Some(inside) => format!("./{}", Path::new("built").join(inside).display()),
            None if *word == own => format!("./{}", files[0].display()),
            None => word.to_string_lossy().into_owned(),
        };
        let words: Vec<String> =
            std::iter::once(&launch.program).chain(&launch.arguments).map(word).collect();
        let words = serde_json::to_string(&words).map_err(|error| Failure::own(error.to_string()))?;
        let text = format!("# {}, frozen by agon pin\nrun = {words}\n", bot.text.replace('\n', " "));
        fs::write(to.join(manifest::FILE), text)?;
        protect(&to.join(manifest::FILE))?;
    }
    Ok(files.len())
}

fn absolute(path: &std::ffi::OsStr) -> std::ffi::OsString {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), PathBuf::into_os_string)
}

/// Copies the program that a folder runs when it is where compilers put it, in a folder that is otherwise left out.
fn carry_program(bot: &BotName, from: &Path, to: &Path) -> Result<(), Failure> {
    let Ok(Some(launch)) = Launch::of(bot) else { return Ok(()) };
    for word in std::iter::once(&launch.program).chain(&launch.arguments) {
        let word = Path::new(word);
        let (source, target) = (from.join(word), to.join(word));
        let inside = word.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if inside && source.is_file() && !target.exists() {
            let failed = |error: io::Error| Failure::own(format!("{}: {error}", source.display()));
            target.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
            fs::copy(&source, &target).map_err(failed)?;
            protect(&target).map_err(failed)?;
        }
    }
    Ok(())
}

fn protect(file: &Path) -> io::Result<()> {
    let mut rights = fs::metadata(file)?.permissions();
    rights.set_readonly(true);
    fs::set_permissions(file, rights)
}
