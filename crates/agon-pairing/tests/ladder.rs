//! How many games the ladder saves: simulated bots of known strength, against a round robin of 20 games a pair.
//!
//! The short form plays few bots a few times; `cargo xtask long ladder` plays 100 bots with a standard deviation of 300
//! Elo (`AGON_RUNS` times) and produces the figures of `docs/formats.md`.

use agon_game::Seeded;
use agon_pairing::ladder::{Knowledge, round_size};
use agon_stats::score_of_elo;

/// Games of each pair in the round robin.
const EACH: usize = 20;
/// Games of a block.
const BLOCK: usize = 2;
/// The size of the top group.
const TOP: usize = 5;

/// Bots of known strength, and the luck of their games.
struct Field {
    truth: Vec<f64>,
    chance: Seeded,
}

impl Field {
    fn new(bots: usize, run: i64) -> Self {
        let mut strengths = Seeded::stream(run, "strengths");
        let mut normal = || (0..12).map(|_| uniform(&mut strengths)).sum::<f64>() - 6.0;
        Self { truth: (0..bots).map(|_| 300.0 * normal()).collect(), chance: Seeded::stream(run, "luck") }
    }

    /// The points of both in this many games, none of them drawn.
    fn play(&mut self, one: usize, other: usize, games: usize) -> [u32; 2] {
        let expected = score_of_elo(self.truth[one] - self.truth[other]);
        let wins = (0..games).filter(|_| uniform(&mut self.chance) < expected).count() as u32;
        [2 * wins, 2 * (games as u32 - wins)]
    }

    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.truth.len()).collect();
        order.sort_by(|&a, &b| self.truth[b].total_cmp(&self.truth[a]));
        order
    }

    /// The errors of the ratings, squared: between neighbours in the true order, and of all around their mean.
    fn errors(&self, known: &Knowledge) -> [f64; 2] {
        let off: Vec<f64> =
            self.truth.iter().enumerate().map(|(bot, truth)| known.elo(bot) - truth).collect();
        let count = off.len() as f64;
        let mean = off.iter().sum::<f64>() / count;
        let neighbours = self.order().windows(2).map(|two| (off[two[0]] - off[two[1]]).powi(2)).sum::<f64>();
        [neighbours / (count - 1.0), off.iter().map(|off| (off - mean).powi(2)).sum::<f64>() / count]
    }

    /// Whether the best are found, in any order.
    fn found(&self, known: &Knowledge) -> bool {
        let mut best = [self.order(), known.order()].map(|order| order[..TOP].to_vec());
        best.iter_mut().for_each(|best| best.sort_unstable());
        best[0] == best[1]
    }

    fn round_robin(&mut self) -> Knowledge {
        let bots = self.truth.len();
        let mut known = Knowledge::new(bots);
        for _ in 0..EACH / BLOCK {
            for one in 0..bots {
                for other in one + 1..bots {
                    let points = self.play(one, other, BLOCK);
                    known.add(&[one, other], &points);
                }
            }
        }
        known.refit();
        known
    }

    /// Plays a ladder, and calls `look` after each of `marks` blocks.
    fn ladder(
        &mut self,
        top: Option<usize>,
        marks: &[usize],
        mut look: impl FnMut(&Self, usize, &Knowledge),
    ) {
        let bots = self.truth.len();
        let mut known = Knowledge::new(bots);
        let (mut played, mut mark) = (0, 0);
        for round in 1.. {
            let size = round_size(bots, 2, top).min((marks[mark] - played) as u32);
            for pair in known.choose(round, size, 2, top) {
                let points = self.play(pair[0], pair[1], BLOCK);
                known.add(&pair, &points);
                played += 1;
            }
            known.refit();
            if played == marks[mark] {
                look(self, mark, &known);
                mark += 1;
                if mark == marks.len() {
                    return;
                }
            }
        }
    }
}

fn uniform(chance: &mut Seeded) -> f64 {
    (chance.bits() >> 11) as f64 / (1u64 << 53) as f64
}

/// The first share in percent at which `reached` holds.
fn first(shares: &[usize], reached: impl Fn(usize) -> bool) -> Option<usize> {
    shares.iter().enumerate().find(|&(mark, _)| reached(mark)).map(|(_, share)| *share)
}

/// How many runs of how many bots: few of few, unless the long form is asked for.
fn size(short: i64) -> (i64, usize) {
    let asked = std::env::var("AGON_RUNS").ok().and_then(|runs| runs.parse().ok());
    asked.map_or((short, 50), |runs| (runs, 100))
}

#[test]
fn a_ladder_reaches_the_errors_of_a_round_robin_with_fewer_games() {
    let (runs, bots) = size(4);
    let all = bots * (bots - 1) / 2 * EACH / BLOCK;
    let shares: Vec<usize> = (8..=17).map(|part| part * 5).collect();
    let marks: Vec<usize> = shares.iter().map(|share| all * share / 100).collect();
    let mut whole = [0.0; 2];
    let mut by_mark = vec![[0.0; 2]; marks.len()];
    for run in 0..runs {
        let mut field = Field::new(bots, run);
        let known = field.round_robin();
        let found = field.errors(&known);
        (0..2).for_each(|kind| whole[kind] += found[kind] / runs as f64);
        field.ladder(None, &marks, |field, mark, known| {
            let found = field.errors(known);
            (0..2).for_each(|kind| by_mark[mark][kind] += found[kind] / runs as f64);
        });
    }
    println!("{bots} bots, {runs} runs; errors in Elo (root of the mean square)");
    println!("| games | between neighbours | of all |\n|---|---|---|");
    println!("| round robin, {} | {:.1} | {:.1} |", all * BLOCK, whole[0].sqrt(), whole[1].sqrt());
    for (share, errors) in shares.iter().zip(&by_mark) {
        println!("| {share} % | {:.1} | {:.1} |", errors[0].sqrt(), errors[1].sqrt());
    }
    let reached = [0, 1].map(|kind| first(&shares, |mark| by_mark[mark][kind] <= whole[kind]));
    println!("reached with {reached:?} % of its games");
    assert!(reached[0].is_some_and(|share| share <= 60), "{reached:?}");
    assert!(reached[1].is_some_and(|share| share <= 85), "{reached:?}");
}

#[test]
fn the_top_five_are_found_with_a_quarter_of_the_games() {
    let (runs, bots) = size(16);
    let all = bots * (bots - 1) / 2 * EACH / BLOCK;
    let shares: Vec<usize> = (1..=12).map(|part| part * 2).chain([25]).collect();
    let marks: Vec<usize> = shares.iter().map(|share| all * share / 100).collect();
    let mut whole = 0;
    let mut by_mark = vec![0; marks.len()];
    for run in 0..runs {
        let mut field = Field::new(bots, run);
        let known = field.round_robin();
        whole += u32::from(field.found(&known));
        field.ladder(Some(TOP), &marks, |field, mark, known| by_mark[mark] += u32::from(field.found(known)));
    }
    println!("{bots} bots, {runs} runs; how often the true top {TOP} were found");
    println!("| games | found |\n|---|---|\n| round robin | {whole} |");
    shares.iter().zip(&by_mark).for_each(|(share, found)| println!("| {share} % | {found} |"));
    // Of sixteen fields, each of the two counts is exact to within two.
    let luck = if runs < 40 { 2 } else { 0 };
    let reached = first(&shares, |mark| by_mark[mark] + luck >= whole);
    println!("reached with {reached:?} % of its games");
    assert!(reached.is_some(), "{by_mark:?} of {whole}");
}
