//! The built-in maps, generated ones, and images in the original's format.

use agon_game::{Game as _, MapChoice, Seeded, Setup};
use jungle_blitz::map::{Map, Tile};
use jungle_blitz::{INFO, JungleBlitz, bitmap, generate, map_check};

#[test]
fn bundled_maps_are_good() {
    let mut sizes = Vec::new();
    for bundled in INFO.maps {
        let map =
            Map::parse(bundled.text).unwrap_or_else(|(line, why)| panic!("{}:{line}: {why}", bundled.name));
        let findings = map_check::check(&map);
        assert!(findings.good(), "{}: {findings:#?}", bundled.name);
        assert!(map.units[1] > 0 && map.units[3] > 0, "{} is for 2 and for 4 teams", bundled.name);
        sizes.push((map.width(), map.height()));
    }
    for size in generate::SIZES {
        assert_eq!(sizes.iter().filter(|other| **other == size).count(), 3, "three maps of {size:?}");
    }
}

#[test]
fn generated_maps_are_good_and_the_same_for_a_seed() {
    for seed in 0..50 {
        let make = || generate::generate(&mut Seeded::stream(seed, "map"));
        let map = make();
        assert_eq!(map, make());
        assert!(map_check::check(&map).good(), "{}", map.text());
        for seats in 1..=4 {
            let setup = Setup { map: MapChoice::Generated, seats, seed, ..Setup::default() };
            assert_eq!(*JungleBlitz::set_up(&setup).expect("a playable map").map, map);
        }
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let warnings = |text: &str| map_check::check(&Map::parse(text).expect("a map")).warnings.join("; ");
    assert!(warnings("units for 2 teams: 1\nunits for 4 teams: 1\nS#D\nS..\n").contains("no symmetry"));
    assert!(warnings("S#D#S").contains("no way leads to the diamond at (2, 0)"));
    assert!(warnings("S.S").contains("no diamond"));
    let halves = "S.D\n#..\nS.D\n";
    assert_eq!(warnings(&format!("units for 2 teams: 1\n{halves}")), "");
    assert!(warnings(halves).contains("not fair to 4 teams"), "without a word it is for 2 and for 4");
    assert!(warnings("units for 4 teams: 2\nSD\nDS\n").contains("fewer spawn tiles than the 8 units"));
    let crowd = Map::parse("units for 4 teams: 5\nSD\nDS\n").expect("a map");
    assert!(map_check::check(&crowd).errors.join("; ").contains("at most 16 can play"));
    assert!(map_check::check(&Map::parse("...").expect("a map")).errors.join("; ").contains("no spawn"));
}

#[test]
fn an_image_is_the_map_it_was_made_from() {
    for bundled in INFO.maps {
        let mut map = Map::parse(bundled.text).expect("a map");
        map.units = [0; 4];
        assert_eq!(Map::read("map.bmp", &bitmap::write(&map)).expect("an image"), map);
        assert_eq!(Map::parse(&map.text()).expect("a text"), map);
    }
}

#[test]
fn hostile_maps_are_refused() {
    let good = bitmap::write(&Map::parse("S.D\n#~t").expect("a map"));
    for length in 0..good.len() - 4 {
        assert!(Map::read("cut.bmp", &good[..length]).is_err());
    }
    let mut odd = good.clone();
    odd[56] = 0x12;
    assert!(
        Map::read("odd.bmp", &odd).expect_err("a wrong colour").to_string().contains("colour of no tile")
    );
    for at in 0..54 {
        for value in [0, 1, 0x7f, 0xff] {
            let mut changed = good.clone();
            changed[at] = value;
            let _ = Map::read("changed.bmp", &changed);
        }
    }
    for text in [
        "",
        "S.\nS",
        "S.X",
        "units for 9 teams: 3\nS.D",
        "colour: red\nS",
        "units for 2 teams: 99\nS",
        &"S".repeat(65),
        &"S\n".repeat(65),
    ] {
        assert!(Map::parse(text).is_err(), "{text}");
    }
    let too_open = Map::new(64, 64).map(|mut map| {
        map.set(0, 0, Tile::Spawn);
        map.text()
    });
    let file = MapChoice::File("plain".to_owned(), too_open.expect("a map").into_bytes());
    let error =
        JungleBlitz::set_up(&Setup { map: file, seats: 4, ..Setup::default() }).expect_err("too large");
    assert!(error.to_string().contains("may have to remember paths"), "{error}");
}
