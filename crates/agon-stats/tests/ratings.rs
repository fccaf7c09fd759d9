//! Ratings: equal to an independent implementation, whatever the order, and near the truth.

use agon_game::{Chance as _, Seeded};
use agon_stats::{
    Match, MatchBlock, Options, RatingError, RatingTable, Results, RulesHash, TableKey, rate, score_of_elo,
};

fn key() -> TableKey {
    TableKey { game: "deerhunt".into(), rules: RulesHash(1) }
}

fn name(bot: usize) -> String {
    format!("bot {bot}")
}

/// A match of these bots, best first.
fn ranking(order: &[usize]) -> Match {
    Match { bots: order.iter().map(|&bot| name(bot)).collect(), ranks: (1..=order.len() as u8).collect() }
}

fn tie(one: usize, other: usize) -> Match {
    Match { bots: vec![name(one), name(other)], ranks: vec![1, 1] }
}

/// One block for each match.
fn results(matches: impl IntoIterator<Item = Match>) -> Results {
    let mut results = Results::new(key());
    for (fingerprint, game) in matches.into_iter().enumerate() {
        let block = MatchBlock { start: fingerprint as u64, fingerprint: 0, matches: vec![game] };
        results.push(&key(), block).unwrap();
    }
    results
}

/// The natural logarithms of the strengths, by number of bot.
fn strengths(table: &RatingTable) -> Vec<f64> {
    let mut by_name: Vec<_> = table.bots.iter().map(|bot| (bot.bot.clone(), bot.elo)).collect();
    by_name.sort_by(|a, b| a.0.cmp(&b.0));
    by_name.into_iter().map(|(_, elo)| elo * std::f64::consts::LN_10 / 400.0).collect()
}

fn assert_near(given: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(given.len(), expected.len());
    for (given_one, expected_one) in given.iter().zip(expected) {
        assert!((given_one - expected_one).abs() < tolerance, "{given:?} is not {expected:?}");
    }
}

const LIKELIHOOD: Options =
    Options { prior_sd: None, confidence: 0.95, bootstrap_samples: 0, bootstrap_seed: 0 };

/// The prior of choix's `alpha`.
fn prior(alpha: f64) -> Options {
    let sd = (1.0 / (2.0 * alpha)).sqrt() * 400.0 / std::f64::consts::LN_10;
    Options { prior_sd: Some(sd), ..LIKELIHOOD }
}

