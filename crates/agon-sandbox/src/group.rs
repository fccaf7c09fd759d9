//! Cgroups: what all processes of a sandbox may use together, and what they have used.
//!
//! Groups are created below the one this program is in, so that limits on this program also limit its bots. Their names
//! begin with the claim of the launcher that made them, so that what an earlier life left behind can be recognised and
//! swept.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use crate::claim::{Claim, Claims};
use crate::confinement::Confinement;
use crate::meter::Meter;

/// In version 2, the group that the processes of this program's own group are moved to: see [`Hierarchies::make_room`].
/// It stays, for programs started from there.
const HOME: &str = "agon-home";
/// How long a group may take to stop or become empty.
const PATIENCE: Duration = Duration::from_secs(5);

/// Controllers that limits need, in version 2.
const LIMITS: [&str; 2] = ["memory", "pids"];

/// Where groups can be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hierarchies {
    /// Version 1: a tree for each controller.
    One {
        memory: PathBuf,
        /// Processes.
        pids: PathBuf,
        /// CPU time, if it is counted.
        cpu: Option<PathBuf>,
        /// Equal shares of the CPUs, if they can be given.
        shares: Option<PathBuf>,
        /// Stopping all processes at once, if available.
        freezer: Option<PathBuf>,
    },
    /// Version 2: one tree.
    Two(PathBuf),
}

