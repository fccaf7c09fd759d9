//! A view shows what the match did, any step of it by itself, keeps private what is private, and says when a recording
//! is wrong.

use std::collections::BTreeSet;

use agon_game::{Answer, PackedAnswer, Seat, Seeded, Session, Setup};
use agon_replay::{EndInfo, Header, Replay, SeatInfo, Timing, Writer};
use agon_view::{EndWord, Missing, Privacy, Unshowable, View, message};
use serde_json::{Value, json};

/// The reader's half of the deltas, as in the web app.
fn apply(old: &Value, change: &Value) -> Value {
    let Value::Object(change) = change else { return change.clone() };
    if let Some(new) = change.get("=") {
        return new.clone();
    }
    let mut new = old.clone();
    if let (Some(splice), Value::Array(list)) = (change.get("+"), &mut new) {
        let (at, gone) = (splice[0].as_u64().unwrap() as usize, splice[1].as_u64().unwrap() as usize);
        list.splice(at..at + gone, splice[2].as_array().unwrap().iter().cloned());
        return new;
    }
    for (key, change) in change {
        match &mut new {
            Value::Array(list) => {
                let place: usize = key.parse().unwrap();
                list[place] = apply(&list[place], change);
            }
            Value::Object(object) if key == "-" => {
                change.as_array().unwrap().iter().for_each(|key| drop(object.remove(key.as_str().unwrap())));
            }
            Value::Object(object) => {
                let before = object.get(key).cloned().unwrap_or(Value::Null);
                object.insert(key.clone(), apply(&before, change));
            }
            other => panic!("{other} has no places"),
        }
    }
    new
}

/// A match with a built-in bot in every seat, starting with number `first` in the first seat.
fn open(game: &str, first: usize, seats: u8) -> (Box<dyn Session>, Header) {
    let game = agon_games::find(game).expect("a game of ours");
    let info = game.info();
    let setup = Setup { seats, seed: 11 + first as i64, ..Setup::default() };
    let mut session = game.open(&setup).expect("the default set-up can be played");
    let mut bots = Vec::new();
    for seat in Seat::first(seats) {
        let bot = info.builtins[(first + seat.index()) % info.builtins.len()].name;
        session.seat_builtin(seat, bot, &[], seat.index() as u64).expect("a bot without options");
        let label = format!("bot <{}>", seat.number());
        bots.push(SeatInfo { bot: format!("builtin:{bot}"), label, hash: None });
    }
    let header = Header {
        program: "agon test".to_owned(),
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        recipe: session.recipe().clone(),
        seats: bots,
        started: 0,
        timed: info.time_is_played,
        id: None,
        clock: "original x 2".to_owned().into(),
    };
    (session, header)
}

/// The answers of the deciding seats.
fn answers(session: &mut dyn Session) -> Vec<(Seat, PackedAnswer)> {
    let deciding: Vec<Seat> = session.deciding().iter().collect();
    deciding
        .into_iter()
        .map(|seat| (seat, Answer::Given { order: session.think(seat), think_ms: 0 }))
        .collect()
}

/// Strong built-in bots think long: this many steps show as much as a whole match.
const STEPS: u32 = 120;

fn played_by(game: &str, first: usize, seats: u8) -> Replay {
    let (mut session, header) = open(game, first, seats);
    Replay::read(&recorded(session.as_mut(), &header, STEPS)).unwrap()
}

/// The replay of a match of at most `most` steps, in its file format.
fn recorded(session: &mut dyn Session, header: &Header, most: u32) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), header).unwrap();
    while !session.deciding().is_empty() && session.steps() < most {
        let answers = answers(session);
        session.play(&answers).unwrap();
        writer.step(&answers, session.hash()).unwrap();
    }
    let outcome = session.outcome().cloned();
    let end = EndInfo {
        steps: 0,
        outcome,
        state: format!("{:016x}", session.hash()),
        chain: String::new(),
        facts: json!({}),
    };
    writer.finish(end).unwrap()
}

