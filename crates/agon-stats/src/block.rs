//! Blocks and their tally: the evidence about one bot against another.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::bounds::Scores;

/// How a block is built: how many games, and how finely each is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Games in a block.
    pub games: u32,
    /// Each game gives a whole number of points from 0 (lost) to this (won).
    pub points: u32,
}

impl Shape {
    /// One game, won, drawn or lost: three results (trinomial).
    pub const SINGLE: Self = Self { games: 1, points: 2 };
    /// Two games with the seats swapped: five results (pentanomial).
    pub const PAIR: Self = Self { games: 2, points: 2 };

    /// One game in each rotation of `seats` seats, scored by normalised rank (see [`crate::twin`]).
    pub const fn rotation(seats: u32) -> Self {
        Self { games: seats, points: 2 * (seats - 1) }
    }

    /// One twin match in each rotation of `seats` seats (see [`crate::twin`]).
    pub const fn twins(seats: u32) -> Self {
        Self { games: seats, points: 4 * (seats - 1) }
    }

    /// This many blocks as one, for example one on each map of a series.
    pub const fn times(self, blocks: u32) -> Self {
        Self { games: self.games * blocks, points: self.points }
    }

    /// The most points of a block.
    pub const fn full(self) -> u32 {
        self.games * self.points
    }

    /// Whether games are won, drawn or lost and nothing in between.
    pub const fn is_win_draw_loss(self) -> bool {
        self.points == 2
    }
}

/// Upper limit on the points of a block, so that a tally stays small.
pub const MOST_POINTS: u32 = 1 << 16;

/// A finished block, from the viewpoint of one bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// A hash of where the block began: rules, map, state, and the bots in their seats.
    pub start: u64,
    /// A hash of every answer of every game of the block: equal for equal games.
    pub fingerprint: u64,
    /// The points of each game, `0..=Shape::points`.
    pub points: Vec<u32>,
}

impl Block {
    /// These blocks as one, of a shape that is [`Shape::times`] theirs.
    pub fn join<'a>(blocks: impl IntoIterator<Item = &'a Self> + Clone) -> Self {
        // FNV-1a, by words: what is hashed are hashes.
        let hash = |of: &dyn Fn(&Self) -> u64| {
            let parts = blocks.clone().into_iter().map(of);
            parts.fold(0xcbf2_9ce4_8422_2325_u64, |hash, part| (hash ^ part).wrapping_mul(0x100_0000_01b3))
        };
        Self {
            start: hash(&|block| block.start),
            fingerprint: hash(&|block| block.fingerprint),
            points: blocks.clone().into_iter().flat_map(|block| block.points.iter().copied()).collect(),
        }
    }
}

/// Why a block does not fit the series, or a shape or list of counts is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BlockError {
    /// Too few or too many games.
    #[error("a block of this series has {expected} games, not {given}")]
    Games {
        /// What the shape says.
        expected: u32,
        given: usize,
    },
    /// More points than a game has.
    #[error("a game of this series gives at most {most} points, not {given}")]
    Points {
        /// What the shape says.
        most: u32,
        given: u32,
    },
    /// A list of counts with the wrong length.
    #[error("blocks of this shape have {expected} different results, not {given}")]
    Counts {
        /// What the shape says.
        expected: usize,
        /// The length of the list.
        given: usize,
    },
    /// No games, no points, or too many.
    #[error("a block needs 1 to {MOST_POINTS} points, not {0} games of {1}")]
    Shape(u32, u32),
}

/// Games won, drawn and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct WinDrawLoss {
    /// Games of more than half the points.
    pub wins: u64,
    /// Games of exactly half the points.
    pub draws: u64,
    /// Games of less than half the points.
    pub losses: u64,
}

impl WinDrawLoss {
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// The share of draws; none without games.
    pub fn draw_ratio(&self) -> Option<f64> {
        (self.games() > 0).then(|| self.draws as f64 / self.games() as f64)
    }
}

