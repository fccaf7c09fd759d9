//! Things built ahead, kept for whoever wants exactly that. Several matches take and put at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Things by what they were built for, with an upper limit on their number.
pub struct Spares<K, T> {
    kept: Mutex<Vec<(K, T)>>,
    most: AtomicUsize,
}

impl<K: PartialEq, T> Spares<K, T> {
    /// An empty store for at most `most` things.
    pub fn new(most: usize) -> Self {
        Self { kept: Mutex::new(Vec::new()), most: AtomicUsize::new(most) }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(K, T)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one that was built for this. Finding and taking happen under one lock: in between, another match could take
    /// one, and that position would then hold the sandbox of another bot.
    pub fn take(&self, wanted: &K) -> Option<T> {
        let mut kept = self.kept();
        let place = kept.iter().position(|(built_for, _)| built_for == wanted)?;
        Some(kept.swap_remove(place).1)
    }

    /// Whether there is no room for more.
    pub fn is_full(&self) -> bool {
        self.kept().len() >= self.most.load(Ordering::Relaxed)
    }

    /// Keeps one; drops it if others filled the store meanwhile.
    pub fn put(&self, built_for: K, spare: T) {
        let mut kept = self.kept();
        if kept.len() < self.most.load(Ordering::Relaxed) {
            kept.push((built_for, spare));
        }
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
        assert!(spares.is_full());
        assert_eq!([spares.take(&"bot"), spares.take(&"other")], [Some(0), None]);
        spares.close();
        spares.put("bot", 3);
        assert_eq!(spares.take(&"bot"), None);
    }
}
