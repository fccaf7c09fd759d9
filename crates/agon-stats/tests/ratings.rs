//! Ratings: equal to an independent implementation, independent of order, and near the truth.
//!
//! Longer than 500 lines: it checks one function in many ways.

use agon_game::{Chance as _, Seeded};
use agon_stats::{
    Block, Estimate, Interval, MatchBlock, Meeting, Options, Pairs, RankedMatch, RatingError, RatingTable,
    Results, RulesHash, Scale, ScalePlace, Shape, TableKey, Tally, rate, score_of_elo,
};

fn key() -> TableKey {
    TableKey { game: "deerhunt".into(), rules: RulesHash(1) }
}

fn name(bot: usize) -> String {
    format!("bot {bot}")
}

/// A match of these bots, best first.
fn ranking(order: &[usize]) -> RankedMatch {
    RankedMatch {
        bots: order.iter().map(|&bot| name(bot)).collect(),
        ranks: (1..=order.len() as u8).collect(),
    }
}

fn tie(one: usize, other: usize) -> RankedMatch {
    RankedMatch { bots: vec![name(one), name(other)], ranks: vec![1, 1] }
}

/// One block per match.
fn results(matches: impl IntoIterator<Item = RankedMatch>) -> Results {
    let block = |(fingerprint, game)| MatchBlock { start: fingerprint, fingerprint, matches: vec![game] };
    collect((0..).zip(matches).map(block))
}

fn collect(blocks: impl IntoIterator<Item = MatchBlock>) -> Results {
    let mut results = Results::new(key());
    for block in blocks {
        results.push(&key(), block).unwrap();
    }
    results
}

fn plain(results: &Results) -> RatingTable {
    rate(results, &Options::default()).unwrap()
}

fn ends(interval: Option<Interval>) -> (f64, f64) {
    let Some(Interval { low: Some(low), high: Some(high) }) = interval else { panic!("{interval:?}") };
    (low, high)
}

/// Elo by bot number, with its interval.
fn by_number(table: &RatingTable) -> Vec<(f64, f64, f64)> {
    let mut all: Vec<_> = table.bots.iter().collect();
    all.sort_by(|a, b| a.bot.cmp(&b.bot));
    all.iter().map(|bot| (bot.elo.unwrap(), ends(bot.interval).0, ends(bot.interval).1)).collect()
}

// The data and the output of choix_expected.py.
const WINS: [[usize; 4]; 4] = [[0, 7, 9, 4], [3, 0, 6, 8], [1, 5, 0, 6], [2, 2, 7, 0]];
const BRADLEY_TERRY: [f64; 4] = [0.950583188351, 0.135442196727, -0.546504763628, -0.539520621451];

const ELO: f64 = 400.0 / std::f64::consts::LN_10;

#[test]
fn equal_to_choix() {
    let meetings = (0..16)
        .map(|cell| (cell / 4, cell % 4))
        .map(|(i, j)| (i, j, WINS[i][j] as u64))
        .map(|(i, j, wins)| Meeting::games(i as u32, j as u32, 2 * wins, wins));
    let scale = Scale::fit(&Pairs::new(4, meetings), &[], None);
    for (elo, expected) in scale.elo.iter().zip(BRADLEY_TERRY) {
        assert!((elo / ELO - expected).abs() < 1e-10, "{elo} {expected}");
    }
    let pair = |i: usize, j: usize| std::iter::repeat_n(ranking(&[i, j]), WINS[i][j]);
    let table = plain(&results((0..16).flat_map(|cell| pair(cell / 4, cell % 4))));
    for (bot, expected) in by_number(&table).iter().zip(BRADLEY_TERRY) {
        assert!((bot.0 - expected * ELO).abs() <= 0.05, "rounded to a tenth: {bot:?}");
    }
}

