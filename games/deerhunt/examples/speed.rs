use agon_game::{AnyGame as _, RulesChoice, Setup};
use std::time::Instant;
fn main() {
    for preset in ["document", "neo2019", "bc2021"] {
        let rules = RulesChoice {
            preset: preset.to_owned(),
            sets: vec![("maps".into(), "[]".into())],
            ..Default::default()
        };
        let w = deerhunt::FACE.workload(&Setup { rules, seats: 2, seed: 5, ..Default::default() }).unwrap();
        println!("{preset}: state {} B", w.state_bytes);
        for mut s in w.scenes {
            let mut best = f64::MAX;
            let mut all = vec![];
            for _ in 0..9 {
                let t = Instant::now();
                let mut n = 0;
                while t.elapsed().as_millis() < 120 {
                    n += (s.run)();
                }
                let ns = t.elapsed().as_nanos() as f64 / n as f64;
                best = best.min(ns);
                all.push(ns);
            }
            all.sort_by(f64::total_cmp);
            println!("  {:10} best {best:8.1} median {:8.1} ns", s.name, all[4]);
        }
    }
}
