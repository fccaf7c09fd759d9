//! The protocol, byte by byte, where a spec file cannot show it.

use agon_game::{Dialect, Facts, Game as _, Heard, Seat, Setup};
use cultist_wars::CultistWars;
use cultist_wars::orders::Order;

type Lines = <CultistWars as agon_game::Game>::Dialect;

fn hear(line: &[u8]) -> Heard<Order> {
    let game = CultistWars::set_up(&Setup { seats: 2, ..Setup::default() }).unwrap();
    Lines::new(&game).hear(&game, Seat::new(0), line)
}

fn why(line: &[u8]) -> String {
    match hear(line) {
        Heard::Malformed(why) => why,
        other => panic!("{:?} is heard as {other:?}", String::from_utf8_lossy(line)),
    }
}

/// CW-LINE-1.
#[test]
fn everything_up_to_the_space_is_cut_off_both_ends() {
    for line in [&b"WAIT"[..], b"WAIT\r", b"  \tWAIT \t\r\n", b"\x00\x1fWAIT\x0b"] {
        assert_eq!(hear(line), Heard::Answer(Order::Wait), "{line:?}");
    }
    for line in ["\u{a0}WAIT", "WAIT\u{a0}", "WAIT\u{7f}", "\u{feff}WAIT"] {
        why(line.as_bytes());
    }
}

#[test]
fn bytes_that_are_no_text_spoil_only_their_word() {
    let moved = Order::Move { unit: 0, x: 1, y: 3 };
    assert_eq!(hear(b"0 MOVE 1 3 \xff\xfe"), Heard::Answer(moved));
    why(b"0 MOVE 1\xff 3");
}

#[test]
fn a_bots_author_is_told_what_is_wrong() {
    for (line, message) in [
        ("", "the line is empty; WAIT is how to do nothing"),
        ("wait", "`wait` is not an action; a line is `WAIT`, `ID MOVE X Y`"),
        ("0 MOVE 3", "MOVE needs a row y;"),
        ("0 SHOOT", "SHOOT needs a target;"),
        ("x SHOOT 3", "`x` is not a whole number for a unit"),
        ("0 MOVE 3.5 2", "`3.5` is not a whole number for a column x"),
        ("0  MOVE 3 2", "exactly one space stands between words"),
        ("0 MOVE  3 2", "`` is not a whole number for a column x"),
        ("0 fly", "`0 fly` is not an action"),
        ("r\u{1b}[31med", "`r\\u{1b}[31med` is not an action"),
    ] {
        assert!(why(line.as_bytes()).contains(message), "{line:?}: {}", why(line.as_bytes()));
    }
    let long = why(&[b'y'; 10_000]);
    assert!(long.len() < 200, "{long}");
}

#[test]
fn nothing_is_said_at_the_end() {
    let game = CultistWars::set_up(&Setup { seats: 2, ..Setup::default() }).unwrap();
    let outcome = agon_game::Outcome::by_score(vec![1.0, 2.0], "all turns are played");
    let mut sent = Vec::new();
    Lines::new(&game).end(&game, Seat::new(0), &outcome, &Facts::default(), &mut sent);
    assert!(sent.is_empty());
}
