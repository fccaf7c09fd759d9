//! Is the ladder's order true? Forty versions of known strength, twenty of them within 60 Elo, three beating each other in a circle: with a
//! quarter of the games of a round robin the ladder's order is as true as the round robin's.
//!
//! `cargo xtask long contest-ladder` makes 20 runs; this makes a few.

use agon_game::Seeded;
use agon_ladder::{Contender, LadderState, Policy, Row, Table};
use agon_stats::{RulesHash, TableKey, score_of_elo};

const VERSIONS: i64 = 40;
/// Games per pair in the round robin.
const GAMES: i64 = 20;

/// The strength of each version, in Elo: twenty within 60, the others spread over 600 on both sides.
fn strengths(chance: &mut Seeded) -> Vec<f64> {
    let mut random = || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let near = (0..20).map(|place| f64::from(place) * 3.0 - 30.0).collect::<Vec<_>>();
    let far =
        (0..20).map(|_| if random() < 0.5 { -50.0 - 550.0 * random() } else { 50.0 + 550.0 * random() });
    near.into_iter().chain(far.collect::<Vec<_>>()).collect()
}

struct World {
    elo: Vec<f64>,
    chance: Seeded,
}

impl World {
    /// The expected share of wins of one against another. The versions 5, 6 and 7 beat each other in a circle.
    fn expected(&self, one: i64, other: i64) -> f64 {
        let circle = match (one, other) {
            (5, 6) | (6, 7) | (7, 5) => 100.0,
            (6, 5) | (7, 6) | (5, 7) => -100.0,
            _ => 0.0,
        };
        score_of_elo(self.elo[one as usize] - self.elo[other as usize] + circle)
    }

    fn block(&mut self, ladder: &mut LadderState, block: i64, lineup: &[i64]) {
        for rotation in 0..2 {
            let versions =
                if rotation == 0 { vec![lineup[0], lineup[1]] } else { vec![lineup[1], lineup[0]] };
            let luck = (self.chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
            let ranks = if luck < self.expected(versions[0], versions[1]) { vec![1, 2] } else { vec![2, 1] };
            let answers = format!("{block} {rotation}");
            ladder.feed(Row { block, rotation, versions, ranks, start: block.to_string(), answers });
        }
    }
}

fn table(ladder: &LadderState) -> Table {
    ladder.table(&TableKey { game: "any".into(), rules: RulesHash(1) }, &[])
}

/// Kendall's tau between the table's order and the truth.
fn tau(table: &Table, elo: &[f64]) -> f64 {
    let order: Vec<f64> = table.places.iter().map(|place| elo[place.version as usize]).collect();
    let (mut sum, mut pairs) = (0.0, 0.0);
    for one in 0..order.len() {
        for other in one + 1..order.len() {
            sum += (order[one] - order[other]).signum();
            pairs += 1.0;
        }
    }
    sum / pairs
}

/// How many of the 95 % intervals contain the truth. Ratings are relative, so both are shifted to the same mean.
fn right(table: &Table, elo: &[f64]) -> (u32, u32) {
    let mean = elo.iter().sum::<f64>() / elo.len() as f64;
    let known: Vec<_> = table.places.iter().filter_map(|place| Some((place, place.elo?))).collect();
    let own = known.iter().map(|(_, elo)| elo).sum::<f64>() / known.len() as f64;
    let holds = |place: &agon_ladder::VersionRating| {
        let truth = elo[place.version as usize] - mean + own;
        place.low.is_none_or(|low| low <= truth) && place.high.is_none_or(|high| truth <= high)
    };
    (known.iter().filter(|(place, _)| holds(place)).count() as u32, known.len() as u32)
}

#[test]
fn a_quarter_of_the_games_gives_as_true_an_order() {
    let runs: i64 = std::env::var("AGON_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(2);
    let (mut robin, mut own, mut good, mut all) = (0.0, 0.0, 0, 0);
    for run in 0..runs {
        let mut chance = Seeded::stream(run, "strengths");
        let mut world = World { elo: strengths(&mut chance), chance: Seeded::stream(run, "games") };
        let mut everybody = LadderState::new();
        let mut block = 0;
        for one in 0..VERSIONS {
            for other in one + 1..VERSIONS {
                for _ in 0..GAMES / 2 {
                    block += 1;
                    world.block(&mut everybody, block, &[one, other]);
                }
            }
        }
        let mut ladder = LadderState::new();
        let contenders: Vec<Contender> =
            (0..VERSIONS).map(|version| Contender { version, in_flight: 0 }).collect();
        let policy = Policy { seats: 2, placing: 20, enough: u32::MAX };
        for number in 1..=block / 4 {
            let lineup = ladder.next(&contenders, &policy, number).expect("somebody plays");
            world.block(&mut ladder, number, &lineup);
        }
        let (long, short) = (table(&everybody), table(&ladder));
        robin += tau(&long, &world.elo) / runs as f64;
        own += tau(&short, &world.elo) / runs as f64;
        let (held, of) = right(&short, &world.elo);
        good += held;
        all += of;
    }
    let share = f64::from(good) / f64::from(all);
    println!(
        "{runs} runs: tau of the round robin {robin:.3}, of the ladder {own:.3}; {:.1} % of intervals hold",
        100.0 * share
    );
    assert!(
        own > robin - 0.04 - 0.08 / (runs as f64).sqrt(),
        "the ladder {own:.3}, the round robin {robin:.3}"
    );
    assert!((0.85..=1.0).contains(&share), "{share:.3} of the intervals of 95 % hold the truth");
}
