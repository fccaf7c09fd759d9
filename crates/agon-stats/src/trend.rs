//! Does a bot get better or worse while a series runs? A bot that learns, or that a slow machine wears down, has no one
//! strength; the mean of its series says little about the next match.

use crate::student_below;

/// The scores of blocks in their order, as sums: a straight line is fitted to them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trend {
    blocks: f64,
    sum: f64,
    squares: f64,
    /// The sum of scores times their place.
    placed: f64,
}

/// A series that drifts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The mean score of the first half, by the line.
    pub first: f64,
    /// Of the second half.
    pub second: f64,
    /// How often a bot that does not drift looks like this, to either side.
    pub chance: f64,
}

/// How often at most a drift is named where there is none.
pub const WRONG: f64 = 0.001;
/// A shorter series has no drift: two or three results decide what line fits best.
const FEWEST: f64 = 30.0;

impl Trend {
    /// Adds the score of the next block, from 0 to 1.
    pub fn add(&mut self, score: f64) {
        self.placed += self.blocks * score;
        self.blocks += 1.0;
        self.sum += score;
        self.squares += score * score;
    }

    /// The drift, if it is more than luck explains.
    pub fn drift(&self) -> Option<Drift> {
        let n = self.blocks;
        if n < FEWEST {
            return None;
        }
        let mean = self.sum / n;
        let variance = self.squares - n * mean * mean;
        // The places 0 to n - 1 around their mean.
        let places = n * (n * n - 1.0) / 12.0;
        let both = self.placed - self.sum * (n - 1.0) / 2.0;
        if variance <= 1e-9 {
            return None;
        }
        let share = (both * both / (places * variance)).min(1.0);
        // One result that has not been seen yet, as everywhere: without it few and equal results would fit too well.
        let lead = (share * (n - 2.0) / (1.0 - share).max(1.0 / n)).sqrt();
        let chance = 2.0 * student_below(-lead, n - 2.0);
        let half = both / places * n / 4.0;
        let within = |score: f64| score.clamp(0.0, 1.0);
        (chance < WRONG).then(|| Drift { first: within(mean - half), second: within(mean + half), chance })
    }
}

#[cfg(test)]
mod tests {
    use agon_game::Seeded;

    use super::*;

    fn series(seed: i64, blocks: usize, chance: impl Fn(f64) -> f64) -> Trend {
        let mut bits = Seeded::stream(seed, "trend");
        let mut random = move || (bits.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let mut trend = Trend::default();
        for block in 0..blocks {
            let wins = chance(block as f64 / blocks as f64);
            let won = (0..2).filter(|_| random() < wins).count();
            trend.add(won as f64 / 2.0);
        }
        trend
    }

    #[test]
    fn a_bot_that_learns_is_named_and_what_it_scored_in_either_half() {
        let found = series(1, 200, |time| 0.3 + 0.4 * time).drift().expect("it learns");
        assert!((found.first - 0.4).abs() < 0.07 && (found.second - 0.6).abs() < 0.07, "{found:?}");
        let named =
            (0..200).filter(|&seed| series(seed, 200, |time| 0.75 - 0.5 * time).drift().is_some()).count();
        assert!(named > 180, "{named} of 200");
        let jumps = (0..200)
            .filter(|&seed| series(seed, 100, |time| if time < 0.5 { 0.2 } else { 0.8 }).drift().is_some());
        assert!(jumps.count() > 190);
    }

    #[test]
    fn where_nothing_drifts_one_in_a_thousand_is_named_at_most() {
        for (blocks, chance) in [(30, 0.5), (30, 0.97), (100, 0.9), (400, 0.99)] {
            let named = (0..4_000).filter(|&seed| series(seed, blocks, |_| chance).drift().is_some()).count();
            // 4 are expected; 13 or more come once in ten thousand times. Rare results have more extreme lines.
            assert!(named <= 13, "{named} of 4000 of {blocks} blocks at {chance}");
        }
        let mut constant = Trend::default();
        (0..1_000).for_each(|_| constant.add(1.0));
        assert_eq!(constant.drift(), None);
    }
}
