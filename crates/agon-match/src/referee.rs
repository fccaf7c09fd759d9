//! One match: ask, wait, play, again.
//!
//! Longer than 500 lines: the match and what observers see; asking and waiting have their own files.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_bot::{Program, advice};
use agon_game::{Absence, Answer, Chance as _, Facts, PackedAnswer, Seat, Seats, Seeded, Session};
use agon_replay::data::note;
use agon_replay::{Counted, Wait};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::arrival::{self, Awaited};
use crate::pulse::Pulse;
use crate::record::{Held, MatchRecord, SeatCounts, SeatTime, Void};
use crate::{Clock, Fault, FaultCause, FaultKind, Player, Ponder, RejectedOrder, trace};

mod asking;
mod budget;
mod waiting;
mod watching;

use budget::Budget;
use watching::excess_of;

/// How long bots may take, all together, to read the outcome and to end by themselves.
const FAREWELL: Duration = Duration::from_secs(1);
/// How many faults are listed per seat and kind, so that no kind hides another.
const LISTED_FAULTS: u64 = 300;
/// How many of them quote the bot's standard error.
const QUOTED_FAULTS: usize = 3;
/// How many rejected orders are listed per seat.
const LISTED_REJECTED: u64 = 500;
/// Longest message of a fault, in characters.
const LONGEST_SENTENCE: usize = 500;
/// CPU time below this, in milliseconds, may belong to no turn: the system counts in steps of 10.
const UNSEEN_MS: f64 = 50.0;
/// How long to wait for the last words of a bot that closed its output.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// How long to wait for the end of a bot that closed its connection and may be about to say why.
const HANGS_UP: Duration = Duration::from_secs(3);

/// Watches a match as it goes: the replay's recorder, the screen.
pub trait Observer {
    /// Called after each step.
    ///
    /// # Errors
    /// Those of its output; an error ends the match.
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()>;

    /// Called now and then while bots have not dialled in yet.
    fn awaiting(&mut self, _seats: &[Awaited], _waited: Duration) {}
}

/// Several observers, called one after another.
pub struct Together<'a>(pub Vec<&'a mut dyn Observer>);

impl Observer for Together<'_> {
    fn awaiting(&mut self, seats: &[Awaited], waited: Duration) {
        self.0.iter_mut().for_each(|observer| observer.awaiting(seats, waited));
    }

    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|observer| observer.stepped(session, step))
    }
}

/// Observes nothing.
impl Observer for () {
    fn stepped(&mut self, _: &mut dyn Session, _: &StepReport<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// One step, as observers see it.
pub struct StepReport<'a> {
    /// The step, from 0.
    pub step: u32,
    /// What was played.
    pub answers: &'a [(Seat, PackedAnswer)],
    /// What the seats answered, if something else was played: a given step of [`play_on`].
    pub instead_of: Option<&'a [(Seat, PackedAnswer)]>,
    /// How each of these answers came.
    pub takes: &'a [TakenAnswer],
    pub faults: &'a [Fault],
}

/// A message that is no answer, but that the dialect heard all the same: the bot's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// When it was said.
    pub when: When,
    pub text: Vec<u8>,
}

/// When something was said: others may be told in the very next question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the first question of the match.
    First,
    /// Before the bot was asked in this step.
    Early,
    /// After all were asked in this step.
    Asked,
}

impl When {
    /// The kind of note it is recorded as.
    pub fn note(self) -> &'static str {
        match self {
            Self::First => note::FIRST,
            Self::Early => note::EARLY,
            Self::Asked => note::SAID,
        }
    }
}

/// How an answer came.
#[derive(Clone, Debug, Default)]
pub struct TakenAnswer {
    /// Wall time, from the end of the question to the end of the answer.
    pub wall: Duration,
    /// The part that counts: without the time that the machine kept the bot waiting.
    pub charged: Duration,
    /// CPU time of the bot's processes; none where unknown.
    pub cpu: Option<Duration>,
    /// What the kernel counted, where it does.
    pub counted: Option<Counted>,
    /// The answer as received, if it differs from the canonical one.
    pub raw: Option<Vec<u8>>,
    /// What else it said since its last answer.
    pub said: Vec<Said>,
    /// What it wrote on standard error since its last answer.
    pub stderr: Vec<u8>,
    /// How long it could take: the rulebook's limit, or its seat's remaining time for the match; none without a
    /// clock.
    pub limit: Option<Duration>,
    /// Whether a program answered; a built-in is not timed.
    pub timed: bool,
}

