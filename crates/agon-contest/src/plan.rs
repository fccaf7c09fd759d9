//! Which matches are played: blocks, fair by construction.

use serde::{Deserialize, Serialize};

/// What kind of series it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The first bot against each of the others.
    Gauntlet,
    /// Every bot against every other.
    Tournament,
    /// The first bot against the second until it is decided; further bots are the field.
    Sprt,
}

impl Kind {
    /// Its command.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gauntlet => "gauntlet",
            Self::Tournament => "tournament",
            Self::Sprt => "sprt",
        }
    }
}

/// Which matches are played. It is wholly determined by these numbers, so that a journal of it can be
/// continued by anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What kind of series.
    pub kind: Kind,
    /// Seats of a match.
    pub seats: u8,
    /// How many bots.
    pub bots: usize,
    /// How many maps the blocks take in turn.
    pub maps: usize,
    /// The seed of the first round; each round has the next.
    pub first_seed: i64,
    /// How many rounds: blocks for each pairing. None for as many as it takes.
    pub rounds: Option<u64>,
}

/// One block: the same seed and map in every rotation of the seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPlan {
    /// Its number, from 1.
    pub number: u64,
    /// Which pairing it belongs to, from 0.
    pub pairing: usize,
    /// The seed of all its matches.
    pub seed: i64,
    /// Which map, from 0.
    pub map: usize,
    /// For each match the bot in each seat, from 0.
    pub games: Vec<Vec<usize>>,
}

/// A series has no more pairings than this.
pub const MOST_PAIRINGS: usize = 100_000;

impl Plan {
    /// Whether NEW and OLD are compared through twin matches against a field.
    pub fn twins(&self) -> bool {
        self.kind == Kind::Sprt && self.seats > 2
    }

    /// How many matches a block has.
    pub fn games(&self) -> u32 {
        u32::from(self.seats) * if self.twins() { 2 } else { 1 }
    }

    /// How many pairings there are; more than [`MOST_PAIRINGS`] are not listed.
    pub fn pairing_count(&self) -> usize {
        match self.kind {
            Kind::Gauntlet => self.bots.saturating_sub(1),
            Kind::Sprt => 1,
            Kind::Tournament => {
                let seats = usize::from(self.seats);
                (0..seats).fold(1usize, |ways, taken| {
                    ways.saturating_mul(self.bots.saturating_sub(taken)) / (taken + 1)
                })
            }
        }
    }

