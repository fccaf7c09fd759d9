//! What a contest decides: who plays next, who may go live, the table, and which worker stands out.
//!
//! Plain data in, plain data out: no SQL, no clock, no randomness. **The table is a function of the sealed log** ([`LadderState::table`]):
//! nothing is updated in place, and the same rows make the same table on every machine.
//!
//! The unit is the block: the same seed and map in every rotation of the seats. A block counts once all of its matches are in the log; one
//! with a match that was given up never counts, so that a fault of ours gives nobody a rank.

#![forbid(unsafe_code)]

// In reading order.
pub mod admission;
pub mod choice;
pub mod met;
pub mod outliers;
pub mod shares;
pub mod shown;
pub mod verdict;

mod table;

pub use agon_api::{LadderRow, VersionRating};
pub use agon_stats::TableHead;

pub use admission::{Admission, Check, admission};
pub use choice::{Contender, Policy};
pub use met::Met;
pub use outliers::{Outlier, outlier};
pub use shares::{Lane, Shares};
pub use shown::{SURE, StandingVersion, head, shown};
pub use table::{PLACED, Table};
pub use verdict::Evidence;

use std::collections::{BTreeMap, BTreeSet};

use agon_pairing::ladder::Knowledge;
use agon_stats::pairs::{Meeting, meetings};
use agon_stats::{MatchBlock, RankedMatch};

/// A rated match, as recorded in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The number of its block.
    pub block: i64,
    /// Which rotation, from 0; there are as many as seats.
    pub rotation: i64,
    /// The version in each seat.
    pub versions: Vec<i64>,
    /// The rank of each seat; the least is the best.
    pub ranks: Vec<u8>,
    /// A hash of the initial position.
    pub start: String,
    /// A hash of all answers.
    pub answers: String,
}

/// The state derived from the log so far.
#[derive(Clone, Debug)]
pub struct LadderState {
    known: Knowledge,
    /// The number of each version in `known`.
    numbers: BTreeMap<i64, usize>,
    /// Rows of incomplete blocks.
    open: BTreeMap<i64, Vec<Row>>,
    whole: Vec<Whole>,
    /// The number of each version's rated matches that count, those of incomplete blocks included.
    matches: BTreeMap<i64, u32>,
    /// The newest block in which each version sat.
    last: BTreeMap<i64, i64>,
    /// How the maps go round for each lineup.
    dealt: BTreeMap<Vec<i64>, Dealt>,
    /// Blocks since the last rating.
    unseen: usize,
    left_out: LeftOut,
}

/// How the maps go round for versions that meet. A map must not depend on who else plays: a pair gets all of them equally often.
#[derive(Clone, Copy, Debug)]
struct Dealt {
    /// Where the round begins, so that not all begin with the same map.
    first: i64,
    /// Blocks planned here.
    planned: i64,
    /// Blocks in the log.
    seen: i64,
}

/// A complete block.
#[derive(Clone, Debug)]
struct Whole {
    number: i64,
    /// The versions in its first match.
    lineup: Vec<i64>,
    /// The points that each of them gained.
    points: Vec<u32>,
    /// Who scored how much against whom, by the numbers in `known`.
    meetings: Vec<Meeting>,
    block: MatchBlock,
}

/// The entry of these versions, whoever sits where.
fn dealt<'a>(all: &'a mut BTreeMap<Vec<i64>, Dealt>, lineup: &[i64], first: i64) -> &'a mut Dealt {
    let mut lineup = lineup.to_vec();
    lineup.sort_unstable();
    all.entry(lineup).or_insert(Dealt { first, planned: 0, seen: 0 })
}

/// What rulings left out: these blocks, and every block in which one of these versions sat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub versions: BTreeSet<i64>,
    /// Numbers of blocks.
    pub blocks: BTreeSet<i64>,
}

impl LeftOut {
    fn counts(&self, block: i64, versions: &[i64]) -> bool {
        !self.blocks.contains(&block) && !versions.iter().any(|version| self.versions.contains(version))
    }
}

impl Default for LadderState {
    fn default() -> Self {
        Self::new()
    }
}

impl LadderState {
    /// The ladder before the first match.
    pub fn new() -> Self {
        Self {
            known: Knowledge::new(0),
            numbers: BTreeMap::new(),
            open: BTreeMap::new(),
            whole: Vec::new(),
            matches: BTreeMap::new(),
            last: BTreeMap::new(),
            dealt: BTreeMap::new(),
            unseen: 0,
            left_out: LeftOut::default(),
        }
    }

    /// Takes in the next row of the log.
    pub fn feed(&mut self, row: Row) {
        self.count(row.block, &row.versions, 1);
        for version in &row.versions {
            let last = self.last.entry(*version).or_default();
            *last = row.block.max(*last);
        }
        let (block, seats) = (row.block, row.versions.len());
        let rows = self.open.entry(block).or_default();
        if rows.is_empty() {
            dealt(&mut self.dealt, &row.versions, block - 1).seen += 1;
        }
        rows.push(row);
        if rows.len() == seats
            && let Some(mut rows) = self.open.remove(&block)
        {
            rows.sort_by_key(|row| row.rotation);
            self.take_in(&rows);
        }
    }

