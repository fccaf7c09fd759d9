//! How certain a mean score is, from two blocks to millions: one method for intervals and certainties.
//!
//! **Wilson's interval with the quantile of Student's distribution.** Scores lie between 0 and 1, so their variance is
//! a share of what wins and losses alone would have with the same mean; that share is estimated, and the test of a mean
//! uses the variance that it would have there. **A margin for ends never seen:** beside the blocks that were played, the
//! share is estimated from half a block more that ended at the far end. It decides while nearly all blocks ended alike,
//! and is forgotten as soon as the variation seen is worth more than a block.
//!
//! **The monotone hull.** A result that is better in a block can have more variance, and would then seem less certain
//! than a worse one. So a lower bound is the least over all results that are as good in every block, or better.
//! Of these, for each mean, the one with the largest variance decides; it is found by raising the best blocks to the end
//! first.

/// How much the block at the far end counts.
const UNSEEN: f64 = 0.5;
/// Points at which each stretch is searched for its least value, and by how many steps the least is then narrowed down.
const GRID: usize = 8;
const NARROW: usize = 45;

/// Blocks by score, `(score, count)` in ascending order, each score from 0 to 1. Counts need not be whole.
#[derive(Clone, Debug)]
pub(crate) struct Scores(pub Vec<(f64, f64)>);

impl Scores {
    /// The same seen by the other side.
    pub fn mirrored(&self) -> Self {
        Self(self.0.iter().rev().map(|&(score, count)| (1.0 - score, count)).collect())
    }

    pub fn count(&self) -> f64 {
        self.0.iter().map(|&(_, count)| count).sum()
    }

    pub fn mean(&self) -> f64 {
        self.0.iter().map(|&(score, count)| score * count).sum::<f64>() / self.count()
    }

    /// The lower end of an interval, `deviations` (of Student's distribution) below the mean.
    pub fn low(&self, deviations: f64) -> f64 {
        let blocks = self.count();
        if blocks <= 1.0 {
            return 0.0;
        }
        let part = deviations * deviations / (blocks - 1.0);
        let low = |mean: f64, share: f64| {
            let part = part * share;
            let half = (part * (mean * (1.0 - mean)).max(0.0) + part * part / 4.0).sqrt();
            ((mean + part / 2.0 - half) / (1.0 + part)).clamp(0.0, 1.0)
        };
        self.least(blocks, low)
    }

    /// By how many of its standard deviations the mean is above one half, by a test of that. Not below 0.
    pub fn lead(&self) -> f64 {
        let blocks = self.count();
        if blocks <= 1.0 || self.mean() <= 0.5 {
            return 0.0;
        }
        let lead = |mean: f64, share: f64| (mean - 0.5) * (4.0 * (blocks - 1.0) / share).sqrt();
        self.least(blocks, lead).max(0.0)
    }

    /// The number of blocks above one half.
    pub fn above_half(&self) -> f64 {
        self.0.iter().filter(|(score, _)| *score > 0.5).map(|(_, count)| count).sum()
    }

    /// The least value of `of`, a function of the mean and of the variance as a share of that of wins and losses, over
    /// these blocks and all that are better. It must grow with the mean and fall with the share.
    fn least(&self, blocks: f64, of: impl Fn(f64, f64) -> f64) -> f64 {
        let at = |sum: f64, squares: f64| {
            let mean = (sum / blocks).min(1.0);
            of(mean, share(blocks, mean, (squares - blocks * mean * mean).max(0.0)))
        };
        let total = |of: &dyn Fn(f64) -> f64| self.0.iter().map(|&(score, count)| of(score) * count).sum();
        let (mut sum, mut squares): (f64, f64) = (total(&|score| score), total(&|score| score * score));
        let mut least = at(sum, squares);
        for &(score, count) in self.0.iter().rev().filter(|(score, count)| *count > 0.0 && *score < 1.0) {
            // Nothing has more variance than wins and losses, and from here on all means are higher.
            if of((sum / blocks).min(1.0), 1.0) >= least {
                break;
            }
            let (more, more_squares) = (count * (1.0 - score), count * (1.0 - score * score));
            let part = |part: f64| at(sum + part * more, squares + part * more_squares);
            let step = |step: usize| step as f64 / GRID as f64;
            let best = (0..=GRID).min_by(|a, b| part(step(*a)).total_cmp(&part(step(*b)))).unwrap_or(0);
            let (mut low, mut high) = (step(best.saturating_sub(1)), step((best + 1).min(GRID)));
            for _ in 0..NARROW {
                let (one, other) = (low + 0.382 * (high - low), low + 0.618 * (high - low));
                if part(one) < part(other) { high = other } else { low = one }
            }
            least = least.min(part(step(best))).min(part(f64::midpoint(low, high)));
            (sum, squares) = (sum + more, squares + more_squares);
        }
        least
    }
}

/// The sum of squares around the mean as a share of the largest with this mean, with the margin for an unseen block at 0.
fn share(blocks: f64, mean: f64, squares: f64) -> f64 {
    let margin = UNSEEN * mean * mean;
    let most = blocks * mean * (1.0 - mean) + margin;
    if most <= 0.0 { 1.0 } else { ((squares + margin) / most).min(1.0) }
}
