//! How certain ratings are.
//!
//! The games of a block share their luck, so the variance of ratings is estimated from how much whole blocks
//! vary around what the ratings expect, not from the number of games (the sandwich estimator, with a block as
//! its unit). Where blocks never vary, that would give zero. So the blocks of every bot together are taken to
//! vary at least as much as one block that may be won whole or lost whole: such a block may only not have been
//! seen yet.

use std::collections::BTreeMap;

use crate::fit::{System, dot, logistic};
use crate::pairs::Meeting;

/// How many rows are computed at once.
const TOGETHER: usize = 8;

/// The covariance of the gradient of the likelihood, and what turns it into that of strengths.
pub(crate) struct Spread {
    system: System,
    /// `((row, column), value)` of the lower half and the diagonal, sorted.
    varies: Vec<((u32, u32), f64)>,
    /// The number of blocks in which each bot met another.
    pub blocks: Vec<u64>,
    bots: usize,
}

/// A row of the covariance in the making: the strengths that move with a bot, and how these vary.
pub(crate) struct Row {
    moves: Vec<f64>,
    varies: Vec<f64>,
}

impl Row {
    /// The variance of the difference of two bots.
    pub fn variance_to(&self, other: &Self) -> f64 {
        let [own, its, both] = [
            dot(&self.moves, &self.varies),
            dot(&other.moves, &other.varies),
            dot(&self.moves, &other.varies),
        ];
        (own + its - 2.0 * both).max(0.0)
    }

    /// The variance of a bot's strength, about the mean of all or relative to the fixed bots.
    pub fn variance(&self) -> f64 {
        dot(&self.moves, &self.varies).max(0.0)
    }
}

impl Spread {
    /// The spread of `strengths` (natural logarithms) that maximise the likelihood of `pairs`, the sums of
    /// `blocks`. Bots have the same numbers in both.
    pub fn new(
        pairs: &[Meeting],
        blocks: impl Iterator<Item = Vec<Meeting>>,
        fixed: &[Option<f64>],
        strengths: &[f64],
    ) -> Self {
        let bots = strengths.len();
        let (system, _) = System::new(pairs, fixed, strengths);
        let chance =
            |pair: &Meeting| logistic(strengths[pair.first as usize] - strengths[pair.second as usize]);
        let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let mut played = vec![0u64; bots];
        let mut surplus: Vec<(u32, f64)> = Vec::new();
        for block in blocks {
            surplus.clear();
            let mut add = |bot: u32, by: f64| match surplus.iter_mut().find(|(own, _)| *own == bot) {
                Some((_, sum)) => *sum += by,
                None => surplus.push((bot, by)),
            };
            for pair in &block {
                let by = pair.wins() - pair.meetings as f64 * chance(pair);
                add(pair.first, by);
                add(pair.second, -by);
            }
            surplus.sort_unstable_by_key(|(bot, _)| *bot);
            for (place, &(column, one)) in surplus.iter().enumerate() {
                played[column as usize] += 1;
                for &(row, other) in &surplus[place..] {
                    *sums.entry((row, column)).or_insert(0.0) += one * other;
                }
            }
        }
        let (mut meetings, mut whole) = (vec![0.0; bots], vec![0.0; bots]);
        for pair in pairs {
            let (chance, count) = (chance(pair), pair.meetings as f64);
            for bot in [pair.first, pair.second] {
                meetings[bot as usize] += count;
                whole[bot as usize] += count * chance * (1.0 - chance);
            }
        }
        // What is missing, per meeting, from one block won or lost whole.
        let missing: Vec<f64> = (0..bots)
            .map(|bot| {
                let block = meetings[bot] / (played[bot].max(1) as f64);
                let seen = sums.get(&(bot as u32, bot as u32)).copied().unwrap_or(0.0);
                let missing = (block * block * whole[bot] / meetings[bot] - seen).max(0.0) / whole[bot];
                if missing.is_finite() { missing } else { 0.0 }
            })
            .collect();
        for pair in pairs {
            let share = f64::midpoint(missing[pair.first as usize], missing[pair.second as usize]);
            let varies = share * pair.meetings as f64 * chance(pair) * (1.0 - chance(pair));
            *sums.entry((pair.first, pair.first)).or_insert(0.0) += varies;
            *sums.entry((pair.second, pair.second)).or_insert(0.0) += varies;
            *sums.entry((pair.second, pair.first)).or_insert(0.0) -= varies;
        }
        Self { system, varies: sums.into_iter().collect(), blocks: played, bots }
    }

    pub fn rows(&self, bots: &[usize]) -> Vec<Row> {
        bots.chunks(TOGETHER).flat_map(|bots| self.rows_of(bots)).collect()
    }

    /// The rows of at most as many bots as are computed together.
    fn rows_of(&self, bots: &[usize]) -> Vec<Row> {
        let mut ones = vec![[0.0; TOGETHER]; self.bots];
        bots.iter().enumerate().for_each(|(own, &bot)| ones[bot][own] = 1.0);
        // This is less than a thousandth of an Elo for the widest interval.
        let moves = self.system.solve_all(&ones, 1e-6);
        let mut varies = vec![[0.0; TOGETHER]; self.bots];
        let mut add = |to: usize, value: f64, from: usize| {
            varies[to].iter_mut().zip(&moves[from]).for_each(|(varies, moves)| *varies += value * moves);
        };
        for &((row, column), value) in &self.varies {
            let (row, column) = (row as usize, column as usize);
            add(row, value, column);
            if row != column {
                add(column, value, row);
            }
        }
        let of = |all: &[[f64; TOGETHER]], own: usize| all.iter().map(|all| all[own]).collect();
        (0..bots.len()).map(|own| Row { moves: of(&moves, own), varies: of(&varies, own) }).collect()
    }
}
