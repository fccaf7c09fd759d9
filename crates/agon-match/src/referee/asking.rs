//! From a question to its answers: asking, waiting for all bots at once, what each sends, and whether it is late.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agon_bot::family::Family;
use agon_bot::program::Ending;
use agon_bot::{Received, Usage};
use agon_game::{Absence, Answer, Heard, PackedAnswer, Seat};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use super::{Leaving, Referee, Said, Take, When};
use crate::clock::{TOLERANCE, TOLERATED};
use crate::pulse::BEAT;
use crate::record::Void;
use crate::{Cause, Clock, FaultKind, Lateness, Player, Ponder};

/// What a bot may leave unread of earlier questions before it is put out of the match, in bytes.
const LONGEST_QUEUE: usize = 8 << 20;
/// So many messages that are no answer are skipped in one step.
const MOST_STRAY: u32 = 1_000;
/// A bot that uses more CPU than this in its opponent's turn is stopped there.
const PONDER_LIMIT: Duration = Duration::from_millis(1);
/// So much in each turn is tidying up after an answer; what is more adds up over the turns.
const TIDYING: Duration = Duration::from_micros(100);
/// So many messages of a step that are no answer and yet heard are kept.
const MOST_SAID: usize = 8;
/// After so many answers, and so many beats of our pulse, descendants of a bot are looked for again.
const SURVEY: u32 = 64;
const SURVEY_BEATS: u32 = 16;
/// After so many beats of its own turns, and when its processes were looked for, we look whether a bot takes
/// too much of the machine.
const EXCESS_BEATS: u32 = 4;

/// A seat that was asked and has not answered.
pub(super) struct Waiting {
    /// Its place in the list of answers.
    index: usize,
    seat: Seat,
    limit: Option<Duration>,
    /// When the question was handed over; that of one that fits into no pipe, when the last of it was. The
    /// clock starts here.
    asked: Instant,
    /// Whether the bot's input took the whole question.
    written: bool,
    /// How much of earlier questions it had not read when it was asked.
    unread: usize,
    /// Whether something nobody had asked for was here before the question.
    early: bool,
    /// How many of the messages that were here then were not looked at yet.
    ahead: usize,
    /// What it had used when it was asked, as far as that is cheap to know.
    before: Usage,
    /// What it had used at the first beat.
    beat: Option<Usage>,
    beats: u32,
    /// For how long the machine had stood still when it was asked.
    stood_still: Duration,
    /// CPU time that its opponents took in its turn.
    stolen: Duration,
    /// By how much the limit was put off because the machine was late.
    put_off: Duration,
    /// How long, beyond that, we look whether it waits for a CPU at this moment.
    grace: Duration,
    /// What CPU time it had used when we looked last.
    watched: Option<Duration>,
    /// Why it has to go, found while it thinks.
    excess: Option<Cause>,
    /// How many messages were no answer.
    stray: u32,
    parts: u32,
    raw: Vec<u8>,
}

impl Waiting {
    /// How long it may take at most, by the clock and by what others took from it.
    fn allowance(&self, clock: Clock) -> Option<Duration> {
        let tolerance = if clock.tolerant { TOLERANCE } else { Duration::ZERO };
        Some(self.limit? + tolerance + self.stolen)
    }
}

