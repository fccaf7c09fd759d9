//! Knockout and double elimination for two seats.
//!
//! The best seeds are kept apart as long as possible: with eight bots the first round is 1-8, 4-5, 2-7, 3-6. If the
//! number of bots is not a power of two, the best seeds have a bye in the first round. An encounter is a best of
//! several blocks by points; it ends as soon as the lead cannot be caught up. Level bots play up to six more blocks;
//! then the better seed goes on.

use crate::{
    BlockResults, FURTHER_BLOCKS, Fixture, Format, FormatError, Id, Standing, check, check_best_of, full,
    places,
};

/// The loser of an encounter is out.
#[derive(Clone, Debug)]
pub struct Knockout(Bracket);

impl Knockout {
    /// A knockout in which every encounter is a best of `best_of` blocks.
    ///
    /// # Errors
    /// With fewer than two bots, or a best of none or of more than 99.
    pub fn new(bots: usize, best_of: u32) -> Result<Self, FormatError> {
        let mut bracket = Bracket::new(bots, best_of)?;
        let mut winners = bracket.seeds();
        while winners.len() > 1 {
            let name = match winners.len() {
                2 => "final".to_owned(),
                4 => "semifinals".to_owned(),
                bots => format!("last {bots}"),
            };
            winners = bracket.round(&name, in_pairs(&winners), true).map(Source::Winner).collect();
        }
        Ok(Self(bracket))
    }

    /// The name of a round, from 1; empty beyond the last.
    pub fn name(&self, round: u32) -> &str {
        self.0.name(round)
    }
}

impl Format for Knockout {
    fn next(&self, results: &BlockResults) -> Vec<Fixture> {
        self.0.fold(results).1
    }

    fn standing(&self, results: &BlockResults) -> Vec<Standing> {
        self.0.standing(results)
    }
}

/// Two lost encounters put a bot out: losers of the upper bracket continue in a lower one, whose winner meets the
/// upper winner in the final and has to win twice there.
#[derive(Clone, Debug)]
pub struct DoubleElimination(Bracket);

impl DoubleElimination {
    /// A double elimination in which every encounter is a best of `best_of` blocks.
    ///
    /// # Errors
    /// With fewer than two bots, or a best of none or of more than 99.
    pub fn new(bots: usize, best_of: u32) -> Result<Self, FormatError> {
        let mut bracket = Bracket::new(bots, best_of)?;
        let mut upper = bracket.seeds();
        let mut lower: Vec<Source> = Vec::new();
        let mut number = 0;
        while upper.len() > 1 {
            number += 1;
            let name = format!("upper bracket, round {number}");
            let played: Vec<usize> = bracket.round(&name, in_pairs(&upper), false).collect();
            upper = played.iter().copied().map(Source::Winner).collect();
            let mut fallen: Vec<Source> = played.into_iter().map(Source::Loser).collect();
            if lower.is_empty() {
                lower = fallen;
            } else {
                // In reverse order, so that bots that met in the upper bracket do not meet again at once.
                if number % 2 == 0 {
                    fallen.reverse();
                } else {
                    let half = fallen.len() / 2;
                    fallen.rotate_left(half);
                }
                let pairs = lower.iter().zip(&fallen).map(|(&lower, &fallen)| [lower, fallen]).collect();
                let name = format!("lower bracket, against losers of round {number}");
                lower = bracket.round(&name, pairs, true).map(Source::Winner).collect();
            }
            if lower.len() > 1 {
                let name = format!("lower bracket, after round {number}");
                lower = bracket.round(&name, in_pairs(&lower), true).map(Source::Winner).collect();
            }
        }
        let last = bracket.round("final", vec![[upper[0], lower[0]]], false).start;
        bracket.round("second final", vec![[Source::Winner(last), Source::Loser(last)]], true);
        bracket.first_final = Some(last);
        Ok(Self(bracket))
    }

    /// The name of a round, from 1; empty beyond the last.
    pub fn name(&self, round: u32) -> &str {
        self.0.name(round)
    }
}

impl Format for DoubleElimination {
    fn next(&self, results: &BlockResults) -> Vec<Fixture> {
        self.0.fold(results).1
    }

