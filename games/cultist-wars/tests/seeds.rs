//! What seeds lead to. A changed rule, generator or random policy shows here, without any record of the original.

use agon_game::session::{Table, random_answers};
use agon_game::{Game as _, Seeded, Session as _, Setup};
use cultist_wars::CultistWars;

/// Seed, turns of the random match and hash of its last state.
const ENDS: [(i64, u32, u64); 8] = [
    (0, 120, 10422178394817820226),
    (1, 150, 15758985153977089493),
    (2, 150, 17321958873098356214),
    (3, 150, 12257239679994355463),
    (42, 150, 2502711947899643002),
    (-1, 150, 8979861341376343194),
    (1234567890123456789, 150, 1395581001597213073),
    (i64::MIN, 150, 17791932553853102754),
];

#[test]
fn random_matches_end_as_ever() {
    let mut ends = Vec::new();
    for (seed, ..) in ENDS {
        let game = CultistWars::set_up(&Setup { seed, seats: 2, ..Setup::default() }).unwrap();
        let mut table = Table::new(game);
        let mut chance = Seeded::stream(seed, "seeds");
        let mut answers = Vec::new();
        while table.outcome().is_none() {
            random_answers(table.game(), table.state(), &mut chance, &mut answers);
            table.play_typed(&answers);
        }
        ends.push((seed, table.steps(), table.hash()));
    }
    assert_eq!(ends, ENDS, "rules changed: raise `rules_version` and write down the new ends");
}