/// How many blocks gave how many points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    shape: Shape,
    /// `counts[p]` blocks gave `p` points.
    counts: Vec<u64>,
    /// The games in the blocks; unknown if only counts of blocks were given.
    games: Option<WinDrawLoss>,
    /// How many of the blocks are no evidence.
    repeats: u64,
}

impl Tally {
    /// An empty tally.
    ///
    /// # Errors
    /// When the shape has no points or too many.
    pub fn new(shape: Shape) -> Result<Self, BlockError> {
        match shape.games.checked_mul(shape.points) {
            Some(1..=MOST_POINTS) => {
                let counts = vec![0; shape.full() as usize + 1];
                Ok(Self { shape, counts, games: Some(WinDrawLoss::default()), repeats: 0 })
            }
            _ => Err(BlockError::Shape(shape.games, shape.points)),
        }
    }

    /// Blocks counted elsewhere: `counts[p]` of them gave `p` points. These counts do not say which
    /// games of a pair were drawn (a win and a loss look like two draws).
    ///
    /// # Errors
    /// When the list does not have the length the shape requires.
    pub fn from_counts(shape: Shape, counts: &[u64]) -> Result<Self, BlockError> {
        let mut tally = Self::new(shape)?;
        if counts.len() != tally.counts.len() {
            return Err(BlockError::Counts { expected: tally.counts.len(), given: counts.len() });
        }
        tally.games = match *counts {
            [losses, draws, wins] if shape == Shape::SINGLE => Some(WinDrawLoss { wins, draws, losses }),
            _ => None,
        };
        tally.counts.copy_from_slice(counts);
        Ok(tally)
    }

    /// Counts a block, whether or not it was seen before (see [`crate::Sequential`] for that).
    ///
    /// # Errors
    /// When the block does not have the shape of the series; nothing is counted then.
    pub fn add(&mut self, block: &Block) -> Result<(), BlockError> {
        self.check(block)?;
        let points = self.shape.points;
        self.counts[block.points.iter().sum::<u32>() as usize] += 1;
        if let Some(count) = &mut self.games {
            for &given in &block.points {
                match (2 * given).cmp(&points) {
                    std::cmp::Ordering::Greater => count.wins += 1,
                    std::cmp::Ordering::Equal => count.draws += 1,
                    std::cmp::Ordering::Less => count.losses += 1,
                }
            }
        }
        Ok(())
    }

    /// Checks that the block has the shape of the series.
    ///
    /// # Errors
    /// When it does not.
    pub fn check(&self, block: &Block) -> Result<(), BlockError> {
        let Shape { games, points } = self.shape;
        if block.points.len() != games as usize {
            return Err(BlockError::Games { expected: games, given: block.points.len() });
        }
        match block.points.iter().find(|&&given| given > points) {
            Some(&given) => Err(BlockError::Points { most: points, given }),
            None => Ok(()),
        }
    }

