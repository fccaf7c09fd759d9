//! Who is ahead: each seat's chance of finishing first, from features a player of the game would name.
//!
//! A game gives the features of a position for each seat ([`Game::standing`](crate::Game::standing)) and the weight of
//! each feature ([`GameInfo::advantage`](crate::GameInfo::advantage)). The chances are the softmax over the seats of the
//! weighted sums. `docs/advantage.md` says how the weights were found and how good they are.

use crate::{Outcome, Session};

/// Something that speaks for a seat.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// What a player calls it: `health`, `carried gold`.
    pub name: &'static str,
    /// What one unit of it is worth, in logits: always, more as the match goes on, and at its very end ([`phases`]).
    pub weights: [f64; 3],
}

impl Feature {
    /// A feature with its weights.
    pub const fn new(name: &'static str, weights: [f64; 3]) -> Self {
        Self { name, weights }
    }
}

/// What speaks for each seat in a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeatAdvantages {
    /// How far the match has gone, from 0 to 1.
    pub progress: f64,
    /// The features, in the order of the game's list: those of seat 1, then those of seat 2, and so on.
    pub features: Vec<f64>,
}

/// The factors of a feature's three weights at this progress of a match: 1, the progress, and a term that is small until
/// the last twentieth of a match and 1 at its end.
pub fn phases(progress: f64) -> [f64; 3] {
    let progress = progress.clamp(0.0, 1.0);
    [1.0, progress, 1.0 / (1.0 + 20.0 * (1.0 - progress))]
}

/// Each seat's chance of finishing first; in a finished match, the known result. None in games that do not say.
pub fn advantage(session: &dyn Session) -> Option<Vec<f64>> {
    let features = session.info().advantage;
    if features.is_empty() {
        return None;
    }
    if let Some(outcome) = session.outcome() {
        return Some(firsts(outcome));
    }
    let standing = session.standing();
    let phases = phases(standing.progress);
    let worth =
        |feature: &Feature| -> f64 { feature.weights.iter().zip(phases).map(|(one, by)| one * by).sum() };
    let weights: Vec<f64> = features.iter().map(worth).collect();
    let sum = |own: &[f64]| own.iter().zip(&weights).map(|(one, by)| one * by).sum();
    Some(softmax(standing.features.chunks(features.len()).map(sum).collect()))
}

/// Each seat's share of first place: seats that tie for first share it.
pub fn firsts(outcome: &Outcome) -> Vec<f64> {
    let best = outcome.ranks.iter().filter(|&&rank| rank == 1).count().max(1) as f64;
    outcome.ranks.iter().map(|&rank| if rank == 1 { 1.0 / best } else { 0.0 }).collect()
}

/// Chances from logits.
pub fn softmax(mut logits: Vec<f64>) -> Vec<f64> {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logits.iter_mut().for_each(|logit| *logit = libm::exp(*logit - most));
    let sum: f64 = logits.iter().sum();
    logits.iter_mut().for_each(|chance| *chance /= sum);
    logits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_and_follow_the_logits() {
        let chances = softmax(vec![1000.0, 1000.0 + libm::log(3.0)]);
        assert!((chances[0] - 0.25).abs() < 1e-12 && (chances[1] - 0.75).abs() < 1e-12, "{chances:?}");
        assert_eq!(softmax(vec![0.0; 4]), [0.25; 4]);
    }

    #[test]
    fn the_first_place_is_shared() {
        assert_eq!(firsts(&Outcome::by_score(vec![2.0, 5.0, 5.0], "end")), [0.0, 0.5, 0.5]);
    }

    #[test]
    fn the_last_weight_counts_at_the_end() {
        assert_eq!(phases(1.0), [1.0, 1.0, 1.0]);
        assert!(phases(0.5)[2] < 0.1);
        assert_eq!(phases(7.0), phases(1.0));
    }
}