fn played(game: &str) -> Replay {
    let info = agon_games::find(game).unwrap().info();
    played_by(game, 0, info.seats.0.max(2))
}

/// The head and all lines, as JSON.
fn told(view: &mut View) -> Vec<Value> {
    let mut all = vec![serde_json::to_value(view.head()).unwrap()];
    for step in 1..=view.steps() {
        let line = view.line(step).expect("a step there is");
        all.push(serde_json::to_value(&line).unwrap());
    }
    all
}

fn whole(replay: Replay, privacy: Privacy) -> Vec<Value> {
    told(&mut View::open(replay, privacy).expect("it can be shown"))
}

/// Everything a session says about where it is.
fn place(session: &mut dyn Session) -> (u32, u64, Value, Vec<Value>, String) {
    (session.steps(), session.hash(), session.scene(), session.events(), format!("{:?}", session.outcome()))
}

#[test]
fn from_any_position_a_match_goes_on_as_it_did() {
    for game in agon_games::all() {
        let info = game.info();
        for first in 0..info.builtins.len() {
            let name = format!("{}, {}", info.name, info.builtins[first].name);
            let replay = played_by(info.name, first, info.seats.0.max(2));
            let setup = replay.header.recipe.setup();
            let mut session = game.open(&setup).unwrap();
            session.keep_events();
            let (mut positions, mut places) = (vec![session.position()], Vec::new());
            for step in &replay.steps {
                session.play(&step.answers).unwrap();
                positions.push(session.position());
                places.push(place(session.as_mut()));
            }
            let mut other = game.open(&setup).unwrap();
            other.keep_events();
            let mut chance = Seeded::stream(first as i64, "test");
            for _ in 0..6 {
                let from = (chance.bits() % positions.len() as u64) as usize;
                assert!(other.go_to(&positions[from]), "{name}");
                assert_eq!(other.steps() as usize, from, "{name}");
                assert_eq!(other.deciding().is_empty(), other.outcome().is_some(), "{name}");
                for (step, then) in replay.steps.iter().zip(&places).skip(from).take(25) {
                    other.play(&step.answers).unwrap();
                    assert_eq!(&place(other.as_mut()), then, "{name}: from {from}");
                }
            }
        }
    }
}

#[test]
fn every_step_can_be_had_by_itself() {
    for game in agon_games::all() {
        let name = game.info().name;
        let replay = played(name);
        let lines = whole(replay.clone(), Privacy::Private);
        let mut view = View::open(replay, Privacy::Private).unwrap();
        assert!(view.line(0).is_none() && view.line(view.steps() + 1).is_none());
        let count = u64::from(view.steps());
        for n in 0..60u64 {
            let step = (n * 7919 % count + 1) as u32;
            let line = serde_json::to_value(view.line(step).unwrap()).unwrap();
            assert_eq!(line, lines[step as usize], "{name}: step {step}");
        }
    }
}

#[test]
fn a_view_holds_every_scene_of_every_game() {
    for game in agon_games::all() {
        let name = game.info().name;
        let replay = played(name);
        let lines = whole(replay.clone(), Privacy::Private);
        assert_eq!(lines.len(), replay.steps.len() + 1, "{name}");
        let mut session = game.open(&replay.header.recipe.setup()).unwrap();
        session.keep_events();
        let start = &lines[0]["scene"];
        assert_eq!(*start, session.scene(), "{name}: the start");
        for (number, (step, line)) in replay.steps.iter().zip(&lines[1..]).enumerate() {
            session.play(&step.answers).unwrap();
            let scene = line.get("scene").map_or_else(|| start.clone(), |change| apply(start, change));
            assert_eq!(scene, session.scene(), "{name}: {}", line["moment"]);
            let frames = line["frames"].as_array().map_or(0, Vec::len);
            assert_eq!(frames as u64, lines[0]["frames"][number].as_u64().unwrap_or(0), "{name}");
            let events = line["events"].as_array().unwrap().len();
            assert_eq!(events + frames, session.events().len(), "{name}: {}", line["moment"]);
        }
    }
}