    fn standing(&self, results: &BlockResults) -> Vec<Standing> {
        self.0.standing(results)
    }
}

/// Where one side of an encounter comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Seed(usize),
    Winner(usize),
    Loser(usize),
}

fn in_pairs(sources: &[Source]) -> Vec<[Source; 2]> {
    sources.chunks(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// An encounter of the bracket.
#[derive(Clone, Debug)]
struct Node {
    round: u32,
    table: u32,
    between: [Source; 2],
    /// Whether the loser is out.
    eliminates: bool,
}

/// The encounters, each after those it depends on.
#[derive(Clone, Debug)]
struct Bracket {
    bots: usize,
    best_of: u32,
    nodes: Vec<Node>,
    names: Vec<String>,
    /// The final after which the last encounter is played only if the winner of the lower bracket won it.
    first_final: Option<usize>,
}

/// Who is on one side of an encounter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Bot(usize),
    /// Nobody, now or later: a bye for the other side.
    Nobody,
    /// Not known yet.
    Open,
}

/// How an encounter ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    winner: Slot,
    loser: Slot,
    points: [u64; 2],
}

impl Ended {
    fn without_play(winner: Slot, loser: Slot) -> Self {
        Self { winner, loser, points: [0; 2] }
    }
}

impl Bracket {
    fn new(bots: usize, best_of: u32) -> Result<Self, FormatError> {
        check(bots, 2)?;
        check_best_of(best_of)?;
        Ok(Self { bots, best_of, nodes: Vec::new(), names: Vec::new(), first_final: None })
    }

    /// The seeds in the order of the first round; seeds beyond the number of bots stand for nobody.
    fn seeds(&self) -> Vec<Source> {
        let mut order = vec![0];
        while order.len() < self.bots {
            let last = 2 * order.len() - 1;
            order = order.into_iter().flat_map(|seed| [seed, last - seed]).collect();
        }
        order.into_iter().map(Source::Seed).collect()
    }

    /// Adds a round and returns the numbers of its encounters.
    fn round(&mut self, name: &str, pairs: Vec<[Source; 2]>, eliminates: bool) -> std::ops::Range<usize> {
        self.names.push(name.to_owned());
        let round = self.names.len() as u32;
        let first = self.nodes.len();
        let nodes = (1..).zip(pairs).map(|(table, between)| Node { round, table, between, eliminates });
        self.nodes.extend(nodes);
        first..self.nodes.len()
    }

    fn name(&self, round: u32) -> &str {
        self.names.get((round as usize).wrapping_sub(1)).map_or("", String::as_str)
    }

    /// Goes through all encounters: how each ended, and which blocks can be played.
    fn fold(&self, results: &BlockResults) -> (Vec<Ended>, Vec<Fixture>) {
        let mut ended: Vec<Ended> = Vec::with_capacity(self.nodes.len());
        let mut open = Vec::new();
        for node in &self.nodes {
            let slot = |source| match source {
                Source::Seed(seed) if seed < self.bots => Slot::Bot(seed),
                Source::Seed(_) => Slot::Nobody,
                Source::Winner(before) => ended[before].winner,
                Source::Loser(before) => ended[before].loser,
            };
            let slots = node.between.map(slot);
            let second_final = self.first_final.filter(|last| ended.len() == last + 1);
            let unbeaten = |last: usize| slots[0] == slot(self.nodes[last].between[0]);
            let end = match slots {
                [Slot::Open, _] | [_, Slot::Open] => Ended::without_play(Slot::Open, Slot::Open),
                [Slot::Nobody, other] | [other, Slot::Nobody] => Ended::without_play(other, Slot::Nobody),
                // The winner of the upper bracket won the final, so there is no second one.
                _ if second_final.is_some_and(unbeaten) => Ended::without_play(slots[0], slots[1]),
                [Slot::Bot(one), Slot::Bot(other)] => match self.encounter(node, [one, other], results) {
                    Ok(ended) => ended,
                    Err(fixture) => {
                        open.push(fixture);
                        Ended::without_play(Slot::Open, Slot::Open)
                    }
                },
            };
            ended.push(end);
        }
        (ended, open)
    }

