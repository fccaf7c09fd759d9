//! Which matches are played: blocks, fair by construction.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::format;
use crate::order::{count, cyclic, shuffled};

/// The version of plans: who sits where, and which pairs a ladder chooses.
pub const VERSION: u32 = 3;

/// The kind of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SeriesKind {
    /// The first bot against each of the others.
    Gauntlet,
    /// Every bot against every other.
    Tournament,
    /// The first bot against the second until the test decides; further bots are the field.
    Sprt,
}

impl SeriesKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Gauntlet => "gauntlet",
            Self::Tournament => "tournament",
            Self::Sprt => "sprt",
        }
    }
}

/// Which matches are played. These numbers determine it completely, so anybody can continue a journal of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The kind of series.
    pub kind: SeriesKind,
    /// Seats in a match.
    pub seats: u8,
    /// The number of bots.
    pub bots: usize,
    /// The number of maps that the blocks take in turn.
    pub maps: usize,
    /// The seed of the first round; each round has the next.
    pub first_seed: i64,
    /// Whether pairings follow from the results so far (see [`crate::format`]), so that only the blocks already played are known.
    pub free: bool,
    /// The number of rounds, which is also the number of blocks per pairing. None for as many as it takes.
    pub rounds: Option<u64>,
}

/// One block: the same seed and map in every rotation of the seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPlan {
    /// Its number, from 1.
    pub number: u64,
    /// Its pairing, from 0.
    pub pairing: usize,
    /// The seed of all its matches.
    pub seed: i64,
    /// Its map, from 0.
    pub map: usize,
    /// For each match, the bot in each seat, from 0.
    pub games: Vec<Vec<usize>>,
}

/// The most pairings a series may have.
pub const MOST_PAIRINGS: usize = 100_000;

impl Plan {
    /// Whether NEW and OLD are compared through twin matches against a field.
    pub fn twins(&self) -> bool {
        self.kind == SeriesKind::Sprt && self.seats > 2
    }

    /// Whether a gauntlet's opponents share its matches, drawn in turn.
    pub fn mixed(&self) -> bool {
        self.kind == SeriesKind::Gauntlet && self.seats > 2 && self.bots > 2
    }

    /// The number of matches in a block.
    pub fn games(&self) -> u32 {
        u32::from(self.seats) * if self.twins() { 2 } else { 1 }
    }

    /// The number of pairings; more than [`MOST_PAIRINGS`] are not listed.
    pub fn pairing_count(&self) -> usize {
        match self.kind {
            SeriesKind::Gauntlet if self.mixed() => 1,
            SeriesKind::Gauntlet => self.bots.saturating_sub(1),
            SeriesKind::Sprt => 1,
            SeriesKind::Tournament if self.free => 1,
            SeriesKind::Tournament => {
                let seats = usize::from(self.seats);
                (0..seats).fold(1usize, |ways, taken| {
                    ways.saturating_mul(self.bots.saturating_sub(taken)) / (taken + 1)
                })
            }
        }
    }

    /// Checks that this makes a series; the error is a sentence that says why not.
    ///
    /// # Errors
    /// When there are too few bots or seats, or too many pairings.
    pub fn check(&self) -> Result<(), String> {
        let (needs, why) = match self.kind {
            SeriesKind::Gauntlet => (2, "a gauntlet needs NEW and at least one opponent".to_owned()),
            SeriesKind::Sprt if self.twins() => {
                let why =
                    format!("with {} seats NEW and OLD need others to play against: --field BOT", self.seats);
                (3, why)
            }
            SeriesKind::Sprt => (2, "a test needs NEW and OLD".to_owned()),
            SeriesKind::Tournament => {
                let why = format!(
                    "name at least {} bots: a tournament needs as many as its matches have seats",
                    self.seats
                );
                (usize::from(self.seats), why)
            }
        };
        if self.seats < 2 {
            return Err("a series needs at least two seats".to_owned());
        }
        if self.bots < needs {
            return Err(why);
        }
        match self.pairing_count() {
            count if count > MOST_PAIRINGS => Err(format!(
                "{} bots in {} seats make more than {MOST_PAIRINGS} pairings",
                self.bots, self.seats
            )),
            _ => Ok(()),
        }
    }

