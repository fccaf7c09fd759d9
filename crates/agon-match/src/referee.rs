//! One match: ask, wait, play, again.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_bot::Received;
use agon_bot::program::Ending;
use agon_game::{Absence, Answer, Facts, Heard, PackedAnswer, Seat, Session};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::clock::{TOLERANCE, TOLERATED};
use crate::record::{MatchRecord, SeatTime, Void};
use crate::{Clock, Fault, FaultKind, Player, Ponder};

/// What a bot may leave unread of earlier questions before it is put out of the match, in bytes.
const LONGEST_QUEUE: usize = 8 << 20;
/// So long bots may take, all together, to read how it ended and to end by themselves.
const FAREWELL: Duration = Duration::from_secs(1);
/// So many messages that are no answer are skipped in one step.
const MOST_STRAY: u32 = 1_000;
/// So many faults of a match are listed.
const LISTED_FAULTS: usize = 500;
/// A bot that uses more CPU than this between its turns is stopped there.
const PONDER_LIMIT: Duration = Duration::from_millis(1);
/// A timeout does not count when the bot waited longer than this for a CPU, or we woke so late.
const HOST_LATE: Duration = Duration::from_millis(5);

/// How often we wake while a bot thinks: to notice that this machine stood still, and that the
/// user wants to stop. Short answers are never disturbed.
const HEARTBEAT: Duration = Duration::from_millis(4);
/// After so many answers, descendants of a bot are looked for again.
const SURVEY: u32 = 64;

/// Sees a match as it goes: the replay's recorder, the screen.
pub trait Observer {
    /// A step was played.
    ///
    /// # Errors
    /// Those of its output; they end the match.
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()>;
}

/// One step, as observers see it.
pub struct StepReport<'a> {
    /// The step, from 0.
    pub step: u32,
    /// What was played.
    pub answers: &'a [(Seat, PackedAnswer)],
    /// How each of these answers came.
    pub takes: &'a [Take],
    /// The faults of this step.
    pub faults: &'a [Fault],
}

/// How an answer came.
#[derive(Clone, Debug, Default)]
pub struct Take {
    /// Wall time, from the end of the question to the end of the answer.
    pub wall: Duration,
    /// CPU time of the bot's processes; none where unknown.
    pub cpu: Option<Duration>,
    /// The answer as it came, where it differs from the canonical one.
    pub raw: Option<Vec<u8>>,
    /// What it wrote on standard error since its last answer.
    pub stderr: Vec<u8>,
    /// Whether a program answered; else a built-in, which is not timed.
    pub timed: bool,
}

/// Plays a match to its end.
///
/// `stop` ends it early, from another thread or a signal handler.
pub fn play(
    session: &mut dyn Session,
    players: &mut [Player],
    names: &[String],
    clock: Clock,
    ponder: Ponder,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> MatchRecord {
    let began = Instant::now();
    let mut referee = Referee::new(session, players, clock, ponder, stop);
    let void = referee.run(observer).err();
    let Referee { faults, unlisted, seats, .. } = referee;
    let wall = began.elapsed();
    let outcome = session.outcome().cloned().filter(|_| void.is_none());
    if outcome.is_some() {
        let facts = Facts { names: names.to_vec(), wall_ms: wall.as_millis() as u64 };
        tell_end(session, players, &facts);
    }
    MatchRecord {
        outcome,
        void,
        faults,
        unlisted,
        times: seats.into_iter().map(|seat| seat.time).collect(),
        steps: session.steps(),
        wall_us: wall.as_micros() as u64,
    }
}

/// Tells the bots how it ended, where the protocol does.
fn tell_end(session: &mut dyn Session, players: &mut [Player], facts: &Facts) {
    let (mut message, mut told) = (Vec::new(), Vec::new());
    for (seat, player) in Seat::first(players.len() as u8).zip(players) {
        if let Player::Program(program) = player {
            message.clear();
            session.end(seat, facts, &mut message);
            if !message.is_empty() {
                program.go_on();
                program.wire().send(&message);
                told.push(program);
            }
        }
    }
    let until = Instant::now() + FAREWELL;
    let left = || until.saturating_duration_since(Instant::now());
    // What does not fit into a pipe at once is written as the bots read, all of them side by side.
    loop {
        told.iter_mut().for_each(|program| program.wire().flush());
        let full = told.iter().filter(|program| program.wire_ref().unsent() > 0);
        let mut waits: Vec<PollFd<'_>> = full
            .map(|program| PollFd::from_borrowed_fd(program.wire_ref().writes(), PollFlags::OUT))
            .collect();
        if waits.is_empty() || left().is_zero() {
            break;
        }
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left().min(HEARTBEAT).subsec_nanos()) };
        let _ = poll(&mut waits, Some(&timeout));
    }
    for program in told {
        program.wire().finish();
        program.ending(left());
    }
}

