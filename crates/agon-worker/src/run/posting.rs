//! Results on their way to the server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::{GATHER, Shared, panicked};
use crate::play::HeldRecord;
use crate::protocol::{Job, MOST_PRIVATE, Nothing, Try, Whole};
use crate::wire::{LARGEST_RESULT, MOST_RESULTS};

/// Upper limit, in bytes, on kept results that the server has not taken yet; beyond that no match begins.
const MOST_KEPT: usize = 256 << 20;

/// Upper limit, in bytes, on what is said about a match besides its replay and what belongs to authors.
const LINE: usize = 16 << 10;

/// A match that is over but not posted yet.
pub(crate) struct Done {
    lease: i64,
    attempt: Try,
    recorded: Box<HeldRecord>,
    bytes: usize,
    since: Instant,
}

impl Done {
    /// A match of a lease.
    pub fn new(lease: i64, job: &Job, recorded: Box<HeldRecord>) -> Self {
        // What belongs to authors is counted at its upper limit.
        let bytes = recorded.size() + job.seats.len() * MOST_PRIVATE + LINE;
        Self { lease, attempt: job.attempt, recorded, bytes, since: Instant::now() }
    }
}

impl Shared<'_> {
    /// Posts results, several at once, until all threads are done.
    pub fn post(&self) {
        let mut state = self.lock();
        loop {
            let Some(oldest) = state.done.front().map(|done| done.since.elapsed()) else {
                if state.threads == 0 {
                    return;
                }
                state = self.wait(state);
                continue;
            };
            if oldest < GATHER && state.done.len() < MOST_RESULTS && state.more_come() && !self.stopped() {
                state = self.wait_for(state, GATHER - oldest);
                continue;
            }
            let (mut batch, mut leases, mut bytes) = (Vec::new(), Vec::new(), 0);
            while let Some(next) = state.done.front() {
                let fits = bytes + next.bytes <= LARGEST_RESULT as usize;
                if batch.len() == MOST_RESULTS || !(fits || batch.is_empty()) {
                    break;
                }
                bytes += next.bytes;
                let Some(next) = state.done.pop_front() else { break };
                leases.push(next.lease);
                batch.push(next);
            }
            drop(state);
            let batch: Vec<(Try, Whole)> =
                batch.into_iter().filter_map(|done| self.share_out(done)).collect();
            // If it is time to stop and the server is away, they are lost: their leases run out.
            let posted = batch.is_empty() || self.persist(|| self.hall.post(&batch)).is_some();
            state = self.lock();
            state.kept -= bytes;
            if posted {
                leases.into_iter().for_each(|lease| state.close(lease));
            }
            self.changed.notify_all();
        }
    }

    /// What to post for a match; none if that failed and the server was told so.
    fn share_out(&self, done: Done) -> Option<(Try, Whole)> {
        let whole = catch_unwind(AssertUnwindSafe(|| match self.hall.is_one_persons() {
            true => Ok(done.recorded.whole()),
            false => done.recorded.shared_out(self.table),
        }));
        let nothing = match whole {
            Ok(Ok(whole)) => return Some((done.attempt, whole)),
            Ok(Err(why)) => Nothing::again(format!("ours: {why}")),
            Err(_) => panicked(),
        };
        let _ = self.told(done.attempt, &nothing);
        None
    }

    /// Queues a result for posting; waits while there are too many.
    pub fn leave(&self, done: Done) {
        let mut state = self.lock();
        state.playing.remove(&done.attempt);
        while state.kept > MOST_KEPT && state.posts && !self.stopped() {
            state = self.wait(state);
        }
        state.kept += done.bytes;
        state.done.push_back(done);
        drop(state);
        self.changed.notify_all();
    }
}
