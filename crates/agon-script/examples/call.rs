//! The cost of a call beyond the script's own time, on a question with about a hundred entities:
//! `chrt -f 1 cargo run --release -p agon-script --example call`.

use std::path::Path;
use std::time::Instant;

use agon_game::chance::Seeded;
use agon_game::session::random_answers;
use agon_game::{Dialect, Game, Ignored, Setup};
use agon_script::Engine;
use ostibot::Ostibot;
use ostibot::dialect::Talk;

const SAMPLES: usize = 9;
const CALLS_A_SAMPLE: u32 = 2_000;

/// What a script's `play` does.
const CALLS: [(&str, &str); 3] = [
    ("answers at once", "return { actions: [] };"),
    (
        "answers with six actions and a small state",
        "return { actions: [1, 2, 3, 4, 5, 6].map((n) => ({ adventurerId: `a${n}`, move: { direction: 'UP' } })),
             state: { turn: input.gameState.turn } };",
    ),
    ("reads the same question once more, with the engine's own JSON.parse", "JSON.parse(text); return { actions: [] };"),
];

/// A question from a match with random orders, with its number of entities.
fn question() -> (Vec<u8>, usize) {
    let mut best: (Vec<u8>, usize) = (Vec::new(), 0);
    // With more than two teams, and late in the round when much is burning, a team sees that many.
    for (seats, seed) in [2, 4, 6].into_iter().flat_map(|seats| (0..8).map(move |seed| (seats, seed))) {
        let game = Ostibot::set_up(&Setup { seats, seed, ..Setup::default() }).expect("a match");
        let (mut state, mut chance, mut answers) = (game.start(), Seeded::stream(seed, "bench"), Vec::new());
        let mut talk = Talk::new(&game);
        while game.outcome(&state).is_none() {
            for seat in game.deciding(&state).iter() {
                let mut line = Vec::new();
                talk.ask(&game, seat, &game.view(&state, seat), &mut line);
                let question: serde_json::Value = serde_json::from_slice(&line).expect("JSON");
                let entities = question["input"]["gameState"]["entities"].as_array().map_or(0, Vec::len);
                if entities.abs_diff(100) < best.1.abs_diff(100) {
                    best = (line, entities);
                }
            }
            random_answers(&game, &state, &mut chance, &mut answers);
            game.play(&mut state, &mut (), &answers, &mut chance, &mut Ignored);
        }
    }
    best
}

fn main() {
    let (line, entities) = question();
    let text = serde_json::to_string(std::str::from_utf8(&line).expect("text")).expect("JSON");
    println!(
        "a question with {entities} entities, {} bytes; microseconds a call, the median of {SAMPLES} (least to most)",
        line.len()
    );
    for (name, play) in CALLS {
        let source = format!("const text = {text}; export const script = {{ play(input) {{ {play} }} }};");
        let mut engine = Engine::load(Path::new("bench.js"), &source, "1", |_| ()).expect("a script");
        assert!(engine.answer(&line).line.starts_with("{\"actions\""), "{name}");
        let mut samples: Vec<f64> = (0..SAMPLES)
            .map(|_| {
                let began = Instant::now();
                for _ in 0..CALLS_A_SAMPLE {
                    std::hint::black_box(engine.answer(std::hint::black_box(&line)));
                }
                began.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS_A_SAMPLE)
            })
            .collect();
        samples.sort_by(f64::total_cmp);
        println!("{:6.1} ({:.1} to {:.1})  {name}", samples[SAMPLES / 2], samples[0], samples[SAMPLES - 1]);
    }
}
