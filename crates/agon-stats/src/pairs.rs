//! Who met whom, with what result: all that ratings need from any number of games.

use std::collections::BTreeSet;

/// A whole block in the units of [`Meeting::blocks`].
pub const BLOCK: u64 = 1 << 32;

/// All games of two bots, from the viewpoint of the first. In a game with more than two seats every pair
/// meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The lower of the two bot numbers.
    pub first: u32,
    /// The higher one.
    pub second: u32,
    /// What the first scored: 2 for a win, 1 for a draw. At most twice the meetings.
    pub points: u64,
    /// How often they met.
    pub meetings: u64,
    /// In how many pieces of evidence, in units of [`BLOCK`]: blocks, of which those that only repeat are one. Each bot divides a block among all it met in it, so that
    /// a block of nine seats is not eight pieces of evidence about one bot.
    pub blocks: u64,
}

impl Meeting {
    /// `count` games of `one` against `other`, each its own block, in which `one` scored `points` (2 for a
    /// win, 1 for a draw).
    pub fn games(one: u32, other: u32, points: u64, count: u64) -> Self {
        let blocks = count * BLOCK;
        if one < other {
            Self { first: one, second: other, points, meetings: count, blocks }
        } else {
            Self { first: other, second: one, points: 2 * count - points, meetings: count, blocks }
        }
    }

    /// The same games as often, as the same evidence.
    pub(crate) fn times(self, times: u64) -> Self {
        Self { points: self.points * times, meetings: self.meetings * times, ..self }
    }

    /// What the first scored, in wins.
    pub(crate) fn wins(&self) -> f64 {
        self.points as f64 / 2.0
    }

    /// Adds further games of the same two.
    fn take_in(&mut self, more: &Self) {
        self.points += more.points;
        self.meetings += more.meetings;
        self.blocks += more.blocks;
    }

    fn both(&self) -> u64 {
        u64::from(self.first) << 32 | u64::from(self.second)
    }
}

/// The meetings of every pair of bots, sorted and summed. Bots are numbered `0..bots`. Nothing here depends
/// on the order of games: all sums are of whole numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    bots: usize,
    list: Vec<Meeting>,
}

impl Pairs {
    /// Sums up meetings. Those of a bot with itself carry no information and are dropped.
    ///
    /// # Panics
    /// When a number is not below `bots`.
    pub fn new(bots: usize, meetings: impl IntoIterator<Item = Meeting>) -> Self {
        let mut list: Vec<Meeting> =
            meetings.into_iter().filter(|meeting| meeting.first != meeting.second).collect();
        list.sort_unstable_by_key(Meeting::both);
        list.dedup_by(|next, sum| {
            let same = next.both() == sum.both();
            if same {
                sum.take_in(next);
            }
            same
        });
        assert!(list.iter().all(|meeting| (meeting.second as usize) < bots), "a bot beyond {bots}");
        Self { bots, list }
    }

    /// These and further meetings together, of as many bots or more.
    ///
    /// # Panics
    /// When a number is not below the larger of both.
    pub fn with(&self, bots: usize, more: impl IntoIterator<Item = Meeting>) -> Self {
        let more = Self::new(bots.max(self.bots), more);
        let mut list = Vec::with_capacity(self.list.len() + more.list.len());
        let mut old = self.list.as_slice();
        for next in &more.list {
            let before = old.partition_point(|own| own.both() < next.both());
            list.extend_from_slice(&old[..before]);
            old = &old[before..];
            list.push(*next);
            if let (Some(sum), Some((own, rest))) = (list.last_mut(), old.split_first())
                && own.both() == next.both()
            {
                sum.take_in(own);
                old = rest;
            }
        }
        list.extend_from_slice(old);
        Self { bots: more.bots, list }
    }

    /// The number of bots.
    pub fn bots(&self) -> usize {
        self.bots
    }

    /// The meetings, sorted by the numbers of the bots.
    pub fn list(&self) -> &[Meeting] {
        &self.list
    }
}

/// The meetings in the matches of one block. A match is the bots of its seats and their ranks, of which
/// only the order matters.
pub fn meetings(matches: &[(Vec<u32>, &[u8])]) -> Vec<Meeting> {
    let bots: BTreeSet<u32> = matches.iter().flat_map(|(bots, _)| bots.iter().copied()).collect();
    let share = BLOCK / (bots.len() as u64).saturating_sub(1).max(1);
    let mut found: Vec<Meeting> = Vec::new();
    for (bots, ranks) in matches {
        for (seat, &one) in bots.iter().enumerate() {
            for (other_seat, &other) in
                bots.iter().enumerate().skip(seat + 1).filter(|(_, other)| **other != one)
            {
                let points = match ranks[seat].cmp(&ranks[other_seat]) {
                    std::cmp::Ordering::Less => 2,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Greater => 0,
                };
                let game = Meeting::games(one, other, points, 1);
                match found.iter_mut().find(|pair| pair.both() == game.both()) {
                    Some(pair) => {
                        pair.points += game.points;
                        pair.meetings += 1;
                    }
                    None => found.push(Meeting { blocks: share, ..game }),
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meetings_are_added_up_whatever_their_order() {
        let games = [Meeting::games(3, 1, 2, 1), Meeting::games(1, 3, 1, 1), Meeting::games(0, 1, 0, 2)];
        let pairs = Pairs::new(4, games);
        assert_eq!(pairs.list().len(), 2);
        assert_eq!(
            pairs.list()[1],
            Meeting { first: 1, second: 3, points: 1, meetings: 2, blocks: 2 * BLOCK }
        );
        assert_eq!(Pairs::new(4, games.into_iter().rev()), pairs);
        assert_eq!(Pairs::new(2, [games[2]]).with(4, [games[1], games[0]]), pairs);
    }

    #[test]
    fn a_block_of_many_seats_is_shared_out() {
        let ranks: [&[u8]; 2] = [&[1, 2, 3], &[1, 1, 2]];
        let block = [(vec![0, 1, 2], ranks[0]), (vec![1, 2, 0], ranks[1])];
        let found = meetings(&block);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0], Meeting { first: 0, second: 1, points: 2, meetings: 2, blocks: BLOCK / 2 });
        assert_eq!(found[2], Meeting { first: 1, second: 2, points: 3, meetings: 2, blocks: BLOCK / 2 });
        assert!(meetings(&[(vec![5, 5], &[1, 2])]).is_empty(), "a bot does not meet itself");
    }
}
