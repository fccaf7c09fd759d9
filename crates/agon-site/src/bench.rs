//! The bench: where machines wait for work.
//!
//! While there is no work, one of them asks for all, so that a thousand cost as much as one. As soon as that one gets some,
//! the next two ask, then the next four: a crowd gets up as fast as there is work, in the order of arrival. Those who then
//! find none sit down again.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

/// The most that ask at once.
const AT_ONCE: usize = 16;
/// How often the one that asks for all does so even if no change is known: another server of the contest may have changed
/// something.
const PROBE: Duration = Duration::from_millis(250);
/// The shortest pause between two questions, however much changes.
const REST: Duration = Duration::from_millis(50);
/// How long one machine asks for all: there may be work that the next one can do and this one cannot.
const TURN: Duration = Duration::from_secs(1);

pub struct LoadTest {
    /// A machine with a permit may ask. Permits are handed out in order of arrival.
    turns: Semaphore,
    /// The number of turns: at least one, at most [`AT_ONCE`].
    open: AtomicUsize,
    /// How many sit here without a turn.
    sitting: AtomicUsize,
    closed: AtomicBool,
}

/// A machine's turn, and when it ends.
type Turn<'a> = (SemaphorePermit<'a>, Instant);

impl Default for LoadTest {
    fn default() -> Self {
        let (turns, open) = (Semaphore::new(1), AtomicUsize::new(1));
        Self { turns, open, sitting: AtomicUsize::new(0), closed: AtomicBool::new(false) }
    }
}

impl LoadTest {
    /// Asks until it gets something, or until it is time to give up, or up to a second later. `done` is notified when there
    /// may be something.
    ///
    /// # Errors
    /// Those of `ask`.
    pub async fn wait<T, E, F>(
        &self,
        until: Instant,
        mut done: watch::Receiver<()>,
        mut ask: impl FnMut() -> F,
    ) -> Result<Option<T>, E>
    where
        F: Future<Output = Result<Option<T>, E>>,
    {
        let mut turn = None;
        // Latecomers do not take what others are waiting for.
        let mut sits = self.sitting.load(Ordering::Relaxed) > 0 && Instant::now() < until;
        loop {
            if sits {
                turn = self.sit(until).await;
            }
            if sits && turn.is_none() || self.closed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let asked = Instant::now();
            done.borrow_and_update();
            if let Some(got) = ask().await? {
                if turn.is_some() {
                    self.more();
                }
                return Ok(Some(got));
            }
            // A machine with a turn uses it up even if it is time to give up: those at the head of the line are always near
            // their ends.
            turn = turn.and_then(|turn| self.keep(turn));
            sits = turn.is_none();
            if !sits {
                sleep_until(asked + REST).await;
                let _ = timeout_at(asked + PROBE, done.changed()).await;
            }
        }
    }

    /// Waits for a turn; none if that takes too long.
    async fn sit(&self, until: Instant) -> Option<Turn<'_>> {
        if self.closed.load(Ordering::Relaxed) || Instant::now() >= until {
            return None;
        }
        let _seat = Seat::take(&self.sitting);
        let turn = timeout_at(until, self.turns.acquire()).await.ok()?.ok()?;
        Some((turn, Instant::now() + TURN))
    }

    /// There was work: one more may ask, besides the next in line after whoever got it.
    fn more(&self) {
        let grown = |open: usize| (open < AT_ONCE).then_some(open + 1);
        if self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).is_ok() {
            self.turns.add_permits(1);
        }
    }

    /// There was none: only the last of those asking goes on, for a while.
    fn keep<'a>(&self, (turn, ends): Turn<'a>) -> Option<Turn<'a>> {
        let fewer = |open: usize| (open > 1).then_some(open - 1);
        if self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok() {
            turn.forget();
            return None;
        }
        (Instant::now() < ends).then_some((turn, ends))
    }

    /// Sends away everybody who waits.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

/// A place on the bench for as long as this lives: a waiting machine may hang up at any time.
struct Seat<'a>(&'a AtomicUsize);

