//! Our own heartbeat: whether this machine lets us run.

use std::time::{Duration, Instant};

use agon_bot::sys::Counters;

/// How often we wake while bots think, to notice that this machine stood still, what the bots use, and that
/// the user wants to stop. Answers that come sooner are never disturbed.
pub const BEAT: Duration = Duration::from_millis(4);
/// Waking up later than this is more than scheduling jitter.
const JITTER: Duration = Duration::from_millis(1);

/// Our own heartbeat.
pub(crate) struct Pulse {
    counters: Option<Counters>,
    heart: Heart,
}

impl Pulse {
    /// The pulse of the calling thread.
    pub fn new() -> Self {
        let counters = Counters::own();
        let heart = Heart::new(Instant::now(), waited(counters.as_ref()));
        Self { counters, heart }
    }

    /// Whether the system counts how long a thread waits for a CPU.
    pub fn is_exact(&self) -> bool {
        self.counters.is_some()
    }

    /// Starts a full beat, as bots begin to think. Returns how long this machine has stood still until then,
    /// for everybody.
    pub fn restart(&mut self, now: Instant) -> Duration {
        let counters = self.counters.as_ref();
        self.heart.restart(now, || waited(counters));
        self.heart.stood_still
    }

    /// The longest sleep from now on.
    pub fn patience(&self, now: Instant) -> Duration {
        self.heart.next.saturating_duration_since(now)
    }

    /// Records that we are awake, after an intended sleep of `meant` since the last call. Returns whether a
    /// beat is due.
    pub fn awake(&mut self, meant: Duration) -> bool {
        let counters = self.counters.as_ref();
        self.heart.awake(Instant::now(), meant, || waited(counters))
    }

    /// How long this machine has stood still until now, for everybody, including since we last woke.
    pub fn stood_still(&mut self) -> Duration {
        let counters = self.counters.as_ref();
        self.heart.look(Instant::now(), || waited(counters));
        self.heart.stood_still
    }

    /// How long we have recently waited for a CPU (since the last beat but one): we may have seen an answer
    /// this much late.
    pub fn queued(&self) -> Duration {
        self.heart.queued + self.heart.since(waited(self.counters.as_ref()))
    }
}

fn waited(counters: Option<&Counters>) -> Duration {
    counters.and_then(Counters::read).unwrap_or_default().waited
}

/// The state of the pulse. It is given the time, and how long we have ever waited for a CPU; that is read as
/// rarely as possible, because reading it takes as long as a quick bot's answer.
struct Heart {
    /// When we last looked at the clock.
    seen: Instant,
    next: Instant,
    /// How long we had waited for a CPU at the last reading, and the time of that reading.
    waited: Duration,
    asked: Instant,
    /// How long we waited for a CPU between the previous two beats.
    queued: Duration,
    stood_still: Duration,
}

impl Heart {
    fn new(now: Instant, waited: Duration) -> Self {
        Self {
            seen: now,
            next: now + BEAT,
            waited,
            asked: now,
            queued: Duration::ZERO,
            stood_still: Duration::ZERO,
        }
    }

    fn restart(&mut self, now: Instant, waited: impl Fn() -> Duration) {
        // Another bot may already be thinking.
        self.look(now, &waited);
        (self.next, self.queued) = (now + BEAT, Duration::ZERO);
        // With quick answers no beat comes. Our waits during all of them must not count as waits during this
        // one: that would hide that the machine stood still.
        if now.saturating_duration_since(self.asked) > BEAT {
            (self.waited, self.asked) = (waited(), now);
        }
    }

    fn awake(&mut self, now: Instant, meant: Duration, waited: impl Fn() -> Duration) -> bool {
        self.notice(now, meant, &waited);
        self.seen = now;
        let beats = now >= self.next;
        if beats {
            let waited = waited();
            self.queued = self.since(waited);
            (self.next, self.waited, self.asked) = (now + BEAT, waited, now);
        }
        beats
    }

    /// Records that we are awake, and have been all along as far as we know.
    fn look(&mut self, now: Instant, waited: impl Fn() -> Duration) {
        self.notice(now, Duration::ZERO, waited);
        self.seen = now;
    }

    /// Notices that it is later than it should be.
    fn notice(&mut self, now: Instant, meant: Duration, waited: impl Fn() -> Duration) {
        let late = now.saturating_duration_since(self.seen).saturating_sub(meant);
        if late > JITTER {
            // Our wait for a CPU is due to whoever used it. The rest was used by nobody.
            self.stood_still += late.saturating_sub(self.since(waited()));
        }
    }

    fn since(&self, waited: Duration) -> Duration {
        waited.saturating_sub(self.waited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_machine_that_stands_still_is_noticed_however_long_we_have_waited_before() {
        let began = Instant::now();
        let mut heart = Heart::new(began, Duration::ZERO);
        let (mut now, mut queue) = (began, Duration::ZERO);
        // A thousand quick answers, each after a short wait for our CPU.
        for _ in 0..1_000 {
            (now, queue) = (now + MS(1), queue + Duration::from_micros(500));
            heart.restart(now, || queue);
            heart.awake(now, Duration::ZERO, || queue);
        }
        assert_eq!(heart.stood_still, Duration::ZERO);
        // Then everything stands still for 46 ms during a sleep of 4.
        assert!(heart.awake(now + MS(50), BEAT, || queue), "a beat is due");
        assert!(heart.stood_still > MS(40), "{:?}", heart.stood_still);
    }

    #[test]
    fn a_bot_that_thinks_while_the_next_is_asked_loses_nothing() {
        let began = Instant::now();
        let mut heart = Heart::new(began, Duration::ZERO);
        heart.restart(began, || Duration::ZERO);
        heart.restart(began + MS(45), || Duration::ZERO);
        assert_eq!(heart.stood_still, MS(45));
    }

    #[test]
    fn a_machine_that_stands_still_between_waking_and_reading_is_noticed() {
        let began = Instant::now();
        let mut heart = Heart::new(began, Duration::ZERO);
        assert!(!heart.awake(began + MS(3), BEAT, || Duration::ZERO));
        heart.look(began + MS(3_003), || MS(20));
        assert_eq!(heart.stood_still, MS(2_980));
        // Counted once.
        heart.look(began + MS(3_003), || MS(20));
        assert!(heart.awake(began + MS(3_004), MS(1), || MS(20)));
        assert_eq!(heart.stood_still, MS(2_980));
    }

    #[test]
    fn what_we_wait_for_a_cpu_is_not_standing_still() {
        let began = Instant::now();
        let mut heart = Heart::new(began, MS(70));
        heart.restart(began + MS(100), || MS(80));
        heart.stood_still = Duration::ZERO;
        assert!(heart.awake(began + MS(130), BEAT, || MS(106)));
        assert_eq!((heart.stood_still, heart.queued), (Duration::ZERO, MS(26)));
        assert!(heart.awake(began + MS(134), BEAT, || MS(106)));
        assert_eq!(heart.queued, Duration::ZERO, "it is long ago");
    }
}
