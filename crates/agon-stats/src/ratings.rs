//! Ratings of many bots from all their matches at once.
//!
//! Plackett-Luce with ties (see `likelihood.rs` and `docs/statistics.md`) by maximum likelihood. There is no
//! history in it: the table is a function of the results alone, whatever their order.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::bootstrap::{quantile, resample};
use crate::likelihood::Choices;
use crate::{Results, TableKey, deviations, normal_below};

/// How ratings are made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The standard deviation, in Elo, of the normal prior around 0 on every rating (and, in the same
    /// units, on the logarithm of every tie parameter); without one it is plain maximum likelihood. At
    /// 1000 it weighs as much as an eighth of a match and keeps a bot that won everything finite.
    pub prior_sd: Option<f64>,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// How many samples the bootstrap takes; 0 for none.
    pub bootstrap_samples: u32,
    /// The seed of the bootstrap.
    pub bootstrap_seed: i64,
}

impl Default for Options {
    fn default() -> Self {
        Self { prior_sd: Some(1000.0), confidence: 0.95, bootstrap_samples: 0, bootstrap_seed: 0 }
    }
}

/// Why there are no ratings.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RatingError {
    /// No matches.
    #[error("there are no matches to rate")]
    Empty,
    /// Options that are none.
    #[error("the prior's standard deviation must be above 0 and the confidence between 0 and 1")]
    Options,
    /// Without a prior, a group of bots that never lost to the others would be infinitely stronger.
    #[error("without a prior there are no finite ratings: {} never lost a point to the others", .0.join(", "))]
    Unbeaten(Vec<String>),
    /// No finite ratings for another reason: all matches were ties.
    #[error("the likelihood has no peak: there are only ties, or far too extreme results; use a prior")]
    NoPeak,
}

/// An interval in Elo.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A bot in the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rated {
    /// Its name.
    pub bot: String,
    /// Its rating; the mean of the table is 0.
    pub elo: f64,
    /// Its interval by the curvature of the likelihood, which takes matches to be independent.
    pub interval: Interval,
    /// Its interval by the block bootstrap, if one was made.
    pub bootstrap: Option<Interval>,
    /// In how many matches it sat.
    pub matches: u64,
}

/// What the bootstrap did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// Samples that have finite ratings, out of those asked for.
    pub samples: u32,
    /// Samples asked for.
    pub asked: u32,
    /// The seed.
    pub seed: i64,
    /// `superiority[i][j]`: the share of samples in which bot `i` is rated above bot `j`.
    pub superiority: Vec<Vec<f64>>,
}

/// Ratings of all bots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatingTable {
    /// The game and rules.
    pub key: TableKey,
    /// The bots, best first; equal ratings by name.
    pub bots: Vec<Rated>,
    /// The size of each kind of tie that happened, and its parameter `δ`. With two seats, two bots of equal
    /// strength tie with the chance `δ / (2 + δ)`.
    pub ties: Vec<(usize, f64)>,
    /// `superiority[i][j]`: how sure it is that bot `i` is stronger than bot `j`; one half for `i = j`.
    pub superiority: Vec<Vec<f64>>,
    /// `expected[i][j]`: the expected score of bot `i` in a match of these two alone.
    pub expected: Vec<Vec<f64>>,
    /// Groups of bots with no match between them, where there is more than one; ratings across groups
    /// mean nothing.
    pub unconnected: Vec<Vec<String>>,
    /// Blocks that count.
    pub blocks: u64,
    /// Matches in them.
    pub matches: u64,
    /// Blocks that only repeat their start and do not count.
    pub repeats: u64,
    /// How the ratings were made.
    pub options: Options,
    /// The bootstrap, if one was made.
    pub bootstrap: Option<Bootstrap>,
}

