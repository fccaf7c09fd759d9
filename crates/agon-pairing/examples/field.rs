//! How long ratings and pairing take in a large field: 5,000 simulated bots and 1,000,000 games.
//!
//! `taskset -c 0 cargo run --release -p agon-pairing --example field`; the figures are in `docs/benchmarks.md`.

use agon_game::Seeded;
use agon_pairing::ladder::Knowledge;
use agon_stats::{Meeting, Pairs, Scale, score_of_elo};

const BOTS: usize = 5_000;
const GAMES: usize = 1_000_000;
const ROUND: usize = 10_000;

fn main() {
    let mut strengths = Seeded::stream(1, "strengths");
    let mut normal = || (0..12).map(|_| uniform(&mut strengths)).sum::<f64>() - 6.0;
    let truth: Vec<f64> = (0..BOTS).map(|_| 300.0 * normal()).collect();
    let mut luck = Seeded::stream(1, "luck");
    let mut play = |one: usize, other: usize| {
        u32::from(uniform(&mut luck) < score_of_elo(truth[one] - truth[other])) * 2
    };

    // As a ladder chooses them: neighbours, more rarely the farther apart, and one game in ten between any two.
    let mut order: Vec<usize> = (0..BOTS).collect();
    order.sort_by(|&a, &b| truth[b].total_cmp(&truth[a]));
    let mut choice = Seeded::stream(1, "pairs");
    let mut known = Knowledge::new(BOTS);
    let mut games: Vec<Meeting> = Vec::with_capacity(GAMES + 1_000);
    while games.len() < GAMES + 1_000 {
        let place = (uniform(&mut choice) * BOTS as f64) as usize;
        let other = match uniform(&mut choice) < 0.1 {
            true => (uniform(&mut choice) * BOTS as f64) as usize,
            false => place + 32f64.powf(uniform(&mut choice)) as usize,
        };
        if other == place || other >= BOTS {
            continue;
        }
        let (one, other) = (order[place], order[other]);
        let points = play(one, other);
        games.push(Meeting::games(one as u32, other as u32, u64::from(points), 1));
        if games.len() <= GAMES {
            known.add(&[one, other], &[points, 2 - points]);
        }
    }
    known.refit();
    let (old, new) = games.split_at(GAMES);

    let pairs = time("games added up to pairs", || Pairs::new(BOTS, old.iter().copied()));
    println!("  {} pairs of bots", pairs.list().len());
    let cold = time("cold fit", || Scale::fit(&pairs, &[], None));
    let known_bots = cold.place.iter().filter(|place| **place == agon_stats::ScalePlace::Known).count();
    println!("  {known_bots} of {BOTS} bots have a finite rating");
    let more = time("1,000 games added to them", || pairs.with(BOTS, new.iter().copied()));
    let warm = time("warm fit after these", || Scale::fit(&more, &[], Some(&cold.elo)));
    let again = Scale::fit(&more, &[], None);
    let apart = warm.elo.iter().zip(&again.elo).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("  at most {apart:.1e} Elo from a cold fit");
    time("the next 10,000 pairs", || {
        let chosen = known.choose(1, ROUND as u32, 2, None);
        assert!(chosen.len() > ROUND * 9 / 10, "{}", chosen.len());
    });
}

/// The CPU time of this process in milliseconds: other programs may take the CPU away meanwhile.
fn cpu_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux says how long a process ran");
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("a number of nanoseconds") / 1e6
}

/// CPU time: median, minimum and maximum of nine runs.
fn time<T>(what: &str, mut work: impl FnMut() -> T) -> T {
    let mut seen = Vec::new();
    let mut last = None;
    for _ in 0..9 {
        let began = cpu_time();
        last = Some(work());
        seen.push(cpu_time() - began);
    }
    seen.sort_by(f64::total_cmp);
    println!("{what}: {:.0} ms ({:.0} to {:.0})", seen[4], seen[0], seen[8]);
    last.expect("it ran")
}

fn uniform(chance: &mut Seeded) -> f64 {
    (chance.bits() >> 11) as f64 / (1u64 << 53) as f64
}
