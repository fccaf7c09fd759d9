//! A seat that was asked: what it is doing, and when its time is up.
//!
//! | doing | what happens | doing then | by |
//! |---|---|---|---|
//! | – | it is asked, and its input takes the whole question | `Thinking` | [`Waiting::new`] |
//! | – | it is asked, and its input is full | `Reading` | [`Waiting::new`] |
//! | any | it takes too much of the machine, or never reads | `Leaving` | [`Waiting::must_go`] |
//! | `Reading` | its input has taken the rest; the clock starts | `Thinking` | [`Waiting::has_read`] |
//! | `Reading`, `Thinking` | its time is over, but the machine took some of it | same, `PutOff` | [`Waiting::put_off`] |
//! | `Reading`, `Thinking` | its time is over, but it may wait for a CPU right now | same, `Queued` | [`Waiting::look_again`] |
//! | `Reading`, `Thinking` | it answers | – | `Referee::answered` |
//! | `Reading`, `Thinking` | its time is over | – | `Referee::timed_out` |
//! | `Leaving` | its turn comes | – | `Referee::gone` |

use std::time::{Duration, Instant};

use agon_bot::KeptWaiting;
use agon_game::Seat;

use super::budget::Limit;
use crate::pulse::BEAT;
use crate::{Clock, FaultCause};
use agon_spec::clock::TOLERANCE;

/// A seat that was asked and has not answered.
pub(super) struct Waiting {
    /// Its index in the list of answers.
    pub index: usize,
    pub seat: Seat,
    pub doing: Doing,
    limit: Limit,
    /// CPU time that it used in others' turns since its last answer, which counts as used in this one.
    pub owes: Duration,
    /// When the clock started: when the question was handed over. If the question did not fit into the bot's input, the
    /// clock restarts when the last of it was taken.
    asked: Instant,
    pub heard: Heard,
    pub used: Used,
}

/// What an asked seat is doing.
pub(super) enum Doing {
    /// Its input has not taken the whole question yet.
    Reading(Respite),
    /// It has the question.
    Thinking(Respite),
    /// It must leave, for this reason.
    Leaving(FaultCause),
}

/// Time given to a seat beyond its limit.
#[derive(Clone, Copy)]
pub(super) enum Respite {
    None,
    /// The limit is put off by this much, because the machine was late.
    PutOff(Duration),
    /// Beyond that, for this long we check whether it is waiting for a CPU at this moment: the system counts a wait
    /// only when it ends.
    Queued {
        put_off: Duration,
        grace: Duration,
        /// Its CPU time when we last looked.
        cpu: Option<Duration>,
    },
}

impl Respite {
    /// All of it added up.
    fn length(self) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::PutOff(by) => by,
            Self::Queued { put_off, grace, .. } => put_off + grace,
        }
    }
}

/// What a seat has sent since it was asked.
#[derive(Default)]
pub(super) struct Heard {
    /// Whether something unasked was here before the question.
    pub early: bool,
    /// How many of the messages here at that time have not been read yet.
    pub ahead: usize,
    /// How many messages were no answer.
    pub stray: u32,
    /// How many parts of an answer came.
    pub parts: u32,
    /// The answer as received.
    pub raw: Vec<u8>,
}

/// Resources used while a seat was waited for.
pub(super) struct Used {
    /// Its CPU time when it was asked; none if unknown.
    pub before: Option<Duration>,
    /// How long the machine kept it waiting, as far as we looked.
    pub kept: KeptWaiting,
    pub beats: u32,
    /// How long the machine had stood still when it was asked.
    pub stood_still: Duration,
    /// CPU time that other bots took in its turn, by seat.
    pub stolen: Vec<(Seat, Duration)>,
}

impl Used {
    /// Starts from the state when a seat is asked.
    pub fn new(before: Option<Duration>, kept: KeptWaiting, stood_still: Duration) -> Self {
        Self { before, kept, beats: 0, stood_still, stolen: Vec::new() }
    }

    /// Records CPU time that another seat took.
    pub fn steal(&mut self, thief: Seat, cpu: Duration) {
        match self.stolen.iter_mut().find(|(seat, _)| *seat == thief) {
            Some((_, sum)) => *sum += cpu,
            None => self.stolen.push((thief, cpu)),
        }
    }
}

impl Waiting {
    /// A seat that is asked now; `is_read`: whether its input took the whole question.
    pub fn new(index: usize, seat: Seat, limit: Limit, asked: Instant, is_read: bool, used: Used) -> Self {
        let doing = if is_read { Doing::Thinking(Respite::None) } else { Doing::Reading(Respite::None) };
        let (owes, heard) = (Duration::ZERO, Heard::default());
        Self { index, seat, doing, limit, owes, asked, heard, used }
    }

    /// Marks it to leave; the first reason counts.
    pub fn must_go(&mut self, cause: FaultCause) {
        if !matches!(self.doing, Doing::Leaving(_)) {
            self.doing = Doing::Leaving(cause);
        }
    }

    /// Why it must leave; none while it may stay. Asked once.
    pub fn leaves(&mut self) -> Option<FaultCause> {
        match std::mem::replace(&mut self.doing, Doing::Thinking(Respite::None)) {
            Doing::Leaving(cause) => Some(cause),
            other => {
                self.doing = other;
                None
            }
        }
    }

    /// Whether its input has not taken the whole question yet.
    pub fn is_reading(&self) -> bool {
        matches!(self.doing, Doing::Reading(_))
    }

