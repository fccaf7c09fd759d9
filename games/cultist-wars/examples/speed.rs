//! Nanoseconds of each workload: `cargo run --release -p cultist-wars --example speed`.
//!
//! The middle of eleven runs of at least 20 ms each, and the fastest and slowest.

use std::time::{Duration, Instant};

use agon_game::{AnyGame as _, Face, Setup};
use cultist_wars::CultistWars;

fn main() {
    let setup = Setup { seed: 1, seats: 2, ..Setup::default() };
    let workload = Face::<CultistWars>::new().workload(&setup).expect("the standard rules");
    println!("state {} bytes", workload.state_bytes);
    for mut scene in workload.scenes {
        let mut runs: Vec<f64> = (0..11).map(|_| nanoseconds(&mut scene.run)).collect();
        runs.sort_by(f64::total_cmp);
        println!("{}: {:.1} ns ({:.1} to {:.1}), {}", scene.name, runs[5], runs[0], runs[10], scene.about);
    }
}

/// Per unit of work.
fn nanoseconds(run: &mut dyn FnMut() -> u64) -> f64 {
    let (start, mut units) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_millis(20) {
        units += run();
    }
    start.elapsed().as_nanos() as f64 / units as f64
}
