//! Messages as bots write them, and hostile ones.

use agon_game::{Absence, Answer, Dialect, Game, Heard, Picture, Seat, Setup};
use ostibot::Ostibot;
use ostibot::dialect::{LARGEST_STATE, LONGEST_NOTE, Talk};
use ostibot::geometry::Direction;
use ostibot::names::AdventurerId;
use ostibot::orders::{Act, Order, Unclear};

fn match_for_two() -> Ostibot {
    Ostibot::set_up(&Setup { seats: 2, seed: 1, ..Setup::default() }).expect("a set-up")
}

fn hear(message: &str) -> Result<Order, String> {
    let game = match_for_two();
    match Talk::new(&game).hear(&game, Seat::new(0), message.as_bytes()) {
        Heard::Answer(order) | Heard::Failed { order: Some(order), .. } => Ok(order),
        Heard::Malformed(why) | Heard::Failed { why, .. } => Err(why),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_canonical_answer_is_what_a_tidy_bot_writes() {
    let game = match_for_two();
    let message =
        r#"{"actions":[{"adventurerId":"a1","move":{"direction":"UP","reason":"go"}}],"error":"none"}"#;
    let order = hear(message).expect("an answer");
    assert_eq!(order.actions[0].act, Act::Move { who: AdventurerId(1), direction: Direction::Up });
    let mut said = Vec::new();
    Talk::new(&game).say(&game, Seat::new(0), &order, &mut said);
    assert_eq!(String::from_utf8(said).expect("text"), message);
}

#[test]
fn whatever_stands_in_the_list_is_something_the_rules_can_answer() {
    let order = hear(
        r#"{"actions":[null,1,"a",[],{"move":{"direction":{}}},{"buy":7},{"adventurerId":1,"move":{"direction":"UP"}}]}"#,
    );
    let acts: Vec<Act> = order.expect("an answer").actions.iter().map(|action| action.act).collect();
    let who = AdventurerId::UNKNOWN;
    let nothing = Act::Unclear { who, why: Unclear::Nothing };
    assert_eq!(acts[..4], [nothing; 4]);
    assert_eq!(acts[4], Act::Unclear { who, why: Unclear::Direction });
    assert_eq!(acts[5], Act::Unclear { who, why: Unclear::ItemType });
    assert_eq!(acts[6], Act::Move { who, direction: Direction::Up });
}

#[test]
fn what_is_no_answer_is_said_to_be_none() {
    for (message, why) in [
        ("", "JSON object"),
        ("null", "JSON object"),
        ("[]", "JSON object"),
        ("{", "EOF"),
        (r#"{"actions":7}"#, "`actions` to be an array"),
        (r#"{"actions":[],"actions":[]}"#, "duplicate field"),
        ("{\"actions\":[\"\u{0}\"]}", "control character"),
    ] {
        let error = hear(message).expect_err(message);
        assert!(error.contains(why), "{message}: {error}");
    }
    let many = format!("{{\"actions\":[{}0]}}", "0,".repeat(1_000_000));
    assert!(hear(&many).expect_err("a million").contains("more than 1000 actions"));
    let deep = format!("{{\"actions\":{}", "[".repeat(1_000_000));
    assert!(hear(&deep).is_err());
    let deep = format!("{{\"error\":{}", "[".repeat(1_000_000));
    assert!(hear(&deep).is_err());
    let large = format!("{{\"state\":\"{}\"}}", "x".repeat(LARGEST_STATE));
    assert!(hear(&large).expect_err("too large").contains("at most 1048576"));
}

#[test]
fn notes_are_cut() {
    let order = hear(&format!("{{\"error\":\"{}\"}}", "\u{00fc}".repeat(600))).expect("an answer");
    assert_eq!(order.error.expect("a note").chars().count(), LONGEST_NOTE);
}

/// The state comes back word for word, on one line, and each seat has its own.
#[test]
fn a_state_is_kept_word_for_word() {
    let game = match_for_two();
    let (mut talk, state) = (Talk::new(&game), game.start());
    let (first, second) = (Seat::new(0), Seat::new(1));
    let heard = talk.hear(&game, first, b"{\"state\":{\"z\":1,\n\"a\":1.0e2}}");
    assert!(matches!(heard, Heard::Answer(_)));
    let mut asked = |seat| {
        let mut question = Vec::new();
        talk.ask(&game, seat, &game.view(&state, seat), &mut question);
        String::from_utf8(question).expect("text")
    };
    assert!(asked(first).ends_with(r#","state":{"z":1, "a":1.0e2}}}"#));
    assert!(!asked(first).contains('\n'));
    assert!(!asked(second).contains("\"state\""));
}

#[test]
fn the_picture_hides_what_the_team_does_not_see() {
    let game = match_for_two();
    let state = game.start();
    let text = |picture: Picture| picture.plain();
    let (all, own) = (text(game.picture(&state, None)), text(game.picture(&state, Some(Seat::new(0)))));
    assert!(all.contains("@1") && all.contains("@2") && all.contains('P'));
    assert!(own.contains("@1") && !own.contains("@2"));
    println!("{all}\n{own}");
}

#[test]
fn the_scene_is_json_with_everything_in_it() {
    let game = match_for_two();
    let scene = serde_json::to_value(game.scene(&game.start())).unwrap();
    assert_eq!(scene["adventurers"].as_array().map(Vec::len), Some(6));
    assert_eq!(scene["sight"].as_array().map(Vec::len), Some(2));
    assert_eq!(scene["phase"], "shop");
}

#[test]
fn a_bot_may_say_that_it_failed() {
    let long = "x".repeat(1_000);
    assert_eq!(
        hear(r#"{"failed":"play threw RangeError: no"}"#),
        Err("play threw RangeError: no".to_owned())
    );
    assert_eq!(hear(&format!("{{\"failed\":\"{long}\"}}")), Err("x".repeat(LONGEST_NOTE)));
}

/// A reported failure is recorded as such, together with the order that came with it.
#[test]
fn an_error_that_a_bot_reports_is_heard() {
    let game = match_for_two();
    let hear = |line: &str| Talk::new(&game).hear(&game, Seat::new(0), line.as_bytes());
    let threw = hear(r#"{"failed":"play threw RangeError: no"}"#);
    assert_eq!(threw, Heard::Failed { why: "play threw RangeError: no".to_owned(), order: None });
    let Heard::Failed { why, order: Some(order) } = hear(r#"{"actions":[],"error":"no path"}"#) else {
        panic!("it is heard")
    };
    assert_eq!((why.as_str(), order.error.as_deref()), ("it reports an error: no path", Some("no path")));
    assert!(matches!(hear(r#"{"actions":[]}"#), Heard::Answer(_)));
}

/// Answers come in the order of the questions: a late answer to an abandoned question answers no other.
#[test]
fn an_answer_that_comes_too_late_is_dropped() {
    let game = match_for_two();
    let (mut talk, state) = (Talk::new(&game), game.start());
    let (first, second) = (Seat::new(0), Seat::new(1));
    let ask = |talk: &mut Talk, seat| talk.ask(&game, seat, &game.view(&state, seat), &mut Vec::new());
    let late = Answer::Missing(Absence::TimedOut);
    ask(&mut talk, first);
    talk.missed(&game, first, &late);
    ask(&mut talk, first);
    assert!(matches!(talk.hear(&game, first, b"{\"state\":1}"), Heard::Ignore(Some(_))));
    assert_eq!(talk.state(first), None);
    // A host's late report that it gave up is not output of the bot.
    talk.missed(&game, first, &late);
    ask(&mut talk, first);
    assert_eq!(talk.hear(&game, first, br#"{"failed":"too slow"}"#), Heard::Ignore(None));
    assert!(matches!(talk.hear(&game, first, b"{\"state\":2}"), Heard::Answer(_)));
    assert_eq!(talk.state(first), Some("2"));
    // An answer that came after the limit is no longer owed. Nor is that of a seat that is gone.
    talk.missed(&game, first, &late);
    ask(&mut talk, second);
    talk.missed(&game, second, &Answer::Missing(Absence::Gone));
    for seat in [first, second] {
        ask(&mut talk, seat);
        assert!(matches!(talk.hear(&game, seat, b"{}"), Heard::Answer(_)), "seat {seat}");
    }
}
