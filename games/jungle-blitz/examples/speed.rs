//! Times the workloads of `agon bench` for this game: `cargo run --release -p jungle-blitz --example speed`.

use std::time::Instant;

use agon_game::{AnyGame as _, Face, MapChoice, RulesChoice, Setup};
use jungle_blitz::JungleBlitz;

fn main() {
    let rules = RulesChoice { sets: vec![("unitsPerTeam".into(), "4".into())], ..RulesChoice::default() };
    let map = MapChoice::Named("inter-riverbend".to_owned());
    let setup = Setup { rules, map, seats: 4, seed: 1 };
    let work = Face::<JungleBlitz>::new().workload(&setup).expect("a playable setup");
    println!("state: {} bytes", work.state_bytes);
    for mut scene in work.scenes {
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let (start, mut units) = (Instant::now(), 0);
            while start.elapsed().as_millis() < 30 {
                units += (scene.run)();
            }
            best = best.min(start.elapsed().as_nanos() as f64 / units as f64);
        }
        println!("{:>10}: {best:9.1} ns  ({})", scene.name, scene.about);
    }
}
