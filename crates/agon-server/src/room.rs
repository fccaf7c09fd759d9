//! The room on the disks of a contest.

use std::path::{Path, PathBuf};

use agon_store::Objects;

/// With less than this, in bytes, a disk counts as full: the next object may not fit.
pub const FULL: u64 = 4 << 20;
/// With less than this, in bytes, an organiser should be told.
pub const LITTLE: u64 = 512 << 20;

/// The disks of this machine that a contest fills.
#[derive(Debug)]
pub struct Room {
    folders: Vec<PathBuf>,
}

impl Room {
    /// The disk of its folder, and that of its objects if they are in another one.
    pub fn of(contest: &Path, objects: &Objects) -> Self {
        Self {
            folders: [Some(contest), objects.folder()].into_iter().flatten().map(Path::to_owned).collect(),
        }
    }

    /// Free bytes of the fullest disk; none if the system does not say.
    pub fn free(&self) -> Option<u64> {
        self.folders.iter().filter_map(|folder| free(folder)).min()
    }
}

/// Free bytes of a folder's disk; none if the system does not say.
pub fn free(folder: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(folder).ok()?;
    Some(about.f_bavail.saturating_mul(about.f_frsize))
}
