//! Repeats something whenever a file of a bot changes: `--watch`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use agon_bot::{BotName, NameKind};
use agon_contest::content;

use crate::common::screen;
use crate::common::{Done, Failure};

/// Interval between checks of the files.
const LOOK: Duration = Duration::from_millis(300);

/// Runs `it`, and again whenever a file of the bot changes, until `stop`. Failures are printed, then it waits for the
/// next change; `quiet` suppresses everything else.
pub fn again(bot: &str, quiet: bool, stop: &AtomicBool, mut it: impl FnMut() -> Done) -> Done {
    loop {
        let files = times(bot);
        match it() {
            Ok(()) | Err(Failure::Check | Failure::Stopped) => {}
            // A bot that cannot start now may be able to in a moment.
            Err(failure) => {
                let Some(why) = failure.message() else { return Err(failure) };
                eprintln!("{} {}", screen::errors().bad("error:"), screen::harmless_lines(why));
            }
        }
        if !quiet {
            println!("{}", screen::output().dim("Waiting for the bot's files to change; Ctrl-C ends."));
        }
        while times(bot) == files {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Modification times and sizes of the files that make up the bot.
fn times(bot: &str) -> BTreeMap<PathBuf, (Option<SystemTime>, u64)> {
    let mut files = Vec::new();
    let mut add = |path: &Path| {
        if path.is_dir() {
            let inside = content::files(path).unwrap_or_default();
            files.extend(inside.into_iter().map(|file| path.join(file)));
        } else {
            files.push(path.to_owned());
            // Its imports are beside it.
            let beside =
                std::fs::read_dir(path.parent().filter(|p| *p != Path::new("")).unwrap_or(Path::new(".")));
            let beside = beside.into_iter().flatten().flatten().map(|entry| entry.path());
            files.extend(beside.filter(|other| other.extension() == path.extension()).take(1_000));
        }
    };
    match BotName::parse(bot).map(|name| name.kind) {
        Ok(NameKind::Path(path)) => add(&path),
        Ok(NameKind::Command(words)) => {
            words.iter().map(Path::new).filter(|path| path.exists()).for_each(add)
        }
        _ => {}
    }
    let about = |path: PathBuf| {
        let found = std::fs::metadata(&path).ok();
        let time = found.as_ref().and_then(|found| found.modified().ok());
        (path, (time, found.map_or(0, |found| found.len())))
    };
    files.into_iter().map(about).collect()
}
