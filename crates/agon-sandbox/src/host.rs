//! The host's side: starts the spawner, and through it one sandbox for each program and match.
//!
//! Longer than 500 lines: a launcher and its sandboxes share what they hold.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::claim::{CLAIM, Claim, Claims};
use crate::confinement::{Confinement, Wall};
use crate::group::{Group, Hierarchies};
use crate::message::{self, Order, Plan, Report, Request, Step as _, StepRefusal};
use crate::meter::{Charge, Meter};
use crate::record;
use crate::slot::{
    FIRST_USER, Keeper, LAST_USER, MOST_SLOTS, PATIENCE, Slot, ask, hear, lock, pair, readable, tell,
};

/// The hidden subcommand by which the program becomes part of a sandbox: `agon __sandbox spawner`.
pub const SUBCOMMAND: &str = "__sandbox";

/// What this process can do for its sandboxes.
#[derive(Clone, Debug)]
pub struct Means {
    /// This user's claims on this machine, or why there are none.
    pub claims: Result<Claims, String>,
    /// Where cgroups can be created, or why they cannot.
    pub groups: Result<Hierarchies, String>,
    /// Whether every slot has its own users: only root can provide them.
    pub users: bool,
}

impl Means {
    /// Finds out, by trying.
    pub fn find() -> Self {
        let claims = Claims::open();
        let groups = claims.clone().and_then(|claims| {
            let claim = claims.take().map_err(|refusal| refusal.to_string())?;
            let groups = Hierarchies::find(&claim)?;
            drop(claim);
            groups.sweep_left(&claims);
            Ok(groups)
        });
        Self { claims, groups, users: has_users() }
    }
}

