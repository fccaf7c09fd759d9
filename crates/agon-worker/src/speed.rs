//! The speed of a CPU, in a unit that allows comparing two machines.
//!
//! A bot's answer takes longer elsewhere to the degree that the CPU there is slower. How much that is depends on what
//! the bot does; the work here is typical of bots: integers, unpredictable comparisons, and memory that fits the
//! second-level cache.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How many numbers: 256 KiB of them.
const NUMBERS: usize = 1 << 16;
/// How often the work is done. The fastest round counts: disturbances only make it slower.
const ROUNDS: usize = 12;

/// How many times per second one CPU of this machine can do the work. Takes some 50 ms.
pub fn measure() -> f64 {
    let mut numbers = vec![0_u32; NUMBERS];
    let mut best = Duration::MAX;
    for round in 0..ROUNDS {
        let began = used();
        work(&mut numbers, black_box(round as u32 + 1));
        black_box(&numbers);
        best = best.min(used().saturating_sub(began)).max(Duration::from_nanos(1));
    }
    1.0 / best.as_secs_f64()
}

/// CPU time used by this thread.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Sorts random numbers.
fn work(numbers: &mut [u32], seed: u32) {
    let mut state = seed;
    for number in &mut *numbers {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *number = state ^ (state >> 15);
    }
    numbers.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_the_same_everywhere_and_its_speed_a_number() {
        let mut numbers = vec![0; NUMBERS];
        work(&mut numbers, 7);
        assert!(numbers.is_sorted());
        assert_eq!((numbers[0], numbers[NUMBERS / 2], numbers[NUMBERS - 1]), sorted_elsewhere());
        let speed = measure();
        assert!(speed.is_finite() && speed > 0.0, "{speed}");
    }

    /// The same numbers, counted instead of sorted.
    fn sorted_elsewhere() -> (u32, u32, u32) {
        let mut state = 7_u32;
        let mut tree = std::collections::BTreeMap::new();
        for _ in 0..NUMBERS {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *tree.entry(state ^ (state >> 15)).or_insert(0_usize) += 1;
        }
        let all: Vec<u32> = tree.into_iter().flat_map(|(number, times)| vec![number; times]).collect();
        (all[0], all[NUMBERS / 2], all[NUMBERS - 1])
    }
}
