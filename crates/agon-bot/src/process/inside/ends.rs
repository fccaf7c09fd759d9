//! Sandboxes that are being ended while the next match is played: until killed processes are gone, and what they had with
//! them, takes time that no match need wait for.

use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use agon_sandbox::Sandbox;

use crate::sys;

/// At most this many wait to be ended; whoever brings another one ends it itself.
const MOST: usize = 16;

static ENDS: OnceLock<Option<SyncSender<Ending>>> = OnceLock::new();
/// How many are not ended yet.
static LEFT: Mutex<usize> = Mutex::new(0);
static LESS: Condvar = Condvar::new();

/// A sandbox whose processes were killed, and whose bot's seat it was.
struct Ending {
    sandbox: Sandbox,
    seat: u8,
}

impl Ending {
    fn end(self) {
        if let Err(left) = self.sandbox.end() {
            eprintln!("alarm: seat {}: {left}", self.seat);
        }
    }
}

/// Kills all of a sandbox and ends it, soon.
pub fn end(sandbox: Sandbox, seat: u8) {
    sandbox.kill();
    let ending = Ending { sandbox, seat };
    *left() += 1;
    let begun = match ENDS.get_or_init(start) {
        Some(ends) => ends.try_send(ending).map_err(|refused| match refused {
            TrySendError::Full(ending) | TrySendError::Disconnected(ending) => ending,
        }),
        None => Err(ending),
    };
    if let Err(ending) = begun {
        ending.end();
        is_ended();
    }
}

/// Waits until all have ended.
pub fn settle() {
    let _left = LESS.wait_while(left(), |left| *left > 0).unwrap_or_else(PoisonError::into_inner);
}

fn left() -> MutexGuard<'static, usize> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_ended() {
    *left() -= 1;
    LESS.notify_all();
}

/// The thread that ends them; none if the system has no room for it.
fn start() -> Option<SyncSender<Ending>> {
    let (begin, endings) = sync_channel::<Ending>(MOST);
    let work = move || {
        // Whoever brought the first one may be pinned to the CPU of its match.
        sys::stay_on(sys::cpus_at_start());
        for ending in endings {
            ending.end();
            is_ended();
        }
    };
    std::thread::Builder::new().name("ends".to_owned()).spawn(work).ok()?;
    Some(begin)
}
