//! The rating table of many bots, from all their matches at once.
//!
//! Bradley-Terry by maximum likelihood (see `scale.rs` and `docs/statistics.md`): a draw is half a win, and in a match with
//! more than two seats every pair meets. It has no memory: the table is a function of the results alone, whatever their
//! order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::bounds::Scores;
use crate::cycles::{Cycle, cycles};
use crate::elo::superiority;
use crate::pairs::{BLOCK, Meeting, Pairs, meetings};
use crate::scale::{Scale, ScalePlace};
use crate::spread::{Row, Spread};
use crate::tree::Tree;
use crate::{ELO, Results, TableKey, fit, student_below, student_deviations};

/// The version of the method by which ratings are made from results. Version 1 let a start that never varied count once and
/// one that varied count every time, so that a map had the more weight the more a bot played at random there; its tables
/// floated with the mean of all. It is not kept: a table of version 1 is verified by the program that made it.
pub const METHOD: u32 = 2;

/// How ratings are computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Options {
    /// The confidence of the intervals.
    pub confidence: f64,
    /// Bots with a given rating, so that a table keeps its level from week to week. Without any, the mean is 0.
    pub anchors: Vec<(String, f64)>,
}

impl Default for Options {
    fn default() -> Self {
        Self { confidence: 0.95, anchors: Vec::new() }
    }
}

/// Why there are no ratings.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RatingError {
    /// No matches.
    #[error("there are no matches to rate")]
    Empty,
    /// Invalid options.
    #[error("the confidence must be between 0 and 1")]
    Options,
    /// A rating that no bot can have.
    #[error("the anchor {0} must be a number from -10000 to 10000")]
    Anchor(String),
    /// Two ratings for one bot.
    #[error("the anchor {0} is given twice")]
    AnchorTwice(String),
    /// An anchor that is not in the table.
    #[error("the anchor {anchor} is not in the table; its bots are {}", .bots.join(", "))]
    NoSuchAnchor {
        anchor: String,
        /// The bots in the table.
        bots: Vec<String>,
    },
}

/// An interval in Elo; an end that is none is open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Interval {
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A bot in the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Rated {
    /// Its name.
    pub bot: String,
    /// The number of its group, from 1. Ratings of different groups cannot be compared: no chain of games connects them.
    pub group: u32,
    /// Its rating, to a tenth; none if no finite one fits best, as for a bot that won everything.
    pub elo: Option<f64>,
    /// Its interval, to a tenth. For a bot without a finite rating one or both ends are open. In very long tables only the
    /// first 1,000 bots have one, fewer if there are more than 2,000 bots.
    pub interval: Option<Interval>,
    /// Whether its rating was given.
    pub anchor: bool,
    /// The number of matches it sat in.
    pub matches: u64,
    /// The probability that it is stronger than the next in its group, 0 to 1.
    pub above_next: Option<f64>,
}

/// Ratings of all bots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct RatingTable {
    /// The game and rules.
    pub key: TableKey,
    /// The bots: the largest group first, within it the best first; equal ratings by name.
    pub bots: Vec<Rated>,
    /// The number of groups.
    pub groups: u32,
    /// `superiority[i][j]`: the probability that bot `i` is stronger than bot `j`; one half for `i = j`, none if they
    /// cannot be compared. Empty for more than 300 bots.
    pub superiority: Vec<Vec<Option<f64>>>,
    /// `deviations[i][j]`: the standard deviation of the difference of bots `i` and `j` in Elo; none if one of them has no
    /// finite rating, or they cannot be compared. Empty like `superiority`, and not serialised.
    #[serde(skip)]
    pub deviations: Vec<Vec<Option<f64>>>,
    /// For each bot a finite number on the scale of the ratings, also for those without a rating: for these the one at which
    /// their run of wins, or losses, had an even chance. Not serialised.
    #[serde(skip)]
    pub placed: Vec<f64>,
    /// `expected[i][j]`: the expected score of bot `i` in a match against `j` alone. Empty like `superiority`.
    pub expected: Vec<Vec<Option<f64>>>,
    /// Bots that beat each other in a circle beyond noise, the clearest first. Not searched for in tables of more than
    /// 300 bots.
    pub cycles: Vec<Cycle>,
    /// All blocks.
    pub blocks: u64,
    /// The matches in these blocks.
    pub matches: u64,
    /// Blocks that only repeat their start: they count, but are not new evidence.
    pub repeats: u64,
    /// How the ratings were computed.
    pub options: Options,
}

/// In a larger table only this many bots, from the top, have intervals: each takes its own solution.
pub const MOST_INTERVALS: usize = 1000;
/// In a larger table each solution takes longer, so fewer bots get one, to keep the total time the same.
pub const MOST_WHOLE: usize = 2000;