struct Referee<'a> {
    session: &'a mut dyn Session,
    players: &'a mut [Player],
    clock: Clock,
    ponder: Ponder,
    stop: &'a AtomicBool,
    seats: Vec<SeatState>,
    faults: Vec<Fault>,
    unlisted: u64,
    message: Vec<u8>,
    canonical: Vec<u8>,
}

/// What the referee remembers of a seat.
#[derive(Default)]
struct SeatState {
    /// Why nothing more is expected of it.
    out: Option<Absence>,
    /// How often it used the tolerance of the clock.
    tolerated: u32,
    time: SeatTime,
    /// CPU time when it last answered.
    cpu_then: Option<Duration>,
    /// Whether it is stopped between its turns.
    ponders: bool,
}

/// A seat that was asked and has not answered.
struct Waiting {
    /// Its place in the list of answers.
    index: usize,
    seat: Seat,
    limit: Option<Duration>,
    /// When the question was wholly written; the clock starts here.
    asked: Instant,
    written: bool,
    /// How much of earlier questions it had not read when it was asked.
    unread: usize,
    cpu: Option<Duration>,
    /// Its wait for a CPU as of the first heartbeat.
    queued: Option<Duration>,
    /// How long this machine stood still while it thought.
    stood_still: Duration,
    stray: u32,
    raw: Vec<u8>,
}

impl<'a> Referee<'a> {
    fn new(
        session: &'a mut dyn Session,
        players: &'a mut [Player],
        clock: Clock,
        ponder: Ponder,
        stop: &'a AtomicBool,
    ) -> Self {
        let seats = players.iter().map(|_| SeatState::default()).collect();
        let (message, canonical) = (Vec::new(), Vec::new());
        Self {
            session,
            players,
            clock,
            ponder,
            stop,
            seats,
            faults: Vec::new(),
            unlisted: 0,
            message,
            canonical,
        }
    }