    /// Why this makes no series, as a sentence.
    ///
    /// # Errors
    /// When there are too few bots or seats, or too many pairings.
    pub fn check(&self) -> Result<(), String> {
        let (needs, why) = match self.kind {
            Kind::Gauntlet => (2, "a gauntlet needs NEW and at least one opponent".to_owned()),
            Kind::Sprt if self.twins() => {
                let why =
                    format!("with {} seats NEW and OLD need others to play against: --field BOT", self.seats);
                (3, why)
            }
            Kind::Sprt => (2, "a test needs NEW and OLD".to_owned()),
            Kind::Tournament => {
                let why = format!("a tournament in matches of {} seats needs that many bots", self.seats);
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

    /// Who meets whom: the bots of each pairing in the order of the seats of its first match.
    pub fn pairings(&self) -> Vec<Vec<usize>> {
        let seats = usize::from(self.seats);
        match self.kind {
            Kind::Gauntlet => (1..self.bots).map(|other| self.against(0, &[other])).collect(),
            Kind::Tournament => choose(self.bots, seats),
            Kind::Sprt if self.twins() => {
                let field: Vec<usize> = (2..self.bots).collect();
                vec![self.against(0, &field)]
            }
            Kind::Sprt => vec![vec![0, 1]],
        }
    }

    /// `one` with the others, which fill all further seats, again from the first when they are too few.
    fn against(&self, one: usize, others: &[usize]) -> Vec<usize> {
        let rest = others.iter().copied().cycle().take(usize::from(self.seats) - 1);
        std::iter::once(one).chain(rest).collect()
    }

    /// The block with this number, from 1; none behind the last.
    pub fn block(&self, number: u64, pairings: &[Vec<usize>]) -> Option<BlockPlan> {
        let (index, count) = (number.checked_sub(1)?, pairings.len() as u64);
        let (round, pairing) = (index / count, (index % count) as usize);
        if self.rounds.is_some_and(|rounds| round >= rounds) {
            return None;
        }
        let lineup = &pairings[pairing];
        let seats = lineup.len();
        // In rotation `r` the first of the pairing sits in seat `r`.
        let rotated = |lineup: &[usize], r: usize| -> Vec<usize> {
            (0..seats).map(|seat| lineup[(seat + seats - r) % seats]).collect()
        };
        let mut games = Vec::new();
        for r in 0..seats {
            games.push(rotated(lineup, r));
            if self.twins() {
                let mut twin = lineup.clone();
                twin[0] = 1;
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

    /// How many matches there are in all, where that is fixed.
    pub fn all_games(&self) -> Option<u64> {
        let pairings = self.pairings().len() as u64;
        Some(self.rounds?.saturating_mul(pairings).saturating_mul(u64::from(self.games())))
    }

    /// So many rounds hold at least `games` matches for each pairing.
    pub fn rounds_for(&self, games: u64) -> u64 {
        games.div_ceil(u64::from(self.games()))
    }
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
    use super::*;

    fn plan(kind: Kind, seats: u8, bots: usize) -> Plan {
        Plan { kind, seats, bots, maps: 2, first_seed: 40, rounds: Some(3) }
    }

    fn blocks(plan: &Plan) -> Vec<BlockPlan> {
        let pairings = plan.pairings();
        (1..).map_while(|number| plan.block(number, &pairings)).collect()
    }

    #[test]
    fn a_pair_swaps_the_seats_on_the_same_seed_and_map() {
        let all = blocks(&plan(Kind::Gauntlet, 2, 3));
        assert_eq!(all.len(), 6, "three rounds against two opponents");
        assert_eq!(all[0].games, [[0, 1], [1, 0]]);
        assert_eq!(all[1].games, [[0, 2], [2, 0]]);
        let where_played: Vec<_> = all.iter().map(|block| (block.seed, block.map)).collect();
        assert_eq!(where_played, [(40, 0), (40, 0), (41, 1), (41, 1), (42, 0), (42, 0)]);
    }

    #[test]
    fn in_more_seats_everybody_sits_everywhere_once() {
        let plan = plan(Kind::Tournament, 3, 4);
        let all = blocks(&plan);
        assert_eq!(plan.pairings(), [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]);
        assert_eq!(all[0].games, [[0, 1, 2], [2, 0, 1], [1, 2, 0]]);
        assert_eq!(plan.all_games(), Some(4 * 3 * 3));
        assert_eq!(all.iter().map(|block| block.games.len()).sum::<usize>(), 36);
    }

    #[test]
    fn twins_differ_in_one_seat_only() {
        let plan = plan(Kind::Sprt, 4, 4);
        let all = blocks(&plan);
        assert_eq!(all[0].games.len(), 8);
        assert_eq!(all[0].games[0], [0, 2, 3, 2]);
        assert_eq!(all[0].games[1], [1, 2, 3, 2]);
        assert_eq!(all[0].games[6], [2, 3, 2, 0]);
        assert_eq!(all[0].games[7], [2, 3, 2, 1]);
    }

    #[test]
    fn too_few_bots_make_no_pairing_and_rounds_are_whole() {
        assert!(plan(Kind::Tournament, 4, 3).pairings().is_empty());
        assert!(plan(Kind::Tournament, 4, 3).check().unwrap_err().contains("needs that many"));
        assert!(plan(Kind::Sprt, 4, 2).check().unwrap_err().contains("--field"));
        assert!(plan(Kind::Tournament, 16, 9_999).check().unwrap_err().contains("more than 100000"));
        for (seats, bots) in [(2, 2), (2, 9), (3, 7), (4, 4)] {
            let plan = plan(Kind::Tournament, seats, bots);
            assert_eq!((plan.check(), plan.pairing_count()), (Ok(()), plan.pairings().len()));
        }
        assert_eq!(plan(Kind::Tournament, 4, 4).rounds_for(5), 2);
        let endless = Plan { rounds: None, ..plan(Kind::Sprt, 2, 2) };
        assert!(endless.block(1_000_000, &endless.pairings()).is_some());
        assert_eq!(endless.all_games(), None);
    }
}