/// Whether this process may act as the slots' users.
fn has_users() -> bool {
    let maps = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let covers = |line: &str| {
        let mut numbers = line.split_ascii_whitespace().filter_map(|word| word.parse::<u64>().ok());
        let (first, _, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let all = u64::from(FIRST_USER)..u64::from(LAST_USER);
        Some(first <= all.start && all.end <= first + count)
    };
    rustix::process::geteuid().is_root() && maps.lines().any(|line| covers(line) == Some(true))
}

#[derive(Debug)]
struct Inner {
    connection: Mutex<OwnedFd>,
    means: Means,
    /// What its slots belong to, or why it can have none.
    claim: Result<Claim, StepRefusal>,
    free: Mutex<Vec<Slot>>,
    /// The numbers that no slot has.
    unused: Mutex<Vec<u32>>,
    spawner: Mutex<Child>,
    /// The CPUs that build sandboxes; all when empty.
    cpus: Mutex<Vec<usize>>,
}

/// Makes sandboxes. Ends, with all of them, when dropped or when this process ends.
#[derive(Clone, Debug)]
pub struct Launcher(Arc<Inner>);

impl Launcher {
    /// Starts a spawner: `program` is ours and understands [`SUBCOMMAND`].
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(program: &Path, means: Means) -> io::Result<Self> {
        Self::start_with(program, means, |_| {})
    }

    /// The same, with a change to how the spawner is started.
    pub(crate) fn start_with(
        program: &Path,
        means: Means,
        change: impl FnOnce(&mut Command),
    ) -> io::Result<Self> {
        let (here, there) = pair()?;
        let mut command = Command::new(program);
        let no_claim = |why: &String| StepRefusal { step: CLAIM.into(), why: why.clone(), errno: 0 };
        let claim = means.claims.as_ref().map_err(no_claim).and_then(Claims::take);
        if let (Ok(claim), Ok(groups)) = (&claim, &means.groups) {
            // What a killed program had under this number.
            groups.sweep(&claim.prefix);
        }
        let prefix = claim.as_ref().map_or("", |claim| &claim.prefix);
        let groups = serde_json::to_string(&means.groups.as_ref().ok())?;
        command.args([SUBCOMMAND, "spawner", prefix, &groups]);
        // It cleans up when this process is killed, and holds the claim until then.
        let held = claim.as_ref().ok().map(Claim::share).transpose()?;
        command.stdin(Stdio::from(there)).stdout(held.map_or_else(Stdio::null, Stdio::from));
        change(&mut command);
        let spawner = command.current_dir("/").spawn()?;
        Ok(Self(Arc::new(Inner {
            connection: Mutex::new(here),
            means,
            claim,
            free: Mutex::new(Vec::new()),
            unused: Mutex::new((0..MOST_SLOTS).rev().collect()),
            spawner: Mutex::new(spawner),
            cpus: Mutex::default(),
        })))
    }

    /// From now on sandboxes are built on these CPUs, so as not to disturb programs on others; on all CPUs when the
    /// list is empty.
    pub fn build_on(&self, cpus: Vec<usize>) {
        *lock(&self.0.cpus) = cpus;
    }

    /// What it can use.
    pub fn means(&self) -> &Means {
        &self.0.means
    }

    /// Begins to build a sandbox. It is built while the caller goes on, and may then wait indefinitely.
    ///
    /// # Errors
    /// The step that failed.
    pub fn prepare(&self, confinement: &Confinement, walls: &BTreeSet<Wall>) -> Result<Sandbox, StepRefusal> {
        confinement.check().map_err(|wrong| StepRefusal {
            step: "the description".into(),
            why: wrong.to_string(),
            errno: libc::EINVAL,
        })?;
        let free = lock(&self.0.free).pop();
        let mut slot = match free {
            Some(slot) => slot,
            None => self.slot()?,
        };
        match self.prepare_in(&mut slot, confinement, walls) {
            Ok(mut begun) => {
                begun.slot = Some(slot);
                Ok(begun)
            }
            Err(refusal) if slot.is_lost() => {
                self.give_up(slot);
                Err(refusal)
            }
            Err(refusal) => {
                lock(&self.0.free).push(slot);
                Err(refusal)
            }
        }
    }

    /// A new slot.
    fn slot(&self) -> Result<Slot, StepRefusal> {
        let claim = self.0.claim.as_ref().map_err(Clone::clone)?;
        let number = lock(&self.0.unused).pop().ok_or_else(|| StepRefusal {
            step: "a slot".into(),
            why: format!("all {MOST_SLOTS} are taken"),
            errno: 0,
        })?;
        let mut slot = Slot::make(number, claim, self.0.means.groups.as_ref().ok())
            .inspect_err(|_| lock(&self.0.unused).push(number))?;
        if let Some(group) = slot.group.clone().filter(Group::needs_keeper) {
            match self.keeper(group) {
                Ok(keeper) => slot.keeper = Some(keeper),
                Err(refusal) => {
                    self.give_up(slot);
                    return Err(refusal);
                }
            }
        }
        Ok(slot)
    }

    /// Gives up a slot in which nothing runs; another may have its number.
    fn give_up(&self, slot: Slot) {
        let number = slot.number;
        slot.give_up();
        lock(&self.0.unused).push(number);
    }

    fn keeper(&self, group: Group) -> Result<Keeper, StepRefusal> {
        let (here, there) = pair().step("a connection")?;
        let (pid, _) = ask(&self.0.connection, &Request::Keep(group), &there)?;
        Ok(Keeper { connection: Mutex::new(here), pid })
    }

    /// The same in a free slot. The returned sandbox does not hold the slot yet.
    fn prepare_in(
        &self,
        slot: &mut Slot,
        confinement: &Confinement,
        walls: &BTreeSet<Wall>,
    ) -> Result<Sandbox, StepRefusal> {
        let grouped = walls.contains(&Wall::Group);
        if grouped {
            slot.limit(confinement).step("limits of the cgroup")?;
        }
        let users = self.0.means.users;
        let home = if walls.contains(&Wall::Namespaces) {
            None
        } else {
            let folder = tempfile::Builder::new().prefix("agon-home-").tempdir().step("a folder")?;
            if users {
                let owner = slot.user + 1;
                std::os::unix::fs::chown(folder.path(), Some(owner), Some(owner)).step("a folder")?;
            }
            Some(folder)
        };
        let plan = Plan {
            confinement: confinement.clone(),
            walls: walls.clone(),
            user: users.then_some(slot.user),
            group: slot.group.clone().filter(|_| grouped),
            home: home.as_ref().map_or_else(|| "/tmp".into(), |folder| folder.path().to_owned()),
            cpus: lock(&self.0.cpus).clone(),
            record: record::wanted(),
        };
        let (control, there) = pair().step("a connection")?;
        let request = Request::Build(Box::new(plan.clone()));
        let init = OnceLock::new();
        let keeper = slot.keeper.as_ref().filter(|_| grouped);
        match keeper {
            // It has no other sandbox, and answers once it has forked this one.
            Some(keeper) => tell(&lock(&keeper.connection), &request, &there)?,
            None => drop(init.set(Ok(ask(&self.0.connection, &request, &there)?))),
        }
        Ok(Sandbox {
            launcher: self.clone(),
            slot: None,
            plan,
            before: OnceLock::new(),
            control: Some(control),
            init,
            frozen: AtomicBool::new(false),
            home,
            given: OnceLock::new(),
        })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Closing the connection ends the spawner; only then can we wait for it.
        if let Ok((other, _)) = pair() {
            *lock(&self.connection) = other;
        }
        lock(&self.free).drain(..).for_each(Slot::give_up);
        let _ = lock(&self.spawner).wait();
    }
}

/// A sandbox: built, then running one program, then ended. Dropping it ends it.
#[derive(Debug)]
pub struct Sandbox {
    launcher: Launcher,
    slot: Option<Slot>,
    plan: Plan,
    /// The charge of its cgroup when it was built.
    before: OnceLock<Charge>,
    control: Option<OwnedFd>,
    /// The first process and its handle, once known.
    init: OnceLock<Result<(Pid, OwnedFd), StepRefusal>>,
    /// Whether it has ever been frozen.
    frozen: AtomicBool,
    home: Option<tempfile::TempDir>,
    given: OnceLock<Given>,
}

/// What a finished sandbox hands out.
#[derive(Debug, Default)]
struct Given {
    /// Its `/tmp`, each copied folder, then the changes of each layered one, in the order of the confinement.
    folders: Vec<OwnedFd>,
    listener: Option<OwnedFd>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code, or 128 plus the signal that killed it.
    pub code: i32,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// CPU time of it and of the children it waited for. [`Sandbox::charge`] covers the rest.
    pub cpu: Duration,
}

/// Something outlived its sandbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{left} processes outlived their sandbox; its slot will not be used again")]
pub struct Leftover {
    /// How many.
    pub left: usize,
}

/// Its first process does not answer any more.
fn gone() -> StepRefusal {
    StepRefusal { step: "the init".into(), why: "it is gone".into(), errno: 0 }
}

impl Sandbox {
    /// Its first process; waits until it has been forked.
    fn init(&self) -> Result<&(Pid, OwnedFd), StepRefusal> {
        let keeper = self.slot.as_ref().and_then(|slot| slot.keeper.as_ref());
        // Asked once, whatever the answer.
        let told = self.init.get_or_init(|| match keeper {
            Some(keeper) => hear(&mut lock(&keeper.connection)),
            None => Err(gone()),
        });
        told.as_ref().map_err(Clone::clone)
    }

    /// The same, if already known.
    fn known(&self) -> Option<&(Pid, OwnedFd)> {
        self.init.get()?.as_ref().ok()
    }

    fn hear(&self, patience: Duration) -> Result<Option<(Report, Vec<OwnedFd>)>, StepRefusal> {
        let control = self.control()?;
        if !readable(control, patience) {
            return Ok(None);
        }
        let report = message::receive::<Report>(control).step("the init")?;
        report.map(Some).ok_or_else(gone)
    }

    /// The connection to its first process.
    fn control(&self) -> Result<&OwnedFd, StepRefusal> {
        self.control.as_ref().ok_or_else(gone)
    }

    /// Waits until it is built, before the first [`run`](Self::run).
    ///
    /// # Errors
    /// The step that failed.
    pub fn ready(&self) -> Result<(), StepRefusal> {
        self.init()?;
        match self.hear(PATIENCE)? {
            Some((Report::Ready { listens }, mut folders)) => {
                let listener = if listens { folders.pop() } else { None };
                let _ = self.given.set(Given { folders, listener });
                if let Some(meter) = self.meter() {
                    let _ = self.before.set(meter.charge());
                }
                Ok(())
            }
            Some((Report::Refused(refusal), _)) => Err(refusal),
            _ => Err(StepRefusal { step: "the init".into(), why: "it does not answer".into(), errno: 0 }),
        }
    }

    /// Starts a program in a sandbox that is [`ready`](Self::ready), with its input, output and errors: always pipes,
    /// never a file, socket or terminal of ours.
    ///
    /// # Errors
    /// The step that failed, including the program's own start.
    pub fn run(&self, order: &Order, stdio: [BorrowedFd<'_>; 3]) -> Result<(), StepRefusal> {
        self.order(order, stdio)?;
        self.started()
    }

    /// The first half of [`run`](Self::run), so that several programs can be started without waiting for each in turn.
    ///
    /// # Errors
    /// It is gone.
    pub fn order(&self, order: &Order, stdio: [BorrowedFd<'_>; 3]) -> Result<(), StepRefusal> {
        message::send(self.control()?, order, &stdio).step("the order")
    }

    /// The second half of [`run`](Self::run).
    ///
    /// # Errors
    /// The step that failed, including the program's own start.
    pub fn started(&self) -> Result<(), StepRefusal> {
        match self.hear(PATIENCE)? {
            Some((Report::Started, _)) => Ok(()),
            Some((Report::Refused(refusal), _)) => Err(refusal),
            _ => Err(gone()),
        }
    }

    /// Waits for the program to end; none if it still runs, or if everything was killed at once.
    pub fn wait(&self, patience: Duration) -> Option<Exit> {
        match self.hear(patience) {
            Ok(Some((Report::Ended { code, signal, cpu }, _))) => Some(Exit { code, signal, cpu }),
            _ => None,
        }
    }

    /// Whether everything in it has ended.
    pub fn is_over(&self) -> bool {
        let init = self.init();
        init.is_err() || init.is_ok_and(|(_, handle)| readable(handle, Duration::ZERO))
    }

    /// Where the program sees an outside path.
    pub fn seen(&self, outside: &Path) -> Option<PathBuf> {
        self.plan.confinement.seen(outside, self.plan.has(Wall::Namespaces))
    }

    /// The program's user outside, if every slot has its own.
    pub fn user(&self) -> Option<u32> {
        self.plan.user.map(|user| user + 1)
    }

    /// The folder the program may write to, if that is not an in-memory one of its own.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_ref().map(tempfile::TempDir::path)
    }

    /// The sandbox's first process, the trusted one, by its pid out here. None before the sandbox is
    /// [`ready`](Self::ready).
    pub fn pid(&self) -> Option<Pid> {
        self.known().map(|(pid, _)| *pid)
    }

    /// The program, by its pid out here; none when it is gone. Ask right after the start: later the first process may
    /// have adopted others.
    pub fn program(&self) -> Option<Pid> {
        let init = self.pid()?.as_raw_nonzero();
        let text = fs::read_to_string(format!("/proc/{init}/task/{init}/children")).ok()?;
        Pid::from_raw(text.split_ascii_whitespace().next()?.parse().ok()?)
    }

    /// Whether its `/tmp`, a copied or a layered folder is full, in bytes or number of files.
    pub fn is_full(&self) -> bool {
        let full = |folder: &OwnedFd| {
            rustix::fs::fstatfs(folder).is_ok_and(|room| room.f_bfree == 0 || room.f_ffree == 0)
        };
        self.given.get().is_some_and(|given| given.folders.iter().any(full))
    }

    /// The copy of a folder, by its index in [`Confinement::copied`], as the program has changed it. It can be read
    /// for as long as it is held, even after the sandbox has ended. Nothing in it can be trusted, least of all links.
    pub fn copy(&self, place: usize) -> Option<BorrowedFd<'_>> {
        self.given.get()?.folders.get(place + 1).map(|folder| folder.as_fd())
    }

    /// What the program has changed in a folder, by its index in [`Confinement::layered`]: the files and folders that it
    /// made or wrote to, and only those. As with [`copy`](Self::copy).
    pub fn layer(&self, place: usize) -> Option<BorrowedFd<'_>> {
        self.copy(self.plan.confinement.copied.len() + place)
    }

    /// The program's own `/tmp`, likewise.
    pub fn tmp(&self) -> Option<BorrowedFd<'_>> {
        self.given.get()?.folders.first().map(|folder| folder.as_fd())
    }

    /// Where the program dials in, with [`Network::Port`](crate::Network::Port): a listener in its own network, which
    /// nobody else can reach.
    pub fn listener(&self) -> Option<OwnedFd> {
        self.given.get()?.listener.as_ref()?.try_clone().ok()
    }

    /// What all of it has used since it was built; none without a cgroup.
    pub fn charge(&self) -> Option<Charge> {
        Some(self.meter()?.since(self.before.get().copied()))
    }

    /// The CPU time of all of it since it was built; none where no cgroup counts it. Cheaper than
    /// [`charge`](Self::charge).
    pub fn cpu(&self) -> Option<Duration> {
        let before = self.before.get().map_or(Duration::ZERO, |before| before.cpu);
        Some(self.meter()?.cpu()?.saturating_sub(before))
    }

    /// Whether a cgroup counts what it uses.
    pub fn is_counted(&self) -> bool {
        self.meter().is_some()
    }

    /// The counters of its cgroup, if it has one.
    fn meter(&self) -> Option<&Meter> {
        self.slot.as_ref()?.meter.as_ref().filter(|_| self.plan.group.is_some())
    }

    /// Starts killing everything in it, so that several sandboxes can be ended without waiting for each in turn. Does
    /// so even if it was killed before.
    pub fn kill(&self) {
        if let (Some(group), true) = (&self.plan.group, self.frozen.load(Ordering::Relaxed)) {
            // In version 1, frozen processes do not die.
            let _ = group.freeze(false);
        }
        if let Some((_, handle)) = self.known().filter(|_| self.plan.has(Wall::Namespaces)) {
            let _ = rustix::process::pidfd_send_signal(handle, Signal::KILL);
        }
    }

    /// Stops everything in it and waits until it stands still; or lets it go on.
    ///
    /// # Errors
    /// There is no means to do so.
    pub fn freeze(&self, stop: bool) -> io::Result<()> {
        match &self.plan.group {
            Some(group) => {
                self.frozen.fetch_or(stop, Ordering::Relaxed);
                group.freeze(stop)
            }
            None => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Ends everything in it and waits for that.
    ///
    /// # Errors
    /// Something is left; the slot is then not used again.
    pub fn end(mut self) -> Result<(), Leftover> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), Leftover> {
        // A sandbox that could not be forked has nothing to end.
        let _ = self.init();
        self.kill();
        let Some(slot) = self.slot.take() else { return Ok(()) };
        // The init kills whatever below it does not die by itself.
        self.control = None;
        let mut left = 0;
        if let Some((_, handle)) = self.known() {
            left = usize::from(!readable(handle, PATIENCE));
        }
        if let Some(group) = &self.plan.group {
            // Killed processes without a parent may take a moment to be gone.
            let begun = Instant::now();
            let mut here = slot.others();
            while here > 0 && begun.elapsed() < Duration::from_secs(1) && left == 0 {
                std::thread::sleep(Duration::from_micros(100));
                here = slot.others();
            }
            left += here;
            if left > 0 {
                group.kill();
                let _ = group.remove();
            }
        }
        if left > 0 {
            return Err(Leftover { left });
        }
        if slot.is_lost() {
            self.launcher.give_up(slot);
        } else {
            lock(&self.launcher.0.free).push(slot);
        }
        Ok(())
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}