    /// How the blocks are built.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// `counts()[p]` blocks gave `p` points.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The games in the blocks, if known.
    pub fn games(&self) -> Option<WinDrawLoss> {
        self.games
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The number of blocks that are evidence.
    pub fn evidence(&self) -> u64 {
        self.blocks() - self.repeats
    }

    /// Says that this many of the blocks only repeat others ([`crate::repeats`]). They are part of the mean like all
    /// others, because it is the schedule that gives a start its weight; but the mean is not more certain for them.
    ///
    /// # Panics
    /// When there are not that many blocks.
    pub fn set_repeats(&mut self, repeats: u64) {
        assert!(repeats <= self.blocks(), "{repeats} repeats in {} blocks", self.blocks());
        self.repeats = repeats;
    }

    /// Whether all blocks gave the same points (or there are none).
    pub fn is_constant(&self) -> bool {
        self.counts.iter().filter(|&&count| count > 0).count() <= 1
    }

    /// The score of a block of `points` points, from 0 to 1.
    pub(crate) fn score(&self, points: usize) -> f64 {
        points as f64 / f64::from(self.shape.full())
    }

    /// What a block counts as evidence: less than 1 if some only repeat others.
    fn worth(&self) -> f64 {
        match self.repeats {
            0 => 1.0,
            _ => self.evidence() as f64 / self.blocks() as f64,
        }
    }

    /// The block scores, with what they count as evidence.
    pub(crate) fn scores(&self) -> Scores {
        let worth = self.worth();
        let counts = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        Scores(counts.map(|(p, &count)| (self.score(p), count as f64 * worth)).collect())
    }

    /// The moments of the block scores.
    pub(crate) fn moments(&self) -> Moments {
        let worth = self.worth();
        Moments::of(self.counts.iter().enumerate().map(|(p, &count)| (self.score(p), count as f64 * worth)))
    }

    /// Scores and counts with every zero count raised to a thousandth of a block, so that no result
    /// is taken as impossible only because it has not happened yet (as fishtest does). Where there are more than five
    /// results, they share what five have: 289 thousandths would outweigh the few blocks of such a test.
    pub(crate) fn lifted(&self) -> Vec<(f64, f64)> {
        let (worth, least) = (self.worth(), 1e-3 * (5.0 / self.counts.len() as f64).min(1.0));
        let lift = |count: u64| if count == 0 { least } else { count as f64 * worth };
        self.counts.iter().enumerate().map(|(p, &count)| (self.score(p), lift(count))).collect()
    }
}

/// The moments of weighted scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    /// The sum of the weights.
    pub weight: f64,
    pub mean: f64,
    /// The variance (divided by the weight, not by the weight less one).
    pub variance: f64,
    /// The third and fourth moment of the standardised scores; 0 where the variance is 0.
    pub skewness: f64,
    /// See `skewness`.
    pub kurtosis: f64,
}

impl Moments {
    pub(crate) fn of(scores: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        let weight: f64 = scores.clone().map(|(_, count)| count).sum();
        if weight == 0.0 {
            return Self { weight, mean: 0.5, variance: 0.0, skewness: 0.0, kurtosis: 0.0 };
        }
        let mean = scores.clone().map(|(score, count)| score * count).sum::<f64>() / weight;
        let central =
            |n| scores.clone().map(|(score, count)| (score - mean).powi(n) * count).sum::<f64>() / weight;
        let variance = central(2);
        let [skewness, kurtosis] = if variance == 0.0 {
            [0.0, 0.0]
        } else {
            [central(3) / variance.powf(1.5), central(4) / (variance * variance)]
        };
        Self { weight, mean, variance, skewness, kurtosis }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_counted_by_its_points_and_its_games_by_their_results() {
        let mut tally = Tally::new(Shape::PAIR).unwrap();
        for points in [[2, 0], [1, 1], [2, 1], [0, 0]] {
            tally.add(&Block { start: 0, fingerprint: 0, points: points.to_vec() }).unwrap();
        }
        assert_eq!(tally.counts(), [1, 0, 2, 1, 0]);
        assert_eq!(tally.games(), Some(WinDrawLoss { wins: 2, draws: 3, losses: 3 }));
        assert_eq!(tally.games().unwrap().draw_ratio(), Some(0.375));
    }

    #[test]
    fn a_block_of_another_shape_is_refused_and_not_counted() {
        let mut tally = Tally::new(Shape::PAIR).unwrap();
        let block = |points: &[u32]| Block { start: 0, fingerprint: 0, points: points.to_vec() };
        assert_eq!(tally.add(&block(&[2])), Err(BlockError::Games { expected: 2, given: 1 }));
        assert_eq!(tally.add(&block(&[2, 3])), Err(BlockError::Points { most: 2, given: 3 }));
        assert_eq!(tally.blocks(), 0);
        assert!(Tally::new(Shape { games: 0, points: 2 }).is_err());
        assert!(Tally::new(Shape { games: u32::MAX, points: 2 }).is_err());
        assert!(Tally::from_counts(Shape::PAIR, &[1, 2, 3]).is_err());
    }

    #[test]
    fn moments_of_a_fair_coin() {
        let moments = Tally::from_counts(Shape::SINGLE, &[50, 0, 50]).unwrap().moments();
        assert_eq!((moments.mean, moments.variance), (0.5, 0.25));
        assert_eq!((moments.skewness, moments.kurtosis), (0.0, 1.0));
    }
}