/// Two bots: the score decides, with a draw as half a win; and the interval is that of single games.
#[test]
fn a_draw_is_half_a_win() {
    let games = (0..400).map(|game| match game % 40 {
        0..20 => ranking(&[0, 1]),
        20..35 => tie(0, 1),
        _ => ranking(&[1, 0]),
    });
    let table = plain(&results(games));
    let [first, second] = by_number(&table)[..] else { panic!() };
    let score = 27.5f64 / 40.0;
    assert!((first.0 - second.0 - 400.0 * (score / (1.0 - score)).log10()).abs() <= 0.1, "{first:?}");
    assert_eq!(table.expected[0][1], Some(0.6875));
    // By hand: the variance of a game's score is 20/40 + 15/160 - score².
    let deviation = ((0.5 + 15.0 / 160.0 - score * score) / 400.0).sqrt();
    let half = 1.966 * deviation / (score * (1.0 - score)) * ELO / 2.0;
    assert!(((first.2 - first.1) / 2.0 / half - 1.0).abs() < 0.01, "{first:?} {half}");
    assert_eq!(table.superiority[0][1].unwrap() + table.superiority[1][0].unwrap(), 1.0);
}

/// A table of two bots agrees with `Estimate` on the same blocks, and a gauntlet's table with its pairings.
#[test]
fn the_same_blocks_have_the_same_figures() {
    let mut chance = Seeded::stream(4, "same");
    let mut blocks = Vec::new();
    let mut tallies = vec![Tally::new(Shape::PAIR).unwrap(); 3];
    for fingerprint in 0..240 {
        let other = 1 + fingerprint as usize % 3;
        let points: Vec<u32> = (0..2).map(|_| chance.below(3).max(chance.below(other as u32))).collect();
        tallies[other - 1].add(&Block { start: fingerprint, fingerprint, points: points.clone() }).unwrap();
        let game = |points: &u32| match points {
            0 => ranking(&[other, 0]),
            1 => tie(0, other),
            _ => ranking(&[0, other]),
        };
        blocks.push(MatchBlock {
            start: fingerprint,
            fingerprint,
            matches: points.iter().map(game).collect(),
        });
    }
    let table = plain(&collect(blocks.clone()));
    let elo = |bot: usize| by_number(&table)[bot].0;
    for (other, tally) in (1..).zip(&tallies) {
        let direct = Estimate::new(tally, 0.95).elo.unwrap();
        assert!((elo(0) - elo(other) - direct).abs() <= 0.1, "{other}: {direct}");
    }
    // With only two bots the intervals agree too, near a score of a half.
    let only: Vec<MatchBlock> = blocks.into_iter().filter(|block| block.fingerprint % 3 == 0).collect();
    let table = plain(&collect(only));
    let estimate = Estimate::new(&tallies[0], 0.95);
    let [own, its] = by_number(&table)[..] else { panic!() };
    assert!((own.0 - its.0 - estimate.elo.unwrap()).abs() <= 0.1);
    let ratio = 2.0 * (own.2 - own.1) / (estimate.elo_high.unwrap() - estimate.elo_low.unwrap());
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
}

