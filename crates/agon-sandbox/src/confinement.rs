//! What a program may have: the description that the spawner makes true.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most places a description may name.
pub const MOST_PLACES: usize = 64;

/// A file or folder and where the program sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Where it is: an absolute path.
    pub outside: PathBuf,
    /// Where the program sees it: an absolute path. Without a root of its own (level C) it sees it where it is.
    pub inside: PathBuf,
}

impl Place {
    /// A place that the program sees where it is.
    pub fn same(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { outside: path.clone(), inside: path }
    }
}

/// Whom a program may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Network {
    /// Nobody: its network has no device that is up, and no socket but those between its own processes.
    #[default]
    None,
    /// Itself, on a loopback of its own.
    Loopback,
    /// Who made the sandbox, at this port of a loopback of its own: the listener is handed out.
    Port(u16),
}

/// What a program may have. All sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Confinement {
    /// What it may read and run, beside the system's programs and libraries.
    pub readable: Vec<Place>,
    /// What it may also change.
    pub writable: Vec<Place>,
    /// Folders that it sees as a copy of its own, in memory, which it may change. What it changed is seen through
    /// `Sandbox::copy` while the sandbox lives. Without a root of its own (level C) they are readable only.
    pub copied: Vec<Place>,
    /// Memory of all its processes together, files in `/tmp` included.
    pub memory: u64,
    /// Processes and threads at a time.
    pub processes: u32,
    /// CPU time of one process, in seconds, after which it is killed: a back-stop and no clock of a match.
    pub cpu: u64,
    /// What it may write to `/tmp`, and the largest file anywhere.
    pub disk: u64,
    /// Files and folders in `/tmp`.
    pub files: u32,
    /// Open descriptors of one process.
    pub descriptors: u64,
    /// Whom it may reach.
    pub network: Network,
    /// Variables beside the five of [`Confinement::environment`].
    pub variables: BTreeMap<String, String>,
    /// The folder it starts in, as it sees it.
    pub folder: PathBuf,
}

impl Default for Confinement {
    /// A bot in a contest: 256 MiB, 64 processes, 64 MiB of files, no network.
    fn default() -> Self {
        Self {
            readable: Vec::new(),
            writable: Vec::new(),
            copied: Vec::new(),
            memory: 256 << 20,
            processes: 64,
            cpu: 600,
            disk: 64 << 20,
            files: 4096,
            descriptors: 256,
            network: Network::None,
            variables: BTreeMap::new(),
            folder: PathBuf::from("/tmp"),
        }
    }
}

/// Why a description cannot be made true.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    /// A path that is not absolute, goes upwards, or covers what the sandbox makes itself.
    #[error(
        "the sandbox cannot show `{0}`: it takes absolute paths without `..`, outside of /proc, /sys, /dev and /tmp"
    )]
    Place(PathBuf),
    /// Too many places.
    #[error("the sandbox shows at most {MOST_PLACES} places, and {0} are named")]
    Places(usize),
    /// A limit that leaves nothing to run in.
    #[error("{what} of {given} is too little to run anything; the least is {least}")]
    Little {
        /// Of what.
        what: &'static str,
        /// What was asked for.
        given: u64,
        /// What is needed.
        least: u64,
    },
    /// A limit that no machine reaches.
    #[error("{what} of {given} is more than any machine has; the most is {most}")]
    Much {
        /// Of what.
        what: &'static str,
        /// What was asked for.
        given: u64,
        /// The most that may be.
        most: u64,
    },
}

impl Network {
    /// Whether the program may have sockets of the internet's families.
    pub fn has_sockets(self) -> bool {
        self != Self::None
    }
}

impl Confinement {
    fn places(&self) -> impl Iterator<Item = &Place> {
        self.readable.iter().chain(&self.writable).chain(&self.copied)
    }

