//! Who plays whom next: the formats of tournaments.
//!
//! A format is a pure function from the results so far to what can be played now. It keeps no state, so that a
//! tournament that was killed continues from its journal alone, and matches may run at once and end in any order:
//! the same results always lead to the same fixtures.
//!
//! Bots are numbered from 0, in the order of their seeds: bot 0 is presumed the strongest. What is played for a
//! [`Fixture`] is one **block**: the same seed and map in every rotation of the seats, so that no bot has the
//! better seat more often. Its result is the points of each of its bots, summed over the games of the block: 2 for
//! each opponent left behind in a game, 1 for each that is level.
//!
#![doc = "```"]
#![doc = include_str!("../examples/knockout.rs")]
#![doc = "```"]
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub mod swiss;

pub mod bracket;
pub mod heats;

pub mod ladder;
pub mod placement;

pub use bracket::{DoubleElimination, Knockout};
pub use heats::Heats;
pub use ladder::LadderFormat;
pub use placement::{Placed, Placement, Why};
pub use swiss::Swiss;

/// The id of a block in a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Id {
    /// The round, from 1.
    pub round: u32,
    /// The encounter within the round, from 1.
    pub table: u32,
    /// The block within the encounter, from 1: an encounter may be a best of several.
    pub block: u32,
}

/// A block to be played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixture {
    /// Its place in the tournament.
    pub id: Id,
    /// The bots, in the order of the seats in the first game of the block.
    pub bots: Vec<usize>,
}

/// A finished block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedBlock {
    /// The bots, as in the [`Fixture`].
    pub bots: Vec<usize>,
    /// The points of each of them over all games of the block: 2 for each opponent left behind in a game, 1 for
    /// each that is level. One entry per bot.
    pub points: Vec<u32>,
}

/// The finished blocks.
pub type BlockResults = BTreeMap<Id, FinishedBlock>;

/// A bot in the final or current table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Standing {
    /// Its number.
    pub bot: usize,
    /// Its place, from 1; tied bots share it.
    pub place: u32,
    /// Its points in all its blocks, including byes.
    pub points: u64,
    /// The tie-break between bots of equal points in Swiss: the points of its opponents. 0 elsewhere.
    pub opponents: u64,
}

/// What every format can tell.
pub trait Format {
    /// The blocks that can be played now, without those that have a result. All of them may be played at once, and
    /// the question may be asked again after each: blocks named before that have no result yet are named again.
    /// Empty when the tournament is over.
    fn next(&self, results: &BlockResults) -> Vec<Fixture>;

    /// The table as it stands, best first.
    fn standing(&self, results: &BlockResults) -> Vec<Standing>;
}

/// Why a tournament cannot be held.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// Too few bots.
    #[error("{seats} seats need at least {seats} bots, not {bots}")]
    Bots {
        /// How many there are.
        bots: usize,
        /// The seats of a match.
        seats: usize,
    },
    /// A number of seats that no game has.
    #[error("a match has 2 to 9 seats, not {0}")]
    Seats(usize),
    /// No rounds, or more than there are opponents.
    #[error("{bots} bots can play 1 to {most} rounds without meeting again, not {rounds}")]
    Rounds {
        /// How many there are.
        bots: usize,
        /// The rounds asked for.
        rounds: u32,
        /// The most rounds.
        most: u32,
    },
    /// An encounter of no blocks.
    #[error("best of {0}: an encounter has 1 to 99 blocks")]
    BestOf(u32),
    /// Nobody, or everybody, would go on from a heat.
    #[error("{advance} of {seats} bots cannot advance: it must be 1 to {}", seats - 1)]
    Advance {
        /// How many should go on.
        advance: usize,
        /// The seats of a heat.
        seats: usize,
    },
    /// An interval outside the allowed range.
    #[error("within {0} Elo: it must be 1 to 1000")]
    Within(u32),
    /// A cut line outside the table.
    #[error("the top {top} of {bots} bots cannot be decided: it must be 1 to {}", bots.saturating_sub(1))]
    Top {
        /// The cut line.
        top: usize,
        /// How many there are.
        bots: usize,
    },
}

/// The points of a bot that left all others behind in every game of a block.
pub fn full(seats: usize) -> u32 {
    (2 * seats * (seats - 1)) as u32
}

/// Upper limit on the further blocks played to separate level bots; then the better seed goes on. Deterministic
/// bots might stay level for ever.
const FURTHER_BLOCKS: u32 = 6;

