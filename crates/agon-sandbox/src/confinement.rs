//! What a program may have: the description the spawner enforces.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most places a description may name.
pub const MOST_PLACES: usize = 64;

/// A file or folder, and where the program sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShownPath {
    /// Where it is: an absolute path.
    pub outside: PathBuf,
    /// Where the program sees it: an absolute path. Without its own root (level C), it sees the file at
    /// `outside`.
    pub inside: PathBuf,
}

impl ShownPath {
    /// A place the program sees at its original path.
    pub fn same(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { outside: path.clone(), inside: path }
    }
}

/// Whom a program may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Network {
    /// Nobody: its network has no active device, and no sockets except between its own processes.
    #[default]
    None,
    /// Itself, on a loopback of its own.
    Loopback,
    /// The sandbox's maker, at this port of its own loopback: the listener is handed out.
    Port(u16),
}

/// What our own processes in a sandbox take of its memory at most, in bytes: with cgroups version 1 the keeper lives there too.
const OWN: u64 = 8 << 20;

/// What a program may have. All sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Confinement {
    /// A folder that holds the system it sees, such as `/usr`, in place of this machine's own: the root of an image. Only with
    /// its own root.
    pub image: Option<PathBuf>,
    /// What it may read and run, besides the system's programs and libraries.
    pub readable: Vec<ShownPath>,
    /// Folders below those, as the program sees them, that are shown empty, but for readable places within them. Only with
    /// its own root.
    pub hidden: Vec<PathBuf>,
    /// What it may also change.
    pub writable: Vec<ShownPath>,
    /// Folders it sees as a private copy in memory, which it may change; together they take less than half of
    /// `memory`. `Sandbox::copy` shows the changes while the sandbox lives. Without its own root (level C) they
    /// are readable only.
    pub copied: Vec<ShownPath>,
    /// Folders it sees as they are and may change, while its changes stay in memory: at most `disk` bytes in each.
    /// `Sandbox::layer` shows them while the sandbox lives. Not every file system can be shown so; then the sandbox is
    /// refused at the step [`LAYER`](crate::LAYER). Without its own root they are readable only.
    pub layered: Vec<ShownPath>,
    /// Memory of all its processes together, including files in `/tmp`.
    pub memory: u64,
    /// Processes and threads at a time.
    pub processes: u32,
    /// CPU time of one process, in seconds, after which it is killed: a back-stop, not a match clock. With one, the kernel
    /// keeps the process's own clock of CPU time by ticks of some milliseconds, so bots, which read it, have none.
    pub cpu: Option<u64>,
    /// What it may write to `/tmp`, and the largest file anywhere.
    pub disk: u64,
    /// Files and folders in `/tmp`.
    pub files: u32,
    /// Open descriptors of one process.
    pub descriptors: u64,
    /// Whom it may reach.
    pub network: Network,
    /// Variables besides the five of [`Confinement::environment`].
    pub variables: BTreeMap<String, String>,
    /// Its working folder at the start, as it sees it.
    pub folder: PathBuf,
}

impl Default for Confinement {
    /// A bot in a contest: 256 MiB, 64 processes, 64 MiB of files, no network.
    fn default() -> Self {
        Self {
            image: None,
            readable: Vec::new(),
            hidden: Vec::new(),
            writable: Vec::new(),
            copied: Vec::new(),
            layered: Vec::new(),
            memory: 256 << 20,
            processes: 64,
            cpu: None,
            disk: 64 << 20,
            files: 4096,
            descriptors: 256,
            network: Network::None,
            variables: BTreeMap::new(),
            folder: PathBuf::from("/tmp"),
        }
    }
}

/// Why a description cannot be enforced.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    /// A path that is not absolute, goes upwards, or covers what the sandbox creates itself.
    #[error(
        "the sandbox cannot show `{0}`: it takes absolute paths without `..`, outside of /proc, /sys, /dev and /tmp"
    )]
    Place(PathBuf),
    /// Too many places.
    #[error("the sandbox can show at most {MOST_PLACES} places, but {0} are named")]
    Places(usize),
    /// A limit too low to run anything.
    #[error("{what} of {given} is too little to run anything; the least is {least}")]
    Little {
        what: &'static str,
        /// What was asked for.
        given: u64,
        /// The lowest possible value.
        least: u64,
    },
    /// A limit beyond any machine.
    #[error("{what} of {given} is more than any machine has; the most is {most}")]
    Much {
        what: &'static str,
        /// What was asked for.
        given: u64,
        /// The highest possible value.
        most: u64,
    },
}

impl Network {
    /// Whether the program may have sockets of the internet families.
    pub fn has_sockets(self) -> bool {
        self != Self::None
    }
}

impl Confinement {
    /// All that is shown from outside.
    pub(crate) fn places(&self) -> impl Iterator<Item = &ShownPath> {
        self.readable.iter().chain(&self.writable).chain(&self.copied).chain(&self.layered)
    }

    /// Forgets to hide what is not shown after all.
    pub fn hide_what_is_shown(&mut self) {
        let Self { readable, layered, hidden, .. } = self;
        let shown = readable.iter().chain(layered.iter());
        hidden.retain(|path| shown.clone().any(|place| path.starts_with(&place.inside)));
    }

