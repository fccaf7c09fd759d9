//! Elo from block scores, with its interval.

use serde::{Deserialize, Serialize};

use crate::{Tally, deviations, normal_below, student_deviations};

/// Elo points per standard deviation of a game, in the scale of normalised Elo: `800 / ln 10`.
pub(crate) fn normalized_scale() -> f64 {
    800.0 / std::f64::consts::LN_10
}

/// The expected score of a bot that is `elo` points stronger: 0.5 at 0, 0.64 at 100, 0.76 at 200.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The difference in strength that a score from 0 to 1 implies; none at 0 and 1, where no finite difference
/// is enough.
pub fn elo_of_score(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| 400.0 * (score / (1.0 - score)).log10())
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
        let (score_low, score_high) = if n == 0.0 {
            (0.0, 1.0)
        } else if tally.is_constant() {
            // All blocks ended the same. Another result may still be possible: one of chance p is missed n
            // times with chance (1 - p)^n. The largest p not ruled out by this, given to the worst and to
            // the best result, bounds the interval.
            let unseen = 1.0 - ((1.0 - confidence) / 2.0).powf(1.0 / n);
            (mean - unseen * mean, mean + unseen * (1.0 - mean))
        } else {
            // Wilson's interval. Block scores vary less than coin flips of the same mean, so the blocks are
            // worth this many flips. Their variance is itself estimated from n blocks, hence n - 1 and
            // Student's distribution.
            let z = student_deviations(confidence, n - 1.0);
            let flips = (n - 1.0) * mean * (1.0 - mean) / moments.variance;
            let shrink = 1.0 + z * z / flips;
            let centre = (mean + z * z / (2.0 * flips)) / shrink;
            let half = z / shrink * (mean * (1.0 - mean) / flips + (z / (2.0 * flips)).powi(2)).sqrt();
            ((centre - half).max(0.0), (centre + half).min(1.0))
        };
        let (normalized, normalized_error) = if tally.is_constant() {
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
            superiority: superiority(tally),
            confidence,
        }
    }
}

/// The probability that the mean score is above one half.
fn superiority(tally: &Tally) -> f64 {
    let moments = tally.moments();
    if !tally.is_constant() {
        return normal_below((moments.mean - 0.5) / (moments.variance / moments.weight).sqrt());
    }
    // The sign test: equal bots would all fall on the same side with chance 2^-n.
    let luck = 0.5f64.powf(moments.weight.max(1.0));
    match moments.mean.total_cmp(&0.5) {
        std::cmp::Ordering::Greater => 1.0 - luck,
        std::cmp::Ordering::Less => luck,
        std::cmp::Ordering::Equal => 0.5,
    }
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
        assert!(width(&pairs) < 0.4 * width(&singles));
        // Leads of 2.89 and 1.06 standard errors.
        assert!((pairs.superiority - 0.998_1).abs() < 1e-4);
        assert!((singles.superiority - 0.855_4).abs() < 1e-4);
    }

    #[test]
    fn results_that_never_vary_have_intervals_too() {
        let won = estimate(Shape::PAIR, &[0, 0, 0, 0, 100]);
        assert_eq!((won.elo, won.elo_high, won.normalized), (None, None, None));
        // Clopper-Pearson for 100 of 100: 0.96378.
        assert!((won.score_low - 0.963_783).abs() < 1e-5);
        assert!(won.superiority > 0.999);
        assert_eq!(estimate(Shape::PAIR, &[0, 0, 0, 0, 5]).superiority, 1.0 - 1.0 / 32.0);
        assert_eq!(estimate(Shape::PAIR, &[0, 5, 0, 0, 0]).superiority, 1.0 / 32.0);
        let drawn = estimate(Shape::PAIR, &[0, 0, 100, 0, 0]);
        assert_eq!((drawn.elo, drawn.superiority), (Some(0.0), 0.5));
        assert!((drawn.elo_high.unwrap() + drawn.elo_low.unwrap()).abs() < 1e-9);
        assert!(drawn.elo_high.unwrap() > 10.0);
        let nothing = estimate(Shape::PAIR, &[0; 5]);
        assert_eq!((nothing.elo, nothing.elo_low, nothing.elo_high), (Some(0.0), None, None));
        assert_eq!(nothing.superiority, 0.5);
    }
}
