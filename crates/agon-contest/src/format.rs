//! Tournaments other than round robin: who plays whom follows from the results so far (`agon-pairing`).

use std::collections::BTreeSet;

use agon_pairing::{
    BlockResults, DoubleElimination, FinishedBlock, Format, FormatError, Heats, Id, Knockout, LadderFormat,
    Placed, Placement, Standing, Swiss,
};
use agon_stats::twin::half_opponents_beaten;
use serde::{Deserialize, Serialize};

use crate::journal::Entry;
use crate::plan::{BlockPlan, Plan};

/// A format with its parameters. An encounter is one block or several; a block is one seed in all rotations of the seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum FormatSpec {
    /// A fixed number of rounds; bots with equal points meet, no pair twice.
    Swiss {
        /// The number of rounds.
        rounds: u32,
    },
    /// The loser of an encounter is out.
    Knockout {
        /// Blocks per encounter.
        best_of: u32,
    },
    /// A bot that has lost two encounters is out.
    DoubleElimination {
        /// Blocks per encounter.
        best_of: u32,
    },
    /// Knockout with more than two seats: the best of each heat advance.
    Heats {
        /// Blocks per heat.
        best_of: u32,
        /// How many advance.
        advance: usize,
    },
    /// Each pairing is the one that tells most about the order.
    Ladder {
        /// Blocks in total.
        blocks: u32,
        /// Only the order across this line matters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        top: Option<usize>,
    },
    /// Places a newcomer among bots that have played before. It is the first of the seeding.
    Placement {
        /// Upper limit on the blocks.
        blocks: u32,
        /// Stops once half of its interval is this many Elo.
        within: u32,
    },
}

/// What the journal keeps of a format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormatId {
    #[serde(flatten)]
    pub form: FormatSpec,
    /// The bots by index in the header, the presumed strongest first.
    pub seeding: Vec<usize>,
    /// In a placement, the ratings of all but the newcomer, in seeding order, in tenths of Elo.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratings: Vec<i32>,
}

/// Blocks of an encounter and tables of a round have numbers below this.
const MOST_BLOCKS: u64 = 1_000;
const MOST_TABLES: u64 = 100_000;

/// The number of a block in the journal.
pub fn number(id: Id) -> u64 {
    (u64::from(id.round) * MOST_TABLES + u64::from(id.table)) * MOST_BLOCKS + u64::from(id.block)
}

/// The block with this number.
pub fn id(number: u64) -> Option<Id> {
    let (rest, block) = (number / MOST_BLOCKS, (number % MOST_BLOCKS) as u32);
    let (round, table) = (u32::try_from(rest / MOST_TABLES).ok()?, (rest % MOST_TABLES) as u32);
    (round > 0 && table > 0 && block > 0).then_some(Id { round, table, block })
}

/// Hands out the blocks of a format.
pub struct Schedule {
    format: Box<dyn Format + Send>,
    ladder: Option<LadderFormat>,
    placement: Option<Placement>,
    seeding: Vec<usize>,
    results: BlockResults,
    named: BTreeSet<Id>,
    blocks: Option<u64>,
}

impl Schedule {
    /// The state before the first result.
    ///
    /// # Errors
    /// When the format cannot be held with this number of bots and seats.
    pub fn new(what: &FormatId, bots: usize, seats: u8) -> Result<Self, FormatError> {
        let seats = usize::from(seats);
        let (mut ladder, mut placement) = (None, None);
        let (format, blocks): (Box<dyn Format + Send>, Option<u64>) = match what.form {
            FormatSpec::Swiss { rounds } => {
                (Box::new(Swiss::new(bots, seats, rounds)?), Some(u64::from(rounds) * (bots / seats) as u64))
            }
            FormatSpec::Knockout { best_of } => (Box::new(Knockout::new(bots, best_of)?), None),
            FormatSpec::DoubleElimination { best_of } => {
                (Box::new(DoubleElimination::new(bots, best_of)?), None)
            }
            FormatSpec::Heats { best_of, advance } => {
                (Box::new(Heats::new(bots, seats, advance, best_of)?), None)
            }
            FormatSpec::Ladder { blocks, top } => {
                let made = LadderFormat::new(bots, seats, blocks, top)?;
                ladder = Some(made.clone());
                (Box::new(made), Some(u64::from(blocks)))
            }
            FormatSpec::Placement { blocks, within } => {
                let ratings = what.ratings.iter().map(|tenths| f64::from(*tenths) / 10.0).collect();
                let made = Placement::new(seats, blocks, within, ratings)?;
                placement = Some(made.clone());
                (Box::new(made), Some(u64::from(blocks)))
            }
        };
        let (seeding, results, named) = (what.seeding.clone(), BlockResults::new(), BTreeSet::new());
        Ok(Self { format, ladder, placement, seeding, results, named, blocks })
    }

