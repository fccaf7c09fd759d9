//! How often intervals and certainties are right, for results of many shapes and from two blocks on.
//!
//! The short form takes 400 series of each shape and length; `cargo xtask long calibration` takes 20,000 (`AGON_RUNS`) and
//! prints the table in `docs/statistics.md`.

use std::sync::Mutex;

use agon_game::Seeded;
use agon_stats::{Estimate, Shape, Tally};

mod shapes;
use shapes::{Source, block, draw, sources};

/// The lengths of series, in blocks.
const BLOCKS: [u64; 8] = [2, 3, 5, 10, 20, 50, 100, 500];
/// Certainties, and how often equal bots may reach them.
const CERTAIN: [f64; 4] = [0.9, 0.95, 0.99, 0.999];

/// Student's 97.5 % quantile for each length, one degree of freedom less than blocks.
const STUDENT: [f64; 8] = [12.7062, 4.3027, 2.7764, 2.2622, 2.0930, 2.0096, 1.9842, 1.9647];

/// What is measured of the series of one shape and length.
#[derive(Default)]
struct Row {
    name: &'static str,
    blocks: u64,
    held: f64,
    reached: [f64; 4],
    width: f64,
    constant: f64,
    equal: bool,
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let reached = |at: usize| if self.equal { percent(self.reached[at]) } else { "–".to_owned() };
        let [a, b, c, d] = [0, 1, 2, 3].map(reached);
        let width = if self.blocks < 50 { "–".to_owned() } else { format!("{:.2}", self.width) };
        write!(
            f,
            "| {} | {} | {} | {a} | {b} | {c} | {d} | {width} |",
            self.name,
            self.blocks,
            percent(self.held)
        )
    }
}

/// Results that are about intervals only, because their bots are not equal.
fn nearly_constant() -> Vec<Source> {
    let source = |name, chances: &[f64]| Source { name, shape: Shape::PAIR, chances: chances.to_vec() };
    vec![
        source("98 % ½, 1 % 0, 1 % ¾", &[0.01, 0.0, 0.98, 0.01, 0.0]),
        source("97 % 1, 2 % ¾, 1 % 0", &[0.01, 0.0, 0.0, 0.02, 0.97]),
        source("88 % 1, 10 % ½, 2 % 0", &[0.02, 0.0, 0.1, 0.0, 0.88]),
    ]
}

fn measure(source: &Source, chances: &[f64], equal: bool, at: usize, runs: i64) -> Row {
    let full = f64::from(source.shape.full());
    let truth: f64 = chances.iter().enumerate().map(|(p, chance)| chance * p as f64 / full).sum();
    let (mut own, mut student) = (0.0, 0.0);
    let mut row = Row { name: source.name, blocks: BLOCKS[at], equal, ..Row::default() };
    for run in 0..runs {
        let mut chance = Seeded::stream(run, &format!("calibration {} {at}", source.name));
        let mut tally = Tally::new(source.shape).unwrap();
        for start in 0..BLOCKS[at] {
            tally.add(&block(start, source.shape, draw(chances, &mut chance))).unwrap();
        }
        let found = Estimate::new(&tally, 0.95);
        row.held += f64::from(found.score_low <= truth + 1e-9 && truth <= found.score_high + 1e-9);
        for (reached, certain) in row.reached.iter_mut().zip(CERTAIN) {
            *reached += f64::from(found.superiority >= certain);
        }
        row.constant += f64::from(tally.is_constant());
        own += found.score_high - found.score_low;
        let squares = |of: &dyn Fn(f64) -> f64| -> f64 {
            tally.counts().iter().enumerate().map(|(p, &count)| of(p as f64 / full) * count as f64).sum()
        };
        let n = BLOCKS[at] as f64;
        let variance = squares(&|score| (score - found.score).powi(2)) / (n - 1.0);
        student += 2.0 * STUDENT[at] * (variance / n).sqrt();
    }
    let share = |count: f64| count / runs as f64;
    Row {
        held: share(row.held),
        reached: row.reached.map(share),
        constant: share(row.constant),
        width: own / student,
        ..row
    }
}

