//! Watching the bots while one thinks: what they take of the machine, whether one computes in another's time, for how
//! long the machine kept one from answering, and whose fault that was.

use std::time::{Duration, Instant};

use agon_bot::tree::ProcessTree;
use agon_game::{Absence, Seat};

use super::waiting::Waiting;
use super::{Leaving, MOST_DISTURBANCES, Referee};
use crate::record::Void;
use crate::{Cause, Player, Ponder};

/// A bot that has used more CPU than this in its opponents' turns thinks there, which is a fault if it is also more
/// than a quarter of what it used in its own turns.
const THINKS: Duration = Duration::from_millis(5);
/// More than this is worth a note.
const PONDER_NOTE: Duration = Duration::from_millis(1);
/// A sandboxed bot that has used more than this there is frozen between its turns from then on. That is no fault and
/// costs little; other bots are never touched.
const FREEZES: Duration = Duration::from_millis(1);
/// This much per turn is tidying up after an answer; anything more adds up over the turns.
const TIDYING: Duration = Duration::from_micros(100);
/// A bot's descendants are looked for again after this many beats.
const SURVEY_BEATS: u32 = 16;
/// Up to this many threads of a bot are looked at every beat; with more, less often.
const THREADS_A_BEAT: usize = 16;
/// A bot's use of the machine is checked after this many beats of its own turns, and whenever its processes were looked
/// for.
const EXCESS_BEATS: u32 = 4;

