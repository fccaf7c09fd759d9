//! Elo from block scores, with its interval.

use serde::{Deserialize, Serialize};

use crate::bounds::Scores;
use crate::{Tally, deviations, student_below, student_deviations};

/// Elo points per standard deviation of a game, in the scale of normalised Elo: `800 / ln 10`.
pub(crate) fn normalized_scale() -> f64 {
    800.0 / std::f64::consts::LN_10
}

/// The expected score of a bot that is `elo` points stronger: 0.5 at 0, 0.64 at 100, 0.76 at 200.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + libm::exp10(-elo / 400.0))
}

/// The difference in strength that a score from 0 to 1 implies; none at 0 and 1, where no finite difference
/// is enough.
pub fn elo_of_score(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| 400.0 * libm::log10(score / (1.0 - score)))
}

/// Half the width of the interval of normalised Elo after `games` single games of two roughly equal bots,
/// where a game's deviation is its own unit: `z 800 / ln 10 / √games`. Use [`Estimate::normalized_error`]
/// with results; this one needs none, and is what fastchess prints.
pub fn normalized_error_even(games: u64, confidence: f64) -> f64 {
    normalized_scale() * deviations(confidence) / (games as f64).sqrt()
}

/// What the blocks say about the difference between two bots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Estimate {
    /// The mean score of the blocks, 0 to 1; 0.5 before the first.
    pub score: f64,
    /// The interval of the score.
    pub score_low: f64,
    /// See `score_low`.
    pub score_high: f64,
    /// The difference in Elo; none if every game was won, or every game lost.
    pub elo: Option<f64>,
    /// The lower end of the interval of Elo; none if it is open.
    pub elo_low: Option<f64>,
    /// The upper end of the interval of Elo; none if it is open.
    pub elo_high: Option<f64>,
    /// The normalised difference: the excess score in standard deviations of a game, times `800 / ln 10`;
    /// none if all blocks ended the same.
    pub normalized: Option<f64>,
    /// Half the width of the interval of `normalized`.
    pub normalized_error: Option<f64>,
    /// Likelihood of superiority: the probability that the bot is better at all, 0 to 1.
    pub superiority: f64,
    /// The share of such intervals that contain the truth, usually 0.95.
    pub confidence: f64,
}

impl Estimate {
    /// The estimate from `tally`, with intervals of `confidence` (usually 0.95).
    pub fn new(tally: &Tally, confidence: f64) -> Self {
        let moments = tally.moments();
        let (n, mean) = (moments.weight, moments.mean);
        let scores = tally.scores();
        let (score_low, score_high) = if n > 1.0 {
            let deviations = student_deviations(confidence, n - 1.0);
            (scores.low(deviations), 1.0 - scores.mirrored().low(deviations))
        } else {
            (0.0, 1.0)
        };
        let (normalized, normalized_error) = if tally.is_constant() || n <= 1.0 {
            (None, None)
        } else {
            let t = (mean - 0.5) / moments.variance.sqrt();
            // The delta method: 1 for the mean, the rest for the estimated variance.
            let spread = 1.0 - t * moments.skewness + t * t * (moments.kurtosis - 1.0) / 4.0;
            let deviation = (spread.max(0.0) / (n - 1.0)).sqrt();
            let scale = normalized_scale() / f64::from(tally.shape().games).sqrt();
            (Some(scale * t), Some(scale * student_deviations(confidence, n - 1.0) * deviation))
        };
        Self {
            score: mean,
            score_low,
            score_high,
            elo: elo_of_score(mean),
            elo_low: elo_of_score(score_low),
            elo_high: elo_of_score(score_high),
            normalized,
            normalized_error,
            superiority: superiority(&scores, mean),
            confidence,
        }
    }
}

/// The probability that the mean score is above one half: by the same method as the interval, and never more than by the
/// sign test of the blocks that were better than even. Where the bounds of the interval leave one half out, this is above
/// the confidence, and the reverse.
pub(crate) fn superiority(scores: &Scores, mean: f64) -> f64 {
    if mean < 0.5 {
        return 1.0 - superiority(&scores.mirrored(), 1.0 - mean);
    }
    let blocks = scores.count();
    if blocks <= 1.0 || mean == 0.5 {
        return 0.5;
    }
    // Equal bots would all fall on the same side with a chance of one half for each block.
    let signs = 1.0 - libm::exp2(-scores.above_half());
    student_below(scores.lead(), blocks - 1.0).min(signs).max(0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    fn estimate(shape: Shape, counts: &[u64]) -> Estimate {
        Estimate::new(&Tally::from_counts(shape, counts).unwrap(), 0.95)
    }

    #[test]
    fn elo_and_score_are_inverse() {
        assert_eq!(score_of_elo(0.0), 0.5);
        assert!((score_of_elo(400.0) - 10.0 / 11.0).abs() < 1e-15);
        for elo in [-700.0, -3.5, 0.0, 12.0, 350.0] {
            assert!((elo_of_score(score_of_elo(elo)).unwrap() - elo).abs() < 1e-9);
        }
        assert_eq!((elo_of_score(0.0), elo_of_score(1.0)), (None, None));
    }

    #[test]
    fn pairs_of_opposite_luck_tell_more_than_single_games() {
        // 100 games, 55 points: as singles, and as pairs whose two games mostly cancel.
        let singles = estimate(Shape::SINGLE, &[40, 10, 50]);
        let pairs = estimate(Shape::PAIR, &[0, 2, 36, 12, 0]);
        assert!((singles.score - 0.55).abs() < 1e-12 && (pairs.score - 0.55).abs() < 1e-12);
        let width = |e: &Estimate| e.elo_high.unwrap() - e.elo_low.unwrap();
        assert!(width(&pairs) < 0.45 * width(&singles));
        // Leads of 2.61 and 1.05 standard errors, of Student's distribution with 49 and 99 degrees of freedom.
        assert!((pairs.superiority - 0.994).abs() < 1e-3, "{pairs:?}");
        assert!((singles.superiority - 0.851).abs() < 1e-3, "{singles:?}");
    }

    #[test]
    fn results_that_never_vary_have_intervals_too() {
        let won = estimate(Shape::PAIR, &[0, 0, 0, 0, 100]);
        assert_eq!((won.elo, won.elo_high, won.normalized), (None, None, None));
        // Wilson's, with Student's quantile: 1 / (1 + 1.984² / 99). (Clopper and Pearson's is 0.9638.)
        assert!((won.score_low - 0.961_75).abs() < 1e-4, "{won:?}");
        assert!(won.superiority > 0.999 && won.superiority < 1.0);
        // Five wins: twice the standard error, with four degrees of freedom. The sign test alone would say 0.969.
        let [five, lost] = [[0, 0, 0, 0, 5], [5, 0, 0, 0, 0]].map(|counts| estimate(Shape::PAIR, &counts));
        assert!((five.superiority - 0.941_9).abs() < 1e-4, "{five:?}");
        assert!((five.superiority + lost.superiority - 1.0).abs() < 1e-12);
        let drawn = estimate(Shape::PAIR, &[0, 0, 100, 0, 0]);
        assert_eq!((drawn.elo, drawn.superiority), (Some(0.0), 0.5));
        assert!((drawn.elo_high.unwrap() + drawn.elo_low.unwrap()).abs() < 1e-9);
        assert!(drawn.elo_high.unwrap() > 4.0, "{drawn:?}");
        let nothing = estimate(Shape::PAIR, &[0; 5]);
        assert_eq!((nothing.elo, nothing.elo_low, nothing.elo_high), (Some(0.0), None, None));
        assert_eq!(nothing.superiority, 0.5);
    }
}