#[test]
fn intervals_and_certainties_are_right_as_often_as_they_say() {
    let runs = std::env::var("AGON_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(400);
    let long = runs >= 10_000;
    let equal = sources().into_iter().map(|source| (source.with_excess(0.0), source, true));
    let unequal = nearly_constant().into_iter().map(|source| (source.chances.clone(), source, false));
    // Results of many kinds take long and are left to the long form.
    let wanted = |(_, source, _): &(Vec<f64>, Source, bool)| long || source.shape.full() < 100;
    let all: Vec<_> = equal.chain(unequal).filter(wanted).collect();
    let cases: Vec<_> = all
        .iter()
        .flat_map(|case| (0..BLOCKS.len()).map(move |at| (case, at)))
        .filter(|(_, at)| long || *at < 7)
        .collect();
    let (left, rows) = (Mutex::new(cases.iter().enumerate()), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((place, ((chances, source, equal), at))) = next else { break };
                    rows.lock().unwrap().push((place, measure(source, chances, *equal, *at, runs)));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(place, _)| *place);
    println!("| results | blocks | intervals that hold | ≥ 90 % | ≥ 95 % | ≥ 99 % | ≥ 99.9 % | width |");
    println!("|---|---|---|---|---|---|---|---|");
    rows.iter().for_each(|(_, row)| println!("{row}"));
    // The short form is exact to 3.5 standard deviations of a count.
    let doubt = |share: f64| if long { 0.0 } else { 3.5 * (share * (1.0 - share) / runs as f64).sqrt() };
    let good = |row: &Row| {
        let reached = row.reached.iter().zip(CERTAIN);
        let rare = |(reached, certain): (&f64, f64)| {
            let allowed = 1.0 - certain + 0.01;
            !row.equal || *reached <= allowed + doubt(allowed)
        };
        let narrow = row.blocks < 50 || row.constant >= 0.01 || row.width <= 1.25;
        row.held >= 0.94 - doubt(0.94) && reached.into_iter().all(rare) && narrow
    };
    let bad: Vec<String> =
        rows.iter().filter(|(_, row)| !good(row)).map(|(_, row)| row.to_string()).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

/// What `points` of a pair more than before would change.
fn worth(counts: &[u64]) -> (f64, f64, f64) {
    let found = Estimate::new(&Tally::from_counts(Shape::PAIR, counts).unwrap(), 0.95);
    (found.score_low, found.superiority, found.score_high)
}

/// Every tally that is better in one block by one step.
fn better(counts: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    (1..counts.len()).filter(|&p| counts[p - 1] > 0).map(|p| {
        let mut better = counts.to_vec();
        better[p - 1] -= 1;
        better[p] += 1;
        better
    })
}

fn check(counts: &[u64]) {
    let (low, certain, high) = worth(counts);
    assert!(low <= high && (0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&certain), "{counts:?}");
    for next in better(counts) {
        let (next_low, next_certain, next_high) = worth(&next);
        let falls = [low - next_low, certain - next_certain, high - next_high];
        assert!(falls.iter().all(|fall| *fall < 1e-9), "{counts:?} to {next:?}: {falls:?}");
    }
}

#[test]
fn a_better_result_is_never_less_certain() {
    let most = if std::env::var_os("AGON_RUNS").is_some() { 12 } else { 7 };
    for pairs in 2..=most {
        for_all(pairs, &mut Vec::new(), &mut |counts| check(counts));
    }
    let mut chance = Seeded::stream(1, "tallies");
    let (runs, most) = if most == 12 { (1_000, 500) } else { (60, 500) };
    for _ in 0..runs {
        let blocks = 2 + chance.bits() % (most - 1);
        let weights: Vec<f64> =
            (0..5).map(|_| ((chance.bits() >> 11) as f64 / (1u64 << 53) as f64).powi(4)).collect();
        let sum: f64 = weights.iter().sum();
        let chances: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let mut counts = vec![0; 5];
        (0..blocks).for_each(|_| counts[draw(&chances, &mut chance) as usize] += 1);
        check(&counts);
    }
}

/// Calls `each` with every way to divide `pairs` among five results.
fn for_all(pairs: u64, counts: &mut Vec<u64>, each: &mut impl FnMut(&[u64])) {
    if counts.len() == 4 {
        counts.push(pairs);
        each(counts);
        counts.pop();
        return;
    }
    for own in 0..=pairs {
        counts.push(own);
        for_all(pairs - own, counts, each);
        counts.pop();
    }
}

#[test]
fn little_is_never_certain() {
    let certain = |counts: [u64; 5]| worth(&counts).1;
    assert_eq!(certain([0, 0, 0, 0, 1]), 0.5, "one pair says nothing");
    assert!(certain([0, 0, 0, 1, 1]) <= 0.75);
    assert!(certain([0, 0, 0, 0, 14]) >= certain([0, 0, 0, 1, 13]));
    assert!(certain([0, 0, 0, 0, 14]) >= certain([1, 0, 0, 0, 13]));
    assert_eq!(worth(&[0, 0, 0, 0, 1]), (0.0, 0.5, 1.0));
    // 99.5 % of the points have no higher a lower bound than all.
    let [most, all] = [[0, 0, 0, 2, 98], [0, 0, 0, 0, 100]].map(|counts| worth(&counts).0);
    assert!(most <= all && all < 0.97, "{most} {all}");
    // Both sides are treated alike.
    let (low, sure, high) = worth(&[1, 4, 9, 20, 3]);
    let (their_low, their_sure, their_high) = worth(&[3, 20, 9, 4, 1]);
    assert!((low + their_high - 1.0).abs() < 1e-12 && (high + their_low - 1.0).abs() < 1e-12);
    assert!((sure + their_sure - 1.0).abs() < 1e-12);
}

/// Where one half is outside the interval, the certainty is beyond the confidence of that side, and the reverse, up to the
/// cap by the sign test.
#[test]
fn interval_and_certainty_never_contradict_each_other() {
    for_all(9, &mut Vec::new(), &mut |counts| {
        let (low, certain, high) = worth(counts);
        assert!(certain <= 0.975 + 1e-9 || low > 0.5 - 1e-9, "{counts:?}: {low} {certain}");
        assert!(certain >= 0.025 - 1e-9 || high < 0.5 + 1e-9, "{counts:?}: {high} {certain}");
    });
}

#[test]
fn repeats_change_no_mean_and_add_no_certainty() {
    let mut once = Tally::from_counts(Shape::PAIR, &[1, 0, 1, 0, 3]).unwrap();
    let mut often = Tally::from_counts(Shape::PAIR, &[1_000, 0, 1_000, 0, 3_000]).unwrap();
    often.set_repeats(4_995);
    let [a, b] = [&once, &often].map(|tally| Estimate::new(tally, 0.95));
    for (a, b) in [
        (a.score, b.score),
        (a.score_low, b.score_low),
        (a.score_high, b.score_high),
        (a.superiority, b.superiority),
    ] {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    once.set_repeats(4);
    assert_eq!(Estimate::new(&once, 0.95).superiority, 0.5, "one piece of evidence");
}
