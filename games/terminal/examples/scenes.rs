//! Times the workloads of the benchmark: `cargo run --release -p terminal --example scenes`.

use std::time::{Duration, Instant};

use agon_game::{AnyGame as _, Face, Setup};
use terminal::Terminal;

fn main() {
    let setup = Setup { seats: 2, seed: 1, ..Setup::default() };
    let workload = Face::<Terminal>::new().workload(&setup).expect("the default rules are playable");
    println!("state: {} bytes", workload.state_bytes);
    for mut scene in workload.scenes {
        let warm_up = Instant::now();
        while warm_up.elapsed() < Duration::from_millis(200) {
            (scene.run)();
        }
        // Several samples; the least is the one the machine disturbed least.
        let samples: Vec<f64> = (0..20)
            .map(|_| {
                let (begin, mut units) = (Instant::now(), 0);
                while begin.elapsed() < Duration::from_millis(50) {
                    units += (scene.run)();
                }
                begin.elapsed().as_nanos() as f64 / units as f64
            })
            .collect();
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = samples.iter().copied().fold(0.0, f64::max);
        println!("{:12} {least:10.1} to {most:10.1} ns  {}", scene.name, scene.about);
    }
}
