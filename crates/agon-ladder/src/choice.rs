//! Who plays next.
//!
//! Versions with few matches come first, those with the fewest before all others. After that, six of ten blocks go to the most informative
//! pair, three to whoever waited longest, and one to two that are far apart: with neighbours only, the ends of a long ladder drift.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::LadderState;

/// A version that may play now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    pub version: i64,
    /// How many of its matches are waiting or being played.
    pub in_flight: u32,
}

/// How a ladder is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Seats per match.
    pub seats: usize,
    /// A version with fewer rated matches comes before all others.
    pub placing: u32,
    /// A version with this many rated matches plays only as another's opponent.
    pub enough: u32,
}

impl Policy {
    /// About how many matches are still to be played, for versions that have had this many each.
    ///
    /// Of the other seats in a match some go to versions that want it, too, and some to versions that have enough. They are not drawn at
    /// random: versions with few matches are the most informative. In what the ladder chooses, the share of wanting ones is halfway between
    /// a random draw's and all.
    pub fn owed(&self, matches: impl IntoIterator<Item = u64>) -> u64 {
        let wants: Vec<u64> =
            matches.into_iter().map(|own| u64::from(self.enough).saturating_sub(own)).collect();
        let others = |count: usize| count.saturating_sub(1) as f64;
        let wanting = others(wants.iter().filter(|own| **own > 0).count());
        let share = if wanting > 0.0 { f64::midpoint(wanting / others(wants.len()), 1.0) } else { 0.0 };
        let together = wants.iter().sum::<u64>() as f64 / (1.0 + others(self.seats) * share);
        // No version sits in a match twice.
        wants.into_iter().max().unwrap_or(0).max(together.round() as u64)
    }
}

/// Upper limit on the matches of a version in flight, except that a block is always whole.
pub const IN_FLIGHT: u32 = 4;

impl LadderState {
    /// The versions of the next block, in the order of the seats of its first match; none if no version needs one, or too few are free.
    /// `number` is the block's number, from 1: it decides which share the block belongs to.
    pub fn next(&mut self, contenders: &[Contender], policy: &Policy, number: i64) -> Option<Vec<i64>> {
        self.next_blocks(contenders, policy, number, 1).pop()
    }