    /// How an encounter ended, or the block to be played next.
    fn encounter(&self, node: &Node, bots: [usize; 2], results: &BlockResults) -> Result<Ended, Fixture> {
        let mut points = [0u64; 2];
        for block in 1.. {
            let played = block - 1;
            let left = u64::from(self.best_of.saturating_sub(played)) * u64::from(full(2));
            let decided = points[0].abs_diff(points[1]) > left;
            if decided || played >= self.best_of + FURTHER_BLOCKS {
                // Level to the end: the better seed wins.
                let first = points[0] > points[1] || (points[0] == points[1] && bots[0] < bots[1]);
                let (winner, loser) = if first { (0, 1) } else { (1, 0) };
                return Ok(Ended {
                    winner: Slot::Bot(bots[winner]),
                    loser: Slot::Bot(bots[loser]),
                    points: [points[winner], points[loser]],
                });
            }
            // The bots take turns at the first seat.
            let (first, second) = if block % 2 == 1 { (0, 1) } else { (1, 0) };
            let id = Id { round: node.round, table: node.table, block };
            match results.get(&id).map(|played| &played.points[..]) {
                Some(&[one, other]) => {
                    points[first] += u64::from(one);
                    points[second] += u64::from(other);
                }
                _ => return Err(Fixture { id, bots: vec![bots[first], bots[second]] }),
            }
        }
        unreachable!("the loop ends with the last further block")
    }

