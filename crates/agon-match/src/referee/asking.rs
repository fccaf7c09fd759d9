//! From a question to its answers: asking, waiting for all bots at once, what each sends, and whether it is late.
//!
//! Longer than 500 lines: asking, waiting and hearing are one loop over the same seats.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agon_bot::program::ProgramEnd;
use agon_bot::{KeptWaiting, Received};
use agon_game::{Absence, Answer, Heard, PackedAnswer, Seat};
use agon_replay::Counted;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use super::waiting::{Respite, Used, Waiting};
use super::watching::excess_of;
use super::{Leaving, Referee, Said, TakenAnswer, When};
use crate::pulse::BEAT;
use crate::record::Void;
use crate::{FaultCause, FaultKind, Lateness, Player};
use agon_spec::clock::TOLERATED;

/// How many bytes of earlier questions a bot may leave unread before it is put out of the match.
const LONGEST_QUEUE: usize = 8 << 20;
/// Give up on a step after this many messages that are no answer.
const MOST_STRAY: u32 = 1_000;
/// How many messages of a step that are no answer, but were heard, are kept.
const MOST_SAID: usize = 8;
/// A bot's descendants are looked for again after this many answers.
const SURVEY: u32 = 64;

impl Referee<'_> {
    /// Sends the question.
    pub(super) fn ask(&mut self, index: usize, seat: Seat) -> Waiting {
        let mut message = std::mem::take(&mut self.message);
        let answers_say_their_question = self.session.kit().answers_say_their_question();
        let mut leaves = None;
        if answers_say_their_question {
            leaves = self.skip_early(seat, &mut message).err();
        }
        message.clear();
        self.session.ask(seat, &mut message);
        let limit = self.terms.clock.limit(self.session.limit_ms(seat));
        let limit = self.seats[seat.index()].budget.limit(limit);
        let (first, lasted) = (self.seats[seat.index()].time.answers, self.seats[seat.index()].lasted);
        let program = self.program(seat);
        if first % SURVEY == 1 {
            // What is counted is counted whatever runs.
            if !program.tree().is_counted() {
                program.tree().survey();
            }
            leaves = leaves.or_else(|| excess_of(program.tree()));
        }
        // How long it waits for a CPU is counted from the first beat on, and a wait under way in full, as the system counts it
        // when it ends: a quick answer costs one reading. Much may wait before that beat if its answers take long.
        let before = if lasted < BEAT { program.tree().spent() } else { program.tree().look() };
        let cpu_before = before.cpu;
        self.note_pondering(seat, cpu_before);
        let owes = self.take_owed(seat);
        let program = self.program(seat);
        program.wire().flush();
        if program.wire_ref().unsent() > LONGEST_QUEUE {
            leaves = leaves.or(Some(FaultCause::Deaf));
        }
        // Checked before the question is sent, so that a quick bot's answer does not look unasked. It is a matter
        // of chance whether the first question comes before what a bot says at its start.
        if !answers_say_their_question && first > 0 {
            program.wire().tend();
        }
        let (early, ahead) = (!program.wire_ref().held().is_empty(), program.wire_ref().whole());
        // On a CPU shared with us, a bot may begin, and even answer, before our send returns.
        let asked = Instant::now();
        let stood_still = self.pulse.restart(asked);
        let program = self.program(seat);
        if leaves.is_none() {
            program.wire().send(&message);
        }
        // Not before: a bot that is let go on may take the CPU from us, and would compute while no clock runs.
        program.tree().go_on();
        let is_read = program.wire_ref().unsent() == 0;
        self.message = message;
        let cpus = self.program(seat).tree().cpus();
        let kept = KeptWaiting::new(asked, before, cpus);
        let used = Used::new(cpu_before, kept, stood_still);
        let mut one = Waiting::new(index, seat, limit, asked, is_read, used);
        (one.heard.early, one.heard.ahead, one.owes) = (early, ahead, owes);
        leaves.into_iter().for_each(|cause| one.must_go(cause));
        one
    }

    /// Reads what came before the question, in protocols whose answers name their question: no answer can belong
    /// to a question not yet asked.
    fn skip_early(&mut self, seat: Seat, message: &mut Vec<u8>) -> Result<(), FaultCause> {
        for _ in 0..MOST_STRAY {
            let wire = self.program(seat).wire();
            wire.tend();
            if wire.whole() == 0 || wire.receive(message) != Received::Message {
                return Ok(());
            }
            match self.session.hear(seat, message) {
                Heard::Close(why) => return Err(FaultCause::Closed(why)),
                Heard::Ignore(Some(why)) => self.note_fault(seat, FaultKind::Stray, &why, None),
                Heard::Ignore(None) => self.keep_said(seat, When::Early, message),
                Heard::Answer(_) | Heard::Malformed(_) | Heard::Failed { .. } | Heard::More => {}
            }
        }
        Err(FaultCause::ManyMessages(MOST_STRAY))
    }

    /// Keeps a message that is no answer but was heard. A bot may say any number of them; a name is said once.
    fn keep_said(&mut self, seat: Seat, when: When, message: &[u8]) {
        let said = &mut self.seats[seat.index()].said;
        if said.len() < MOST_SAID {
            said.push(Said { when, text: message.to_vec() });
        }
    }

    /// Waits until every seat that was asked has answered, is late, or is gone.
    pub(super) fn collect(
        &mut self,
        waiting: &mut Vec<Waiting>,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [TakenAnswer],
    ) -> Result<(), Void> {
        // Lines nobody asked for may already be here.
        let mut index = 0;
        while index < waiting.len() {
            let one = &mut waiting[index];
            let done = match one.leaves() {
                Some(cause) => self.gone(one, Leaving::Sent(cause), answers, takes),
                None => one.heard.early && self.hear(one, answers, takes)?,
            };
            if done {
                waiting.remove(index);
            } else {
                index += 1;
            }
        }
        while !waiting.is_empty() {
            if self.terms.stop.load(Ordering::Relaxed) {
                return Err(Void::Stopped);
            }
            let ready = self.wait(waiting)?;
            if ready.beat {
                self.beat(waiting);
            }
            for seat in Seat::first(self.players.len() as u8) {
                if let Player::Program(program) = &mut self.players[seat.index()]
                    && (ready.beat || ready.stderr >> seat.index() & 1 == 1)
                {
                    program.listen_to_stderr();
                }
            }
            let mut index = 0;
            while index < waiting.len() {
                let one = &mut waiting[index];
                if one.is_reading() {
                    let wire = self.program(one.seat).wire();
                    wire.flush();
                    if wire.unsent() == 0 {
                        one.has_read();
                    }
                }
                let done = if self.seats[one.seat.index()].out.is_some() {
                    // Put out for what it did to another bot.
                    answers[one.index].1 = Answer::Missing(Absence::Gone);
                    true
                } else if let Some(cause) = one.leaves() {
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
            if one.is_reading() {
                descriptors.push(PollFd::from_borrowed_fd(program.wire_ref().writes(), PollFlags::OUT));
                meanings.push((one.seat, Meaning::Writes));
            }
            // What others say while they are not asked is read at each beat.
            if let Some(stderr) = program.stderr() {
                descriptors.push(PollFd::from_borrowed_fd(stderr, PollFlags::IN));
                meanings.push((one.seat, Meaning::Stderr));
            }
            deadline = match (deadline, one.deadline(self.terms.clock)) {
                (Some(first), Some(own)) => Some(first.min(own)),
                (first, own) => first.or(own),
            };
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

    /// Reads what a seat sent. Returns whether the seat is done.
    fn hear(
        &mut self,
        one: &mut Waiting,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [TakenAnswer],
    ) -> Result<bool, Void> {
        let mut message = std::mem::take(&mut self.message);
        let done = loop {
            let leaving = match self.program(one.seat).wire().receive(&mut message) {
                Received::Nothing => break self.late(one, answers, takes)?,
                Received::Closed(unfinished) => Some(Leaving::Closed(unfinished)),
                Received::Broken(why) => Some(Leaving::Sent(FaultCause::LongMessage(why))),
                Received::Illegal(why) => Some(Leaving::Sent(FaultCause::Closed(format!("it sent {why}")))),
                Received::Garbled(why) => {
                    self.note_fault(one.seat, FaultKind::Malformed, &why, None);
                    let time = self.time(one);
                    let answer = Answer::Malformed { why, think_ms: self.think_ms(one.seat, time) };
                    break self.answered(one, time, answer, answers, takes)?;
                }
                Received::Message => None,
            };
            if let Some(leaving) = leaving {
                break self.gone(one, leaving, answers, takes);
            }
            let time = self.time(one);
            let unasked = one.heard.ahead > 0;
            one.heard.ahead = one.heard.ahead.saturating_sub(1);
            let before = one.heard.raw.len();
            if before > 0 {
                one.heard.raw.push(b'\n');
            }
            one.heard.raw.extend_from_slice(&message);
            let think_ms = self.think_ms(one.seat, time);
            let answer = match self.session.hear(one.seat, &message) {
                Heard::More => {
                    one.heard.parts += 1;
                    if one.heard.parts > MOST_STRAY {
                        break self.gone(one, Leaving::Sent(FaultCause::ManyParts), answers, takes);
                    }
                    continue;
                }
                Heard::Answer(order) => Answer::Given { order, think_ms },
                Heard::Malformed(why) => {
                    self.misspoke(one.seat, FaultKind::Malformed, &why, &message);
                    Answer::Malformed { why, think_ms }
                }
                Heard::Failed { why, order } => {
                    self.note_fault(one.seat, FaultKind::Exception, &why, None);
                    match order {
                        Some(order) => Answer::Given { order, think_ms },
                        None => Answer::Malformed { why, think_ms },
                    }
                }
                Heard::Ignore(why) => {
                    one.heard.raw.truncate(before);
                    one.heard.stray += 1;
                    match why {
                        Some(why) => self.misspoke(one.seat, FaultKind::Stray, &why, &message),
                        None => self.keep_said(one.seat, When::Asked, &message),
                    }
                    if one.heard.stray > MOST_STRAY {
                        let cause = FaultCause::ManyMessages(MOST_STRAY);
                        break self.gone(one, Leaving::Sent(cause), answers, takes);
                    }
                    continue;
                }
                Heard::Close(why) => {
                    break self.gone(one, Leaving::Sent(FaultCause::Closed(why)), answers, takes);
                }
            };
            self.seats[one.seat.index()].unasked += u32::from(unasked);
            break self.answered(one, time, answer, answers, takes)?;
        };
        self.message = message;
        Ok(done)
    }

    /// The time of an answer as games take it: 0 for people.
    fn think_ms(&self, seat: Seat, time: Time) -> u32 {
        if self.terms.untimed.contains(seat) { 0 } else { time.think_ms() }
    }

    /// The time a seat has used since it was asked.
    fn time(&mut self, one: &mut Waiting) -> Time {
        let wall = one.wall();
        let kept_waiting = self.kept_waiting(one).min(wall);
        let cpu = self.program(one.seat).tree().counted();
        Time { wall, kept_waiting, cpu, counted: self.counted(one, cpu, kept_waiting) }
    }

    /// What the kernel counted since a seat was asked, if it counts: until now it is `cpu`.
    fn counted(&mut self, one: &Waiting, cpu: Option<Duration>, kept_waiting: Duration) -> Option<Counted> {
        let tree = self.program(one.seat).tree();
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let cpu = cpu?.saturating_sub(one.used.before?);
        let cpus = u8::try_from(tree.cpus()).unwrap_or(u8::MAX);
        Some(Counted { cpus, cpu_us: us(cpu), waited_us: us(kept_waiting), owed_us: us(one.owes) })
    }

    /// Takes an answer that came in time, or slightly late if the clock tolerates it.
    fn answered(
        &mut self,
        one: &mut Waiting,
        mut time: Time,
        mut answer: PackedAnswer,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [TakenAnswer],
    ) -> Result<bool, Void> {
        let spent = time.wall + one.owes;
        let limit = one.limit().map(|limit| limit + one.stolen()).filter(|limit| spent > *limit);
        if let (Some(limit), Some(allowance)) = (limit, one.allowance(self.terms.clock)) {
            // The time the machine took is not charged.
            let late = self.machine_was_late(one).max(match one.respite() {
                Respite::PutOff(by) | Respite::Queued { put_off: by, .. } => by,
                Respite::None => Duration::ZERO,
            });
            time.kept_waiting = one.used.kept.at_most(late).min(time.wall);
            time.counted = self.counted(one, time.cpu, time.kept_waiting);
            let ms = self.think_ms(one.seat, time);
            if let Answer::Given { think_ms, .. } | Answer::Malformed { think_ms, .. } = &mut answer {
                *think_ms = ms;
            }
            let tolerated = &mut self.seats[one.seat.index()].tolerated;
            *tolerated += u32::from(time.charged() > limit);
            if time.charged() > allowance || *tolerated > TOLERATED {
                return self.timed_out(one, answers, takes);
            }
        }
        if let Answer::Given { order, .. } = &answer {
            self.canonical.clear();
            self.session.say(one.seat, order, &mut self.canonical);
            if self.canonical != one.heard.raw {
                takes[one.index].raw = Some(std::mem::take(&mut one.heard.raw));
            }
        } else {
            takes[one.index].raw = Some(std::mem::take(&mut one.heard.raw));
        }
        answers[one.index].1 = answer;
        self.account(one, time, &mut takes[one.index]);
        Ok(true)
    }

    /// Whether a seat's limit has passed; if so, it is done.
    fn late(
        &mut self,
        one: &mut Waiting,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [TakenAnswer],
    ) -> Result<bool, Void> {
        let Some(patience) = one.patience(self.terms.clock) else { return Ok(false) };
        if one.deadline(self.terms.clock).is_some_and(|deadline| Instant::now() < deadline) {
            return Ok(false);
        }
        // The time the machine took from it is given back. If that is very much, nobody can say whether it would
        // have been in time, and the match is void; if it is not enough, the bot was too slow.
        let wall = one.wall();
        let late = self.machine_was_late(one);
        let late = one.used.kept.at_most(late);
        let grace = if let Respite::Queued { grace, .. } = one.respite() { grace } else { Duration::ZERO };
        let most = self.terms.doubt + 10 * patience;
        if late > most || grace > most {
            self.disturbed(one, wall, late.max(grace))?;
            return Ok(false);
        }
        if wall < patience + late {
            one.put_off(late);
            return Ok(false);
        }
        if let Some(cpu) = self.waits_now(one) {
            one.look_again(patience, cpu);
            return Ok(false);
        }
        if self.stopped(one)? {
            return Ok(false);
        }
        self.timed_out(one, answers, takes)
    }

    /// The CPU time used by a seat whose limit has passed, if, as far as we know, it could run right now but gets
    /// no CPU. The first time, being able to run is enough; later, it must not have computed meanwhile.
    fn waits_now(&mut self, one: &Waiting) -> Option<Option<Duration>> {
        let tree = self.program(one.seat).tree();
        let (could, used) = (tree.could_run(), tree.cpu_time());
        let computed = match (used, one.respite()) {
            (Some(used), Respite::Queued { cpu: Some(before), .. }) => used.saturating_sub(before) > BEAT / 4,
            _ => false,
        };
        (could && !computed && used.is_some()).then_some(used)
    }

    fn timed_out(
        &mut self,
        one: &mut Waiting,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [TakenAnswer],
    ) -> Result<bool, Void> {
        let time = self.time(one);
        let answered = self.seats[one.seat.index()].time.answers > 0;
        let program = self.program(one.seat);
        let held: String = String::from_utf8_lossy(program.wire_ref().held()).chars().take(60).collect();
        let why = match program.ending(Duration::ZERO) {
            _ if !held.is_empty() => Lateness::NoLineEnd(held),
            ProgramEnd::Runs if program.tree().stopped_itself() => Lateness::StoppedItself,
            ProgramEnd::Runs if one.is_reading() => Lateness::NotRead,
            ProgramEnd::Runs if one.heard.parts > 0 => Lateness::Unfinished(one.heard.parts),
            ProgramEnd::Runs if one.heard.stray > 0 && !answered => Lateness::NoAnswer(one.heard.stray),
            ProgramEnd::Runs if one.owes > one.limit().unwrap_or_default() / 2 => {
                Lateness::Pondered(one.owes)
            }
            ProgramEnd::Runs if answered => Lateness::Slow,
            ProgramEnd::Runs => Lateness::Silent,
            ended => Lateness::Ended(ended),
        };
        let mut budget = self.seats[one.seat.index()].budget;
        budget.charge(time.charged());
        let cause = match budget.spent().filter(|_| one.has_last_limit()) {
            Some((used, total)) => FaultCause::OutOfTime { used, total, why },
            None => FaultCause::Late { limit: one.limit().unwrap_or_default(), why },
        };
        let stops = self.session.info().stops_late_bots;
        let is_out = matches!(cause, FaultCause::OutOfTime { .. });
        if stops || is_out {
            self.gone(one, Leaving::Sent(cause), answers, takes);
            if !stops {
                // The rules let late bots play on: without time left it is late in every turn.
                self.seats[one.seat.index()].out = Some(Absence::TimedOut);
            }
        } else {
            self.fault(one.seat, &cause);
            self.account(one, time, &mut takes[one.index]);
        }
        answers[one.index].1 = Answer::Missing(Absence::TimedOut);
        Ok(true)
    }

    /// Marks a seat of which nothing more is expected. Its cause is determined, and its program ended, once
    /// nobody is thinking.
    fn gone(
        &mut self,
        one: &mut Waiting,
        leaving: Leaving,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [TakenAnswer],
    ) -> bool {
        self.seats[one.seat.index()].out = Some(Absence::Gone);
        answers[one.index].1 = Answer::Missing(Absence::Gone);
        let time = self.time(one);
        self.account(one, time, &mut takes[one.index]);
        self.leaving.push((one.seat, leaving));
        true
    }

    /// Records the time an answer took, and the standard error since.
    fn account(&mut self, one: &Waiting, spent: Time, take: &mut TakenAnswer) {
        let step = self.session.steps();
        let program = self.program(one.seat);
        let now = spent.cpu.or_else(|| program.tree().cpu_time());
        let cpu = match (now, one.used.before) {
            (Some(now), Some(then)) => Some(now.saturating_sub(then)),
            _ => None,
        };
        let said = program.take_said();
        let first = self.seats[one.seat.index()].time.answers == 0;
        let launching = if first { self.program(one.seat).tree().launching() } else { Duration::ZERO };
        let state = &mut self.seats[one.seat.index()];
        state.launching += launching;
        state.lasted = spent.wall;
        state.cpu_then = now;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let time = &mut state.time;
        if ms(spent.wall) > time.max_ms || time.answers == 0 {
            (time.max_ms, time.max_step) = (ms(spent.wall), step);
        }
        time.cpu_ms = match (time.cpu_ms, cpu, time.answers) {
            (None, Some(cpu), 0) => Some(ms(cpu)),
            (Some(sum), Some(cpu), _) => Some(sum + ms(cpu)),
            _ => None,
        };
        time.between_ms = time.cpu_ms.map(|_| ms(state.between));
        time.kept_waiting_ms += ms(spent.kept_waiting);
        let charged = state.budget.charge(spent.charged());
        time.max_charged_ms = time.max_charged_ms.max(ms(charged));
        time.near(ms(charged), one.limit().map(ms));
        time.charged_ms += ms(charged);
        time.answers += 1;
        time.wall_ms += ms(spent.wall);
        if state.stands {
            self.program(one.seat).tree().stop();
        }
        *take = TakenAnswer {
            wall: spent.wall,
            charged,
            counted: spent.counted,
            cpu,
            raw: take.raw.take(),
            said: Vec::new(),
            stderr: said,
            limit: one.limit(),
            timed: true,
        };
    }
}

/// The time an answer took.
#[derive(Clone, Copy)]
struct Time {
    wall: Duration,
    /// How long the machine kept the bot from running meanwhile.
    kept_waiting: Duration,
    /// The bot's CPU time at its end, where the kernel counts it.
    cpu: Option<Duration>,
    /// What was counted of it, likewise.
    counted: Option<Counted>,
}

impl Time {
    /// What counts: the bot's own time.
    fn charged(self) -> Duration {
        match self.counted {
            Some(counted) => Duration::from_micros(counted.charged_us(self.wall.as_micros() as u64)),
            None => self.wall.saturating_sub(self.kept_waiting),
        }
    }

    /// The same in whole milliseconds, as games take it.
    fn think_ms(self) -> u32 {
        self.charged().as_millis().min(u128::from(u32::MAX)) as u32
    }
}

struct Ready {
    reads: u16,
    stderr: u16,
    /// Whether it is time to check on the bots.
    beat: bool,
}

enum Meaning {
    Reads,
    Writes,
    Stderr,
}