// The data and the output of choix_expected.py.
const WINS: [[usize; 4]; 4] = [[0, 7, 9, 4], [3, 0, 6, 8], [1, 5, 0, 6], [2, 2, 7, 0]];
const RANKINGS: [[usize; 4]; 12] = [
    [0, 1, 2, 3],
    [1, 0, 3, 4],
    [0, 2, 4, 1],
    [2, 0, 3, 4],
    [3, 1, 0, 2],
    [4, 0, 1, 3],
    [1, 2, 4, 3],
    [0, 3, 2, 4],
    [2, 1, 0, 4],
    [0, 4, 1, 2],
    [3, 2, 1, 4],
    [1, 4, 3, 0],
];
const PERFECT_GAMES: [[usize; 2]; 9] =
    [[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [1, 2], [1, 2], [1, 2], [2, 1]];
const BRADLEY_TERRY: [f64; 4] = [0.950583188351, 0.135442196727, -0.546504763628, -0.539520621451];
const BRADLEY_TERRY_PRIOR: [f64; 4] = [0.874944598466, 0.130013329639, -0.509635047270, -0.495322880835];
const PLACKETT_LUCE: [f64; 5] =
    [0.553199771212, 0.383408255529, 0.099591857539, -0.341025542376, -0.695174341904];
const PLACKETT_LUCE_PRIOR: [f64; 5] =
    [0.504157373006, 0.347139226823, 0.085001002957, -0.307729247983, -0.628568354804];
const PERFECT: [f64; 3] = [2.840473381652, -0.920883650283, -1.919589731369];

fn pairs() -> Vec<Match> {
    let pair = |i: usize, j: usize| std::iter::repeat_n(ranking(&[i, j]), WINS[i][j]);
    (0..16).flat_map(|cell| pair(cell / 4, cell % 4)).collect()
}

#[test]
fn equal_to_choix_with_two_seats() {
    let games = results(pairs());
    assert_near(&strengths(&rate(&games, LIKELIHOOD).unwrap()), &BRADLEY_TERRY, 1e-6);
    assert_near(&strengths(&rate(&games, prior(0.25)).unwrap()), &BRADLEY_TERRY_PRIOR, 1e-6);
}

#[test]
fn equal_to_choix_with_more_seats() {
    let games = results(RANKINGS.iter().map(|order| ranking(order)));
    assert_near(&strengths(&rate(&games, LIKELIHOOD).unwrap()), &PLACKETT_LUCE, 1e-6);
    assert_near(&strengths(&rate(&games, prior(0.25)).unwrap()), &PLACKETT_LUCE_PRIOR, 1e-6);
}

#[test]
fn equal_to_choix_for_a_bot_that_won_everything() {
    let games = results(PERFECT_GAMES.iter().map(|order| ranking(order)));
    assert_near(&strengths(&rate(&games, prior(0.02)).unwrap()), &PERFECT, 1e-6);
    let error = rate(&games, LIKELIHOOD).unwrap_err();
    assert_eq!(error, RatingError::Unbeaten(vec![name(0)]));
}

/// Two bots alone, where the peak can be written down: `ln(wins / losses)` and `ν = draws / sqrt(wins losses)`.
#[test]
fn davidson_for_two_bots_in_closed_form() {
    let games = (0..40).map(|game| match game {
        0..20 => ranking(&[0, 1]),
        20..35 => tie(0, 1),
        _ => ranking(&[1, 0]),
    });
    let table = rate(&results(games), LIKELIHOOD).unwrap();
    let half = 4f64.ln() / 2.0;
    assert_near(&strengths(&table), &[half, -half], 1e-9);
    assert_eq!(table.ties.len(), 1);
    assert!((table.ties[0].1 - 15.0 / 100f64.sqrt()).abs() < 1e-9);
    // The model gives each bot the points it has.
    assert!((table.expected[0][1] - 27.5 / 40.0).abs() < 1e-9);
    // The variance of ln(wins / losses) is 1/wins + 1/losses.
    let error = (table.bots[0].interval.high - table.bots[0].elo) * std::f64::consts::LN_10 / 400.0;
    assert!((error - 1.959_964 * (1.0f64 / 20.0 + 1.0 / 5.0).sqrt() / 2.0).abs() < 1e-6);
    assert!((table.superiority[0][1] - 0.997_2).abs() < 1e-4);
    assert!((table.superiority[0][1] + table.superiority[1][0] - 1.0).abs() < 1e-12);
}

#[test]
fn a_usual_prior_hardly_compresses_the_ratings() {
    // 60 games each of three bots at +190, 0 and -190, with the expected numbers of wins.
    let wins = |lead: f64| (30.0 * score_of_elo(lead)).round() as usize;
    let mut games = Vec::new();
    for (i, j, lead) in [(0, 1, 190.0), (1, 2, 190.0), (0, 2, 380.0)] {
        games.extend(std::iter::repeat_n(ranking(&[i, j]), wins(lead)));
        games.extend(std::iter::repeat_n(ranking(&[j, i]), 30 - wins(lead)));
    }
    let with = rate(&results(games.clone()), Options::default()).unwrap();
    let without = rate(&results(games), LIKELIHOOD).unwrap();
    let share = with.bots[0].elo / without.bots[0].elo;
    assert!((0.99..1.0).contains(&share), "{share}");
}

/// A tournament with ties of bots of these strengths, by the model itself.
fn tournament(strengths: &[f64], blocks: u64, seats: usize, seed: i64) -> Vec<MatchBlock> {
    let mut chance = Seeded::stream(seed, "tournament");
    let mut random = move || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
    (0..blocks)
        .map(|fingerprint| {
            let mut bots: Vec<usize> = (0..strengths.len()).collect();
            for last in (1..bots.len()).rev() {
                bots.swap(last, (random() * (last + 1) as f64) as usize);
            }
            bots.truncate(seats);
            let matches = (0..seats)
                .map(|rotation| {
                    let mut bots = bots.clone();
                    bots.rotate_left(rotation);
                    // Luce's choice by racing exponential clocks; every fifth match ties its two best.
                    let times: Vec<f64> =
                        bots.iter().map(|&bot| -random().ln() / strengths[bot].exp()).collect();
                    let tied = random() < 0.2;
                    let rank =
                        |seat: usize| 1 + times.iter().filter(|&&time| time < times[seat]).count() as u8;
                    let ranks = (0..seats).map(|seat| if tied { rank(seat).max(2) } else { rank(seat) });
                    Match { ranks: ranks.collect(), bots: bots.iter().map(|&bot| name(bot)).collect() }
                })
                .collect();
            MatchBlock { start: fingerprint, fingerprint, matches }
        })
        .collect()
}

const TRUE: [f64; 6] = [1.0, 0.6, 0.2, -0.2, -0.6, -1.0];

fn collect(blocks: impl IntoIterator<Item = MatchBlock>) -> Results {
    let mut results = Results::new(key());
    for block in blocks {
        results.push(&key(), block).unwrap();
    }
    results
}

#[test]
fn independent_of_the_order_of_games() {
    for seats in [2, 4] {
        let options = Options { bootstrap_samples: 20, bootstrap_seed: 5, ..Options::default() };
        let mut blocks = tournament(&TRUE, 200, seats, 1);
        let table = rate(&collect(blocks.clone()), options).unwrap();
        let mut chance = Seeded::stream(2, "shuffle");
        for _ in 0..3 {
            for last in (1..blocks.len()).rev() {
                blocks.swap(last, chance.below(last as u32 + 1) as usize);
            }
            assert_eq!(rate(&collect(blocks.clone()), options).unwrap(), table);
        }
        // Seats and fingerprints do not matter either (beyond rounding).
        let turned = blocks.into_iter().map(|mut block| {
            block.fingerprint ^= 0x5555;
            for game in &mut block.matches {
                game.bots.reverse();
                game.ranks.reverse();
            }
            block.matches.reverse();
            block
        });
        let other = rate(&collect(turned), LIKELIHOOD).unwrap();
        let table = rate(&collect(tournament(&TRUE, 200, seats, 1)), LIKELIHOOD).unwrap();
        for (one, other) in table.bots.iter().zip(&other.bots) {
            assert!((one.elo - other.elo).abs() < 1e-9 && one.bot == other.bot);
        }
    }
}

#[test]
fn intervals_hold_the_true_ratings() {
    for seats in [2, 4] {
        let (mut held, mut bootstrap_held) = (0, 0);
        for seed in 0..100 {
            let options = Options { bootstrap_samples: 100, bootstrap_seed: seed, ..Options::default() };
            // Without ties: these are not made by the model.
            let mut blocks = tournament(&TRUE, 60, seats, seed);
            for game in blocks.iter_mut().flat_map(|block| &mut block.matches) {
                let tied = game.ranks.iter().filter(|&&rank| rank == 2).count() > 1;
                if tied {
                    *game = Match { bots: vec![name(0), name(0)], ranks: vec![1, 2] };
                }
            }
            let table = rate(&collect(blocks), options).unwrap();
            for bot in &table.bots {
                let number: usize = bot.bot[4..].parse().unwrap();
                let truth = TRUE[number] * 400.0 / std::f64::consts::LN_10;
                let inside = |interval: agon_stats::Interval| interval.low <= truth && truth <= interval.high;
                held += u32::from(inside(bot.interval));
                bootstrap_held += u32::from(inside(bot.bootstrap.unwrap()));
            }
        }
        println!("{seats} seats: {held} and {bootstrap_held} of 600");
        assert!((552..=588).contains(&held), "{seats} seats: {held} of 600");
        assert!((530..=590).contains(&bootstrap_held), "{seats} seats: {bootstrap_held} of 600");
    }
}

/// Where the games of a block all end alike, only the block bootstrap notices.
#[test]
fn the_block_bootstrap_knows_that_games_of_a_block_are_one() {
    let block = |fingerprint: u64| {
        let order = if fingerprint.is_multiple_of(3) { [1, 0] } else { [0, 1] };
        MatchBlock { start: fingerprint, fingerprint, matches: vec![ranking(&order); 4] }
    };
    let options = Options { bootstrap_samples: 400, ..Options::default() };
    let table = rate(&collect((0..60).map(block)), options).unwrap();
    let width = |interval: agon_stats::Interval| interval.high - interval.low;
    let ratio = width(table.bots[0].bootstrap.unwrap()) / width(table.bots[0].interval);
    assert!((1.7..2.3).contains(&ratio), "four equal games are one: {ratio}");
    let bootstrap = table.bootstrap.unwrap();
    assert_eq!((bootstrap.samples, bootstrap.asked), (400, 400));
    assert!(bootstrap.superiority[0][1] > 0.97 && bootstrap.superiority[0][0] == 0.5);
}

/// Small random tournaments: bots against themselves, ties of all sizes, bots that won or lost everything,
/// bots that never met. Ratings are finite, or refused for want of a prior.
#[test]
fn whatever_the_results_the_numbers_are_finite() {
    let mut chance = Seeded::stream(3, "whatever");
    let (mut rated, mut refused) = (0, 0);
    for _ in 0..400 {
        let bots = 1 + chance.below(6);
        let seats = 2 + chance.below(5);
        let ranks = 1 + chance.below(seats);
        let games: Vec<Match> = (0..1 + chance.below(12))
            .map(|_| Match {
                bots: (0..seats).map(|_| name(chance.below(bots) as usize)).collect(),
                ranks: (0..seats).map(|_| 1 + chance.below(ranks) as u8).collect(),
            })
            .collect();
        let games = results(games);
        let options = Options { bootstrap_samples: 3, ..Options::default() };
        let table = rate(&games, options).unwrap();
        let finite = |table: &RatingTable| {
            let sum: f64 = table.bots.iter().map(|bot| bot.elo).sum();
            assert!(sum.abs() < 1e-6, "{table:?}");
            for bot in &table.bots {
                assert!(bot.interval.low.is_finite() && bot.interval.high.is_finite(), "{table:?}");
                assert!(bot.interval.low <= bot.elo && bot.elo <= bot.interval.high, "{table:?}");
            }
            for row in table.superiority.iter().chain(&table.expected) {
                assert!(row.iter().all(|share| (0.0..=1.0).contains(share)), "{table:?}");
            }
        };
        finite(&table);
        match rate(&games, LIKELIHOOD) {
            Ok(table) => {
                finite(&table);
                rated += 1;
            }
            Err(RatingError::Unbeaten(_) | RatingError::NoPeak) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(rated > 50 && refused > 50, "{rated} {refused}");
}

#[test]
fn groups_that_never_met_are_named() {
    let table = rate(&results([ranking(&[0, 1]), ranking(&[3, 2])]), Options::default()).unwrap();
    assert_eq!(table.unconnected, [vec![name(0), name(1)], vec![name(2), name(3)]]);
    assert!(rate(&results(pairs()), Options::default()).unwrap().unconnected.is_empty());
}

#[test]
fn nothing_to_rate_is_said() {
    assert_eq!(rate(&results([]), Options::default()), Err(RatingError::Empty));
    let only_ties = results((0..5).map(|_| tie(0, 1)));
    assert_eq!(rate(&only_ties, LIKELIHOOD), Err(RatingError::NoPeak));
    let table = rate(&only_ties, Options::default()).unwrap();
    assert!(table.bots.iter().all(|bot| bot.elo.abs() < 1e-9));
    let bad = Options { prior_sd: Some(0.0), ..Options::default() };
    assert_eq!(rate(&only_ties, bad), Err(RatingError::Options));
}

#[test]
fn a_table_is_plain_data() {
    let options = Options { bootstrap_samples: 5, ..Options::default() };
    let table = rate(&collect(tournament(&TRUE, 30, 3, 3)), options).unwrap();
    let text = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<RatingTable>(&text).unwrap(), table);
}

/// Against `skillratings`, which updates game by game: the same curve, and the same place after many
/// small steps.
#[test]
fn online_elo_wanders_to_the_same_ratings() {
    use skillratings::{Outcomes, elo};
    let rating = |rating| elo::EloRating { rating };
    for lead in [0.0, 35.0, 280.0] {
        let (expected, _) = elo::expected_score(&rating(1500.0 + lead), &rating(1500.0));
        assert!((expected - score_of_elo(lead)).abs() < 1e-12);
    }
    let table = rate(&results(pairs()), LIKELIHOOD).unwrap();
    let mut online = [rating(0.0); 4];
    let step = elo::EloConfig { k: 0.02 };
    for _ in 0..20_000 {
        for (i, j) in (0..16).map(|cell| (cell / 4, cell % 4)) {
            for _ in 0..WINS[i][j] {
                (online[i], online[j]) = elo::elo(&online[i], &online[j], &Outcomes::WIN, &step);
            }
        }
    }
    let ours = strengths(&table);
    let theirs: Vec<f64> = online.iter().map(|bot| bot.rating * std::f64::consts::LN_10 / 400.0).collect();
    assert_near(&ours, &theirs, 0.002);
}
