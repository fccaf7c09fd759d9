//! Places a newcomer among bots that have already played.
//!
//! It plays the bots whose match with it gives the most information: those about as strong as it seems to be, none of them much
//! more often than the others. It is placed when its interval is narrow enough, when it stands above or below all others beyond
//! doubt, as does a bot that won every block or none, or when its matches are used up.

use agon_stats::{Meeting, ScalePlace, newcomer, score_of_elo};
use serde::{Deserialize, Serialize};

use crate::{BlockResults, Fixture, Format, FormatError, Id, Standing, check, ladder, seated};

/// Places bot 0 among the bots from 1 on.
#[derive(Clone, Debug)]
pub struct Placement {
    seats: usize,
    blocks: u32,
    within: u32,
    ratings: Vec<f64>,
}

/// How many blocks are played at once: enough for the CPUs of a usual machine, few enough to learn from them. It is the same
/// everywhere, so that the same results lead to the same fixtures.
const AT_ONCE: u32 = 4;
/// No interval is believed before this many blocks.
const FEWEST: usize = 8;

/// A run of wins that a bot as strong as the strongest has with less than this chance proves that the newcomer is stronger: one
/// side of 95 %.
const DOUBT: f64 = 0.025;

/// Where a newcomer stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// Its rating; none before it has both won and lost points.
    pub elo: Option<f64>,
    /// Half of its 95 % interval, taking the earlier ratings of the others as exact.
    pub half: Option<f64>,
    /// How many blocks it has played.
    pub blocks: u32,
    /// Why it is placed; none if it is not yet placed, or if its matches were used up.
    pub why: Option<Why>,
}

/// Why a newcomer needs no more matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its interval is narrow enough.
    Narrow,
    /// It won everything: it stands above the strongest, and no number of matches would show by how much.
    Above,
    /// It won nothing: it stands below the weakest.
    Below,
}

impl Placement {
    /// At most `blocks` blocks of matches of `seats` seats, until half of the interval is at most `within` Elo. `ratings` are
    /// those of the bots from 1 on, in Elo.
    ///
    /// # Errors
    /// With fewer bots than seats, or an interval out of range.
    pub fn new(seats: usize, blocks: u32, within: u32, ratings: Vec<f64>) -> Result<Self, FormatError> {
        check(ratings.len() + 1, seats)?;
        if !(1..=1000).contains(&within) {
            return Err(FormatError::Within(within));
        }
        Ok(Self { seats, blocks, within, ratings })
    }

    /// Goes through the rounds: where the newcomer stands, and the fixtures of the next round.
    fn fold(&self, results: &BlockResults) -> (Placed, Vec<Fixture>) {
        let mut blocks: Vec<Vec<Meeting>> = Vec::new();
        let mut met = vec![0u32; self.ratings.len() + 1];
        let mut first_seats = vec![0u32; self.ratings.len() + 1];
        for round in 1.. {
            let found = newcomer(&self.ratings, &blocks);
            let count = blocks.len() as u32;
            let why = if blocks.len() < FEWEST {
                None
            } else if found.half.is_some_and(|half| half <= f64::from(self.within)) {
                Some(Why::Narrow)
            } else {
                self.beyond(found.place, &blocks)
            };
            let placed = Placed { elo: found.half.map(|_| found.elo), half: found.half, blocks: count, why };
            let size = AT_ONCE.min(self.blocks - count);
            if why.is_some() || size == 0 {
                return (placed, Vec::new());
            }
            let mut fixtures = Vec::new();
            for block in 1..=size {
                let bots = seated(self.choose(found.elo, &mut met), &first_seats);
                first_seats[bots[0]] += 1;
                fixtures.push(Fixture { id: Id { round, table: 1, block }, bots });
            }
            if fixtures.iter().any(|fixture| !results.contains_key(&fixture.id)) {
                fixtures.retain(|fixture| !results.contains_key(&fixture.id));
                return (placed, fixtures);
            }
            for played in fixtures.iter().map(|fixture| &results[&fixture.id]) {
                let own = ladder::meetings(&played.bots, &played.points);
                blocks.push(own.into_iter().filter(|meeting| meeting.first == 0).collect());
            }
        }
        unreachable!("the blocks run out")
    }