    /// Deals the next of this many maps, from 0, to versions that will meet in the block with this number, from 0: each lineup gets all
    /// maps in turn.
    pub fn deal(&mut self, lineup: &[i64], block: i64, maps: i64) -> i64 {
        let own = dealt(&mut self.dealt, lineup, block);
        let turn = own.planned.max(own.seen);
        own.planned = turn + 1;
        (own.first + turn) % maps.max(1)
    }

    /// Takes in a complete block.
    fn take_in(&mut self, rows: &[Row]) {
        let lineup = &rows[0].versions;
        let mut points = vec![0u32; lineup.len()];
        for row in rows {
            for (seat, version) in row.versions.iter().enumerate() {
                let place = lineup.iter().position(|own| own == version).unwrap_or(seat);
                let gained = |other: &u8| match row.ranks[seat].cmp(other) {
                    std::cmp::Ordering::Less => 2,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Greater => 0,
                };
                // The seat itself is one of the equals.
                points[place] += row.ranks.iter().map(gained).sum::<u32>() - 1;
            }
        }
        let mut seats = |row: &Row| row.versions.iter().map(|&version| self.number(version) as u32).collect();
        let matches: Vec<(Vec<u32>, &[u8])> = rows.iter().map(|row| (seats(row), &row.ranks[..])).collect();
        let whole = Whole {
            number: rows[0].block,
            lineup: lineup.clone(),
            points,
            meetings: meetings(&matches),
            block: MatchBlock {
                start: table::start(rows),
                fingerprint: table::fingerprint(rows),
                matches: rows
                    .iter()
                    .map(|row| RankedMatch {
                        bots: row.versions.iter().map(|version| table::name(*version)).collect(),
                        ranks: row.ranks.clone(),
                    })
                    .collect(),
            },
        };
        self.learn(&whole);
        self.whole.push(whole);
    }

    /// Learns from a block about its versions, if it counts.
    fn learn(&mut self, whole: &Whole) {
        let bots: Vec<usize> = whole.lineup.iter().map(|&version| self.number(version)).collect();
        if self.left_out.counts(whole.number, &whole.lineup) {
            self.known.add(&bots, &whole.points);
            self.unseen += 1;
        }
    }

    /// Counts matches of a block, if it counts.
    fn count(&mut self, block: i64, versions: &[i64], matches: u32) {
        if self.left_out.counts(block, versions) {
            for version in versions {
                *self.matches.entry(*version).or_default() += matches;
            }
        }
    }

    fn number(&mut self, version: i64) -> usize {
        let next = self.numbers.len();
        let number = *self.numbers.entry(version).or_insert(next);
        self.known.grow(self.numbers.len());
        number
    }

    /// Leaves out exactly these versions and blocks from now on: from the table, from what is known of the others, and from the matches
    /// that those have had, so that they are owed new ones.
    pub fn leave_out(&mut self, left_out: LeftOut) {
        if self.left_out == left_out {
            return;
        }
        self.left_out = left_out;
        self.matches.clear();
        self.known = Knowledge::new(self.numbers.len());
        let whole = std::mem::take(&mut self.whole);
        for block in &whole {
            self.count(block.number, &block.lineup, block.block.matches.len() as u32);
            self.learn(block);
        }
        self.whole = whole;
        let open: Vec<(i64, Vec<i64>)> =
            self.open.values().flatten().map(|row| (row.block, row.versions.clone())).collect();
        for (block, versions) in open {
            self.count(block, &versions, 1);
        }
        self.known.refit();
        self.unseen = 0;
    }

    /// How many rated matches of a version count.
    pub fn matches(&self, version: i64) -> u32 {
        self.matches.get(&version).copied().unwrap_or(0)
    }

    /// The number of complete blocks.
    pub fn blocks(&self) -> usize {
        self.whole.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_dealt_all_maps_equally_often_whoever_else_plays() {
        let mut ladder = LadderState::new();
        let mut played: BTreeMap<(i64, i64), [u32; 5]> = BTreeMap::new();
        // One pair meets in every fifth block: taking the maps in turn would give it always the same one.
        for block in 0..200i64 {
            let lineup = if block % 5 == 0 { [2, 1] } else { [1 + block % 3, 5 + block % 4] };
            // After a restart it is known from the log.
            if block == 100 {
                let mut again = LadderState::new();
                for number in 0..100i64 {
                    let versions =
                        if number % 5 == 0 { vec![1, 2] } else { vec![1 + number % 3, 5 + number % 4] };
                    let row = |rotation| Row {
                        block: number + 1,
                        rotation,
                        versions: versions.clone(),
                        ranks: vec![1, 2],
                        start: String::new(),
                        answers: String::new(),
                    };
                    (0..2).for_each(|rotation| again.feed(row(rotation)));
                }
                ladder = again;
            }
            let map = ladder.deal(&lineup, block, 5);
            let pair = (lineup[0].min(lineup[1]), lineup[0].max(lineup[1]));
            played.entry(pair).or_default()[map as usize] += 1;
        }
        assert_eq!(played[&(1, 2)], [8; 5]);
        for (pair, maps) in played {
            let (least, most) = (maps.iter().min(), maps.iter().max());
            assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1), "{pair:?}: {maps:?}");
        }
    }
}
