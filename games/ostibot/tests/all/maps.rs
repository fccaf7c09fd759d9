//! Our own maps and generated ones.

use agon_game::{Game, MapChoice, Setup};
use ostibot::Ostibot;
use ostibot::map::{MAPS, Map, ObjectKind};

#[test]
fn our_maps_are_fair_and_leave_too_few_portals() {
    assert!(MAPS.len() >= 6);
    for bundled in MAPS {
        let map = Map::read(bundled.text).expect("a map");
        assert_eq!(map.advice(), Vec::<String>::new(), "{}", bundled.name);
        let portals = map.objects.iter().filter(|object| object.kind == ObjectKind::Portal).count();
        assert_eq!(portals, 2 * map.homes.len(), "{}: four portals for two teams", bundled.name);
        assert!(map.homes.iter().all(|home| home.len() == 3), "{}", bundled.name);
        assert!(
            bundled.text.lines().all(|row| row.chars().count() == map.width),
            "{}: rows differ",
            bundled.name
        );
        let map = MapChoice::Named(bundled.name.to_owned());
        Ostibot::set_up(&Setup { seats: bundled.seats.0, map, ..Setup::default() }).expect("a set-up");
    }
}

#[test]
fn a_misspelt_map_finds_the_meant_one() {
    let map = MapChoice::Named("glacer".to_owned());
    let error = Ostibot::set_up(&Setup { seats: 2, map, ..Setup::default() }).expect_err("no such map");
    assert!(error.to_string().contains("did you mean `glacier`"), "{error}");
}

#[test]
fn a_map_for_other_teams_is_refused() {
    let map = MapChoice::Named("glacier".to_owned());
    let error = Ostibot::set_up(&Setup { seats: 3, map, ..Setup::default() }).expect_err("a map for two");
    assert!(error.to_string().contains("has spawners of 2 teams, and 3 play"), "{error}");
}

#[test]
fn rules_out_of_bounds_are_refused() {
    for (rule, value) in
        [("nbRounds", "0"), ("sellRatio", "1.5"), ("chestGold", "501"), ("items.big_boots.cost", "20000")]
    {
        let mut setup = Setup { seats: 2, ..Setup::default() };
        setup.rules.sets.push((rule.to_owned(), value.to_owned()));
        let error = Ostibot::set_up(&setup).expect_err("out of bounds").to_string();
        assert!(error.contains(rule), "{error}");
    }
}

#[test]
fn the_checker_of_maps_gives_the_advice() {
    let check = |text: &str| Ostibot::check_map("mine.txt", text.as_bytes()).expect("it has maps");
    assert!(check("1.P.2\n").expect("a map").good());
    assert!(check("1P..2\n").expect("a map").warnings[0].contains("no rotation or reflection"));
    assert!(check("1...2\n").is_err(), "it has no portal");
    assert!(Ostibot::check_map("mine.txt", &[0xff]).expect("it has maps").is_err());
}
