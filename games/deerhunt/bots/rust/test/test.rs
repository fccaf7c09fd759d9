//! Feeds the bot recorded states and small situations. Run it with `cargo test --target-dir target`.
//!
//! `test/input.txt` is what a bot in seat 1 really read: the first half-turns of a match. Take one of your own:
//! agon replay export FILE.replay --input --seat 1 > test/input.txt
#![allow(dead_code)] // what the bot needs and its tests do not

#[path = "../src/conversation.rs"]
mod conversation;
#[path = "../src/game.rs"]
mod game;
#[path = "../src/json.rs"]
mod json;
#[path = "../src/strategy.rs"]
mod strategy;

use std::collections::HashSet;

use game::{Kind, Move, State, Unit};
use json::Value;

const RECORDED: &str = include_str!("input.txt");

#[test]
fn every_half_turn_of_a_recorded_match_gets_its_list_of_moves() {
    let mut said = Vec::new();
    conversation::over_lines(RECORDED.as_bytes(), &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    let mut answers = said.lines();
    for line in RECORDED.lines() {
        let state = State::read(line).unwrap();
        let moves = Value::parse(answers.next().expect("an answer to each half-turn")).expect("JSON");
        let ids: Vec<i32> = moves.list().iter().map(|one| one[0].number() as i32).collect();
        assert!(ids.iter().all(|id| state.mine.iter().any(|unit| unit.id == *id)), "only units of ours");
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "each unit once");
        assert!(!ids.is_empty(), "somebody does something");
    }
    assert_eq!(answers.next(), None, "nothing after the last half-turn");
}

#[test]
fn over_tcp_a_length_stands_before_each_message() {
    let state = r#"{"map": [["X", "R"]], "my_units": [{"id": 3, "type": "worker", "x": 1, "y": 0}]}"#;
    let mut said = Vec::new();
    let sent = format!("{:>10}{state}{:<10}{state}", state.len(), state.len());
    conversation::talk(sent.as_bytes(), &mut said).unwrap();
    assert_eq!(String::from_utf8(said).unwrap(), "        15[[3, [\"MINE\"]]]".repeat(2));
    assert!(conversation::talk("ten letter".as_bytes(), Vec::new()).is_err());
    assert!(conversation::talk("         2{}".as_bytes(), Vec::new()).is_err());
}

/// The moves on a small map of text.
fn position(rows: &[&str], mine: &[Unit], theirs: &[Unit]) -> Vec<Move> {
    let map = rows.iter().map(|row| row.chars().collect()).collect();
    strategy::decide(&State { map, mine: mine.to_vec(), theirs: theirs.to_vec(), resources: 0, turns_left: 9 })
}

fn unit(id: i32, kind: Kind, x: i32) -> Unit {
    Unit { id, kind, x, y: 1, health: Some(1), busy: 0 }
}

const ROWS: [&str; 3] = ["XXXXX", "X  RX", "XXXXX"];

#[test]
fn a_worker_walks_to_a_resource_and_mines_it() {
    let moves = |x, busy| position(&ROWS, &[Unit { busy, ..unit(1, Kind::Worker, x) }], &[]);
    assert_eq!(moves(1, 0), [Move { unit: 1, words: vec!["RIGHT"] }]);
    assert_eq!(moves(3, 0), [Move { unit: 1, words: vec!["MINE"] }]);
    assert_eq!(moves(3, 2), [], "it mines already");
}

#[test]
fn who_can_hits_what_stands_beside() {
    let enemy = unit(2, Kind::Worker, 2);
    let hits = [Move { unit: 1, words: vec!["ATTACK", "RIGHT"] }];
    assert_eq!(position(&ROWS, &[unit(1, Kind::Melee, 1)], &[enemy.clone()]), hits);
    assert_eq!(position(&ROWS, &[unit(1, Kind::Worker, 1)], &[enemy.clone()]), [], "under the document's rules");
    let worker = Unit { health: None, ..unit(1, Kind::Worker, 1) };
    assert_eq!(position(&ROWS, &[worker], &[Unit { health: None, ..enemy }]), hits);
}

#[test]
fn what_a_unit_says_is_read() {
    let state = State::read(
        r#"{"map": [["X", " "], ["R", " "]], "my_units": [{"type": "worker", "mining_status": 2, "x": 1, "y": 0, "id": 7}],
        "their_units": [{"type": "melee", "hp": 3, "stun_status": 0, "x": 1, "y": 1, "id": 9}], "my_resources": 75, "turns_left": 8}"#,
    )
    .unwrap();
    assert_eq!([(0, 0), (0, 1), (2, 0)].map(|at| state.tile(at)), ['X', 'R', 'X']);
    assert_eq!((state.mine[0].kind, state.mine[0].busy, state.mine[0].health), (Kind::Worker, 2, None));
    assert_eq!((state.theirs[0].kind, state.theirs[0].busy, state.theirs[0].health), (Kind::Melee, 0, Some(3)));
    assert_eq!((state.resources, state.turns_left), (75, 8));
}
