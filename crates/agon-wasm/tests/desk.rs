//! The desk gives what a view gives, refuses in sentences what it cannot open, and keeps no more open than it says.

mod common;

use agon_replay::Replay;
use agon_view::{Privacy, View};
use agon_wasm::{Desk, MOST_OPEN, Refusal};
use common::{played, texts};
use serde_json::Value;

fn id(opened: &[u8]) -> u32 {
    let value: Value = serde_json::from_slice(opened).expect("JSON");
    value["id"].as_u64().expect("an id") as u32
}

#[test]
fn lines_are_those_of_the_view_in_any_order() {
    for game in agon_games::ALL {
        let bytes = played(game.info().name, 3);
        let mut view = View::open(Replay::read(&bytes).unwrap(), Privacy::Private).unwrap();
        let mut desk = Desk::default();
        let id = id(&desk.open(&bytes, Privacy::Private).unwrap());
        let steps = view.steps();
        for step in [steps, 1, steps / 2, steps / 2 + 1, steps - 1] {
            let expected = serde_json::to_string(&view.line(step)).unwrap() + "\n";
            assert_eq!(String::from_utf8(desk.lines(id, step, step).unwrap()).unwrap(), expected);
        }
        for (from, to) in [(0, 0), (steps + 1, u32::MAX), (9, 2), (u32::MAX, u32::MAX)] {
            assert_eq!(desk.lines(id, from, to).unwrap(), b"", "{from} to {to}");
        }
        let first = view.line(1).unwrap().answers[0].seat;
        assert!(desk.message(id, 0, first.into()).unwrap().is_some(), "who decided was asked");
        assert!(desk.message(id, 0, 200).is_err() && desk.message(id, 0, 0).is_err());
    }
}

#[test]
fn what_cannot_be_opened_is_refused_in_a_sentence() {
    let good = played("cultist-wars", 1);
    let mut desk = Desk::default();
    let mut refused = |bytes: &[u8]| desk.open(bytes, Privacy::Private).expect_err("it is no replay");
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
    // What says that it unpacks to more than there may be is refused before anything is unpacked.
    let huge = [&b"AGONRPL1H\x01"[..], &[0xff, 0xff, 0xff, 0xff, 0x0f, 4], &[0; 12]].concat();
    assert!(refused(&huge).error.contains("impossible size"));
}

#[test]
fn one_that_was_cut_off_opens_as_far_as_it_goes() {
    let good = played("deerhunt", 1);
    let mut desk = Desk::default();
    let opened = desk.open(&good[..good.len() - 40], Privacy::Private).unwrap();
    let value: Value = serde_json::from_slice(&opened).unwrap();
    assert_eq!(value["head"]["end"]["end"], "cut");
}

#[test]
fn of_too_many_the_first_is_put_away_and_says_so() {
    let bytes = played("cultist-wars", 1);
    let mut desk = Desk::default();
    let ids: Vec<u32> = (0..=MOST_OPEN).map(|_| id(&desk.open(&bytes, Privacy::Private).unwrap())).collect();
    let gone =
        Refusal { error: "this replay was put away; open it again".to_owned(), foreign: false, gone: true };
    assert_eq!(desk.lines(ids[0], 1, 1), Err(gone.clone()));
    assert_eq!(desk.message(ids[0], 0, 1), Err(gone.clone()));
    assert!(desk.lines(ids[1], 1, 1).is_ok());
    desk.close(ids[1]);
    desk.close(ids[1]);
    assert_eq!(desk.lines(ids[1], 1, 1), Err(gone));
}

#[test]
fn a_record_of_no_original_is_foreign() {
    let refused = Desk::default().import(b"{}").expect_err("no record");
    assert!(refused.foreign, "{refused:?}");
}

#[test]
fn random_matches_are_played_for_whoever_measures() {
    let desk = Desk::default();
    for game in agon_games::ALL {
        assert!(desk.playout(game.info().name, 100).unwrap() >= 100);
    }
    assert!(desk.playout("chess", 1).unwrap_err().error.contains("chess"));
}

#[test]
fn a_redacted_view_says_less() {
    let bytes = played("ostibot", 2);
    let mut desk = Desk::default();
    let of = |desk: &mut Desk, privacy| texts(desk, &bytes, privacy).unwrap();
    let (own, public) = (of(&mut desk, Privacy::Private), of(&mut desk, Privacy::Redacted));
    let names = |head: &[u8]| String::from_utf8_lossy(head).contains("\"bot\":\"builtin\"");
    assert!(names(&own[0]) && !names(&public[0]));
}
