//! The contract of every game, above all the fog, with random and hostile input.

use agon_game::{MapChoice, RulesChoice, Setup};
use agon_testkit::conformance;
use deerhunt::{DeerhuntOf, LARGE, SMALL};

fn setup(preset: &str, sets: &[(&str, &str)]) -> Setup {
    let sets = sets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let rules = RulesChoice { preset: preset.to_owned(), file: None, sets };
    Setup { rules, map: MapChoice::Default, seats: 2, seed: 1 }
}

#[test]
fn the_document_keeps_the_contract() {
    // Small boards and long matches bring the armies together.
    let close = [("map_width", "16"), ("map_height", "16"), ("max_rounds", "300")];
    let setups = [
        setup("document", &[]),
        setup("document", &close),
        setup("document", &[("validation", "strict"), close[0], close[1]]),
        setup(
            "document",
            &[("attack_range", "3"), ("melee_cost", "0"), ("hub_capacity", "3"), close[0], close[1]],
        ),
    ];
    let checked = conformance::check::<DeerhuntOf<SMALL>>(&setups, 10_000);
    println!("{checked} positions");
}

#[test]
fn the_events_keep_the_contract() {
    let maps = ("maps", "[]");
    let small = [("map_width", "14"), ("map_height", "15"), maps];
    let rich = ("start_resources", "500");
    let setups = [
        setup("neo2019", &[maps]),
        setup("neo2019", &[rich, small[0], small[1], maps]),
        setup("bc2021", &[maps]),
        setup("bc2021", &[rich, small[0], small[1], maps]),
        setup("bc2021", &[rich, ("compat_stun_registry", "false"), small[0], small[1], maps]),
        setup("bc2021", &[("max_units", "12"), rich, small[0], small[1], maps]),
    ];
    let checked = conformance::check::<DeerhuntOf<LARGE>>(&setups, 10_000);
    println!("{checked} positions");
}
