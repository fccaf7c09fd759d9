//! Watching the bots while one thinks: what they take of the machine, whether one computes in another's time, for how
//! long the machine kept one from answering, and whose fault that was.

use std::time::{Duration, Instant};

use agon_bot::tree::ProcessTree;
use agon_game::{Absence, Seat};
use agon_replay::{Doing, Use, Wait};

use super::waiting::Waiting;
use super::{Leaving, MOST_DISTURBANCES, Referee};
use crate::pulse::BEAT;
use crate::record::Void;
use crate::{FaultCause, Player, Ponder};

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
/// A bot whose CPU time is counted is frozen at the first beat of another's turn. So it can use no more there than this on
/// each of its CPUs, unless we come late to freeze it, which is not its fault.
const UNFROZEN: Duration = BEAT.saturating_mul(2);
/// A bot's descendants are looked for again after this many beats.
const SURVEY_BEATS: u32 = 16;
/// Up to this many threads of a bot are looked at every beat; with more, less often.
const THREADS_A_BEAT: usize = 16;
/// A program that has ended is waited for this long, while what it left behind holds its output.
const LINGERS: Duration = Duration::from_millis(500);
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
        if counts && self.program(seat).tree().is_counted() {
            self.owe(seat, used);
            return used;
        }
        let state = &mut self.seats[seat.index()];
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
            self.fault(seat, &FaultCause::Pondered { used: pondered, own });
        }
        used
    }

    /// Books the CPU time at which the first turn begins.
    pub(super) fn book_start(&mut self) {
        for seat in Seat::first(self.players.len() as u8) {
            if let Player::Program(program) = &mut self.players[seat.index()]
                && program.tree().is_counted()
            {
                self.seats[seat.index()].cpu_then = program.tree().cpu_time();
            }
        }
    }

    /// Counts what a seat used in another's turn as part of its next answer.
    fn owe(&mut self, seat: Seat, used: Duration) {
        let most = TIDYING + UNFROZEN * self.program(seat).tree().cpus() as u32;
        let state = &mut self.seats[seat.index()];
        state.owes = (state.owes + used).min(most);
    }

    /// What a seat that is asked now has used in others' turns since its last answer.
    pub(super) fn take_owed(&mut self, seat: Seat) -> Duration {
        let state = &mut self.seats[seat.index()];
        let owes = std::mem::take(&mut state.owes).saturating_sub(TIDYING);
        state.owed += owes;
        owes
    }

    /// Notes about seats that computed a little in their opponents' turns.
    pub(super) fn pondering_notes(&self) -> impl Iterator<Item = String> {
        let seats = Seat::first(self.players.len() as u8).zip(&self.seats);
        let counted = seats.filter(|(_, state)| state.owed > PONDER_NOTE).map(|(seat, state)| {
            format!(
                "seat {seat} used {:.1} ms of CPU while its opponent was to move; they are counted in its next answers",
                state.owed.as_secs_f64() * 1e3
            )
        });
        let seats = Seat::first(self.players.len() as u8).zip(&self.seats);
        let tidied = seats.filter(|(_, state)| state.most_pondered > PONDER_NOTE && !state.ponders);
        counted.chain(tidied.map(|(seat, state)| {
            let frozen = if state.stands { "; it stands still there from then on" } else { "" };
            format!(
                "seat {seat} used {:.1} ms of CPU while its opponent was to move, as interpreters that tidy up do; that is not a \
                 fault{frozen}",
                state.most_pondered.as_secs_f64() * 1e3
            )
        }))
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
            if is_due {
                self.miss_the_dead(one);
            }
        }
        let first = waiting.iter().any(|one| one.used.beats == 1);
        if !self.session.info().alternating || self.terms.ponder == Ponder::Allow {
            return;
        }
        for seat in Seat::first(self.players.len() as u8) {
            let idle = self.seats[seat.index()].out.is_none() && waiting.iter().all(|one| one.seat != seat);
            let Player::Program(program) = &mut self.players[seat.index()] else { continue };
            if !idle || self.seats[seat.index()].stands || program.tree().is_stopped() {
                continue;
            }
            let is_counted = program.tree().is_counted();
            if first && !is_counted {
                program.tree().survey();
            }
            let cpu = program.tree().cpu_time();
            let used = self.note_pondering(seat, cpu);
            for one in &mut *waiting {
                one.used.steal(seat, used);
            }
            // What is counted is frozen at once; an answer that comes before the first beat costs nobody that.
            if is_counted || self.seats[seat.index()].stands {
                self.program(seat).tree().stop();
            }
        }
    }

    /// Notices a program that has ended while something that it started holds its output open: no end of that output will ever
    /// say so. What it wrote before counts; whole lines are heard first.
    fn miss_the_dead(&mut self, one: &mut Waiting) {
        let program = self.program(one.seat);
        if program.has_ended().is_none_or(|since| since < LINGERS) {
            return;
        }
        program.wire().tend();
        if program.wire_ref().whole() == 0 {
            let unfinished = !program.wire_ref().held().is_empty();
            let ending = program.ending(Duration::ZERO);
            one.must_go(FaultCause::Gone { ending, unfinished, last_words: String::new(), advice: None });
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
        let (ms, us) = (|us: u64| us as f64 / 1e3, |time: Duration| time.as_micros() as u64);
        let (wall_us, waited_us) = (us(wall), us(late));
        let wait = Wait { seat: one.seat.number(), wall_us, waited_us, used: self.used_meanwhile(one, wall) };
        match wait.doing() {
            Doing::Machine => {
                let theirs = wait
                    .used
                    .iter()
                    .map(|used| format!("; seat {} used {:.1} ms", used.seat, ms(used.cpu_us)));
                let why = format!(
                    "at {moment} seat {} took {:.1} ms of {:.0}, but for {:.1} ms this machine kept it waiting{}",
                    one.seat,
                    ms(wall_us),
                    ms(us(one.limit().unwrap_or_default())),
                    ms(waited_us),
                    theirs.collect::<String>()
                );
                self.wait = Some(wait);
                return Err(Void::HostLate(why));
            }
            // Where all think at once, waiting while others use what is theirs is nobody's fault, and not charged.
            Doing::Nobody => {}
            Doing::Seat(by) => {
                let beyond = wait.used.iter().find(|used| used.seat == by).map_or(0, |used| used.beyond_us);
                let why = format!(
                    "at {moment} processes of seat {by} used {:.1} ms of CPU, for which seat {} had to wait",
                    ms(beyond),
                    one.seat
                );
                self.blame(Seat::new(by - 1), why).inspect_err(|_| self.wait = Some(wait))?;
            }
        }
        one.put_off(late);
        Ok(())
    }

    /// What the other bots have used since a seat was asked.
    fn used_meanwhile(&mut self, one: &Waiting, wall: Duration) -> Vec<Use> {
        let mut all = Vec::new();
        let alternating = self.session.info().alternating;
        let seats =
            self.players.iter().filter(|player| matches!(player, Player::Program(_))).count().max(1) as u32;
        for (seat, player) in Seat::first(self.players.len() as u8).zip(&mut *self.players) {
            let Player::Program(program) = player else { continue };
            if seat == one.seat || program.is_elsewhere() {
                continue;
            }
            let tree = program.tree();
            let counted = tree.is_counted();
            let (cpu, beyond) = if alternating {
                let stolen = one.used.stolen.iter().find(|(thief, _)| *thief == seat);
                let stolen = stolen.map_or(Duration::ZERO, |(_, cpu)| *cpu);
                (stolen, stolen)
            } else {
                if !counted {
                    tree.survey();
                }
                let then = self.seats[seat.index()].cpu_then;
                let cpu =
                    then.zip(tree.cpu_time()).map_or(Duration::ZERO, |(then, now)| now.saturating_sub(then));
                (cpu, cpu.saturating_sub(wall * tree.cpus() as u32 / seats))
            };
            let us = |time: Duration| time.as_micros() as u64;
            all.push(Use { seat: seat.number(), cpu_us: us(cpu), beyond_us: us(beyond), counted });
        }
        all
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
            self.leaving.push((by, Leaving::Sent(FaultCause::Disturbed(why))));
        }
        Ok(())
    }
}

/// Which limit a bot exceeds.
pub(super) fn excess_of(tree: &ProcessTree) -> Option<FaultCause> {
    tree.excess().map(|excess| FaultCause::Greedy(excess, tree.limits))
}
