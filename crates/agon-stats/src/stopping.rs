//! When a sequential test stops, and what that does to the estimate.
//!
//! From block to block the LLR moves almost like a Brownian motion, with mean `(t1 - t0) (t - (t0 + t1)/2)` and standard
//! deviation `t1 - t0`, where `t` is the true excess in standard deviations of a block. How long such a motion stays between
//! two bounds, and where it leaves, has a closed form.

use serde::{Deserialize, Serialize};

use crate::elo::{elo_of_score, normalized_scale};
use crate::{Decision, Model, Sprt, Tally, student_deviations};

/// How long a test takes if the true difference is this.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Length {
    /// The true difference, in the units of the test.
    pub elo: f64,
    /// The mean number of games.
    pub expected: f64,
    /// The number of games not exceeded in 95 of 100 tests.
    pub at_most: f64,
    /// How often H1 is accepted, 0 to 1.
    pub accepts: f64,
}

/// How long the test takes for each of these true differences. Logistic and bayesian hypotheses are computed for a game
/// without draws and pairs whose games do not cancel; with either, a test is shorter.
pub fn lengths(sprt: &Sprt, differences: impl IntoIterator<Item = f64>) -> Vec<Length> {
    let games = f64::from(sprt.shape().games);
    let excess = |elo: f64| match sprt.model() {
        Model::Normalized => elo / normalized_scale() * games.sqrt(),
        // A game without draws has a standard deviation of one half.
        Model::Logistic | Model::Bayesian => (crate::score_of_elo(elo) - 0.5) * 2.0 * games.sqrt(),
    };
    let (elo0, elo1) = sprt.hypotheses();
    // Hypotheses far apart, in standard deviations of a block, are not told apart as fast as their distance says: neither explains
    // a result beyond both. This is how far apart they are for the likelihood ratio of Student's statistic.
    let (t0, apart) = (excess(elo0), excess(elo1) - excess(elo0));
    let nearer = (apart * apart).ln_1p().sqrt() / apart;
    let near = |elo: f64| t0 + nearer * (excess(elo) - t0);
    let walk = Walk::new(sprt, t0, near(elo1));
    let length = |elo: f64| {
        let drift = walk.drift(near(elo));
        let (mut low, mut high) = (0.0, 1.0);
        let over = |blocks: f64| walk.upper_by(drift, blocks) + walk.lower_by(drift, blocks);
        while over(high) < 0.95 && high < 1e12 {
            high *= 2.0;
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if over(middle) < 0.95 { low = middle } else { high = middle }
        }
        let accepts = walk.upper_by(drift, f64::INFINITY);
        Length { elo, expected: walk.expected(drift) * games, at_most: high * games, accepts }
    };
    differences.into_iter().map(length).collect()
}

/// The difference after a test that stopped, corrected for stopping when the results looked clearest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Corrected {
    /// As likely too high as too low.
    pub elo: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// Corrects the difference that `tally` shows, after a test that stopped with this decision after this many blocks: to the
/// difference under which the test would have ended like this as early, or more clearly, in half of all cases; for the ends of
/// the interval in 2.5 % and in 97.5 %. None without a decision, or if no block varied.
pub(crate) fn corrected(sprt: &Sprt, tally: &Tally, decision: Decision, blocks: u64) -> Option<Corrected> {
    let (deviation, seen) = (tally.moments().variance.sqrt(), tally.moments().mean);
    let (t0, t1) = sprt.excess(tally)?;
    if deviation == 0.0 || t1 <= t0 {
        return None;
    }
    let walk = Walk::through(sprt, tally, (seen - 0.5) / deviation, t1 - t0, blocks as f64)?;
    // The chance of having reached the upper end by now grows with the true excess; that of the lower end falls.
    let chance = |t: f64| match decision {
        Decision::AcceptH1 => Some(walk.upper_by(walk.drift(t), blocks as f64)),
        Decision::AcceptH0 => Some(1.0 - walk.lower_by(walk.drift(t), blocks as f64)),
        _ => None,
    };
    chance(0.0)?;
    let at = |part: f64| {
        let (mut low, mut high) = (-20.0, 20.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if chance(middle).is_some_and(|chance| chance < part) { low = middle } else { high = middle }
        }
        elo_of_score(0.5 + low * deviation)
    };
    // How much blocks vary is itself only known from these blocks: Student's distribution, expressed through the normal one.
    let tail = crate::normal_below(-student_deviations(0.95, (blocks as f64 - 1.0).max(1.0)));
    Some(Corrected { elo: at(0.5), low: at(tail), high: at(1.0 - tail) })
}

