//! The standing of a series: finished blocks go in, in the order of their numbers.

use std::collections::{BTreeMap, VecDeque};

use agon_api::result::FaultCount;
use agon_match::FaultKind;
use agon_stats::block::MOST_POINTS;
use agon_stats::twin::half_opponents_beaten;
use agon_stats::{
    Block, Decision, Drift, Estimate, Repeats, Sequential, Shape, Sprt, Tally, Trend, Twin, WinDrawLoss,
};
use xxhash_rust::xxh3::Xxh3;

use crate::journal::{Entry, JournalHeader};
use crate::origin::Origin;
use crate::plan::{BlockPlan, Plan, SeriesKind};

/// The standing of a series.
///
/// The unit of evidence is a **round** of a pairing: a block on each map of the series. So each map has the weight that the
/// schedule gives it, however the bots play there; and what differs between maps is not taken for luck.
#[derive(Clone, Debug)]
pub struct SeriesStanding {
    kind: SeriesKind,
    twins: bool,
    maps: usize,
    /// The pairings, in the plan's order.
    pub pairings: Vec<Pairing>,
    /// The test, if it is one.
    pub test: Option<Sequential>,
    /// For each bot, the sum of its shares of opponents beaten, and its matches.
    pub points: Vec<(f64, u64)>,
    /// For each bot, in how many matches it gave an answer.
    answered: Vec<u64>,
    /// In how many matches of each bot its program ended before its first answer.
    stillborn: Vec<u64>,
    /// Where the points came from.
    pub origin: Origin,
}

/// The standing of a pairing.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The results of its rounds, seen from its first bot; none in a tournament, which is about no single bot.
    pub tally: Option<Tally>,
    pub blocks: u64,
    /// For each map, the blocks that wait for a round to be whole.
    open: Vec<VecDeque<Block>>,
    repeats: Repeats<()>,
    /// In how many blocks both bots answered alike.
    same: u64,
    trend: Trend,
}

impl Pairing {
    /// The number of its rounds.
    pub fn rounds(&self) -> u64 {
        self.repeats.counted() + self.repeats.left_out()
    }

    /// The number of its rounds that are evidence.
    pub fn counted(&self) -> u64 {
        self.repeats.counted()
    }

    /// The number of starts from which its bots kept playing the same game, so that these are evidence once.
    pub fn repeated_starts(&self) -> u64 {
        self.repeats.repeated_starts()
    }

    /// How often each start was played at least, if none ever varied.
    pub fn least_of_constant(&self) -> Option<u64> {
        self.repeats.least_of_constant()
    }

    /// The number of blocks that wait for their round to be whole.
    pub fn open(&self) -> u64 {
        self.open.iter().map(|open| open.len() as u64).sum()
    }

    /// Whether its first bot got better or worse while the series ran.
    pub fn drift(&self) -> Option<Drift> {
        self.trend.drift()
    }

    /// The number of blocks in which both bots answered alike, so that they cannot tell them apart.
    pub fn same(&self) -> u64 {
        self.same
    }

    /// The difference between its bots; none before the first round.
    pub fn estimate(&self) -> Option<Estimate> {
        self.tally.as_ref().filter(|tally| tally.blocks() > 0).map(|tally| Estimate::new(tally, 0.95))
    }

    /// Matches won, drawn and lost in its rounds.
    pub fn games(&self) -> WinDrawLoss {
        self.tally.as_ref().and_then(Tally::games).unwrap_or_default()
    }

    /// Adds a block on this map, and returns the round that it completes.
    fn add(&mut self, map: usize, block: Block) -> Option<Block> {
        self.open[map].push_back(block);
        if self.open.iter().any(VecDeque::is_empty) {
            return None;
        }
        let blocks: Vec<Block> = self.open.iter_mut().filter_map(VecDeque::pop_front).collect();
        let round = Block::join(&blocks);
        self.repeats.add(round.start, round.fingerprint, ());
        if let Some(tally) = &mut self.tally {
            let full = f64::from(tally.shape().full());
            self.trend.add(round.points.iter().map(|&points| f64::from(points)).sum::<f64>() / full);
            tally.add(&round).expect("the round has the shape of its plan");
            tally.set_repeats(self.repeats.left_out());
        }
        Some(round)
    }
}

