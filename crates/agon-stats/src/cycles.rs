//! Bots that beat each other in a circle, which no rating can express.
//!
//! For every two bots that met, the **sign test** asks whether one took more blocks from the other than luck explains.
//! All these tests together are wrong once in twenty tables (Holm). If three significant differences form a circle, the
//! circle is as certain as they are: it claims no more than these three.

use serde::{Deserialize, Serialize};

use crate::pairs::Meeting;

/// Three bots, each of which beats the next, and the last the first, beyond noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Cycle {
    /// The bots.
    pub bots: [String; 3],
    /// The share of points of each bot against the next.
    pub scores: [f64; 3],
    /// The number of blocks in which it took more than half of the points, and less.
    pub blocks: [(u64, u64); 3],
    /// The chance of the least certain of the three under equal bots, two-sided, before the correction for many tests.
    pub luck: f64,
}

/// How often all the tests of a table together may be wrong.
pub const WRONG: f64 = 0.05;

/// The blocks of two bots against each other.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Blocks in which the bot with the lower number took more than half of the points, and less.
    won: u64,
    lost: u64,
    points: u64,
    meetings: u64,
}

/// The circles in `blocks`, the clearest first. `names` gives the bots for the numbers in them.
pub(crate) fn cycles(names: &[&str], blocks: &[Vec<Meeting>]) -> Vec<Cycle> {
    let bots = names.len();
    let mut pairs = std::collections::BTreeMap::<(u32, u32), Pair>::new();
    for meeting in blocks.iter().flatten() {
        let pair = pairs.entry((meeting.first, meeting.second)).or_default();
        pair.won += u64::from(meeting.points > meeting.meetings);
        pair.lost += u64::from(meeting.points < meeting.meetings);
        pair.points += meeting.points;
        pair.meetings += meeting.meetings;
    }
    let mut tests: Vec<(f64, (u32, u32))> =
        pairs.iter().map(|(&bots, pair)| (luck(pair.won, pair.lost), bots)).collect();
    tests.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut beats = vec![Vec::new(); bots];
    for (place, &(luck, (first, second))) in tests.iter().enumerate() {
        if luck * (tests.len() - place) as f64 > WRONG {
            break;
        }
        let pair = &pairs[&(first, second)];
        let (winner, loser) = if pair.won > pair.lost { (first, second) } else { (second, first) };
        beats[winner as usize].push((loser, luck));
    }
    beats.iter_mut().for_each(|beaten| beaten.sort_unstable_by_key(|(bot, _)| *bot));
    let beaten = |one: u32, other: u32| {
        let found = beats[one as usize].binary_search_by_key(&other, |(bot, _)| *bot).ok()?;
        Some(beats[one as usize][found].1)
    };
    let side = |one: u32, other: u32| {
        let pair = &pairs[&(one.min(other), one.max(other))];
        let score = pair.points as f64 / (2 * pair.meetings) as f64;
        if one < other { (score, (pair.won, pair.lost)) } else { (1.0 - score, (pair.lost, pair.won)) }
    };
    let mut found = Vec::new();
    for one in 0..bots as u32 {
        // The lowest number comes first, so that each circle is found once.
        for &(two, luck) in beats[one as usize].iter().filter(|(two, _)| *two > one) {
            for &(three, next) in beats[two as usize].iter().filter(|(three, _)| *three > one) {
                let Some(last) = beaten(three, one) else { continue };
                let sides = [side(one, two), side(two, three), side(three, one)];
                found.push(Cycle {
                    bots: [one, two, three].map(|bot| names[bot as usize].to_owned()),
                    scores: sides.map(|(score, _)| score),
                    blocks: sides.map(|(_, blocks)| blocks),
                    luck: luck.max(next).max(last),
                });
            }
        }
    }
    found.sort_by(|a, b| a.luck.total_cmp(&b.luck).then_with(|| a.bots.cmp(&b.bots)));
    found
}

/// The chance that equal bots split this many decided blocks at least as unevenly (the sign test, two-sided).
fn luck(won: u64, lost: u64) -> f64 {
    let (all, most) = (won + lost, won.max(lost));
    if 2 * most <= all + 1 {
        return 1.0;
    }
    let ways = |of: u64| libm::lgamma(of as f64 + 1.0);
    let chance = |wins: u64| {
        libm::exp(ways(all) - ways(wins) - ways(all - wins) - all as f64 * std::f64::consts::LN_2)
    };
    let tail: f64 = (most..=all).map(chance).take_while(|chance| *chance > 1e-300).sum();
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use agon_game::Seeded;

    use super::*;

    /// This many blocks of every pair of the bots, in which `first` wins a game with the probability given by `of`.
    fn played(bots: u32, blocks: usize, seed: i64, of: impl Fn(u32, u32) -> f64) -> Vec<Vec<Meeting>> {
        let mut chance = Seeded::stream(seed, "cycles");
        let mut random = move || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let mut all = Vec::new();
        for first in 0..bots {
            for second in first + 1..bots {
                for _ in 0..blocks {
                    let wins = (0..2).filter(|_| random() < of(first, second)).count() as u64;
                    all.push(vec![Meeting::games(first, second, 2 * wins, 2)]);
                }
            }
        }
        all
    }

    #[test]
    fn the_sign_test_is_exact() {
        assert_eq!((luck(0, 0), luck(1, 0), luck(3, 2)), (1.0, 1.0, 1.0));
        // 2 (1 + 10) / 2^10.
        assert!((luck(9, 1) - 22.0 / 1024.0).abs() < 1e-12);
        assert!((luck(0, 10) - 2.0 / 1024.0).abs() < 1e-12);
        assert!(luck(6_000, 4_000) < 1e-80);
    }

    #[test]
    fn rock_paper_scissors_is_a_circle() {
        let names = ["paper", "rock", "scissors"];
        // Paper beats rock, rock beats scissors, scissors beat paper.
        let blocks = played(3, 60, 1, |first, second| if second - first == 1 { 0.8 } else { 0.2 });
        let found = cycles(&names, &blocks);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].bots, names.map(str::to_owned));
        assert!(found[0].scores.iter().all(|score| (0.7..0.9).contains(score)), "{found:?}");
        assert!(found[0].luck < 1e-4);
    }

    #[test]
    fn noise_makes_circles_in_one_table_of_twenty_at_most() {
        let names: Vec<String> = (0..10).map(|bot| format!("bot {bot}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // Equal bots, and bots a little apart in a true order.
        let mut wrong = 0;
        for seed in 0..200 {
            wrong += usize::from(!cycles(&names, &played(10, 20, seed, |_, _| 0.5)).is_empty());
            let order = |first: u32, second: u32| 0.5 + 0.03 * f64::from(second - first);
            wrong += usize::from(!cycles(&names, &played(10, 20, seed, order)).is_empty());
        }
        assert!(wrong <= 20, "{wrong} of 400");
    }
}
