//! Things built ahead, kept for whoever wants exactly that. Several matches take and put at the same time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Things by what they were built for, with an upper limit on their number: the one that was kept for longest makes room for another.
pub struct Spares<K, T> {
    /// In the order in which they were put here.
    kept: Mutex<VecDeque<(K, T)>>,
    most: AtomicUsize,
}

impl<K: PartialEq, T> Spares<K, T> {
    /// An empty store for at most `most` things.
    pub fn new(most: usize) -> Self {
        Self { kept: Mutex::new(VecDeque::new()), most: AtomicUsize::new(most) }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(K, T)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one that was built for this. Finding and taking happen under one lock: in between, another match could take
    /// one, and that position would then hold the sandbox of another bot.
    pub fn take(&self, wanted: &K) -> Option<T> {
        let mut kept = self.kept();
        let place = kept.iter().position(|(built_for, _)| built_for == wanted)?;
        kept.remove(place).map(|(_, spare)| spare)
    }

    /// Whether it keeps nothing any more.
    pub fn is_closed(&self) -> bool {
        self.most.load(Ordering::Relaxed) == 0
    }

    /// Keeps one. Where there is no room, the one that has waited for longest is dropped: a bot that plays takes its own out and puts one back
    /// each time, so that is one of a bot that does not play any more.
    pub fn put(&self, built_for: K, spare: T) {
        let mut kept = self.kept();
        kept.push_back((built_for, spare));
        let over = kept.len().saturating_sub(self.most.load(Ordering::Relaxed));
        let dropped: Vec<(K, T)> = kept.drain(..over).collect();
        // Not under the lock: dropping may take a while.
        drop(kept);
        drop(dropped);
    }

    /// Drops all of them, and takes no more.
    pub fn close(&self) {
        self.most.store(0, Ordering::Relaxed);
        // Not under the lock: dropping may take a while.
        let all = std::mem::take(&mut *self.kept());
        drop(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_gets_what_was_built_for_somebody_else() {
        let spares = Spares::new(8);
        std::thread::scope(|scope| {
            for own in 0..4 {
                let spares = &spares;
                scope.spawn(move || {
                    for _ in 0..100_000 {
                        spares.put(own, own);
                        if let Some(found) = spares.take(&own) {
                            assert_eq!(found, own);
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn there_is_room_for_so_many() {
        let spares = Spares::new(2);
        (0..3).for_each(|number| spares.put("bot", number));
        assert_eq!([(); 3].map(|()| spares.take(&"bot")), [Some(1), Some(2), None]);
        assert_eq!(spares.take(&"other"), None);
        spares.close();
        spares.put("bot", 3);
        assert_eq!(spares.take(&"bot"), None);
        assert!(spares.is_closed());
    }

    #[test]
    fn what_does_not_play_any_more_makes_room() {
        let spares = Spares::new(4);
        // A season: each version is succeeded by the next, and the newest four play a match each.
        for newest in 0..100 {
            for version in newest..newest + 4 {
                let taken = spares.take(&version);
                assert_eq!(taken.is_some(), newest > 0 && version < newest + 3, "{version} of {newest}");
                spares.put(version, ());
            }
        }
    }
}
