//! What seeds lead to. A changed rule, generator or random policy shows here, without any record of the original.

use agon_game::session::{Table, random_answers};
use agon_game::{Game as _, Seeded, Session as _, Setup};
use cultist_wars::CultistWars;

/// Seed, turns of the random match and hash of its last state.
const ENDS: [(i64, u32, u64); 8] = [
    (0, 0, 0),
    (1, 0, 0),
    (2, 0, 0),
    (3, 0, 0),
    (42, 0, 0),
    (-1, 0, 0),
    (1234567890123456789, 0, 0),
    (i64::MIN, 0, 0),
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
