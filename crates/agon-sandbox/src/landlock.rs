//! Landlock: the kernel restricts, without privileges, which files a process and all it starts may touch.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::sys::{self, Arg};

const CREATE: i64 = 444;
const ADD: i64 = 445;
const RESTRICT: i64 = 446;

/// Run, read a file, list a folder.
const READ: u64 = 0b1101;
/// List a folder.
const LIST: u64 = 0b1000;
/// Rights that apply to a single file: run, write, read, truncate, device commands.
const OF_FILES: u64 = 0b111 | 1 << 14 | 1 << 15;

/// The version of the kernel's Landlock; none if it has none.
pub fn version() -> Option<i64> {
    let ask = &mut [Arg::Int(0), Arg::Int(0), Arg::Int(1)];
    sys::call(CREATE, ask).ok().filter(|version| *version > 0)
}

/// All file rights known to a version.
fn all(version: i64) -> u64 {
    let rights = match version {
        1 => 13,
        2 => 14,
        3 | 4 => 15,
        _ => 16,
    };
    (1 << rights) - 1
}

/// The restrictions for a process.
pub(crate) struct Rules(OwnedFd);

impl Rules {
    /// Only these paths, no connections, and no processes outside; what is below `listable` can also be listed. Missing paths are left out. None if the kernel has
    /// no Landlock.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(
        readable: impl IntoIterator<Item = PathBuf>,
        writable: impl IntoIterator<Item = PathBuf>,
        network: bool,
        listable: Option<&Path>,
    ) -> io::Result<Option<Self>> {
        let Some(version) = version() else { return Ok(None) };
        let all = all(version);
        // Binding and connecting; abstract sockets and signals to processes outside.
        let words = [all, if network { 0 } else { 3 }, 3];
        let known = match version {
            1..=3 => 1,
            4 | 5 => 2,
            _ => 3,
        };
        let rules = sys::bytes(&words[..known]);
        let size = rules.len() as i64;
        let ruleset = sys::descriptor(CREATE, &mut [Arg::In(&rules), Arg::Int(size), Arg::Int(0)])?;
        for path in readable {
            allow(&ruleset, &path, all & READ)?;
        }
        if let Some(path) = listable {
            allow(&ruleset, path, all & LIST)?;
        }
        for path in writable {
            // Nobody gets devices of any kind, or commands to them.
            allow(&ruleset, &path, all & !(1 << 6 | 1 << 11 | 1 << 15))?;
        }
        Ok(Some(Self(ruleset)))
    }

    /// Restricts this process and everything it will start.
    ///
    /// # Errors
    /// The kernel's.
    pub fn enforce(&self) -> io::Result<()> {
        sys::call(RESTRICT, &mut [Arg::Int(self.0.as_raw_fd().into()), Arg::Int(0)]).map(|_| ())
    }
}

impl AsFd for Rules {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn allow(ruleset: &OwnedFd, path: &Path, rights: u64) -> io::Result<()> {
    let Ok(place) = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
        return Ok(());
    };
    let is_folder = rustix::fs::fstat(&place)?.st_mode & libc::S_IFMT == libc::S_IFDIR;
    let rights = if is_folder { rights } else { rights & OF_FILES };
    let mut rule = rights.to_ne_bytes().to_vec();
    rule.extend(place.as_raw_fd().to_ne_bytes());
    let add = &mut [Arg::Int(ruleset.as_raw_fd().into()), Arg::Int(1), Arg::In(&rule), Arg::Int(0)];
    sys::call(ADD, add).map(|_| ())
}
