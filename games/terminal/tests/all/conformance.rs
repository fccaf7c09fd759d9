//! The contract of every game.

use agon_game::{RulesChoice, Setup};
use agon_testkit::conformance;
use terminal::Terminal;

#[test]
fn the_contract_holds() {
    let setup = |preset: &str, seed| {
        let rules = RulesChoice { preset: preset.to_owned(), ..RulesChoice::default() };
        Setup { rules, seats: 2, seed, ..Setup::default() }
    };
    let setups = [
        setup("", 1),
        setup("europe-2025", 2),
        setup("base-2025", 3),
        setup("citadel-2026", 4),
        setup("kit-2020", 5),
        setup("season-2019", 6),
        setup("season-2018", 7),
    ];
    let checked = conformance::check::<Terminal>(&setups, 10_000);
    assert!(checked >= 10_000);
}
