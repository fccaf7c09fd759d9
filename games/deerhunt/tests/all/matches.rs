//! Whole matches: they never change, both sizes of state play alike, maps and bots are sound.

use agon_game::session::{RunningMatch, random_answers};
use agon_game::{Answer, AnyGame as _, Game as _, MapChoice, RulesChoice, Seat, Seeded, Session as _, Setup};
use deerhunt::state::{At, Player};
use deerhunt::{Deerhunt, DeerhuntOf, FACE, LARGE};

fn setup(preset: &str, seed: i64) -> Setup {
    let rules = RulesChoice { preset: preset.to_owned(), ..RulesChoice::default() };
    Setup { rules, map: MapChoice::Default, seats: 2, seed }
}

/// The hash of the last state of a random match.
fn last_hash<const BLOCKS: usize>(setup: &Setup) -> u64 {
    let mut table = RunningMatch::new(DeerhuntOf::<BLOCKS>::set_up(setup).expect("a preset sets up"));
    let mut chance = Seeded::stream(setup.seed, "hash table");
    let mut answers = Vec::new();
    while !table.deciding().is_empty() {
        random_answers(table.game(), table.state(), &mut chance, &mut answers);
        table.play_typed(&answers);
    }
    table.hash()
}

/// A change to these numbers is a change to the rules, the random policy or the generated maps: raise `rules_version` then.
#[test]
fn recorded_seeds_end_in_the_same_states() {
    let found: Vec<String> = ["document", "neo2019", "bc2021"]
        .into_iter()
        .flat_map(|preset| (1..=4).map(move |seed| (preset, seed)))
        .map(|(preset, seed)| format!("{preset} {seed} {:016x}", last_hash::<LARGE>(&setup(preset, seed))))
        .collect();
    assert_eq!(found.join("\n"), include_str!("../hashes.txt").trim());
}

#[test]
fn both_sizes_of_state_play_alike() {
    for seed in 0..20 {
        let setup = setup("document", seed);
        assert_eq!(last_hash::<1>(&setup), last_hash::<LARGE>(&setup), "seed {seed}");
    }
}

#[test]
fn a_state_that_is_too_small_is_refused() {
    let error = Deerhunt::set_up(&setup("bc2021", 1)).expect_err("1,024 units do not fit");
    assert!(error.to_string().contains("max_units"), "{error}");
    assert!(FACE.open(&setup("bc2021", 1)).is_ok());
}

#[test]
fn made_maps_are_mirrored_and_connected() {
    for seed in 0..300 {
        let game = Deerhunt::set_up(&setup("document", seed)).expect("a map is made");
        let map = &game.map;
        assert_eq!((map.width(), map.height(), map.hubs()), (40, 40, 5), "seed {seed}");
        let wanted: Vec<At> = map
            .cells()
            .filter(|&at| map.is_resource(at))
            .chain(map.units.iter().map(|unit| unit.2))
            .collect();
        assert!(map.connects(wanted[0], wanted), "seed {seed}");
        for at in map.cells() {
            let image = At::new(at.x, 39 - at.y);
            assert_eq!(map.is_wall(at), map.is_wall(image), "seed {seed}, {at}");
            assert_eq!(map.is_resource(at), map.is_resource(image), "seed {seed}, {at}");
        }
    }
}

#[test]
fn the_maps_of_the_program_are_sound() {
    let mut named = 0;
    for preset in ["neo2019", "bc2021"] {
        let rules = DeerhuntOf::<LARGE>::set_up(&setup(preset, 0)).expect("a preset sets up").rules;
        for name in &rules.maps {
            let setup = Setup { map: MapChoice::Named(name.clone()), ..setup(preset, 0) };
            let map = DeerhuntOf::<LARGE>::set_up(&setup).expect("a map of the preset").map;
            let all = map.cells().filter(|&at| !map.is_wall(at)).collect::<Vec<_>>();
            assert!(map.connects(all[0], all), "{name}");
            let armies = Player::BOTH.map(|player| map.units.iter().filter(|unit| unit.0 == player).count());
            assert_eq!(armies[0], armies[1], "{name}");
            assert!(map.check().good(), "{name}: {:?}", map.check());
            named += 1;
        }
    }
    assert_eq!(named, FACE.info().maps.len(), "every map belongs to a preset");
}

