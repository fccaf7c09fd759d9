//! How certain the head of a table is: that its best `k` are the best, and that they are in the right order.
//!
//! "Better than the next" concerns two bots; a statement about a head of several depends on all of them at once. As in
//! [`ratings`](crate::ratings), strengths are taken as normal around the ratings, with the covariance from the matches, so
//! that bots whose ratings move together are not treated as independent. For more than two bots the probability has no closed
//! form: it is counted in draws from that distribution, the same draws every time.

use agon_game::Seeded;
use serde::{Deserialize, Serialize};

/// The number of draws: the standard error of a probability is 0.7 % at most.
const DRAWS: u32 = 5_000;
/// A bot this many standard deviations below every bot of the head is not drawn: less than one in a million.
const OUT_OF_REACH: f64 = 5.0;
/// Upper limit on the bots drawn: those in reach that are nearest to the head.
const MOST: usize = 64;

/// How certain the head of a table is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct TableHead {
    /// The number of bots in it.
    pub bots: usize,
    /// The probability that each of them is stronger than every bot below, 0 to 1.
    pub these: f64,
    /// The probability that each of them is also stronger than the next, 0 to 1; never more than `these`.
    pub order: f64,
}

/// How certain the first `bots` of a table are. `ratings` are in Elo, the best first; `deviation` is the standard deviation
/// of the difference of two of them, in Elo. None if there is no head, or nobody below it.
pub fn head(ratings: &[f64], deviation: impl Fn(usize, usize) -> f64, bots: usize) -> Option<TableHead> {
    if bots == 0 || bots >= ratings.len() {
        return None;
    }
    let reach = |other: &usize| {
        let near = |own: usize| ratings[own] - ratings[*other] < OUT_OF_REACH * deviation(own, *other);
        (0..bots).any(near)
    };
    let drawn: Vec<usize> = (0..bots).chain((bots..ratings.len()).filter(reach).take(MOST)).collect();
    // Only differences matter, so all are measured against the leader, whose own strength is 0.
    let leader = drawn[0];
    let square = |i: usize, j: usize| if i == j { 0.0 } else { deviation(i, j).powi(2) };
    let covariance: Vec<Vec<f64>> = drawn[1..]
        .iter()
        .map(|&i| {
            let with = |&j: &usize| (square(i, leader) + square(j, leader) - square(i, j)) / 2.0;
            drawn[1..].iter().map(with).collect()
        })
        .collect();
    let root = root(&covariance);
    let mut normal = Normals { bits: Seeded::stream(0, "head"), kept: None };
    let (mut these, mut order) = (0u32, 0u32);
    let mut strengths = vec![0.0; drawn.len()];
    let mut luck = vec![0.0; root.len()];
    for _ in 0..DRAWS {
        luck.iter_mut().for_each(|luck| *luck = normal.next());
        for (row, root) in root.iter().enumerate() {
            let moved: f64 = root.iter().zip(&luck).map(|(part, luck)| part * luck).sum();
            strengths[row + 1] = ratings[drawn[row + 1]] - ratings[leader] + moved;
        }
        let (own, below) = strengths.split_at(bots);
        let best_below = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if own.iter().all(|own| *own > best_below) {
            these += 1;
            order += u32::from(own.is_sorted_by(|better, worse| better > worse));
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(DRAWS);
    Some(TableHead { bots, these: share(these), order: share(order) })
}

/// The lower triangle whose product with its transpose is the matrix (Cholesky). What rounding makes negative counts as 0.
fn root(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut root: Vec<Vec<f64>> = Vec::with_capacity(matrix.len());
    for (i, line) in matrix.iter().enumerate() {
        let mut row: Vec<f64> = Vec::with_capacity(i + 1);
        for j in 0..=i {
            let known: f64 = if j < i { row.iter().zip(&root[j]).map(|(a, b)| a * b).sum() } else { 0.0 };
            row.push(match j < i {
                true if root[j][j] > 0.0 => (line[j] - known) / root[j][j],
                true => 0.0,
                false => (line[i] - row.iter().map(|part| part * part).sum::<f64>()).max(0.0).sqrt(),
            });
        }
        root.push(row);
    }
    root
}

/// Standard normal numbers, made two at a time (Box and Muller), the same on every machine.
struct Normals {
    bits: Seeded,
    kept: Option<f64>,
}

impl Normals {
    fn next(&mut self) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        // In (0, 1], so that the logarithm exists.
        let mut uniform = || ((self.bits.bits() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        let (length, turn) = ((-2.0 * libm::log(uniform())).sqrt(), std::f64::consts::TAU * uniform());
        self.kept = Some(length * libm::sin(turn));
        length * libm::cos(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MatchBlock, Options, RankedMatch, Results, RulesHash, TableKey, normal_below, rate};

    #[test]
    fn two_bots_are_as_sure_as_their_difference() {
        for (lead, deviation) in [(0.0, 30.0), (30.0, 30.0), (50.0, 30.0), (100.0, 10.0)] {
            let found = head(&[lead, 0.0], |_, _| deviation, 1).expect("somebody is below");
            let exact = normal_below(lead / deviation);
            assert!((found.these - exact).abs() < 0.02, "{lead}: {found:?}, exactly {exact}");
            assert_eq!(found.these, found.order, "a head of one has no order");
        }
        assert_eq!(head(&[1.0, 0.0], |_, _| 1.0, 2), None, "nobody is below");
        assert_eq!(head(&[1.0, 0.0], |_, _| 1.0, 0), None);
    }

    #[test]
    fn equal_bots_are_a_matter_of_chance() {
        // Four with the same rating and independent spread: each one is the best with probability one in four, each pair is
        // the best two with one in six, and in this order with one in twelve.
        let equal = |bots| head(&[0.0; 4], |_, _| 40.0, bots).expect("somebody is below");
        assert!((equal(1).these - 1.0 / 4.0).abs() < 0.02, "{:?}", equal(1));
        assert!((equal(2).these - 1.0 / 6.0).abs() < 0.02, "{:?}", equal(2));
        assert!((equal(2).order - 1.0 / 12.0).abs() < 0.02, "{:?}", equal(2));
    }

    #[test]
    fn ratings_that_move_together_are_not_counted_as_if_they_moved_alone() {
        // The second and third are well known relative to each other, and badly relative to the first.
        let deviation = |i: usize, j: usize| if i.min(j) == 0 { 100.0 } else { 1.0 };
        let found = head(&[10.0, 0.0, -20.0], deviation, 1).expect("somebody is below");
        // As if there were one bot below: if both moved independently it would be about 0.36.
        assert!((found.these - normal_below(0.1)).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn nobody_out_of_reach_changes_anything() {
        let near = head(&[20.0, 0.0], |_, _| 30.0, 1);
        let mut ratings = vec![20.0, 0.0];
        ratings.extend((0..500).map(|place| -1000.0 - f64::from(place)));
        assert_eq!(head(&ratings, |_, _| 30.0, 1), near);
    }

    /// A stated probability `p` must be right in `p` of all cases: tables are played by bots of known true strength, and the
    /// truth is counted against what the tables say about their heads.
    #[test]
    fn what_is_said_of_heads_is_as_often_right_as_it_says() {
        // With few blocks the spread itself is poorly known, and an order of several claims a little too much.
        for (blocks, most_off) in [(12, 0.1), (40, 0.05)] {
            let (said, right) = said_and_right(blocks);
            for (said, right) in said.into_iter().zip(right) {
                assert!((said - right).abs() < most_off, "{blocks} blocks: said {said}, right {right}");
            }
        }
    }

    /// What tables with this many blocks a pair say about their heads, and how often it is true.
    fn said_and_right(blocks: usize) -> ([f64; 2], [f64; 2]) {
        const BOTS: usize = 7;
        const TABLES: i64 = 300;
        const BEST: usize = 3;
        let key = TableKey { game: "any".into(), rules: RulesHash(1) };
        let (mut said, mut right, mut tables) = ([0.0; 2], [0.0; 2], 0.0);
        for seed in 0..TABLES {
            let mut normal = Normals { bits: Seeded::stream(seed, "strengths"), kept: None };
            let strengths: Vec<f64> = (0..BOTS).map(|_| 150.0 * normal.next()).collect();
            let mut chance = Seeded::stream(seed, "play");
            let mut random = move || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
            let mut results = Results::new(key.clone());
            let mut start = 0;
            for one in 0..BOTS {
                for other in one + 1..BOTS {
                    for _ in 0..blocks {
                        start += 1;
                        let wins = crate::score_of_elo(strengths[one] - strengths[other]);
                        let game = |bots: [usize; 2], first: bool| RankedMatch {
                            bots: bots.map(|bot| bot.to_string()).into(),
                            ranks: if first { vec![1, 2] } else { vec![2, 1] },
                        };
                        let matches =
                            vec![game([one, other], random() < wins), game([other, one], random() >= wins)];
                        let block = MatchBlock { start, fingerprint: start, matches };
                        results.push(&key, block).expect("of this game");
                    }
                }
            }
            let table = rate(&results, &Options::default()).expect("there are matches");
            let ratings: Option<Vec<f64>> = table.bots.iter().map(|bot| bot.elo).collect();
            // A bot that lost everything has no rating to draw from.
            let Some(ratings) = ratings else { continue };
            tables += 1.0;
            let deviation = |i: usize, j: usize| table.deviations[i][j].expect("they met");
            let found = head(&ratings, deviation, BEST).expect("somebody is below");
            let true_strengths: Vec<f64> =
                table.bots.iter().map(|bot| strengths[bot.bot.parse::<usize>().expect("a number")]).collect();
            let (own, below) = true_strengths.split_at(BEST);
            let these = own.iter().all(|own| below.iter().all(|other| own > other));
            let order = these && own.is_sorted_by(|better, worse| better > worse);
            for (at, (share, is_so)) in [(found.these, these), (found.order, order)].into_iter().enumerate() {
                said[at] += share;
                right[at] += f64::from(u8::from(is_so));
            }
        }
        (said.map(|said| said / tables), right.map(|right| right / tables))
    }
}