impl Referee<'_> {
    /// Sends the question.
    pub(super) fn ask(&mut self, index: usize, seat: Seat) -> Waiting {
        let mut message = std::mem::take(&mut self.message);
        let answers_say_their_question = self.session.kit().answers_say_their_question();
        let mut excess = None;
        if answers_say_their_question {
            excess = self.skip_early(seat, &mut message).err();
        }
        message.clear();
        self.session.ask(seat, &mut message);
        let limit = self.clock.limit(self.session.limit_ms(seat));
        let first = self.seats[seat.index()].time.answers;
        let program = self.program(seat);
        if first % SURVEY == 1 {
            program.family().survey();
            excess = excess.or_else(|| excess_of(program.family()));
        }
        let before = program.family().glance();
        self.note_pondering(seat, before.cpu);
        let program = self.program(seat);
        program.family().go_on();
        program.wire().flush();
        let unread = program.wire_ref().unsent();
        // Looked for before the question is there: a quick bot's answer to it must not look unasked. Whether
        // the first question comes before what a bot says as it starts is a matter of chance.
        if !answers_say_their_question && first > 0 {
            program.wire().tend();
        }
        let (early, ahead) = (!program.wire_ref().held().is_empty(), program.wire_ref().whole());
        // On a CPU that it shares with us, a bot may begin, and even answer, before we have come back from sending.
        let asked = Instant::now();
        self.pulse.restart(asked);
        let program = self.program(seat);
        if unread <= LONGEST_QUEUE && excess.is_none() {
            program.wire().send(&message);
        }
        let written = program.wire_ref().unsent() == 0;
        self.message = message;
        Waiting {
            index,
            seat,
            limit,
            asked,
            written,
            unread,
            early,
            ahead,
            before,
            beat: None,
            beats: 0,
            stood_still: self.pulse.stood_still(),
            stolen: Duration::ZERO,
            put_off: Duration::ZERO,
            grace: Duration::ZERO,
            watched: None,
            excess,
            stray: 0,
            parts: 0,
            raw: Vec::new(),
        }
    }

    /// Looks at what came before the question, where answers say what they answer: there is none for
    /// a question that was not asked yet.
    fn skip_early(&mut self, seat: Seat, message: &mut Vec<u8>) -> Result<(), Cause> {
        for _ in 0..MOST_STRAY {
            let wire = self.program(seat).wire();
            wire.tend();
            if wire.whole() == 0 || wire.receive(message) != Received::Message {
                return Ok(());
            }
            match self.session.hear(seat, message) {
                Heard::Close(why) => return Err(Cause::Closed(why)),
                Heard::Ignore(Some(why)) => self.note_fault(seat, FaultKind::Stray, &why),
                Heard::Ignore(None) => self.keep_said(seat, When::Early, message),
                Heard::Answer(_) | Heard::Malformed(_) | Heard::More => {}
            }
        }
        Err(Cause::ManyMessages(MOST_STRAY))
    }

    /// Keeps what a bot said that is no answer, and was heard. There is no end to what it may say; a name is
    /// said once.
    fn keep_said(&mut self, seat: Seat, when: When, message: &[u8]) {
        let said = &mut self.seats[seat.index()].said;
        if said.len() < MOST_SAID {
            said.push(Said { when, text: message.to_vec() });
        }
    }

    /// Books the CPU time that a seat has used since its last answer. From the first time that it computes
    /// in its opponent's turn it is stopped there. How much it used since it was last booked.
    fn note_pondering(&mut self, seat: Seat, cpu: Option<Duration>) -> Duration {
        let counts = self.session.info().alternating && self.ponder == Ponder::Stop;
        let state = &mut self.seats[seat.index()];
        let used = cpu.unwrap_or_default().saturating_sub(state.cpu_then.unwrap_or_default());
        state.between += used;
        state.cpu_then = cpu;
        // Before its first answer it is only starting.
        if counts && state.time.answers > 0 {
            state.pondered = (state.pondered + used).saturating_sub(TIDYING);
            if state.pondered > PONDER_LIMIT && !state.ponders {
                state.ponders = true;
                let used = state.pondered;
                self.fault(seat, &Cause::Pondered(used));
            }
        }
        used
    }

    /// Waits until every seat that was asked has answered, is late, or is gone.
    pub(super) fn collect(
        &mut self,
        waiting: &mut Vec<Waiting>,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> Result<(), Void> {
        // A question may be longer than the bound; that it was not read is known at the next one.
        waiting.retain_mut(|one| {
            let deaf = (one.unread > LONGEST_QUEUE).then_some(Cause::Deaf);
            let Some(cause) = one.excess.take().or(deaf) else { return true };
            !self.gone(one, Leaving::Sent(cause), answers, takes)
        });
        // Lines nobody had asked for may already be here.
        let mut index = 0;
        while index < waiting.len() {
            if waiting[index].early && self.hear(&mut waiting[index], answers, takes)? {
                waiting.remove(index);
            } else {
                index += 1;
            }
        }
        while !waiting.is_empty() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Void::Stopped);
            }
            let ready = self.wait(waiting)?;
            if ready.beat {
                self.beat(waiting);
            }
            for seat in Seat::first(self.players.len() as u8) {
                if let Player::Program(program) = &mut self.players[seat.index()]
                    && ready.stderr >> seat.index() & 1 == 1
                {
                    program.listen_to_stderr();
                }
            }
            let mut index = 0;
            while index < waiting.len() {
                let one = &mut waiting[index];
                if !one.written {
                    let program = self.program(one.seat);
                    program.wire().flush();
                    one.written = program.wire_ref().unsent() == 0;
                    // The time it takes to read a question that fits into no pipe is not thinking time; until
                    // then the limit runs from the beginning, so that reading slowly gains one limit at most.
                    one.asked = if one.written { Instant::now() } else { one.asked };
                }
                let done = if let Some(cause) = one.excess.take() {
                    self.gone(one, Leaving::Sent(cause), answers, takes)
                } else if ready.reads >> one.seat.index() & 1 == 1 {
                    self.hear(one, answers, takes)?
                } else {
                    self.late(one, answers, takes)?
                };
                if done {
                    waiting.remove(index);
                } else {
                    index += 1;
                }
            }
        }
        Ok(())
    }

    /// Sleeps until something is ready, the next limit passes, or our pulse beats.
    fn wait(&mut self, waiting: &[Waiting]) -> Result<Ready, Void> {
        let mut descriptors = Vec::with_capacity(8);
        let mut meanings = Vec::with_capacity(8);
        let mut deadline: Option<Instant> = None;
        for one in waiting {
            let Player::Program(program) = &self.players[one.seat.index()] else { continue };
            descriptors.push(PollFd::from_borrowed_fd(program.wire_ref().reads(), PollFlags::IN));
            meanings.push((one.seat, Meaning::Reads));
            if !one.written {
                descriptors.push(PollFd::from_borrowed_fd(program.wire_ref().writes(), PollFlags::OUT));
                meanings.push((one.seat, Meaning::Writes));
            }
            let own =
                one.allowance(self.clock).map(|allowance| one.asked + allowance + one.put_off + one.grace);
            deadline = match (deadline, own) {
                (Some(first), Some(own)) => Some(first.min(own)),
                (first, own) => first.or(own),
            };
        }
        for (seat, player) in Seat::first(self.players.len() as u8).zip(&*self.players) {
            if let Player::Program(program) = player
                && let Some(stderr) = program.stderr()
            {
                descriptors.push(PollFd::from_borrowed_fd(stderr, PollFlags::IN));
                meanings.push((seat, Meaning::Stderr));
            }
        }
        self.pulse.awake(Duration::ZERO);
        let now = Instant::now();
        let patience = self.pulse.patience(now);
        let patience =
            deadline.map_or(patience, |deadline| patience.min(deadline.saturating_duration_since(now)));
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos()) };
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Void::OwnFault(format!("waiting for the bots failed: {error}"))),
        }
        let mut ready = Ready { reads: 0, stderr: 0, beat: self.pulse.awake(patience) };
        for (descriptor, (seat, meaning)) in descriptors.iter().zip(meanings) {
            if !descriptor.revents().is_empty() {
                match meaning {
                    Meaning::Reads => ready.reads |= 1 << seat.index(),
                    Meaning::Writes => {}
                    Meaning::Stderr => ready.stderr |= 1 << seat.index(),
                }
            }
        }
        Ok(ready)
    }

    /// Looks after the bots while one thinks: what it takes of the machine, and whether another one
    /// computes in its time.
    fn beat(&mut self, waiting: &mut [Waiting]) {
        for one in &mut *waiting {
            let seat = &mut self.seats[one.seat.index()];
            seat.beats = seat.beats.wrapping_add(1);
            let is_due = seat.beats.is_multiple_of(EXCESS_BEATS);
            let family = self.program(one.seat).family();
            one.beats += 1;
            let surveys = one.beats.is_multiple_of(SURVEY_BEATS);
            let begins = one.beat.is_none();
            if begins {
                one.beat = Some(family.look());
            } else if surveys {
                family.survey();
            }
            if begins || surveys || is_due {
                one.excess = excess_of(family);
            }
        }
        let first = waiting.iter().any(|one| one.beats == 1);
        if !self.session.info().alternating || self.ponder == Ponder::Allow {
            return;
        }
        for seat in Seat::first(self.players.len() as u8) {
            let idle = self.seats[seat.index()].out.is_none() && waiting.iter().all(|one| one.seat != seat);
            let Player::Program(program) = &mut self.players[seat.index()] else { continue };
            if !idle || self.seats[seat.index()].ponders {
                continue;
            }
            if first {
                program.family().survey();
            }
            let cpu = program.family().cpu_time();
            let used = self.note_pondering(seat, cpu);
            for one in &mut *waiting {
                one.stolen += used;
            }
            if self.seats[seat.index()].ponders {
                self.program(seat).family().stop();
            }
        }
    }

    /// For how long this machine kept a seat from answering.
    fn machine_was_late(&mut self, one: &Waiting) -> Duration {
        let stood_still = self.pulse.stood_still().saturating_sub(one.stood_still);
        let family = self.program(one.seat).family();
        let queued = match &one.beat {
            Some(beat) => Usage::kept_waiting(&one.before, beat) + Usage::kept_waiting(beat, &family.look()),
            None => Usage::kept_waiting(&one.before, &family.glance()),
        };
        stood_still + queued + self.pulse.queued()
    }

    /// Reads what a seat sent. Whether it is done with.
    fn hear(
        &mut self,
        one: &mut Waiting,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> Result<bool, Void> {
        let mut message = std::mem::take(&mut self.message);
        let done = loop {
            let leaving = match self.program(one.seat).wire().receive(&mut message) {
                Received::Nothing => break self.late(one, answers, takes)?,
                Received::Closed(unfinished) => Some(Leaving::Closed(unfinished)),
                Received::Broken(why) => Some(Leaving::Sent(Cause::LongMessage(why))),
                Received::Illegal(why) => Some(Leaving::Sent(Cause::Closed(format!("it sent {why}")))),
                Received::Garbled(why) => {
                    self.note_fault(one.seat, FaultKind::Malformed, &why);
                    let (wall, think_ms) = (one.asked.elapsed(), think_ms(one.asked.elapsed()));
                    let answer = Answer::Malformed { why, think_ms };
                    break self.answered(one, wall, answer, answers, takes)?;
                }
                Received::Message => None,
            };
            if let Some(leaving) = leaving {
                break self.gone(one, leaving, answers, takes);
            }
            let wall = one.asked.elapsed();
            let unasked = one.ahead > 0;
            one.ahead = one.ahead.saturating_sub(1);
            let before = one.raw.len();
            if before > 0 {
                one.raw.push(b'\n');
            }
            one.raw.extend_from_slice(&message);
            let think_ms = think_ms(wall);
            let answer = match self.session.hear(one.seat, &message) {
                Heard::More => {
                    one.parts += 1;
                    if one.parts > MOST_STRAY {
                        break self.gone(one, Leaving::Sent(Cause::ManyParts), answers, takes);
                    }
                    continue;
                }
                Heard::Answer(order) => Answer::Given { order, think_ms },
                Heard::Malformed(why) => {
                    self.note_fault(one.seat, FaultKind::Malformed, &why);
                    Answer::Malformed { why, think_ms }
                }
                Heard::Ignore(why) => {
                    one.raw.truncate(before);
                    one.stray += 1;
                    match why {
                        Some(why) => self.note_fault(one.seat, FaultKind::Stray, &why),
                        None => self.keep_said(one.seat, When::Asked, &message),
                    }
                    if one.stray > MOST_STRAY {
                        let cause = Cause::ManyMessages(MOST_STRAY);
                        break self.gone(one, Leaving::Sent(cause), answers, takes);
                    }
                    continue;
                }
                Heard::Close(why) => break self.gone(one, Leaving::Sent(Cause::Closed(why)), answers, takes),
            };
            self.seats[one.seat.index()].unasked += u32::from(unasked);
            break self.answered(one, wall, answer, answers, takes)?;
        };
        self.message = message;
        Ok(done)
    }

    /// Takes an answer that came in time, or a little late where the clock tolerates it.
    fn answered(
        &mut self,
        one: &mut Waiting,
        wall: Duration,
        answer: PackedAnswer,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> Result<bool, Void> {
        let limit = one.limit.map(|limit| limit + one.stolen).filter(|limit| wall > *limit);
        if let (Some(limit), Some(allowance)) = (limit, one.allowance(self.clock)) {
            let late = self.machine_was_late(one).max(one.put_off);
            let tolerated = &mut self.seats[one.seat.index()].tolerated;
            *tolerated += u32::from(wall > limit + late);
            if wall > allowance + late || *tolerated > TOLERATED {
                return self.timed_out(one, answers, takes);
            }
            if wall > allowance {
                return Err(self.void(one, wall, late));
            }
        }
        if let Answer::Given { order, .. } = &answer {
            self.canonical.clear();
            self.session.say(one.seat, order, &mut self.canonical);
            if self.canonical != one.raw {
                takes[one.index].raw = Some(std::mem::take(&mut one.raw));
            }
        } else {
            takes[one.index].raw = Some(std::mem::take(&mut one.raw));
        }
        answers[one.index].1 = answer;
        self.account(one, wall, &mut takes[one.index]);
        Ok(true)
    }

    fn void(&self, one: &Waiting, wall: Duration, late: Duration) -> Void {
        Void::HostLate(format!(
            "at {} seat {} took {:.1} ms of {:.0}, but for {:.1} ms this machine kept it waiting",
            self.session.moment(),
            one.seat,
            wall.as_secs_f64() * 1e3,
            one.limit.unwrap_or_default().as_secs_f64() * 1e3,
            late.as_secs_f64() * 1e3
        ))
    }

    /// Whether the limit of a seat has passed; then it is done with.
    fn late(
        &mut self,
        one: &mut Waiting,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> Result<bool, Void> {
        let Some(allowance) = one.allowance(self.clock) else { return Ok(false) };
        let wall = one.asked.elapsed();
        if wall < allowance + one.put_off + one.grace {
            return Ok(false);
        }
        // It gets the time that the machine took from it. If it needs that, nobody can say whether
        // it would have been in time, and the match is void; if it is not enough, it was too slow.
        let late = self.machine_was_late(one);
        let most = Duration::from_secs(10) + 10 * allowance;
        if late > most || one.grace > most {
            return Err(self.void(one, wall, late.max(one.grace)));
        }
        if wall < allowance + late {
            (one.put_off, one.grace) = (late, Duration::ZERO);
            return Ok(false);
        }
        // A wait for a CPU is counted by the system when it is over.
        if self.waits_now(one) {
            one.grace = wall.saturating_sub(allowance + one.put_off) + BEAT;
            return Ok(false);
        }
        self.timed_out(one, answers, takes)
    }

    /// Whether a seat whose limit has passed could run at this moment and is not let, as far as we know: the
    /// first time it has only to be able to, later it must not have computed meanwhile.
    fn waits_now(&mut self, one: &mut Waiting) -> bool {
        let family = self.program(one.seat).family();
        let (could, used) = (family.could_run(), family.cpu_time());
        let computed = match (used, one.watched) {
            (Some(used), Some(before)) => used.saturating_sub(before) > BEAT / 4,
            _ => false,
        };
        one.watched = used;
        could && !computed && used.is_some()
    }

    fn timed_out(
        &mut self,
        one: &mut Waiting,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> Result<bool, Void> {
        let wall = one.asked.elapsed();
        let answered = self.seats[one.seat.index()].time.answers > 0;
        let program = self.program(one.seat);
        let held: String = String::from_utf8_lossy(program.wire_ref().held()).chars().take(60).collect();
        let why = match program.ending(Duration::ZERO) {
            _ if !held.is_empty() => Lateness::NoLineEnd(held),
            Ending::Runs if program.family().stopped_itself() => Lateness::StoppedItself,
            Ending::Runs if !one.written => Lateness::NotRead,
            Ending::Runs if one.parts > 0 => Lateness::Unfinished(one.parts),
            Ending::Runs if one.stray > 0 && !answered => Lateness::NoAnswer(one.stray),
            Ending::Runs if answered => Lateness::Slow,
            Ending::Runs => Lateness::Silent,
            ended => Lateness::Ended(ended),
        };
        let cause = Cause::Late { limit: one.limit.unwrap_or_default(), why };
        if self.session.info().stops_late_bots {
            self.gone(one, Leaving::Sent(cause), answers, takes);
        } else {
            self.fault(one.seat, &cause);
            self.account(one, wall, &mut takes[one.index]);
        }
        answers[one.index].1 = Answer::Missing(Absence::TimedOut);
        Ok(true)
    }

    /// A seat of which nothing more is expected. Why is found out, and its program ended, when nobody
    /// thinks any more.
    fn gone(
        &mut self,
        one: &mut Waiting,
        leaving: Leaving,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> bool {
        self.seats[one.seat.index()].out = Some(Absence::Gone);
        answers[one.index].1 = Answer::Missing(Absence::Gone);
        let wall = one.asked.elapsed();
        self.account(one, wall, &mut takes[one.index]);
        self.leaving.push((one.seat, leaving));
        true
    }

    /// Writes down the time an answer took, and what was said on standard error.
    fn account(&mut self, one: &Waiting, wall: Duration, take: &mut Take) {
        let step = self.session.steps();
        let program = self.program(one.seat);
        let now = program.family().cpu_time();
        let cpu = match (now, one.before.cpu) {
            (Some(now), Some(then)) => Some(now.saturating_sub(then)),
            _ => None,
        };
        let kept_waiting = match &one.beat {
            Some(beat) => {
                let now = program.family().glance();
                Usage::kept_waiting(&one.before, beat) + Usage::kept_waiting(beat, &now)
            }
            None => Duration::ZERO,
        };
        let (said, lost) = program.take_said();
        let first = self.seats[one.seat.index()].time.answers == 0;
        let launching = if first { self.program(one.seat).family().ended_children() } else { Duration::ZERO };
        let state = &mut self.seats[one.seat.index()];
        state.launching += launching;
        state.cpu_then = now;
        let ms = wall.as_secs_f64() * 1e3;
        let time = &mut state.time;
        if ms > time.max_ms || time.answers == 0 {
            (time.max_ms, time.max_step) = (ms, step);
        }
        time.cpu_ms = match (time.cpu_ms, cpu, time.answers) {
            (None, Some(cpu), 0) => Some(cpu.as_secs_f64() * 1e3),
            (Some(sum), Some(cpu), _) => Some(sum + cpu.as_secs_f64() * 1e3),
            _ => None,
        };
        time.between_ms = time.cpu_ms.map(|_| state.between.as_secs_f64() * 1e3);
        time.kept_waiting_ms += kept_waiting.as_secs_f64() * 1e3;
        time.answers += 1;
        time.wall_ms += ms;
        if state.ponders {
            self.program(one.seat).family().stop();
        }
        *take = Take {
            wall,
            cpu,
            raw: take.raw.take(),
            said: Vec::new(),
            stderr: said,
            limit: one.limit,
            timed: true,
        };
        if lost > 0 {
            take.stderr.extend_from_slice(format!("\n[{lost} more bytes were not kept]\n").as_bytes());
        }
    }
}

/// What a bot takes too much of.
fn excess_of(family: &Family) -> Option<Cause> {
    family.excess().map(|excess| Cause::Greedy(excess, family.limits))
}

/// The time an answer took, as games take it.
fn think_ms(wall: Duration) -> u32 {
    wall.as_millis().min(u128::from(u32::MAX)) as u32
}

struct Ready {
    reads: u16,
    stderr: u16,
    /// Whether it is time to look after the bots.
    beat: bool,
}

enum Meaning {
    Reads,
    Writes,
    Stderr,
}
