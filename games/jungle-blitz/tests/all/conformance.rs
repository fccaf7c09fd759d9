//! The contract of every game.

use agon_game::{MapChoice, RulesChoice, Setup};
use agon_testkit::conformance;
use jungle_blitz::JungleBlitz;

#[test]
fn the_contract_is_kept() {
    let named = |name: &str| MapChoice::Named(name.to_owned());
    let units = |count: &str| RulesChoice {
        sets: vec![("unitsPerTeam".to_owned(), count.to_owned())],
        ..RulesChoice::default()
    };
    let setups = [
        Setup { seats: 4, seed: 1, ..Setup::default() },
        Setup { seats: 4, seed: 2, map: named("easy-clearing"), rules: units("4") },
        Setup { seats: 2, seed: 3, map: named("adv-maze"), rules: units("6") },
        Setup { seats: 3, seed: 4, map: MapChoice::Generated, ..Setup::default() },
        Setup { seats: 1, seed: 5, ..Setup::default() },
    ];
    let checked = conformance::check::<JungleBlitz>(&setups, 10_000);
    println!("{checked} positions");
}
