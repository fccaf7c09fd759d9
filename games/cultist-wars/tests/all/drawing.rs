//! The picture for a terminal, the scene and the events for a viewer.

use agon_game::session::RunningMatch;
use agon_game::{Game as _, MapChoice, PackedAnswer, RulesChoice, Seat, Session, Setup};
use cultist_wars::CultistWars;
use serde_json::json;

const POSITION: &str = "\
.............
.............
......x......
0.2....3.9..1
.............
.............
.......5.....
unit 2 player 1 hp 4
unit 3 player 2
unit 9 player 2 hp 1
unit 4 dead neutral
";

fn table() -> RunningMatch<CultistWars> {
    let map = MapChoice::File("position".to_owned(), POSITION.as_bytes().to_vec());
    RunningMatch::new(
        CultistWars::set_up(&Setup { map, rules: RulesChoice::default(), seats: 2, seed: 0 }).unwrap(),
    )
}

fn answer(table: &mut RunningMatch<CultistWars>, seat: u8, line: &str) {
    let seat = Seat::new(seat);
    let answer = match table.hear(seat, line.as_bytes()) {
        agon_game::Heard::Answer(order) => PackedAnswer::Given { order, think_ms: 0 },
        agon_game::Heard::Malformed(why) => PackedAnswer::Malformed { why, think_ms: 0 },
        other => panic!("{other:?}"),
    };
    Session::play(table, &[(seat, answer)]).unwrap();
}

#[test]
fn the_picture_fits_a_terminal() {
    let plain = table().picture(None).plain();
    let expected = concat!(
        "     0  1  2  3  4  5  6  7  8  9 10 11 12\n",
        " 0   .  .  .  .  .  .  .  .  .  .  .  .  .    player 1, units 2\n",
        " 1   .  .  .  .  .  .  .  .  .  .  .  .  .     L1:10 2:4\n",
        " 2   .  .  .  .  .  . ##  .  .  .  .  .  .    player 2, units 3\n",
        " 3  L1  .  2  .  .  .  .  3  .  9  .  . L2     L2:10 3:10 9:1\n",
        " 4   .  .  .  .  .  .  .  .  .  .  .  .  .    neutral, units 1\n",
        " 5   .  .  .  .  .  .  .  .  .  .  .  .  .\n",
        " 6   .  .  .  .  .  .  .  5  .  .  .  .  .\n",
    );
    assert_eq!(plain, expected);
    assert!(plain.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn a_scene_holds_all_that_a_viewer_draws() {
    let scene = table().scene();
    assert_eq!(scene["rows"][2], "......x......");
    assert_eq!((&scene["turn"], &scene["mover"], &scene["width"]), (&json!(0), &json!(1), &json!(13)));
    let units = scene["units"].as_array().unwrap();
    assert_eq!(units[0], json!({"id": 0, "kind": "leader", "player": 1, "hp": 10, "tile": [0, 3]}));
    assert_eq!(units[2], json!({"id": 2, "kind": "cultist", "player": 1, "hp": 4, "tile": [2, 3]}));
    assert_eq!(units[4], json!({"id": 4, "kind": "cultist", "player": null, "hp": 0, "tile": null}));
    assert_eq!(units.len(), 7);
}

#[test]
fn events_tell_what_happened() {
    let mut table = table();
    table.keep_events();
    answer(&mut table, 0, "2 SHOOT 3");
    let line = [[3, 3], [4, 3], [5, 3], [6, 3]];
    assert_eq!(
        table.events(),
        [json!({"event": "shot", "unit": 2, "target": 3, "line": line, "hit": 3, "at": [7, 3], "damage": 2})]
    );
    answer(&mut table, 1, "WAIT");
    assert_eq!(table.events(), [json!({"event": "waited", "player": 2})]);
    answer(&mut table, 0, "2 SHOOT 9");
    assert_eq!(table.events(), [json!({"event": "moved", "unit": 2, "from": [2, 3], "to": [3, 3]})]);
    answer(&mut table, 1, "1 SHOOT 2");
    assert_eq!(
        table.events(),
        [json!({"event": "invalid", "player": 2, "why": "unit 1 is your leader; leaders cannot shoot"})]
    );
    assert_eq!(table.outcome().unwrap().reason, "player 2 gave an action that is not allowed");
}
