//! Does a worker stand out? A share of matches is played again by another worker, and on every machine some tries fail now and then. Bots
//! may play at random, so a different ending proves nothing by itself: a worker stands out when that happens to it so much more often than
//! to all others that chance does not explain it.

use std::collections::BTreeMap;

use agon_stats::exact::{Share, more_often};

/// Below this number of matches played again, a worker is not judged by them.
pub const COMPARED: u64 = 20;
/// The probability that chance alone makes a worker stand out by matches that ended differently.
pub const BY_RESULTS: f64 = 1e-4;
/// Below this number of tries, a worker is not judged by failed ones; all the others together need as many for the comparison.
pub const TRIES: u64 = 30;
/// The probability that chance alone makes a worker stand out by failed tries.
pub const BY_VOIDS: f64 = 1e-6;
/// The failure rate must be at least this many times that of all others.
pub const TIMES: f64 = 2.0;
/// The failures must fall into at least this many different minutes: when a machine hangs once, everything it is playing fails together.
pub const MINUTES: u64 = 3;

/// The tries of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tries {
    pub worker: i64,
    /// Whether it may be paused.
    pub may_rest: bool,
    /// The share of failed tries among all.
    pub void: Share,
    /// In how many different minutes they failed.
    pub minutes: u64,
}

/// Matches that both of these workers have played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The two workers.
    pub workers: [i64; 2],
    /// The share that ended differently, of all.
    pub differ: Share,
}

/// A worker that stands out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    pub worker: i64,
    /// The reason, with the figures, as a sentence.
    pub why: String,
    /// How likely it is by chance.
    pub chance: f64,
}

/// The worker that stands out most, if any. One at a time: what it did to those that met it must not count against them.
pub fn outlier(tries: &[Tries], compared: &[Compared]) -> Option<Outlier> {
    let by_results = by_results(tries, compared).map(|found| (found.chance / BY_RESULTS, found));
    let by_voids = by_voids(tries).map(|found| (found.chance / BY_VOIDS, found));
    let found = by_results.into_iter().chain(by_voids).min_by(|one, other| one.0.total_cmp(&other.0));
    found.map(|(_, found)| found)
}

/// By matches played again. It is compared with all pairs that it is not part of.
fn by_results(tries: &[Tries], compared: &[Compared]) -> Option<Outlier> {
    let (mut all, mut own) = (Share::default(), BTreeMap::<i64, Share>::new());
    for Compared { workers, differ } in compared {
        all += *differ;
        workers.iter().for_each(|worker| *own.entry(*worker).or_default() += *differ);
    }
    let may_rest = |worker: i64| tries.iter().any(|tries| tries.worker == worker && tries.may_rest);
    let found = own.into_iter().filter_map(|(worker, own)| {
        let others = all - own;
        let chance = more_often(own, others);
        let is_one = own.whole >= COMPARED && chance < BY_RESULTS && may_rest(worker);
        let why = || {
            format!(
                "of its matches that another machine played as well {} of {} ended otherwise, of all without it {} of {} \
                 (by chance {chance:.0e})",
                own.part, own.whole, others.part, others.whole
            )
        };
        is_one.then(|| Outlier { worker, why: why(), chance })
    });
    found.min_by(|one, other| one.chance.total_cmp(&other.chance))
}