    fn standing(&self, results: &BlockResults) -> Vec<Standing> {
        let (ended, _) = self.fold(results);
        let mut points = vec![0u64; self.bots];
        // The round in which each bot was eliminated; bots still in come first.
        let mut out = vec![u32::MAX; self.bots];
        for (node, end) in self.nodes.iter().zip(&ended) {
            if let (true, Slot::Bot(loser)) = (node.eliminates, end.loser) {
                out[loser] = node.round;
            }
            for (slot, gained) in [end.winner, end.loser].into_iter().zip(end.points) {
                if let Slot::Bot(bot) = slot {
                    points[bot] += gained;
                }
            }
        }
        let mut order: Vec<(usize, u32)> = out.into_iter().enumerate().collect();
        order.sort_by_key(|&(bot, round)| (std::cmp::Reverse(round), bot));
        places(order, &points, &vec![0; self.bots])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::FinishedBlock;
    use crate::tests::play;

    /// The bots of the fixtures of a round.
    fn round(played: &[Fixture], round: u32) -> Vec<Vec<usize>> {
        let mut fixtures: Vec<&Fixture> = played.iter().filter(|fixture| fixture.id.round == round).collect();
        fixtures.sort_by_key(|fixture| fixture.id);
        fixtures.iter().map(|fixture| fixture.bots.clone()).collect()
    }

    #[test]
    fn the_best_seeds_are_kept_apart() {
        let cup = Knockout::new(8, 1).unwrap();
        let (results, played) = play(&cup, 2, 1, 0.0);
        assert_eq!(round(&played, 1), [[0, 7], [3, 4], [1, 6], [2, 5]]);
        assert_eq!(round(&played, 2), [[0, 3], [1, 2]]);
        assert_eq!(round(&played, 3), [[0, 1]]);
        assert_eq!([1, 2, 3, 4].map(|round| cup.name(round)), ["last 8", "semifinals", "final", ""]);
        let places: Vec<(usize, u32)> =
            cup.standing(&results).iter().map(|standing| (standing.bot, standing.place)).collect();
        assert_eq!(places, [(0, 1), (1, 2), (2, 3), (3, 3), (4, 5), (5, 5), (6, 5), (7, 5)]);
        let points: u64 = cup.standing(&results).iter().map(|standing| standing.points).sum();
        assert_eq!((cup.standing(&results)[0].points, points), (12, 28));
    }

    #[test]
    fn the_best_have_byes_where_bots_are_missing() {
        let first = Knockout::new(5, 1).unwrap().next(&BlockResults::new());
        // Everything that depends on no other result is played at once.
        let bots: Vec<&[usize]> = first.iter().map(|fixture| &fixture.bots[..]).collect();
        assert_eq!(bots, [&[3, 4][..], &[1, 2]]);
        for bots in 2..20 {
            let (_, played) = play(&Knockout::new(bots, 1).unwrap(), 2, 3, 8.0);
            assert_eq!(played.iter().filter(|fixture| fixture.id.block == 1).count(), bots - 1);
        }
    }

    #[test]
    fn an_encounter_ends_when_the_lead_cannot_be_caught_up() {
        let cup = Knockout::new(2, 3).unwrap();
        let mut results = BlockResults::new();
        let mut feed = |block, points: [u32; 2]| {
            let bots = if block % 2 == 1 { vec![0, 1] } else { vec![1, 0] };
            results.insert(Id { round: 1, table: 1, block }, FinishedBlock { bots, points: points.to_vec() });
            cup.next(&results).first().map(|fixture| (fixture.id.block, fixture.bots.clone()))
        };
        // 4-0 leaves 8 points to win; the second block swaps the seats: 8-0 in all, and only 4 left.
        assert_eq!(feed(1, [4, 0]), Some((2, vec![1, 0])));
        assert_eq!(feed(2, [0, 4]), None);
        // Level after three: further blocks, then the better seed.
        assert_eq!(feed(2, [4, 0]), Some((3, vec![0, 1])));
        assert_eq!(feed(3, [2, 2]), Some((4, vec![1, 0])));
        for block in 4..9 {
            assert_eq!(feed(block, [2, 2]).unwrap().0, block + 1);
        }
        assert_eq!(feed(9, [2, 2]), None);
        let standing = cup.standing(&results);
        assert_eq!((standing[0].bot, standing[0].points, standing[1].points), (0, 18, 18));
    }

    #[test]
    fn two_defeats_throw_out() {
        for bots in 2..=20 {
            for seed in 0..30 {
                let cup = DoubleElimination::new(bots, 1).unwrap();
                let (results, played) = play(&cup, 2, seed, 12.0);
                // Encounters that were level at first have several blocks; the points of all of them decide.
                let mut encounters: BTreeMap<(u32, u32), BTreeMap<usize, u32>> = BTreeMap::new();
                for fixture in &played {
                    let points = encounters.entry((fixture.id.round, fixture.id.table)).or_default();
                    for (&bot, gained) in fixture.bots.iter().zip(&results[&fixture.id].points) {
                        *points.entry(bot).or_default() += gained;
                    }
                }
                let mut lost = vec![0; bots];
                for points in encounters.values() {
                    let key = |(bot, points): &(&usize, &u32)| (**points, std::cmp::Reverse(**bot));
                    let (&loser, _) = points.iter().min_by_key(key).unwrap();
                    lost[loser] += 1;
                }
                let standing = cup.standing(&results);
                let winner = standing[0].bot;
                assert!(lost[winner] <= 1, "{bots} {seed}: {lost:?}");
                assert!((0..bots).all(|bot| bot == winner || lost[bot] == 2), "{bots} {seed}: {lost:?}");
                assert_eq!(standing[1].place, 2);
                assert_eq!(encounters.len(), 2 * bots - 2 + lost[winner], "{bots} {seed}");
            }
        }
    }

    #[test]
    fn the_lower_bracket_avoids_those_who_just_met() {
        let cup = DoubleElimination::new(16, 1).unwrap();
        let (_, played) = play(&cup, 2, 1, 0.0);
        let name = |name: &str| (1..20).find(|&round| cup.name(round) == name).unwrap();
        let upper = round(&played, name("upper bracket, round 2"));
        let lower = round(&played, name("lower bracket, against losers of round 2"));
        assert_eq!((upper.len(), lower.len()), (4, 4));
        let first = round(&played, 1);
        assert!(lower.iter().all(|pair| !first.contains(pair) && !first.contains(&vec![pair[1], pair[0]])));
        assert_eq!(round(&played, name("final")), [[0, 1]]);
        assert_eq!(round(&played, name("second final")), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn what_cannot_be_held_is_refused() {
        assert!(Knockout::new(1, 1).is_err());
        assert!(DoubleElimination::new(1, 1).is_err());
        assert_eq!(Knockout::new(4, 0).unwrap_err(), FormatError::BestOf(0));
        assert_eq!(DoubleElimination::new(4, 100).unwrap_err(), FormatError::BestOf(100));
    }
}