/// A cgroup of our own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group {
    /// The same folder in each hierarchy.
    place: Hierarchies,
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The number after a word at the start of a line.
pub fn counter(text: &str, word: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

impl Hierarchies {
    /// Finds where this process may create groups, by making one that belongs to `claim`.
    ///
    /// # Errors
    /// What prevents it, in words.
    pub fn find(claim: &Claim) -> Result<Self, String> {
        let mounts = read("/proc/self/mountinfo");
        let own = read("/proc/self/cgroup");
        let one = |controller: &str| {
            let line = own.lines().find_map(|line| {
                let (names, path) = line.split_once(':')?.1.split_once(':')?;
                names.split(',').any(|name| name == controller).then_some(path)
            })?;
            place(&mounts, "cgroup", Some(controller), line)
        };
        if let (Some(memory), Some(pids)) = (one("memory"), one("pids")) {
            let (cpu, shares, freezer) = (one("cpuacct"), one("cpu"), one("freezer"));
            // Mounted together, they are one folder.
            let shares = shares.filter(|shares| Some(shares) != cpu.as_ref());
            let found = Self::One { memory, pids, cpu, shares, freezer };
            return found.try_out(claim);
        }
        let path = own.lines().find_map(|line| line.strip_prefix("0::"));
        let base = path.and_then(|path| place(&mounts, "cgroup2", None, path));
        let base = above_home(base.ok_or("no cgroups are mounted")?);
        let has = read(base.join("cgroup.controllers"));
        if let Some(needed) = LIMITS.iter().find(|needed| !has_word(&has, needed)) {
            return Err(format!("the cgroup {} does not have the controller `{needed}`", base.display()));
        }
        let is_given = is_given(&base, path == Some("/"));
        Self::Two(base).make_room(is_given)?.try_out(claim)
    }

    /// In version 2 a group with processes cannot have limited groups below it: this process moves to a group of its
    /// own. If the group was given to us with everything in it, the other processes there move too, such as a
    /// terminal's shell.
    fn make_room(self, is_given: bool) -> Result<Self, String> {
        let Self::Two(base) = &self else { return Ok(self) };
        let say = |error: io::Error| format!("the cgroup {}: {error}", base.display());
        let switch = base.join("cgroup.subtree_control");
        let on = read(&switch);
        if LIMITS.iter().all(|needed| has_word(&on, needed)) {
            let _ = fs::write(&switch, "+cpu");
            return Ok(self);
        }
        let home = base.join(HOME);
        match fs::create_dir(&home) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(say(error)),
            _ => {}
        }
        let own = Pid::from_raw(std::process::id() as i32);
        let mut tries = 0;
        loop {
            for pid in members(base).into_iter().filter(|pid| is_given || Some(*pid) == own) {
                // A process that has ended meanwhile does no harm; any other makes the switch below fail.
                let _ = fs::write(home.join("cgroup.procs"), pid.as_raw_nonzero().to_string());
            }
            tries += 1;
            match fs::write(&switch, "+memory +pids") {
                Ok(()) => break,
                // A process may just have forked.
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) && is_given && tries < 10 => {}
                Err(error) => {
                    for pid in members(&home) {
                        let _ = fs::write(base.join("cgroup.procs"), pid.as_raw_nonzero().to_string());
                    }
                    let _ = fs::remove_dir(&home);
                    return Err(match error.raw_os_error() {
                        Some(libc::EBUSY) => format!(
                            "the cgroup {} has other processes too, and was not given to this user",
                            base.display()
                        ),
                        _ => say(error),
                    });
                }
            }
        }
        // Optional.
        let _ = fs::write(&switch, "+cpu");
        Ok(self)
    }

    /// Whether the groups have equal shares of the CPUs.
    pub fn has_shares(&self) -> bool {
        match self {
            Self::One { shares: Some(_), .. } => true,
            Self::One { cpu, .. } => cpu.as_ref().is_some_and(|path| path.join("cpu.shares").exists()),
            Self::Two(path) => has_word(&read(path.join("cgroup.subtree_control")), "cpu"),
        }
    }

    /// Creates a group with limits and removes it again.
    fn try_out(self, claim: &Claim) -> Result<Self, String> {
        let say = |error: io::Error| format!("{}: {error}", self.folders()[0].display());
        let group = Group::make(&self, &format!("{}probe", claim.prefix)).map_err(say)?;
        let limited = group.limit(&Confinement::default()).and_then(|()| group.meter().map(drop));
        let removed = group.remove();
        limited.and(removed).map_err(say)?;
        Ok(self)
    }

    fn folders(&self) -> Vec<&Path> {
        match self {
            Self::One { memory, pids, cpu, shares, freezer } => {
                let some = [cpu.as_deref(), shares.as_deref(), freezer.as_deref()];
                [memory.as_path(), pids].into_iter().chain(some.into_iter().flatten()).collect()
            }
            Self::Two(path) => vec![path],
        }
    }

    fn join(&self, name: &str) -> Self {
        match self {
            Self::One { memory, pids, cpu, shares, freezer } => Self::One {
                memory: memory.join(name),
                pids: pids.join(name),
                cpu: cpu.as_ref().map(|path| path.join(name)),
                shares: shares.as_ref().map(|path| path.join(name)),
                freezer: freezer.as_ref().map(|path| path.join(name)),
            },
            Self::Two(path) => Self::Two(path.join(name)),
        }
    }

    /// Ends and removes the groups whose names begin with `prefix`. Whoever asks holds the claim.
    pub fn sweep(&self, prefix: &str) {
        for name in self.names().iter().filter(|name| name.starts_with(prefix)) {
            let group = Group { place: self.join(name) };
            group.kill();
            let _ = group.remove();
        }
    }

    /// Ends and removes the groups that earlier programs of this user have left behind.
    pub fn sweep_left(&self, claims: &Claims) {
        // Each claim is taken once, for all groups that carry it.
        let mut swept = BTreeSet::new();
        for name in self.names() {
            let prefix = name.rsplit_once('-').map_or("", |(prefix, _)| prefix);
            if swept.insert(prefix.to_owned())
                && let Some(claim) = claims.of_left(&name)
            {
                self.sweep(&claim.prefix);
            }
        }
    }

    /// The names of all groups here.
    fn names(&self) -> BTreeSet<String> {
        let entries = self.folders().into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

/// The parent of new groups, given the group this process is in.
fn above_home(own: PathBuf) -> PathBuf {
    let is_home = own.file_name().is_some_and(|name| name == HOME);
    own.parent().filter(|_| is_home).map(Path::to_owned).unwrap_or(own)
}

/// Whether a version 2 group was given to us: systemd marks it so with `Delegate=yes` and makes the user its owner. The
/// topmost group that a container sees counts as well.
fn is_given(base: &Path, is_first: bool) -> bool {
    let mut word = [0; 8];
    let marked = rustix::fs::getxattr(base, "user.delegate", &mut word[..])
        .is_ok_and(|length| &word[..length] == b"1");
    let owner = |path: &Path| fs::metadata(path).ok().map(|data| data.uid());
    let own = rustix::process::geteuid();
    let belongs = |path: &Path| owner(path) == Some(own.as_raw());
    let is_top = !own.is_root() && belongs(base) && !base.parent().is_some_and(belongs);
    // The machine's own topmost group has no type.
    marked || is_top || is_first && base.join("cgroup.type").exists()
}

/// The processes of a group.
fn members(group: &Path) -> Vec<Pid> {
    let text = read(group.join("cgroup.procs"));
    text.split_ascii_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.split_ascii_whitespace().any(|found| found == word)
}

/// Where a hierarchy is mounted that shows the group `path`.
fn place(mounts: &str, kind: &str, controller: Option<&str>, path: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, behind) = line.split_once(" - ")?;
        let mut words = behind.split(' ');
        let (found, options) = (words.next()?, words.nth(1)?);
        let fits = controller.is_none_or(|name| options.split(',').any(|option| option == name));
        if found != kind || !fits {
            return None;
        }
        let mut words = before.split(' ').skip(3);
        let (root, point) = (words.next()?, words.next()?);
        let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or(path);
        Some(Path::new(point).join(below.trim_start_matches('/')))
    })
}

