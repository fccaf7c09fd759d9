//! What is public of a contest, once a night, as a file of that day: for those who train on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use agon_bot::rights;
use agon_store::Time;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::archive::unwritten;
use crate::{ServerError, export, room};

/// The hour from which on it is made, in UTC.
pub const HOUR: i8 = 3;
/// How many are kept, the newest.
pub const KEPT: usize = 7;
/// What stays free on the disk, in bytes.
pub const LEFT: u64 = 2 * room::LITTLE;
/// A draft that nobody has written to for so long is that of a process that was killed.
const DEAD: Duration = Duration::from_secs(3_600);

/// A night's archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NightlyArchive {
    /// The day in UTC: its name.
    pub day: Date,
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Those in a folder, the newest first.
pub fn made(folder: &Path) -> Vec<NightlyArchive> {
    let found = |entry: fs::DirEntry| {
        let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let day = entry.file_name().to_str()?.strip_suffix(".agon")?.parse().ok()?;
        Some(NightlyArchive { day, path: entry.path(), bytes: about.len() })
    };
    let mut all: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().filter_map(found).collect();
    all.sort_by_key(|made| std::cmp::Reverse(made.day));
    all
}

/// The day whose archive is to be made now; none before the hour.
pub fn due(now: Time) -> Option<Date> {
    let now = Timestamp::from_millisecond(now.0).ok()?.to_zoned(TimeZone::UTC);
    (now.hour() >= HOUR).then(|| now.date())
}

/// Makes the archive of a day, and removes the surplus ones. It rests as long as it works, so that matches have the disk and the CPU, and
/// ends with an error as soon as less than `left` bytes are free, or `ends` says so.
///
/// # Errors
/// Why there is none.
pub async fn make(
    contest: &Path,
    folder: &Path,
    day: Date,
    (left, ends): (u64, impl Fn() -> bool),
) -> Result<NightlyArchive, ServerError> {
    rights::create_shown_folder(folder).map_err(|error| unwritten(folder, error))?;
    sweep(folder);
    // As large as the one before, and a little more.
    let like = made(folder).first().map_or(0, |last| last.bytes / 4 * 5);
    check_room(folder, left.saturating_add(like))?;
    let path = folder.join(format!("{day}.agon"));
    let began = std::cell::Cell::new(Instant::now());
    let seen = |_, _| {
        if ends() {
            return Err(ServerError::Wrong("the server ends; it is made after the next start".to_owned()));
        }
        check_room(folder, left)?;
        std::thread::sleep(began.get().elapsed());
        began.set(Instant::now());
        Ok(())
    };
    export::export_public(contest, &path, seen).await?;
    for old in made(folder).into_iter().skip(KEPT) {
        // Somebody who is reading it can still read it to its end.
        let _ = fs::remove_file(old.path);
    }
    let bytes = fs::metadata(&path).map_err(|error| unwritten(&path, error))?.len();
    Ok(NightlyArchive { day, path, bytes })
}

fn check_room(folder: &Path, needed: u64) -> Result<(), ServerError> {
    match room::free(folder).filter(|free| *free < needed) {
        None => Ok(()),
        Some(free) => Err(ServerError::Wrong(format!(
            "{}: {} MB are free, and it is made where {} are",
            folder.display(),
            free / 1_000_000,
            needed / 1_000_000
        ))),
    }
}

/// Removes what a process that was killed has left.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_draft =
            name.to_str().is_some_and(|name| name.starts_with(".agon-") && name.ends_with(".part"));
        let written = entry.metadata().and_then(|about| about.modified());
        let age = written.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if is_draft && age.is_some_and(|age| age >= DEAD) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
