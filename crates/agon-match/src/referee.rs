//! One match: ask, wait, play, again.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_bot::family::Family;
use agon_bot::program::Ending;
use agon_bot::{Program, Received, Usage};
use agon_game::{Absence, Answer, Facts, Heard, PackedAnswer, Seat, Session};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::arrival::{self, Awaited};
use crate::clock::{TOLERANCE, TOLERATED};
use crate::pulse::{BEAT, Pulse};
use crate::record::{MatchRecord, SeatCounts, SeatTime, Void};
use crate::{Cause, Clock, Fault, FaultKind, Lateness, Player, Ponder, RejectedOrder};

/// What a bot may leave unread of earlier questions before it is put out of the match, in bytes.
const LONGEST_QUEUE: usize = 8 << 20;
/// So long bots may take, all together, to read how it ended and to end by themselves.
const FAREWELL: Duration = Duration::from_secs(1);
/// So many messages that are no answer are skipped in one step.
const MOST_STRAY: u32 = 1_000;
/// So many faults of each seat and kind are listed, so that none of them hides another.
const LISTED_FAULTS: u64 = 300;
/// So many rejected orders of each seat are listed.
const LISTED_REJECTED: u64 = 500;
/// No sentence of a fault is longer, in characters.
const LONGEST_SENTENCE: usize = 500;
/// A bot that uses more CPU than this in its opponent's turn is stopped there.
const PONDER_LIMIT: Duration = Duration::from_millis(1);
/// So much in each turn is tidying up after an answer; what is more adds up over the turns.
const TIDYING: Duration = Duration::from_micros(100);
/// After so many answers, and so many beats of our pulse, descendants of a bot are looked for again.
const SURVEY: u32 = 64;
const SURVEY_BEATS: u32 = 16;
/// After so many beats of its own turns we look whether a bot takes too much of the machine.
const EXCESS_BEATS: u32 = 4;
/// Less CPU time than this, in milliseconds, may belong to no turn: the system counts it in steps of 10.
const UNSEEN_MS: f64 = 50.0;
/// How long we wait for the last words of a bot that closed its output.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Sees a match as it goes: the replay's recorder, the screen.
pub trait Observer {
    /// A step was played.
    ///
    /// # Errors
    /// Those of its output; they end the match.
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()>;

    /// Bots are waited for that have not dialled in yet; called now and then.
    fn awaiting(&mut self, _seats: &[Awaited], _waited: Duration) {}
}

/// One step, as observers see it.
pub struct StepReport<'a> {
    /// The step, from 0.
    pub step: u32,
    /// What was played.
    pub answers: &'a [(Seat, PackedAnswer)],
    /// What the seats answered, where something else was played: a step of [`play_on`] that was given.
    pub instead_of: Option<&'a [(Seat, PackedAnswer)]>,
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
    /// The rulebook's limit for it; none where no clock was kept.
    pub limit: Option<Duration>,
    /// Whether a program answered; else a built-in, which is not timed.
    pub timed: bool,
}

/// Plays a match to its end. Afterwards no program of it is alive.
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
    play_on(session, players, names, clock, ponder, observer, stop, &[])
}

/// As [`play`], but the first steps are `given`: the bots are asked and heard as always, and then these
/// answers are played instead of theirs. So bots come into a position that others have made.
#[expect(clippy::too_many_arguments, reason = "those of `play` and one more")]
pub fn play_on(
    session: &mut dyn Session,
    players: &mut [Player],
    names: &[String],
    clock: Clock,
    ponder: Ponder,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
    given: &[Vec<(Seat, PackedAnswer)>],
) -> MatchRecord {
    let gathered = arrival::gather(session, players, clock, observer, stop);
    let began = Instant::now();
    let mut referee = Referee::new(session, players, clock, ponder, stop);
    let void = gathered.and_then(|()| referee.run(observer, given)).err();
    let mut notes = referee.notes();
    let Referee { faults, rejected, mut seats, .. } = referee;
    let wall = began.elapsed();
    let outcome = session.outcome().cloned().filter(|_| void.is_none());
    if outcome.is_some() {
        let facts = Facts { names: names.to_vec(), wall_ms: wall.as_millis() as u64 };
        tell_end(session, players, &facts);
    }
    part(players);
    for ((seat, player), state) in Seat::first(players.len() as u8).zip(players).zip(&mut seats) {
        if let Player::Program(program) = player {
            let used = program.end();
            if program.is_elsewhere() {
                continue;
            }
            state.time.total_cpu_ms = Some(used.cpu.as_secs_f64() * 1e3);
            state.time.memory_mib = used.memory.map(|bytes| bytes as f64 / f64::from(1 << 20));
            notes.extend(unassigned(seat, &state.time, state.launching));
        }
    }
    MatchRecord {
        outcome,
        void,
        faults,
        rejected,
        times: seats.iter().map(|seat| seat.time).collect(),
        counts: seats.into_iter().map(|seat| seat.counts).collect(),
        steps: session.steps(),
        wall_us: wall.as_micros() as u64,
        notes,
    }
}

