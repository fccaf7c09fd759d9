//! One match of each game, written down for people: orders, rejections, events and the final state. A changed rule shows
//! here as a readable difference, where the table of final states only shows another number.
//!
//! If a match was meant to change, regenerate the transcripts and look at the difference; if a built-in bot plays otherwise though the rules are
//! the same, change `BUILT_INS` of `agon-contest` too:
//! `UPDATE_TRANSCRIPTS=1 cargo test -p agon-games --test all transcripts`.

use std::fmt::Write as _;
use std::path::Path;

use agon_game::{Answer, PackedAnswer, RulesChoice, Seat, Session, Setup};
use serde_json::Value;

/// A game, its bots, and the changes of rules that keep the match short.
type Match = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const MATCHES: [Match; 5] = [
    ("cultist-wars", &["greedy", "hunter"], &[]),
    ("deerhunt", &["warden", "rusher"], &[("max_rounds", "40")]),
    ("jungle-blitz", &["keeper", "raider", "collector"], &[("totalTick", "40")]),
    ("ostibot", &["random", "looter"], &[("maxTurns", "60")]),
    ("terminal", &["fortress", "rush"], &[("maxTurns", "8")]),
];

/// Longer lines are cut; the hash of the state covers what is not shown.
const LONGEST: usize = 1_000;

#[test]
fn matches_go_as_they_are_written_down() {
    let mut changed = Vec::new();
    for (name, bots, sets) in MATCHES {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games").join(name).join("tests/transcript.txt");
        let played = transcript(name, bots, sets);
        if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
            std::fs::write(&path, played).expect("the transcript is written");
            continue;
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        let lines = || written.lines().zip(played.lines());
        if written != played {
            let at = lines().take_while(|(written, played)| written == played).count();
            let line = |text: &str| text.lines().nth(at).unwrap_or("(the end)").to_owned();
            changed.push(format!("{name}, line {}:\n  - {}\n  + {}", at + 1, line(&written), line(&played)));
        }
    }
    assert!(changed.is_empty(), "matches changed; see the head of this file:\n{}", changed.join("\n"));
}

#[test]
fn every_game_has_a_transcript() {
    let games: Vec<&str> = agon_games::all().iter().map(|game| game.info().name).collect();
    assert_eq!(MATCHES.map(|(name, ..)| name).to_vec(), games);
}

fn transcript(name: &str, bots: &[&str], sets: &[(&str, &str)]) -> String {
    let game = agon_games::find(name).expect("a game");
    let sets = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let rules = RulesChoice { sets, ..RulesChoice::default() };
    let setup = Setup { rules, seats: bots.len() as u8, seed: 1, ..Setup::default() };
    let mut session = game.open(&setup).expect("a match");
    session.keep_events();
    let recipe = session.recipe();
    let mut text = format!(
        "{}, rules {} (version {}), map {}, seed {}, {}\n",
        game.info().title,
        recipe.rules_name,
        game.info().rules_version,
        recipe.map_name,
        recipe.seed,
        bots.join(" and ")
    );
    for (seat, bot) in Seat::first(setup.seats).zip(bots) {
        session.seat_builtin(seat, bot, &[], u64::from(seat.number())).expect("a built-in bot");
    }
    while !session.deciding().is_empty() {
        step(session.as_mut(), &mut text);
    }
    let outcome = session.outcome().expect("nobody decides any more");
    let (scores, ranks, reason) = (&outcome.scores, &outcome.ranks, &outcome.reason);
    writeln!(text, "\nend: {reason}; scores {scores:?}, ranks {ranks:?}").expect("memory");
    let scene = session.scene();
    for (key, value) in sorted(&scene) {
        line(&mut text, "  ", &format!("{key}: {}", compact(value)));
    }
    text
}

/// Plays a step and writes down the orders, the rejections and the events.
fn step(session: &mut dyn Session, text: &mut String) {
    writeln!(text, "\n{}", session.moment()).expect("memory");
    let mut answers: Vec<(Seat, PackedAnswer)> = Vec::new();
    for seat in session.deciding().iter() {
        // A dialect says an order only in answer to a question.
        session.ask(seat, &mut Vec::new());
        let (order, mut said) = (session.think(seat), Vec::new());
        assert!(session.say(seat, &order, &mut said), "a bot of ours gives orders");
        for said in String::from_utf8_lossy(&said).lines() {
            line(text, &format!("  {seat}> "), said);
        }
        answers.push((seat, Answer::Given { order, think_ms: 0 }));
    }
    session.play(&answers).expect("built-in bots give orders");
    for rejection in session.rejections() {
        let (seat, order, rule, why) = (rejection.seat, rejection.index, rejection.rule, &rejection.why);
        line(text, "  ", &format!("{seat} order {order} rejected [{rule}]: {why}"));
    }
    for mut event in session.events() {
        // The events tell everything about a frame; the board is in the hash.
        if let Some(frame) = event.get_mut("frame") {
            let number = compact(&frame["frame"]);
            let events = frame["events"].take();
            for (kind, list) in sorted(&events).into_iter().filter(|(_, list)| !is_nothing(list)) {
                line(text, "  ", &format!("frame {number} {kind}: {}", compact(list)));
            }
        } else {
            line(text, "  ", &compact(&event));
        }
    }
    writeln!(text, "  state {:016x}", session.hash()).expect("memory");
}

fn line(text: &mut String, start: &str, rest: &str) {
    let end = rest.floor_char_boundary(LONGEST);
    let more = if end < rest.len() { format!(" … {} more bytes", rest.len() - end) } else { String::new() };
    writeln!(text, "{start}{}{more}", &rest[..end]).expect("memory");
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    }
}

/// The members of an object sorted by name, whatever order it keeps them in.
fn sorted(value: &Value) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = value.as_object().into_iter().flatten().collect();
    members.sort_by_key(|(key, _)| *key);
    members
}

/// A value on one line: names without quotes, empty values left out.
fn compact(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(compact).collect();
            format!("[{}]", list.join(" "))
        }
        Value::Object(_) => {
            let members = sorted(value).into_iter().filter(|(_, value)| !is_nothing(value));
            let members: Vec<String> =
                members.map(|(key, value)| format!("{key}={}", compact(value))).collect();
            format!("{{{}}}", members.join(" "))
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
