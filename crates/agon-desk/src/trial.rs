//! Whether an order was a mistake of a bot.
//!
//! That the game's quick policy would win more with another order says little about a bot that plays differently. Here
//! the bot itself is led to the turn, once with its own order played there and once with the policy's, and plays on to the end,
//! in one future after another.

use std::sync::atomic::AtomicBool;

use agon_bot::BotName;
use agon_game::{PackedAnswer, Seat, Seats};
use agon_match::record::Void;
use agon_match::{Clock, Fault, FaultKind, Future, Ponder, Terms, play_on};
use agon_replay::Replay;
use agon_view::analysis::{Analysis, Mark, Mean};
use agon_view::future::STRAYS;

use crate::DeskError;
use crate::replays::open;
use crate::seats::{labels, names, seat_all};
use crate::words::harmless;

/// With fewer futures, nothing is called a mistake.
pub const FEWEST: u32 = 20;
/// Upper limit on the orders tried: those that cost the seat most.
const MOST: usize = 3;
/// How many standard errors above zero the gain must be: with the few orders tried, hardly one passes by chance.
const SURE: f64 = 3.0;
/// Futures from this number on are separate: the orders were chosen by those before it.
const FIRST: u64 = 1 << 40;
/// How often a match with an unfair clock is played.
const TRIES: u32 = 3;

/// The result for one order.
pub struct TriedOrder {
    /// The step, from 1.
    pub step: u32,
    /// The bot's seat.
    pub seat: Seat,
    /// The order of the policy, as a bot writes it.
    pub better: String,
    /// How much the bot's chance to come first gains from it.
    pub gain: Mean,
    /// A fault the bot made on the way, if any: the figures may then reflect that.
    pub fault: Option<Fault>,
}

impl TriedOrder {
    /// Why nothing was tried: the bot ended while being led to the turn, or never began.
    pub fn gone(&self) -> Option<&Fault> {
        self.fault.as_ref().filter(|fault| is_gone(fault, self.step))
    }

    /// Whether the order was a mistake.
    pub fn is_mistake(&self) -> bool {
        self.gain.count >= FEWEST && self.gain.mean() > SURE * self.gain.error()
    }

    /// The first fault on the way: its turn, its kind, what was wrong.
    pub fn fault_in_a_line(&self) -> Option<String> {
        self.fault.as_ref().map(Fault::in_a_line)
    }

    /// The policy's order, its messages in one line.
    pub fn better_in_a_line(&self) -> String {
        self.better.trim().lines().collect::<Vec<_>>().join("; ")
    }
}

/// Whether a bot with this fault was gone before it could play on from a step, from 1.
fn is_gone(fault: &Fault, step: u32) -> bool {
    fault.step < step && matches!(fault.kind, FaultKind::Crash | FaultKind::NeverStarted)
}

/// How a bot is tried.
#[derive(Clone, Copy)]
pub struct OrderTrial<'a> {
    /// The number of futures; each is played twice.
    pub futures: u32,
    /// How limits are applied.
    pub clock: Clock,
    /// Whether it may compute during the others' turns.
    pub ponder: Ponder,
    /// Stops it early.
    pub stop: &'a AtomicBool,
}

/// The bot at its seat, and those of the other seats.
pub struct Seating {
    /// The bot's seat.
    pub seat: Seat,
    /// The bots, in the order of their seats.
    pub names: Vec<BotName>,
}

impl Seating {
    /// What the bots are called that [`names`](Self::names) is to hold: `bot` in its seat, and in the others those of `against` in order,
    /// or the policy if none are named.
    ///
    /// # Errors
    /// When not as many are named as there are others.
    pub fn texts(
        bot: &str,
        seat: Seat,
        against: &[String],
        replay: &Replay,
        policy: &str,
    ) -> Result<Vec<String>, DeskError> {
        match against {
            [] => names(bot, &vec![format!("builtin:{policy}"); replay.header.seats.len() - 1], replay, seat),
            against => names(bot, against, replay, seat),
        }
    }

    /// Tries the bot with either order at `marks`, sorted by cost, highest first: at those that cost its seat most.
    ///
    /// # Errors
    /// Those of [`try_one`](Self::try_one).
    pub fn try_all(
        &self,
        trial: &OrderTrial<'_>,
        replay: &Replay,
        analysis: &mut Analysis,
        marks: &[Mark],
    ) -> Result<Vec<TriedOrder>, DeskError> {
        let one = |mark: &Mark| self.try_one(trial, replay, analysis, mark.step, &mut |_| {});
        marks.iter().take(MOST).map(one).collect()
    }