fn check(bots: usize, seats: usize) -> Result<(), FormatError> {
    if !(2..=9).contains(&seats) {
        return Err(FormatError::Seats(seats));
    }
    if bots < seats { Err(FormatError::Bots { bots, seats }) } else { Ok(()) }
}

/// Checks the number of blocks in an encounter.
fn check_best_of(best_of: u32) -> Result<(), FormatError> {
    if (1..=99).contains(&best_of) { Ok(()) } else { Err(FormatError::BestOf(best_of)) }
}

/// The order of the seats in the first game of a block: bots that had the first seat less often come first.
fn seated(mut bots: Vec<usize>, first_seats: &[u32]) -> Vec<usize> {
    bots.sort_by_key(|&bot| (first_seats[bot], bot));
    bots
}

/// Gives places to bots in order; equal keys share one.
fn places<K: PartialEq>(order: Vec<(usize, K)>, points: &[u64], opponents: &[u64]) -> Vec<Standing> {
    let mut standing: Vec<Standing> = Vec::with_capacity(order.len());
    for (index, (bot, key)) in order.iter().enumerate() {
        let place = match index.checked_sub(1) {
            Some(before) if order[before].1 == *key => standing[before].place,
            _ => index as u32 + 1,
        };
        standing.push(Standing { bot: *bot, place, points: points[*bot], opponents: opponents[*bot] });
    }
    standing
}

/// The documentation's example, as a test.
#[cfg(test)]
#[path = "../examples/knockout.rs"]
mod example;
#[cfg(test)]
extern crate self as agon_pairing;

#[cfg(test)]
pub(crate) mod tests {
    use agon_game::Seeded;

    use super::*;

    /// Plays a tournament in which the better bot usually wins, handing out fixtures one at a time in random
    /// order, and checks that the format is a function of the results alone.
    pub fn play(format: &dyn Format, seats: usize, seed: i64, luck: f64) -> (BlockResults, Vec<Fixture>) {
        let mut chance = Seeded::stream(seed, "luck");
        let mut random = move || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let (mut results, mut played) = (BlockResults::new(), Vec::new());
        loop {
            let now = format.next(&results);
            if now.is_empty() {
                return (results, played);
            }
            let fixture = now[(random() * now.len() as f64) as usize].clone();
            assert_eq!(fixture.bots.len(), seats);
            // Each fixture has its own luck, so that the order of play decides nothing.
            let Id { round, table, block } = fixture.id;
            let stream = (i64::from(round) << 40) + (i64::from(table) << 20) + i64::from(block) + seed;
            let mut own = Seeded::stream(stream, "block");
            let mut points = vec![0; seats];
            for _ in 0..seats {
                let mut form =
                    |bot: usize| (own.bits() >> 11) as f64 / (1u64 << 53) as f64 * luck - bot as f64;
                let forms: Vec<f64> = fixture.bots.iter().map(|&bot| form(bot)).collect();
                for (seat, points) in points.iter_mut().enumerate() {
                    *points += 2 * forms.iter().filter(|&&form| form < forms[seat]).count() as u32;
                }
            }
            let block = FinishedBlock { bots: fixture.bots.clone(), points };
            assert!(results.insert(fixture.id, block).is_none(), "{fixture:?} a second time");
            played.push(fixture);
        }
    }

    #[test]
    fn the_example_of_the_documentation_holds() {
        example::main().unwrap();
    }

    #[test]
    fn the_order_of_playing_decides_nothing() {
        let formats: [(Box<dyn Format>, usize); 5] = [
            (Box::new(Swiss::new(9, 2, 4).unwrap()), 2),
            (Box::new(Knockout::new(11, 3).unwrap()), 2),
            (Box::new(DoubleElimination::new(11, 1).unwrap()), 2),
            (Box::new(Heats::new(17, 4, 2, 1).unwrap()), 4),
            (Box::new(LadderFormat::new(8, 2, 60, None).unwrap()), 2),
        ];
        for (format, seats) in formats {
            let (results, played) = play(&*format, seats, 7, 6.0);
            // The same results, taken in strictly in the order of their ids.
            let mut again = BlockResults::new();
            loop {
                let now = format.next(&again);
                let Some(first) = now.iter().min_by_key(|fixture| fixture.id) else { break };
                assert!(played.contains(first), "{first:?}");
                again.insert(first.id, results[&first.id].clone());
            }
            assert_eq!(again, results);
            assert_eq!(format.standing(&again), format.standing(&results));
        }
    }
}