/// How many matches a bot may disturb: the earlier ones are void, in the last one it is put out instead.
pub const MOST_DISTURBANCES: u32 = 3;

/// How a match is played, apart from its rules.
pub struct Terms<'a> {
    /// How limits are applied.
    pub clock: Clock,
    /// What happens to bots that compute in their opponent's time.
    pub ponder: Ponder,
    /// Ends the match early, from another thread or a signal handler.
    pub stop: &'a AtomicBool,
    /// Answers for the first steps: the bots are asked and heard as always, but these are played instead. That
    /// puts bots into a position reached by others.
    pub given: &'a [Vec<(Seat, PackedAnswer)>],
    /// How many matches the bot of each seat has made void before ([`Void::culprit`]); empty for none. The caller
    /// counts them, and plays those matches again.
    pub disturbed: &'a [u32],
    /// Seats whose thinking time does not count in the game: people sit there.
    pub untimed: Seats,
    /// Another future of the match; none for that of its seed.
    pub future: Option<Future>,
    /// A seat that was kept waiting for this long, and ten times its limit, may have played otherwise: nobody can say.
    pub doubt: Duration,
}

/// The usual [`Terms::doubt`].
pub const DOUBT: Duration = Duration::from_secs(10);

/// Another future of a match: from some step on, the rules draw anew, and some seats now and then play at random.
/// Without this, deterministic bots would always meet the same future.
#[derive(Clone, Copy, Debug)]
pub struct Future {
    /// The first step, from 0, of this future.
    pub from: u32,
    /// Identifies it.
    pub seed: i64,
    /// The seats that play at random now and then. Their bots are asked and heard as always.
    pub straying: Seats,
    /// They do so in one of this many answers, not counting given ones.
    pub one_in: u32,
}

impl<'a> Terms<'a> {
    /// Terms without given answers or earlier disturbances.
    pub fn new(clock: Clock, ponder: Ponder, stop: &'a AtomicBool) -> Self {
        let (untimed, future, doubt) = (Seats::NONE, None, DOUBT);
        Self { clock, ponder, stop, given: &[], disturbed: &[], untimed, future, doubt }
    }
}

/// Plays a match to its end. Afterwards none of its programs is alive.
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
    play_on(session, players, names, observer, &Terms::new(clock, ponder, stop))
}

