//! The reader of recorded matches: it knows its records, finds what was altered, and survives damage.
//! (`golden.rs` tests that the records of the original are played identically.)

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{Answer, Chance as _, Dialect as _, Game, Ignored, Seeded, Setup};
use cultist_wars::CultistWars;

/// A conversation in the format of the records, from a short match of our own that ends with an invalid line.
fn conversation() -> String {
    let game = CultistWars::set_up(&Setup { seats: 2, ..Setup::default() }).unwrap();
    let mut dialect = <CultistWars as Game>::Dialect::new(&game);
    let (mut state, mut chance) = (game.start(), Seeded::stream(1, "conform"));
    let mut text = String::new();
    for turn in 0..12 {
        let seat = state.mover();
        let mut sent = Vec::new();
        dialect.ask(&game, seat, &game.view(&state, seat), &mut sent);
        text +=
            &format!("### turn {turn} player {} limit_ms {}\n", seat.index(), game.limit_ms(&state, seat));
        String::from_utf8(sent).unwrap().lines().for_each(|line| text += &format!("> {line}\n"));
        let order = game.random_order(&state, seat, &mut chance);
        let answer = match turn {
            11 => {
                text += "< 1 MOVE 13 0\n";
                Answer::Malformed { why: String::new(), think_ms: 0 }
            }
            _ => {
                text += &format!("< {order}\n");
                Answer::Given { order, think_ms: 0 }
            }
        };
        game.play(&mut state, &mut (), &[(seat, answer)], &mut chance, &mut Ignored);
    }
    text + "### end invalid scores 0 -1\n"
}

fn compare(record: &[u8]) -> (Recognised, ConformReport) {
    let mut report = ConformReport::default();
    (CultistWars::conform(record, &mut report), report)
}

#[test]
fn an_altered_conversation_differs() {
    let text = conversation();
    let (recognised, report) = compare(text.as_bytes());
    assert_eq!(recognised, Recognised::Record);
    assert_eq!((report.kinds["conversations"].compared, report.differ()), (1, 0), "{:?}", report.differences);
    for (from, to) in [
        ("limit_ms 1000\n> 1\n", "limit_ms 50\n> 1\n"),
        ("> 1 1 10 12", "> 1 1 9 12"),
        ("scores 0 -1", "scores 1 -1"),
        ("end invalid", "end timeout"),
        ("turn 5 player 1", "turn 5 player 0"),
    ] {
        let at = text.rfind(from).unwrap_or_else(|| panic!("{from:?} is not in\n{text}"));
        let altered = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        let (recognised, report) = compare(altered.as_bytes());
        assert_eq!((recognised, report.differ()), (Recognised::Record, 1), "{from:?} as {to:?}");
    }
}

#[test]
fn an_altered_line_of_fire_differs() {
    let (recognised, report) = compare(b"[2,1,5,3,[[3,2],[4,2]]]\n[5,3,2,1,[[4,2],[3,2]]]\n");
    assert_eq!((recognised, report.differ()), (Recognised::Record, 0));
    let (recognised, report) = compare(b"[2,1,5,3,[[3,2],[4,2]]]\n[5,3,2,1,[[4,3],[3,2]]]\n");
    assert_eq!((recognised, report.differ()), (Recognised::Record, 1));
    assert_eq!(report.differences[0].place, "line 2, 5,3 to 2,1");
    assert!(matches!(compare(b"[2,1,5,3,[[3,2],[4,2]]]\n[13,1,2,1,[]]").0, Recognised::Damaged(_)));
}

#[test]
fn damage_is_told_and_other_files_are_foreign() {
    let text = conversation();
    let cut = &text[..text.len() - 40];
    assert!(matches!(compare(cut.as_bytes()).0, Recognised::Damaged(_)));
    for cut in [
        r#"{"seed":0,"style":"random","rows":["...x."],"units":[],"turns":[{"t":0"#,
        r#"{"seed":0,"rows":["...x."],"n":[[1,"#,
        r#"{"seed":0,"prefix":[],"player":0,"units":[],"cases":[["WAIT","#,
    ] {
        assert!(matches!(compare(cut.as_bytes()).0, Recognised::Damaged(_)), "{cut}");
    }
    for foreign in [&b""[..], b"{}", b"[1,2]", b"\xff\xfe", b"{\"t\":\"init\"}", b"# Title\n", b"seed: 1"] {
        assert_eq!(compare(foreign).0, Recognised::Foreign, "{foreign:?}");
    }
}

#[test]
fn no_record_can_break_the_reader() {
    let mut chance = Seeded::stream(1, "damage");
    let board = r#"{"seed":-9,"rows":["............."],"n":[[1,2]]}"#;
    let answers =
        r#"{"seed":1,"prefix":["WAIT","0 JUMP","WAIT"],"player":1,"units":[],"cases":[["WAIT","WAIT"]]}"#;
    let records = [conversation(), board.to_owned(), answers.to_owned(), "[0,0,6,0,[[1,0]]]".to_owned()];
    for _ in 0..3_000 {
        let mut record = records[chance.below(4) as usize].clone().into_bytes();
        for _ in 0..=chance.below(3) {
            let at = chance.below(record.len() as u32) as usize;
            record[at] = b"0123456789- >x.[]\n"[chance.below(18) as usize];
        }
        compare(&record);
    }
}
