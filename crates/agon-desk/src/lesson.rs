//! What the lost matches of a bot teach: the position where one order lost it, and bots tried in such a position.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agon_bot::BotName;
use agon_contest::parallel::on_all_cpus;
use agon_game::{Seat, Session};
use agon_match::record::Void;
use agon_match::{Observer, StepReport, Terms};
use agon_replay::Replay;
use agon_view::lesson::JUDGED;
use agon_view::{Lesson, LossSearch, WinChance};
use serde::Serialize;

use crate::DeskError;
use crate::analysed::Estimated;
use crate::feed::{Feed, check_turn};
use crate::losses::{GroupedLoss, Losses};
use crate::replays::{open, read};
use crate::words::tidy;

/// How many futures are played between two looks at the clock.
const PIECE: u32 = 4;

/// What `agon why --puzzles --json` prints of one lost match.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct LossTaught {
    /// The block, from 1, and the match in it.
    pub block: u64,
    /// From 1.
    pub game: u32,
    /// The file of the match.
    pub replay: String,
    /// Of the bot, from 1.
    pub seat: u8,
    /// The built-in bot that judged, with its options.
    pub policy: String,
    /// From where on the bot was behind for good, in the game's words.
    pub behind: String,
    /// The position where another order would have kept at least 15 points more; null if no single order lost it.
    pub puzzle: Option<PuzzlePrinted>,
}

/// A position, with what was played there and what would have been better.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct PuzzlePrinted {
    /// In the game's words.
    pub moment: String,
    /// As the bot's seat sees it, line by line.
    pub position: Vec<String>,
    pub played: String,
    pub played_chance: Estimated,
    pub better: String,
    pub better_chance: Estimated,
}

impl From<&WinChance> for Estimated {
    fn from(chance: &WinChance) -> Self {
        Self { mean: chance.mean, error: chance.error, futures: chance.count }
    }
}

