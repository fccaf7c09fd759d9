//! The engines return what a view returns, refuse in sentences what they cannot open, and keep no more open than they say.

use crate::common::{ask, engines, lines, message, open, played, texts};
use agon_replay::Replay;
use agon_view::{AskRefusal, Engines, LONGEST_ASK, Privacy, View};
use agon_wasm::{MOST_OPEN, playout};
use serde_json::{Value, json};

/// What is answered in JSON.
fn told(engines: &Engines, what: Value) -> Value {
    serde_json::from_slice(&ask(engines, what, b"").unwrap()).expect("JSON")
}

#[test]
fn lines_are_those_of_the_view_in_any_order() {
    for game in agon_games::all() {
        let bytes = played(game.info().name, 3);
        let mut view = View::open(Replay::read(&bytes).unwrap(), Privacy::Private).unwrap();
        let engines = engines();
        let (id, _) = open(&engines, &bytes, true).unwrap();
        let steps = view.steps();
        for step in [steps, 1, steps / 2, steps / 2 + 1, steps - 1] {
            let expected = serde_json::to_string(&view.line(step)).unwrap() + "\n";
            assert_eq!(String::from_utf8(lines(&engines, id, step, step).unwrap()).unwrap(), expected);
        }
        for (from, to) in [(0, 0), (steps + 1, u32::MAX), (9, 2), (u32::MAX, u32::MAX)] {
            assert_eq!(lines(&engines, id, from, to).unwrap(), b"", "{from} to {to}");
        }
        let first = view.line(1).unwrap().answers[0].seat;
        assert!(!message(&engines, id, 1, first).unwrap().is_empty(), "who decided was asked");
        for (step, seat) in [(1, 200), (1, 0), (0, first)] {
            assert!(message(&engines, id, step, seat).is_err());
        }
    }
}

