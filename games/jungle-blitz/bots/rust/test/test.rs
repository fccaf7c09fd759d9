//! Feeds the bot recorded ticks and small situations. Run it with `cargo test --target-dir target`.
//!
//! `test/input.txt` is what a bot in seat 1 really read: the first ticks of a match. Take one of your own:
//! agon replay export FILE.replay --input --seat 1 > test/input.txt
#![allow(dead_code)] // what the bot needs and its tests do not

#[path = "../src/brain.rs"]
mod brain;
#[path = "../src/conversation.rs"]
mod conversation;
#[path = "../src/game.rs"]
mod game;
#[path = "../src/json.rs"]
mod json;
#[path = "../src/websocket.rs"]
mod websocket;

use brain::decide;
use game::{quoted, Position, Tick, Tile};
use json::Value;

const RECORDED: &str = include_str!("input.txt");

fn tick(number: usize) -> Tick {
    Tick::read(RECORDED.lines().nth(number).unwrap()).expect("a tick")
}

#[test]
fn every_tick_gets_its_command() {
    let mut said = Vec::new();
    conversation::over_lines(RECORDED.as_bytes(), &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    let mut lines = said.lines().map(|line| Value::parse(line).expect("JSON"));
    assert_eq!(lines.next().unwrap()["type"].text(), "REGISTER");
    for line in RECORDED.lines() {
        let (tick, command) = (Tick::read(line).unwrap(), lines.next().expect("a command for each tick"));
        assert_eq!((command["type"].text(), command["tick"].number() as i32), ("COMMAND", tick.number));
        let units: Vec<&str> = command["actions"].list().iter().map(|action| action["unitId"].text()).collect();
        let own: Vec<&str> = tick.me().units.iter().map(|unit| unit.id.as_str()).collect();
        assert_eq!(units, own, "one action for each unit of ours");
    }
    assert_eq!(lines.next(), None, "nothing after the last tick");
}

#[test]
fn what_is_no_tick_ends_it_with_a_sentence() {
    for wrong in ["no JSON\n", "{}\n", "{\"type\":\"TICK\",\"tick\":1,\"teamId\":\"a\",\"teams\":[]}\n"] {
        let error = conversation::over_lines(wrong.as_bytes(), Vec::new()).expect_err(wrong);
        assert!(error.to_string().contains(wrong.trim_end()), "{error}");
    }
}

#[test]
fn units_come_up_on_spawn_tiles() {
    let tick = tick(0);
    for action in decide(&tick) {
        assert_eq!(action.name, "SPAWN");
        assert_eq!(tick.tile(action.target.unwrap()), Tile::Spawn);
    }
}

#[test]
fn a_unit_walks_to_a_diamond() {
    let tick = tick(1);
    let action = &decide(&tick)[0];
    assert_eq!(action.name, "MOVE");
    assert!(tick.diamonds.iter().any(|diamond| Some(diamond.position) == action.target));
}

/// An open map with one unit of ours at (1, 1).
fn alone() -> Tick {
    let mut tick = tick(1);
    tick.tiles.iter_mut().flatten().for_each(|tile| *tile = Tile::Empty);
    for team in &mut tick.teams {
        team.units.truncate(1);
        team.units[0].position = (team.id == tick.team_id).then_some(Position { x: 1, y: 1 });
    }
    tick
}

/// What our unit does with a diamond worth so many points in hand.
fn holding(number: i32, points: i32) -> &'static str {
    let mut tick = alone();
    let unit = tick.me().units[0].id.clone();
    let diamond = &mut tick.diamonds[0];
    (diamond.owner_id, diamond.position, diamond.points) = (Some(unit), Position { x: 1, y: 1 }, points);
    tick.number = number;
    decide(&tick)[0].name
}

#[test]
fn a_diamond_is_dropped_as_soon_as_it_is_worth_it_or_when_the_match_ends() {
    assert_eq!(holding(100, 12), "DROP");
    assert_eq!(holding(299, 1), "DROP");
    assert_eq!(holding(100, 1), "SUMMON");
}

#[test]
fn who_stands_beside_is_attacked_but_not_on_a_spawn_tile() {
    let mut tick = alone();
    let at = Position { x: 2, y: 1 };
    let own = tick.team_id.clone();
    tick.teams.iter_mut().filter(|team| team.id != own).for_each(|team| team.units[0].position = Some(at));
    let action = &decide(&tick)[0];
    assert_eq!((action.name, action.target), ("ATTACK", Some(at)));
    tick.tiles[2][1] = Tile::Spawn;
    assert_ne!(decide(&tick)[0].name, "ATTACK");
}

#[test]
fn json_is_read_and_written_and_what_is_none_is_refused() {
    let value = Value::parse(r#" {"a": [1, -2.5e1, true, null, "x\n\u00e9\"", []], "b": {}} "#).unwrap();
    assert_eq!(value["a"][1].number(), -25.0);
    assert_eq!(value["a"][2], Value::Bool(true));
    assert_eq!(value["a"][4].text(), "x\né\"");
    assert_eq!(value["c"]["d"][9], Value::Null);
    for text in ["", "{", "[1,]", "[1 2]", "{\"a\"}", "\"x", "nul", "1 2", "--", "\"\\u12\""] {
        assert_eq!(Value::parse(text), None, "{text}");
    }
    assert_eq!(Value::parse(&"[".repeat(100_000)), None);
    assert_eq!(quoted("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
}
