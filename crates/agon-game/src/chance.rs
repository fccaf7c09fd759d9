//! Randomness as a parameter.
//!
//! A match has one 64-bit signed seed. Every use of randomness has its own stream, named after its
//! purpose, so that adding a use does not disturb the others. The generator and the way a number below
//! `n` is drawn are part of the rules: they never change.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of choices: a seeded generator, or the recorded choices of an original.
pub trait Chance {
    /// A number in `0..n`, all equally likely. `n` must be at least 1.
    fn below(&mut self, n: u32) -> u32;

    /// One of `options`. A tape of recorded choices overrides this to return the recorded one, so a code
    /// must mean the same in every state (a cell, not a position in a list).
    fn choose(&mut self, options: &[u16]) -> u16 {
        options[self.below(options.len() as u32) as usize]
    }

    /// Whether an event of probability `part` in `whole` happens.
    fn happens(&mut self, part: u32, whole: u32) -> bool {
        self.below(whole) < part
    }
}

/// A stream of the match seed.
#[derive(Clone, Debug)]
pub struct Seeded(Xoshiro256PlusPlus);

impl Seeded {
    /// The stream `purpose` of `seed`.
    pub fn stream(seed: i64, purpose: &str) -> Self {
        let mixed = xxhash_rust::xxh3::xxh3_64_with_seed(purpose.as_bytes(), seed as u64);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// How often a stream that began as `start` has been drawn from, if fewer than `most` times.
    pub fn drawn_since(&self, mut start: Self, most: u32) -> Option<u32> {
        for drawn in 0..most {
            if start.0 == self.0 {
                return Some(drawn);
            }
            start.bits();
        }
        None
    }
}

impl Chance for Seeded {
    /// Lemire's multiplication with rejection: exactly uniform.
    #[inline]
    fn below(&mut self, n: u32) -> u32 {
        debug_assert!(n > 0, "a choice needs at least one option");
        let mut product = u64::from((self.bits() >> 32) as u32) * u64::from(n);
        if (product as u32) < n {
            let least = n.wrapping_neg() % n;
            while (product as u32) < least {
                product = u64::from((self.bits() >> 32) as u32) * u64::from(n);
            }
        }
        (product >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These numbers are part of every seeded rule: a change here changes recorded matches.
    #[test]
    fn streams_never_change() {
        let mut map = Seeded::stream(7, "map");
        let mut other = Seeded::stream(7, "spawn");
        let draws = |chance: &mut Seeded| (0..6).map(|_| chance.below(1000)).collect::<Vec<_>>();
        assert_eq!(draws(&mut map), MAP_7);
        assert_eq!(draws(&mut other), SPAWN_7);
    }
    const MAP_7: [u32; 6] = [943, 698, 987, 313, 232, 918];
    const SPAWN_7: [u32; 6] = [685, 324, 336, 815, 24, 55];

    #[test]
    fn every_option_is_drawn_about_equally_often() {
        let mut chance = Seeded::stream(1, "test");
        let mut counts = [0u32; 7];
        (0..70_000).for_each(|_| counts[chance.below(7) as usize] += 1);
        // Five standard deviations of a binomial with n = 70,000 and p = 1/7.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 463), "{counts:?}");
    }
}