/// After how many blocks a test ends because one of its sides never answered.
const SILENT: u64 = 10;
/// After how many matches a series ends because a bot's program ended before its first answer in all of them.
const STILLBORN: u64 = 4;

/// How the blocks of a plan are scored.
pub fn block_shape(plan: &Plan) -> Shape {
    match u32::from(plan.seats) {
        seats if plan.twins() => Shape::twins(seats),
        seats => Shape::rotation(seats),
    }
}

/// The number of blocks in a round. Where there are so many maps that no tally holds a round, a map is a draw.
pub fn blocks_in_round(plan: &Plan) -> usize {
    let maps = plan.maps.max(1);
    let holds = |maps: &u32| {
        let points = u64::from(block_shape(plan).full()) * u64::from(*maps);
        points <= u64::from(MOST_POINTS)
    };
    u32::try_from(maps).ok().filter(holds).map_or(1, |maps| maps as usize)
}

/// How the rounds of a plan are scored.
pub fn shape(plan: &Plan) -> Shape {
    block_shape(plan).times(blocks_in_round(plan) as u32)
}

/// A hash of all answers of a block.
pub fn fingerprint(entries: &[Entry]) -> u64 {
    let mut hash = Xxh3::new();
    entries.iter().for_each(|entry| hash.update(&entry.fingerprint().to_le_bytes()));
    hash.digest()
}