/// How far results are tilted to see how the LLR changes, in standard deviations of a block.
const TILT: f64 = 0.02;

/// The motion of the LLR between its bounds.
struct Walk {
    /// How far above the start the upper bound is, and how far below it the lower one.
    up: f64,
    down: f64,
    /// The standard deviation of a block.
    step: f64,
    middle: f64,
}

impl Walk {
    fn new(sprt: &Sprt, t0: f64, t1: f64) -> Self {
        let (lower, upper) = sprt.bounds();
        let step = t1 - t0;
        // A walk in steps overshoots its bounds by a mean of 0.583 steps (Siegmund).
        Self { up: upper + 0.583 * step, down: 0.583 * step - lower, step, middle: f64::midpoint(t0, t1) }
    }

    /// The motion near the end of a test that was over after this many blocks and shows this excess. Between the hypotheses a
    /// block moves the LLR in proportion to its score; far beyond them by less and less, because neither explains it. So the
    /// motion has the LLR of the tally and its slope there. It ends where the test did, with the same overshoot of the bound.
    /// `apart` is the distance between the hypotheses, in standard deviations of a block.
    fn through(sprt: &Sprt, tally: &Tally, excess: f64, apart: f64, over: f64) -> Option<Self> {
        let blocks = tally.blocks() as f64;
        let here = sprt.llr(tally)? / blocks;
        let (below, above) = (sprt.tilted_llr(tally, -TILT)?, sprt.tilted_llr(tally, TILT)?);
        let slope = (above.0 - below.0) / blocks / (above.1 - below.1);
        // If there is almost no slope, the time of the end says nothing, and nothing is corrected.
        let step = slope.max(apart / 100.0);
        let (lower, upper) = sprt.bounds();
        let (end, beyond) = (here * over, 0.583 * step);
        Some(Self {
            up: if end > upper { end } else { upper + beyond },
            down: if end < lower { -end } else { beyond - lower },
            step,
            middle: excess - here / step,
        })
    }

    /// The mean move per block if the true excess is `t`.
    fn drift(&self, t: f64) -> f64 {
        self.step * (t - self.middle)
    }

    /// The chance of having left at the upper bound within this many blocks.
    fn upper_by(&self, drift: f64, blocks: f64) -> f64 {
        leaves(self.down, self.up, drift / (self.step * self.step), blocks * self.step * self.step)
    }

    fn lower_by(&self, drift: f64, blocks: f64) -> f64 {
        leaves(self.up, self.down, -drift / (self.step * self.step), blocks * self.step * self.step)
    }

    /// The mean number of blocks it takes.
    fn expected(&self, drift: f64) -> f64 {
        if drift.abs() < 1e-9 * self.step {
            return self.up * self.down / (self.step * self.step);
        }
        let up = self.upper_by(drift, f64::INFINITY);
        (up * self.up - (1.0 - up) * self.down) / drift
    }
}

/// The chance that a Brownian motion with this drift and a variance of 1 per unit of time leaves at the far end `ahead` within
/// `time`, without having left at the end `behind` before.
fn leaves(behind: f64, ahead: f64, drift: f64, time: f64) -> f64 {
    use std::f64::consts::PI;
    let width = behind + ahead;
    let ever = if drift.abs() * width < 1e-9 {
        behind / width
    } else if drift > 0.0 {
        (-2.0 * drift * behind).exp_m1() / (-2.0 * drift * width).exp_m1()
    } else {
        (2.0 * drift * ahead).exp() * (2.0 * drift * behind).exp_m1() / (2.0 * drift * width).exp_m1()
    };
    if time == f64::INFINITY {
        return ever;
    }
    if time <= 0.0 {
        return 0.0;
    }
    if time < width * width {
        return leaves_soon(width, ahead, drift, time).clamp(0.0, 1.0);
    }
    // The motions still inside that will leave there later.
    let mut later = 0.0;
    for k in 1..100_000 {
        let k = f64::from(k);
        let frequency = k * PI / width;
        let rate = (drift * drift + frequency * frequency) / 2.0;
        let size = (drift * ahead - rate * time).exp() * frequency / width / rate;
        let sign = if k % 2.0 == 1.0 { 1.0 } else { -1.0 };
        later += sign * size * (frequency * behind).sin();
        if frequency * frequency * time > 80.0 {
            break;
        }
    }
    (ever - later).clamp(0.0, 1.0)
}

