//! Feeds the bot a recorded match and small positions. Run it with `cargo test --target-dir target`.
//!
//! `test/input.txt` is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
//! agon replay export FILE.replay --input --seat 1 > test/input.txt
#![allow(dead_code)] // the bot's own main

include!("../bot.rs");

const RECORDED: &str = include_str!("input.txt");

/// The answer on a small board, each unit written as the referee writes it.
fn position(me: i32, units: &[&str], walls: &[(usize, usize)]) -> String {
    let mut rows = vec![vec![b'.'; 13]; 7];
    walls.iter().for_each(|&(x, y)| rows[y][x] = b'x');
    answer(&Board { me, rows }, &units.iter().map(|line| unit(line)).collect::<Vec<_>>())
}

#[test]
fn every_turn_of_a_recorded_match_gets_one_legal_answer() {
    let mut answers = Vec::new();
    play(RECORDED.as_bytes(), |order| answers.push(order));
    let lines: Vec<&str> = RECORDED.lines().collect();
    let (mut at, mut answers) = (2 + numbers(lines[1])[1] as usize, answers.iter());
    while at < lines.len() {
        let count: usize = lines[at].parse().unwrap();
        let units: Vec<Unit> = lines[at + 1..=at + count].iter().map(|line| unit(line)).collect();
        let answer = answers.next().expect("an answer to each turn");
        assert!(is_legal(answer, &units), "{answer} before line {at}");
        at += 1 + count;
    }
    assert_eq!(answers.next(), None, "nothing after the last turn");
}

fn is_legal(answer: &str, units: &[Unit]) -> bool {
    let words: Vec<&str> = answer.split(' ').collect();
    let number = |word: usize| words[word].parse::<i32>().unwrap();
    let find = |id| units.iter().find(|u| u.id == id);
    if answer == "WAIT" {
        return true;
    }
    let Some(u) = find(number(0)).filter(|u| u.owner == 0) else { return false };
    match words[1] {
        "MOVE" => (0..13).contains(&number(2)) && (0..7).contains(&number(3)),
        order => order == if u.leads { "CONVERT" } else { "SHOOT" } && find(number(2)).is_some_and(|t| t.owner != 0),
    }
}

#[test]
fn a_neighbour_is_converted() {
    assert_eq!(position(0, &["0 1 10 3 3 0", "5 0 10 4 3 2"], &[]), "0 CONVERT 5");
}

#[test]
fn an_enemy_in_range_is_shot_but_not_through_a_wall() {
    let units = ["1 1 10 12 3 1", "9 0 10 8 3 1", "0 1 10 5 3 0"];
    assert_eq!(position(1, &units, &[]), "9 SHOOT 0");
    assert_eq!(position(1, &units, &[(6, 3)]), "9 MOVE 5 3");
}

#[test]
fn a_lone_leader_waits() {
    assert_eq!(position(0, &["0 1 10 3 3 0", "1 1 10 12 3 1"], &[]), "WAIT");
}
