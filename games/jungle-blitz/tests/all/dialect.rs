//! The conversation: registration, errors sent with the next tick, odd messages.

use agon_game::session::RunningMatch;
use agon_game::{Absence, Answer, Dialect as _, Game as _, Heard, MapChoice, Seat, Session as _, Setup};
use jungle_blitz::JungleBlitz;
use jungle_blitz::dialect::{Registration, Wire, register};
use serde_json::{Value, json};

fn game() -> JungleBlitz {
    let map = MapChoice::File("small".to_owned(), b"units for 2 teams: 2\nS..D\nS..D\n".to_vec());
    JungleBlitz::set_up(&Setup { map, seats: 2, seed: 1, ..Setup::default() }).expect("a small map")
}

const ME: Seat = Seat::new(0);

#[test]
fn registrations() {
    let reads = |text: &str| register(text.as_bytes());
    assert_eq!(reads(r#"{"type":"REGISTER","teamName":"Max"}"#), Ok(Registration::Name("Max".to_owned())));
    assert_eq!(reads(r#"{"type":"REGISTER","token":"x","more":1}"#), Ok(Registration::Token("x".to_owned())));
    for wrong in [
        "",
        "hello",
        "null",
        "[]",
        "{}",
        r#"{"type":"COMMAND"}"#,
        r#"{"type":"REGISTER"}"#,
        r#"{"type":"REGISTER","teamName":""}"#,
        r#"{"type":"REGISTER","teamName":7}"#,
        r#"{"type":"REGISTER","teamName":"a","token":"b"}"#,
    ] {
        assert!(reads(wrong).is_err(), "{wrong}");
    }
    let deep = "[".repeat(1_000_000);
    assert!(reads(&deep).is_err());
    let long = format!(r#"{{"type":"REGISTER","teamName":"{}"}}"#, "x".repeat(10_000));
    assert!(matches!(reads(&long), Ok(Registration::Name(name)) if name.len() == 100));
}

/// Asks seat 1 and reads the message it gets.
fn asked(table: &mut RunningMatch<JungleBlitz>) -> Value {
    let mut out = Vec::new();
    table.ask(ME, &mut out);
    table.ask(Seat::new(1), &mut Vec::new());
    assert!(out.is_ascii() && !out.contains(&b'\n'));
    serde_json::from_slice(&out).expect("a TICK is JSON")
}

fn hear(table: &mut RunningMatch<JungleBlitz>, message: Value) -> Heard<Vec<u8>> {
    table.hear(ME, message.to_string().as_bytes())
}

fn play(table: &mut RunningMatch<JungleBlitz>, heard: Heard<Vec<u8>>) {
    let answer = match heard {
        Heard::Answer(order) => Answer::Given { order, think_ms: 0 },
        Heard::Malformed(why) => Answer::Malformed { why, think_ms: 0 },
        _ => Answer::Missing(Absence::TimedOut),
    };
    table
        .play(&[(ME, answer), (Seat::new(1), Answer::Missing(Absence::TimedOut))])
        .expect("both seats answer");
}

fn errors(tick: &Value) -> Vec<String> {
    let errors = tick["teams"][0]["errors"].as_array().expect("a list of errors").iter();
    errors.map(|error| error.as_str().expect("a text").to_owned()).collect()
}

/// JB-WIRE-7
#[test]
fn errors_are_told_with_the_next_tick() {
    let mut table = RunningMatch::new(game());
    assert!(errors(&asked(&mut table)).is_empty());
    let spawn = |id: Value, x: i64| json!({"type": "UNIT", "action": "SPAWN", "unitId": id, "target": {"x": x, "y": 0}});
    let command = |tick: u16, actions: Value| json!({"type": "COMMAND", "tick": tick, "actions": actions});
    let heard = hear(
        &mut table,
        command(0, json!([spawn(json!("1"), 3), null, spawn(json!(2), 0), spawn(json!("2"), 0)])),
    );
    play(&mut table, heard);

    let tick = asked(&mut table);
    let told = errors(&tick);
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0], "unit 1 (not on the board): (3, 0) is not a spawn tile");
    assert!(told[1].contains("empty") && told[2].contains("must be a text"), "{told:?}");
    assert_eq!(tick["teams"][1]["errors"], json!([]), "errors are told to their own team only");

    // Missed ticks add to the list.
    play(&mut table, Heard::More);
    assert_eq!(errors(&asked(&mut table)).len(), 4);
    play(&mut table, Heard::More);
    let told = errors(&asked(&mut table));
    assert!(told.len() == 5 && told[4].contains("tick 2") && told[4].contains("150 ms"), "{told:?}");

    // A command empties it.
    let heard = hear(&mut table, command(3, json!([])));
    play(&mut table, heard);
    assert!(errors(&asked(&mut table)).is_empty());

    // A command without a list of actions counts as an answer with one error.
    let heard = hear(&mut table, json!({"type": "COMMAND", "tick": 4, "actions": {}}));
    assert!(matches!(heard, Heard::Answer(_)));
    play(&mut table, heard);
    assert_eq!(errors(&asked(&mut table)).len(), 1);
}

/// JB-WIRE-1, JB-WIRE-4, JB-WIRE-5, JB-WIRE-6
#[test]
fn odd_messages() {
    let game = game();
    let (state, mut wire) = (game.start(), Wire::new(&game));
    let command = |tick: Value| json!({"type": "COMMAND", "tick": tick, "actions": []}).to_string();
    let hear = |wire: &mut Wire, text: &str| wire.hear(&game, ME, text.as_bytes());
    assert!(matches!(hear(&mut wire, &command(json!(0))), Heard::Ignore(Some(_))), "before the first tick");
    wire.ask(&game, ME, &game.view(&state, ME), &mut Vec::new());
    let stray = |wire: &mut Wire, text: &str| match hear(wire, text) {
        Heard::Ignore(Some(why)) => why,
        other => panic!("{text}: {other:?}"),
    };
    for (tick, why) in [
        (json!(1), "a COMMAND for tick 1, which was not asked yet; tick 0 was"),
        (json!(-1), "a COMMAND whose tick is -1; it must be the number 0"),
        (json!("0"), "a COMMAND whose tick is \"0\"; it must be the number 0"),
        (Value::Null, "a COMMAND whose tick is null; it must be the number 0"),
        (json!(0.5), "a COMMAND whose tick is 0.5; it must be the number 0"),
    ] {
        assert_eq!(stray(&mut wire, &command(tick)), why);
    }
    let without = r#"{"type":"COMMAND"}"#;
    assert_eq!(stray(&mut wire, without), "a COMMAND without a tick; tick 0 was asked");
    assert!(matches!(hear(&mut wire, &command(json!(0))), Heard::Answer(_)));
    let again = "another COMMAND for tick 0, which was already answered";
    assert_eq!(stray(&mut wire, &command(json!(0))), again);
    assert!(matches!(hear(&mut wire, r#"{"type":"PING"}"#), Heard::Ignore(Some(_))));
    for broken in
        ["", "{", "null", "3", "[]", "\"COMMAND\"", &"[".repeat(100_000), &r#"{"a":"#.repeat(100_000)]
    {
        assert!(matches!(hear(&mut wire, broken), Heard::Close(_)));
    }
    let name = r#"{"type":"REGISTER","teamName":"J\u00e4ger \"\ud83d\udc06\""}"#;
    assert_eq!(hear(&mut wire, name), Heard::Ignore(None));
    assert!(matches!(hear(&mut wire, name), Heard::Close(_)), "a second registration");
    let mut out = Vec::new();
    wire.ask(&game, ME, &game.view(&state, ME), &mut out);
    assert!(out.is_ascii());
    let tick: Value = serde_json::from_slice(&out).expect("a TICK is JSON");
    assert_eq!(tick["teams"][0]["name"], "J\u{e4}ger \"\u{1f406}\"");
    let many = json!({"type": "COMMAND", "tick": 0, "actions": vec![Value::Null; 1_025]}).to_string();
    assert!(matches!(wire.hear(&game, ME, many.as_bytes()), Heard::Malformed(_)));
}

/// JB-WIRE-4: answers that come after the limit, however late.
#[test]
fn late_answers_say_how_late_they_are() {
    let mut table = RunningMatch::new(game());
    for tick in 0..4 {
        asked(&mut table);
        let heard =
            if tick == 1 { Heard::More } else { hear(&mut table, json!({"type": "COMMAND", "tick": tick})) };
        if tick < 3 {
            play(&mut table, heard);
        }
    }
    let mut late = |tick: u16| match hear(&mut table, json!({"type": "COMMAND", "tick": tick})) {
        Heard::Ignore(Some(why)) => why,
        other => panic!("tick {tick}: {other:?}"),
    };
    assert_eq!(late(1), "an answer to tick 1, 2 ticks late");
    assert_eq!(late(1), "another COMMAND for tick 1, which was already answered");
    assert_eq!(late(2), "another COMMAND for tick 2, which was already answered");

    let mut table = RunningMatch::new(game());
    asked(&mut table);
    play(&mut table, Heard::More);
    let heard = hear(&mut table, json!({"type": "COMMAND", "tick": 0}));
    assert_eq!(heard, Heard::Ignore(Some("an answer to tick 0 after its limit".to_owned())));
}

/// Time-outs and errors cannot grow a message without bound.
#[test]
fn errors_are_bounded() {
    let game = game();
    let mut wire = Wire::new(&game);
    let answer = Answer::Malformed { why: "x".repeat(10_000), think_ms: 1 };
    (0..100_000).for_each(|_| wire.missed(&game, ME, &answer));
    let mut out = Vec::new();
    wire.ask(&game, ME, &game.view(&game.start(), ME), &mut out);
    assert!(out.len() < 400_000, "{} bytes", out.len());
}
