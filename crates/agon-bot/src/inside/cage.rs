//! A bot's sandbox while it lives, and the report at its end.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_sandbox::{Bounds, Charge, Confinement, Entry, Exit, Level, Sandbox, What, walk};
use rustix::process::Pid;

use super::{AHEAD, KEPT, excess_of, keeper, needs, what_to_do};
use crate::tree::Excess;

/// At most this many files written by a bot are named.
const MOST_NAMED: usize = 8;

/// A bot's sandbox, while it lives.
pub struct Cage {
    pub(super) sandbox: Option<Sandbox>,
    pub(super) level: Level,
    pub(super) shares: bool,
    pub(super) apart: bool,
    pub(super) confinement: Confinement,
    pub(super) own: bool,
    /// The content of its folder before, if it has a copy of it.
    pub(super) before: Option<Vec<Entry>>,
    pub(super) remarks: Vec<String>,
    pub(super) exit: Cell<Option<Exit>>,
    /// Its charge when it was killed.
    pub(super) last: Option<Charge>,
    pub(super) seat: u8,
}

impl Cage {
    /// The level it is held at.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Whether it has the same share of the CPUs as others that compute at the same time.
    pub fn has_shares(&self) -> bool {
        self.shares
    }

    /// The trusted process above the bot's processes.
    pub fn init(&self) -> Option<Pid> {
        self.sandbox.as_ref().and_then(Sandbox::pid)
    }

    /// The limits it was given.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Builds the bot's next sandbox while it plays. Called once all bots of the match run, because starting them uses the
    /// same CPUs.
    pub fn build_next(&self) {
        if AHEAD.load(Ordering::Relaxed)
            && let Ok(keeper) = keeper()
        {
            keeper.build_ahead(&self.confinement);
        }
    }

    /// The socket the bot dials in to.
    pub fn listener(&self) -> Option<OwnedFd> {
        self.sandbox.as_ref()?.listener()
    }

    /// How the first process ended; none while it runs.
    pub fn exit(&self, patience: Duration) -> Option<Exit> {
        if let Some(exit) = self.exit.get() {
            return Some(exit);
        }
        let sandbox = self.sandbox.as_ref()?;
        let killed = Exit { code: 128 + libc::SIGKILL, signal: Some(libc::SIGKILL), cpu: Duration::ZERO };
        let exit = sandbox.wait(patience).or_else(|| sandbox.is_over().then_some(killed));
        self.exit.set(exit);
        exit
    }

    /// The same as the system's wait status.
    pub fn status(&self) -> Option<ExitStatus> {
        let exit = self.exit(Duration::ZERO)?;
        Some(ExitStatus::from_raw(exit.signal.unwrap_or(exit.code << 8)))
    }

    /// The CPU time of all its processes since it was built, as the kernel counts it; none at level B and below.
    pub fn cpu(&self) -> Option<Duration> {
        self.sandbox.as_ref()?.cpu()
    }

    /// What all its processes have used.
    pub fn charge(&self) -> Option<Charge> {
        self.sandbox.as_ref()?.charge()
    }

    /// What it ran out of, by the counters.
    pub fn excess(&self) -> Option<Excess> {
        excess_of(self.sandbox.as_ref()?, &self.confinement)
    }

    /// Stops all of it and waits until it has stopped, or lets it go on. Returns whether there is a freezer to do so.
    pub fn freeze(&self, stop: bool) -> bool {
        self.sandbox.as_ref().is_some_and(|sandbox| sandbox.freeze(stop).is_ok())
    }

    /// A path in the bot's last words that exists outside but not inside. Strangers are told nothing.
    pub fn hidden(&self, said: &[u8]) -> Option<String> {
        if !self.own {
            return None;
        }
        let text = String::from_utf8_lossy(&said[said.len().saturating_sub(8 << 10)..]).into_owned();
        let between = |letter: char| letter.is_whitespace() || "\"'`:,()[]".contains(letter);
        let paths = text.split(between).filter(|word| word.starts_with('/')).map(Path::new);
        let missing = paths.take(64).find(|path| {
            let apart = ["/tmp", "/proc", "/dev"].iter().any(|own| path.starts_with(own));
            let seen = needs::is_systems(path) || self.confinement.seen(path, self.apart).is_some();
            !apart && !seen && path.exists()
        })?;
        Some(format!("`{}` is not shown in the sandbox; {}", missing.display(), what_to_do(missing)))
    }