    /// Tries the bot with either order at a step, from 1. `told` gets what is known before the first future and after
    /// each. Ends early if the bot ends on its way there ([`TriedOrder::gone`]).
    ///
    /// # Errors
    /// When the match has no such step, the bot cannot be started, or the trial was stopped.
    pub fn try_one(
        &self,
        trial: &OrderTrial<'_>,
        replay: &Replay,
        analysis: &mut Analysis,
        step: u32,
        told: &mut dyn FnMut(&TriedOrder),
    ) -> Result<TriedOrder, DeskError> {
        let known = replay.steps.get(..step as usize).filter(|_| step > 0);
        let known = known.ok_or_else(|| DeskError::Impossible(format!("this match has no step {step}")))?;
        let mut given: Vec<Vec<(Seat, PackedAnswer)>> =
            known.iter().map(|step| step.answers.clone()).collect();
        let recorded = given.last().cloned().unwrap_or_default();
        let mut tried =
            TriedOrder { step, seat: self.seat, better: String::new(), gain: Mean::default(), fault: None };
        for future in FIRST..FIRST + u64::from(trial.futures) {
            let better = analysis.instead(step, self.seat, future).map_err(DeskError::Own)?;
            if tried.better.is_empty() {
                tried.better = analysis.text(step, self.seat, &better).map_err(DeskError::Own)?;
                told(&tried);
            }
            let mut shares = [0.0; 2];
            for (share, answers) in shares.iter_mut().zip([&recorded, &better]) {
                if let Some(last) = given.last_mut() {
                    last.clone_from(answers);
                }
                *share = self.end(trial, replay, &given, future, &mut tried.fault)?;
                if tried.gone().is_some() {
                    return Ok(tried);
                }
            }
            tried.gain.add(shares[1] - shares[0]);
            told(&tried);
        }
        Ok(tried)
    }

    /// Plays one future after the given answers to its end; returns the bot's share of the first place.
    fn end(
        &self,
        trial: &OrderTrial<'_>,
        replay: &Replay,
        given: &[Vec<(Seat, PackedAnswer)>],
        future: u64,
        fault: &mut Option<Fault>,
    ) -> Result<f64, DeskError> {
        let &OrderTrial { clock, ponder, stop, .. } = trial;
        let mut straying = Seats::first(self.names.len() as u8);
        straying.remove(self.seat);
        let future = Future { from: given.len() as u32 - 1, seed: future as i64, straying, one_in: STRAYS };
        let terms = Terms { given, future: Some(future), ..Terms::new(clock, ponder, stop) };
        for attempt in 1.. {
            let mut session = open(replay)?;
            let mut players = seat_all(session.as_mut(), &self.names, clock, ponder)?;
            let labels = labels(&self.names);
            let record = play_on(session.as_mut(), &mut players, &labels, &mut (), &terms);
            drop(players);
            // The first fault counts, but one that ended the bot on the way says more.
            let own = |fault: &&Fault| fault.seat == self.seat;
            let ended = |fault: &&Fault| own(fault) && is_gone(fault, given.len() as u32);
            if let Some(ended) = record.faults.iter().find(ended) {
                *fault = Some(ended.clone());
            } else if fault.is_none() {
                *fault = record.faults.iter().find(own).cloned();
            }
            match (&record.outcome, &record.void) {
                (Some(outcome), _) => return Ok(agon_game::advantage::firsts(outcome)[self.seat.index()]),
                (None, Some(void)) if void.unfair().is_some() && attempt < TRIES => {}
                (None, Some(Void::Stopped)) => return Err(DeskError::Stopped),
                (None, _) => return Err(DeskError::Own(record.void_sentence().unwrap_or_default())),
            }
        }
        unreachable!("the last try returns")
    }
}

/// The seat in which the replay names a bot.
///
/// # Errors
/// When it names it in none, or in several.
pub fn seat_named(bot: &str, replay: &Replay) -> Result<Seat, DeskError> {
    let real = |text: &str| std::fs::canonicalize(text).ok();
    let is = |other: &str| other == bot || (real(bot).is_some() && real(bot) == real(other));
    let own: Vec<Seat> = Seat::first(Seat::MAX)
        .zip(&replay.header.seats)
        .filter(|(_, info)| is(&info.bot))
        .map(|(seat, _)| seat)
        .collect();
    match own[..] {
        [seat] => Ok(seat),
        _ => Err(DeskError::Impossible(format!(
            "--with-bot {}: this replay names it in {} seats; say which is its own: --seat N",
            harmless(bot),
            if own.is_empty() { "none of its".to_owned() } else { own.len().to_string() }
        ))),
    }
}