    /// Whether it stands beyond all others. The matches of a block share their luck, so each block counts as one match, against
    /// the opponent for which it is the strongest evidence.
    fn beyond(&self, place: ScalePlace, blocks: &[Vec<Meeting>]) -> Option<Why> {
        let ratings = || self.ratings.iter().copied();
        let (why, end) = match place {
            ScalePlace::Above => (Why::Above, ratings().fold(f64::NEG_INFINITY, f64::max)),
            ScalePlace::Below => (Why::Below, ratings().fold(f64::INFINITY, f64::min)),
            ScalePlace::Known | ScalePlace::Unknown => return None,
        };
        let lead = |pair: &Meeting| match why {
            Why::Below => self.ratings[pair.second as usize - 1] - end,
            _ => end - self.ratings[pair.second as usize - 1],
        };
        let chance =
            |block: &Vec<Meeting>| block.iter().map(|pair| score_of_elo(lead(pair))).fold(1.0, f64::min);
        (blocks.iter().map(chance).product::<f64>() <= DOUBT).then_some(why)
    }

    /// The newcomer and the bots whose match with it gives the most information.
    fn choose(&self, elo: f64, met: &mut [u32]) -> Vec<usize> {
        let told = |bot: usize| {
            let expected = score_of_elo(elo - self.ratings[bot - 1]);
            expected * (1.0 - expected) / f64::from(1 + met[bot])
        };
        let mut others: Vec<usize> = (1..=self.ratings.len()).collect();
        others.sort_by(|&a, &b| told(b).total_cmp(&told(a)).then(a.cmp(&b)));
        others.truncate(self.seats - 1);
        others.iter().for_each(|&bot| met[bot] += 1);
        others.insert(0, 0);
        others
    }

    /// Where the newcomer stands.
    pub fn placed(&self, results: &BlockResults) -> Placed {
        self.fold(results).0
    }
}

impl Format for Placement {
    fn next(&self, results: &BlockResults) -> Vec<Fixture> {
        self.fold(results).1
    }

    /// The newcomer's place among the others by their earlier ratings.
    fn standing(&self, results: &BlockResults) -> Vec<Standing> {
        let mut points = vec![0u64; self.ratings.len() + 1];
        let mut blocks = Vec::new();
        for played in results.values() {
            played.bots.iter().zip(&played.points).for_each(|(&bot, &own)| points[bot] += u64::from(own));
            blocks.push(ladder::meetings(&played.bots, &played.points));
        }
        let own = newcomer(&self.ratings, &blocks).elo;
        let elo = |bot: usize| if bot == 0 { own } else { self.ratings[bot - 1] };
        let mut order: Vec<usize> = (0..=self.ratings.len()).collect();
        order.sort_by(|&a, &b| elo(b).total_cmp(&elo(a)).then(a.cmp(&b)));
        let standing = |(place, bot)| Standing { bot, place, points: points[bot], opponents: 0 };
        (1..).zip(order).map(standing).collect()
    }
}

#[cfg(test)]
mod tests {
    use agon_game::Seeded;

    use super::*;
    use crate::FinishedBlock;

