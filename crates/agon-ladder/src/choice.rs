//! Who plays next.
//!
//! Versions with few matches come first, the one with the fewest before all others. Then six of ten blocks go to the
//! pair whose match tells most, three to whoever waited longest, one to two far apart: with neighbours only, the
//! ends of a long ladder drift.

use crate::Ladder;

/// A version that may play now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// Which.
    pub version: i64,
    /// How many of its matches wait or are played.
    pub in_flight: u32,
}

/// How a ladder is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Seats of a match.
    pub seats: usize,
    /// A version with fewer rated matches comes before all others.
    pub placing: u32,
    /// A version with so many rated matches plays only as somebody's opponent.
    pub enough: u32,
}

/// No version has more matches in flight, unless one block is more.
pub const IN_FLIGHT: u32 = 4;

impl Ladder {
    /// The versions of the next block, in the order of the seats of its first match; none when nobody needs one or too
    /// few are free. `number` is the block's among all, from 1: it decides which share it belongs to.
    pub fn next(&mut self, contenders: &[Contender], policy: &Policy, number: i64) -> Option<Vec<i64>> {
        let block = policy.seats as u32;
        let is_free = |one: &Contender| one.in_flight == 0 || one.in_flight + block <= IN_FLIGHT;
        let numbers: Vec<usize> = contenders.iter().map(|one| self.number(one.version)).collect();
        // New ratings when there is something to see: at once in a short ladder, not after each block in a long one.
        if self.unseen > self.numbers.len() / 20 {
            self.known.refit();
            self.unseen = 0;
        }
        let mut free = vec![false; self.numbers.len()];
        for (one, &number) in contenders.iter().zip(&numbers) {
            free[number] = is_free(one);
        }
        let so_far = |one: &Contender| self.matches(one.version) + one.in_flight;
        let wants =
            contenders.iter().zip(&numbers).filter(|(one, _)| is_free(one) && so_far(one) < policy.enough);
        let fewest = wants.min_by_key(|(one, number)| (so_far(one), **number))?;
        let number = usize::try_from(number).unwrap_or(0);
        let (first, far) = match number % 10 {
            _ if so_far(fewest.0) < policy.placing => (Some(*fewest.1), None),
            0 => (None, Some(number / 10)),
            3 | 6 | 9 => (Some(*fewest.1), None),
            _ => (None, None),
        };
        let chosen = self.known.choose_one(&free, first, far, policy.seats)?;
        let version =
            |bot: usize| self.numbers.iter().find(|(_, own)| **own == bot).map(|(version, _)| *version);
        chosen.into_iter().map(version).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agon_game::Seeded;

    use super::*;
    use crate::Row;

    const POLICY: Policy = Policy { seats: 2, placing: 20, enough: 60 };

    /// Plays a block of two: the version with the greater number is the better one by far or by little.
    fn play(ladder: &mut Ladder, block: i64, lineup: &[i64], luck: f64) {
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
        let mut ladder = Ladder::new();
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
        let mut ladder = Ladder::new();
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
        let mut ladder = Ladder::new();
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
                // Those in the air land, the last first.
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

    #[test]
    fn in_nine_seats_one_block_at_a_time_is_allowed() {
        let mut ladder = Ladder::new();
        let policy = Policy { seats: 9, ..POLICY };
        let lineup = ladder.next(&idle(1..=12), &policy, 1).expect("nine are free");
        assert_eq!(lineup.len(), 9);
        let busy = (1..=12)
            .map(|version| Contender { version, in_flight: if lineup.contains(&version) { 9 } else { 0 } });
        assert_eq!(ladder.next(&busy.collect::<Vec<_>>(), &policy, 2), None, "three are free");
        assert_eq!(ladder.next(&idle(1..=8), &policy, 2), None, "too few");
    }
}