    /// Who meets whom. In a test against a field and in a mixed gauntlet: the first bot and all those the other seats are drawn from.
    pub fn pairings(&self) -> Vec<Vec<usize>> {
        match self.kind {
            SeriesKind::Gauntlet if self.mixed() => vec![(0..self.bots).collect()],
            SeriesKind::Gauntlet => (1..self.bots).map(|other| vec![0, other]).collect(),
            SeriesKind::Tournament if self.free => vec![(0..self.bots).collect()],
            SeriesKind::Tournament => choose(self.bots, usize::from(self.seats)),
            SeriesKind::Sprt if self.twins() => vec![std::iter::once(0).chain(2..self.bots).collect()],
            SeriesKind::Sprt => vec![vec![0, 1]],
        }
    }

    /// The bots of a block, each seated behind the one before it and the first behind the last.
    fn lineup(&self, pairing: usize, bots: &[usize], round: u64) -> Vec<usize> {
        let seats = usize::from(self.seats);
        let mut lineup = if bots.len() == seats { bots.to_vec() } else { self.draw(bots, round) };
        let orders = count(seats);
        if orders > 1 {
            // Drawn anew for each full set of orders, so that no position on the command line is better than another.
            let purpose = format!("order {pairing} {}", round / orders);
            let places = shuffled(seats, self.first_seed, &purpose);
            let order = cyclic(seats, round % orders);
            lineup = order.into_iter().map(|place| lineup[places[place]]).collect();
        }
        lineup
    }

    /// The first bot, and enough of the others to fill the seats, each drawn equally often.
    fn draw(&self, bots: &[usize], round: u64) -> Vec<usize> {
        let (others, taken) = (bots.len() - 1, usize::from(self.seats) - 1);
        // A number of rounds equal to the number of others deals each of them equally often.
        let deck = shuffled(others, self.first_seed, &format!("field {}", round / others as u64));
        let from = (round % others as u64) as usize * taken;
        let mut drawn: Vec<usize> = (from..from + taken).map(|card| bots[1 + deck[card % others]]).collect();
        drawn.sort_unstable();
        drawn.insert(0, bots[0]);
        drawn
    }

    /// The block with this number, from 1; none past the last.
    pub fn block(&self, number: u64, pairings: &[Vec<usize>]) -> Option<BlockPlan> {
        if self.free {
            return None;
        }
        let (index, count) = (number.checked_sub(1)?, pairings.len() as u64);
        let (round, pairing) = (index / count, (index % count) as usize);
        if self.rounds.is_some_and(|rounds| round >= rounds) {
            return None;
        }
        let lineup = self.lineup(pairing, &pairings[pairing], round);
        let seats = lineup.len();
        let mut games = Vec::new();
        for r in 0..seats {
            games.push(rotated(&lineup, r));
            if self.twins() {
                // OLD in NEW's seat.
                let twin: Vec<usize> = lineup.iter().map(|&bot| if bot == 0 { 1 } else { bot }).collect();
                games.push(rotated(&twin, r));
            }
        }
        Some(BlockPlan {
            number,
            pairing,
            seed: self.first_seed.wrapping_add(round as i64),
            map: (round % self.maps.max(1) as u64) as usize,
            games,
        })
    }

    /// The block of a format with this number and these bots.
    pub fn free_block(&self, number: u64, lineup: &[usize]) -> BlockPlan {
        // The tables of a round share their seeds; an encounter never plays a seed twice.
        let step =
            format::id(number).map_or(0, |id| i64::from(id.round - 1) * SEEDS + i64::from(id.block - 1));
        BlockPlan {
            number,
            pairing: 0,
            seed: self.first_seed.wrapping_add(step),
            map: (step % self.maps.max(1) as i64) as usize,
            games: (0..lineup.len()).map(|r| rotated(lineup, r)).collect(),
        }
    }

    /// The block with this number in which these bots play match `game`, from 1; none when it is not part of this series.
    pub fn block_with(
        &self,
        number: u64,
        game: u32,
        bots: &[usize],
        pairings: &[Vec<usize>],
    ) -> Option<BlockPlan> {
        let game = (game as usize).checked_sub(1)?;
        let block = if self.free {
            let different = bots.iter().collect::<BTreeSet<_>>().len() == usize::from(self.seats);
            let known = bots.len() == usize::from(self.seats) && bots.iter().all(|bot| *bot < self.bots);
            format::id(number).filter(|_| different && known && game < bots.len())?;
            self.free_block(number, &rotated(bots, bots.len() - game))
        } else {
            self.block(number, pairings)?
        };
        (block.games.get(game)? == bots).then_some(block)
    }

    /// The number of matches in all, where it is fixed.
    pub fn all_games(&self) -> Option<u64> {
        let pairings = self.pairings().len() as u64;
        Some(self.rounds?.saturating_mul(pairings).saturating_mul(u64::from(self.games())))
    }