    /// The next blocks, at most `most`. None of them is played before the last is planned.
    pub fn next_blocks(
        &mut self,
        contenders: &[Contender],
        policy: &Policy,
        number: i64,
        most: usize,
    ) -> Vec<Vec<i64>> {
        let block = policy.seats as u32;
        let is_free = |in_flight: u32| in_flight == 0 || in_flight + block <= IN_FLIGHT;
        let numbers: Vec<usize> = contenders.iter().map(|one| self.number(one.version)).collect();
        // Rate again once there is enough news: at once in a short ladder, not after each block in a long one.
        if self.unseen > self.numbers.len() / 20 {
            self.known.refit();
            self.unseen = 0;
        }
        let mut free = vec![false; self.numbers.len()];
        let mut wanting = free.clone();
        // For each number the version, and its matches in flight.
        let mut own = vec![(0, 0); self.numbers.len()];
        // The versions that want matches. Among those with few, the one with the fewest comes first; then the one that waited longest.
        // Going by counts would give all of them equally many, and those whose rank is open need more.
        let mut wants = BinaryHeap::new();
        let so_far = |(version, in_flight)| self.matches(version) + in_flight;
        let turn = |one: (i64, u32)| match so_far(one) {
            few if few < policy.placing => (few, 0),
            _ => (policy.placing + one.1, self.last.get(&one.0).copied().unwrap_or(0)),
        };
        for (one, &number) in contenders.iter().zip(&numbers) {
            free[number] = is_free(one.in_flight);
            own[number] = (one.version, one.in_flight);
            wanting[number] = so_far(own[number]) < policy.enough;
            if free[number] && wanting[number] {
                wants.push(Reverse((turn(own[number]), number)));
            }
        }
        let mut choice = self.known.choice(free, wanting);
        let mut blocks = Vec::new();
        while blocks.len() < most {
            let Some(&Reverse((its_turn, next))) = wants.peek() else { break };
            let now = turn(own[next]);
            if now != its_turn {
                // It is in one of these blocks: it now has more matches, or as many in flight as it may have.
                wants.pop();
                if is_free(own[next].1) && so_far(own[next]) < policy.enough {
                    wants.push(Reverse((now, next)));
                }
                continue;
            }
            let number = usize::try_from(number).unwrap_or(0) + blocks.len();
            let (first, far) = match number % 10 {
                _ if so_far(own[next]) < policy.placing => (Some(next), None),
                0 => (None, Some(number / 10)),
                3 | 6 | 9 => (Some(next), None),
                _ => (None, None),
            };
            let Some(chosen) = choice.next(first, far, policy.seats) else { break };
            for &bot in &chosen {
                own[bot].1 += block;
                if so_far(own[bot]) >= policy.enough {
                    choice.enough(bot);
                }
                if !is_free(own[bot].1) {
                    choice.busy(bot);
                }
            }
            blocks.push(chosen.into_iter().map(|bot| own[bot].0).collect());
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agon_game::Seeded;

    use super::*;
    use crate::Row;

    const POLICY: Policy = Policy { seats: 2, placing: 20, enough: 60 };

    /// Plays a block of two: the version with the greater number is much or slightly better.
    fn play(ladder: &mut LadderState, block: i64, lineup: &[i64], luck: f64) {
        let mut chance = Seeded::stream(block, "luck");
        let mut random = || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
        for rotation in 0..lineup.len() {
            let seats = lineup.len();
            let versions: Vec<i64> =
                (0..seats).map(|seat| lineup[(seat + seats - rotation) % seats]).collect();
            let form: Vec<f64> = versions.iter().map(|&version| version as f64 + luck * random()).collect();
            let ranks =
                form.iter().map(|own| 1 + form.iter().filter(|other| *other > own).count() as u8).collect();
            let answers = format!("{block}-{rotation}");
            ladder.feed(Row {
                block,
                rotation: rotation as i64,
                versions,
                ranks,
                start: block.to_string(),
                answers,
            });
        }
    }

    fn idle(versions: impl Iterator<Item = i64>) -> Vec<Contender> {
        versions.map(|version| Contender { version, in_flight: 0 }).collect()
    }

    #[test]
    fn a_lone_upload_gets_its_first_matches_before_anything_else() {
        let mut ladder = LadderState::new();
        let old = idle(1..=5);
        for block in 1..=60 {
            let lineup =
                ladder.next(&old, &Policy { enough: 1000, ..POLICY }, block).expect("somebody plays");
            play(&mut ladder, block, &lineup, 3.0);
        }
        let all = idle(1..=6);
        for block in 61..=70 {
            let lineup = ladder.next(&all, &POLICY, block).expect("somebody plays");
            assert!(lineup.contains(&6), "block {block}: {lineup:?}");
            play(&mut ladder, block, &lineup, 3.0);
        }
        assert_eq!(ladder.matches(6), 20);
    }

    #[test]
    fn of_forty_uploads_each_gets_four_before_any_gets_twenty() {
        let mut ladder = LadderState::new();
        let all = idle(1..=40);
        for block in 1.. {
            let lineup = ladder.next(&all, &POLICY, block).expect("somebody plays");
            play(&mut ladder, block, &lineup, 9.0);
            let matches: Vec<u32> = (1..=40).map(|version| ladder.matches(version)).collect();
            if matches.iter().all(|own| *own >= 4) {
                break;
            }
            assert!(matches.iter().all(|own| *own < 20), "{matches:?}");
        }
    }

    #[test]
    fn nobody_has_more_than_four_matches_in_flight_and_the_ladder_comes_to_rest() {
        let mut ladder = LadderState::new();
        let mut flying: BTreeMap<i64, u32> = BTreeMap::new();
        let mut open: Vec<(i64, Vec<i64>)> = Vec::new();
        let mut block = 0;
        loop {
            let contenders: Vec<Contender> = (1..=7)
                .map(|version| Contender { version, in_flight: flying.get(&version).copied().unwrap_or(0) })
                .collect();
            match ladder.next(&contenders, &POLICY, block + 1) {
                Some(lineup) => {
                    block += 1;
                    lineup.iter().for_each(|version| *flying.entry(*version).or_default() += 2);
                    assert!(flying.values().all(|count| *count <= IN_FLIGHT), "{flying:?}");
                    open.push((block, lineup));
                }
                // The matches in flight end, the last first.
                None if open.is_empty() => break,
                None => {
                    let (number, lineup) = open.pop().expect("there is one");
                    lineup.iter().for_each(|version| *flying.entry(*version).or_default() -= 2);
                    play(&mut ladder, number, &lineup, 3.0);
                }
            }
        }
        assert!((1..=7).all(|version| ladder.matches(version) >= POLICY.enough));
        assert!(block < 7 * 60, "{block} blocks for seven versions");
    }

    /// Some have enough already, and new ones join: about as many matches are played as are owed, and in each sits a version that wants it.
    #[test]
    fn whoever_has_enough_plays_only_as_an_opponent_and_about_what_is_owed_is_played() {
        for (old, new) in [(0, 3), (0, 8), (0, 40), (10, 1), (10, 2), (10, 5), (30, 3), (30, 10)] {
            for seats in [2, 4] {
                let policy = Policy { seats, ..POLICY };
                if old + new < seats as i64 {
                    continue;
                }
                let (mut ladder, mut block) = (LadderState::new(), 0);
                for all in [idle(1..=old), idle(1..=old + new)] {
                    // How many were said to be owed after this many matches.
                    let mut said = Vec::new();
                    loop {
                        let matches = |one: &Contender| u64::from(ladder.matches(one.version));
                        said.push(policy.owed(all.iter().map(matches)));
                        let Some(lineup) = ladder.next(&all, &policy, block + 1) else { break };
                        block += 1;
                        let has_enough = |one: &i64| ladder.matches(*one) >= policy.enough;
                        assert!(!lineup.iter().all(has_enough), "{lineup:?}");
                        play(&mut ladder, block, &lineup, 3.0);
                    }
                    let played = (said.len() - 1) * seats;
                    // With many seats, more than predicted are played near the end, when only a version or two are left.
                    for at in [0, said.len() / 2].into_iter().take(4 / seats) {
                        let left = (played - at * seats) as u64;
                        let about = format!("{old} and {new} in {seats} seats: {} of {left}", said[at]);
                        assert!(said[at].abs_diff(left) * 4 <= left, "{about}");
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_that_are_planned_together_are_of_others_and_keep_every_limit() {
        let mut ladder = LadderState::new();
        let policy = Policy { enough: 1000, ..POLICY };
        for block in 1..=400 {
            let lineup = ladder.next(&idle(1..=40), &policy, block).expect("somebody plays");
            play(&mut ladder, block, &lineup, 9.0);
        }
        let blocks = ladder.next_blocks(&idle(1..=40), &policy, 401, 15);
        assert_eq!(blocks.len(), 15);
        assert_eq!(Some(&blocks[0]), ladder.next(&idle(1..=40), &policy, 401).as_ref());
        let pairs: std::collections::BTreeSet<Vec<i64>> = blocks
            .iter()
            .map(|lineup| {
                let mut pair = lineup.clone();
                pair.sort_unstable();
                pair
            })
            .collect();
        assert!(pairs.len() >= 14, "{blocks:?}");
        // The capacity: four matches of each version are two blocks.
        let all = ladder.next_blocks(&idle(1..=40), &policy, 401, 1000);
        assert!((38..=40).contains(&all.len()), "{}", all.len());
        for version in 1..=40 {
            assert!(all.iter().filter(|lineup| lineup.contains(&version)).count() <= 2);
        }
        // Nobody asks for one that has enough.
        assert_eq!(
            ladder.next_blocks(&idle(1..=40), &Policy { enough: 1, ..POLICY }, 401, 9),
            Vec::<Vec<i64>>::new()
        );
    }

    #[test]
    fn three_of_ten_blocks_are_for_whoever_waited_longest_however_much_it_played() {
        let mut ladder = LadderState::new();
        let all = idle(1..=20);
        let mut block = 0;
        let mut meet = |ladder: &mut LadderState, lineup: &[i64], times: usize| {
            for _ in 0..times {
                block += 1;
                play(ladder, block, lineup, 9.0);
            }
        };
        meet(&mut ladder, &[7, 8], 25);
        for one in 1..=20 {
            let other = 1 + (one + 9) % 20;
            if ![one, other].contains(&7) && ![one, other].contains(&8) {
                meet(&mut ladder, &[one, other], 10);
            }
        }
        // These two opponents have met nobody else.
        meet(&mut ladder, &[17, 18], 10);
        let of = |number| {
            ladder.clone().next(&all, &Policy { enough: 1000, ..POLICY }, number).expect("somebody plays")
        };
        for number in [1003, 1006, 1009] {
            assert!(of(number).contains(&7), "{number}: {:?}", of(number));
        }
        let busy: Vec<Contender> =
            all.iter().map(|one| Contender { in_flight: u32::from(one.version == 7) * 2, ..*one }).collect();
        let next = ladder.next(&busy, &Policy { enough: 1000, ..POLICY }, 1003).expect("somebody plays");
        assert!(next.contains(&8), "7 plays already: {next:?}");
    }

    #[test]
    fn in_nine_seats_one_block_at_a_time_is_allowed() {
        let mut ladder = LadderState::new();
        let policy = Policy { seats: 9, ..POLICY };
        let lineup = ladder.next(&idle(1..=12), &policy, 1).expect("nine are free");
        assert_eq!(lineup.len(), 9);
        let busy = (1..=12)
            .map(|version| Contender { version, in_flight: if lineup.contains(&version) { 9 } else { 0 } });
        assert_eq!(ladder.next(&busy.collect::<Vec<_>>(), &policy, 2), None, "three are free");
        assert_eq!(ladder.next(&idle(1..=8), &policy, 2), None, "too few");
    }
}