/// By failed tries.
fn by_voids(tries: &[Tries]) -> Option<Outlier> {
    let mut all = Share::default();
    tries.iter().for_each(|tries| all += tries.void);
    let found = tries.iter().filter_map(|Tries { worker, may_rest, void: own, minutes }| {
        let others = all - *own;
        let chance = more_often(*own, others);
        let is_one = *may_rest
            && own.whole.min(others.whole) >= TRIES
            && *minutes >= MINUTES
            && own.rate() >= TIMES * others.rate()
            && chance < BY_VOIDS;
        let why = || {
            format!(
                "{} of its last {} matches failed, of all others' {} of {} (by chance {chance:.0e})",
                own.part, own.whole, others.part, others.whole
            )
        };
        is_one.then(|| Outlier { worker: *worker, why: why(), chance })
    });
    found.min_by(|one, other| one.chance.total_cmp(&other.chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries(worker: i64, part: u64, whole: u64) -> Tries {
        Tries { worker, may_rest: true, void: Share { part, whole }, minutes: part.min(MINUTES) }
    }

    fn pair(workers: [i64; 2], part: u64, whole: u64) -> Compared {
        Compared { workers, differ: Share { part, whole } }
    }

    fn found(tries: &[Tries], compared: &[Compared]) -> Option<i64> {
        outlier(tries, compared).map(|found| found.worker)
    }

    #[test]
    fn a_worker_stands_out_by_voids_only_with_enough_tries_twice_as_many_and_in_several_minutes() {
        assert_eq!(found(&[tries(1, 12, 30), tries(2, 1, 100)], &[]), Some(1));
        assert_eq!(found(&[tries(1, 12, 29), tries(2, 1, 100)], &[]), None, "too few tries");
        assert_eq!(found(&[tries(1, 12, 30), tries(2, 0, 29)], &[]), None, "too few of others");
        assert_eq!(found(&[tries(1, 30, 30)], &[]), None, "a lone worker");
        let (own, others) = (tries(1, 300, 1_000), tries(2, 16_000, 100_000));
        assert!(more_often(own.void, others.void) < BY_VOIDS);
        assert_eq!(found(&[own, others], &[]), None, "less than twice as often");
        assert_eq!(found(&[own, tries(2, 15_000, 100_000)], &[]), Some(1));
        // 1e-6 lies between these two.
        assert_eq!(found(&[tries(1, 9, 30), tries(2, 10, 500)], &[]), Some(1));
        assert_eq!(found(&[tries(1, 8, 30), tries(2, 10, 500)], &[]), None);
        let once = Tries { minutes: 2, ..tries(1, 12, 30) };
        assert_eq!(found(&[once, tries(2, 1, 100)], &[]), None, "it stood still once");
        let inside = Tries { may_rest: false, ..tries(1, 12, 30) };
        assert_eq!(found(&[inside, tries(2, 1, 100)], &[]), None, "the one inside the server");
    }

    #[test]
    fn a_worker_stands_out_by_results_only_with_enough_of_them_and_others_to_compare_with() {
        let all = [tries(1, 0, 99), tries(2, 0, 99), tries(3, 0, 99)];
        let of = |part, own, others| [pair([1, 2], part, own), pair([2, 3], 0, others), pair([3, 1], 0, 0)];
        assert_eq!(found(&all, &of(11, 20, 20)), Some(1));
        assert_eq!(found(&all, &of(11, 19, 40)), None, "too few of its own");
        assert_eq!(found(&all, &of(10, 20, 20)), None, "2 in 10,000 by chance");
        assert_eq!(found(&all[..2], &[pair([1, 2], 99, 100)]), None, "of two nobody knows which");
        let inside = [Tries { may_rest: false, ..all[0] }, all[1], all[2]];
        assert_eq!(found(&inside, &of(11, 20, 20)), None, "the one inside the server");
        // Where bots play at random, all results differ.
        let random = [pair([1, 2], 50, 100), pair([2, 3], 55, 100), pair([3, 1], 45, 100)];
        assert_eq!(found(&all, &random), None);
    }

    /// Randomness that a test can repeat.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, most: u64) -> u64 {
            // SplitMix64.
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) % most
        }

        fn happens(&mut self, percent: u64) -> bool {
            self.below(100) < percent
        }
    }

    /// Simulates `workers` workers whose matches are all played again. The first falsifies `lies` per cent of its matches, and `random` per
    /// cent end differently on their own. Checks after every tenth match, and returns who stood out first, and after how many.
    fn compare(workers: i64, lies: u64, random: u64, most: u64, seed: u64) -> Option<(i64, u64)> {
        let tries: Vec<Tries> = (0..workers).map(|worker| tries(worker, 0, 1_000)).collect();
        let (mut dice, mut pairs) = (Dice(seed), BTreeMap::<[i64; 2], Share>::new());
        for played in 1..=most {
            let first = dice.below(workers as u64) as i64;
            let second = (first + 1 + dice.below(workers as u64 - 1) as i64) % workers;
            let is_lie = (first == 0 || second == 0) && dice.happens(lies);
            let differs = dice.happens(random) || is_lie;
            *pairs.entry([first, second]).or_default() += Share { part: u64::from(differs), whole: 1 };
            if played % 10 == 0 {
                let all =
                    pairs.iter().map(|(workers, differ)| Compared { workers: *workers, differ: *differ });
                if let Some(found) = outlier(&tries, &all.collect::<Vec<_>>()) {
                    return Some((found.worker, played));
                }
            }
        }
        None
    }

    #[test]
    fn fifty_honest_workers_of_random_bots_play_ten_thousand_comparisons_and_nobody_is_paused() {
        for (random, seed) in [(0, 1), (10, 2), (50, 3)] {
            assert_eq!(compare(50, 0, random, 10_000, seed), None, "{random} %");
        }
    }

    #[test]
    fn whoever_lies_in_a_fifth_of_its_matches_is_found() {
        // The number of comparisons that it takes: the median of 21 contests, and the worst.
        for (workers, random, middle, worst) in
            [(50, 0, 600, 1_000), (50, 10, 2_500, 5_000), (3, 0, 250, 500)]
        {
            let mut took: Vec<u64> = (0..21)
                .map(|seed| {
                    let (worker, took) = compare(workers, 20, random, 20_000, seed).expect("found");
                    assert_eq!(worker, 0, "nobody else");
                    took
                })
                .collect();
            took.sort_unstable();
            println!("{workers} workers, {random} %: {took:?}");
            assert!(took[10] <= middle && took[20] <= worst, "{workers} workers, {random} %: {took:?}");
        }
    }
}
