//! The night's archive of what is public, made beside the ladder by the one server that looks after the contest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use agon_server::nightly::{self, LEFT};
use agon_store::Time;
use tokio::runtime::Handle;

use crate::site::Site;

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

    fn is_time(&self, now: Time) -> bool {
        let mut state = self.state();
        let failed = state.failed.as_ref().is_some_and(|(at, _)| !at.is_past(AGAIN_MS, now));
        let is_time = !state.making && !failed && state.looked.is_none_or(|at| at.is_past(LOOK_MS, now));
        if is_time {
            state.looked = Some(now);
        }
        is_time
    }
}

/// Makes the archive of today if it is due.
pub async fn beat(site: &Site) {
    let (settings, now) = (site.settings(), site.now());
    let (Some(folder), Some(day)) = (&settings.nightly, nightly::due(now)) else { return };
    let (contest, folder) = (site.folder().to_owned(), site.folder().join(folder));
    if !site.nights.is_time(now)
        || nightly::made(&folder).iter().any(|made| made.day == day)
        || !site.server.keeps().await.unwrap_or(false)
    {
        return;
    }
    let (nights, runtime) = (site.nights.clone(), Handle::current());
    nights.state().making = true;
    // A thread of its own: a server that ends does not wait for it.
    let run = move || {
        let ends = || nights.ends.load(Ordering::Relaxed);
        let made = runtime.block_on(nightly::make(&contest, &folder, day, (LEFT, ends)));
        match &made {
            Ok(made) => tracing::info!(bytes = made.bytes, "the archive of {day} is made"),
            Err(why) => tracing::warn!("the archive of {day} is not made: {why}"),
        }
        let failed = made.err().map(|why| (now, why.to_string()));
        *nights.state() = NightState { making: false, looked: Some(now), failed };
    };
    if let Err(error) = std::thread::Builder::new().name("night".to_owned()).spawn(run) {
        let failed = Some((now, error.to_string()));
        *site.nights.state() = NightState { making: false, looked: Some(now), failed };
    }
}
