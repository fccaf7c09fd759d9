//! What an analysis knows so far about the step being looked at, as a page shows it.

use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use crate::analysis::{Analysis, Mark, Mean, is_sure};

/// What is known so far.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Outlook {
    /// The bot that plays on, with its options.
    pub policy: String,
    /// Those that could: the game's judge, its quick one, and all others built in.
    pub policies: Vec<&'static str>,
    /// Whether something is hidden: futures begin in positions drawn from what the seat could know.
    pub sampled: bool,
    /// The total number of pairs of futures played.
    pub pairs: u32,
    /// Whether more of them would add information.
    pub more: bool,
    /// The number of orders about which something is known, and the number of orders.
    pub seen: [u32; 2],
    /// Each seat's chance of finishing first, after the step.
    pub chances: Vec<WinChance>,
    /// The orders of the step.
    pub orders: Vec<Worth>,
    /// The order wished for instead of one of them.
    pub wish: Option<Worth>,
    /// Orders of any step whose effect is beyond noise, in order of play.
    pub marks: Vec<Worth>,
}

/// A chance, or a difference of chances, from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct WinChance {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
    /// The number of futures.
    pub count: u32,
}

/// What an order is worth.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Worth {
    /// The step, from 1.
    pub step: u32,
    /// Whose order, from 1.
    pub seat: u8,
    /// What the seat's chance gains by the policy's order in its place; for a wish, what it gains by the wish over the
    /// recorded order.
    pub gain: WinChance,
    /// Whether that is beyond noise.
    pub sure: bool,
}

impl From<&Mean> for WinChance {
    fn from(mean: &Mean) -> Self {
        Self { mean: mean.mean(), error: mean.error(), count: mean.count }
    }
}

impl From<Mark> for Worth {
    fn from(Mark { step, seat, gain }: Mark) -> Self {
        Self { step, seat: seat.number(), gain: WinChance::from(&gain), sure: is_sure(&gain) }
    }
}

impl Outlook {
    /// What `analysis` knows about a step, from 1; with 0, about no step in particular.
    pub fn of(analysis: &Analysis, step: u32, more: bool) -> Self {
        Self {
            policy: analysis.policy().to_owned(),
            policies: analysis.policies(),
            sampled: analysis.is_sampled(),
            pairs: analysis.pairs() as u32,
            more,
            seen: analysis.seen(),
            chances: analysis.chances(step).iter().map(WinChance::from).collect(),
            orders: analysis.orders(step).into_iter().map(Worth::from).collect(),
            wish: analysis
                .wished()
                .filter(|wished| wished.order.step == step)
                .map(|wished| wished.order.into()),
            marks: analysis.sure().map(Worth::from).collect(),
        }
    }
}
