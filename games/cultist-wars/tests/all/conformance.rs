//! The contract of every game, and a rulebook in which every rule can be found.

use agon_game::{Game as _, MapChoice, RulesChoice, Setup};
use agon_testkit::{conformance, rulebook};
use cultist_wars::{CultistWars, INFO};

fn setup(sets: &[(&str, &str)], map: MapChoice) -> Setup {
    let sets = sets.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    Setup { rules: RulesChoice { sets, ..RulesChoice::default() }, map, seats: 2, seed: 1 }
}

const POSITION: &[u8] = b"\
# A leaderless side, a converted and a dead cultist, in the middle of a match.
....x...x....
0.2..........
......3......
....xxxxx....
.........8.9.
.....a.......
.............
unit 2 player 1 hp 4
unit 3 player 1
unit 8 player 2
unit 9 player 2 hp 1
unit 1 dead player 2
unit 4 dead neutral
turn 31
generator 77
";

#[test]
fn the_contract_is_kept() {
    let checked = conformance::check::<CultistWars>(
        &[
            setup(&[], MapChoice::Default),
            setup(
                &[("number_of_turns", "20"), ("shooting_range", "18"), ("damage", "3")],
                MapChoice::Generated,
            ),
            setup(&[("number_of_units", "2"), ("obstacle_chance", "0")], MapChoice::Default),
            setup(&[], MapChoice::File("position".to_owned(), POSITION.to_vec())),
        ],
        10_000,
    );
    println!("{checked} positions");
}

#[test]
fn every_rule_can_be_found() {
    rulebook::check(&INFO);
}

#[test]
fn a_position_stays_the_same_through_its_recipe() {
    let game =
        CultistWars::set_up(&setup(&[], MapChoice::File("position".to_owned(), POSITION.to_vec()))).unwrap();
    let start = game.start();
    assert_eq!((start.turns_played(), start.generator(), start.hp(2)), (31, 77, 4));
    assert_eq!(game.recipe().map.lines().filter(|line| line.starts_with("unit")).count(), 6);
    let again = CultistWars::set_up(&game.recipe().setup()).unwrap();
    assert_eq!(again.start(), start);
}

#[test]
fn impossible_setups_are_refused_in_plain_words() {
    let refused = |sets: &[(&str, &str)], map: &str| {
        let map = match map {
            "" => MapChoice::Default,
            text => MapChoice::File("my.map".to_owned(), text.as_bytes().to_vec()),
        };
        CultistWars::set_up(&setup(sets, map)).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let board =
        |row: &str, more: &str| format!("0...........1\n{row}\n{}{more}", ".............\n".repeat(5));
    let floor = ".............";
    for (sets, map, message) in [
        (&[("number_of_turn", "9")][..], String::new(), "did you mean `number_of_turns`?"),
        (&[("number_of_turns", "0")], String::new(), "`number_of_turns` must be 1 to 10000"),
        (&[("health_points", "256")], String::new(), "256"),
        (&[("obstacle_chance", "1.0")], String::new(), "lower `obstacle_chance`"),
        (&[], "0..".to_owned(), "my.map, line 1: a row has 13 characters, not 3"),
        (&[], board("......?......", ""), "my.map, line 2: `?` in column 6 is not a tile"),
        (&[], board("......2.2....", ""), "unit 2 stands in two places"),
        (&[], board(floor, "unit 2 hp 4"), "unit 2 is described, but not drawn"),
        (&[], board(floor, "unit 14 dead"), "an id from 0 to 13"),
        (&[], board(floor, "unit 2 hp 0"), "after `hp` comes a number from 1 to 255"),
        (&[], board(floor, "unit 0 player 2"), "unit 0 is the leader of player 1 for ever"),
        (&[], board(floor, "turn 150"), "line 8: one number from 0 to 149 is expected"),
        (&[], board(floor, "unit 2 dead\nunit 2 dead"), "unit 2 is described twice"),
        (&[], board(floor, "banana"), "`banana` is none of"),
        (&[], "0............\n".to_owned() + &format!("{floor}\n").repeat(6), "player 2 has no unit"),
        (&[], format!("{floor}\n"), "a board has 7 rows, this one 1"),
    ] {
        let error = refused(sets, &map);
        assert!(error.contains(message), "{error:?} does not say {message:?}");
    }
    let named =
        CultistWars::set_up(&setup(&[], MapChoice::Named("arena".to_owned()))).err().expect("no such map");
    assert!(named.to_string().contains("cultist-wars has no map `arena`"), "{named}");
    let crowd = CultistWars::set_up(&Setup { seats: 3, ..setup(&[], MapChoice::Default) }).err().unwrap();
    assert_eq!(crowd.to_string(), "Cultist Wars is played by 2 bots, not by 3");
}