/// Elo per natural logarithm of strength.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// Rates all bots of `results`.
///
/// # Errors
/// Without matches, and where ratings without a prior are not finite.
pub fn rate(results: &Results, options: Options) -> Result<RatingTable, RatingError> {
    let sd = options.prior_sd.map(|sd| sd / ELO);
    let positive = |number: f64| number > 0.0 && number.is_finite();
    if !sd.is_none_or(positive) || !positive(options.confidence) || options.confidence >= 1.0 {
        return Err(RatingError::Options);
    }
    let names = results.bots();
    let n = names.len();
    if n == 0 {
        return Err(RatingError::Empty);
    }
    let number = |name: &str| names.binary_search(&name).expect("it is listed");
    let choices = Choices::new(n, number, results.blocks().map(|block| block.matches.as_slice()));
    if sd.is_none() {
        all_beaten(&choices, &names)?;
    }
    let peak = choices.gather(|_| 1).peak(sd, None).ok_or(RatingError::NoPeak)?;

    // Best first. The names are in order already and the sort is stable.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| peak.strengths[b].total_cmp(&peak.strengths[a]));
    let square = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        order.iter().map(|&i| order.iter().map(|&j| of(i, j)).collect()).collect()
    };

    let lineups: Vec<Vec<usize>> = results
        .blocks()
        .map(|block| {
            let bots = block.matches.iter().flat_map(|game| game.bots.iter().map(|bot| number(bot)));
            bots.collect::<BTreeSet<_>>().into_iter().collect()
        })
        .collect();
    let samples = match options.bootstrap_samples {
        0 => Vec::new(),
        asked => resample(&choices, lineups.len(), sd, &peak.strengths, asked, options.bootstrap_seed),
    };
    let by_samples = |bot: usize| {
        let mut values: Vec<f64> = samples.iter().map(|strengths| ELO * strengths[bot]).collect();
        values.sort_by(f64::total_cmp);
        let tail = (1.0 - options.confidence) / 2.0;
        (!values.is_empty())
            .then(|| Interval { low: quantile(&values, tail), high: quantile(&values, 1.0 - tail) })
    };
    let z = deviations(options.confidence);
    let rated = |bot: usize| {
        let elo = ELO * peak.strengths[bot];
        let half = ELO * z * peak.covariance[(bot, bot)].max(0.0).sqrt();
        Rated {
            bot: names[bot].to_owned(),
            elo,
            interval: Interval { low: elo - half, high: elo + half },
            bootstrap: by_samples(bot),
            matches: results.matches().filter(|game| game.bots.iter().any(|b| b == names[bot])).count()
                as u64,
        }
    };
    let share_above = |i: usize, j: usize| {
        let above = samples.iter().map(|strengths| match strengths[i].total_cmp(&strengths[j]) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        });
        above.sum::<f64>() / samples.len() as f64
    };
    let superiority = |i: usize, j: usize| {
        let c = &peak.covariance;
        let sd = (c[(i, i)] + c[(j, j)] - c[(i, j)] - c[(j, i)]).max(0.0).sqrt();
        let lead = peak.strengths[i] - peak.strengths[j];
        if i == j || lead == 0.0 { 0.5 } else { normal_below(lead / sd) }
    };
    let nu = peak.ties.iter().find(|(size, _)| *size == 2).map_or(0.0, |(_, delta)| *delta);
    let expected = |i: usize, j: usize| {
        let half = ((peak.strengths[i] - peak.strengths[j]) / 2.0).exp();
        (half + nu / 2.0) / (half + 1.0 / half + nu)
    };
    let unconnected = groups(n, &lineups);
    let named = |group: &Vec<usize>| group.iter().map(|&bot| names[bot].to_owned()).collect();
    Ok(RatingTable {
        key: results.key().clone(),
        bots: order.iter().map(|&bot| rated(bot)).collect(),
        superiority: square(&superiority),
        expected: square(&expected),
        unconnected: if unconnected.len() > 1 { unconnected.iter().map(named).collect() } else { Vec::new() },
        blocks: lineups.len() as u64,
        matches: results.matches().count() as u64,
        repeats: results.repeats(),
        bootstrap: (!samples.is_empty()).then(|| Bootstrap {
            samples: samples.len() as u32,
            asked: options.bootstrap_samples,
            seed: options.bootstrap_seed,
            superiority: square(&share_above),
        }),
        ties: peak.ties,
        options,
    })
}

/// Ratings without a prior are finite only when from every bot a chain of "ahead of or level with" leads to
/// every other (Zermelo, Ford, Hunter).
fn all_beaten(choices: &Choices, names: &[&str]) -> Result<(), RatingError> {
    let ahead = choices.ahead_or_level();
    let n = names.len();
    for bot in 0..n {
        // Everybody who was ahead of or level with this bot, directly or by a chain.
        let mut above = vec![false; n];
        above[bot] = true;
        let mut open = vec![bot];
        while let Some(next) = open.pop() {
            for other in 0..n {
                if ahead[other][next] && !above[other] {
                    above[other] = true;
                    open.push(other);
                }
            }
        }
        if above.contains(&false) {
            let unbeaten = (0..n).filter(|&other| above[other]).map(|other| names[other].to_owned());
            return Err(RatingError::Unbeaten(unbeaten.collect()));
        }
    }
    Ok(())
}

/// The bots, grouped by whether a chain of matches connects them.
fn groups(n: usize, lineups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..n).collect();
    for lineup in lineups {
        let joined: BTreeSet<usize> = lineup.iter().map(|&bot| group[bot]).collect();
        let Some(&least) = joined.first() else { continue };
        group.iter_mut().filter(|own| joined.contains(own)).for_each(|own| *own = least);
    }
    let firsts: BTreeSet<usize> = group.iter().copied().collect();
    firsts.iter().map(|first| (0..n).filter(|&bot| group[bot] == *first).collect()).collect()
}
