//! The value of the orders of a match, found by playing on from each of its turns, and what was found told in whole.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_game::Seat;
use agon_replay::Replay;
use agon_view::analysis::{Analysis, Mark, Mean};
use agon_view::{Privacy, View};
use serde::Serialize;

use crate::replays::TurnCount;
use crate::trial::TriedOrder;

/// Plays on for this long from the step after `only` turns, or from all; less if that makes nothing more certain.
///
/// # Errors
/// A sentence, when the match cannot be played on.
pub fn refine(
    analysis: &mut Analysis,
    only: Option<u32>,
    budget: Duration,
    stop: &AtomicBool,
) -> Result<(), String> {
    let began = Instant::now();
    let mut more = true;
    while more && began.elapsed() < budget && !stop.load(Ordering::SeqCst) {
        more = analysis.refine(only)?;
    }
    Ok(())
}

/// The orders of one step, from 1, or the marked ones of all; of one seat alone if one is given. Those that cost most come first.
pub fn marks(analysis: &Analysis, only: Option<u32>, seat: Option<Seat>) -> Vec<Mark> {
    let marks = only.map_or_else(|| analysis.marks(), |step| analysis.orders(step));
    marks.into_iter().filter(|mark| seat.is_none_or(|seat| seat == mark.seat)).collect()
}

/// Those worth trying with a bot: an order that beats the policy's is not, unless its step alone is asked about.
pub fn costly(marks: &[Mark], only: Option<u32>) -> Vec<Mark> {
    marks.iter().copied().filter(|mark| only.is_some() || mark.gain.mean() > 0.0).collect()
}

/// The orders of a match as the bots wrote them.
pub struct OrderTexts(View);

impl OrderTexts {
    /// Those of a replay.
    ///
    /// # Errors
    /// A sentence, when the match cannot be computed again.
    pub fn open(replay: Replay) -> Result<Self, String> {
        View::open(replay, Privacy::Redacted).map(Self).map_err(|why| why.to_string())
    }

    /// The order of a seat at a step, both from 1, in one line.
    pub fn order(&mut self, step: u32, seat: u8) -> Option<String> {
        let line = self.0.line(step)?;
        let text = line.answers.into_iter().find(|answer| answer.seat == seat)?.text?;
        Some(text.trim().lines().collect::<Vec<_>>().join("; "))
    }
}

/// What `agon analyse --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other field is named after what it is")]
pub struct Analysed {
    /// The built-in bot that played on, with its options.
    pub policy: String,
    /// Whether the game has hidden information: each pair then begins in a position drawn from what the seat could know.
    pub sampled: bool,
    /// How many pairs of futures were played: one with the order, one with the policy's in its place.
    pub pairs: u64,
    pub turns: Vec<AnalysedTurn>,
}

/// A turn of a match that was analysed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other field is named after what it is")]
pub struct AnalysedTurn {
    /// From 0, as in `agon replay show`.
    pub turn: u32,
    /// In the game's words.
    pub moment: String,
    /// Each seat's chance of coming first, after the turn.
    pub chances: Vec<Estimated>,
    pub orders: Vec<AnalysedOrder>,
}

/// An order of a match that was analysed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct AnalysedOrder {
    /// From 1.
    pub seat: u8,
    /// As it was given; null when nothing usable came.
    pub order: Option<String>,
    /// How much the seat's chance would gain from the policy's order in its place.
    pub gain: Estimated,
    /// Whether the gain is beyond noise.
    pub marked: bool,
    /// What `--with-bot` found about it; null if it was not tried.
    pub with_bot: Option<AnalysedWithBot>,
}

/// The result of an order of the policy with the bot itself playing on.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct AnalysedWithBot {
    /// The policy's order in the first of the futures.
    pub better: String,
    /// How much the bot's chance gains from it.
    pub gain: Estimated,
    /// Whether the gain is above zero beyond noise. If there are no futures, the bot failed on the way to the turn: see `fault`.
    pub mistake: bool,
    /// The first fault the bot made on the way, if any.
    pub fault: Option<String>,
}

/// The mean over the futures, from 0 to 1 (a gain from -1), with its standard error.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct Estimated {
    pub mean: f64,
    pub error: f64,
    /// The number of futures.
    pub futures: u32,
}

impl Analysed {
    /// What an analysis knows of a match of so many steps, or of one of them, and what a bot made of its orders.
    pub fn of(
        analysis: &Analysis,
        texts: &mut OrderTexts,
        tried: &[TriedOrder],
        steps: usize,
        only: Option<u32>,
        count: TurnCount,
    ) -> Self {
        let marks = analysis.marks();
        let with_bot = |order: &Mark| {
            let tried = tried.iter().find(|tried| tried.step == order.step && tried.seat == order.seat)?;
            Some(AnalysedWithBot {
                better: tried.better_in_a_line(),
                gain: Estimated::from(&tried.gain),
                mistake: tried.is_mistake(),
                fault: tried.fault_in_a_line(),
            })
        };
        let turn = |step: u32| AnalysedTurn {
            turn: count.turn(step - 1),
            moment: analysis.moment(step).to_owned(),
            chances: analysis.chances(step).iter().map(Estimated::from).collect(),
            orders: analysis
                .orders(step)
                .iter()
                .map(|order| AnalysedOrder {
                    seat: order.seat.number(),
                    order: texts.order(step, order.seat.number()),
                    gain: Estimated::from(&order.gain),
                    with_bot: with_bot(order),
                    marked: marks.iter().any(|mark| (mark.step, mark.seat) == (order.step, order.seat)),
                })
                .collect(),
        };
        let wanted = (1..=steps as u32).filter(|step| only.is_none_or(|only| only == *step));
        let (policy, sampled) = (analysis.policy().to_owned(), analysis.is_sampled());
        Self { policy, sampled, pairs: analysis.pairs(), turns: wanted.map(turn).collect() }
    }
}

impl From<&Mean> for Estimated {
    fn from(mean: &Mean) -> Self {
        Self { mean: mean.mean(), error: mean.error(), futures: mean.count }
    }
}
