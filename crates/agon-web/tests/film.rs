//! A film tells what the match did, keeps private what is private, and says when a recording is wrong.

use std::sync::atomic::AtomicBool;

use agon_bot::BotName;
use agon_game::{Answer, Seat, Setup};
use agon_match::{Clock, Ponder, Recorder, seat_player};
use agon_replay::{End, Header, Replay, SeatInfo, Timing, Writer};
use agon_web::film::{VERSION, message};
use agon_web::{Live, Privacy, Showing, Unshowable};
use serde_json::{Value, json};

/// The reader's half of the deltas, as the web app has it.
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

fn header(game: &str) -> Header {
    let game = agon_games::find(game).expect("a game of ours");
    let info = game.info();
    let setup = Setup { seats: info.seats.0.max(2), seed: 11, ..Setup::default() };
    let session = game.open(&setup).expect("the default set-up can be played");
    let bots: Vec<SeatInfo> = (1..=setup.seats)
        .map(|seat| SeatInfo { bot: "builtin:random".to_owned(), label: format!("bot <{seat}>"), hash: None })
        .collect();
    Header {
        program: "agon test".to_owned(),
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        recipe: session.recipe().clone(),
        seats: bots,
        started: 0,
        timed: info.time_is_played,
        clock: "original x 2".to_owned().into(),
    }
}

/// A match of random built-in bots, recorded, and filmed live.
fn played(game: &str) -> (Replay, Vec<Value>) {
    let header = header(game);
    let mut session = agon_games::find(game).unwrap().open(&header.recipe.setup()).unwrap();
    let name = BotName::parse("builtin:random").unwrap();
    let mut players: Vec<_> = Seat::first(header.recipe.seats)
        .map(|seat| seat_player(session.as_mut(), &name, seat, None, Clock::ORIGINAL).unwrap())
        .collect();
    let labels: Vec<String> = header.seats.iter().map(|seat| seat.label.clone()).collect();
    let mut recorder = Recorder::new(Vec::new(), &header).unwrap();
    let live = Live::default();
    let mut camera = live.camera(&header).unwrap();
    let record = {
        let mut observers: [&mut dyn agon_match::Observer; 2] = [&mut recorder, &mut camera];
        let stop = AtomicBool::new(false);
        let mut all = Both(&mut observers);
        agon_match::play(
            session.as_mut(),
            &mut players,
            &labels,
            Clock::ORIGINAL,
            Ponder::Stop,
            &mut all,
            &stop,
        )
    };
    let bytes = recorder.finish(session.as_mut(), &record).unwrap();
    camera.finish(&record);
    let (lines, done) = live.since(0);
    assert!(done, "the film of a finished match is finished");
    let lines = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    (Replay::read(&bytes).unwrap(), lines)
}

struct Both<'a, 'b>(&'a mut [&'b mut dyn agon_match::Observer; 2]);

impl agon_match::Observer for Both<'_, '_> {
    fn stepped(
        &mut self,
        session: &mut dyn agon_game::Session,
        step: &agon_match::StepReport<'_>,
    ) -> std::io::Result<()> {
        self.0.iter_mut().try_for_each(|observer| observer.stepped(session, step))
    }
}

fn film(replay: Replay, privacy: Privacy) -> Vec<Value> {
    Showing::new(replay, privacy)
        .expect("it can be shown")
        .map(|line| serde_json::from_str(&line).expect("a line is JSON"))
        .collect()
}

