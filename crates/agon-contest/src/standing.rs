//! The standing of a series: finished blocks go in, in the order of their numbers.

use std::collections::BTreeMap;

use agon_stats::twin::half_opponents_beaten;
use agon_stats::{
    Block, Decision, Estimate, Repeats, Sequential, Shape, Sprt, Tally, Twin, WinDrawLoss, twin_block,
};
use xxhash_rust::xxh3::Xxh3;

use crate::journal::{Entry, Header};
use crate::origin::Origin;
use crate::plan::{BlockPlan, Kind, Plan};

/// The standing of a series.
#[derive(Clone, Debug)]
pub struct Standing {
    kind: Kind,
    twins: bool,
    shape: Shape,
    /// The pairings, in the plan's order.
    pub pairings: Vec<Pairing>,
    /// The test, if it is one.
    pub test: Option<Sequential>,
    /// For each bot, the sum of its shares of opponents beaten, and its matches.
    pub points: Vec<(f64, u64)>,
    /// Where the points came from.
    pub origin: Origin,
}

/// The standing of a pairing.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The results of its blocks that count, seen from its first bot; none in a tournament, which is about no single bot.
    pub tally: Option<Tally>,
    /// All its blocks.
    pub blocks: u64,
    repeats: Repeats<Vec<Entry>>,
}

impl Pairing {
    /// The number of its blocks that count.
    pub fn counted(&self) -> u64 {
        self.repeats.counted()
    }

    /// The number of starts from which its bots kept playing the same game, so that these count once.
    pub fn repeated_starts(&self) -> u64 {
        self.repeats.repeated_starts()
    }

    /// The difference between its bots; none before the first block.
    pub fn estimate(&self) -> Option<Estimate> {
        self.tally.as_ref().filter(|tally| tally.blocks() > 0).map(|tally| Estimate::new(tally, 0.95))
    }

    /// Matches won, drawn and lost in its blocks that count.
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

/// A hash of where a block begins: rules, maps and states, and the versions of the bots in their seats. Journals of earlier
/// versions lack the state; there each map counts as one start.
pub fn start(header: &Header, entries: &[Entry]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&header.rules.hash.0.to_le_bytes());
    for entry in entries {
        let start = if entry.start.is_empty() { &entry.map } else { &entry.start };
        hash.update(start.as_bytes());
        for &bot in &entry.bots {
            // Copies of a bot are told apart by their labels.
            for text in [&header.bots[bot].label, &header.bots[bot].hash] {
                hash.update(text.as_bytes());
                hash.update(&[0]);
            }
        }
    }
    hash.digest()
}

impl Standing {
    /// The standing before the first block.
    pub fn new(plan: &Plan, sprt: Option<Sprt>) -> Self {
        let shape = shape(plan);
        let tally = match plan.kind {
            Kind::Tournament => None,
            _ => Some(Tally::new(shape).expect("so few seats make a shape")),
        };
        let pairing = Pairing { tally, blocks: 0, repeats: Repeats::default() };
        Self {
            kind: plan.kind,
            twins: plan.twins(),
            shape,
            pairings: vec![pairing; plan.pairing_count()],
            test: sprt.map(Sequential::new),
            points: vec![(0.0, 0); plan.bots],
            origin: Origin::default(),
        }
    }

    /// The standing from the whole blocks of a journal, regardless of when a test would have stopped.
    pub fn of(header: &Header, entries: &[Entry]) -> Self {
        let plan = header.plan(None);
        let (pairings, games) = (plan.pairings(), plan.games() as usize);
        let mut blocks: BTreeMap<u64, Vec<Entry>> = BTreeMap::new();
        for entry in entries {
            blocks.entry(entry.block).or_default().push(entry.clone());
        }
        let mut standing = Self::new(&plan, None);
        for (number, mut entries) in blocks.into_iter().filter(|(_, entries)| entries.len() == games) {
            entries.sort_by_key(|entry| entry.game);
            if let Some(block) = plan.block_with(number, 1, &entries[0].bots, &pairings) {
                standing.feed(&block, header, &entries);
            }
        }
        standing
    }