#[test]
fn bots_that_won_or_lost_everything_have_one_sided_intervals() {
    let mut games: Vec<RankedMatch> =
        (0..60).map(|game| ranking(&if game % 3 == 0 { [2, 1] } else { [1, 2] })).collect();
    let without = plain(&results(games.clone()));
    games.extend((0..40).map(|game| ranking(&[0, 1 + game % 2])));
    games.extend((0..40).map(|game| ranking(&[1 + game % 2, 3])));
    let table = plain(&results(games));
    let names: Vec<&str> = table.bots.iter().map(|bot| bot.bot.as_str()).collect();
    assert_eq!(names, ["bot 0", "bot 1", "bot 2", "bot 3"]);
    let [best, one, two, last] = &table.bots[..] else { panic!() };
    assert_eq!((best.elo, last.elo), (None, None));
    let (low, high) = (best.interval.unwrap(), last.interval.unwrap());
    assert!(low.low.unwrap() > 300.0 && low.high.is_none(), "{low:?}");
    assert!(high.low.is_none() && high.high.unwrap() < -300.0, "{high:?}");
    // As certainly as in a test of these two: 20 of 20.
    let tested = Estimate::new(&Tally::from_counts(Shape::SINGLE, &[0, 0, 20]).unwrap(), 0.95).superiority;
    assert!((best.above_next.unwrap() - tested).abs() < 1e-4 && tested > 0.999, "{best:?} {tested}");
    // The others are rated as without them, and as certainly.
    assert_eq!((one.elo, one.interval), (without.bots[0].elo, without.bots[0].interval));
    assert_eq!((two.elo, two.interval), (without.bots[1].elo, without.bots[1].interval));
    // 40 wins in a row: a score of 0.905 at the end of the interval, as `Estimate` has it.
    let alone = plain(&results((0..40).map(|_| ranking(&[0, 1]))));
    let (low, high) = (alone.bots[0].interval.unwrap(), alone.bots[1].interval.unwrap());
    let tally = Tally::from_counts(Shape::SINGLE, &[0, 0, 40]).unwrap();
    let lead = low.low.unwrap() - high.high.unwrap();
    assert!((lead - Estimate::new(&tally, 0.95).elo_low.unwrap()).abs() <= 0.15, "{lead}");
    assert_eq!((low.high, high.low), (None, None));
}

#[test]
fn a_block_that_never_varies_still_leaves_doubt() {
    let block = |fingerprint| MatchBlock {
        start: fingerprint,
        fingerprint,
        matches: vec![ranking(&[0, 1]), ranking(&[1, 0])],
    };
    let table = plain(&collect((0..50).map(block)));
    let (low, high) = ends(table.bots[0].interval);
    assert_eq!(table.bots[0].elo, Some(0.0));
    assert!(high > 2.0 && low < -2.0, "{low} {high}");
    assert_eq!(table.bots[0].above_next, Some(0.5));
}

/// If all games of a block end alike they count as one game.
#[test]
fn games_of_a_block_are_one_piece_of_evidence() {
    let order = |fingerprint: u64| if fingerprint.is_multiple_of(3) { [1, 0] } else { [0, 1] };
    let block = |games: usize| {
        move |fingerprint: u64| MatchBlock {
            start: fingerprint,
            fingerprint,
            matches: vec![ranking(&order(fingerprint)); games],
        }
    };
    let (single, four) = (plain(&collect((0..60).map(block(1)))), plain(&collect((0..60).map(block(4)))));
    assert_eq!(single.bots[0].elo, four.bots[0].elo);
    assert_eq!(single.bots[0].interval, four.bots[0].interval);
    assert_eq!(single.bots[0].above_next, four.bots[0].above_next);
}

/// A tournament of bots with these strengths, ranked by racing exponential clocks, so that every pair meets as
/// in the model of Bradley and Terry; with draws if there are two seats.
fn tournament(strengths: &[f64], blocks: u64, seats: usize, seed: i64) -> Vec<MatchBlock> {
    let mut chance = Seeded::stream(seed, "tournament");
    let mut random = move || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let mut block = |fingerprint| {
        let mut bots: Vec<usize> = (0..strengths.len()).collect();
        for last in (1..bots.len()).rev() {
            bots.swap(last, (random() * (last + 1) as f64) as usize);
        }
        bots.truncate(seats);
        let mut game = |rotation| {
            let mut bots = bots.clone();
            bots.rotate_left(rotation);
            let times: Vec<f64> = bots.iter().map(|&bot| -random().ln() / strengths[bot].exp()).collect();
            let rank = |seat: usize| 1 + times.iter().filter(|&&time| time < times[seat]).count() as u8;
            let mut ranks: Vec<u8> = (0..seats).map(rank).collect();
            // Two draws are worth a win and a loss: with chances p and 1 - p of these, the share of draws that
            // keeps the mean is taken from both.
            let (p, half) = (score_of_elo((strengths[bots[0]] - strengths[bots[1]]) * ELO), random());
            let won = f64::from(u8::from(ranks[0] == 1));
            if seats == 2 && half < 0.6 * (won * (1.0 - p) + (1.0 - won) * p) {
                ranks = vec![1, 1];
            }
            RankedMatch { ranks, bots: bots.iter().map(|&bot| name(bot)).collect() }
        };
        MatchBlock { start: fingerprint, fingerprint, matches: (0..seats).map(&mut game).collect() }
    };
    (0..blocks).map(&mut block).collect()
}