#[test]
fn a_film_holds_every_scene_of_every_game() {
    for game in agon_games::ALL {
        let name = game.info().name;
        let (replay, live) = played(name);
        let lines = film(replay.clone(), Privacy::Private);
        assert_eq!(lines[0]["film"], VERSION);
        assert_eq!(lines.len(), replay.steps.len() + 2, "{name}");
        let mut session = game.open(&replay.header.recipe.setup()).unwrap();
        session.keep_events();
        let (mut scene, mut part) = (apply(&Value::Null, &lines[0]["scene"]), Value::Null);
        assert_eq!(scene, session.scene(), "{name}: the start");
        for (step, line) in replay.steps.iter().zip(&lines[1..]) {
            session.play(&step.answers).unwrap();
            scene = line.get("scene").map_or_else(|| scene.clone(), |change| apply(&scene, change));
            assert_eq!(scene, session.scene(), "{name}: {}", line["moment"]);
            let frames = session.events().into_iter().filter_map(|mut event| {
                event.as_object_mut().filter(|object| object.len() == 1)?.remove("frame")
            });
            let parts = line["parts"].as_array().cloned().unwrap_or_default();
            for (change, frame) in parts.iter().zip(frames) {
                part = apply(&part, change);
                assert_eq!(part, frame, "{name}: {}", line["moment"]);
            }
        }
        assert_eq!(lines.last().unwrap()["end"], "whole", "{name}");
        // A running match is the same film, but for how long it will be.
        let without = |mut head: Value| {
            head.as_object_mut().unwrap().remove("steps");
            head
        };
        assert_eq!(without(live[0].clone()), without(lines[0].clone()), "{name}");
        assert_eq!(live[1..], lines[1..], "{name}");
    }
}

/// A replay of one bot's match with everything private in it.
fn with_notes() -> Replay {
    let (replay, _) = played("cultist-wars");
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
    let end = End { steps: 0, outcome, state, chain: String::new(), facts };
    Replay::read(&writer.finish(end).unwrap()).unwrap()
}

#[test]
fn a_redacted_film_shows_nothing_that_belongs_to_one_seat() {
    let private = film(with_notes(), Privacy::Private);
    assert_eq!(private[1]["answers"][0]["stderr"], "my secret plan");
    assert_eq!(private[1]["answers"][0]["raw"], "  WAIT  secret");
    assert_eq!(private[1]["answers"][0]["wall"], 1500);
    assert_eq!(
        private[1]["answers"][0]["limit"], 2000,
        "the limit is that of the clock, twice the rulebook's"
    );
    assert_eq!(private[1]["faults"][0]["kind"], "timeout");
    assert!(private[0]["again"].as_str().unwrap().starts_with("agon play cultist-wars builtin:random"));
    let redacted = Value::from(film(with_notes(), Privacy::Redacted)).to_string();
    for secret in ["secret", "builtin:random"] {
        assert!(!redacted.contains(secret), "{secret}");
    }
    assert!(redacted.contains("bot <1>"));
}

#[test]
fn a_wrong_recording_is_shown_as_far_as_it_goes() {
    let (replay, _) = played("cultist-wars");
    let last = |replay: Replay| film(replay, Privacy::Private).pop().unwrap();

    let cut = Replay { end: None, ..replay.clone() };
    assert_eq!(last(cut)["end"], "cut");

    let mut void = replay.clone();
    void.end.as_mut().unwrap().facts["void"] = "the machine was late".into();
    assert_eq!(last(void)["why"], "the machine was late");

    let mut altered = replay.clone();
    altered.steps[4].answers[0].1 = Answer::Given { order: vec![250, 250, 250], think_ms: 0 };
    let lines = film(altered, Privacy::Private);
    assert_eq!(lines.len(), 6, "the match, four steps, and the end");
    assert_eq!(lines[5]["end"], "altered");
    assert!(lines[5]["why"].as_str().unwrap().contains("turn 5"), "{}", lines[5]["why"]);

    let mut longer = replay.clone();
    longer.steps.push(longer.steps[0].clone());
    assert_eq!(last(longer)["end"], "altered");

    let mut renamed = replay.clone();
    renamed.header.game = "chess".to_owned();
    assert!(matches!(Showing::new(renamed, Privacy::Private), Err(Unshowable::UnknownGame(_))));
    let mut older = replay;
    older.header.rules_version += 1;
    assert!(matches!(Showing::new(older, Privacy::Private), Err(Unshowable::OtherRules { .. })));
}

#[test]
fn the_message_of_a_seat_is_the_one_it_got() {
    let (replay, _) = played("cultist-wars");
    let first = message(&replay, 0, Seat::new(0)).unwrap().unwrap();
    assert!(first.starts_with(b"0\n13 7\n"), "{}", String::from_utf8_lossy(&first));
    assert_eq!(message(&replay, 0, Seat::new(1)).unwrap(), None);
    let second = message(&replay, 1, Seat::new(1)).unwrap().unwrap();
    assert!(second.starts_with(b"1\n13 7\n"));
    assert_eq!(message(&replay, 1_000_000, Seat::new(0)).unwrap(), None);
}
