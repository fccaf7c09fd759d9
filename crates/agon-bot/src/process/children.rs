//! The children of this program: those it started, and those that bots left behind.

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};

use rustix::process::Pid;

use super::spawn::{self, StartedProcess};
use crate::sys;

/// The variable that marks the processes of one bot.
pub const MARK: &str = "AGON_BOT";

/// Processes we started and have not yet waited for, with their bots' marks.
static STARTED: Mutex<BTreeMap<i32, String>> = Mutex::new(BTreeMap::new());
/// Held while a process is being started, so that it is not taken for an orphan before it is registered.
static STARTING: RwLock<()> = RwLock::new(());

/// Starts a process and registers it, so that it is not taken for an orphan.
///
/// # Errors
/// Those of the system.
pub fn start(command: &mut Command, mark: &str) -> io::Result<Child> {
    let _entered = STARTING.read().unwrap_or_else(|poison| poison.into_inner());
    let child = command.spawn()?;
    started().insert(child.id() as i32, mark.to_owned());
    Ok(child)
}

/// Starts a bot's process (see [`spawn`]) on `cpus`.
///
/// # Errors
/// Those of the system.
pub fn start_bot(command: &Command, cpus: &[usize], joined: bool, mark: &str) -> io::Result<StartedProcess> {
    let _entered = STARTING.read().unwrap_or_else(|poison| poison.into_inner());
    let process = spawn::spawn(command, cpus, joined)?;
    started().insert(process.pid.as_raw_nonzero().get(), mark.to_owned());
    Ok(process)
}

/// Removes a process that was waited for.
pub fn forget(child: Pid) {
    started().remove(&child.as_raw_nonzero().get());
}

fn started() -> MutexGuard<'static, BTreeMap<i32, String>> {
    STARTED.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// Until it is dropped, every child that is not registered is an orphan.
pub fn nobody_starts() -> RwLockWriteGuard<'static, ()> {
    STARTING.write().unwrap_or_else(|poison| poison.into_inner())
}

/// Children of ours that some bot must have left behind: we did not start them, and they are not in our session,
/// which no bot can enter.
pub fn orphans() -> Vec<(Pid, sys::Stat)> {
    let children = sys::own_children();
    let strangers: Vec<Pid> = {
        let started = started();
        children.into_iter().filter(|pid| !started.contains_key(&pid.as_raw_nonzero().get())).collect()
    };
    if strangers.is_empty() {
        return Vec::new();
    }
    // Read from /proc like the others: a session that began outside our container is 0, on which getsid() of rustix
    // panics.
    let own = sys::stat(rustix::process::getpid()).map_or(0, |stat| stat.session);
    let stats = strangers.into_iter().filter_map(|pid| Some((pid, sys::stat(pid)?)));
    stats.filter(|(_, stat)| stat.session != own).collect()
}

/// Orphans left behind by bots that still play. Those that hide from their bot are killed, because nobody can be
/// charged for what they use.
pub fn orphans_of_bots() -> Vec<(Pid, sys::Stat)> {
    let is_hidden = |(orphan, stat): &(Pid, sys::Stat)| stat.state != b'Z' && is_nobodys(*orphan, stat);
    let mut found = orphans();
    if found.iter().any(is_hidden) {
        // Excludes processes that are just being started, which would look the same.
        let _nobody_starts = nobody_starts();
        let (hidden, others) = orphans().into_iter().partition(is_hidden);
        found = others;
        hidden.into_iter().for_each(|(orphan, _)| sys::kill_group(orphan));
    }
    found
}

/// Whether an orphan belongs to no bot that still plays: it was missed when its bot was ended, or it hides.
pub fn is_nobodys(orphan: Pid, stat: &sys::Stat) -> bool {
    let mark = sys::variable(orphan, MARK);
    let started = started();
    match mark {
        Some(mark) => !started.values().any(|own| *own == mark),
        None => !started.contains_key(&stat.session),
    }
}