const TRUE: [f64; 6] = [1.0, 0.6, 0.2, -0.2, -0.6, -1.0];

#[test]
fn independent_of_the_order_of_games() {
    for seats in [2, 4] {
        let mut blocks = tournament(&TRUE, 200, seats, 1);
        let table = plain(&collect(blocks.clone()));
        let mut chance = Seeded::stream(2, "shuffle");
        for _ in 0..3 {
            for last in (1..blocks.len()).rev() {
                blocks.swap(last, chance.below(last as u32 + 1) as usize);
            }
            for game in blocks.iter_mut().flat_map(|block| &mut block.matches) {
                game.bots.reverse();
                game.ranks.reverse();
            }
            blocks.iter_mut().for_each(|block| block.matches.reverse());
            assert_eq!(plain(&collect(blocks.clone())), table);
        }
    }
}

#[test]
fn intervals_hold_the_true_ratings() {
    for seats in [2, 3, 5] {
        let (mut held, mut order_held, mut all) = (0, 0, 0);
        for seed in 0..150 {
            let table = plain(&collect(tournament(&TRUE, 90, seats, seed)));
            for (bot, truth) in by_number(&table).iter().zip(TRUE) {
                held += u32::from(bot.1 <= truth * ELO && truth * ELO <= bot.2);
                all += 1;
            }
            let number = |place: usize| table.bots[place].bot.clone();
            for place in 0..5 {
                // The certainty of an order of neighbours is how often it is right: summed up, both are the
                // same.
                order_held += i32::from(number(place) < number(place + 1)) * 10_000;
                order_held -= (table.bots[place].above_next.unwrap() * 10_000.0) as i32;
            }
        }
        let (share, surplus) = (f64::from(held) / f64::from(all), f64::from(order_held) / 7_500_000.0);
        println!("{seats} seats: {share:.4}, order {surplus:+.4}");
        assert!((0.93..0.97).contains(&share), "{seats} seats: {share}");
        assert!(surplus.abs() < 0.08, "{seats} seats: {surplus}");
    }
}

/// Small random tournaments: bots against themselves, ties of all sizes, bots that won or lost everything,
/// bots that never met. Every table is finite and in order.
#[test]
fn whatever_the_results_the_numbers_are_finite() {
    let mut chance = Seeded::stream(3, "whatever");
    let (mut known, mut open) = (0, 0);
    for _ in 0..600 {
        let bots = 1 + chance.below(6);
        let seats = 2 + chance.below(5);
        let ranks = 1 + chance.below(seats);
        let games: Vec<RankedMatch> = (0..1 + chance.below(12))
            .map(|_| RankedMatch {
                bots: (0..seats).map(|_| name(chance.below(bots) as usize)).collect(),
                ranks: (0..seats).map(|_| 1 + chance.below(ranks) as u8).collect(),
            })
            .collect();
        let table = plain(&results(games));
        for bot in &table.bots {
            let Interval { low, high } = bot.interval.unwrap();
            assert!([low, high, bot.elo].iter().flatten().all(|end| end.abs() < 1e5), "{table:?}");
            match bot.elo {
                // A single piece of evidence says nothing about how far two are apart.
                Some(elo) => {
                    assert!(
                        low.is_none_or(|low| low < elo) && high.is_none_or(|high| elo < high),
                        "{table:?}"
                    );
                }
                None => assert!(low.is_none() || high.is_none(), "{table:?}"),
            }
            *if bot.elo.is_some() { &mut known } else { &mut open } += 1;
        }
        assert!(table.bots.is_sorted_by_key(|bot| bot.group));
        for share in table.superiority.iter().chain(&table.expected).flatten().flatten() {
            assert!((0.0..=1.0).contains(share), "{table:?}");
        }
    }
    assert!(known > 1_000 && open > 150, "{known} {open}");
}

