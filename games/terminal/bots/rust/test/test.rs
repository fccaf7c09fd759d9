//! Feeds the strategy recorded lines and small situations. Run it with `cargo test --target-dir target`.
//!
//! `test/input.txt` is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
//! agon replay export FILE.replay --input --seat 1 > test/input.txt
#![allow(dead_code)] // what the bot needs and its tests do not

#[path = "../src/json.rs"]
mod json;
#[path = "../src/strategy.rs"]
mod strategy;
#[path = "../src/terminal.rs"]
mod terminal;

use std::collections::HashSet;

use json::Value;
use strategy::Strategy;
use terminal::{inside, talk, Config, Frame, Play, Turn};

const RECORDED: &str = include_str!("input.txt");

/// The answers to some lines: builds and deploys for each turn.
fn play(lines: &str) -> Vec<[Value; 2]> {
    let mut said = Vec::new();
    talk(&mut Strategy::default(), lines.as_bytes(), &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    let lines: Vec<Value> = said.lines().map(|line| Value::parse(line).expect("JSON")).collect();
    assert_eq!(lines.len() % 2, 0, "two lines a turn");
    lines.chunks(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect()
}

fn config() -> Config {
    Config::new(Value::parse(RECORDED.lines().next().unwrap()).unwrap())
}

fn deploy_lines() -> impl Iterator<Item = &'static str> {
    RECORDED.lines().filter(|line| line.starts_with("{\"turnInfo\":[0,"))
}

/// The first deploy line with other points.
fn with_points(structure: u32, mobile: u32) -> String {
    let line = deploy_lines().next().unwrap();
    let line = line.replace("\"p1Stats\":[30.0,40.0,5.0,", &format!("\"p1Stats\":[30.0,{structure}.0,{mobile}.0,"));
    format!("{}\n{line}\n", RECORDED.lines().next().unwrap())
}

#[test]
fn every_turn_gets_an_answer_that_can_be_carried_out() {
    let (config, answers) = (config(), play(RECORDED));
    assert_eq!(answers.len(), deploy_lines().count());
    for (line, [builds, deploys]) in deploy_lines().zip(answers) {
        let mut turn = Turn::new(&Value::parse(line).unwrap());
        let mut taken: HashSet<(i32, i32)> = turn.structures.keys().copied().collect();
        let kind = |order: &Value| config.kind(order[0].text()).expect("a unit of the game");
        let place = |order: &Value| (order[1].number() as i32, order[2].number() as i32);
        for order in builds.list().iter().filter(|order| kind(order) < 3) {
            let (x, y) = place(order);
            assert!(inside(x, y) && y <= 13, "in our own half");
            assert!(taken.insert((x, y)), "on a free tile");
            turn.structure_points -= config.cost(kind(order));
        }
        for order in deploys.list() {
            let (x, y) = place(order);
            assert!(x + y == 13 || x - y == 14, "on our own edge");
            assert!(!taken.contains(&(x, y)), "on a free tile");
            turn.mobile_points -= config.cost(kind(order));
        }
        assert!(turn.structure_points >= 0.0 && turn.mobile_points >= 0.0, "with points we have");
    }
}

#[test]
fn mobile_units_wait_until_there_are_enough() {
    assert_eq!(play(&with_points(0, 11))[0][1].list().len(), 0);
    assert!(play(&with_points(0, 12))[0][1].list().len() > 2);
}

#[test]
fn what_cannot_be_built_is_not_ordered() {
    let config = config();
    let line = with_points(9, 2);
    let mut turn = Turn::new(&Value::parse(line.lines().nth(1).unwrap()).unwrap());
    assert!(turn.build(&config, config.turret(), 12, 13) && turn.upgrade(&config, 12, 13));
    assert!(!turn.build(&config, config.turret(), 12, 13), "taken");
    assert!(!turn.build(&config, config.turret(), 14, 14), "not our half");
    assert!(!turn.upgrade(&config, 12, 13) && !turn.upgrade(&config, 13, 13), "upgraded, or nothing there");
    assert_eq!(turn.deploy(&config, config.scout(), 13, 0, 5), 2);
    assert_eq!(turn.deploy(&config, config.scout(), 13, 1, 5), 0, "not on an edge");
    assert_eq!(turn.answer(), "[[\"DF\",12,13],[\"UP\",12,13]]\n[[\"PI\",13,0],[\"PI\",13,0]]\n");
}

#[test]
fn a_frame_says_what_happened() {
    let state = r#"{"turnInfo":[1,4,7,99],"p1Stats":[29.0,0,0,0],"p2Stats":[30.0,0,0,0],
        "p1Units":[[],[],[],[[13,1,42.7,"36"]],[],[],[],[]],"p2Units":[[],[],[],[],[],[],[],[]],
        "events":{"breach":[[[20,6],1,3,"9",2]],"attack":[[[3,12],[3,14],5.0,2,"1","22",1]]}}"#;
    let frame = Frame::new(&Value::parse(state).unwrap());
    assert_eq!((frame.turn, frame.number, frame.health), (4, 7, 29.0));
    assert_eq!((frame.mobiles[0].at, frame.mobiles[0].kind, frame.mobiles[0].owner), ((13, 1), 3, 1));
    assert_eq!((frame.breaches[0].at, frame.breaches[0].owner), ((20, 6), 2));
    let attack = &frame.attacks[0];
    assert_eq!((attack.to, attack.amount, attack.target.as_str()), (Some((3, 14)), 5.0, "22"));

    // Then the right side is upgraded first.
    let mut strategy = Strategy::default();
    strategy.frame(&config(), &frame);
    let line = with_points(200, 0);
    let mut turn = Turn::new(&Value::parse(line.lines().nth(1).unwrap()).unwrap());
    strategy.turn(&config(), &mut turn);
    assert!(turn.answer().contains("[\"EF\",14,4],[\"UP\",24,12]"), "{}", turn.answer());
}

#[test]
fn json_is_read_and_what_is_none_is_refused() {
    let value = Value::parse(r#" {"a": [1, -2.5e1, true, null, "x\n\u00e9\"", []], "b": {}} "#).unwrap();
    assert_eq!(value["a"][1].number(), -25.0);
    assert_eq!(value["a"][2], Value::Bool(true));
    assert_eq!(value["a"][4].text(), "x\né\"");
    assert_eq!(value["a"].list().len(), 6);
    assert_eq!(value["c"]["d"][9], Value::Null);
    for text in ["", "{", "[1,]", "[1 2]", "{\"a\"}", "\"x", "nul", "1 2", "--", "\"\\u12\""] {
        assert_eq!(Value::parse(text), None, "{text}");
    }
    assert_eq!(Value::parse(&"[".repeat(100_000)), None);
}
