//! The night's archive of what is public, made beside the ladder.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agon_server::nightly::{self, LEFT};
use agon_store::Time;
use jiff::civil::Date;
use tokio::runtime::Handle;

/// How often to look whether it is due, in milliseconds.
const LOOK_MS: i64 = 60_000;
/// How long to wait after one that failed, in milliseconds.
const AGAIN_MS: i64 = 3_600_000;

/// The archive in progress, and why the last one failed.
#[derive(Default)]
pub struct Nights {
    state: Mutex<NightState>,
    ends: AtomicBool,
}

#[derive(Default)]
struct NightState {
    making: bool,
    looked: Option<Time>,
    failed: Option<(Time, String)>,
}

impl Nights {
    fn state(&self) -> std::sync::MutexGuard<'_, NightState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one is being made.
    pub fn is_making(&self) -> bool {
        self.state().making
    }

    /// When the last one failed, and why, unless one was made since.
    pub fn failed(&self) -> Option<(Time, String)> {
        self.state().failed.clone()
    }

    /// Gives up the one that is being made: the server ends.
    pub fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }

    /// Whether to look if one is due. The next look is a while later.
    pub fn is_time(&self, now: Time) -> bool {
        let mut state = self.state();
        let failed = state.failed.as_ref().is_some_and(|(at, _)| !at.is_past(AGAIN_MS, now));
        let is_time = !state.making && !failed && state.looked.is_none_or(|at| at.is_past(LOOK_MS, now));
        if is_time {
            state.looked = Some(now);
        }
        is_time
    }
    /// Makes the one of a day.
    pub fn begin(self: &Arc<Self>, contest: PathBuf, folder: PathBuf, (day, now): (Date, Time)) {
        let (own, runtime) = (self.clone(), Handle::current());
        self.state().making = true;
        let run = move || {
            let ends = || own.ends.load(Ordering::Relaxed);
            let made = runtime.block_on(nightly::make(&contest, &folder, day, (LEFT, ends)));
            match &made {
                Ok(made) => tracing::info!(bytes = made.bytes, "the archive of {day} is made"),
                Err(why) => tracing::warn!("the archive of {day} is not made: {why}"),
            }
            own.is_over(made.err().map(|why| (now, why.to_string())));
        };
        // A thread of its own: a server that ends does not wait for it.
        if let Err(error) = std::thread::Builder::new().name("night".to_owned()).spawn(run) {
            self.is_over(Some((now, error.to_string())));
        }
    }

    fn is_over(&self, failed: Option<(Time, String)>) {
        let mut state = self.state();
        (state.making, state.failed) = (false, failed);
    }
}
