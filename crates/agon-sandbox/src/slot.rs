//! The slots for a machine's sandboxes, and how their host talks to the processes that fork them.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::Pid;

use crate::claim::{self, Claim};
use crate::confinement::Confinement;
use crate::group::{Group, Hierarchies};
use crate::message::{self, Born, Request, Step as _, StepRefusal};
use crate::meter::Meter;

/// The outside user of the first slot of the first claim. No system assigns this number to anybody.
pub const FIRST_USER: u32 = 2_000_000_000;
/// How many slots a launcher has.
pub const MOST_SLOTS: u32 = 1024;
/// The number after the last slot's users.
pub const LAST_USER: u32 = FIRST_USER + 2 * MOST_SLOTS * claim::MOST;
/// How long building a sandbox may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Locks, even if a thread died holding the lock.
pub fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A place for one sandbox at a time: its users, its cgroup, its folder.
#[derive(Debug)]
pub struct Slot {
    /// Its number in its launcher, below [`MOST_SLOTS`].
    pub number: u32,
    /// The user of its inits; the next one is the user of its programs.
    pub user: u32,
    /// Its cgroup, if there are cgroups.
    pub group: Option<Group>,
    /// The counters of that.
    pub meter: Option<Meter>,
    /// The cgroup's current limits, in bytes and processes. Successive sandboxes of a bot have the same.
    limits: Option<(u64, u32)>,
    /// The process that lives in the cgroup and forks what is to run there, if moving in takes long.
    pub keeper: Option<Keeper>,
}

impl Slot {
    /// Makes the slot of this number, without a keeper yet.
    ///
    /// # Errors
    /// The system's.
    pub fn make(number: u32, claim: &Claim, groups: Option<&Hierarchies>) -> Result<Self, StepRefusal> {
        let group = groups.map(|groups| Group::make(groups, &format!("{}{number}", claim.prefix)));
        let group = group.transpose().step("a cgroup")?;
        let meter = group.as_ref().map(Group::meter).transpose().step("counters of the cgroup")?;
        let user = FIRST_USER + 2 * (MOST_SLOTS * claim.number + number);
        Ok(Self { number, user, group, meter, limits: None, keeper: None })
    }

    /// Gives its cgroup the limits of what will run there, and resets the memory peak.
    ///
    /// # Errors
    /// The system's.
    pub fn limit(&mut self, confinement: &Confinement) -> io::Result<()> {
        if !self.meter.as_ref().is_some_and(Meter::forget_peak) {
            self.renew()?;
        }
        let wanted = (confinement.memory, confinement.processes);
        if let Some(group) = self.group.as_ref().filter(|_| self.limits != Some(wanted)) {
            self.limits = None;
            group.limit(confinement)?;
            self.limits = Some(wanted);
        }
        Ok(())
    }

    /// Recreates its cgroup: before Linux 6.12, version 2 cannot reset the memory peak.
    fn renew(&mut self) -> io::Result<()> {
        let Some(group) = &self.group else { return Ok(()) };
        (self.limits, self.meter) = (None, None);
        group.renew()?;
        self.meter = Some(group.meter()?);
        Ok(())
    }

    /// Number of processes in its cgroup other than its keeper.
    pub fn others(&self) -> usize {
        let kept = usize::from(self.keeper.is_some());
        match (&self.group, &self.meter) {
            // One number can show that there are none; otherwise each is checked, because the dead are counted
            // until they are reaped.
            (_, Some(meter)) if meter.processes().is_some_and(|all| all <= kept) => 0,
            (Some(group), _) => {
                let keeper = self.keeper.as_ref().map(|keeper| keeper.pid);
                group.members().iter().filter(|pid| Some(**pid) != keeper).count()
            }
            (None, _) => 0,
        }
    }

    /// Whether this slot can have no more sandboxes.
    pub fn is_lost(&self) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| readable(&*lock(&keeper.connection), Duration::ZERO))
    }

    /// Ends everything in it, and gives it up.
    pub fn give_up(self) {
        // A keeper ends with its connection.
        drop(self.keeper);
        if let Some(group) = self.group {
            group.kill();
            let _ = group.remove();
        }
    }
}

/// A spawner that lives in a slot's cgroup.
#[derive(Debug)]
pub struct Keeper {
    /// The connection to it. It never speaks unasked.
    pub connection: Mutex<OwnedFd>,
    pub pid: Pid,
}

fn gone() -> StepRefusal {
    StepRefusal { step: "the spawner".into(), why: "it is gone".into(), errno: 0 }
}

/// Asks a spawner for a process, which is given `given`, and waits for the answer.
///
/// # Errors
/// The spawner's; it does not answer, and will not be asked again; it is gone.
pub fn ask(
    connection: &Mutex<OwnedFd>,
    request: &Request,
    given: &OwnedFd,
) -> Result<(Pid, OwnedFd), StepRefusal> {
    // So that no other answer comes in between.
    let mut connection = lock(connection);
    tell(&connection, request, given)?;
    hear(&mut connection)
}

/// The first half of [`ask`].
///
/// # Errors
/// It is gone.
pub fn tell(connection: &OwnedFd, request: &Request, given: &OwnedFd) -> Result<(), StepRefusal> {
    match message::send(connection, request, &[given.as_fd()]) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Err(StepRefusal::new("the description", error))
        }
        sent => sent.map_err(|_| gone()),
    }
}

/// The second half of [`ask`].
///
/// # Errors
/// The spawner's; it does not answer, and will not be asked again; it is gone.
pub fn hear(connection: &mut OwnedFd) -> Result<(Pid, OwnedFd), StepRefusal> {
    if !readable(&*connection, PATIENCE) {
        // A late answer would be taken for that of the next question, so there will be no next question.
        *connection = pair().step("a connection")?.0;
        return Err(StepRefusal { step: "the spawner".into(), why: "it does not answer".into(), errno: 0 });
    }
    match message::receive::<Born>(&*connection).step("the spawner")? {
        Some((Born::Yes { pid }, mut with)) => Pid::from_raw(pid).zip(with.pop()).ok_or_else(gone),
        Some((Born::No(refusal), _)) => Err(refusal),
        None => Err(gone()),
    }
}

/// Two ends of a connection.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Whether something can be read, or the other side is gone, within the given time.
pub fn readable(descriptor: impl std::os::fd::AsFd, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = rustix::time::Timespec::try_from(left).ok();
        let mut waits = [PollFd::new(&descriptor, PollFlags::IN)];
        match poll(&mut waits, left.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            other => return other.is_ok_and(|ready| ready > 0),
        }
    }
}
