//! Whether a clock can be trusted, told from what it shows.

use agon_store::{ClockDoubt, Time};

/// Largest tolerated error of a clock, in milliseconds: leases and deadlines end by it.
pub const APART_MS: i64 = 5_000;
/// For how long clocks must run alike before they are trusted again, in milliseconds.
pub const ALIKE_MS: i64 = 60_000;
/// A clock that is set by less than [`APART_MS`] now and then is a good clock: the time by which it is judged follows it, by one second in
/// this many.
const FOLLOWS: i64 = 2_000;

/// What two clocks of a machine show, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The machine's clock, since 1970.
    pub wall: i64,
    /// The time since boot, in which the machine may have slept. Nobody can set it.
    pub boot: i64,
}

/// Tells whether a clock can be trusted, from readings in their order.
#[derive(Debug)]
pub struct ClockWatch {
    /// How far a clock that is right is ahead of the time since boot.
    right: i64,
    /// When it was last let follow, in time since boot.
    followed: i64,
    pub(super) doubt: Option<Doubting>,
}

/// A clock is in doubt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubting {
    pub(super) since: Time,
    pub(super) ahead: i64,
    pub(super) apart: Option<i64>,
    pub(super) confirmed: bool,
    /// How far the clock has been ahead of the time since boot,
    offset: i64,
    /// from this time since boot on: since then all clocks have run alike.
    alike: i64,
}

impl ClockWatch {
    /// Trusts the clock as it is.
    pub fn new(first: ClockReading) -> Self {
        Self { right: first.wall - first.boot, followed: first.boot, doubt: None }
    }

    /// The time: what the clock shows, or while it is in doubt, what it would show.
    pub fn read(&mut self, now: ClockReading) -> Time {
        let offset = now.wall - now.boot;
        let Some(doubt) = &mut self.doubt else {
            if (offset - self.right).abs() > APART_MS {
                self.doubt(now);
                return Time(now.boot + self.right);
            }
            let most = (now.boot - self.followed) / FOLLOWS;
            if most > 0 {
                self.right += (offset - self.right).clamp(-most, most);
                self.followed = now.boot;
            }
            return Time(now.wall);
        };
        doubt.ahead = offset - self.right;
        if (offset - doubt.offset).abs() > APART_MS {
            (doubt.offset, doubt.alike, doubt.confirmed) = (offset, now.boot, false);
        }
        let is_right = doubt.apart.is_none() && (doubt.ahead.abs() <= APART_MS || doubt.confirmed);
        if is_right && now.boot - doubt.alike >= ALIKE_MS {
            *self = Self::new(now);
            return Time(now.wall);
        }
        Time(now.boot + self.right)
    }

    /// The database's clock was found this far behind the machine's, in milliseconds.
    pub fn compare(&mut self, apart: i64, now: ClockReading) {
        self.read(now);
        if apart.abs() > APART_MS {
            let doubt = self.doubt(now);
            (doubt.apart, doubt.alike) = (Some(apart), now.boot);
        } else if let Some(doubt) = &mut self.doubt {
            doubt.apart = None;
        }
    }

    /// What the clock shows is right, says an organiser to whom it was shown when it was so far ahead. Nothing is said of where it has jumped
    /// since.
    pub fn confirm(&mut self, ahead: i64) {
        if let Some(doubt) = &mut self.doubt {
            doubt.confirmed |= (doubt.ahead - ahead).abs() <= APART_MS;
        }
    }

    /// Doubts it from the beginning, as this says.
    pub(super) fn begin(&mut self, known: &ClockDoubt, now: ClockReading) {
        self.right = now.wall - now.boot - known.ahead_ms;
        let doubt = self.doubt(now);
        (doubt.since, doubt.confirmed) = (known.since, known.confirmed);
    }

