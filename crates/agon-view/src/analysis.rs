//! What the orders of a match were worth, by playing on from each of its turns.
//!
//! From a turn the match is played on to its end many times by the game's quick policy ([`crate::future`]): the mean is the
//! chance of each seat to finish first. An order is compared with what the policy would have played in its place, with the
//! answers of the others as they were: the difference is what it cost or won. Each pair of futures draws the same numbers.
//!
//! Pure, and without a clock: whoever asks refines for as long as it likes ([`Analysis::refine`]).

use agon_game::{PackedAnswer, Position, Seat, Session};
use agon_replay::Replay;

use crate::future::{First, play_on};
use crate::maker::{Unshowable, game_of};

/// A match of more turns is not analysed: its positions would not fit into a page.
pub const MOST_STEPS: usize = 5_000;
/// Each order gets so many pairs of futures before any gets more.
const EACH: u32 = 8;
/// No order gets more.
const MOST: u32 = 2_000;
/// An effect is known by no fewer.
const FEWEST: u32 = 40;
/// Less of the chance than this is not marked, however sure it is.
const SMALLEST: f64 = 0.05;
/// So many standard errors an effect lies above [`SMALLEST`] to be marked: of thousands of orders hardly one does by chance.
const SURE: f64 = 4.0;

/// The mean of something that was seen so often, and its error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// How often.
    pub count: u32,
    sum: f64,
    squares: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// The mean; 0 of nothing.
    pub fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }

    /// Its standard error, with a doubt that goes away: where all were the same so far, the next need not be.
    pub fn error(&self) -> f64 {
        let count = f64::from(self.count.max(1));
        let spread = (self.squares / count - self.mean().powi(2)).max(0.0) + 0.25 / count;
        (spread / count).sqrt()
    }
}

/// A turn of the match.
struct Spot {
    before: Position,
    moment: String,
    answers: Vec<(Seat, PackedAnswer)>,
    /// The chance of each seat after it.
    chances: Vec<Mean>,
    /// For each answer, in order: what the chance of its seat would gain if the policy played in its place.
    gains: Vec<Mean>,
}

/// An order whose effect is beyond noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The step, from 1.
    pub step: u32,
    /// Whose order.
    pub seat: Seat,
    /// What the chance of the seat would gain by the policy's order; less than 0 where the policy does worse.
    pub gain: Mean,
}

/// A match that is analysed.
pub struct Analysis {
    session: Box<dyn Session>,
    spots: Vec<Spot>,
    /// Orders in the order in which they are looked at first, as spot and answer: spread over the match.
    orders: Vec<(usize, usize)>,
    seed: u64,
}

/// Why a match cannot be analysed. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unanalysable {
    /// It cannot be shown either.
    #[error("{0}")]
    Unshowable(#[from] Unshowable),
    /// It is too long.
    #[error("this match has {0} turns, and no more than {MOST_STEPS} are analysed")]
    TooLong(usize),
    /// Its answers do not lead on.
    #[error("this replay is damaged or altered: {0}")]
    Damaged(String),
}

impl Analysis {
    /// Opens a match: plays it through once. `only` is the one step, from 1, to look at; none for all.
    ///
    /// # Errors
    /// When the match cannot be computed again, or is too long.
    pub fn open(replay: &Replay, only: Option<u32>) -> Result<Self, Unanalysable> {
        if replay.steps.len() > MOST_STEPS {
            return Err(Unanalysable::TooLong(replay.steps.len()));
        }
        let game = game_of(&replay.header)?;
        let mut session = game.open(&replay.header.recipe.setup()).map_err(Unshowable::from)?;
        let seats = usize::from(session.recipe().seats);
        let mut spots = Vec::new();
        for (number, step) in replay.steps.iter().enumerate() {
            spots.push(Spot {
                before: session.position(),
                moment: session.moment(),
                answers: step.answers.clone(),
                chances: vec![Mean::default(); seats],
                gains: vec![Mean::default(); step.answers.len()],
            });
            replay.play_step(number, session.as_mut()).map_err(Unanalysable::Damaged)?;
        }
        let wanted = |step: usize| only.is_none_or(|only| only as usize == step + 1);
        let mut orders: Vec<(usize, usize)> = Vec::new();
        for (step, spot) in spots.iter().enumerate().filter(|(step, _)| wanted(*step)) {
            orders.extend((0..spot.answers.len()).map(|answer| (step, answer)));
        }
        // By the digits of their numbers, turned round: whoever looks early has seen something of every part.
        orders.sort_by_key(|&(step, answer)| ((step as u32).reverse_bits(), answer));
        Ok(Self { session, spots, orders, seed: 0 })
    }

