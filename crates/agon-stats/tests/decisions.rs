//! How often a test decides wrongly, for results of many shapes, not only the even ones that suit its mathematics
//! best.
//!
//! Each distribution is named in `docs/statistics.md`. The short form has 1,000 runs and a margin of 3 points;
//! `cargo xtask long decisions` takes 20,000 (`AGON_RUNS`) and allows 1.5 points to the upper limit of 99 %.

use std::sync::Mutex;

use agon_game::Seeded;
use agon_stats::{Block, Decision, Estimate, Model, Sequential, Shape, Sprt, Tally};

/// Results of blocks: the chance of each number of points before the bot is made stronger or weaker.
struct Source {
    name: &'static str,
    shape: Shape,
    chances: Vec<f64>,
}

fn sources() -> Vec<Source> {
    let source = |name, shape, chances: &[f64]| Source { name, shape, chances: chances.to_vec() };
    let mut sources = vec![
        source("even games", Shape::SINGLE, &[0.45, 0.1, 0.45]),
        source("drawish games", Shape::SINGLE, &[0.05, 0.9, 0.05]),
        source("drawish pairs", Shape::PAIR, &[0.005, 0.1, 0.79, 0.1, 0.005]),
        source("pairs that cancel", Shape::PAIR, &[0.05, 0.1, 0.7, 0.1, 0.05]),
        source("pairs that repeat", Shape::PAIR, &[0.4, 0.05, 0.1, 0.05, 0.4]),
        source("skewed pairs", Shape::PAIR, &[0.02, 0.05, 0.55, 0.36, 0.02]),
        source("rare losses", Shape::PAIR, &[0.06, 0.02, 0.3, 0.5, 0.12]),
        source("rare wins", Shape::PAIR, &[0.12, 0.5, 0.3, 0.02, 0.06]),
    ];
    // Ranks of equal bots are uniform, and the games of a block independent; a twin is the difference of two ranks.
    for (name, seats) in [("ranks of 3 seats", 3), ("ranks of 5 seats", 5), ("ranks of 9 seats", 9)] {
        let game: Vec<f64> = (0..2 * seats - 1).map(|p| if p % 2 == 0 { 1.0 } else { 0.0 }).collect();
        sources.push(Source { name, shape: Shape::rotation(seats), chances: sum(&game, seats) });
    }
    for (name, seats) in [("twins of 3 seats", 3), ("twins of 4 seats", 4), ("twins of 9 seats", 9)] {
        let most = 2 * (seats as usize - 1);
        let mut game = vec![0.0; 2 * most + 1];
        for one in (0..=most).step_by(2) {
            for other in (0..=most).step_by(2) {
                game[most + one - other] += 1.0;
            }
        }
        sources.push(Source { name, shape: Shape::twins(seats), chances: sum(&game, seats) });
    }
    sources
}

/// The distribution of the sum of this many games with these chances.
fn sum(game: &[f64], games: u32) -> Vec<f64> {
    let all: f64 = game.iter().sum();
    (0..games).fold(vec![1.0], |before, _| {
        let mut next = vec![0.0; before.len() + game.len() - 1];
        for (points, chance) in before.iter().enumerate() {
            game.iter().enumerate().for_each(|(more, own)| next[points + more] += chance * own / all);
        }
        next
    })
}

impl Source {
    /// The chances with this excess in standard deviations of a block: each result is made likelier the more points
    /// it has.
    fn with_excess(&self, excess: f64) -> Vec<f64> {
        let full = f64::from(self.shape.full());
        let tilted = |x: f64| -> Vec<f64> {
            let weights: Vec<f64> = self
                .chances
                .iter()
                .enumerate()
                .map(|(p, chance)| chance * (x * p as f64 / full).exp())
                .collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(|weight| weight / sum).collect()
        };
        let of = |chances: &[f64]| {
            let moment = |of: &dyn Fn(f64) -> f64| -> f64 {
                chances.iter().enumerate().map(|(p, chance)| chance * of(p as f64 / full)).sum()
            };
            let mean = moment(&|score| score);
            (mean - 0.5) / moment(&|score| (score - mean).powi(2)).sqrt()
        };
        let (mut low, mut high) = (-60.0, 60.0);
        for _ in 0..80 {
            let middle = f64::midpoint(low, high);
            if of(&tilted(middle)) < excess { low = middle } else { high = middle }
        }
        tilted(low)
    }
}

/// Points of a block, divided among its games.
fn block(start: u64, shape: Shape, mut points: u32) -> Block {
    let share = |_| {
        let own = points.min(shape.points);
        points -= own;
        own
    };
    Block { start, fingerprint: start, points: (0..shape.games).map(share).collect() }
}

/// The points of a block drawn from these chances.
fn draw(chances: &[f64], chance: &mut Seeded) -> u32 {
    let mut left = (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let points = chances.iter().position(|chance| {
        left -= chance;
        left < 0.0
    });
    points.unwrap_or_else(|| chances.iter().rposition(|chance| *chance > 0.0).expect("a chance")) as u32
}

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