    /// Adds a finished block and returns what a test would decide.
    pub fn feed(&mut self, plan: &BlockPlan, header: &Header, entries: &[Entry]) -> Decision {
        let pairing = &mut self.pairings[plan.pairing];
        let (start, fingerprint) = (start(header, entries), fingerprint(entries));
        let block = |entries: &[Entry]| -> Option<Block> {
            let block = block(self.kind, self.twins, self.shape, entries)?;
            Some(Block { start, fingerprint, ..block })
        };
        let about = (self.kind != Kind::Tournament).then_some(0);
        pairing.blocks += 1;
        for counts in pairing.repeats.add(start, fingerprint, entries.to_vec()) {
            for (bot, share) in points(&counts) {
                self.points[bot].0 += share;
                self.points[bot].1 += 1;
            }
            self.origin.add(&counts, about);
            if let (Some(tally), Some(block)) = (&mut pairing.tally, block(&counts)) {
                tally.add(&block).expect("the block has the shape of its plan");
            }
        }
        match (&mut self.test, block(entries)) {
            (Some(test), Some(block)) => test.feed(&block).expect("the block has the shape of its plan"),
            _ => Decision::Continue,
        }
    }
}

/// The share of opponents that each bot beat in each match.
fn points(entries: &[Entry]) -> Vec<(usize, f64)> {
    let of = |entry: &Entry| -> Vec<(usize, f64)> {
        let most = 2.0 * (entry.ranks.len() - 1) as f64;
        let share = |seat| f64::from(half_opponents_beaten(&entry.ranks, seat)) / most;
        entry.bots.iter().enumerate().map(|(seat, &bot)| (bot, share(seat))).collect()
    };
    entries.iter().flat_map(of).collect()
}

/// The points of the bot that the series is about; none in a tournament.
fn block(kind: Kind, twins: bool, shape: Shape, entries: &[Entry]) -> Option<Block> {
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
        return twin_block(0, 0, shape.games, &twins?);
    }
    let points = entries.iter().map(|entry| Some(half_opponents_beaten(&entry.ranks, seat(entry)?)));
    Some(Block { start: 0, fingerprint: 0, points: points.collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::{entry, header};

    fn plan(kind: Kind) -> Plan {
        Plan {
            version: crate::plan::VERSION,
            free: false,
            kind,
            seats: 2,
            bots: 2,
            maps: 1,
            first_seed: 7,
            rounds: None,
        }
    }

    fn feed(standing: &mut Standing, plan: &Plan, number: u64, ranks: [[u8; 2]; 2]) -> Decision {
        let block = plan.block(number, &plan.pairings()).expect("a block");
        let entries: Vec<Entry> = [1, 2]
            .map(|game| Entry { ranks: ranks[game as usize - 1].to_vec(), ..entry(number, game) })
            .into();
        standing.feed(&block, &header(plan.kind), &entries)
    }

    #[test]
    fn results_are_seen_from_the_first_bot_wherever_it_sits() {
        let plan = plan(Kind::Gauntlet);
        let mut standing = Standing::new(&plan, None);
        feed(&mut standing, &plan, 1, [[1, 2], [2, 1]]);
        feed(&mut standing, &plan, 2, [[1, 2], [1, 1]]);
        feed(&mut standing, &plan, 2, [[1, 2], [1, 1]]);
        let pairing = &standing.pairings[0];
        assert_eq!(
            (pairing.blocks, pairing.counted()),
            (3, 2),
            "the same again from the same start is no new block"
        );
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
                let seat = block.games[game].iter().position(|bot| *bot < 2).expect("NEW or OLD");
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
        let bots = vec![header(Kind::Sprt).bots[0].clone(); 4];
        standing.feed(&block, &Header { bots, ..header(Kind::Sprt) }, &entries);
        let estimate = standing.pairings[0].estimate().expect("an estimate");
        assert_eq!(estimate.score, 1.0);
    }
}