/// How many bots have intervals in a table of this size.
fn most_intervals(bots: usize) -> usize {
    (MOST_INTERVALS * MOST_WHOLE / bots.max(MOST_WHOLE)).max(MOST_SQUARED)
}

/// Tables with more bots have no values for every pair.
pub const MOST_SQUARED: usize = 300;

/// Rates all bots of `results`.
///
/// # Errors
/// Without matches, for a confidence outside 0 to 1, and for anchors that are invalid or not in the table.
pub fn rate(results: &Results, options: &Options) -> Result<RatingTable, RatingError> {
    if !(options.confidence > 0.0 && options.confidence < 1.0) {
        return Err(RatingError::Options);
    }
    let names = results.bots();
    if names.is_empty() {
        return Err(RatingError::Empty);
    }
    let anchors = anchors(&names, options)?;
    let number = |name: &str| names.binary_search(&name).expect("it is listed");
    // One list for each piece of evidence: a start that only repeats is one, with the weight of all its blocks.
    let blocks: Vec<Vec<Meeting>> = results
        .evidence()
        .map(|(block, times)| {
            let bots = |bots: &[String]| bots.iter().map(|bot| number(bot) as u32).collect();
            let matches: Vec<(Vec<u32>, &[u8])> =
                block.matches.iter().map(|game| (bots(&game.bots), &game.ranks[..])).collect();
            meetings(&matches).into_iter().map(|meeting| meeting.times(times)).collect()
        })
        .collect();
    let pairs = Pairs::new(names.len(), blocks.iter().flatten().copied());
    let scale = Scale::fit(&pairs, &anchors, None);

    let groups = order_of_groups(&scale.group);
    let mut order: Vec<usize> = (0..names.len()).collect();
    // The names are already in order and the sort is stable. Whoever took every point stands above all that have a rating,
    // and whoever never scored below, however few blocks that took. Among equals, a bot that took every point from the others
    // comes first: components are numbered from the weakest.
    order.sort_by(|&a, &b| {
        let group = |bot: usize| (groups[scale.group[bot] as usize], scale.place[bot].order());
        let elo = |bot: usize| tenth(scale.elo[bot]);
        let component = |bot: usize| scale.component[bot];
        group(a).cmp(&group(b)).then(elo(b).total_cmp(&elo(a))).then(component(b).cmp(&component(a)))
    });
    let mut matches = vec![0u64; names.len()];
    for game in results.matches() {
        let mut bots: Vec<usize> = game.bots.iter().map(|bot| number(bot)).collect();
        bots.sort_unstable();
        bots.dedup();
        bots.into_iter().for_each(|bot| matches[bot] += 1);
    }

    let known = Known::new(&pairs, &blocks, &anchors, &scale, &order);
    let compare = |i: usize, j: usize| known.superiority(i, j).or_else(|| row_of_wins(&pairs, &scale, i, j));
    const OPEN: Interval = Interval { low: None, high: None };
    let is_alone =
        |bot: usize| scale.component.iter().filter(|own| **own == scale.component[bot]).nth(1).is_none();
    let rated = |(place, &bot): (usize, &usize)| {
        let next = order.get(place + 1).filter(|&&next| scale.group[next] == scale.group[bot]);
        let anchor = anchors.iter().any(|&(own, _)| own as usize == bot);
        let finite = scale.place[bot] == ScalePlace::Known;
        let interval = match scale.place[bot] {
            // One that only stands between others has a place, and no distance to them.
            ScalePlace::Known => known
                .interval(bot, scale.elo[bot], options.confidence)
                .or_else(|| (is_alone(bot) && place < MOST_SQUARED).then_some(OPEN)),
            ScalePlace::Above => Some(Interval { low: Some(tenth(scale.bound[bot])), high: None }),
            ScalePlace::Below => Some(Interval { low: None, high: Some(tenth(scale.bound[bot])) }),
            ScalePlace::Unknown => Some(OPEN),
        };
        Rated {
            bot: names[bot].to_owned(),
            group: groups[scale.group[bot] as usize] + 1,
            elo: finite.then(|| tenth(scale.elo[bot])),
            interval,
            anchor,
            matches: matches[bot],
            above_next: next.and_then(|&next| compare(bot, next)).map(ten_thousandth),
        }
    };
    let square = |of: &dyn Fn(usize, usize) -> Option<f64>, own: f64| -> Vec<Vec<Option<f64>>> {
        let row = |i: usize| {
            order.iter().map(|&j| if i == j { Some(own) } else { of(i, j).map(ten_thousandth) }).collect()
        };
        let few = order.len() <= MOST_SQUARED;
        order.iter().filter(|_| few).map(|&i| row(i)).collect()
    };
    let expected = |i: usize, j: usize| {
        if scale.component[i] == scale.component[j] {
            return Some(fit::logistic((scale.elo[i] - scale.elo[j]) / ELO));
        }
        meeting(&pairs, i, j).map(|points| if points > 0 { 1.0 } else { 0.0 })
    };
    Ok(RatingTable {
        key: results.key().clone(),
        bots: order.iter().enumerate().map(rated).collect(),
        groups: groups.len() as u32,
        superiority: square(&compare, 0.5),
        deviations: square(&|i, j| known.deviation(i, j).map(|deviation| ELO * deviation), 0.0),
        placed: order.iter().map(|&bot| scale.elo[bot]).collect(),
        expected: square(&expected, 0.5),
        cycles: if names.len() <= MOST_SQUARED { cycles(&names, &blocks) } else { Vec::new() },
        blocks: blocks.len() as u64 + results.repeats(),
        matches: results.matches().count() as u64,
        repeats: results.repeats(),
        options: options.clone(),
    })
}