    /// What plays on.
    pub fn policy(&self) -> &'static str {
        self.session.info().policy
    }

    /// How many pairs of futures were played.
    pub fn pairs(&self) -> u64 {
        self.seed
    }

    /// Plays one more pair of futures, where it tells most; false when enough is known of everything.
    ///
    /// # Errors
    /// When an answer of the match is not what its step takes.
    pub fn refine(&mut self) -> Result<bool, String> {
        let open = |&&(spot, answer): &&(usize, usize)| self.spots[spot].gains[answer].count < MOST;
        let fresh = self.orders.iter().min_by_key(|&&(spot, answer)| self.spots[spot].gains[answer].count);
        let fresh = fresh.filter(|&&(spot, answer)| self.spots[spot].gains[answer].count < EACH);
        let worth = |&(spot, answer): &(usize, usize)| {
            let gain = &self.spots[spot].gains[answer];
            gain.mean().abs() + 1.5 * gain.error()
        };
        let chosen = fresh
            .or_else(|| self.orders.iter().filter(open).max_by(|one, two| worth(one).total_cmp(&worth(two))));
        let Some(&(at, answer)) = chosen else { return Ok(false) };
        self.seed += 1;
        let spot = &mut self.spots[at];
        let seat = spot.answers[answer].0;
        let session = self.session.as_mut();
        let own = play_on(session, &spot.before, First::Recorded(&spot.answers), self.seed)?;
        let other = play_on(session, &spot.before, First::Instead(&spot.answers, seat), self.seed)?;
        spot.chances.iter_mut().zip(&own).for_each(|(mean, share)| mean.add(*share));
        spot.gains[answer].add(other[seat.index()] - own[seat.index()]);
        Ok(true)
    }

    /// Where in the match a step, from 1, is, in the game's words.
    pub fn moment(&self, step: u32) -> &str {
        self.spots.get((step as usize).wrapping_sub(1)).map_or("", |spot| &spot.moment)
    }

    /// The chance of each seat to finish first after a step, from 1.
    pub fn chances(&self, step: u32) -> &[Mean] {
        self.spots.get((step as usize).wrapping_sub(1)).map_or(&[], |spot| &spot.chances)
    }

    /// What is known of each order of a step, from 1, marked or not.
    pub fn orders(&self, step: u32) -> Vec<Mark> {
        let Some(spot) = self.spots.get((step as usize).wrapping_sub(1)) else { return Vec::new() };
        let known = spot.answers.iter().zip(&spot.gains);
        known.map(|((seat, _), gain)| Mark { step, seat: *seat, gain: *gain }).collect()
    }

    /// The orders whose effect is beyond noise, the largest first.
    pub fn marks(&self) -> Vec<Mark> {
        let all = (1..=self.spots.len() as u32).flat_map(|step| self.orders(step));
        let mut marks: Vec<Mark> = all.filter(|mark| is_sure(&mark.gain)).collect();
        marks.sort_by(|one, two| two.gain.mean().abs().total_cmp(&one.gain.mean().abs()));
        marks
    }
}

fn is_sure(gain: &Mean) -> bool {
    gain.count >= FEWEST && gain.mean().abs() - SURE * gain.error() > SMALLEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_always_the_same_is_sure_only_after_a_while() {
        let mut mean = Mean::default();
        (0..10).for_each(|_| mean.add(0.5));
        assert!(!is_sure(&mean));
        (0..90).for_each(|_| mean.add(0.5));
        assert!(is_sure(&mean) && (mean.mean() - 0.5).abs() < 1e-12, "{mean:?}");
    }

    #[test]
    fn noise_is_never_sure() {
        let mut mean = Mean::default();
        (0..2_000).for_each(|at| mean.add(if at % 2 == 0 { 1.0 } else { -1.0 }));
        assert!(!is_sure(&mean));
    }
}