#[test]
fn groups_that_never_met_are_marked() {
    let games = [ranking(&[3, 2]), ranking(&[2, 3]), ranking(&[0, 1]), ranking(&[1, 4]), ranking(&[4, 0])];
    let table = plain(&results(games.clone()));
    let marks: Vec<(&str, u32)> = table.bots.iter().map(|bot| (bot.bot.as_str(), bot.group)).collect();
    assert_eq!(marks, [("bot 0", 1), ("bot 1", 1), ("bot 4", 1), ("bot 2", 2), ("bot 3", 2)]);
    assert_eq!((table.groups, table.expected[0][3], table.superiority[0][3]), (2, None, None));
    assert_eq!((table.bots[2].above_next, table.bots[0].above_next), (None, Some(0.5)));
    let anchors = vec![(name(0), 1500.0), (name(2), 1000.0)];
    let table = rate(&results(games), &Options { anchors, ..Options::default() }).unwrap();
    assert_eq!(table.groups, 1, "anchors in both make them comparable");
}

#[test]
fn anchors_keep_the_level() {
    let blocks = || collect(tournament(&TRUE, 80, 2, 9));
    let free = by_number(&plain(&blocks()));
    let anchored = |anchors: &[(usize, f64)]| {
        let anchors = anchors.iter().map(|&(bot, elo)| (name(bot), elo)).collect();
        rate(&blocks(), &Options { anchors, ..Options::default() }).unwrap()
    };
    let one = anchored(&[(3, 1500.0)]);
    let moved = by_number(&one);
    assert_eq!(moved[3], (1500.0, 1500.0, 1500.0));
    assert!(one.bots.iter().all(|bot| bot.anchor == (bot.bot == name(3))));
    for (own, free_one) in moved.iter().zip(&free) {
        assert!((own.0 - 1500.0 - free_one.0 + free[3].0).abs() <= 0.11, "one anchor moves the table");
    }
    // Two anchors far apart hold the others between them, against the results.
    let two = by_number(&anchored(&[(0, 0.0), (5, 1000.0)]));
    assert_eq!((two[0].0, two[5].0), (0.0, 1000.0));
    assert!((1..5).all(|bot| 300.0 < two[bot].0 && two[bot].0 < 700.0), "{two:?}");
    let refused = |anchors: &[(&str, f64)]| {
        let anchors = anchors.iter().map(|&(bot, elo)| (bot.to_owned(), elo)).collect();
        rate(&blocks(), &Options { anchors, ..Options::default() }).unwrap_err()
    };
    assert!(refused(&[("nobody", 0.0)]).to_string().contains("its bots are bot 0, bot 1"));
    assert_eq!(refused(&[("bot 0", f64::NAN)]), RatingError::Anchor(name(0)));
    assert_eq!(refused(&[("bot 0", 1.0), ("bot 0", 2.0)]), RatingError::AnchorTwice(name(0)));
}

#[test]
fn nothing_to_rate_is_said() {
    let options = Options::default();
    assert_eq!(rate(&results([]), &options), Err(RatingError::Empty));
    let only_ties = plain(&results((0..5).map(|_| tie(0, 1))));
    assert!(only_ties.bots.iter().all(|bot| bot.elo == Some(0.0)));
    let bad = Options { confidence: 1.0, ..options };
    assert_eq!(rate(&results([tie(0, 1)]), &bad), Err(RatingError::Options));
}