#[test]
fn an_order_that_is_wished_for_is_read_as_a_bot_writes_it() {
    for game in agon_games::all() {
        let name = game.info().name;
        let bytes = played(name, 3);
        let mut view = View::open(Replay::read(&bytes).unwrap(), Privacy::Private).unwrap();
        let engines = engines();
        let (id, _) = open(&engines, &bytes, true).unwrap();
        let wish = |step: u32, seat: u8, text: &str| {
            ask(&engines, json!({ "wish": { "id": id, "step": step, "seat": seat, "text": text } }), b"")
        };
        let refine = |step: u32, pairs: u32| {
            told(&engines, json!({ "refine": { "id": id, "step": step, "pairs": pairs, "all": false } }))
        };
        // Near the end, where futures are short; an order that the rules accepted unchanged.
        let mut steps = (1..=view.steps()).rev().map(|step| view.line(step).unwrap());
        let line = steps.find(|line| line.rejected.is_empty() && line.answers[0].text.is_some()).unwrap();
        let (step, seat) = (line.step, line.answers[0].seat);
        let written = json!({ "written": { "id": id, "step": step, "seat": seat } });
        let text = String::from_utf8(ask(&engines, written, b"").unwrap()).unwrap();
        assert_eq!(wish(step, seat, &text).unwrap(), b"");
        let outlook = refine(step, 6);
        // It is the order of the match, so it changes nothing, down to the last future.
        assert_eq!(outlook["wish"]["gain"]["mean"], 0.0, "{name}: {outlook}");
        assert_eq!(outlook["wish"]["gain"]["count"], 3, "{name}");
        let sum: f64 =
            outlook["chances"].as_array().unwrap().iter().map(|it| it["mean"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{name}: {outlook}");
        // What was examined before is kept; nothing is known of another step yet.
        let outlook = refine(1, 0);
        assert_eq!(
            (&outlook["pairs"], &outlook["orders"][0]["gain"]["count"]),
            (&6.into(), &0.into()),
            "{name}"
        );
        for (step, seat, text) in [
            (step, seat, "no order at all"),
            (step, 0, ""),
            (step, 77, ""),
            (0, seat, ""),
            (u32::MAX, seat, ""),
        ] {
            let refused = wish(step, seat, text).expect_err("it is no order there");
            assert!(!refused.error.is_empty() && !refused.gone, "{name}: {refused:?}");
        }
    }
}

#[test]
fn what_cannot_be_opened_is_refused_in_a_sentence() {
    let good = played("cultist-wars", 1);
    let engines = engines();
    let refused = |bytes: &[u8]| open(&engines, bytes, true).expect_err("it is no replay");
    let foreign = refused(b"a letter, not a replay");
    assert!(foreign.foreign && foreign.error.contains("not a replay"), "{foreign:?}");
    assert!(refused(b"").foreign);
    let newer = refused(&[b"AGONRPL9", &good[8..]].concat());
    assert!(!newer.foreign && newer.error.contains("newer format"), "{newer:?}");
    for place in [8, good.len() / 2, good.len() - 2] {
        let mut damaged = good.clone();
        damaged[place] ^= 0x40;
        assert!(refused(&damaged).error.contains("damaged"), "at {place}");
    }
    // A file that claims to unpack to more than is allowed is refused before anything is unpacked.
    let huge = [&b"AGONRPL1H\x01"[..], &[0xff, 0xff, 0xff, 0xff, 0x0f, 4], &[0; 12]].concat();
    assert!(refused(&huge).error.contains("impossible size"));
}

#[test]
fn one_that_was_cut_off_opens_as_far_as_it_goes() {
    let good = played("deerhunt", 1);
    let engines = engines();
    let (_, head) = open(&engines, &good[..good.len() - 40], true).unwrap();
    let value: Value = serde_json::from_slice(&[b"{", &head[..]].concat()).unwrap();
    assert_eq!(value["head"]["end"]["end"], "cut");
}

#[test]
fn of_too_many_the_first_is_put_away_and_says_so() {
    let bytes = played("cultist-wars", 1);
    let engines = engines();
    let ids: Vec<u32> = (0..=MOST_OPEN).map(|_| open(&engines, &bytes, true).unwrap().0).collect();
    let gone = AskRefusal {
        error: "this replay was put away; open it again".to_owned(),
        foreign: false,
        gone: true,
    };
    assert_eq!(lines(&engines, ids[0], 1, 1), Err(gone.clone()));
    assert_eq!(message(&engines, ids[0], 1, 1), Err(gone.clone()));
    assert!(lines(&engines, ids[1], 1, 1).is_ok());
    for _ in 0..2 {
        assert_eq!(ask(&engines, json!({ "close": { "id": ids[1] } }), b"").unwrap(), b"");
    }
    assert_eq!(lines(&engines, ids[1], 1, 1), Err(gone));
}

#[test]
fn a_record_of_no_original_is_foreign() {
    let refused = open(&engines(), b"{}", true).expect_err("no record");
    assert!(refused.foreign, "{refused:?}");
}

#[test]
fn random_matches_are_played_for_whoever_measures() {
    for game in agon_games::all() {
        assert!(playout(game.info().name, 100).unwrap() >= 100);
    }
    assert!(playout("chess", 1).unwrap_err().contains("chess"));
}

#[test]
fn a_redacted_view_says_less() {
    let bytes = played("ostibot", 2);
    let engines = engines();
    let of = |private| texts(&engines, &bytes, private).unwrap();
    let (own, public) = (of(true), of(false));
    let names = |head: &[u8]| String::from_utf8_lossy(head).contains("\"bot\":\"builtin\"");
    assert!(names(&own[0]) && !names(&public[0]));
}

/// Plays a match by hand to its end: seat 1 takes the first choice it is offered, the others are bots.
fn by_hand(engines: &Engines, game: &str) -> Vec<u8> {
    let info = agon_games::find(game).unwrap().info();
    let mut seats = vec![json!({ "builtin": null })];
    seats.resize(usize::from(info.usual_seats()), json!({ "builtin": "random" }));
    let wanted = json!({ "game": game, "seed": "7", "seats": seats });
    let begun = told(engines, json!({ "begin": { "wanted": wanted } }));
    let (id, mut turn) = (begun["id"].clone(), begun["turn"].clone());
    let mut asked = 0;
    while turn["end"].is_null() {
        assert!(asked < 5_000, "{game} does not end");
        turn = if turn["choosing"] == json!([1]) {
            let nothing = told(engines, json!({ "prospect": { "id": id, "seat": 1, "chosen": [] } }));
            let all = nothing["choices"].as_array().unwrap();
            let chosen: Vec<Value> = all.get(asked * 7 % all.len().max(1)).cloned().into_iter().collect();
            let prospect = told(engines, json!({ "prospect": { "id": id, "seat": 1, "chosen": chosen } }));
            assert_eq!(prospect["refused"], json!([]), "{game}: {chosen:?}");
            if asked == 3 {
                let hint = told(engines, json!({ "hint": { "id": id, "seat": 1, "bot": "random" } }));
                assert!(hint.is_array());
                let before = turn.clone();
                told(engines, json!({ "answer": { "id": id, "seat": 1, "chosen": chosen } }));
                let again = told(engines, json!({ "back": { "id": id } }));
                assert_eq!(again["steps"], before["steps"], "{game}");
            }
            told(engines, json!({ "answer": { "id": id, "seat": 1, "chosen": chosen } }))
        } else {
            told(engines, json!({ "go": { "id": id, "steps": 0 } }))
        };
        asked += 1;
    }
    ask(engines, json!({ "replay": { "id": id } }), b"").unwrap()
}

#[test]
fn a_match_by_hand_is_an_ordinary_replay() {
    for game in agon_games::all() {
        let engines = engines();
        let replay = by_hand(&engines, game.info().name);
        let opened = ask(&engines, json!({ "open": { "private": true } }), &replay).unwrap();
        let opened: Value = serde_json::from_slice(&opened).unwrap();
        assert_eq!(opened["head"]["end"]["end"], "whole", "{}", game.info().name);
        assert_eq!(opened["head"]["seats"][0]["bot"], "human");
        // It goes on from its middle with other players.
        let seats = opened["head"]["seats"].as_array().unwrap().len();
        let mut who = vec![json!({ "builtin": "random" }); seats];
        who[seats - 1] = json!({ "builtin": null });
        let resume = json!({ "resume": { "id": opened["id"], "steps": 5, "seats": who } });
        let begun = told(&engines, resume);
        assert!(begun["turn"]["lines"].as_array().unwrap().len() >= 5);
    }
}

#[test]
fn wrong_questions_of_a_match_by_hand_are_refused_in_a_sentence() {
    let engines = engines();
    let refused = |ask: &str| engines.hear(ask.as_bytes()).expect_err(ask);
    assert!(refused("{").error.contains("EOF"));
    assert!(refused(r#"{"fly":{"id":1}}"#).error.contains("fly"));
    assert!(refused(r#""sit""#).error.contains("only a seat"));
    assert!(refused(&" ".repeat(LONGEST_ASK + 1)).error.contains("longer than"));
    let begin = |game: &str, seats: &str| {
        format!(r#"{{"begin":{{"wanted":{{"game":"{game}","seed":"1","seats":[{seats}]}}}}}}"#)
    };
    assert!(refused(&begin("chess", "{}")).error.contains("chess"));
    assert!(refused(&begin("terminal", "{}")).error.contains("2 bots"));
    assert!(refused(&begin("terminal", r#"{},{"builtin":"nobody"}"#)).error.contains("nobody"));
    assert!(refused(r#"{"go":{"id":9,"steps":0}}"#).gone);
    let play = engines.hear(begin("terminal", r#"{"builtin":null},{"builtin":"rush"}"#).as_bytes());
    let begun: Value = serde_json::from_slice(&play.unwrap().unwrap()).unwrap();
    let id = &begun["id"];
    let refused = |ask: String| engines.hear(ask.as_bytes()).expect_err(&ask).error;
    for (seat, chosen, says) in [
        (2, "[]", "a bot plays seat 2"),
        (9, "[]", "no seat 9"),
        (0, "[]", "no match has a seat 0"),
        (1, "{}", "a list"),
        (1, "[1]", "not a choice of Terminal"),
        (1, r#"[{"do":"place","kind":"castle","x":1,"y":1}]"#, "castle"),
    ] {
        let why = refused(format!(r#"{{"answer":{{"id":{id},"seat":{seat},"chosen":{chosen}}}}}"#));
        assert!(why.contains(says), "{why}");
    }
}