    /// Starts killing all of it, so that the bots of a match end together.
    pub fn kill(&mut self) {
        if let Some(sandbox) = &self.sandbox {
            self.last = sandbox.charge();
            sandbox.kill();
        }
    }

    /// Ends all of it; returns what it used, and remarks for the user.
    pub fn end(&mut self) -> (Option<Charge>, Vec<String>) {
        let mut remarks = std::mem::take(&mut self.remarks);
        let Some(sandbox) = self.sandbox.take() else { return (None, remarks) };
        // The kill itself must not count against the bot.
        let charge = self.last.or_else(|| sandbox.charge());
        if let Some(before) = &self.before {
            remarks.extend(self.what_it_wrote(before, &sandbox));
        }
        if let Err(left) = sandbox.end() {
            LEFT.fetch_add(left.left, Ordering::Relaxed);
            let alarm = format!("seat {}: {left}", self.seat);
            eprintln!("alarm: {alarm}");
            remarks.push(alarm);
        }
        (charge, remarks)
    }

    /// The new and changed files in the copy of its folder; keeps them if asked to.
    fn what_it_wrote(&self, before: &[Entry], sandbox: &Sandbox) -> Option<String> {
        let wanted = KEPT.get();
        let room = 2 * self.confinement.disk + (64 << 20);
        let bounds = Bounds { bytes: room, entries: 2 * self.confinement.files as usize + 64 };
        let found = walk(sandbox.copy(0)?, bounds, wanted.is_some()).ok()?;
        let known: BTreeMap<&Path, &Entry> = before.iter().map(|entry| (&*entry.path, entry)).collect();
        let is_new = |entry: &&Entry| {
            let before = known.get(&*entry.path);
            // Python's compiled files are nobody's work.
            let compiled = entry.path.extension().is_some_and(|ending| ending == "pyc");
            let is_file = matches!(entry.what, What::File(_)) && !compiled;
            is_file && before.is_none_or(|old| (old.size, old.changed) != (entry.size, entry.changed))
        };
        let new: Vec<&Entry> = found.iter().filter(is_new).collect();
        if new.is_empty() {
            return None;
        }
        let named = new.iter().take(MOST_NAMED).map(|entry| entry.path.display().to_string());
        let mut list = named.collect::<Vec<_>>().join(", ");
        if new.len() > MOST_NAMED {
            list.push_str(&format!(" and {} more", new.len() - MOST_NAMED));
        }
        let files = if new.len() == 1 { "a file" } else { "files" };
        let done = match wanted {
            None => "lost, because the folder was a copy; --keep-files FOLDER keeps them".to_owned(),
            Some(folder) => match self.keep(folder, &new) {
                Ok(place) => format!("kept in {}", place.display()),
                Err(error) => format!("they could not be kept in {}: {error}", folder.display()),
            },
        };
        Some(format!("seat {} wrote {files} in its folder: {list} ({done})", self.seat))
    }

    /// Writes files into a new folder. Their paths stay below it, because `walk` built them from names.
    fn keep(&self, folder: &Path, files: &[&Entry]) -> io::Result<PathBuf> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        std::fs::create_dir_all(folder)?;
        let place = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let place = folder.join(format!("{number}-seat-{}", self.seat));
            match std::fs::create_dir(&place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => break done.map(|()| place)?,
            }
        };
        for file in files {
            if let Some(parent) = file.path.parent() {
                std::fs::create_dir_all(place.join(parent))?;
            }
            file.write(&place, None)?;
        }
        Ok(place)
    }
}

/// Processes that outlived their sandboxes, in this run.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// How many processes have outlived their sandboxes in this run: none, unless a wall is broken.
pub fn left_behind() -> usize {
    LEFT.load(Ordering::Relaxed)
}