#[test]
fn a_table_is_plain_data() {
    let mut blocks = tournament(&TRUE, 30, 3, 3);
    blocks.push(MatchBlock {
        start: 1 << 40,
        fingerprint: 1,
        matches: vec![ranking(&[8, 0]), ranking(&[9, 10])],
    });
    let table = plain(&collect(blocks));
    let text = serde_json::to_string(&table).unwrap();
    // Everything is serialised except these, which are only for the code that has just computed them.
    let written = RatingTable { deviations: Vec::new(), placed: Vec::new(), ..table };
    assert_eq!(serde_json::from_str::<RatingTable>(&text).unwrap(), written);
}

/// 300 bots that meet neighbours and a few far away, some of them unbeaten: warm and cold starts agree.
#[test]
fn a_warm_start_finds_the_same_ratings() {
    let mut chance = Seeded::stream(5, "warm");
    let mut games = |count: usize| -> Vec<Meeting> {
        (0..count)
            .map(|_| {
                let one = chance.below(300);
                let other = if chance.below(10) == 0 {
                    chance.below(300)
                } else {
                    (one + 1 + chance.below(20)) % 300
                };
                let wins = (chance.bits() >> 11) as f64 / ((1u64 << 53) as f64)
                    < score_of_elo(3.0 * (f64::from(one) - f64::from(other)));
                Meeting::games(one, other, 2 * u64::from(wins), 1)
            })
            .collect()
    };
    let old = Pairs::new(300, games(12_000));
    let before = Scale::fit(&old, &[], None);
    let now = old.with(301, games(500));
    let start: Vec<f64> = before.elo.iter().copied().chain([0.0]).collect();
    let (warm, cold) = (Scale::fit(&now, &[], Some(&start)), Scale::fit(&now, &[], None));
    assert_eq!(warm.place, cold.place);
    assert_eq!(cold.place[300], ScalePlace::Unknown, "a newcomer without a game");
    for (warm, cold) in warm.elo.iter().zip(&cold.elo) {
        assert!((warm - cold).abs() < 1e-6, "{warm} {cold}");
    }
}

/// Against `skillratings`, which updates game by game: the same curve, and the same place after many small
/// steps.
#[test]
fn online_elo_wanders_to_the_same_ratings() {
    use skillratings::{Outcomes, elo};
    let rating = |rating| elo::EloRating { rating };
    for lead in [0.0, 35.0, 280.0] {
        let (expected, _) = elo::expected_score(&rating(1500.0 + lead), &rating(1500.0));
        assert!((expected - score_of_elo(lead)).abs() < 1e-12);
    }
    let mut online = [rating(0.0); 4];
    let step = elo::EloConfig { k: 0.02 };
    for _ in 0..20_000 {
        for (i, j) in (0..16).map(|cell| (cell / 4, cell % 4)) {
            for _ in 0..WINS[i][j] {
                (online[i], online[j]) = elo::elo(&online[i], &online[j], &Outcomes::WIN, &step);
            }
        }
    }
    for (bot, expected) in online.iter().zip(BRADLEY_TERRY) {
        assert!((bot.rating / ELO - expected).abs() < 0.002, "{bot:?} {expected}");
    }
}

#[test]
fn whoever_took_every_point_from_a_bot_stands_before_it() {
    // 0 and 1 trade points, 2 beat 0 once, and 3 beat 1 and 2: names alone would put 0 before 2.
    let matches = [ranking(&[0, 1]), tie(0, 1), ranking(&[2, 0]), ranking(&[3, 1]), ranking(&[3, 2])];
    let table = plain(&results(matches));
    let order: Vec<&str> = table.bots.iter().map(|bot| &bot.bot[..]).collect();
    assert_eq!(order, ["bot 3", "bot 2", "bot 0", "bot 1"]);
}

