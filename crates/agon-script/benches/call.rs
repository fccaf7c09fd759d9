//! What a call costs beyond the script's own time, on a question with about a hundred entities.

#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::path::Path;

use agon_game::chance::Seeded;
use agon_game::session::random_answers;
use agon_game::{Dialect, Game, Ignored, Setup};
use agon_script::Engine;
use criterion::{Criterion, criterion_group, criterion_main};
use ostibot::Ostibot;
use ostibot::dialect::Talk;

/// A question of a match with random orders, with its number of entities.
fn question() -> (Vec<u8>, usize) {
    let mut best: (Vec<u8>, usize) = (Vec::new(), 0);
    for seed in 0..20 {
        let game = Ostibot::set_up(&Setup { seats: 2, seed, ..Setup::default() }).expect("a match");
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

fn call(criterion: &mut Criterion) {
    let (line, entities) = question();
    let text = serde_json::to_string(std::str::from_utf8(&line).expect("text")).expect("JSON");
    println!("{entities} entities, {} bytes", line.len());
    let load = |play: &str| {
        let source = format!("const text = {text}; export const script = {{ play(input) {{ {play} }} }};");
        Engine::load(Path::new("bench.js"), &source, "1", |_| ()).expect("a script")
    };
    let mut group = criterion.benchmark_group(format!("script, {entities} entities"));
    for (name, play) in [
        ("call that answers at once", "return { actions: [] };"),
        ("call with six actions and a small state", "return { actions: [1, 2, 3, 4, 5, 6].map((n) => ({ adventurerId: `a${n}`, move: { direction: 'UP' } })), state: { turn: input.gameState.turn } };"),
        ("call that reads the same question with JSON.parse", "JSON.parse(text); return { actions: [] };"),
    ] {
        let mut engine = load(play);
        assert!(engine.answer(&line).line.starts_with("{\"actions\""));
        group.bench_function(name, |bencher| bencher.iter(|| engine.answer(&line)));
    }
}

criterion_group!(benches, call);
criterion_main!(benches);
