//! Plays the situations and records what happened.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_bot::program::ProgramEnd;
use agon_bot::{BotName, NameKind, Received};
use agon_game::{Answer, AnyGame, PackedAnswer, Seat, Session, Transport};
use agon_match::record::Void;
use agon_match::{
    Clock, Fault, FaultKind, MatchRecord, Observer, Player, Ponder, Recorder, StepReport, Terms, play_on,
    seat_player,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use super::situation::{Situation, first_question};
use crate::DeskError;
use crate::seats::{header, seat_all};

/// How often a match with an unfair clock is played.
const TRIES: u32 = 5;
/// A bot that has not answered for this long, or so many questions in a row, hangs.
const HANGS: (Duration, u32) = (Duration::from_secs(4), 20);

/// For how long, and in how many questions, a bot has not answered.
#[derive(Clone, Copy, Default)]
pub(crate) struct Silence {
    time: Duration,
    questions: u32,
}

impl Silence {
    fn hangs(self) -> bool {
        self.time >= HANGS.0 || self.questions >= HANGS.1
    }
}

/// What happened in a situation.
pub(crate) struct Seen {
    /// The referee's record.
    pub record: MatchRecord,
    /// The time of each answer of the bot, with its limit and turn.
    pub times: Vec<Time>,
    /// A hash of all the bot's answers.
    pub answers: u64,
    /// Whether the bot was asked up to the end of the match, or to where it was stopped on purpose.
    pub whole: bool,
    pub replay: Vec<u8>,
    /// How long it had not answered at the end, in this match and before.
    pub silence: Silence,
}

impl Seen {
    /// Whether the bot hangs, or never started: every further match would only wait for it as long.
    pub fn is_hopeless(&self) -> bool {
        let never = |fault: &Fault| fault.kind == FaultKind::NeverStarted;
        self.silence.hangs() || self.record.faults.iter().any(never)
    }
}

/// The time of one answer.
#[derive(Clone, Debug)]
pub(crate) struct Time {
    /// How long it took in milliseconds, without delays caused by the machine.
    pub ms: f64,
    pub limit_ms: f64,
    /// The time from which an answer costs something in the game, if there is one.
    pub soft_ms: Option<f64>,
    /// Which step, from 0.
    pub step: u32,
    pub first: bool,
}

/// Plays a situation by the first of these clocks; what is said of times goes by the second, that of the rules. For as long as `silence`
/// says the bot did not answer at the end of the situation before.
pub(crate) fn play(
    game: &dyn AnyGame,
    bot: &BotName,
    situation: &Situation,
    (clock, rules): (Clock, Clock),
    silence: Silence,
    stop: &AtomicBool,
) -> Result<Seen, DeskError> {
    let other = BotName::parse(&format!("builtin:{}", situation.opponent)).map_err(DeskError::Own)?;
    let seats = Seat::first(situation.setup.seats);
    let names: Vec<BotName> =
        seats.map(|seat| if seat == situation.seat { bot.clone() } else { other.clone() }).collect();
    let labels: Vec<String> = names.iter().map(BotName::label).collect();
    let mut late = String::new();
    for _ in 0..TRIES {
        let mut session = game.open(&situation.setup)?;
        let mut players = seat_all(session.as_mut(), &names, clock, Ponder::Stop)?;
        let enough = AtomicBool::new(false);
        let header = header(session.as_ref(), &names, &labels, clock);
        let mut watch = Watch {
            seat: situation.seat,
            until: situation.given.len() as u32 + situation.most_steps,
            times: Vec::new(),
            answers: Vec::new(),
            clocks: (clock, rules),
            silence,
            stop,
            enough: &enough,
            recorder: Recorder::new(Vec::new(), &header)?,
        };
        let terms = Terms { given: &situation.given, ..Terms::new(clock, Ponder::Stop, &enough) };
        let record = play_on(session.as_mut(), &mut players, &labels, &mut watch, &terms);
        let Watch { times, answers, recorder, until, silence, .. } = watch;
        if stop.load(Ordering::Relaxed) {
            return Err(DeskError::Stopped);
        }
        match &record.void {
            Some(Void::HostLate(why) | Void::Disturbed { why, .. }) => {
                late.clone_from(why);
                continue;
            }
            Some(Void::OwnFault(_)) => {
                return Err(DeskError::Own(record.void_sentence().unwrap_or_default()));
            }
            Some(Void::Stopped) | None => {}
        }
        let whole = record.outcome.is_some() || record.steps >= until;
        let replay = recorder.finish(session.as_mut(), &record)?;
        let answers = agon_contest::content::of_text(&answers);
        return Ok(Seen { record, times, answers, whole, replay, silence });
    }
    Err(DeskError::Own(format!(
        "this machine was too busy to be fair, {TRIES} times: {late}; make it quieter, or use --time-scale"
    )))
}

struct Watch<'a> {
    seat: Seat,
    until: u32,
    times: Vec<Time>,
    answers: Vec<u8>,
    clocks: (Clock, Clock),
    silence: Silence,
    stop: &'a AtomicBool,
    enough: &'a AtomicBool,
    recorder: Recorder<Vec<u8>>,
}

