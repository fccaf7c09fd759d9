//! The server is told of matches while they are played, if it wants that.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{LOOK, MOMENT, Shared};
use crate::protocol::Try;
use crate::telling::ToldSoFar;

/// How long steps are gathered before the server is told of them.
const TELLS: Duration = Duration::from_millis(120);

impl Shared<'_> {
    /// Tells the server of the matches that it follows, until all threads are done.
    pub(super) fn tell(&self) {
        let mut told: BTreeMap<Try, ToldSoFar> = BTreeMap::new();
        let mut state = self.lock();
        while state.threads > 0 {
            let telling = state.telling.clone();
            if telling.is_empty() {
                told.clear();
                state = self.wait_for(state, LOOK);
                continue;
            }
            drop(state);
            let began = Instant::now();
            told.retain(|attempt, _| telling.contains_key(attempt));
            for (attempt, telling) in &telling {
                told.entry(*attempt).or_default().tell(self.hall, *attempt, telling);
            }
            while began.elapsed() < TELLS && !self.stopped() {
                std::thread::sleep(MOMENT);
            }
            state = self.lock();
        }
    }
}