/// The same for short times, by reflections: the motions that reach the end `ahead + 2 k width` away for each `k`, less those
/// that passed the other end.
fn leaves_soon(width: f64, ahead: f64, drift: f64, time: f64) -> f64 {
    let steep = drift.abs();
    let sum = (-20..=20).map(|k| {
        let away = ahead + 2.0 * f64::from(k) * width;
        let far = away.abs();
        let root = time.sqrt();
        let first = drift * ahead - steep * far + log_below((steep * time - far) / root);
        let second = drift * ahead + steep * far + log_below(-(steep * time + far) / root);
        away.signum() * (first.exp() + second.exp())
    });
    sum.sum()
}

/// The logarithm of the normal distribution function at `z`.
fn log_below(z: f64) -> f64 {
    if z > -30.0 {
        return crate::normal_below(z).ln();
    }
    -z * z / 2.0 - (-z * (2.0 * std::f64::consts::PI).sqrt()).ln() - 1.0 / (z * z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    #[test]
    fn a_motion_leaves_as_simulated() {
        // Small steps of +-1/40, that is 1600 per unit of time, with the drift in their probabilities.
        use agon_game::Seeded;
        for (behind, ahead, drift, time) in
            [(1.0, 1.0, 0.0, 0.7), (1.0, 2.0, 0.5, 1.5), (2.0, 1.0, -0.8, 1.0)]
        {
            let up = 0.5 + drift / 80.0;
            let (mut inside, mut ever) = (0, 0);
            for run in 0..2_000 {
                let mut chance = Seeded::stream(run, "motion");
                let (mut at, mut steps) = (0i32, 0);
                while at < (ahead * 40.0) as i32 && at > -(behind * 40.0) as i32 {
                    let random = (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
                    at += if random < up { 1 } else { -1 };
                    steps += 1;
                }
                ever += u32::from(at > 0);
                inside += u32::from(at > 0 && f64::from(steps) <= time * 1600.0);
            }
            let [inside, ever] = [inside, ever].map(|count| f64::from(count) / 2_000.0);
            assert!((leaves(behind, ahead, drift, time) - inside).abs() < 0.03, "{drift}: {inside}");
            assert!((leaves(behind, ahead, drift, f64::INFINITY) - ever).abs() < 0.03, "{drift}: {ever}");
        }
    }

    #[test]
    fn both_ways_of_adding_up_agree() {
        // On both sides of the switch from one formula to the other.
        for (behind, ahead, drift) in [(3.0, 3.0, 0.4), (3.0, 3.0, -2.0), (1.0, 5.0, 1.0), (5.0, 1.0, 30.0)] {
            let (width, behind, ahead): (f64, f64, f64) = (behind + ahead, behind, ahead);
            let time = width * width;
            let [sooner, later] = [time * (1.0 - 1e-12), time].map(|time| leaves(behind, ahead, drift, time));
            assert!((sooner - later).abs() < 1e-9, "{behind} {ahead} {drift}: {sooner} {later}");
        }
        // A motion so steep that it goes straight there, and one that goes straight away.
        assert!(leaves(3.0, 3.0, 1e3, 0.0027) < 1e-3 && leaves(3.0, 3.0, 1e3, 0.0033) > 0.999);
        assert!(leaves(3.0, 3.0, -1e3, 0.01) < 1e-300);
    }

    #[test]
    fn a_test_takes_longest_between_its_hypotheses() {
        let sprt = Sprt::new(Model::Normalized, (0.0, 20.0), (0.05, 0.05), Shape::PAIR).unwrap();
        let lengths = lengths(&sprt, [-20.0, 0.0, 10.0, 20.0, 40.0]);
        assert!((lengths[1].accepts - 0.05).abs() < 0.005 && (lengths[3].accepts - 0.95).abs() < 0.005);
        assert!((lengths[2].accepts - 0.5).abs() < 1e-9);
        assert!(lengths[2].expected > lengths[1].expected && lengths[1].expected > lengths[0].expected);
        assert!((lengths[1].expected - lengths[3].expected).abs() < 1.0);
        assert!(lengths.iter().all(|length| length.at_most > length.expected));
        // Wald: 5.3 / (t1 - t0)² blocks of two games.
        let step = 20.0 / normalized_scale() * 2f64.sqrt();
        assert!((lengths[1].expected / (2.0 * 5.3 / (step * step)) - 1.0).abs() < 0.1, "{lengths:?}");
    }
}