    /// The number of rounds that gives each pairing at least `games` matches, or in a mixed gauntlet at least that many with each opponent,
    /// and as many on each map.
    pub fn rounds_for(&self, games: u64) -> u64 {
        let games = match self.mixed() {
            true => games.saturating_mul(self.bots as u64 - 1).div_ceil(u64::from(self.seats) - 1),
            false => games,
        };
        games.div_ceil(u64::from(self.games())).next_multiple_of(self.maps.max(1) as u64)
    }
}

/// Seeds per round of a format; an encounter plays them one after the other.
const SEEDS: i64 = 1_000;

/// In rotation `r` the first of the lineup sits in seat `r`.
fn rotated(lineup: &[usize], r: usize) -> Vec<usize> {
    let seats = lineup.len();
    (0..seats).map(|seat| lineup[(seat + seats - r % seats) % seats]).collect()
}

/// All ways to choose `seats` of `bots`, in order.
fn choose(bots: usize, seats: usize) -> Vec<Vec<usize>> {
    let mut chosen = Vec::new();
    if seats > bots {
        return chosen;
    }
    let mut next: Vec<usize> = (0..seats).collect();
    loop {
        chosen.push(next.clone());
        let Some(place) = (0..seats).rev().find(|&place| next[place] < bots - seats + place) else {
            return chosen;
        };
        next[place] += 1;
        for later in place + 1..seats {
            next[later] = next[later - 1] + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn plan(kind: SeriesKind, seats: u8, bots: usize) -> Plan {
        Plan { free: false, kind, seats, bots, maps: 2, first_seed: 40, rounds: Some(3) }
    }

    fn blocks(plan: &Plan) -> Vec<BlockPlan> {
        let pairings = plan.pairings();
        (1..).map_while(|number| plan.block(number, &pairings)).collect()
    }

    #[test]
    fn a_pair_swaps_the_seats_on_the_same_seed_and_map() {
        let all = blocks(&plan(SeriesKind::Gauntlet, 2, 3));
        assert_eq!(all.len(), 6, "three rounds against two opponents");
        assert_eq!(all[0].games, [[0, 1], [1, 0]]);
        assert_eq!(all[1].games, [[0, 2], [2, 0]]);
        let where_played: Vec<_> = all.iter().map(|block| (block.seed, block.map)).collect();
        assert_eq!(where_played, [(40, 0), (40, 0), (41, 1), (41, 1), (42, 0), (42, 0)]);
    }

    #[test]
    fn in_more_seats_everybody_sits_everywhere_once() {
        let plan = plan(SeriesKind::Tournament, 3, 4);
        let all = blocks(&plan);
        assert_eq!(plan.pairings(), [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]);
        for block in &all {
            for seat in 0..3 {
                let mut sat: Vec<usize> = block.games.iter().map(|game| game[seat]).collect();
                sat.sort_unstable();
                assert_eq!(sat, plan.pairings()[block.pairing]);
            }
        }
        assert_eq!(plan.all_games(), Some(4 * 3 * 3));
        assert_eq!(all.iter().map(|block| block.games.len()).sum::<usize>(), 36);
    }

    #[test]
    fn twins_differ_in_one_seat_only() {
        let plan = plan(SeriesKind::Sprt, 4, 4);
        let all = blocks(&plan);
        assert_eq!(all[0].games.len(), 8);
        for pair in all.iter().flat_map(|block| block.games.chunks(2)) {
            let swapped: Vec<usize> = pair[0].iter().map(|&bot| if bot == 0 { 1 } else { bot }).collect();
            assert_eq!(pair[1], swapped);
            assert_eq!(pair[0].iter().filter(|bot| **bot == 0).count(), 1);
        }
    }

    /// How often each bot sits right behind each other bot; the first seat is behind the last.
    fn behind(plan: &Plan) -> BTreeMap<(usize, usize), u64> {
        let mut times = BTreeMap::new();
        for game in blocks(plan).iter().flat_map(|block| &block.games) {
            for seat in 0..game.len() {
                *times.entry((game[seat], game[(seat + 1) % game.len()])).or_default() += 1;
            }
        }
        times
    }

    #[test]
    fn nobody_sits_behind_anybody_more_often_than_others() {
        for seats in 3..=9u8 {
            let all = usize::from(seats);
            for (kind, bots) in
                [(SeriesKind::Tournament, all), (SeriesKind::Gauntlet, all), (SeriesKind::Sprt, all + 1)]
            {
                let rounds = Some(2 * count(all));
                let times = behind(&Plan { rounds, ..plan(kind, seats, bots) });
                // NEW and OLD of a test never meet; each sits among the field as often as NEW alone would.
                let among = |pair: &(usize, usize)| kind == SeriesKind::Sprt && pair.0 > 1 && pair.1 > 1;
                let usual = times[&(0, all - 1)];
                for (pair, &each) in &times {
                    let expected = if among(pair) { 2 * usual } else { usual };
                    assert_eq!(each, expected, "{kind:?}, {seats} seats: {pair:?}");
                }
                let pairs = if kind == SeriesKind::Sprt { bots * (bots - 1) - 2 } else { bots * (bots - 1) };
                assert_eq!(times.len(), pairs, "{kind:?}, {seats} seats");
            }
        }
    }

    #[test]
    fn a_field_is_drawn_in_turn() {
        for (kind, first) in [(SeriesKind::Gauntlet, 1), (SeriesKind::Sprt, 2)] {
            for opponents in 2..=7usize {
                let plan = Plan { rounds: Some(60 * opponents as u64), ..plan(kind, 4, first + opponents) };
                let mut sat = BTreeMap::new();
                for game in blocks(&plan).iter().flat_map(|block| &block.games) {
                    let others: Vec<usize> = game.iter().copied().filter(|bot| *bot >= first).collect();
                    if opponents >= 3 {
                        assert_eq!(others.iter().collect::<BTreeSet<_>>().len(), 3, "nobody sits twice");
                    }
                    others.iter().for_each(|bot| *sat.entry(*bot).or_insert(0u64) += 1);
                }
                let each = sat[&first];
                assert!(sat.len() == opponents && sat.values().all(|times| *times == each), "{sat:?}");
                let field = |pair: &(usize, usize)| pair.0 >= first && pair.1 >= first && pair.0 != pair.1;
                let times: Vec<u64> = behind(&plan)
                    .into_iter()
                    .filter(|(pair, _)| field(pair))
                    .map(|(_, times)| times)
                    .collect();
                let usual = times.iter().sum::<u64>() as f64 / times.len() as f64;
                // Pairings are drawn, so this is as even as chance allows.
                let even = times.iter().all(|&each| (0.5..1.7).contains(&(each as f64 / usual)));
                assert!(even && times.len() == opponents * (opponents - 1), "{kind:?}: {times:?}");
            }
        }
        let mixed = plan(SeriesKind::Gauntlet, 4, 7);
        assert_eq!(
            (mixed.pairing_count(), mixed.rounds_for(100)),
            (1, 50),
            "200 matches, 3 of 6 opponents in each"
        );
    }

    #[test]
    fn the_order_of_the_names_decides_nothing() {
        // A bot that sits behind bot `prey` gets a point from it; strength counts besides.
        let share = |names: [usize; 5]| -> Vec<f64> {
            let plan = Plan { rounds: Some(40), ..plan(SeriesKind::Tournament, 5, 5) };
            let mut points = [0.0; 5];
            for game in blocks(&plan).iter().flat_map(|block| &block.games) {
                for seat in 0..5 {
                    let (own, before) = (names[game[seat]], names[game[(seat + 4) % 5]]);
                    points[own] += own as f64 + if before == 0 { 4.0 } else { 0.0 };
                }
            }
            let all: f64 = points.iter().sum();
            points.iter().map(|points| points / all).collect()
        };
        let (one, other) = (share([0, 1, 2, 3, 4]), share([0, 3, 1, 4, 2]));
        let apart = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-12, "{apart}");
    }

    #[test]
    fn too_few_bots_make_no_pairing_and_rounds_are_whole() {
        assert!(plan(SeriesKind::Tournament, 4, 3).pairings().is_empty());
        assert!(
            plan(SeriesKind::Tournament, 4, 3).check().unwrap_err().contains("needs as many as its matches")
        );
        assert!(plan(SeriesKind::Sprt, 4, 2).check().unwrap_err().contains("--field"));
        assert!(plan(SeriesKind::Tournament, 16, 9_999).check().unwrap_err().contains("more than 100000"));
        for (seats, bots) in [(2, 2), (2, 9), (3, 7), (4, 4)] {
            let plan = plan(SeriesKind::Tournament, seats, bots);
            assert_eq!((plan.check(), plan.pairing_count()), (Ok(()), plan.pairings().len()));
        }
        assert_eq!(plan(SeriesKind::Tournament, 4, 4).rounds_for(5), 2);
        let endless = Plan { rounds: None, ..plan(SeriesKind::Sprt, 2, 2) };
        assert!(endless.block(1_000_000, &endless.pairings()).is_some());
        assert_eq!(endless.all_games(), None);
    }
}