impl Observer for Watch<'_> {
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        let heard: &[(Seat, PackedAnswer)] = step.instead_of.unwrap_or(step.answers);
        for ((seat, answer), take) in heard.iter().zip(step.takes) {
            if *seat != self.seat || !take.timed {
                continue;
            }
            if matches!(answer, Answer::Missing(_)) {
                self.silence.time += take.wall;
                self.silence.questions += 1;
            } else {
                self.silence = Silence::default();
                self.answers.extend(answer.order().into_iter().flatten());
                let first = self.times.is_empty();
                let (clock, rules) = self.clocks;
                let limit = match take.limit {
                    limit if limit == clock.cap => rules.limit(session.limit_ms(*seat)),
                    limit => limit,
                };
                let (ms, limit_ms) =
                    (take.charged.as_secs_f64() * 1e3, limit.unwrap_or_default().as_secs_f64() * 1e3);
                let soft_ms = session.soft_limit_ms().map(f64::from);
                self.times.push(Time { ms, limit_ms, soft_ms, step: step.step, first });
            }
        }
        if self.stop.load(Ordering::Relaxed) || self.silence.hangs() || step.step + 1 >= self.until {
            self.enough.store(true, Ordering::Relaxed);
        }
        self.recorder.stepped(session, step)
    }
}

/// How long a bot whose input has ended is waited for at a time.
const MOMENT: Duration = Duration::from_millis(20);

/// How the bot ends when its connection is closed, and how long that takes; none if we do not start it as a program.
pub(crate) fn ending(
    game: &dyn AnyGame,
    bot: &BotName,
    situation: &Situation,
) -> Result<Option<(ProgramEnd, Duration)>, DeskError> {
    if !matches!(bot.kind, NameKind::Path(_) | NameKind::Command(_))
        || game.info().transport == Transport::Script
    {
        return Ok(None);
    }
    let mut session = game.open(&situation.setup)?;
    let seat = situation.seat;
    let mut player = seat_player(session.as_mut(), bot, seat, None, Clock::ORIGINAL)?;
    let Player::Program(program) = &mut player else { return Ok(None) };
    let Some(question) = first_question(session.as_mut(), seat) else { return Ok(None) };
    program.wire().send(&question);
    // It should be playing by then: a bot that is still starting is another matter.
    let patience = Duration::from_millis(u64::from(session.limit_ms(seat)).clamp(1_000, 10_000));
    let mut waits = [PollFd::from_borrowed_fd(program.wire_ref().reads(), PollFlags::IN)];
    let _ = poll(&mut waits, Timespec::try_from(patience).ok().as_ref());
    let began = Instant::now();
    // Its input ends first. It may still be answering, and nobody who writes where nobody reads ends well.
    if !program.dials_in() {
        program.wire().finish();
        let mut message = Vec::new();
        while began.elapsed() < Duration::from_secs(1) {
            match program.wire().receive(&mut message) {
                Received::Message | Received::Garbled(_) => {}
                Received::Nothing => {
                    program.listen_to_stderr();
                    let mut waits = [PollFd::from_borrowed_fd(program.wire_ref().reads(), PollFlags::IN)];
                    let _ = poll(&mut waits, Timespec::try_from(MOMENT).ok().as_ref());
                }
                Received::Closed(_) | Received::Broken(_) | Received::Illegal(_) => break,
            }
        }
    }
    let ending = program.hang_up(Duration::from_secs(1).saturating_sub(began.elapsed()).max(MOMENT))?;
    Ok(Some((ending, began.elapsed())))
}