impl<'a> Seat<'a> {
    fn take(sitting: &'a AtomicUsize) -> Self {
        sitting.fetch_add(1, Ordering::Relaxed);
        Self(sitting)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::convert::Infallible;
    use std::rc::Rc;

    use futures_util::future::join_all;

    use super::*;

    /// The number of machines that wait for five seconds.
    const CROWD: usize = 1_000;

    /// The work to be had.
    struct Work {
        bench: LoadTest,
        done: watch::Sender<()>,
        left: Cell<usize>,
        asked: Cell<usize>,
        /// Who got something, in order.
        got: RefCell<Vec<usize>>,
    }

    impl Work {
        fn new() -> Rc<Self> {
            let (bench, done) = (LoadTest::default(), watch::Sender::new(()));
            Rc::new(Self { bench, done, left: Cell::new(0), asked: Cell::new(0), got: RefCell::default() })
        }

        /// Machines that arrive one after the other, a millisecond apart; returns how long each waited.
        async fn crowd(self: Rc<Self>, machines: usize) -> Vec<Duration> {
            let comes = |number: usize| Duration::from_millis(number as u64);
            join_all((0..machines).map(|number| self.clone().machine(number, comes(number)))).await
        }

        /// A machine that arrives after `comes` and waits; returns for how long.
        async fn machine(self: Rc<Self>, number: usize, comes: Duration) -> Duration {
            tokio::time::sleep(comes).await;
            let began = Instant::now();
            let ask = async || {
                self.asked.set(self.asked.get() + 1);
                tokio::time::sleep(Duration::from_millis(10)).await;
                let left = self.left.get();
                self.left.set(left.saturating_sub(1));
                Ok::<_, Infallible>((left > 0).then_some(number))
            };
            let until = began + Duration::from_secs(5);
            if let Ok(Some(number)) = self.bench.wait(until, self.done.subscribe(), ask).await {
                self.got.borrow_mut().push(number);
            }
            began.elapsed()
        }

        fn give(&self, more: usize) {
            self.left.set(self.left.get() + more);
            self.done.send_replace(());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_without_work_costs_what_one_does() {
        let work = Work::new();
        let waited = work.clone().crowd(CROWD).await;
        assert!(waited.iter().all(|waited| *waited >= Duration::from_secs(5)), "nobody gives up before");
        // The first to arrive, and then one four times a second.
        assert!((20..60).contains(&work.asked.get()), "{} times", work.asked.get());
        assert!(work.got.borrow().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_gets_up_as_fast_as_there_is_work_and_who_came_first_gets_it_first() {
        let work = Work::new();
        let gives = async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            work.give(CROWD + 1);
        };
        // It arrives while the crowd gets up.
        let late = work.clone().machine(CROWD, Duration::from_millis(2_100));
        let (waited, late, ()) = tokio::join!(work.clone().crowd(CROWD), late, gives);
        let last = waited.iter().max().expect("a crowd");
        assert!(*last < Duration::from_secs(3), "10 ms each, and 16 at once: {last:?}");
        assert!(late > Duration::from_millis(400) && work.got.borrow().len() == CROWD + 1, "{late:?}");
        let got = work.got.borrow();
        let is_elsewhere = |(at, number): &(usize, &usize)| at.abs_diff(**number) > 2 * AT_ONCE;
        let elsewhere: Vec<(usize, &usize)> = got.iter().enumerate().filter(is_elsewhere).collect();
        assert!(elsewhere.len() <= 2, "but those whose turn was over before: {elsewhere:?}");
        assert!(!got[..CROWD - AT_ONCE].contains(&CROWD), "who came later has none of what others wait for");
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_comes_bit_by_bit_is_there_at_once() {
        let work = Work::new();
        let crowd = work.clone().crowd(20);
        let gives = async {
            for _ in 0..15 {
                tokio::time::sleep(Duration::from_millis(200)).await;
                work.give(1);
                tokio::time::sleep(Duration::from_millis(70)).await;
                assert_eq!(work.left.get(), 0, "it is taken");
            }
        };
        tokio::join!(crowd, gives);
        assert!(work.asked.get() < 120, "{} times", work.asked.get());
    }

    #[tokio::test(start_paused = true)]
    async fn when_it_is_closed_all_go() {
        let work = Work::new();
        let crowd = work.clone().crowd(20);
        let closes = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            work.bench.close();
        };
        let (waited, ()) = tokio::join!(crowd, closes);
        assert!(waited.iter().all(|waited| *waited < Duration::from_millis(1_500)), "{waited:?}");
    }
}
