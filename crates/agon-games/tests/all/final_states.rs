//! A table of seeds and final states: it shows any change of a rule, even without a record of an original.
//!
//! Each line is a match of the built-in `random` bots. If matches were meant to change, raise the game's
//! `rules_version` and regenerate the table: `UPDATE_HASHES=1 cargo test -p agon-games`.

use std::path::Path;

use agon_game::{Answer, PackedAnswer, RulesChoice, Seat, Setup};

/// Seeds of a match by game, preset and number of seats.
const SEEDS: [i64; 3] = [1, -7, 1_234_567_890_123];

#[test]
fn the_same_seeds_lead_to_the_same_states() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/final_states.txt");
    let computed = table();
    if std::env::var_os("UPDATE_HASHES").is_some() {
        std::fs::write(&path, &computed).expect("the table is written");
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<String> = computed
        .lines()
        .filter(|line| !committed.lines().any(|other| other == *line))
        .map(|line| {
            let key = line.split(" -> ").next().unwrap_or_default();
            let before = committed.lines().find(|other| other.starts_with(&format!("{key} ->")));
            format!("{line}  (committed: {})", before.unwrap_or("none"))
        })
        .collect();
    assert!(changed.is_empty(), "matches changed; see the head of this file:\n{}", changed.join("\n"));
    assert_eq!(computed.lines().count(), committed.lines().count(), "the table has lines of no game");
}

fn table() -> String {
    let mut lines = Vec::new();
    for game in agon_games::all() {
        let info = game.info();
        let (least, most) = info.seats;
        for preset in info.presets {
            let mut sizes = vec![least.max(2).min(most), most.min(4)];
            sizes.dedup();
            for seats in sizes {
                for seed in SEEDS {
                    lines.push(one_match(*game, preset.name, seats, seed));
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

fn one_match(game: &dyn agon_game::AnyGame, preset: &str, seats: u8, seed: i64) -> String {
    let name = game.info().name;
    let rules = RulesChoice { preset: preset.to_owned(), ..RulesChoice::default() };
    let setup = Setup { rules, seats, seed, ..Setup::default() };
    let mut session = game.open(&setup).unwrap_or_else(|error| panic!("{name} {preset} {seats}: {error}"));
    for seat in Seat::first(seats) {
        session
            .seat_builtin(seat, "random", &[], u64::from(seat.number()))
            .expect("every game has a random bot");
    }
    while !session.deciding().is_empty() {
        let deciding = session.deciding();
        let answers: Vec<(Seat, PackedAnswer)> = deciding
            .iter()
            .map(|seat| (seat, Answer::Given { order: session.think(seat), think_ms: 0 }))
            .collect();
        session.play(&answers).expect("built-in bots give orders");
    }
    let outcome = session.outcome().cloned().expect("nobody decides any more");
    format!(
        "{name} {preset} seats {seats} seed {seed} -> steps {} scores {:?} state {:016x}",
        session.steps(),
        outcome.scores,
        session.hash()
    )
}
