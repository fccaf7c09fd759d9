//! Where machines sit that wait for work.
//!
//! While there is none one of them asks for all, so that a thousand cost what one does. As soon as that one gets some, the next two ask, then
//! the next four: a crowd gets up as fast as there is work, in the order in which it came. Who then finds none sits down again.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

/// No more ask at once.
const AT_ONCE: usize = 16;
/// Whoever asks for all does so this often, although nothing is known to have changed: another server of the contest may have changed it.
const PROBE: Duration = Duration::from_millis(250);
/// And no more often than this, however much changes.
const REST: Duration = Duration::from_millis(50);
/// Nobody asks for all for longer: there may be work that the next one may do, and this one not.
const TURN: Duration = Duration::from_secs(1);

/// The bench.
pub struct Bench {
    /// Whoever has one may ask. They are handed out in the order in which machines came.
    turns: Semaphore,
    /// How many turns there are: at least one, at most [`AT_ONCE`].
    open: AtomicUsize,
    /// How many sit here without a turn.
    sitting: AtomicUsize,
    closed: AtomicBool,
}

/// That it is one's turn, and until when.
type Turn<'a> = (SemaphorePermit<'a>, Instant);

impl Default for Bench {
    fn default() -> Self {
        let (turns, open) = (Semaphore::new(1), AtomicUsize::new(1));
        Self { turns, open, sitting: AtomicUsize::new(0), closed: AtomicBool::new(false) }
    }
}

impl Bench {
    /// Asks until something is there to be had, or until it is time to give up, or up to a second later. `done` is told when there may be something.
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
        // What others wait for is not taken by who comes later.
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
            // Who has a turn uses it up, though it be time to give up: near their ends are those at the head of the line.
            turn = turn.and_then(|turn| self.keep(turn));
            sits = turn.is_none();
            if !sits {
                sleep_until(asked + REST).await;
                let _ = timeout_at(asked + PROBE, done.changed()).await;
            }
        }
    }

    /// Waits for a turn; none when that takes too long.
    async fn sit(&self, until: Instant) -> Option<Turn<'_>> {
        if self.closed.load(Ordering::Relaxed) || Instant::now() >= until {
            return None;
        }
        let _seat = Seat::take(&self.sitting);
        let turn = timeout_at(until, self.turns.acquire()).await.ok()?.ok()?;
        Some((turn, Instant::now() + TURN))
    }

    /// There was work: one more may ask beside those behind whoever got it.
    fn more(&self) {
        let grown = |open: usize| (open < AT_ONCE).then_some(open + 1);
        if self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).is_ok() {
            self.turns.add_permits(1);
        }
    }

    /// There was none: only the last of those who ask goes on, for a while.
    fn keep<'a>(&self, (turn, ends): Turn<'a>) -> Option<Turn<'a>> {
        let fewer = |open: usize| (open > 1).then_some(open - 1);
        if self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok() {
            turn.forget();
            return None;
        }
        (Instant::now() < ends).then_some((turn, ends))
    }

    /// Nobody waits here any more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

/// A place on the bench, for as long as this lives: who waits may hang up at any time.
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

    /// So many machines wait for five seconds.
    const CROWD: usize = 1_000;

    /// What there is to get.
    struct Work {
        bench: Bench,
        done: watch::Sender<()>,
        left: Cell<usize>,
        asked: Cell<usize>,
        /// Who got something, in order.
        got: RefCell<Vec<usize>>,
    }

    impl Work {
        fn new() -> Rc<Self> {
            let (bench, done) = (Bench::default(), watch::Sender::new(()));
            Rc::new(Self { bench, done, left: Cell::new(0), asked: Cell::new(0), got: RefCell::default() })
        }

        /// Machines that come one after the other, a millisecond apart; how long each waited.
        async fn crowd(self: Rc<Self>, machines: usize) -> Vec<Duration> {
            let comes = |number: usize| Duration::from_millis(number as u64);
            join_all((0..machines).map(|number| self.clone().machine(number, comes(number)))).await
        }

        /// A machine that comes then, and waits; how long it did.
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
        // Those who come first, and then one four times a second.
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
        // It comes while the crowd gets up.
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
