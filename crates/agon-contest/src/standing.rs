//! How a series stands: finished blocks go in, in the order of their numbers.

use std::collections::BTreeSet;

use agon_stats::twin::half_opponents_beaten;
use agon_stats::{Block, Decision, Estimate, Sequential, Shape, Sprt, Tally, Twin, WinDrawLoss, twin_block};
use xxhash_rust::xxh3::Xxh3;

use crate::journal::Entry;
use crate::plan::{BlockPlan, Kind, Plan};

/// How a series stands.
#[derive(Clone, Debug)]
pub struct Standing {
    kind: Kind,
    twins: bool,
    shape: Shape,
    /// The pairings, in the plan's order.
    pub pairings: Vec<Pairing>,
    /// The test, where it is one.
    pub test: Option<Sequential>,
    /// For each bot its share of opponents left behind, added up, and its matches.
    pub points: Vec<(f64, u64)>,
}

/// How a pairing stands.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The results of its different blocks, seen from its first bot; none in a tournament, where no bot is
    /// the one that it is about.
    pub tally: Option<Tally>,
    /// All its blocks.
    pub blocks: u64,
    seen: BTreeSet<u64>,
}

impl Pairing {
    /// How many of its blocks were different.
    pub fn distinct(&self) -> u64 {
        self.seen.len() as u64
    }

    /// The difference of its bots; none before the first block.
    pub fn estimate(&self) -> Option<Estimate> {
        self.tally.as_ref().filter(|tally| tally.blocks() > 0).map(|tally| Estimate::new(tally, 0.95))
    }

    /// Matches won, drawn and lost in its different blocks.
    pub fn games(&self) -> WinDrawLoss {
        self.tally.as_ref().and_then(Tally::games).unwrap_or_default()
    }
}

/// How the blocks of a plan are scored.
pub fn shape(plan: &Plan) -> Shape {
    match u32::from(plan.seats) {
        seats if plan.twins() => Shape::twins(seats),
        seats => Shape::rotation(seats),
    }
}

/// A hash of all answers of a block.
pub fn fingerprint(entries: &[Entry]) -> u64 {
    let mut hash = Xxh3::new();
    entries.iter().for_each(|entry| hash.update(&entry.fingerprint().to_le_bytes()));
    hash.digest()
}

impl Standing {
    /// Before the first block.
    pub fn new(plan: &Plan, sprt: Option<Sprt>) -> Self {
        let shape = shape(plan);
        let tally = match plan.kind {
            Kind::Tournament => None,
            _ => Some(Tally::new(shape).expect("so few seats make a shape")),
        };
        let pairing = Pairing { tally, blocks: 0, seen: BTreeSet::new() };
        Self {
            kind: plan.kind,
            twins: plan.twins(),
            shape,
            pairings: vec![pairing; plan.pairing_count()],
            test: sprt.map(Sequential::new),
            points: vec![(0.0, 0); plan.bots],
        }
    }

    /// Takes in a finished block and says what a test would do.
    pub fn feed(&mut self, plan: &BlockPlan, entries: &[Entry]) -> Decision {
        let pairing = &mut self.pairings[plan.pairing];
        let fingerprint = fingerprint(entries);
        let new = pairing.seen.insert(fingerprint);
        pairing.blocks += 1;
        if new {
            for entry in entries {
                let most = 2.0 * (entry.ranks.len() - 1) as f64;
                for (seat, &bot) in entry.bots.iter().enumerate() {
                    let (points, matches) = &mut self.points[bot];
                    *points += f64::from(half_opponents_beaten(&entry.ranks, seat)) / most;
                    *matches += 1;
                }
            }
        }
        let Some(block) = block(self.kind, self.twins, self.shape, fingerprint, entries) else {
            return Decision::Continue;
        };
        if new && let Some(tally) = &mut pairing.tally {
            tally.add(&block).expect("the block has the shape of its plan");
        }
        match &mut self.test {
            Some(test) => test.feed(&block).expect("the block has the shape of its plan"),
            None => Decision::Continue,
        }
    }
}

/// The block seen from the bot that the series is about; none in a tournament.
fn block(kind: Kind, twins: bool, shape: Shape, fingerprint: u64, entries: &[Entry]) -> Option<Block> {
    if kind == Kind::Tournament {
        return None;
    }
    let seat = |entry: &Entry| entry.bots.iter().position(|&bot| bot == 0);
    if twins {
        let twins: Option<Vec<Twin>> = entries
            .chunks(2)
            .map(|pair| {
                let [new, old] = pair else { return None };
                Some(Twin { seat: seat(new)?, new: new.ranks.clone(), old: old.ranks.clone() })
            })
            .collect();
        return twin_block(fingerprint, shape.games, &twins?);
    }
    let points = entries.iter().map(|entry| Some(half_opponents_beaten(&entry.ranks, seat(entry)?)));
    Some(Block { fingerprint, points: points.collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::entry;

    fn plan(kind: Kind) -> Plan {
        Plan { kind, seats: 2, bots: 2, maps: 1, first_seed: 7, rounds: None }
    }

    fn feed(standing: &mut Standing, plan: &Plan, number: u64, ranks: [[u8; 2]; 2]) -> Decision {
        let block = plan.block(number, &plan.pairings()).expect("a block");
        let entries: Vec<Entry> = [1, 2]
            .map(|game| Entry { ranks: ranks[game as usize - 1].to_vec(), ..entry(number, game) })
            .into();
        standing.feed(&block, &entries)
    }

    #[test]
    fn results_are_seen_from_the_first_bot_wherever_it_sits() {
        let plan = plan(Kind::Gauntlet);
        let mut standing = Standing::new(&plan, None);
        feed(&mut standing, &plan, 1, [[1, 2], [2, 1]]);
        feed(&mut standing, &plan, 2, [[1, 2], [1, 1]]);
        feed(&mut standing, &plan, 2, [[1, 2], [1, 1]]);
        let pairing = &standing.pairings[0];
        assert_eq!((pairing.blocks, pairing.distinct()), (3, 2), "the same answers again are no new block");
        let games = pairing.games();
        assert_eq!((games.wins, games.draws, games.losses), (3, 1, 0));
        assert_eq!(standing.points, [(3.5, 4), (0.5, 4)]);
    }

    #[test]
    fn twins_compare_the_two_in_the_same_seat() {
        let plan = Plan { seats: 3, bots: 4, ..plan(Kind::Sprt) };
        let block = plan.block(1, &plan.pairings()).expect("a block");
        // NEW always first, OLD always last.
        let entries: Vec<Entry> = (0..6)
            .map(|game| {
                let seat = game / 2;
                let ranks = (0..3).map(|other| match (other == seat, game % 2) {
                    (true, 0) => 1,
                    (true, _) => 3,
                    (false, 0) => 2,
                    (false, _) => 1,
                });
                let ranks: Vec<u8> = ranks.collect();
                Entry { bots: block.games[game].clone(), ranks, ..entry(1, game as u32 + 1) }
            })
            .collect();
        let mut standing = Standing::new(&plan, None);
        standing.feed(&block, &entries);
        let estimate = standing.pairings[0].estimate().expect("an estimate");
        assert_eq!(estimate.score, 1.0);
    }
}