/// A replay of a match with all the private data of one bot.
fn with_notes() -> Replay {
    let replay = played("cultist-wars");
    let mut writer = Writer::new(Vec::new(), &replay.header).unwrap();
    let mut session = agon_games::find("cultist-wars").unwrap().open(&replay.header.recipe.setup()).unwrap();
    for step in &replay.steps {
        let seat = step.answers[0].0;
        writer.note(seat, "stderr", "my secret plan");
        writer.note(seat, "raw", "  WAIT  secret");
        writer.timing(seat, Timing { wall_us: 1500, cpu_us: None });
        session.play(&step.answers).unwrap();
        writer.step(&step.answers, session.hash()).unwrap();
    }
    let outcome = session.outcome().cloned();
    let state = format!("{:016x}", session.hash());
    let facts = json!({ "faults": [{ "seat": 1, "step": 0, "turn": "turn 1", "kind": "timeout", "message": "late" }] });
    let end = EndInfo { steps: 0, outcome, state, chain: String::new(), facts };
    Replay::read(&writer.finish(end).unwrap()).unwrap()
}

#[test]
fn a_redacted_view_shows_nothing_that_belongs_to_one_seat() {
    let private = whole(with_notes(), Privacy::Private);
    assert_eq!(private[1]["answers"][0]["stderr"], "my secret plan");
    assert_eq!(private[1]["answers"][0]["raw"], "  WAIT  secret");
    assert_eq!(private[1]["answers"][0]["wall"], 1500);
    assert_eq!(
        private[1]["answers"][0]["limit"], 2000,
        "the limit is that of the clock, twice the rulebook's"
    );
    assert_eq!(private[1]["faults"][0]["kind"], "timeout");
    assert!(private[0]["again"].as_str().unwrap().starts_with("agon play cultist-wars builtin:"));
    let redacted = Value::from(whole(with_notes(), Privacy::Redacted)).to_string();
    for secret in ["secret", "builtin:"] {
        assert!(!redacted.contains(secret), "{secret}");
    }
    assert!(redacted.contains("bot <1>"));
}

#[test]
fn a_wrong_recording_is_shown_as_far_as_it_goes() {
    let replay = played("cultist-wars");
    let end = |replay: Replay| {
        let view = View::open(replay, Privacy::Private).unwrap();
        (view.head().end.clone().unwrap(), view.steps())
    };
    assert_eq!(end(replay.clone()).0.end, EndWord::Whole);

    let cut = Replay { end: None, ..replay.clone() };
    assert_eq!(end(cut).0.end, EndWord::Cut);

    let mut void = replay.clone();
    void.end.as_mut().unwrap().facts["void"] = "the machine was late".into();
    assert_eq!(end(void).0.why.unwrap(), "the machine was late");

    let mut altered = replay.clone();
    altered.steps[4].answers[0].1 = Answer::Given { order: vec![250, 250, 250], think_ms: 0 };
    let (wrong, steps) = end(altered);
    assert_eq!((wrong.end, steps), (EndWord::Altered, 4));
    assert!(wrong.why.unwrap().contains("turn 5"));

    let mut checked = replay.clone();
    checked.steps[6].check ^= 1;
    assert_eq!(end(checked).1, 6, "what does not lead to the recorded state is not shown");

    let mut longer = replay.clone();
    longer.steps.push(longer.steps[0].clone());
    assert_eq!(end(longer).0.end, EndWord::Altered);

    let mut renamed = replay.clone();
    renamed.header.game = "chess".to_owned();
    assert!(matches!(View::open(renamed, Privacy::Private), Err(Unshowable::UnknownGame(_))));
}

