//! The contract of every game, on maps for two, four and nine teams.

use agon_game::{MapChoice, RulesChoice, Setup};
use ostibot::Ostibot;

fn setups() -> Vec<Setup> {
    let rules = |sets: &[(&str, &str)]| RulesChoice {
        sets: sets.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        ..RulesChoice::default()
    };
    let rich =
        rules(&[("startingGold", "60"), ("chestHp", "20"), ("portalHp", "20"), ("adventurerHp", "400")]);
    let hidden = rules(&[
        ("revealTerrain", "false"),
        ("slideBumps", "true"),
        ("visionMetric", "chebyshev"),
        ("maxTurns", "40"),
        ("blockDamage", "0"),
    ]);
    vec![
        Setup { seats: 2, seed: 1, ..Setup::default() },
        Setup { seats: 2, seed: 2, rules: rich, ..Setup::default() },
        Setup { seats: 2, seed: 3, rules: hidden, map: MapChoice::Named("glacier".to_owned()) },
        Setup { seats: 4, seed: 4, ..Setup::default() },
        Setup { seats: 9, seed: 5, map: MapChoice::Generated, ..Setup::default() },
    ]
}

#[test]
fn ostibot_keeps_the_contract() {
    let checked = agon_testkit::conformance::check::<Ostibot>(&setups(), 10_000);
    println!("{checked} positions");
}