impl Group {
    /// Creates a group; the name begins with the prefix of a claim.
    ///
    /// # Errors
    /// The system's.
    pub fn make(hierarchies: &Hierarchies, name: &str) -> io::Result<Self> {
        let place = hierarchies.join(name);
        for folder in place.folders() {
            match fs::create_dir(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        Ok(Self { place })
    }

    /// Sets all limits, replacing earlier ones.
    ///
    /// # Errors
    /// The system's.
    pub fn limit(&self, confinement: &Confinement) -> io::Result<()> {
        let bytes = confinement.memory.to_string();
        // The init is ours.
        let processes = confinement.processes + 1;
        match &self.place {
            Hierarchies::One { memory, pids, .. } => {
                // The sum with swap may never be below the memory limit: it goes up first and comes down last.
                let sum = memory.join("memory.memsw.limit_in_bytes");
                let _ = fs::write(&sum, "-1");
                fs::write(memory.join("memory.limit_in_bytes"), &bytes)?;
                let _ = fs::write(&sum, &bytes);
                // So is the keeper.
                fs::write(pids.join("pids.max"), (processes + 1).to_string())
            }
            Hierarchies::Two(path) => {
                fs::write(path.join("memory.max"), &bytes)?;
                let _ = fs::write(path.join("memory.swap.max"), "0");
                let _ = fs::write(path.join("memory.oom.group"), "1");
                fs::write(path.join("pids.max"), processes.to_string())
            }
        }
    }

    /// Moves a process into it. With version 2 the process is born there.
    ///
    /// # Errors
    /// The system's.
    pub fn admit(&self, pid: Pid) -> io::Result<()> {
        if let Hierarchies::One { .. } = self.place {
            for folder in self.place.folders() {
                fs::write(folder.join("cgroup.procs"), pid.as_raw_nonzero().to_string())?;
            }
        }
        Ok(())
    }

    /// Whether moving a process into it takes long: see the spawner's keepers.
    pub fn needs_keeper(&self) -> bool {
        matches!(self.place, Hierarchies::One { .. })
    }

    /// The folder processes are born into, with version 2.
    pub fn birthplace(&self) -> Option<&Path> {
        match &self.place {
            Hierarchies::Two(path) => Some(path),
            Hierarchies::One { .. } => None,
        }
    }

    /// Opens its counters.
    ///
    /// # Errors
    /// The system's.
    pub fn meter(&self) -> io::Result<Meter> {
        Meter::open(&self.place)
    }

    /// Stops all processes and waits until they stand still; or lets them go on.
    ///
    /// # Errors
    /// There is no freezer, or they do not stand still within seconds.
    pub fn freeze(&self, stop: bool) -> io::Result<()> {
        let (switch, word, state, stands) = match &self.place {
            Hierarchies::One { freezer: Some(path), .. } => {
                let file = path.join("freezer.state");
                (file.clone(), if stop { "FROZEN" } else { "THAWED" }, file, "FROZEN")
            }
            Hierarchies::One { .. } => return Err(io::ErrorKind::Unsupported.into()),
            Hierarchies::Two(path) => {
                let word = if stop { "1" } else { "0" };
                (path.join("cgroup.freeze"), word, path.join("cgroup.events"), "frozen 1")
            }
        };
        fs::write(&switch, word)?;
        let begun = Instant::now();
        while stop && !read(&state).contains(stands) {
            if begun.elapsed() > PATIENCE {
                return Err(io::ErrorKind::TimedOut.into());
            }
            std::thread::sleep(Duration::from_micros(20));
        }
        Ok(())
    }

    pub fn members(&self) -> Vec<Pid> {
        self.place.folders().into_iter().flat_map(members).collect()
    }

    /// Kills all processes and waits until it is empty. Returns whether it is.
    pub fn kill(&self) -> bool {
        if let Hierarchies::Two(path) = &self.place {
            let _ = fs::write(path.join("cgroup.kill"), "1");
        }
        let begun = Instant::now();
        loop {
            let left = self.members();
            if left.is_empty() {
                return true;
            }
            for pid in left {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
            // In version 1, frozen processes do not die.
            let _ = self.freeze(false);
            if begun.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Removes it (it must be empty) and creates it again, with zero counters and no limits.
    ///
    /// # Errors
    /// The system's: something still runs in it.
    pub fn renew(&self) -> io::Result<()> {
        self.remove()?;
        self.place.folders().into_iter().try_for_each(fs::create_dir)
    }

    /// Removes it; it must be empty.
    ///
    /// # Errors
    /// The system's: something still runs in it.
    pub fn remove(&self) -> io::Result<()> {
        let begun = Instant::now();
        let mut done = Ok(());
        for folder in self.place.folders() {
            done = loop {
                match fs::remove_dir(folder) {
                    // The last process may be gone but not yet forgotten.
                    Err(error) if error.raw_os_error() == Some(libc::EBUSY) && begun.elapsed() < PATIENCE => {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                    Err(error) if error.kind() != io::ErrorKind::NotFound => break Err(error),
                    _ => break done,
                }
            };
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_where_it_is_mounted() {
        let mounts = "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      31 24 0:27 /docker/1 /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                      32 24 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        let at = |kind, controller, path| place(mounts, kind, controller, path);
        assert_eq!(at("cgroup", Some("memory"), "/a/b"), Some("/sys/fs/cgroup/memory/a/b".into()));
        assert_eq!(at("cgroup", Some("pids"), "/docker/1"), Some("/sys/fs/cgroup/pids".into()));
        assert_eq!(at("cgroup", Some("cpuacct"), "/"), None);
        assert_eq!(at("cgroup2", None, "/user.slice/x"), Some("/sys/fs/cgroup/user.slice/x".into()));
    }

    /// A folder that looks like a version 2 group with these processes.
    fn looks_like_a_group(processes: &str) -> tempfile::TempDir {
        let group = tempfile::tempdir().expect("a folder");
        for (file, text) in [("cgroup.procs", processes), ("cgroup.subtree_control", "")] {
            fs::write(group.path().join(file), text).expect("a file");
        }
        group
    }

    #[test]
    fn processes_beside_this_one_move_only_where_the_group_was_given() {
        let own = std::process::id();
        for (is_given, last) in [(true, 4_000_000), (false, own)] {
            let group = looks_like_a_group(&format!("{own}\n4000000\n"));
            Hierarchies::Two(group.path().to_owned()).make_room(is_given).expect("room");
            // Each is written separately; a plain file keeps the last one.
            assert_eq!(read(group.path().join(HOME).join("cgroup.procs")), last.to_string());
        }
        // An existing group is found again by programs started from there.
        let group = looks_like_a_group("");
        assert_eq!(above_home(group.path().join(HOME)), group.path());
        assert_eq!(above_home(group.path().to_owned()), group.path());
    }

    #[test]
    fn what_a_folder_of_systems_root_holds_is_not_given() {
        assert!(!is_given(Path::new("/proc"), false));
    }

    #[test]
    fn a_counter_is_found_by_its_whole_name() {
        assert_eq!(counter("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "oom_kill"), 3);
    }
}