/// A hash of where a block begins: rules, maps and states, and the versions of the bots in their seats. Journals of earlier
/// versions lack the state; there each map counts as one start.
pub fn start(header: &JournalHeader, entries: &[Entry]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&header.rules.hash.0.to_le_bytes());
    for entry in entries {
        let start =
            if entry.result.proven.start.is_empty() { &entry.map } else { &entry.result.proven.start };
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

impl SeriesStanding {
    /// The standing before the first block.
    pub fn new(plan: &Plan, sprt: Option<Sprt>) -> Self {
        let tally = match plan.kind {
            SeriesKind::Tournament => None,
            _ => Some(Tally::new(shape(plan)).expect("so few seats and maps make a shape")),
        };
        let maps = blocks_in_round(plan);
        let open = vec![VecDeque::new(); maps];
        let pairing =
            Pairing { tally, blocks: 0, open, repeats: Repeats::default(), same: 0, trend: Trend::default() };
        Self {
            kind: plan.kind,
            twins: plan.twins(),
            maps,
            pairings: vec![pairing; plan.pairing_count()],
            test: sprt.map(|sprt| Sequential::in_rounds(sprt, maps as u64)),
            points: vec![(0.0, 0); plan.bots],
            answered: vec![0; plan.bots],
            stillborn: vec![0; plan.bots],
            origin: Origin::default(),
        }
    }

    /// The standing from the whole blocks of a journal, regardless of when a test would have stopped.
    pub fn of(header: &JournalHeader, entries: &[Entry]) -> Self {
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
    pub fn feed(&mut self, plan: &BlockPlan, header: &JournalHeader, entries: &[Entry]) -> Decision {
        let about = (self.kind != SeriesKind::Tournament).then_some(0);
        for (bot, share) in points(entries) {
            self.points[bot].0 += share;
            self.points[bot].1 += 1;
        }
        for entry in entries {
            for (seat, &bot) in (1..).zip(&entry.bots) {
                let is_silent = entry.result.proven.silent.contains(&seat);
                self.answered[bot] += u64::from(!is_silent);
                self.stillborn[bot] += u64::from(is_silent && crash(entry, seat).is_some());
            }
        }
        self.origin.add(entries, about);
        let pairing = &mut self.pairings[plan.pairing];
        pairing.blocks += 1;
        pairing.same += u64::from(changed_nothing(self.twins, entries));
        let (start, fingerprint) = (start(header, entries), fingerprint(entries));
        let points = points_of_first(self.kind, self.twins, entries).unwrap_or_default();
        let Some(round) = pairing.add(plan.map % self.maps, Block { start, fingerprint, points }) else {
            return Decision::Continue;
        };
        let decision = match &mut self.test {
            Some(test) => test.feed(&round).expect("the round has the shape of its plan"),
            None => return Decision::Continue,
        };
        // What never answers is not what was to be tested: nothing is decided by its losses.
        match self.silent().is_empty() {
            true => decision,
            false if self.stillborn().is_none() && self.pairings[plan.pairing].blocks < SILENT => {
                Decision::Continue
            }
            false => self.test.as_mut().map_or(decision, Sequential::out_of_games),
        }
    }

    /// The bots that have played and never gave an answer in the form of the game: whatever was lost by that, it says nothing about how
    /// they play.
    pub fn silent(&self) -> Vec<usize> {
        let bots = self.points.iter().zip(&self.answered).enumerate();
        bots.filter(|(_, ((_, matches), answered))| *matches > 0 && **answered == 0)
            .map(|(bot, _)| bot)
            .collect()
    }

    /// A bot whose program has ended before its first answer in each of its matches, of which there are enough to see that.
    pub fn stillborn(&self) -> Option<usize> {
        let mut bots = self.points.iter().zip(&self.stillborn);
        bots.position(|((_, matches), stillborn)| *matches >= STILLBORN && stillborn == matches)
    }
}

/// How the program in a seat, from 1, crashed in a match.
pub fn crash(entry: &Entry, seat: u8) -> Option<&FaultCount> {
    let faults = entry.result.observed.faults.counted();
    faults.iter().find(|fault| fault.seat == seat && fault.kind == FaultKind::Crash.word())
}

/// Whether the two bots of a block answered alike wherever they sat, so that it cannot tell them apart.
fn changed_nothing(twins: bool, entries: &[Entry]) -> bool {
    let proven = |at: usize| &entries[at].result.proven;
    match entries {
        [_, _] if !twins => proven(0).answers == proven(1).answers && proven(0).start == proven(1).start,
        _ if twins => (0..entries.len()).step_by(2).all(|at| proven(at).answers == proven(at + 1).answers),
        _ => false,
    }
}

/// The share of opponents that each bot beat in each match.
fn points(entries: &[Entry]) -> Vec<(usize, f64)> {
    let of = |entry: &Entry| -> Vec<(usize, f64)> {
        let most = 2.0 * (entry.result.proven.ranks.len() - 1) as f64;
        let share = |seat| f64::from(half_opponents_beaten(&entry.result.proven.ranks, seat)) / most;
        entry.bots.iter().enumerate().map(|(seat, &bot)| (bot, share(seat))).collect()
    };
    entries.iter().flat_map(of).collect()
}

/// The points of the bot that the series is about in each game; none in a tournament.
fn points_of_first(kind: SeriesKind, twins: bool, entries: &[Entry]) -> Option<Vec<u32>> {
    if kind == SeriesKind::Tournament {
        return None;
    }
    let seat = |entry: &Entry| entry.bots.iter().position(|&bot| bot == 0);
    if !twins {
        return entries
            .iter()
            .map(|entry| Some(half_opponents_beaten(&entry.result.proven.ranks, seat(entry)?)))
            .collect();
    }
    let points = entries.chunks(2).map(|pair| {
        let [new, old] = pair else { return None };
        let ranks = |entry: &Entry| entry.result.proven.ranks.clone();
        Twin { seat: seat(new)?, new: ranks(new), old: ranks(old) }.points()
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::{entry, header, with_ranks};

    fn plan(kind: SeriesKind) -> Plan {
        Plan { free: false, kind, seats: 2, bots: 2, maps: 1, first_seed: 7, rounds: None }
    }

    fn feed(standing: &mut SeriesStanding, plan: &Plan, number: u64, ranks: [[u8; 2]; 2]) -> Decision {
        let block = plan.block(number, &plan.pairings()).expect("a block");
        let entries: Vec<Entry> =
            [1, 2].map(|game| with_ranks(entry(number, game), ranks[game as usize - 1].to_vec())).into();
        standing.feed(&block, &header(plan.kind), &entries)
    }

    #[test]
    fn results_are_seen_from_the_first_bot_wherever_it_sits() {
        let plan = plan(SeriesKind::Gauntlet);
        let mut standing = SeriesStanding::new(&plan, None);
        feed(&mut standing, &plan, 1, [[1, 2], [2, 1]]);
        feed(&mut standing, &plan, 2, [[1, 2], [1, 1]]);
        feed(&mut standing, &plan, 2, [[1, 2], [1, 1]]);
        let pairing = &standing.pairings[0];
        assert_eq!(
            (pairing.blocks, pairing.rounds(), pairing.counted()),
            (3, 3, 2),
            "the same again from the same start is not new evidence, but part of the mean"
        );
        let games = pairing.games();
        assert_eq!((games.wins, games.draws, games.losses), (4, 2, 0));
        assert_eq!(standing.points, [(5.0, 6), (1.0, 6)]);
    }

    /// What an author would do who has five maps: lose on four, always alike, and play at random on the one where that wins.
    #[test]
    fn a_bot_that_varies_only_where_it_wins_gains_nothing() {
        let plan = Plan { maps: 5, ..plan(SeriesKind::Gauntlet) };
        let mut standing = SeriesStanding::new(&plan, None);
        for number in 1..=100 {
            let block = plan.block(number, &plan.pairings()).expect("a block");
            let wins = block.map == 0;
            let entries: Vec<Entry> = [1, 2]
                .map(|game| {
                    let first = (game == 1) == wins;
                    let ranks = if first { vec![1, 2] } else { vec![2, 1] };
                    let answers = if wins { number * 10 + u64::from(game) } else { block.map as u64 };
                    let mut entry = with_ranks(entry(number, game), ranks);
                    entry.result.proven.start = format!("{:016x}", block.map);
                    entry.result.proven.answers = format!("{answers:016x}");
                    entry
                })
                .into();
            standing.feed(&block, &header(plan.kind), &entries);
        }
        let pairing = &standing.pairings[0];
        let estimate = pairing.estimate().expect("rounds");
        assert_eq!((pairing.rounds(), pairing.counted(), pairing.open()), (20, 20, 0));
        assert!((estimate.score - 0.2).abs() < 1e-12, "{estimate:?}");
        assert!(estimate.superiority < 0.01, "{estimate:?}");
        assert_eq!((standing.points[0].0, standing.points[0].1), (40.0, 200));
    }

    #[test]
    fn a_round_is_whole_when_every_map_was_played() {
        let plan = Plan { maps: 3, ..plan(SeriesKind::Gauntlet) };
        let mut standing = SeriesStanding::new(&plan, None);
        // The second block stayed void.
        for number in [1, 3, 4] {
            feed(&mut standing, &plan, number, [[1, 2], [2, 1]]);
        }
        assert_eq!((standing.pairings[0].rounds(), standing.pairings[0].open()), (0, 3));
        assert_eq!(standing.pairings[0].estimate(), None);
        feed(&mut standing, &plan, 5, [[1, 2], [2, 1]]);
        assert_eq!((standing.pairings[0].rounds(), standing.pairings[0].open()), (1, 1));
    }

    #[test]
    fn twins_compare_the_two_in_the_same_seat() {
        let plan = Plan { seats: 3, bots: 4, ..plan(SeriesKind::Sprt) };
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
                Entry { bots: block.games[game].clone(), ..with_ranks(entry(1, game as u32 + 1), ranks) }
            })
            .collect();
        let mut standing = SeriesStanding::new(&plan, None);
        let bots = vec![header(SeriesKind::Sprt).bots[0].clone(); 4];
        standing.feed(&block, &JournalHeader { bots, ..header(SeriesKind::Sprt) }, &entries);
        let estimate = standing.pairings[0].estimate().expect("an estimate");
        assert_eq!(estimate.score, 1.0);
    }
}