/// The anchors by bot number, sorted.
fn anchors(names: &[&str], options: &Options) -> Result<Vec<(u32, f64)>, RatingError> {
    let mut anchors: Vec<(u32, f64)> = Vec::new();
    for (anchor, elo) in &options.anchors {
        let Ok(number) = names.binary_search(&anchor.as_str()) else {
            let bots = names.iter().map(|name| (*name).to_owned()).collect();
            return Err(RatingError::NoSuchAnchor { anchor: anchor.clone(), bots });
        };
        if elo.is_nan() || elo.abs() > 10_000.0 {
            return Err(RatingError::Anchor(anchor.clone()));
        }
        if anchors.iter().any(|(own, _)| *own as usize == number) {
            return Err(RatingError::AnchorTwice(anchor.clone()));
        }
        anchors.push((number as u32, *elo));
    }
    anchors.sort_unstable_by_key(|(bot, _)| *bot);
    Ok(anchors)
}

/// The place of each group, the largest first.
fn order_of_groups(group: &[u32]) -> Vec<u32> {
    let count = group.iter().max().map_or(0, |last| *last as usize + 1);
    let size = |own: usize| group.iter().filter(|group| **group as usize == own).count();
    let sizes: Vec<usize> = (0..count).map(size).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&own| std::cmp::Reverse(sizes[own]));
    let mut places = vec![0; count];
    order.iter().zip(0..).for_each(|(&own, place)| places[own] = place);
    places
}

/// What the first of two bots scored against the other, in half wins; none if they never met.
fn meeting(pairs: &Pairs, i: usize, j: usize) -> Option<u64> {
    let pair = find(pairs, i, j)?;
    Some(if i < j { pair.points } else { 2 * pair.meetings - pair.points })
}

fn find(pairs: &Pairs, i: usize, j: usize) -> Option<&Meeting> {
    let both = (i.min(j) as u32, i.max(j) as u32);
    let found = pairs.list().binary_search_by_key(&both, |pair| (pair.first, pair.second)).ok()?;
    Some(&pairs.list()[found])
}

/// The certainty, as in a test of the two, if one bot took every point from the other in every block.
fn row_of_wins(pairs: &Pairs, scale: &Scale, i: usize, j: usize) -> Option<f64> {
    if scale.component[i] == scale.component[j] {
        return None;
    }
    let blocks = find(pairs, i, j)?.blocks as f64 / BLOCK as f64;
    let sure = superiority(&Scores(vec![(1.0, blocks)]), 1.0);
    Some(if meeting(pairs, i, j)? > 0 { sure } else { 1.0 - sure })
}

/// What is known about the bots with a finite rating, group by group.
struct Known {
    /// The strength of each bot, in natural logarithms.
    strengths: Vec<f64>,
    group: Vec<u32>,
    anchored: Vec<bool>,
    rows: Vec<Option<Row>>,
    blocks: Vec<u64>,
    /// Groups whose meetings form a tree, with the number of each bot in it and the bot that is fixed.
    trees: BTreeMap<u32, (Tree, Vec<u32>, Option<usize>)>,
}