#[test]
fn a_picture_for_a_player_shows_nothing_hidden() {
    for preset in ["document", "neo2019", "bc2021"] {
        let game = DeerhuntOf::<LARGE>::set_up(&setup(preset, 3)).expect("a preset sets up");
        let mut chance = Seeded::stream(3, "picture");
        let (mut state, mut answers) = (game.start(), Vec::new());
        while game.outcome(&state).is_none() {
            for seat in Seat::first(2) {
                let mut scrambled = state;
                game.scramble_hidden(&mut scrambled, seat, &mut chance);
                assert_eq!(game.picture(&state, Some(seat)), game.picture(&scrambled, Some(seat)));
            }
            random_answers(&game, &state, &mut chance, &mut answers);
            game.play(&mut state, &mut (), &answers, &mut chance, &mut agon_game::Ignored);
        }
    }
}

#[test]
fn our_bots_play_whole_matches_by_the_rules() {
    for preset in ["document", "neo2019", "bc2021"] {
        for name in FACE.info().builtins.iter().map(|bot| bot.name) {
            let mut table = FACE.open(&setup(preset, 8)).expect("a preset sets up");
            for (seat, name) in Seat::first(2).zip([name, "warden"]) {
                table.seat_builtin(seat, name, &[], 1).expect("a bot of the list");
            }
            while let Some(seat) = table.deciding().iter().next() {
                let order = table.think(seat);
                table.play(&[(seat, Answer::Given { order, think_ms: 0 })]).expect("the deciding seat");
                let rejected = table.rejections();
                assert!(rejected.is_empty(), "{preset}, {name}, {}: {rejected:?}", table.moment());
            }
        }
    }
}

#[test]
fn options_of_bots_are_checked() {
    let mut table = FACE.open(&setup("document", 1)).expect("a preset sets up");
    let mut ask = |name: &str, key: &str, value: &str| {
        table.seat_builtin(Seat::new(0), name, &[(key.to_owned(), value.to_owned())], 1)
    };
    assert!(ask("warden", "budget", "10").is_ok());
    assert!(ask("warden", "budget", "-1").is_err());
    assert!(ask("miner", "budget", "1").is_err());
    assert!(table.seat_builtin(Seat::new(0), "hunter", &[], 1).is_err());
}

#[test]
fn broken_maps_are_refused_with_a_reason() {
    let refuse = |text: &str| {
        let map = MapChoice::File("mine.map".to_owned(), text.as_bytes().to_vec());
        FACE.open(&Setup { map, ..setup("document", 1) }).err().expect("refused").to_string()
    };
    assert!(refuse("").contains("mine.map"));
    assert!(refuse("xxx\nx x\nxxx").contains("no unit"));
    assert!(refuse(&"x".repeat(3_000)).contains("2048"));
    assert!(refuse(&"xwxmx\n".repeat(60)).contains("units"));
    let bytes = MapChoice::File("mine.map".to_owned(), vec![0xff, 0xfe]);
    assert!(FACE.open(&Setup { map: bytes, ..setup("document", 1) }).is_err());
    let hubs = format!("xxxxxxxxxx\nxw r r r x\n{}xw      mx", "x r r r  x\nxxx x x xx\n".repeat(6));
    assert!(refuse(&hubs).contains("hubs"));
}

#[test]
fn the_checker_of_maps_finds_what_is_wrong() {
    let check =
        |text: &str| FACE.check_map("mine.map", text.as_bytes()).expect("it has maps").expect("a map");
    assert!(check("xxxxx\nxwm x\nx r x\n").good());
    let (cut, middle) = (check("xxxxxx\nxwxmxx\nxxxrxx\n"), check("xxxxx\nxwm x\nxwr x\n"));
    assert!(
        cut.warnings[0].contains("no way leads from the first unit to column 4, row 3 (4 such tiles"),
        "{cut:?}"
    );
    assert!(middle.warnings[0].contains("the armies differ"), "{middle:?}");
    assert!(check("xxx\nx x\nxxx").errors[0].contains("no unit"));
    assert!(FACE.check_map("mine.map", &[0xff]).expect("it has maps").is_err());
}
