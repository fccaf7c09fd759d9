//! A contest's folder is for its organiser alone: whoever else reads the database has the secret of the seeds, invite
//! codes and everybody's programs. What is made today is private anyway ([`rights`]); a folder of earlier times, or one
//! that was copied, is mended when it is next used.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use agon_bot::rights;
use agon_store::{DATABASE, DATABASE_AT, OBJECTS, OBJECTS_AT, OBJECTS_KEY};

use crate::common::Failure;
use crate::serve::founding::FILE;

/// Folders whose whole content is ours. That of `work` is shown to bots, which run as other users: they reach it through
/// their sandbox, everybody else is stopped at its door.
const OURS: [&str; 5] = [OBJECTS, "exports", "tls", "walls", "work"];
/// The folder of `OURS` of which only the door is closed.
const SHOWN: &str = "work";
/// How deep our folders are, with room to spare.
const DEEPEST: usize = 8;

/// Takes a contest's folder, or a fleet's, from everybody but its owner, and says so on standard error if others had a
/// right to anything in it.
pub fn mend(dir: &Path) {
    let mut mending = Mending::default();
    mending.contest(dir);
    let shown = dir.display();
    if mending.taken > 0 {
        eprintln!(
            "note: {shown}: other users of this machine could read {} of its files and folders; now only you can",
            mending.taken
        );
    }
    if let Some((path, error)) = mending.failed {
        eprintln!(
            "warning: {}: other users of this machine can read it, and that cannot be changed: {error}; run agon as its owner, \
             or move the contest to a folder of your own",
            path.display()
        );
    }
}

#[derive(Default)]
struct Mending {
    /// How many files and folders others had a right to.
    taken: u64,
    /// The first that could not be taken from them.
    failed: Option<(PathBuf, io::Error)>,
}

impl Mending {
    fn contest(&mut self, dir: &Path) {
        // A folder that was open is looked through once; one that is closed lets nobody in, whatever is in it.
        let was_open = match rights::close(dir) {
            Ok(was_open) => was_open,
            Err(error) => {
                let _ = self.failed.get_or_insert((dir.to_owned(), error));
                true
            }
        };
        self.taken += u64::from(was_open && self.failed.is_none());
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && OURS.contains(&&*name) {
                self.tree(&entry.path(), if was_open && name != SHOWN { DEEPEST } else { 0 });
            } else if !is_folder && is_ours(&name) {
                self.one(&entry.path());
            }
        }
        // The objects may be in a folder elsewhere.
        if let Ok(place) = fs::read_to_string(dir.join(OBJECTS_AT))
            && Path::new(place.trim()).is_absolute()
        {
            match rights::close(Path::new(place.trim())) {
                Ok(true) => self.taken += 1,
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.failed = self.failed.take().or(Some((place.trim().into(), error))),
            }
        }
    }

    fn one(&mut self, path: &Path) {
        match rights::take_back(path) {
            Ok(taken) => self.taken += u64::from(taken),
            // The database's side files come and go.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.failed = self.failed.take().or(Some((path.to_owned(), error))),
        }
    }

    fn tree(&mut self, path: &Path, deep: usize) {
        self.one(path);
        if deep == 0 {
            return;
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.tree(&entry.path(), deep - 1),
                Ok(kind) if kind.is_file() => self.one(&entry.path()),
                _ => {}
            }
        }
    }
}

/// Whether a file of this name, in a contest's folder or a fleet's, is one that we made, as against rules, maps and
/// packages, which are the organiser's.
fn is_ours(name: &str) -> bool {
    // `agon.db`, its side files, and `agon.lock`.
    name.starts_with("agon.")
        || name.ends_with(".token")
        || [FILE, DATABASE_AT, OBJECTS_AT, OBJECTS_KEY].contains(&name)
}

/// Refuses root who adds to a contest that another user runs: that user could not read what root makes.
///
/// # Errors
/// What to do instead.
pub fn is_whose(dir: &Path) -> Result<(), Failure> {
    let owner = fs::metadata(dir.join(DATABASE)).map_or(0, |about| about.uid());
    if owner == 0 || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{}: this contest is run by user {owner}, who could not read what root makes in it; do this as that user: sudo -u '#{owner}' \
         agon serve ...",
        dir.display()
    )))
}