/// Closes the connections of bots that dialled in, and lets those that end by themselves do so.
fn part(players: &mut [Player]) {
    let mut dialled = Vec::new();
    for player in players {
        if let Player::Program(program) = player
            && program.dials_in()
        {
            program.family().go_on();
            program.wire().close();
            dialled.push(program);
        }
    }
    let until = Instant::now() + FAREWELL;
    for program in dialled {
        program.ending(until.saturating_duration_since(Instant::now()));
        program.listen_to_stderr();
    }
}

/// The time an answer took, as games take it.
fn think_ms(wall: Duration) -> u32 {
    wall.as_millis().min(u128::from(u32::MAX)) as u32
}

/// Says so when much CPU time of a bot belongs to no turn. What it took to launch it is no turn's.
fn unassigned(seat: Seat, time: &SeatTime, launching: Duration) -> Option<String> {
    let total = time.total_cpu_ms?;
    let known = time.cpu_ms? + time.between_ms? + launching.as_secs_f64() * 1e3;
    (total - known > UNSEEN_MS && total > 1.1 * known).then(|| {
        format!(
            "{:.0} of {total:.0} ms of CPU of seat {seat} were used by processes that came and went unseen; its CPU times \
             per turn are too low",
            total - known
        )
    })
}

/// Tells the bots how it ended, where the protocol does.
fn tell_end(session: &mut dyn Session, players: &mut [Player], facts: &Facts) {
    let (mut message, mut told) = (Vec::new(), Vec::new());
    for (seat, player) in Seat::first(players.len() as u8).zip(players) {
        if let Player::Program(program) = player {
            message.clear();
            session.end(seat, facts, &mut message);
            if !message.is_empty() {
                program.family().go_on();
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
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left().min(LAST_WORDS).subsec_nanos()) };
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
    rejected: Vec<RejectedOrder>,
    /// Who has just gone, and why, as far as that is known before its last words.
    leaving: Vec<(Seat, Leaving)>,
    pulse: Pulse,
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
    counts: SeatCounts,
    time: SeatTime,
    /// How often its answer was here before the question.
    unasked: u32,
    /// Beats of our pulse in its turns.
    beats: u32,
    /// CPU time when it was last booked.
    cpu_then: Option<Duration>,
    /// CPU time outside of answers.
    between: Duration,
    /// CPU time of processes that had come and gone by its first answer: a launcher's, as of Python versions.
    launching: Duration,
    /// CPU time in its opponents' turns, less a little for each.
    pondered: Duration,
    /// Whether it is stopped between its turns.
    ponders: bool,
}

/// Why a seat goes.
enum Leaving {
    /// It closed its output; so many bytes of an unfinished message came before.
    Closed(usize),
    /// We end it.
    Sent(Cause),
}

/// A seat that was asked and has not answered.
struct Waiting {
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

impl<'a> Referee<'a> {
    fn new(
        session: &'a mut dyn Session,
        players: &'a mut [Player],
        clock: Clock,
        ponder: Ponder,
        stop: &'a AtomicBool,
    ) -> Self {
        let seats = players.iter().map(|_| SeatState::default()).collect();
        Self {
            session,
            players,
            clock,
            ponder,
            stop,
            seats,
            faults: Vec::new(),
            rejected: Vec::new(),
            leaving: Vec::new(),
            pulse: Pulse::new(),
            message: Vec::new(),
            canonical: Vec::new(),
        }
    }

    /// What could not be measured.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.pulse.is_exact() {
            notes.push(
                "this system does not count how long a process waits for a CPU, so that a late answer may be the \
                 machine's fault"
                    .to_owned(),
            );
        }
        for (seat, state) in Seat::first(self.players.len() as u8).zip(&self.seats) {
            if state.time.answers > 0 && state.time.cpu_ms.is_none() {
                notes.push(format!("the CPU time of seat {seat} could not be measured in every turn"));
            }
        }
        notes
    }

    /// The program of a seat that was asked.
    fn program(&mut self, seat: Seat) -> &mut Program {
        match &mut self.players[seat.index()] {
            Player::Program(program) => program,
            _ => unreachable!("only programs are asked"),
        }
    }

    fn run(&mut self, observer: &mut dyn Observer, given: &[Vec<(Seat, PackedAnswer)>]) -> Result<(), Void> {
        for seat in Seat::first(self.players.len() as u8) {
            if let Player::Absent(why) = &self.players[seat.index()] {
                let cause = Cause::NotStarted(why.clone());
                self.seats[seat.index()].out = Some(Absence::NeverStarted);
                self.fault(seat, &cause);
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
            self.see_off(&mut takes, &answers);
            let instead_of =
                given.get(step as usize).map(|given| std::mem::replace(&mut answers, given.clone()));
            let turn = self.play(step, &answers)?;
            if instead_of.is_none() {
                self.keep_rejections(step, &turn);
            }
            let faults = &self.faults[listed..];
            let instead_of = instead_of.as_deref();
            observer
                .stepped(
                    self.session,
                    &StepReport { step, answers: &answers, instead_of, takes: &takes, faults },
                )
                .map_err(|error| Void::OwnFault(format!("writing the match down failed: {error}")))?;
            listed = self.faults.len();
        }
        for seat in Seat::first(self.players.len() as u8) {
            let unasked = self.seats[seat.index()].unasked;
            if unasked > 0 {
                self.fault(seat, &Cause::Unasked(unasked));
            }
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
        if !answers_say_their_question {
            // Looked for before the question is there: a quick bot's answer to it must not look unasked.
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
                Heard::Ignore(None) | Heard::Answer(_) | Heard::Malformed(_) | Heard::More => {}
            }
        }
        Err(Cause::ManyMessages(MOST_STRAY))
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
    fn collect(
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
            let checks_excess = seat.beats.is_multiple_of(EXCESS_BEATS);
            let family = self.program(one.seat).family();
            one.beats += 1;
            if one.beat.is_none() {
                one.beat = Some(family.look());
            } else if one.beats % SURVEY_BEATS == 0 {
                family.survey();
            }
            if checks_excess {
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
            if !one.raw.is_empty() {
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
                    one.raw.truncate(one.raw.len() - message.len());
                    one.stray += 1;
                    if let Some(why) = why {
                        self.note_fault(one.seat, FaultKind::Stray, &why);
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
            Ending::Runs if answered => Lateness::Slow,
            Ending::Runs => Lateness::Silent,
            ended => Lateness::Ended(ended),
        };
        self.fault(one.seat, &Cause::Late { limit: one.limit.unwrap_or_default(), why });
        answers[one.index].1 = Answer::Missing(Absence::TimedOut);
        self.account(one, wall, &mut takes[one.index]);
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

    /// Says why seats have gone, and ends their programs.
    fn see_off(&mut self, takes: &mut [Take], answers: &[(Seat, PackedAnswer)]) {
        for (seat, leaving) in std::mem::take(&mut self.leaving) {
            let program = self.program(seat);
            let cause = match leaving {
                Leaving::Sent(cause) => cause,
                Leaving::Closed(unfinished) => {
                    let ending = program.ending(LAST_WORDS);
                    Cause::Gone { ending, unfinished: unfinished > 0, last_words: String::new() }
                }
            };
            program.listen_to_stderr();
            let (said, _) = program.take_said();
            program.end();
            // Who runs elsewhere may still send: its connection is dropped, so that it is told.
            let _ = program.hang_up(Duration::ZERO);
            let place = answers.iter().position(|(other, _)| *other == seat);
            let take = &mut takes[place.expect("it was asked")];
            take.stderr.extend_from_slice(&said);
            let cause = match cause {
                Cause::Gone { ending, unfinished, .. } => {
                    Cause::Gone { ending, unfinished, last_words: last_words(&take.stderr, ending) }
                }
                cause => cause,
            };
            // However many faults it had before, this one is told.
            self.count_fault(seat, cause.kind());
            self.list_fault(seat, cause.kind(), &cause.to_string());
        }
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
        *take = Take { wall, cpu, raw: take.raw.take(), stderr: said, limit: one.limit, timed: true };
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
            let count = &mut self.seats[rejection.seat.index()].counts.rejected;
            *count += 1;
            if *count <= LISTED_REJECTED {
                self.rejected.push(RejectedOrder {
                    seat: rejection.seat,
                    step,
                    turn: turn.to_owned(),
                    rule: rejection.rule,
                    message: rejection.why.clone(),
                });
            }
        }
    }

    fn fault(&mut self, seat: Seat, cause: &Cause) {
        self.note_fault(seat, cause.kind(), &cause.to_string());
    }

    fn note_fault(&mut self, seat: Seat, kind: FaultKind, message: &str) {
        if self.count_fault(seat, kind) <= LISTED_FAULTS {
            self.list_fault(seat, kind, message);
        }
    }

    /// Counts a fault, and says how many of its kind the seat has made.
    fn count_fault(&mut self, seat: Seat, kind: FaultKind) -> u64 {
        let count = self.seats[seat.index()].counts.faults.entry(kind).or_default();
        *count += 1;
        *count
    }

    fn list_fault(&mut self, seat: Seat, kind: FaultKind, message: &str) {
        let (step, turn) = (self.session.steps(), self.session.moment());
        let message = message.chars().take(LONGEST_SENTENCE).collect();
        self.faults.push(Fault { seat, step, turn, kind, message });
    }
}

/// What a bot takes too much of.
fn excess_of(family: &Family) -> Option<Cause> {
    family.excess().map(|excess| Cause::Greedy(excess, family.limits))
}

/// The line of a bot's standard error that tells most: the last one, but the first one where
/// the program that should have started it complains.
fn last_words(said: &[u8], ending: Ending) -> String {
    let end = &said[said.len().saturating_sub(4_096)..];
    let text = String::from_utf8_lossy(end);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = if matches!(ending, Ending::Code(126 | 127)) { lines.next() } else { lines.next_back() };
    line.unwrap_or("").chars().take(200).collect()
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
