//! Bots whose meetings form a tree: two alone, or one against several that do not meet each other.
//!
//! There each difference rests on the blocks of one pair, so it is known exactly as a test or a gauntlet of the two knows it: by
//! [`Scores`], with their hull. Ratings are sums of such differences, and their ends those of the sums (MOVER, Zou and Donner 2008): the
//! distances to the ends of the parts are added as squares. So a better result gives no lower bound here either.

use crate::bounds::Scores;
use crate::elo::superiority;
use crate::pairs::Meeting;
use crate::{elo_of_score, student_deviations};

pub(crate) struct Tree {
    bots: usize,
    edges: Vec<Edge>,
}

/// The blocks of two bots, seen by the first.
struct Edge {
    first: usize,
    second: usize,
    scores: Scores,
    /// For each bot, whether it is on the side of the first when the two are cut apart.
    side: Vec<bool>,
}

impl Tree {
    /// The tree of so many bots that all met, directly or by others; none if their meetings are no tree. `blocks` are the pieces of evidence.
    pub fn new(bots: usize, pairs: &[Meeting], blocks: &[Vec<Meeting>]) -> Option<Self> {
        if pairs.len() + 1 != bots {
            return None;
        }
        let edges = pairs.iter().enumerate().map(|(own, pair)| {
            let met = blocks.iter().flatten();
            let met = met.filter(|met| (met.first, met.second) == (pair.first, pair.second));
            let pieces = met.clone().count() as f64;
            // Each has the weight of its games, and all together that of as many blocks as they are evidence.
            let weight = pieces / pair.meetings as f64;
            let score = |met: &Meeting| (met.wins() / met.meetings as f64, met.meetings as f64 * weight);
            let mut scores: Vec<(f64, f64)> = met.map(score).collect();
            scores.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut side = vec![false; bots];
            side[pair.first as usize] = true;
            for _ in 0..bots {
                for (_, other) in pairs.iter().enumerate().filter(|(other, _)| *other != own) {
                    let both = [other.first, other.second].map(|bot| bot as usize);
                    if both.iter().any(|&bot| side[bot]) {
                        both.iter().for_each(|&bot| side[bot] = true);
                    }
                }
            }
            Edge { first: pair.first as usize, second: pair.second as usize, scores: Scores(scores), side }
        });
        Some(Self { bots, edges: edges.collect() })
    }

    /// The probability that the first of two bots that met is stronger.
    pub fn superiority(&self, one: usize, other: usize) -> Option<f64> {
        let met = |edge: &&Edge| [(one, other), (other, one)].contains(&(edge.first, edge.second));
        let edge = self.edges.iter().find(met)?;
        let scores = if edge.first == one { edge.scores.clone() } else { edge.scores.mirrored() };
        let mean = scores.mean();
        Some(superiority(&scores, mean))
    }

    /// How far below and above its rating the interval of a bot ends, in Elo; an end that is none is open. Ratings are relative to `fixed`,
    /// or to the mean of all.
    pub fn ends(&self, bot: usize, fixed: Option<usize>, confidence: f64) -> [Option<f64>; 2] {
        let mut squares = [Some(0.0f64); 2];
        for edge in &self.edges {
            let own = edge.side[bot];
            let others = edge.side.iter().filter(|side| **side != own).count() as f64;
            let part = match fixed {
                Some(fixed) => f64::from(u8::from(edge.side[fixed] != own)),
                None => others / self.bots as f64,
            };
            if part == 0.0 {
                continue;
            }
            let scores = if own { edge.scores.clone() } else { edge.scores.mirrored() };
            let deviations = student_deviations(confidence, (scores.count() - 1.0).max(1.0));
            let mean = elo_of_score(scores.mean());
            let distance = |end: f64| Some(part * (mean? - elo_of_score(end)?));
            let ends = [scores.low(deviations), 1.0 - scores.mirrored().low(deviations)].map(distance);
            for (sum, end) in squares.iter_mut().zip(ends) {
                *sum = sum.zip(end).map(|(sum, end)| sum + end * end);
            }
        }
        squares.map(|sum| sum.map(f64::sqrt))
    }
}