/// Like [`play`], on other [`Terms`].
pub fn play_on(
    session: &mut dyn Session,
    players: &mut [Player],
    names: &[String],
    observer: &mut dyn Observer,
    terms: &Terms<'_>,
) -> MatchRecord {
    let [before, _] = session.pauses_ms();
    let mut greetings = Vec::new();
    let gathered = arrival::gather(session, players, terms.clock, observer, terms.stop, &mut greetings)
        .and_then(|()| pause(before, terms.stop));
    for player in &*players {
        if let Player::Program(program) = player
            && let Some(cage) = program.cage()
        {
            cage.build_next();
        }
    }
    let began = Instant::now();
    let mut referee = Referee::new(session, players, terms);
    for (seat, text) in greetings {
        referee.seats[seat.index()].said.push(Said { when: When::First, text });
    }
    // The start is everybody's own; from the first question on, the turns are.
    referee.book_start();
    let has_begun = gathered.is_ok();
    let void = gathered.and_then(|()| referee.run(observer)).err();
    let mut notes = referee.notes();
    let Referee { faults, rejected, mut seats, wait, .. } = referee;
    let wall = began.elapsed();
    let outcome = session.outcome().cloned().filter(|_| void.is_none());
    if outcome.is_some() {
        let facts = Facts { names: names.to_vec(), wall_ms: wall.as_millis() as u64 };
        tell_end(session, players, &facts);
    }
    part(players);
    let held = players.iter().map(Held::of).collect();
    let images = players.iter().filter_map(|player| match player {
        Player::Program(program) => program.cage()?.image().map(|image| image.hash.clone()),
        _ => None,
    });
    let images = images.collect();
    for player in &mut *players {
        if let Player::Program(program) = player {
            program.kill();
        }
    }
    for ((seat, player), state) in Seat::first(players.len() as u8).zip(players).zip(&mut seats) {
        if let Player::Program(program) = player {
            let used = program.end();
            notes.extend(program.tree().take_remarks());
            if program.is_elsewhere() {
                continue;
            }
            if program.cage().is_some() && used.memory.is_none() && used.cpu.is_zero() {
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
        wait,
        faults,
        rejected,
        times: seats.iter().map(|seat| seat.time).collect(),
        counts: seats.into_iter().map(|seat| seat.counts).collect(),
        steps: session.steps(),
        began: has_begun,
        wall_us: wall.as_micros() as u64,
        notes,
        held,
        images,
    }
}

/// Lets bots get ready before the first question.
fn pause(ms: u32, stop: &AtomicBool) -> Result<(), Void> {
    let until = Instant::now() + Duration::from_millis(ms.into());
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        if stop.load(Ordering::Relaxed) {
            return Err(Void::Stopped);
        }
        // The user may want to stop earlier.
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
    Ok(())
}

/// Closes the connections of bots that dialled in, and lets those end that do so by themselves.
fn part(players: &mut [Player]) {
    let mut dialled = Vec::new();
    for player in players {
        if let Player::Program(program) = player
            && program.dials_in()
        {
            program.tree().go_on();
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

/// Reports when much of a bot's CPU time belongs to no turn. Its launch is not counted.
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

/// Tells the bots how it ended, if the protocol does.
fn tell_end(session: &mut dyn Session, players: &mut [Player], facts: &Facts) {
    let (mut message, mut told) = (Vec::new(), Vec::new());
    for (seat, player) in Seat::first(players.len() as u8).zip(players) {
        if let Player::Program(program) = player {
            message.clear();
            session.end(seat, facts, &mut message);
            if !message.is_empty() {
                program.tree().go_on();
                program.wire().send(&message);
                told.push(program);
            }
        }
    }
    let [_, after] = session.pauses_ms();
    let until = Instant::now() + FAREWELL.max(Duration::from_millis(after.into()));
    let left = || until.saturating_duration_since(Instant::now());
    // What does not fit into a pipe at once is written as the bots read, to all of them side by side.
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
    terms: &'a Terms<'a>,
    seats: Vec<SeatState>,
    faults: Vec<Fault>,
    rejected: Vec<RejectedOrder>,
    /// Seats that have just gone, and why, as far as known before their last words.
    leaving: Vec<(Seat, Leaving)>,
    /// What made the match void.
    wait: Option<Wait>,
    pulse: Pulse,
    message: Vec<u8>,
    canonical: Vec<u8>,
}

/// The referee's state for a seat.
#[derive(Default)]
struct SeatState {
    /// Why nothing more is expected of it.
    out: Option<Absence>,
    /// What it has left for the whole match.
    budget: Budget,
    /// How often it used the clock's tolerance.
    tolerated: u32,
    counts: SeatCounts,
    /// What it said besides answers since its last answer.
    said: Vec<Said>,
    time: SeatTime,
    /// How often its answer was there before the question.
    unasked: u32,
    /// Beats of our pulse in its turns.
    beats: u32,
    /// Duration of its last answer.
    lasted: Duration,
    /// CPU time when last booked.
    cpu_then: Option<Duration>,
    /// CPU time outside answers.
    between: Duration,
    /// CPU time of processes that had come and gone by its first answer: a launcher's, such as those of Python
    /// version managers.
    launching: Duration,
    /// CPU time in its opponents' turns, less a small allowance for each; and the maximum of that.
    pondered: Duration,
    most_pondered: Duration,
    /// CPU time in others' turns since its last answer, less the allowance: counted as part of the next one.
    owes: Duration,
    /// All that was counted so.
    owed: Duration,
    /// Whether it thinks in its opponents' turns.
    ponders: bool,
    /// Whether it is stopped between its turns.
    stands: bool,
}

/// Why a seat leaves.
enum Leaving {
    /// It closed its output; this many bytes of an unfinished message came before.
    Closed(usize),
    /// We put it out.
    Sent(FaultCause),
}

impl<'a> Referee<'a> {
    fn new(session: &'a mut dyn Session, players: &'a mut [Player], terms: &'a Terms<'a>) -> Self {
        // People's time does not count in the game.
        let total = |seat| terms.clock.in_all().filter(|_| !terms.untimed.contains(seat));
        let state = |seat| SeatState { budget: Budget::new(total(seat)), ..SeatState::default() };
        let seats = Seat::first(players.len() as u8).map(state).collect();
        Self {
            session,
            players,
            terms,
            seats,
            faults: Vec::new(),
            rejected: Vec::new(),
            leaving: Vec::new(),
            wait: None,
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
        notes.extend(self.pondering_notes());
        notes
    }

    /// The program of a seat that was asked.
    fn program(&mut self, seat: Seat) -> &mut Program {
        match &mut self.players[seat.index()] {
            Player::Program(program) => program,
            _ => unreachable!("only programs are asked"),
        }
    }

    fn run(&mut self, observer: &mut dyn Observer) -> Result<(), Void> {
        let given = self.terms.given;
        for seat in Seat::first(self.players.len() as u8) {
            if let Player::Absent(why) = &self.players[seat.index()] {
                let cause = FaultCause::NotStarted(why.clone());
                self.seats[seat.index()].out = Some(Absence::NeverStarted);
                self.fault(seat, &cause);
            }
        }
        let mut listed = 0;
        let future = self.terms.future;
        let mut strays = future.map(|future| Seeded::stream(future.seed, "strays"));
        while !self.session.deciding().is_empty() {
            if self.terms.stop.load(Ordering::Relaxed) {
                return Err(Void::Stopped);
            }
            let step = self.session.steps();
            if let Some(future) = future.filter(|future| future.from == step) {
                self.session.redraw(future.seed);
            }
            let mut answers: Vec<(Seat, PackedAnswer)> = Vec::new();
            let mut takes = Vec::new();
            let mut waiting = Vec::new();
            // Built-ins think first, so that their time is charged to nobody.
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
                takes.push(TakenAnswer::default());
            }
            let mut waiting: Vec<_> =
                waiting.into_iter().map(|(index, seat)| self.ask(index, seat)).collect();
            self.collect(&mut waiting, &mut answers, &mut takes)?;
            self.see_off(&mut takes, &answers);
            for ((seat, _), take) in answers.iter().zip(&mut takes) {
                take.said = std::mem::take(&mut self.seats[seat.index()].said);
            }
            self.quote_stderr(listed, &answers, &takes);
            let instead_of =
                given.get(step as usize).map(|given| std::mem::replace(&mut answers, given.clone()));
            if let (Some(future), Some(chance), None) = (future, &mut strays, &instead_of)
                && step >= future.from
            {
                for (seat, answer) in answers.iter_mut().filter(|(seat, _)| future.straying.contains(*seat)) {
                    if chance.happens(1, future.one_in) {
                        *answer = Answer::Given { order: self.session.stray(*seat, chance), think_ms: 0 };
                    }
                }
            }
            let turn = self.play(step, &answers)?;
            if instead_of.is_none() {
                self.keep_rejections(step, &turn, &answers, &takes);
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
        // Whoever stops us may have ended the bots first: a service manager sends its signal to everybody.
        let crashed = self.faults.iter().any(|fault| fault.kind == FaultKind::Crash);
        if crashed && self.terms.stop.load(Ordering::Relaxed) {
            return Err(Void::Stopped);
        }
        // A quick bot may have hit a limit between two checks.
        for seat in Seat::first(self.players.len() as u8) {
            let Player::Program(program) = &mut self.players[seat.index()] else { continue };
            let excess = if program.cage().is_some() { excess_of(program.tree()) } else { None };
            if let Some(cause) = excess.filter(|_| self.seats[seat.index()].out.is_none()) {
                self.fault(seat, &cause);
            }
        }
        for seat in Seat::first(self.players.len() as u8) {
            let unasked = self.seats[seat.index()].unasked;
            if unasked > 0 {
                self.fault(seat, &FaultCause::Unasked(unasked));
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

    /// States why seats have gone, and ends their programs.
    fn see_off(&mut self, takes: &mut [TakenAnswer], answers: &[(Seat, PackedAnswer)]) {
        for (seat, leaving) in std::mem::take(&mut self.leaving) {
            let program = self.program(seat);
            let cause = match leaving {
                Leaving::Sent(cause) => cause,
                Leaving::Closed(unfinished) => {
                    // WebSocket libraries wait until we close too, and only then show what went wrong.
                    let patience = if program.dials_in() { HANGS_UP } else { LAST_WORDS };
                    if program.dials_in() {
                        program.wire().close();
                    }
                    let ending = program.ending(patience);
                    let unfinished = unfinished > 0;
                    FaultCause::Gone { ending, unfinished, last_words: String::new(), advice: None }
                }
            };
            program.listen_to_stderr();
            let said = program.take_said();
            // If a counter shows an excess, that is the cause of the end.
            let cause = match (cause, program.cage().is_some().then(|| excess_of(program.tree())).flatten()) {
                (FaultCause::Gone { .. }, Some(greedy)) => greedy,
                (cause, _) => cause,
            };
            program.end();
            // A bot that runs elsewhere may still send: dropping its connection tells it.
            let _ = program.hang_up(Duration::ZERO);
            // A seat put out for disturbing others may not have been asked.
            let place = answers.iter().position(|(other, _)| *other == seat);
            let mut unasked = TakenAnswer::default();
            let take = place.map_or(&mut unasked, |place| &mut takes[place]);
            take.stderr.extend_from_slice(&said);
            let for_others = self.program(seat).run().for_others;
            let hidden = self.program(seat).cage().and_then(|cage| cage.hidden(&take.stderr));
            let cause = match cause {
                FaultCause::Gone { ending, unfinished, .. } => {
                    let last_words = trace::telling(&take.stderr, ending);
                    let advice = hidden.or_else(|| advice::of_end(&take.stderr, ending, for_others));
                    FaultCause::Gone { ending, unfinished, last_words, advice }
                }
                cause => cause,
            };
            // Always listed, however many faults it had before.
            self.count_fault(seat, cause.kind());
            self.list_fault(seat, cause.kind(), &cause.to_string(), cause.advice());
        }
    }

    /// Plays the answers. A panic of the game ends only this match.
    fn play(&mut self, step: u32, answers: &[(Seat, PackedAnswer)]) -> Result<String, Void> {
        let moment = self.session.moment();
        match catch_unwind(AssertUnwindSafe(|| self.session.play(answers))) {
            Ok(Ok(())) => Ok(moment),
            Ok(Err(why)) => Err(Void::OwnFault(format!("step {step}: {why}"))),
            Err(_) => Err(Void::OwnFault(format!("the rules panicked at {moment}"))),
        }
    }

    fn keep_rejections(
        &mut self,
        step: u32,
        turn: &str,
        answers: &[(Seat, PackedAnswer)],
        takes: &[TakenAnswer],
    ) {
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
                    harmless: rejection.harmless,
                    place: answers
                        .iter()
                        .zip(takes)
                        .find(|((seat, _), _)| *seat == rejection.seat)
                        .and_then(|(_, take)| trace::place(&take.stderr)),
                });
            }
        }
    }

    fn fault(&mut self, seat: Seat, cause: &FaultCause) {
        self.note_fault(seat, cause.kind(), &cause.to_string(), cause.advice());
    }

    /// Notes a fault in what the bot said. Advice is added if the bot has said nothing else yet.
    fn misspoke(&mut self, seat: Seat, kind: FaultKind, message: &str, said: &[u8]) {
        let state = &self.seats[seat.index()];
        let is_first = state.time.answers == 0 && state.counts.faults.is_empty();
        match advice::of_first_words(said).filter(|_| is_first) {
            Some(advice) => self.note_fault(seat, kind, &format!("{message}; {advice}"), Some(advice)),
            None => self.note_fault(seat, kind, message, None),
        }
    }

    fn note_fault(&mut self, seat: Seat, kind: FaultKind, message: &str, advice: Option<&str>) {
        if self.count_fault(seat, kind) <= LISTED_FAULTS {
            self.list_fault(seat, kind, message, advice);
        }
    }

    /// Counts a fault; returns how many of its kind the seat has made.
    fn count_fault(&mut self, seat: Seat, kind: FaultKind) -> u64 {
        let count = self.seats[seat.index()].counts.faults.entry(kind).or_default();
        *count += 1;
        *count
    }

    /// Adds to the faults from `first` on what their bots wrote on standard error in this step, where it may tell
    /// the author more. Only the first of each seat and kind get it.
    fn quote_stderr(&mut self, first: usize, answers: &[(Seat, PackedAnswer)], takes: &[TakenAnswer]) {
        for place in first..self.faults.len() {
            let (before, rest) = self.faults.split_at_mut(place);
            let fault = &mut rest[0];
            let alike = before.iter().filter(|other| (other.seat, other.kind) == (fault.seat, fault.kind));
            let take = answers.iter().zip(takes).find(|((seat, _), _)| *seat == fault.seat);
            if let Some((_, take)) = take
                && alike.count() < QUOTED_FAULTS
            {
                fault.stderr = trace::useful(&take.stderr);
                if let Some(place) = trace::place(&take.stderr).filter(|_| fault.kind == FaultKind::Malformed)
                {
                    fault.message += &format!("; it named {place}");
                }
            }
        }
    }

    fn list_fault(&mut self, seat: Seat, kind: FaultKind, message: &str, advice: Option<&str>) {
        let (step, turn) = (self.session.steps(), self.session.moment());
        let message = message.chars().take(LONGEST_SENTENCE).collect();
        let (stderr, advice) = (Vec::new(), advice.map(str::to_owned));
        self.faults.push(Fault { seat, step, turn, kind, message, stderr, advice });
    }
}