/// Pairs of blocks between two bots, by their points, seen by the first.
fn pairs_of(one: usize, other: usize, counts: &[u64; 5]) -> Vec<MatchBlock> {
    let game = |points: u64| match points {
        2 => ranking(&[one, other]),
        1 => tie(one, other),
        _ => ranking(&[other, one]),
    };
    let points = (0u64..5).flat_map(|points| std::iter::repeat_n(points, counts[points as usize] as usize));
    let block = |(number, points): (usize, u64)| {
        let start = (one * 1000 + other) as u64 * 1000 + number as u64;
        MatchBlock {
            start,
            fingerprint: start,
            matches: vec![game(points.min(2)), game(points - points.min(2))],
        }
    };
    points.enumerate().map(block).collect()
}

/// What a table says of bot 0 against bot 1: its certainty, and the ends of the interval of its rating.
fn said(table: &RatingTable) -> (f64, f64, f64) {
    let at = |bot: usize| table.bots.iter().position(|own| own.bot == name(bot)).unwrap();
    let interval = table.bots[at(0)].interval.unwrap();
    let (low, high) = (interval.low.unwrap_or(f64::NEG_INFINITY), interval.high.unwrap_or(f64::INFINITY));
    (table.superiority[at(0)][at(1)].unwrap(), low, high)
}

/// Calls `each` with every way to divide `blocks` among five results.
fn every_tally(blocks: u64, each: &mut impl FnMut([u64; 5])) {
    for code in 0..(blocks + 1).pow(4) {
        let digit = |place: u32| code / (blocks + 1).pow(place) % (blocks + 1);
        let first = [digit(0), digit(1), digit(2), digit(3)];
        if let Some(rest) = blocks.checked_sub(first.iter().sum()) {
            each([first[0], first[1], first[2], first[3], rest]);
        }
    }
}

/// Two bots in a table are as certain as in a test of the two, and a better result is never less, of two bots and of a gauntlet.
#[test]
fn a_better_result_is_never_less_in_a_table() {
    let tables = |counts: &[u64; 5]| {
        let alone = pairs_of(0, 1, counts);
        let others = [pairs_of(0, 2, &[1, 0, 2, 1, 3]), pairs_of(3, 0, &[2, 2, 1, 1, 0])].concat();
        [plain(&collect(alone.clone())), plain(&collect([alone, others].concat()))]
    };
    let most = if std::env::var_os("AGON_RUNS").is_some() { 12 } else { 5 };
    for blocks in 2..=most {
        every_tally(blocks, &mut |counts| {
            let own = tables(&counts).map(|table| said(&table));
            let estimate = Estimate::new(&Tally::from_counts(Shape::PAIR, &counts).unwrap(), 0.95);
            for (certain, ..) in own {
                assert!((certain - estimate.superiority).abs() < 1e-4, "{counts:?}: {certain} {estimate:?}");
            }
            // Alone both are half of their difference from the mean.
            let (_, low, high) = own[0];
            for (end, of) in [(low, estimate.elo_low), (high, estimate.elo_high)] {
                let is_rated = estimate.elo.is_some();
                assert!(
                    !is_rated || of.is_none_or(|of| (of / 2.0 - end).abs() < 0.11),
                    "{counts:?}: {end} {of:?}"
                );
            }
            for points in 1..5 {
                let mut after = counts;
                if after[points - 1] == 0 {
                    continue;
                }
                after[points - 1] -= 1;
                after[points] += 1;
                for (own, better) in own.into_iter().zip(tables(&after).map(|table| said(&table))) {
                    let falls = [own.0 - better.0, own.1 - better.1, own.2 - better.2];
                    // Certainties are rounded to a ten thousandth, ratings to a tenth.
                    // Of a mean of the same bots: whoever took no point from bot 0, or all, is not part of it.
                    let is_same =
                        [counts, after].iter().all(|counts| counts[0] < blocks && counts[4] < blocks);
                    let lower = is_same && falls[1..].iter().any(|fall| *fall > 0.11);
                    assert!(falls[0] < 1.1e-4 && !lower, "{counts:?}: {own:?}, then {better:?}");
                }
            }
        });
    }
}
