//! How long tests take, against what is planned: `cargo run --release -p agon-stats --example lengths`.

use agon_game::Seeded;
use agon_stats::{Block, Decision, Model, Sequential, Shape, Sprt, lengths};

/// Mean blocks of tests with blocks drawn from these chances of points.
fn mean(sprt: Sprt, chances: &[f64], runs: i64) -> f64 {
    let shape = sprt.shape();
    let mut blocks = 0;
    for run in 0..runs {
        let mut chance = Seeded::stream(run, "lengths");
        let mut test = Sequential::new(sprt);
        for start in 0.. {
            let mut left = (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
            let drawn = chances.iter().position(|chance| {
                left -= chance;
                left < 0.0
            });
            let mut points = drawn.unwrap_or(chances.len() - 1) as u32;
            let share = |_| {
                let own = points.min(shape.points);
                points -= own;
                own
            };
            let block = Block { start, fingerprint: start, points: (0..shape.games).map(share).collect() };
            if test.feed(&block).expect("a block") != Decision::Continue {
                blocks += start + 1;
                break;
            }
        }
    }
    blocks as f64 / runs as f64
}

/// Chances whose mean is this many of their standard deviations above one half: tilted.
fn tilted(chances: &[f64], excess: f64) -> Vec<f64> {
    let full = (chances.len() - 1) as f64;
    let tilt = |x: f64| -> Vec<f64> {
        let weights: Vec<f64> =
            chances.iter().enumerate().map(|(p, c)| c * (x * p as f64 / full).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    };
    let of = |chances: &[f64]| {
        let mean: f64 = chances.iter().enumerate().map(|(p, c)| c * p as f64 / full).sum();
        let variance: f64 =
            chances.iter().enumerate().map(|(p, c)| c * (p as f64 / full - mean).powi(2)).sum();
        (mean - 0.5) / variance.sqrt()
    };
    let (mut low, mut high) = (-60.0, 60.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if of(&tilt(middle)) < excess { low = middle } else { high = middle }
    }
    tilt(low)
}

fn main() {
    let scale = 800.0 / std::f64::consts::LN_10;
    // The distribution of a twin of nine seats: the difference of two uniform ranks, nine times.
    let mut game = vec![0.0; 33];
    for one in (0..=16).step_by(2) {
        for other in (0..=16).step_by(2) {
            game[16 + one - other] += 1.0 / 81.0;
        }
    }
    let nine = (0..9).fold(vec![1.0], |before: Vec<f64>, _| {
        let mut next = vec![0.0; before.len() + 32];
        before
            .iter()
            .enumerate()
            .for_each(|(p, c)| game.iter().enumerate().for_each(|(m, o)| next[p + m] += c * o));
        next
    });
    let pairs = vec![0.05, 0.2, 0.5, 0.2, 0.05];
    for (name, shape, chances, elo1, runs) in [
        ("pairs", Shape::PAIR, &pairs, 20.0, 200),
        ("9 seats", Shape::twins(9), &nine, 100.0, 200),
        ("9 seats", Shape::twins(9), &nine, 20.0, 60),
    ] {
        let sprt = Sprt::new(Model::Normalized, (0.0, elo1), (0.05, 0.05), shape).expect("a test");
        for elo in [0.0, elo1] {
            let planned = lengths(&sprt, [elo])[0].expected / f64::from(shape.games);
            let t = elo / scale * f64::from(shape.games).sqrt();
            let step = elo1 / scale * f64::from(shape.games).sqrt();
            let wald = 2.0 * 0.9 * 19f64.ln() / (step * step);
            let took = mean(sprt, &tilted(chances, t), runs);
            println!(
                "{name}, elo1 {elo1}, true {elo}: {took:.1} blocks, planned {planned:.1}, Wald {wald:.1}"
            );
        }
    }
}