    /// How much all copied folders may hold, in bytes. While a copy is made, its original is in the sandbox's memory as well.
    pub(crate) fn copies(&self) -> u64 {
        self.memory.saturating_sub(OWN) / 2
    }

    /// Checks whether this can be enforced on any machine.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), Wrong> {
        let places = self.places().count() + self.hidden.len();
        if places > MOST_PLACES {
            return Err(Wrong::Places(places));
        }
        if let Some(image) = self.image.as_ref().filter(|image| !is_plain(image)) {
            return Err(Wrong::Place(image.clone()));
        }
        for place in self.places() {
            let own = ["/proc", "/sys", "/dev", "/dev/shm", "/tmp", "/var/tmp", "/etc"];
            if !is_plain(&place.outside) {
                return Err(Wrong::Place(place.outside.clone()));
            }
            if !is_plain(&place.inside) || own.iter().any(|own| place.inside == Path::new(own)) {
                return Err(Wrong::Place(place.inside.clone()));
            }
            // What lies in shared memory outside is shown in the bot's own.
            let memory = Path::new("/dev/shm");
            let is_in_memory = place.inside.starts_with(memory) && place.inside != memory;
            if ["/proc", "/sys", "/dev"].iter().any(|own| place.inside.starts_with(own)) && !is_in_memory {
                return Err(Wrong::Place(place.inside.clone()));
            }
        }
        // Only what is shown from outside needs hiding; the rest is the sandbox's own.
        let shown = self.readable.iter().chain(&self.layered);
        let covered = |path: &Path| shown.clone().any(|place| path.starts_with(&place.inside));
        let wrong = self.hidden.iter().find(|path| !is_plain(path) || !covered(path));
        if let Some(wrong) = wrong.or(Some(&self.folder).filter(|folder| !is_plain(folder))) {
            return Err(Wrong::Place(wrong.clone()));
        }
        let limits = [
            ("memory", self.memory, 2 * OWN, 1 << 44),
            ("processes", u64::from(self.processes), 1, 1 << 20),
            ("CPU time", self.cpu.unwrap_or(1), 1, 1 << 30),
            // Zero would mean no limit at all to a file system in memory.
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

    /// Where the program sees an outside path; none if it does not. `own_root` as in [`ShownPath::inside`].
    pub fn seen(&self, outside: &Path, own_root: bool) -> Option<PathBuf> {
        let mut all = self.places().filter_map(|place| {
            let rest = outside.strip_prefix(&place.outside).ok()?;
            let start = if own_root { &place.inside } else { &place.outside };
            let seen = if rest.as_os_str().is_empty() { start.clone() } else { start.join(rest) };
            let hides = |folder: &&PathBuf| seen.starts_with(folder) && folder.starts_with(&place.inside);
            let is_hidden =
                own_root && self.hidden.iter().any(|folder| hides(&folder) && *folder != place.inside);
            (!is_hidden).then_some(seen)
        });
        all.next()
    }

    /// The program's complete environment.
    pub fn environment(&self, home: &Path) -> BTreeMap<String, String> {
        let home = home.to_string_lossy().into_owned();
        let own = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", home.clone()),
            ("TMPDIR", home),
            ("LANG", "C.UTF-8".to_owned()),
            // Node ends if it may not read the real one.
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

/// One of the means that hold a program. Tests and controls withdraw them one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Wall {
    /// Namespaces: separate users, processes, files, network, names and shared memory.
    Namespaces,
    /// A cgroup: memory, processes and CPU of all processes together.
    Group,
    /// The filter of system calls.
    Filter,
    /// Landlock: which files may be read and written.
    Landlock,
    /// Limits on each process.
    Limits,
    /// No capabilities, and no way to gain any.
    Capabilities,
    /// No open descriptors but input, output and errors.
    Descriptors,
    /// An environment of its own.
    Environment,
    /// The end: everything dies with the sandbox.
    End,
}

impl Wall {
    /// All walls.
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
            readable: vec![ShownPath { outside: outside.into(), inside: inside.into() }],
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
        let many = Confinement { readable: vec![ShownPath::same("/usr"); 65], ..Confinement::default() };
        assert_eq!(many.check(), Err(Wrong::Places(65)));
        let little = Confinement { memory: 1 << 20, ..Confinement::default() };
        assert!(matches!(little.check(), Err(Wrong::Little { what: "memory", .. })));
        let much = Confinement { disk: u64::MAX, ..Confinement::default() };
        assert!(matches!(much.check(), Err(Wrong::Much { what: "disk", .. })));
    }

    #[test]
    fn a_path_of_outside_is_found_inside() {
        let shown = Confinement {
            readable: vec![ShownPath { outside: "/home/me/bot".into(), inside: "/bot".into() }],
            ..Confinement::default()
        };
        assert_eq!(shown.seen(Path::new("/home/me/bot/run.py"), true), Some("/bot/run.py".into()));
        assert_eq!(shown.seen(Path::new("/home/me/bot"), true), Some("/bot".into()));
        assert_eq!(shown.seen(Path::new("/home/me/bot/run.py"), false), Some("/home/me/bot/run.py".into()));
        assert_eq!(shown.seen(Path::new("/home/me/other"), true), None);
    }
}