    /// The total number of blocks, where it is fixed.
    pub fn blocks(&self) -> Option<u64> {
        self.blocks
    }

    /// The blocks that can be played now and were not returned before.
    pub fn name(&mut self, plan: &Plan) -> Vec<BlockPlan> {
        let (seeding, named) = (&self.seeding, &mut self.named);
        let fixtures = self.format.next(&self.results).into_iter().filter(|fixture| named.insert(fixture.id));
        fixtures
            .map(|fixture| {
                let lineup: Vec<usize> = fixture.bots.iter().map(|&bot| seeding[bot]).collect();
                plan.free_block(number(fixture.id), &lineup)
            })
            .collect()
    }

    /// Whether nothing is left to play.
    pub fn is_over(&self) -> bool {
        self.format.next(&self.results).is_empty()
    }

    /// Records a whole block.
    pub fn add(&mut self, block: &BlockPlan, entries: &[Entry]) {
        let Some(id) = id(block.number) else { return };
        let lineup = &block.games[0];
        let of = |bot: usize| -> u32 {
            let seat = |entry: &Entry| entry.bots.iter().position(|&other| other == bot);
            entries
                .iter()
                .filter_map(|entry| Some(half_opponents_beaten(&entry.result.proven.ranks, seat(entry)?)))
                .sum()
        };
        let seed = |bot: usize| self.seeding.iter().position(|&other| other == bot).unwrap_or(0);
        let played = FinishedBlock {
            bots: lineup.iter().map(|&bot| seed(bot)).collect(),
            points: lineup.iter().map(|&bot| of(bot)).collect(),
        };
        self.results.insert(id, played);
    }

    /// Whether the results belong to blocks that this format would have chosen.
    pub fn knows_its_results(&self) -> bool {
        let mut known = BlockResults::new();
        loop {
            let before = known.len();
            for fixture in self.format.next(&known) {
                if let Some(played) =
                    self.results.get(&fixture.id).filter(|played| played.bots == fixture.bots)
                {
                    known.insert(fixture.id, played.clone());
                }
            }
            if known.len() == before {
                return known.len() == self.results.len();
            }
        }
    }

    /// The table, best first; bots by index in the header.
    pub fn standing(&self) -> Vec<Standing> {
        let mut table = self.format.standing(&self.results);
        table.iter_mut().for_each(|row| row.bot = self.seeding[row.bot]);
        table
    }

    /// In a ladder, how certain it is that the best `top` bots are the best, in their order.
    pub fn certainty(&self, top: usize) -> Option<f64> {
        self.ladder.as_ref().map(|ladder| ladder.certainty(&self.results, top))
    }

    /// In a placement, where the newcomer stands.
    pub fn placed(&self) -> Option<Placed> {
        self.placement.as_ref().map(|placement| placement.placed(&self.results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_numbers() {
        for made in [Id { round: 1, table: 1, block: 1 }, Id { round: 70_000, table: 99_999, block: 999 }] {
            assert_eq!(id(number(made)), Some(made));
        }
        assert_eq!((id(0), id(1), id(u64::MAX)), (None, None, None));
        let texts = [
            (FormatSpec::Swiss { rounds: 5 }, r#"{"name":"swiss","rounds":5,"seeding":[1,0]}"#),
            (
                FormatSpec::DoubleElimination { best_of: 3 },
                r#"{"name":"double-elimination","best_of":3,"seeding":[1,0]}"#,
            ),
            (FormatSpec::Ladder { blocks: 9, top: None }, r#"{"name":"ladder","blocks":9,"seeding":[1,0]}"#),
        ];
        for (form, text) in texts {
            let made = FormatId { form, seeding: vec![1, 0], ratings: Vec::new() };
            assert_eq!(serde_json::to_string(&made).expect("JSON"), text);
            assert_eq!(serde_json::from_str::<FormatId>(text).expect("a format"), made);
        }
    }
}