    /// Plays a newcomer of this strength, taking the open fixtures in any order.
    fn play(placement: &Placement, truth: f64, seed: i64) -> (BlockResults, Placed) {
        let mut results = BlockResults::new();
        let mut order = Seeded::stream(seed, "order");
        loop {
            let open = placement.next(&results);
            if open.is_empty() {
                let placed = placement.placed(&results);
                return (results, placed);
            }
            let fixture = open[(order.bits() % open.len() as u64) as usize].clone();
            let mut chance =
                Seeded::stream(seed + i64::from(fixture.id.round * 10 + fixture.id.block), "luck");
            let elo = |bot: usize| if bot == 0 { truth } else { placement.ratings[bot - 1] };
            let mut points = vec![0; fixture.bots.len()];
            for _ in 0..fixture.bots.len() {
                for one in 0..fixture.bots.len() {
                    for other in one + 1..fixture.bots.len() {
                        let random = (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
                        let ahead = random < score_of_elo(elo(fixture.bots[one]) - elo(fixture.bots[other]));
                        points[if ahead { one } else { other }] += 2;
                    }
                }
            }
            let played = FinishedBlock { bots: fixture.bots, points };
            results.insert(fixture.id, played);
        }
    }

    #[test]
    fn it_plays_those_about_as_strong_until_its_interval_is_narrow() {
        let ratings: Vec<f64> = (0..20).map(|bot| 1500.0 - 50.0 * f64::from(bot)).collect();
        let placement = Placement::new(2, 500, 60, ratings.clone()).unwrap();
        let (results, placed) = play(&placement, 1200.0, 4);
        assert!(placed.why == Some(Why::Narrow) && placed.blocks < 150, "{placed:?}");
        assert!((placed.elo.unwrap() - 1200.0).abs() < 90.0, "{placed:?}");
        let near = |bot: usize| (ratings[bot - 1] - 1200.0).abs() <= 260.0;
        let close = results.values().filter(|played| near(played.bots[0].max(played.bots[1]))).count();
        assert!(close * 3 >= results.len() * 2, "{close} of {}", results.len());
        assert_eq!(placement.standing(&results).len(), 21);
        // A function of the results alone.
        assert_eq!(play(&placement, 1200.0, 4).1, placed);
    }

    #[test]
    fn its_matches_may_be_used_up() {
        let placement = Placement::new(2, 10, 5, vec![0.0, 100.0]).unwrap();
        let (results, placed) = play(&placement, 50.0, 1);
        assert_eq!((results.len(), placed.why, placed.blocks), (10, None, 10));
    }

    #[test]
    fn one_that_wins_everything_or_nothing_stops_when_its_place_is_beyond_doubt() {
        let ratings: Vec<f64> = (0..10).map(|bot| f64::from(bot) * 60.0).collect();
        let placement = Placement::new(2, 500, 30, ratings.clone()).unwrap();
        for (truth, why) in [(5000.0, Why::Above), (-5000.0, Why::Below)] {
            let (_, placed) = play(&placement, truth, 1);
            assert_eq!((placed.elo, placed.half, placed.why), (None, None, Some(why)), "no interval closes");
            assert!((8..60).contains(&placed.blocks), "{placed:?}");
        }
        // A bot only as strong as the strongest is rarely placed above it.
        let short = Placement::new(2, 40, 30, ratings).unwrap();
        let wrong = (0..100).filter(|seed| play(&short, 540.0, *seed).1.why == Some(Why::Above)).count();
        assert!(wrong <= 7, "{wrong} of 100 would be taken for stronger than the strongest");
    }

    #[test]
    fn more_seats_are_filled_with_those_about_as_strong() {
        let ratings: Vec<f64> = (0..9).map(|bot| f64::from(bot) * 100.0).collect();
        let placement = Placement::new(4, 200, 80, ratings).unwrap();
        let (results, placed) = play(&placement, 250.0, 1);
        assert!(results.values().all(|played| played.bots.contains(&0) && played.bots.len() == 4));
        assert!(placed.why == Some(Why::Narrow) && (placed.elo.unwrap() - 250.0).abs() < 150.0, "{placed:?}");
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Placement::new(3, 10, 50, vec![0.0]).is_err());
        assert!(Placement::new(2, 10, 0, vec![0.0]).is_err());
    }
}
