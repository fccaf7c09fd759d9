//! Whether this machine lets us run: our own heartbeat.

use std::time::{Duration, Instant};

use agon_bot::sys::Counters;

/// How often we wake while bots think: to notice that this machine stood still, what the bots use,
/// and that the user wants to stop. Answers that come sooner are never disturbed.
const BEAT: Duration = Duration::from_millis(4);
/// Waking up later than this is no accident of scheduling.
const JITTER: Duration = Duration::from_millis(1);

/// Our own heartbeat.
pub struct Pulse {
    counters: Option<Counters>,
    /// When we last looked at the clock.
    seen: Instant,
    next: Instant,
    /// What we had waited for a CPU at the last beat.
    waited: Duration,
    /// What we waited for it between the two beats before.
    queued: Duration,
    stood_still: Duration,
}

impl Pulse {
    /// A pulse of the calling thread.
    pub fn new() -> Self {
        let now = Instant::now();
        let counters = Counters::own();
        let waited = waited(counters.as_ref());
        Self {
            counters,
            seen: now,
            next: now + BEAT,
            waited,
            queued: Duration::ZERO,
            stood_still: Duration::ZERO,
        }
    }

    /// Whether the system counts how long a thread waits for a CPU.
    pub fn is_exact(&self) -> bool {
        self.counters.is_some()
    }

    /// Bots begin to think: the next beat is a whole one away.
    pub fn restart(&mut self, now: Instant) {
        self.seen = now;
        self.next = now + BEAT;
    }

    /// How long to sleep at most from now on.
    pub fn patience(&self, now: Instant) -> Duration {
        self.next.saturating_duration_since(now)
    }

    /// Notes that we are awake, after we had meant to sleep for `meant` since the last call. Whether it
    /// is time for a beat.
    pub fn awake(&mut self, meant: Duration) -> bool {
        let now = Instant::now();
        let late = now.saturating_duration_since(self.seen).saturating_sub(meant);
        self.seen = now;
        let beats = now >= self.next;
        if late > JITTER {
            // What we waited for a CPU is a matter of who used it. The rest nobody used.
            self.stood_still += late.saturating_sub(self.since_beat());
        }
        if beats {
            self.next = now + BEAT;
            self.queued = self.since_beat();
            self.waited += self.queued;
        }
        beats
    }

    fn since_beat(&self) -> Duration {
        waited(self.counters.as_ref()).saturating_sub(self.waited)
    }

    /// For how long this machine stood still so far, for everybody.
    pub fn stood_still(&self) -> Duration {
        self.stood_still
    }

    /// How long we have waited for a CPU lately (since the last beat but one): so much later than an
    /// answer came we may have seen it.
    pub fn queued(&self) -> Duration {
        self.queued + self.since_beat()
    }
}

fn waited(counters: Option<&Counters>) -> Duration {
    counters.and_then(Counters::read).unwrap_or_default().waited
}
