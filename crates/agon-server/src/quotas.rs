//! How much whoever brings something may make the server store or say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agon_store::acts::CountTold;
use agon_store::{EntrantId, Time, WorkerId};
use agon_worker::Try;

/// How much of what the programs of one entrant write is kept in a day, in bytes as stored: packed.
pub const MOST_TOLD_A_DAY: u64 = 32 << 20;
/// How many alarms about the posts of one worker are raised in an hour.
const ALARMS_AN_HOUR: u32 = 10;
/// How often a worker may give back what it has in hand in an hour, be it by starting afresh: each time rows remain in the database.
const RETURNS_AN_HOUR: u32 = 300;
/// How many builds are remembered as told of; after that many others a worker could tell of one again.
const MOST_BUILDS: usize = 10_000;

/// How often the counts of a day are written down, in milliseconds.
const SAVED_MS: i64 = 60_000;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

#[derive(Debug, Default)]
pub struct Quotas(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// The day, from 1970, in UTC.
    day: i64,
    /// What each entrant's programs have written on that day.
    told: BTreeMap<EntrantId, Told>,
    /// When it was last written down.
    saved: Option<Time>,
    /// The hour, and how many alarms were raised about each worker in it.
    hour: i64,
    alarms: BTreeMap<WorkerId, u32>,
    /// And how often each gave back what it had.
    returns: BTreeMap<WorkerId, u32>,
    /// The tries of whose builds a worker has told.
    builds: BTreeSet<Try>,
}

/// In bytes as stored.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    all: u64,
    /// Of these, what is not written down yet.
    fresh: u64,
}

impl Quotas {
    fn counts(&self, now: Time) -> MutexGuard<'_, Counts> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (day, hour) = (now.0.div_euclid(DAY_MS), now.0.div_euclid(HOUR_MS));
        if counts.day != day {
            (counts.day, counts.told) = (day, BTreeMap::new());
        }
        if counts.hour != hour {
            (counts.hour, counts.alarms, counts.returns) = (hour, BTreeMap::new(), BTreeMap::new());
        }
        counts
    }

    /// Whether an entrant's programs have written all that is kept in a day.
    pub fn has_told_enough(&self, entrant: EntrantId, now: Time) -> bool {
        self.counts(now).told.get(&entrant).is_some_and(|told| told.all >= MOST_TOLD_A_DAY)
    }

    /// Counts what an entrant's programs have written.
    pub fn tell(&self, entrant: EntrantId, bytes: u64, now: Time) {
        let mut counts = self.counts(now);
        let told = counts.told.entry(entrant).or_default();
        (told.all, told.fresh) = (told.all.saturating_add(bytes), told.fresh.saturating_add(bytes));
    }

    /// What is to be written down, if that is due: so that a restart is no second helping, and several servers count together.
    pub fn due(&self, now: Time) -> Option<CountTold> {
        let mut counts = self.counts(now);
        if counts.saved.is_some_and(|saved| !saved.is_past(SAVED_MS, now)) {
            return None;
        }
        counts.saved = Some(now);
        let fresh = counts.told.iter_mut().filter(|(_, told)| told.fresh > 0);
        let more = fresh.map(|(entrant, told)| {
            let bytes = std::mem::take(&mut told.fresh);
            (*entrant, i64::try_from(bytes).unwrap_or(i64::MAX))
        });
        Some(CountTold { more: more.collect(), day: counts.day })
    }

    /// What all servers have written down of a day.
    pub fn counted(&self, day: i64, all: Vec<(EntrantId, i64)>, now: Time) {
        let mut counts = self.counts(now);
        if counts.day != day {
            return;
        }
        for (entrant, bytes) in all {
            let told = counts.told.entry(entrant).or_default();
            told.all = u64::try_from(bytes).unwrap_or(0).saturating_add(told.fresh);
        }
    }

    /// Whether to raise another alarm about what a worker posts.
    pub fn alarm(&self, worker: WorkerId, now: Time) -> bool {
        let mut counts = self.counts(now);
        let alarms = counts.alarms.entry(worker).or_default();
        *alarms = alarms.saturating_add(1);
        *alarms <= ALARMS_AN_HOUR
    }

    /// A worker gives back what it has in hand.
    pub fn give_back(&self, worker: WorkerId, now: Time) {
        let mut counts = self.counts(now);
        let returns = counts.returns.entry(worker).or_default();
        *returns = returns.saturating_add(1);
    }

    /// Whether it has done so too often to get anything more in this hour.
    pub fn gives_back_all(&self, worker: WorkerId, now: Time) -> bool {
        self.counts(now).returns.get(&worker).is_some_and(|returns| *returns > RETURNS_AN_HOUR)
    }

    /// Whether a worker has told of the build of a try.
    pub fn is_built(&self, attempt: Try, now: Time) -> bool {
        self.counts(now).builds.contains(&attempt)
    }

    /// Remembers that it has.
    pub fn built(&self, attempt: Try, now: Time) {
        let mut counts = self.counts(now);
        if counts.builds.len() >= MOST_BUILDS {
            counts.builds.pop_first();
        }
        counts.builds.insert(attempt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_is_there_again_the_next_day() {
        let (quotas, ann, bob) = (Quotas::default(), EntrantId(1), EntrantId(2));
        let now = Time(5 * DAY_MS + 7);
        quotas.tell(ann, MOST_TOLD_A_DAY - 1, now);
        assert!(!quotas.has_told_enough(ann, now));
        quotas.tell(ann, 1, now);
        assert!(quotas.has_told_enough(ann, now) && !quotas.has_told_enough(bob, now));
        assert!(!quotas.has_told_enough(ann, Time(6 * DAY_MS)));
        // It is written down once, and what others have written down counts too.
        quotas.tell(bob, 7, now);
        let due = quotas.due(now).expect("never written down");
        assert_eq!((due.day, due.more), (5, vec![(bob, 7)]));
        assert!(quotas.due(now).is_none());
        quotas.tell(bob, 1, now);
        quotas.counted(5, vec![(bob, MOST_TOLD_A_DAY as i64 - 1)], now);
        assert!(quotas.has_told_enough(bob, now));
        let worker = WorkerId(1);
        assert!((0..ALARMS_AN_HOUR).all(|_| quotas.alarm(worker, now)));
        assert!(!quotas.alarm(worker, now) && quotas.alarm(WorkerId(2), now));
        assert!(quotas.alarm(worker, now.plus(HOUR_MS)));
        (0..RETURNS_AN_HOUR).for_each(|_| quotas.give_back(worker, now));
        assert!(!quotas.gives_back_all(worker, now));
        quotas.give_back(worker, now);
        assert!(quotas.gives_back_all(worker, now) && !quotas.gives_back_all(worker, now.plus(HOUR_MS)));
        let attempt = Try { game: 1, n: 1 };
        assert!(!quotas.is_built(attempt, now));
        quotas.built(attempt, now);
        assert!(quotas.is_built(attempt, now));
        for game in 0..3 * MOST_BUILDS as i64 {
            quotas.built(Try { game, n: 2 }, now);
        }
        assert_eq!(quotas.counts(now).builds.len(), MOST_BUILDS);
    }
}