    fn doubt(&mut self, now: ClockReading) -> &mut Doubting {
        let offset = now.wall - now.boot;
        self.doubt.get_or_insert(Doubting {
            since: Time(now.boot + self.right),
            ahead: offset - self.right,
            apart: None,
            confirmed: false,
            offset,
            alike: now.boot,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i64 = 1_795_416_000_000;
    const HOUR: i64 = 3_600_000;

    /// A machine whose clocks the test moves.
    struct Machine {
        now: ClockReading,
        watch: ClockWatch,
    }

    impl Machine {
        fn new() -> Self {
            let now = ClockReading { wall: START, boot: 7_000 };
            Self { now, watch: ClockWatch::new(now) }
        }

        /// Time passes on both clocks, in rounds of half a second, or while nobody reads them.
        fn runs(&mut self, ms: i64) {
            for _ in 0..ms / 500 {
                self.passes(500);
                self.read();
            }
        }

        fn passes(&mut self, ms: i64) {
            (self.now.wall, self.now.boot) = (self.now.wall + ms, self.now.boot + ms);
        }

        fn jumps(&mut self, ms: i64) {
            self.now.wall += ms;
        }

        fn read(&mut self) -> i64 {
            self.watch.read(self.now).0
        }

        /// By how much the clock is ahead, and the database's apart, if it is in doubt.
        fn doubt(&mut self) -> Option<(i64, Option<i64>)> {
            self.read();
            self.watch.doubt.map(|doubt| (doubt.ahead, doubt.apart))
        }
    }

    #[test]
    fn a_clock_that_jumps_is_in_doubt_from_the_first_reading_on_and_time_goes_on() {
        for jump in [HOUR, -HOUR, APART_MS + 1, -APART_MS - 1] {
            let mut machine = Machine::new();
            machine.runs(10_000);
            machine.jumps(jump);
            assert_eq!(machine.read(), START + 10_000, "{jump}: nothing is ever done by the new time");
            assert_eq!(machine.doubt(), Some((jump, None)));
            machine.runs(2 * HOUR);
            assert_eq!(machine.read(), START + 10_000 + 2 * HOUR, "{jump}: nobody confirms it");
            machine.watch.confirm(jump + 2 * APART_MS);
            assert!(machine.doubt().is_some(), "{jump}: another time was confirmed");
            machine.watch.confirm(jump);
            assert_eq!((machine.doubt(), machine.read()), (None, machine.now.wall), "{jump}");
        }
        let mut machine = Machine::new();
        machine.jumps(APART_MS);
        assert_eq!((machine.doubt(), machine.read()), (None, START + APART_MS), "good clocks are set, too");
    }

    #[test]
    fn a_confirmed_clock_runs_alike_for_a_minute_first_and_another_jump_has_to_be_confirmed_again() {
        let mut machine = Machine::new();
        machine.jumps(HOUR);
        machine.read();
        machine.watch.confirm(HOUR);
        machine.runs(ALIKE_MS - 500);
        assert_eq!(machine.doubt(), Some((HOUR, None)));
        machine.jumps(-2 * HOUR);
        machine.runs(2 * ALIKE_MS);
        assert_eq!(machine.doubt(), Some((-HOUR, None)), "what was confirmed is another time");
        machine.watch.confirm(HOUR);
        assert!(machine.doubt().is_some(), "the page was made before the second jump");
        machine.watch.confirm(-HOUR);
        assert_eq!(machine.doubt(), None);
        machine.runs(ALIKE_MS);
        assert_eq!(machine.read(), machine.now.wall, "it is trusted as it is now");
    }

    #[test]
    fn a_clock_that_is_where_it_was_needs_no_confirmation() {
        let mut machine = Machine::new();
        machine.jumps(HOUR);
        machine.runs(HOUR);
        machine.jumps(-HOUR + 900);
        machine.read();
        machine.runs(ALIKE_MS - 500);
        assert_eq!(machine.doubt(), Some((900, None)), "not at once: it may jump again");
        machine.runs(500);
        assert_eq!(machine.doubt(), None);
    }

    #[test]
    fn neither_sleep_nor_a_stopped_process_is_a_jump_but_one_meanwhile_is() {
        let mut machine = Machine::new();
        machine.passes(9 * HOUR);
        assert_eq!((machine.doubt(), machine.read()), (None, START + 9 * HOUR));
        machine.passes(HOUR);
        machine.jumps(6_000);
        assert_eq!(machine.doubt(), Some((6_000, None)));
    }

    #[test]
    fn a_clock_that_is_set_a_little_each_day_is_good_and_one_that_creeps_is_not() {
        let mut machine = Machine::new();
        for day in 0..30 {
            machine.passes(24 * HOUR);
            machine.jumps(-4_300);
            assert_eq!(machine.doubt(), None, "day {day}: 50 ppm");
        }
        // In steps, each of which is tolerated.
        let mut machine = Machine::new();
        let noticed = (1..10).find(|_| {
            machine.runs(1_000);
            machine.jumps(1_000);
            machine.doubt().is_some()
        });
        assert_eq!(noticed, Some(6));
        // 500 ppm, as much as the kernel ever corrects by itself, for a day.
        let mut machine = Machine::new();
        for _ in 0..24 * 360 {
            machine.passes(10_000);
            machine.jumps(5);
            assert_eq!(machine.doubt(), None);
        }
    }

    #[test]
    fn a_clock_that_is_not_the_databases_waits_until_they_agree() {
        let mut machine = Machine::new();
        machine.runs(1_000);
        // Which of them jumped, or drifted, does not matter.
        machine.watch.compare(-HOUR, machine.now);
        assert_eq!(machine.doubt(), Some((0, Some(-HOUR))));
        assert_eq!(machine.read(), START + 1_000);
        machine.watch.confirm(0);
        machine.runs(2 * ALIKE_MS);
        assert_eq!(machine.doubt(), Some((0, Some(-HOUR))), "nobody can confirm two times");
        machine.watch.compare(-HOUR, machine.now);
        machine.watch.compare(4_000, machine.now);
        machine.runs(ALIKE_MS - 500);
        assert_eq!(machine.doubt(), Some((0, None)));
        machine.runs(500);
        assert_eq!(machine.doubt(), None);
        // This machine was wrong, and is set.
        machine.watch.compare(HOUR, machine.now);
        machine.jumps(-HOUR);
        machine.watch.compare(0, machine.now);
        machine.runs(ALIKE_MS);
        assert_eq!(machine.doubt(), Some((-HOUR, None)), "its own time has changed");
        machine.watch.confirm(-HOUR);
        assert_eq!(machine.doubt(), None);
    }
}
