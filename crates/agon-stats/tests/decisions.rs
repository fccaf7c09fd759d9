//! How often a test decides wrongly, for results of many shapes, not only the even ones that suit its mathematics
//! best.
//!
//! Each distribution is named in `docs/statistics.md`. The short form has 1,000 runs and a margin of 3 points;
//! `cargo xtask long decisions` takes 20,000 (`AGON_RUNS`) and allows 1.5 points to the upper limit of 99 %.

use std::sync::Mutex;

use agon_game::Seeded;
use agon_stats::{Decision, Estimate, Model, Sequential, Shape, Sprt, Tally};

mod shapes;
use shapes::{Source, block, draw, sources};

/// The share of runs that end in `wrong`, and the mean number of blocks they take.
fn simulate(sprt: Sprt, chances: &[f64], wrong: Decision, runs: i64) -> (f64, f64) {
    let (mut errors, mut blocks) = (0, 0);
    for run in 0..runs {
        let mut chance = Seeded::stream(run, "decisions");
        let mut test = Sequential::new(sprt);
        for start in 0.. {
            let points = draw(chances, &mut chance);
            let decision = test.feed(&block(start, sprt.shape(), points)).unwrap();
            if decision != Decision::Continue {
                errors += u32::from(decision == wrong);
                blocks += start + 1;
                break;
            }
        }
    }
    (f64::from(errors) / runs as f64, blocks as f64 / runs as f64)
}

/// How often the 95 % interval of the score of 100 blocks contains the true one.
fn coverage(shape: Shape, chances: &[f64], runs: i64) -> f64 {
    let full = f64::from(shape.full());
    let truth: f64 = chances.iter().enumerate().map(|(p, chance)| chance * p as f64 / full).sum();
    let mut held = 0;
    for run in 0..runs {
        let mut chance = Seeded::stream(run, "coverage");
        let mut tally = Tally::new(shape).unwrap();
        (0..100).for_each(|start| tally.add(&block(start, shape, draw(chances, &mut chance))).unwrap());
        let estimate = Estimate::new(&tally, 0.95);
        held += u32::from(estimate.score_low <= truth && truth <= estimate.score_high);
    }
    f64::from(held) / runs as f64
}

/// How many more blocks it takes to be wrong in these shares of tests than in 5 % each (Wald's expectation,
/// averaged over both hypotheses).
fn cost(gain: f64, miss: f64) -> f64 {
    let blocks = |alpha: f64, beta: f64| {
        let (upper, lower) = (((1.0 - beta) / alpha).ln(), ((1.0 - alpha) / beta).ln());
        (1.0 - alpha) * lower - alpha * upper + (1.0 - beta) * upper - beta * lower
    };
    blocks(gain, miss) / blocks(0.05, 0.05) - 1.0
}

/// What is measured for one distribution.
struct Row {
    name: &'static str,
    gain: f64,
    miss: f64,
    blocks: [f64; 2],
    held: [f64; 2],
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        write!(
            f,
            "| {} | {} | {} | {:.0} to {:.0} | {:.0} % | {} and {} |",
            self.name,
            percent(self.gain),
            percent(self.miss),
            self.blocks[0].min(self.blocks[1]),
            self.blocks[0].max(self.blocks[1]),
            cost(self.gain, self.miss) * 100.0,
            percent(self.held[0]),
            percent(self.held[1]),
        )
    }
}

fn measure(source: &Source, runs: i64) -> Row {
    // An excess of 0.3 standard deviations of a block.
    let elo1 = 0.3 / f64::from(source.shape.games).sqrt() * 800.0 / std::f64::consts::LN_10;
    let sprt = Sprt::new(Model::Normalized, (0.0, elo1), (0.05, 0.05), source.shape).unwrap();
    let (even, better) = (source.with_excess(0.0), source.with_excess(0.3));
    let (gain, short) = simulate(sprt, &even, Decision::AcceptH1, runs);
    let (miss, long) = simulate(sprt, &better, Decision::AcceptH0, runs);
    let held = [&even, &better].map(|chances| coverage(source.shape, chances, runs));
    Row { name: source.name, gain, miss, blocks: [short, long], held }
}

#[test]
fn wrong_decisions_are_rare_whatever_the_results_look_like() {
    let runs = std::env::var("AGON_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1_000);
    let long = runs >= 10_000;
    // The upper limit of 99 % of the short form alone would be 1.6 points.
    let allowed = |share: f64| match long {
        true => share + 2.33 * (share * (1.0 - share) / runs as f64).sqrt() <= 0.05 + 0.015,
        false => share <= 0.05 + 0.03,
    };
    // In 1,000 runs, a share of 95 % is exact to 2.1 points.
    let held =
        |share: f64| if long { (0.93..=0.97).contains(&share) } else { (0.92..=0.98).contains(&share) };
    // Results of many kinds take long and are left to the long form.
    let only = std::env::var("AGON_RESULTS").ok();
    let wanted = |source: &Source| match &only {
        Some(name) => source.name == name,
        None => long || source.shape.full() < 100,
    };
    let all: Vec<Source> = sources().into_iter().filter(wanted).collect();
    assert!(!all.is_empty(), "no results are called {only:?}");
    let (left, rows) = (Mutex::new(all.iter().enumerate()), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((place, source)) = next else { break };
                    let row = measure(source, runs);
                    eprintln!("{row}");
                    rows.lock().unwrap().push((place, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(place, _)| *place);
    println!("| results | H1 wrongly | H0 wrongly | blocks | more than for 5 % | intervals that hold |");
    println!("|---|---|---|---|---|---|");
    rows.iter().for_each(|(_, row)| println!("{row}"));
    let good =
        |row: &Row| allowed(row.gain) && allowed(row.miss) && row.held.iter().all(|&share| held(share));
    let bad: Vec<&str> = rows.iter().filter(|(_, row)| !good(row)).map(|(_, row)| row.name).collect();
    assert!(bad.is_empty(), "{bad:?}");
}