    /// Whether this can be made true on any machine.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), Wrong> {
        let places = self.places().count();
        if places > MOST_PLACES {
            return Err(Wrong::Places(places));
        }
        for place in self.places() {
            let own = ["/proc", "/sys", "/dev", "/tmp", "/etc"];
            if !is_plain(&place.outside) {
                return Err(Wrong::Place(place.outside.clone()));
            }
            if !is_plain(&place.inside) || own.iter().any(|own| place.inside == Path::new(own)) {
                return Err(Wrong::Place(place.inside.clone()));
            }
            if ["/proc", "/sys", "/dev"].iter().any(|own| place.inside.starts_with(own)) {
                return Err(Wrong::Place(place.inside.clone()));
            }
        }
        if !is_plain(&self.folder) {
            return Err(Wrong::Place(self.folder.clone()));
        }
        let limits = [
            ("memory", self.memory, 4 << 20, 1 << 44),
            ("processes", u64::from(self.processes), 1, 1 << 20),
            ("CPU time", self.cpu, 1, 1 << 30),
            // Nothing would mean no limit at all to a file system in memory.
            ("disk", self.disk, 4 << 10, 1 << 44),
            ("open files", self.descriptors, 8, 1 << 20),
            ("files", u64::from(self.files), 8, 1 << 28),
        ];
        for (what, given, least, most) in limits {
            if given < least {
                return Err(Wrong::Little { what, given, least });
            }
            if given > most {
                return Err(Wrong::Much { what, given, most });
            }
        }
        Ok(())
    }

    /// Where the program sees a path of outside; none where it does not. `own_root` as in [`Place::inside`].
    pub fn seen(&self, outside: &Path, own_root: bool) -> Option<PathBuf> {
        self.places().find_map(|place| {
            let rest = outside.strip_prefix(&place.outside).ok()?;
            let start = if own_root { &place.inside } else { &place.outside };
            Some(if rest.as_os_str().is_empty() { start.clone() } else { start.join(rest) })
        })
    }

    /// The whole environment of the program.
    pub fn environment(&self, home: &Path) -> BTreeMap<String, String> {
        let home = home.to_string_lossy().into_owned();
        let own = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", home.clone()),
            ("TMPDIR", home),
            ("LANG", "C.UTF-8".to_owned()),
            // Node ends when it may not read the real one.
            ("OPENSSL_CONF", "/dev/null".to_owned()),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        own.chain(self.variables.clone()).collect()
    }
}

/// An absolute path below the root, without `.` and `..`.
fn is_plain(path: &Path) -> bool {
    let mut parts = path.components();
    let text = path.as_os_str().as_encoded_bytes();
    parts.next() == Some(Component::RootDir)
        && path.parent().is_some()
        && parts.all(|part| matches!(part, Component::Normal(_)))
        && !text.contains(&0)
}

/// A means by which a program is held. Tests and controls withdraw them one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Wall {
    /// Namespaces: own users, processes, files, network, names and shared memory.
    Namespaces,
    /// A cgroup: memory, processes and CPU of all together.
    Group,
    /// The filter of system calls.
    Filter,
    /// Landlock: files that may be read and written.
    Landlock,
    /// Limits of each process.
    Limits,
    /// No capabilities, and none to be had.
    Capabilities,
    /// Nothing open but input, output and errors.
    Descriptors,
    /// An environment of its own.
    Environment,
    /// The end: everything dies with the sandbox.
    End,
}

impl Wall {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Namespaces,
        Self::Group,
        Self::Filter,
        Self::Landlock,
        Self::Limits,
        Self::Capabilities,
        Self::Descriptors,
        Self::Environment,
        Self::End,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_names_places_that_can_be_shown() {
        let with = |outside: &str, inside: &str| Confinement {
            readable: vec![Place { outside: outside.into(), inside: inside.into() }],
            ..Confinement::default()
        };
        assert_eq!(with("/home/me/bot", "/bot").check(), Ok(()));
        for (outside, inside) in [
            ("/", "/bot"),
            ("bot", "/bot"),
            ("/a/../b", "/bot"),
            ("/a", "/proc/1"),
            ("/a", "/tmp"),
            ("/a", "/"),
        ] {
            assert!(matches!(with(outside, inside).check(), Err(Wrong::Place(_))), "{outside} {inside}");
        }
        let many = Confinement { readable: vec![Place::same("/usr"); 65], ..Confinement::default() };
        assert_eq!(many.check(), Err(Wrong::Places(65)));
        let little = Confinement { memory: 1 << 20, ..Confinement::default() };
        assert!(matches!(little.check(), Err(Wrong::Little { what: "memory", .. })));
        let much = Confinement { disk: u64::MAX, ..Confinement::default() };
        assert!(matches!(much.check(), Err(Wrong::Much { what: "disk", .. })));
    }

    #[test]
    fn a_path_of_outside_is_found_inside() {
        let shown = Confinement {
            readable: vec![Place { outside: "/home/me/bot".into(), inside: "/bot".into() }],
            ..Confinement::default()
        };
        assert_eq!(shown.seen(Path::new("/home/me/bot/run.py"), true), Some("/bot/run.py".into()));
        assert_eq!(shown.seen(Path::new("/home/me/bot"), true), Some("/bot".into()));
        assert_eq!(shown.seen(Path::new("/home/me/bot/run.py"), false), Some("/home/me/bot/run.py".into()));
        assert_eq!(shown.seen(Path::new("/home/me/other"), true), None);
    }
}