    fn run(&mut self, observer: &mut dyn Observer) -> Result<(), Void> {
        for seat in Seat::first(self.players.len() as u8) {
            if let Player::Absent(why) = &self.players[seat.index()] {
                let why = why.clone();
                self.seats[seat.index()].out = Some(Absence::NeverStarted);
                self.fault(seat, FaultKind::NeverStarted, None, why);
            }
        }
        let mut listed = 0;
        while !self.session.deciding().is_empty() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Void::Stopped);
            }
            let step = self.session.steps();
            let mut answers: Vec<(Seat, PackedAnswer)> = Vec::new();
            let mut takes = Vec::new();
            let mut waiting = Vec::new();
            // Built-ins think first: their time must not pass on anybody's clock.
            for (index, seat) in self.session.deciding().iter().enumerate() {
                let answer = match (&self.players[seat.index()], self.seats[seat.index()].out) {
                    (_, Some(absence)) => Answer::Missing(absence),
                    (Player::Builtin, None) => Answer::Given { order: self.think(seat)?, think_ms: 0 },
                    (_, None) => Answer::Missing(Absence::TimedOut),
                };
                if matches!(self.players[seat.index()], Player::Program(_))
                    && self.seats[seat.index()].out.is_none()
                {
                    waiting.push((index, seat));
                }
                answers.push((seat, answer));
                takes.push(Take::default());
            }
            let mut waiting: Vec<Waiting> =
                waiting.into_iter().map(|(index, seat)| self.ask(index, seat)).collect();
            self.collect(&mut waiting, &mut answers, &mut takes)?;
            let turn = self.play(step, &answers)?;
            self.keep_rejections(step, &turn);
            let faults = &self.faults[listed..];
            observer
                .stepped(self.session, &StepReport { step, answers: &answers, takes: &takes, faults })
                .map_err(|error| Void::OwnFault(format!("writing the match down failed: {error}")))?;
            listed = self.faults.len();
        }
        Ok(())
    }

    fn think(&mut self, seat: Seat) -> Result<Vec<u8>, Void> {
        let moment = |session: &dyn Session| session.moment();
        catch_unwind(AssertUnwindSafe(|| self.session.think(seat))).map_err(|_| {
            Void::OwnFault(format!("the built-in bot of seat {seat} panicked at {}", moment(self.session)))
        })
    }

    /// Sends the question.
    fn ask(&mut self, index: usize, seat: Seat) -> Waiting {
        let mut message = std::mem::take(&mut self.message);
        message.clear();
        self.session.ask(seat, &mut message);
        let limit = self.clock.limit(self.session.limit_ms(seat));
        let first = self.seats[seat.index()].time.answers;
        let Player::Program(program) = &mut self.players[seat.index()] else {
            unreachable!("only programs are asked");
        };
        if first % SURVEY == 1 {
            program.survey();
        }
        let cpu = program.cpu_time();
        let state = &mut self.seats[seat.index()];
        let pondered = match (self.session.info().alternating, cpu, state.cpu_then) {
            (true, Some(now), Some(then)) => now.saturating_sub(then),
            _ => Duration::ZERO,
        };
        let newly = self.ponder == Ponder::Stop && pondered > PONDER_LIMIT && !state.ponders;
        state.ponders |= newly;
        program.go_on();
        program.wire().flush();
        let unread = program.wire_ref().unsent();
        if unread <= LONGEST_QUEUE {
            program.wire().send(&message);
        }
        let asked = Instant::now();
        let written = program.wire_ref().unsent() == 0;
        self.message = message;
        if newly {
            let used = pondered.as_secs_f64() * 1e3;
            self.fault(
                seat,
                FaultKind::Pondering,
                None,
                format!(
                    "used {used:.1} ms of CPU while its opponent was to move; from now on it is stopped between its turns \
                     (--ponder allow lets it)"
                ),
            );
        }
        Waiting {
            index,
            seat,
            limit,
            asked,
            written,
            unread,
            cpu,
            queued: None,
            stood_still: Duration::ZERO,
            stray: 0,
            raw: Vec::new(),
        }
    }

    /// Waits until every seat that was asked has answered, is late, or is gone.
    fn collect(
        &mut self,
        waiting: &mut Vec<Waiting>,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> Result<(), Void> {
        // A question may be longer than the bound; that it was not read is known at the next one.
        waiting.retain_mut(|one| {
            let why = "has more than 8 MiB of unread input; it does not read what it is sent".to_owned();
            one.unread <= LONGEST_QUEUE || !self.gone(one, FaultKind::Deaf, why, answers, takes)
        });
        // Lines nobody had asked for may already be here.
        let mut index = 0;
        while index < waiting.len() {
            let held = match &self.players[waiting[index].seat.index()] {
                Player::Program(program) => !program.wire_ref().held().is_empty(),
                _ => false,
            };
            if !(held && self.hear(&mut waiting[index], answers, takes)?) {
                index += 1;
            } else {
                waiting.remove(index);
            }
        }
        while !waiting.is_empty() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Void::Stopped);
            }
            let ready = self.wait(waiting)?;
            if ready.beat {
                self.heartbeat(waiting, ready.overslept);
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
                let Player::Program(program) = &mut self.players[one.seat.index()] else {
                    unreachable!("only programs are waited for");
                };
                if !one.written {
                    program.wire().flush();
                    one.written = program.wire_ref().unsent() == 0;
                    one.asked = if one.written { Instant::now() } else { one.asked };
                }
                let done = if ready.reads >> one.seat.index() & 1 == 1 {
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

    /// Sleeps until something is ready or the next limit passes.
    fn wait(&self, waiting: &[Waiting]) -> Result<Ready, Void> {
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
            let own = one.limit.map(|limit| one.asked + self.hard_limit(limit));
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
        let began = Instant::now();
        let patience =
            deadline.map_or(HEARTBEAT, |deadline| deadline.saturating_duration_since(began)).min(HEARTBEAT);
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos()) };
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Void::OwnFault(format!("waiting for the bots failed: {error}"))),
        }
        let slept = began.elapsed();
        let mut ready =
            Ready { reads: 0, stderr: 0, beat: slept >= patience, overslept: slept.saturating_sub(patience) };
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

    /// Notes how fair this machine is to the bots that think.
    fn heartbeat(&self, waiting: &mut [Waiting], overslept: Duration) {
        for one in waiting {
            if overslept > HOST_LATE {
                one.stood_still += overslept;
            }
            if let (None, Player::Program(program)) = (one.queued, &self.players[one.seat.index()]) {
                one.queued = program.waited_for_cpu();
            }
        }
    }

    fn hard_limit(&self, limit: Duration) -> Duration {
        if self.clock.tolerant { limit + TOLERANCE } else { limit }
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
            let Player::Program(program) = &mut self.players[one.seat.index()] else {
                unreachable!("only programs are heard");
            };
            match program.wire().receive(&mut message) {
                Received::Nothing => break self.late(one, answers, takes)?,
                Received::Closed(unfinished) => {
                    let why = self.why_closed(one.seat, unfinished);
                    break self.gone(one, FaultKind::Crash, why, answers, takes);
                }
                Received::Broken(why) => {
                    let why = format!("sent {why}");
                    break self.gone(one, FaultKind::Flood, why, answers, takes);
                }
                Received::Message => {}
            }
            let wall = one.asked.elapsed();
            if !one.raw.is_empty() {
                one.raw.push(b'\n');
            }
            one.raw.extend_from_slice(&message);
            let think_ms = wall.as_millis().min(u128::from(u32::MAX)) as u32;
            let answer = match self.session.hear(one.seat, &message) {
                Heard::More => continue,
                Heard::Answer(order) => Answer::Given { order, think_ms },
                Heard::Malformed(why) => {
                    self.fault(one.seat, FaultKind::Malformed, None, why.clone());
                    Answer::Malformed { why, think_ms }
                }
                Heard::Ignore(why) => {
                    one.raw.truncate(one.raw.len() - message.len());
                    one.stray += 1;
                    if let Some(why) = why {
                        self.fault(one.seat, FaultKind::Stray, None, why);
                    }
                    if one.stray > MOST_STRAY {
                        let why =
                            format!("sent more than {MOST_STRAY} messages that are no answer in one turn");
                        break self.gone(one, FaultKind::Flood, why, answers, takes);
                    }
                    continue;
                }
                Heard::Close(why) => break self.gone(one, FaultKind::Malformed, why, answers, takes),
            };
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
        if let Some(limit) = one.limit.filter(|limit| wall > *limit) {
            let state = &mut self.seats[one.seat.index()];
            state.tolerated += u32::from(self.clock.tolerant);
            if !self.clock.tolerant || state.tolerated > TOLERATED || wall > self.hard_limit(limit) {
                return self.timed_out(one, answers, takes);
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

    /// Whether the limit of a seat has passed; then it is done with.
    fn late(
        &mut self,
        one: &mut Waiting,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> Result<bool, Void> {
        match one.limit {
            Some(limit) if one.asked.elapsed() >= self.hard_limit(limit) => {
                self.timed_out(one, answers, takes)
            }
            _ => Ok(false),
        }
    }

    fn timed_out(
        &mut self,
        one: &mut Waiting,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> Result<bool, Void> {
        let wall = one.asked.elapsed();
        let limit = one.limit.unwrap_or_default();
        let Player::Program(program) = &mut self.players[one.seat.index()] else {
            unreachable!("only programs are timed");
        };
        let queued = match (program.waited_for_cpu(), one.queued) {
            (Some(now), Some(then)) => now.saturating_sub(then),
            _ => Duration::ZERO,
        };
        let held = String::from_utf8_lossy(program.wire_ref().held()).chars().take(60).collect::<String>();
        let (unread, runs) = (!one.written, program.ending(Duration::ZERO));
        let late = queued.max(one.stood_still);
        if late > HOST_LATE {
            let late = late.as_secs_f64() * 1e3;
            return Err(Void::HostLate(format!(
                "seat {} was late at {}, but it waited {late:.0} ms for this machine",
                one.seat,
                self.session.moment()
            )));
        }
        let expected = format!("no whole answer within {} ms", limit.as_millis());
        let cause = if unread {
            "it did not read its input to the end".to_owned()
        } else if !held.is_empty() {
            format!("it sent `{held}` without a line end; end every answer with a newline")
        } else if runs != Ending::Runs {
            runs.to_string()
        } else if self.seats[one.seat.index()].time.answers == 0 {
            "nothing came at all: is the output flushed after each answer (Python: flush=True), and is all input read?"
                .to_owned()
        } else {
            "it computed too long, or did not flush its output".to_owned()
        };
        self.fault(one.seat, FaultKind::Timeout, None, format!("{expected}: {cause}"));
        answers[one.index].1 = Answer::Missing(Absence::TimedOut);
        self.account(one, wall, &mut takes[one.index]);
        Ok(true)
    }

    /// A seat of which nothing more is expected.
    fn gone(
        &mut self,
        one: &mut Waiting,
        kind: FaultKind,
        why: String,
        answers: &mut [(Seat, PackedAnswer)],
        takes: &mut [Take],
    ) -> bool {
        self.fault(one.seat, kind, None, why);
        self.seats[one.seat.index()].out = Some(Absence::Gone);
        answers[one.index].1 = Answer::Missing(Absence::Gone);
        let wall = one.asked.elapsed();
        self.account(one, wall, &mut takes[one.index]);
        true
    }

    fn why_closed(&mut self, seat: Seat, unfinished: usize) -> String {
        let Player::Program(program) = &mut self.players[seat.index()] else {
            unreachable!("only programs close");
        };
        let ending = program.ending(Duration::from_millis(100));
        program.listen_to_stderr();
        let (said, lost) = program.take_said();
        let last = String::from_utf8_lossy(&said);
        let last = last.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
        let mut why = match ending {
            Ending::Runs => "closed its output, yet an answer was expected".to_owned(),
            ending => format!("ended although an answer was expected: {ending}"),
        };
        if unfinished > 0 {
            why.push_str("; its last line was not finished");
        }
        if !last.is_empty() {
            let last: String = last.chars().take(200).collect();
            why.push_str(&format!("; it last wrote on stderr: `{last}`"));
        }
        program.give_back_said(said, lost);
        why
    }

    /// Writes down the time an answer took, and what was said on standard error.
    fn account(&mut self, one: &Waiting, wall: Duration, take: &mut Take) {
        let step = self.session.steps();
        let Player::Program(program) = &mut self.players[one.seat.index()] else {
            unreachable!("only programs are timed");
        };
        let state = &mut self.seats[one.seat.index()];
        let now = program.cpu_time();
        let cpu = match (now, one.cpu) {
            (Some(now), Some(then)) => Some(now.saturating_sub(then)),
            _ => None,
        };
        state.cpu_then = now;
        let ms = wall.as_secs_f64() * 1e3;
        if ms > state.time.max_ms || state.time.answers == 0 {
            (state.time.max_ms, state.time.max_step) = (ms, step);
        }
        state.time.cpu_ms = match (state.time.cpu_ms, cpu, state.time.answers) {
            (None, Some(cpu), 0) => Some(cpu.as_secs_f64() * 1e3),
            (Some(sum), Some(cpu), _) => Some(sum + cpu.as_secs_f64() * 1e3),
            _ => None,
        };
        state.time.answers += 1;
        state.time.wall_ms += ms;
        if state.ponders {
            program.stop();
        }
        let (said, lost) = program.take_said();
        *take = Take { wall, cpu, raw: take.raw.take(), stderr: said, timed: true };
        if lost > 0 {
            take.stderr.extend_from_slice(format!("\n[{lost} more bytes were not kept]\n").as_bytes());
        }
    }

    /// Plays the answers. A panic of the game ends this match and nothing else.
    fn play(&mut self, step: u32, answers: &[(Seat, PackedAnswer)]) -> Result<String, Void> {
        let moment = self.session.moment();
        match catch_unwind(AssertUnwindSafe(|| self.session.play(answers))) {
            Ok(Ok(())) => Ok(moment),
            Ok(Err(why)) => Err(Void::OwnFault(format!("step {step}: {why}"))),
            Err(_) => Err(Void::OwnFault(format!("the rules panicked at {moment}"))),
        }
    }

    fn keep_rejections(&mut self, step: u32, turn: &str) {
        for rejection in self.session.rejections() {
            if self.faults.len() < LISTED_FAULTS {
                self.faults.push(Fault {
                    seat: rejection.seat,
                    step,
                    turn: turn.to_owned(),
                    kind: FaultKind::Rejected,
                    rule: Some(rejection.rule),
                    message: rejection.why.clone(),
                });
            } else {
                self.unlisted += 1;
            }
        }
    }

    fn fault(&mut self, seat: Seat, kind: FaultKind, rule: Option<&'static str>, message: String) {
        if self.faults.len() < LISTED_FAULTS {
            let (step, turn) = (self.session.steps(), self.session.moment());
            self.faults.push(Fault { seat, step, turn, kind, rule, message });
        } else {
            self.unlisted += 1;
        }
    }
}

struct Ready {
    reads: u16,
    stderr: u16,
    /// Whether nothing came for a whole heartbeat.
    beat: bool,
    /// How much longer than that we slept.
    overslept: Duration,
}

enum Meaning {
    Reads,
    Writes,
    Stderr,
}