/// Searches a match for what lost it for a seat; none when that was stopped. `policy` is the built-in bot that judges, none for the game's
/// judge.
///
/// # Errors
/// A sentence, when it cannot be analysed.
pub fn learn(
    replay: &Replay,
    seat: Seat,
    policy: Option<&str>,
    stop: &AtomicBool,
) -> Result<Option<Lesson>, String> {
    let mut search = LossSearch::open(replay, seat, policy, None).map_err(|why| why.to_string())?;
    while search.work(PIECE)? {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    search.lesson()
}

/// The lost matches of a bot whose replays were kept, at most `most` of them, spread over the series, each with what it teaches.
///
/// # Errors
/// When one cannot be read or analysed, or it was stopped.
pub fn taught(
    losses: &Losses,
    most: usize,
    policy: Option<&str>,
    stop: &AtomicBool,
) -> Result<Vec<LossTaught>, DeskError> {
    let kept: Vec<&GroupedLoss> = losses.all.iter().filter(|loss| loss.replay.is_some()).collect();
    let count = most.min(kept.len());
    let spread: Vec<&GroupedLoss> = (0..count).map(|at| kept[at * kept.len() / count]).collect();
    let one = |loss: &GroupedLoss| -> Result<LossTaught, DeskError> {
        let file = loss.replay.clone().unwrap_or_default();
        let replay = read(Path::new(&file))?;
        let seat = Seat::new(u8::try_from(loss.seat.saturating_sub(1)).unwrap_or(0));
        let named = |why: String| DeskError::Impossible(format!("{file}: {why}"));
        let lesson = learn(&replay, seat, policy, stop).map_err(named)?.ok_or(DeskError::Stopped)?;
        let printed = lesson.puzzle.map(|puzzle| -> Result<PuzzlePrinted, DeskError> {
            Ok(PuzzlePrinted {
                position: position(&replay, puzzle.step, seat).map_err(named)?,
                moment: puzzle.moment,
                played: in_a_line(&puzzle.played.order),
                played_chance: Estimated::from(&puzzle.played.chance),
                better: in_a_line(&puzzle.best.order),
                better_chance: Estimated::from(&puzzle.best.chance),
            })
        });
        Ok(LossTaught {
            block: loss.block,
            game: loss.game,
            seat: lesson.seat,
            policy: lesson.policy,
            behind: lesson.behind_at,
            puzzle: printed.transpose()?,
            replay: file,
        })
    };
    on_all_cpus(spread, one).into_iter().collect()
}

/// An order in one line.
fn in_a_line(order: &str) -> String {
    order.trim().lines().collect::<Vec<_>>().join("; ")
}

/// The board before a step, from 1, as a seat sees it.
fn position(replay: &Replay, step: u32, seat: Seat) -> Result<Vec<String>, String> {
    let mut session = open(replay).map_err(|error| error.to_string())?;
    for number in 0..step.saturating_sub(1) as usize {
        replay.play_step(number, session.as_mut())?;
    }
    let eyes = session.by_hand().hides().then_some(seat);
    Ok(session.picture(eyes).plain().lines().map(str::to_owned).collect())
}

/// What a test in a position wants of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum PositionWant<'a> {
    /// This order, or one that means the same.
    Order(&'a str),
    /// Any order that keeps this chance, from 0 to 1, as judged by this built-in bot.
    Keeps(f64, &'a str),
}

/// What a bot did in a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PositionTried {
    /// Whether it did what the test wants; none when that is not known, for lack of time.
    pub passed: Option<bool>,
    /// Its answer, if it gave one.
    pub answer: Option<String>,
    /// The chance after it, where that counts.
    pub chance: Option<f64>,
    /// What is wrong, as a sentence.
    pub why: Option<String>,
}

/// Leads a bot through a recorded match to a step, from 1, as in a match with this clock, and looks at its answer there. `seat` is its seat;
/// `terms` holds the clock; `told` is called at each of its answers. Ends at `until`.
///
/// # Errors
/// A sentence, when the match has no such step or is of other rules.
pub fn try_position(
    replay: &Replay,
    bot: &BotName,
    (seat, step): (Seat, u32),
    want: &PositionWant<'_>,
    terms: &Terms<'_>,
    until: Instant,
    told: &mut dyn FnMut(),
) -> Result<PositionTried, String> {
    let said = |error: DeskError| error.to_string();
    let turn = step.checked_sub(1).ok_or("steps count from 1")?;
    check_turn(replay, seat, turn).map_err(said)?;
    let enough = AtomicBool::new(false);
    let answered = {
        let mut watch = UntilThen { until, stop: terms.stop, enough: &enough, told };
        let terms = Terms::new(terms.clock, terms.ponder, &enough);
        let feed = Feed::new(replay, bot, seat, step as usize, terms.clock).map_err(said)?;
        feed.answer_beside(turn, &terms, &mut watch)
    };
    let untried = PositionTried { answer: answered.now.clone(), ..PositionTried::default() };
    if answered.void == Some(Void::Stopped) {
        return Ok(untried);
    }
    if let Some(void) = answered.void {
        return Ok(PositionTried { why: Some(void.to_string()), ..untried });
    }
    let failed = |why: String| PositionTried { passed: Some(false), why: Some(why), ..untried.clone() };
    if let Some(fault) = answered.faults.first() {
        return Ok(failed(fault.in_a_line()));
    }
    let Some(answer) = answered.now else { return Ok(failed("it answered nothing".to_owned())) };
    match want {
        PositionWant::Order(order) => {
            let is_it = tidy(order) == tidy(&answer);
            let why = (!is_it).then(|| format!("it answered `{}`", tidy(&answer)));
            Ok(PositionTried { passed: Some(is_it), answer: Some(answer), chance: None, why })
        }
        PositionWant::Keeps(least, policy) => {
            let on = &mut || Instant::now() < until && !terms.stop.load(Ordering::Relaxed);
            let chance = match judged(replay, (seat, step), policy, &answer, on) {
                Ok(Some(chance)) => chance,
                Ok(None) => return Ok(untried),
                Err(why) => return Ok(failed(why)),
            };
            let passed = chance.mean >= *least;
            let why = (!passed).then(|| keeps_less(&answer, &chance, *least));
            Ok(PositionTried { passed: Some(passed), answer: Some(answer), chance: Some(chance.mean), why })
        }
    }
}

/// The chance of a seat after an order at a step, from 1, as a built-in bot plays on; none if `on` ends it before.
///
/// # Errors
/// A sentence, when the rules do not allow the order, or it is none.
pub(crate) fn judged(
    replay: &Replay,
    (seat, step): (Seat, u32),
    policy: &str,
    order: &str,
    on: &mut dyn FnMut() -> bool,
) -> Result<Option<WinChance>, String> {
    let judge = LossSearch::open(replay, seat, Some(policy), Some(step));
    let mut judge = judge.map_err(|why| why.to_string())?;
    loop {
        let chance = judge.judge(step, order, PIECE)?;
        if chance.count >= JUDGED {
            return Ok(Some(chance));
        }
        if !on() {
            return Ok(None);
        }
    }
}

/// What is wrong with an answer that keeps less than it should.
pub(crate) fn keeps_less(answer: &str, chance: &WinChance, least: f64) -> String {
    let percent = |chance: f64| format!("{:.0} %", 100.0 * chance);
    format!("it answered `{}`, which keeps {}, not {}", tidy(answer), percent(chance.mean), percent(least))
}

/// Ends a match when it is time.
struct UntilThen<'a> {
    until: Instant,
    stop: &'a AtomicBool,
    enough: &'a AtomicBool,
    told: &'a mut dyn FnMut(),
}

impl Observer for UntilThen<'_> {
    fn stepped(&mut self, _: &mut dyn Session, _: &StepReport<'_>) -> io::Result<()> {
        (self.told)();
        let over = Instant::now() >= self.until || self.stop.load(Ordering::Relaxed);
        self.enough.fetch_or(over, Ordering::Relaxed);
        Ok(())
    }
}