impl Known {
    fn new(
        pairs: &Pairs,
        blocks: &[Vec<Meeting>],
        anchors: &[(u32, f64)],
        scale: &Scale,
        order: &[usize],
    ) -> Self {
        let bots = scale.elo.len();
        let strengths: Vec<f64> = scale.elo.iter().map(|elo| elo / ELO).collect();
        let mut anchored = vec![false; bots];
        anchors.iter().for_each(|&(bot, _)| anchored[bot as usize] = true);
        let mut known = Self {
            strengths,
            group: scale.group.clone(),
            anchored,
            rows: Vec::new(),
            blocks: vec![0; bots],
            trees: BTreeMap::new(),
        };
        known.rows.resize_with(bots, || None);
        let groups = scale.group.iter().max().map_or(0, |last| last + 1);
        for group in 0..groups {
            let members: Vec<usize> = (0..bots)
                .filter(|&bot| scale.group[bot] == group && scale.place[bot] == ScalePlace::Known)
                .collect();
            if members.len() < 2 {
                continue;
            }
            let mut number = vec![u32::MAX; bots];
            members.iter().zip(0..).for_each(|(&bot, own)| number[bot] = own);
            let inside = |list: &[Meeting]| -> Vec<Meeting> {
                let both = |pair: &Meeting| [pair.first, pair.second].map(|bot| number[bot as usize]);
                let list = list.iter().filter(|pair| !both(pair).contains(&u32::MAX));
                list.map(|pair| Meeting { first: both(pair)[0], second: both(pair)[1], ..*pair }).collect()
            };
            let own_pairs = inside(pairs.list());
            let own = |all: &[f64]| members.iter().map(|&bot| all[bot]).collect::<Vec<_>>();
            let fixed: Vec<Option<f64>> =
                members.iter().map(|&bot| known.anchored[bot].then(|| known.strengths[bot])).collect();
            let own_blocks = blocks.iter().map(|block| inside(block)).filter(|block| !block.is_empty());
            let own_blocks: Vec<Vec<Meeting>> = own_blocks.collect();
            let anchors = fixed.iter().flatten().count();
            if let Some(tree) = Tree::new(members.len(), &own_pairs, &own_blocks).filter(|_| anchors < 2) {
                let fixed = fixed.iter().position(Option::is_some);
                known.trees.insert(group, (tree, number.clone(), fixed));
            }
            let spread = Spread::new(&own_pairs, own_blocks.into_iter(), &fixed, &own(&known.strengths));
            let shown =
                order.iter().copied().filter(|&bot| number[bot] != u32::MAX).take(most_intervals(bots));
            let shown: Vec<usize> = shown.collect();
            let rows = spread.rows(&shown.iter().map(|&bot| number[bot] as usize).collect::<Vec<_>>());
            for (&bot, row) in shown.iter().zip(rows) {
                known.rows[bot] = Some(row);
                known.blocks[bot] = spread.blocks[number[bot] as usize];
            }
        }
        known
    }

    fn interval(&self, bot: usize, elo: f64, confidence: f64) -> Option<Interval> {
        let ends = |half: f64| Interval { low: Some(tenth(elo - half)), high: Some(tenth(elo + half)) };
        if self.anchored[bot] {
            return Some(ends(0.0));
        }
        if let Some((tree, number, fixed)) = self.trees.get(&self.group[bot]) {
            let [below, above] = tree.ends(number[bot] as usize, *fixed, confidence);
            let [low, high] = [below.map(|below| elo - below), above.map(|above| elo + above)];
            return Some(Interval { low: low.map(tenth), high: high.map(tenth) });
        }
        let freedom = self.blocks[bot].saturating_sub(1).max(1) as f64;
        let half = self.rows[bot].as_ref()?.variance().sqrt() * student_deviations(confidence, freedom);
        Some(ends(ELO * half))
    }

    /// The standard deviation of the difference of two known bots, in natural logarithms of strength.
    fn deviation(&self, i: usize, j: usize) -> Option<f64> {
        if self.group[i] != self.group[j] {
            return None;
        }
        Some(self.rows[i].as_ref()?.variance_to(self.rows[j].as_ref()?).sqrt())
    }

    /// The probability that the first of two known bots is stronger.
    fn superiority(&self, i: usize, j: usize) -> Option<f64> {
        let deviation = self.deviation(i, j)?;
        if let Some((tree, number, _)) = self.trees.get(&self.group[i])
            && let Some(share) = tree.superiority(number[i] as usize, number[j] as usize)
        {
            return Some(share);
        }
        let lead = self.strengths[i] - self.strengths[j];
        // As for two bots alone: Student's distribution, and no more than equal bots would do by luck in so few blocks.
        let blocks = self.blocks[i].min(self.blocks[j]);
        let freedom = blocks.saturating_sub(1).max(1) as f64;
        let luck = libm::exp2(-(blocks.max(1) as f64));
        Some(match lead {
            0.0 => 0.5,
            _ => student_below(lead / deviation.max(1e-12), freedom).clamp(luck, 1.0 - luck),
        })
    }
}

/// Rounds to a tenth, without a negative zero.
fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0 + 0.0
}

fn ten_thousandth(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