    /// Records that its input has taken the rest of the question. The time for that is not thinking time; until now the
    /// limit ran from the beginning, so that slow reading gains one limit at most.
    pub fn has_read(&mut self) {
        if let Doing::Reading(respite) = self.doing {
            (self.doing, self.asked) = (Doing::Thinking(respite), Instant::now());
        }
    }

    /// How long ago the clock started.
    pub fn wall(&self) -> Duration {
        self.asked.elapsed()
    }

    /// Its limit by the clock; none without a clock.
    pub fn limit(&self) -> Option<Duration> {
        self.limit.time
    }

    /// Whether that is all it has left for the match.
    pub fn has_last_limit(&self) -> bool {
        self.limit.is_last
    }

    /// CPU time that others took in its turn, in total.
    pub fn stolen(&self) -> Duration {
        self.used.stolen.iter().map(|(_, cpu)| *cpu).sum()
    }

    /// The most time it may be charged, by the clock and with what others took from it added. The last of a match's time
    /// has no tolerance.
    pub fn allowance(&self, clock: Clock) -> Option<Duration> {
        let tolerance = if clock.tolerant && !self.limit.is_last { TOLERANCE } else { Duration::ZERO };
        Some(self.limit.time? + tolerance + self.stolen())
    }

    /// What of that it has not used before it was asked.
    pub fn patience(&self, clock: Clock) -> Option<Duration> {
        Some(self.allowance(clock)?.saturating_sub(self.owes))
    }

    /// When its time is up, unless that is put off by then.
    pub fn deadline(&self, clock: Clock) -> Option<Instant> {
        Some(self.asked + self.patience(clock)? + self.respite().length())
    }

    /// The time given beyond its limit.
    pub fn respite(&self) -> Respite {
        match self.doing {
            Doing::Reading(respite) | Doing::Thinking(respite) => respite,
            Doing::Leaving(_) => Respite::None,
        }
    }

    /// Puts off its limit, because the machine was late by this much in all.
    pub fn put_off(&mut self, by: Duration) {
        self.give(Respite::PutOff(by));
    }

    /// Its time is up, but it seems to wait for a CPU: we check again a beat later.
    pub fn look_again(&mut self, allowance: Duration, cpu: Option<Duration>) {
        let put_off = match self.respite() {
            Respite::None => Duration::ZERO,
            Respite::PutOff(by) | Respite::Queued { put_off: by, .. } => by,
        };
        let grace = self.wall().saturating_sub(allowance + put_off) + BEAT;
        self.give(Respite::Queued { put_off, grace, cpu });
    }

    fn give(&mut self, more: Respite) {
        if let Doing::Reading(respite) | Doing::Thinking(respite) = &mut self.doing {
            *respite = more;
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_bot::Usage;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn asked(is_read: bool) -> Waiting {
        let now = Instant::now();
        let used = Used::new(None, KeptWaiting::new(now, Usage::default(), 1), Duration::ZERO);
        let limit = Limit { time: Some(MS(50)), is_last: false };
        Waiting::new(0, Seat::new(0), limit, now, is_read, used)
    }

    #[test]
    fn the_clock_starts_again_once_when_the_question_was_read() {
        let mut one = asked(false);
        let before = one.deadline(Clock::ORIGINAL);
        assert!(one.is_reading());
        one.has_read();
        let then = one.deadline(Clock::ORIGINAL);
        assert!(!one.is_reading() && then > before);
        one.has_read();
        assert_eq!(one.deadline(Clock::ORIGINAL), then);
    }

    #[test]
    fn each_respite_replaces_the_one_before() {
        let mut one = asked(true);
        let limit = one.deadline(Clock::ORIGINAL).expect("a limit");
        one.put_off(MS(20));
        assert_eq!(one.deadline(Clock::ORIGINAL), Some(limit + MS(20)));
        one.look_again(MS(50), None);
        assert!(one.deadline(Clock::ORIGINAL) >= Some(limit + MS(20) + BEAT));
        one.put_off(MS(30));
        assert_eq!(one.deadline(Clock::ORIGINAL), Some(limit + MS(30)));
    }

    #[test]
    fn what_others_take_is_added_to_the_limit() {
        let mut one = asked(true);
        one.used.steal(Seat::new(1), MS(2));
        one.used.steal(Seat::new(2), MS(1));
        one.used.steal(Seat::new(1), MS(3));
        assert_eq!(one.used.stolen, [(Seat::new(1), MS(5)), (Seat::new(2), MS(1))]);
        assert_eq!(one.allowance(Clock::ORIGINAL), Some(MS(56)));
    }

    #[test]
    fn what_it_used_in_others_turns_is_taken_from_its_limit() {
        let mut one = asked(true);
        one.owes = MS(20);
        assert_eq!(
            (one.allowance(Clock::ORIGINAL), one.patience(Clock::ORIGINAL)),
            (Some(MS(50)), Some(MS(30)))
        );
        one.owes = MS(80);
        assert_eq!(one.patience(Clock::ORIGINAL), Some(MS(0)));
    }

    #[test]
    fn the_first_reason_to_go_counts() {
        let mut one = asked(true);
        assert_eq!(one.leaves(), None);
        one.must_go(FaultCause::Deaf);
        one.must_go(FaultCause::ManyParts);
        assert_eq!(one.leaves(), Some(FaultCause::Deaf));
    }
}