impl Referee<'_> {
    /// Books the CPU time a seat has used since its last answer. Once it thinks in its opponent's turn, it is stopped
    /// there. Returns how much it used since it was last booked.
    pub(super) fn note_pondering(&mut self, seat: Seat, cpu: Option<Duration>) -> Duration {
        let counts = self.session.info().alternating && self.terms.ponder == Ponder::Stop;
        let state = &mut self.seats[seat.index()];
        let used = cpu.unwrap_or_default().saturating_sub(state.cpu_then.unwrap_or_default());
        state.between += used;
        state.cpu_then = cpu;
        // Before its first answer it is only starting.
        if !counts || state.time.answers == 0 || used.is_zero() && state.pondered.is_zero() {
            return used;
        }
        let pondered = (state.pondered + used).saturating_sub(TIDYING);
        let own = Duration::from_secs_f64(state.time.cpu_ms.unwrap_or_default() / 1e3);
        let tree = self.program(seat).tree();
        if pondered > PONDER_NOTE && tree.is_warming_up() {
            return used;
        }
        let freezes = pondered > FREEZES && tree.cage().is_some();
        let state = &mut self.seats[seat.index()];
        state.pondered = pondered;
        state.most_pondered = state.most_pondered.max(pondered);
        state.stands |= freezes;
        if pondered > THINKS && pondered > own / 4 && !state.ponders {
            (state.ponders, state.stands) = (true, true);
            self.fault(seat, &Cause::Pondered { used: pondered, own });
        }
        used
    }

    /// Notes about seats that computed a little in their opponents' turns.
    pub(super) fn pondering_notes(&self) -> impl Iterator<Item = String> {
        let seats = Seat::first(self.players.len() as u8).zip(&self.seats);
        let tidied = seats.filter(|(_, state)| state.most_pondered > PONDER_NOTE && !state.ponders);
        tidied.map(|(seat, state)| {
            let frozen = if state.stands { "; it stands still there from then on" } else { "" };
            format!(
                "seat {seat} used {:.1} ms of CPU while its opponent was to move, as interpreters that tidy up do; that is no \
                 fault{frozen}",
                state.most_pondered.as_secs_f64() * 1e3
            )
        })
    }

    /// Checks on the bots while one thinks: what it takes of the machine, and whether another computes in its time.
    pub(super) fn beat(&mut self, waiting: &mut [Waiting]) {
        for one in &mut *waiting {
            let seat = &mut self.seats[one.seat.index()];
            seat.beats = seat.beats.wrapping_add(1);
            let is_due = seat.beats.is_multiple_of(EXCESS_BEATS);
            let tree = self.program(one.seat).tree();
            one.used.beats += 1;
            let surveys = one.used.beats.is_multiple_of(SURVEY_BEATS);
            let begins = one.used.beats == 1;
            let seldom = 1 + (tree.threads() / THREADS_A_BEAT) as u32;
            if begins || surveys {
                let usage = tree.look();
                one.used.kept.note(Instant::now(), usage);
            } else if one.used.beats.is_multiple_of(seldom) {
                let usage = tree.look_again();
                one.used.kept.note(Instant::now(), usage);
            }
            if (begins || surveys || is_due)
                && let Some(cause) = excess_of(tree)
            {
                one.must_go(cause);
            }
        }
        let first = waiting.iter().any(|one| one.used.beats == 1);
        if !self.session.info().alternating || self.terms.ponder == Ponder::Allow {
            return;
        }
        for seat in Seat::first(self.players.len() as u8) {
            let idle = self.seats[seat.index()].out.is_none() && waiting.iter().all(|one| one.seat != seat);
            let Player::Program(program) = &mut self.players[seat.index()] else { continue };
            if !idle || self.seats[seat.index()].stands {
                continue;
            }
            if first {
                program.tree().survey();
            }
            let cpu = program.tree().cpu_time();
            let used = self.note_pondering(seat, cpu);
            for one in &mut *waiting {
                one.used.steal(seat, used);
            }
            if self.seats[seat.index()].stands {
                self.program(seat).tree().stop();
            }
        }
    }

    /// How long this machine kept a seat from answering.
    pub(super) fn machine_was_late(&mut self, one: &mut Waiting) -> Duration {
        // We may have been stopped since we woke, and so read an answer late that was here in time.
        let stood_still = self.pulse.stood_still().saturating_sub(one.used.stood_still);
        let tree = self.program(one.seat).tree();
        let usage = tree.look();
        one.used.kept.note(Instant::now(), usage);
        stood_still + one.used.kept.total() + self.pulse.queued()
    }

    /// The same as far as it is cheap to know; zero for an answer that came before the first beat.
    pub(super) fn kept_waiting(&mut self, one: &mut Waiting) -> Duration {
        if one.used.beats == 0 {
            return Duration::ZERO;
        }
        let usage = self.program(one.seat).tree().look_again();
        one.used.kept.note(Instant::now(), usage);
        one.used.kept.total()
    }

    /// Handles a seat that this machine, or another bot, kept from answering for so long that nobody can say how long
    /// it thought.
    ///
    /// # Errors
    /// The match is void, unless this is the disturber's third disturbance: then the disturber is put out and the match
    /// goes on.
    pub(super) fn disturbed(
        &mut self,
        one: &mut Waiting,
        wall: Duration,
        late: Duration,
    ) -> Result<(), Void> {
        let moment = self.session.moment();
        let (ms, limit) = (|time: Duration| time.as_secs_f64() * 1e3, one.limit().unwrap_or_default());
        let taken = match self.session.info().alternating {
            true => one.used.stolen.clone(),
            false => self.beyond_their_turns(one),
        };
        let Some((by, cpu)) =
            taken.into_iter().max_by_key(|(_, cpu)| *cpu).filter(|(_, cpu)| *cpu >= late / 2)
        else {
            return Err(Void::HostLate(format!(
                "at {moment} seat {} took {:.1} ms of {:.0}, but for {:.1} ms this machine kept it waiting",
                one.seat,
                ms(wall),
                ms(limit),
                ms(late)
            )));
        };
        let why = format!(
            "at {moment} processes of seat {by} used {:.1} ms of CPU, for which seat {} had to wait",
            ms(cpu),
            one.seat
        );
        self.blame(by, why)?;
        one.put_off(late);
        Ok(())
    }

    /// CPU time that other bots have used since they were asked or have answered, beyond what they may use while all
    /// think: all of their CPUs for as long as an answer may take.
    fn beyond_their_turns(&mut self, one: &Waiting) -> Vec<(Seat, Duration)> {
        let limit = one.limit().unwrap_or_default();
        let mut taken = Vec::new();
        for (seat, player) in Seat::first(self.players.len() as u8).zip(&mut *self.players) {
            let Player::Program(program) = player else { continue };
            let tree = program.tree();
            if let (true, Some(then)) = (seat != one.seat, self.seats[seat.index()].cpu_then) {
                tree.survey();
                let used = tree.cpu_time().unwrap_or_default().saturating_sub(then);
                taken.push((seat, used.saturating_sub(limit * tree.cpus() as u32)));
            }
        }
        taken
    }

    /// Handles a seat stopped by a signal that neither we nor its own processes sent. Returns whether it goes on.
    ///
    /// # Errors
    /// As [`disturbed`](Self::disturbed).
    pub(super) fn stopped(&mut self, one: &mut Waiting) -> Result<bool, Void> {
        let tree = self.program(one.seat).tree();
        if !tree.stopped_itself() || !tree.was_stopped_by_others() {
            return Ok(false);
        }
        let mut others = Seat::first(self.players.len() as u8).filter(|seat| {
            let player = &self.players[seat.index()];
            *seat != one.seat && matches!(player, Player::Program(program) if !program.is_elsewhere())
        });
        // With several others, nobody knows which one it was.
        let (Some(by), None) = (others.next(), others.next()) else { return Ok(false) };
        let moment = self.session.moment();
        self.blame(by, format!("at {moment} a signal of seat {by} stopped seat {}", one.seat))?;
        self.program(one.seat).tree().wake();
        one.put_off(one.wall());
        Ok(true)
    }

    /// Puts out a seat that has disturbed as many matches as a bot may.
    ///
    /// # Errors
    /// Until then the match is void.
    fn blame(&mut self, by: Seat, why: String) -> Result<(), Void> {
        let before = self.terms.disturbed.get(by.index()).copied().unwrap_or(0);
        if before + 1 < MOST_DISTURBANCES {
            return Err(Void::Disturbed { by, why });
        }
        if self.seats[by.index()].out.is_none() {
            self.seats[by.index()].out = Some(Absence::Gone);
            self.program(by).end();
            self.leaving.push((by, Leaving::Sent(Cause::Disturbed(why))));
        }
        Ok(())
    }
}

/// Which limit a bot exceeds.
pub(super) fn excess_of(tree: &ProcessTree) -> Option<Cause> {
    tree.excess().map(|excess| Cause::Greedy(excess, tree.limits))
}
