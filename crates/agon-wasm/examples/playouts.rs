//! Random matches on this machine, for comparison with `playouts.mjs`: `GAME STEPS`, prints nanoseconds per step.

use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (game, steps) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let steps: u32 = steps.parse().expect("GAME STEPS");
    agon_wasm::playout(&game, steps / 10).expect("a game of ours");
    let began = Instant::now();
    let played = agon_wasm::playout(&game, steps).expect("a game of ours");
    println!("{}", began.elapsed().as_nanos() as f64 / played as f64);
}
