//! A bot's sandbox while it lives, and the report at its end.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_sandbox::{Bounds, Charge, Confinement, Exit, FileEntry, Level, Sandbox, What, walk};
use rustix::process::Pid;

use super::{StartTrouble, ends, excess_of, keeper, not_shown, what_to_do};
use crate::image::Image;
use crate::name::Confined;
use crate::paths::is_systems;
use crate::process::Excess;
use crate::run::Run;

/// At most this many files written by a bot are named.
const MOST_NAMED: usize = 8;

/// Where a bot's changes of its own folder are.
pub enum Changes {
    /// In a layer above this folder.
    Above(PathBuf),
    /// In a copy of it, which began with this content.
    InCopy(Vec<FileEntry>),
}

/// A bot's sandbox, while it lives.
pub struct Cage {
    pub(super) sandbox: Option<Sandbox>,
    pub(super) level: Level,
    pub(super) shares: bool,
    pub(super) apart: bool,
    pub(super) confinement: Confinement,
    /// The file that it runs.
    pub(super) program: PathBuf,
    pub(super) confined: Confined,
    /// What it sees of the system, if that is not this machine's own.
    pub(super) image: Option<Arc<Image>>,
    pub(super) run: Arc<Run>,
    /// How its own folder is shown, if it may change it.
    pub(super) changes: Option<Changes>,
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

    /// The image that it runs in, as a stranger's does.
    pub fn image(&self) -> Option<&Image> {
        self.image.as_deref()
    }

    /// The trusted process above the bot's processes.
    pub fn init(&self) -> Option<Pid> {
        self.sandbox.as_ref().and_then(Sandbox::pid)
    }

    /// The limits it was given.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Waits until the bot runs; returns its first process.
    ///
    /// # Errors
    /// Why it does not start.
    pub fn settle(&self) -> Result<Pid, StartTrouble> {
        let gone = || StartTrouble::Machine("the sandbox has no first process".to_owned());
        let sandbox = self.sandbox.as_ref().ok_or_else(gone)?;
        sandbox.started().map_err(|refusal| match refusal.errno {
            _ if !refusal.is_the_programs() => StartTrouble::Machine(refusal.to_string()),
            libc::ENOENT | libc::EACCES => {
                StartTrouble::Hidden(not_shown(&self.program, &self.confinement, &refusal.why, self.confined))
            }
            libc::ENOEXEC => StartTrouble::Start(io::Error::from_raw_os_error(libc::ENOEXEC)),
            _ => StartTrouble::Machine(refusal.to_string()),
        })?;
        // If it has ended already, the first process of its sandbox stands in for it.
        sandbox.program().or_else(|| sandbox.pid()).ok_or_else(gone)
    }

    /// Builds the bot's next sandbox while it plays. Called once all bots of the match run, because starting them uses the
    /// same CPUs.
    pub fn build_next(&self) {
        if self.run.ahead
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

    /// Whether the kernel counts that.
    pub fn is_counted(&self) -> bool {
        self.sandbox.as_ref().is_some_and(Sandbox::is_counted)
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
        if self.confined != Confined::Own {
            return None;
        }
        let text = String::from_utf8_lossy(&said[said.len().saturating_sub(8 << 10)..]).into_owned();
        let between = |letter: char| letter.is_whitespace() || "\"'`:,()[]".contains(letter);
        let paths = text.split(between).filter(|word| word.starts_with('/')).map(Path::new);
        let missing = paths.take(64).find(|path| {
            let apart = ["/tmp", "/proc", "/dev"].iter().any(|own| path.starts_with(own));
            let seen = is_systems(path) || self.confinement.seen(path, self.apart).is_some();
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

    /// Kills all of it, and has it ended beside the next match; returns what it used, and remarks for the user.
    pub fn end(&mut self) -> (Option<Charge>, Vec<String>) {
        let mut remarks = std::mem::take(&mut self.remarks);
        let Some(sandbox) = self.sandbox.take() else { return (None, remarks) };
        // The kill itself must not count against the bot.
        let charge = self.last.or_else(|| sandbox.charge());
        if let Some(changes) = &self.changes {
            remarks.extend(self.what_it_wrote(changes, &sandbox));
        }
        ends::end(sandbox, self.seat);
        (charge, remarks)
    }

    /// The new and changed files in its own folder; keeps them if asked to.
    fn what_it_wrote(&self, changes: &Changes, sandbox: &Sandbox) -> Option<String> {
        let wanted = self.run.kept.as_ref();
        let room = 2 * self.confinement.disk + (64 << 20);
        let bounds = Bounds { bytes: room, entries: 2 * self.confinement.files as usize + 64 };
        let folder = match changes {
            Changes::Above(_) => sandbox.layer(0)?,
            Changes::InCopy(_) => sandbox.copy(0)?,
        };
        let found = walk(folder, bounds, wanted.is_some()).ok()?;
        // Size and date of a file as it was.
        let known: BTreeMap<&Path, (u64, (i64, u32))> = match changes {
            Changes::Above(folder) => {
                found.iter().filter_map(|entry| Some((&*entry.path, below(folder, &entry.path)?))).collect()
            }
            Changes::InCopy(before) => {
                before.iter().map(|old| (&*old.path, (old.size, old.changed))).collect()
            }
        };
        let is_new = |entry: &&FileEntry| {
            // Python's compiled files are nobody's work.
            let compiled = entry.path.extension().is_some_and(|ending| ending == "pyc");
            let is_file = matches!(entry.what, What::File(_)) && !compiled;
            is_file && known.get(&*entry.path) != Some(&(entry.size, entry.changed))
        };
        let new: Vec<&FileEntry> = found.iter().filter(is_new).collect();
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
            None => {
                "lost, because the folder itself is never changed; --keep-files FOLDER keeps them".to_owned()
            }
            Some(folder) => match self.keep(folder, &new) {
                Ok(place) => format!("kept in {}", place.display()),
                Err(error) => format!("they could not be kept in {}: {error}", folder.display()),
            },
        };
        Some(format!("seat {} wrote {files} in its folder: {list} ({done})", self.seat))
    }

    /// Writes files into a new folder. Their paths stay below it, because `walk` built them from names.
    fn keep(&self, folder: &Path, files: &[&FileEntry]) -> io::Result<PathBuf> {
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

/// Size and date of a file of an author; a file that was opened to be written is above it, written or not.
fn below(folder: &Path, path: &Path) -> Option<(u64, (i64, u32))> {
    use std::os::unix::fs::MetadataExt as _;
    let found = folder.join(path).symlink_metadata().ok()?;
    Some((found.size(), (found.mtime(), found.mtime_nsec() as u32)))
}