#[test]
fn a_match_of_other_rules_is_shown_as_far_as_it_agrees_and_says_so() {
    let mut replay = played("cultist-wars");
    let recorded = replay.header.rules_version;
    replay.header.rules_version += 1;
    let steps = replay.steps.len() as u32;
    let view = View::open(replay.clone(), Privacy::Private).expect("it is shown");
    let said = view.head().other_rules.clone().unwrap_or_default();
    assert!(
        said.contains(&format!("version {}", recorded + 1))
            && said.contains(&format!("has version {recorded}")),
        "{said}"
    );
    assert_eq!((view.steps(), &view.head().end.as_ref().expect("an end").end), (steps, &EndWord::Whole));

    // If its answers lead elsewhere the rest is not shown, and it is not called altered.
    replay.steps[6].check ^= 1;
    let mut view = View::open(replay.clone(), Privacy::Private).expect("it is shown");
    let end = view.head().end.clone().expect("an end");
    assert_eq!((view.steps(), end.end), (6, EndWord::Cut));
    let why = end.why.unwrap_or_default();
    assert!(why.contains("another match") && why.contains(&format!("{} recorded steps", steps - 6)), "{why}");
    assert!(view.line(6).is_some() && view.line(7).is_none());
    // What must be exact is refused.
    let refused = message(&replay, 1, Seat::new(1)).expect_err("other rules");
    assert!(refused.contains("Open it with that agon"), "{refused}");
}

#[test]
fn a_match_that_breaks_off_shows_its_steps_and_where() {
    for game in agon_games::all() {
        let (name, seats) = (game.info().name, game.info().seats.0.max(2));
        let (mut session, header) = open(name, 0, seats);
        for seat in Seat::first(seats) {
            session.seat_builtin(seat, game.info().policy, &[], 7).expect("a quick bot");
        }
        let whole = recorded(session.as_mut(), &header, 400);
        let all = Replay::read(&whole).expect("a good replay").steps.len() as u32;
        let (mut shown, mut before) = (BTreeSet::new(), 0);
        for cut in (0..whole.len()).step_by(1 + whole.len() / 200) {
            let Ok(replay) = Replay::read(&whole[..cut]) else { continue };
            let mut view = View::open(replay, Privacy::Private).expect("what is there is shown");
            let end = view.head().end.clone().expect("an end");
            assert!(end.end == EndWord::Cut && view.steps() >= before, "{name} cut at {cut}: {end:?}");
            let why = end.why.unwrap_or_default();
            assert!(why.contains(&format!("after {} steps", view.steps())), "{why}");
            before = view.steps();
            assert!(before == 0 || view.line(before).is_some());
            shown.insert(before);
        }
        // Not only all or nothing: at least every 128 steps can be read by themselves.
        assert!(shown.contains(&all) && shown.len() as u32 > all.div_ceil(128), "{name}: {shown:?} of {all}");
    }
}

#[test]
fn an_answer_that_did_not_come_says_why() {
    let (mut session, header) = open("cultist-wars", 0, 2);
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    let answers = [(Seat::new(0), Answer::Malformed { why: "no number".to_owned(), think_ms: 3 })];
    session.play(&answers).unwrap();
    writer.step(&answers, session.hash()).unwrap();
    let state = format!("{:016x}", session.hash());
    let outcome = session.outcome().cloned();
    let end = EndInfo { steps: 0, outcome, state, chain: String::new(), facts: json!({}) };
    let replay = Replay::read(&writer.finish(end).unwrap()).unwrap();
    let line = View::open(replay, Privacy::Private).unwrap().line(1).unwrap();
    assert_eq!(line.answers[0].missing, Some(Missing::Malformed("no number".to_owned())));
    assert_eq!(
        serde_json::to_value(&line).unwrap()["answers"][0]["missing"],
        json!({ "malformed": "no number" })
    );
}

#[test]
fn the_message_of_a_seat_is_the_one_it_got() {
    let replay = played("cultist-wars");
    let first = message(&replay, 0, Seat::new(0)).unwrap().unwrap();
    assert!(first.starts_with(b"0\n13 7\n"), "{}", String::from_utf8_lossy(&first));
    assert_eq!(message(&replay, 0, Seat::new(1)).unwrap(), None);
    let second = message(&replay, 1, Seat::new(1)).unwrap().unwrap();
    assert!(second.starts_with(b"1\n13 7\n"));
    assert_eq!(message(&replay, 1_000_000, Seat::new(0)).unwrap(), None);
}
