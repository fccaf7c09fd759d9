//! A table of final hashes of random matches: it notices a changed rule also where no recorded games are.
//! When a rule was changed on purpose, raise `rules_version` and put in the table that the test prints.

use agon_game::session::{Table, random_answers};
use agon_game::{Game as _, RulesChoice, Seeded, Session as _, Setup};
use jungle_blitz::JungleBlitz;

/// Preset, seats, seed, and the hash of the last state.
const FINAL: [(&str, u8, i64, u64); 8] = [
    ("tournament", 4, 1, 0x10021cbdabe7ea4e),
    ("tournament", 4, 2, 0xe03b71f8377bfa40),
    ("tournament", 2, 3, 0x74065d5a66f0a8fc),
    ("tournament", 2, -4, 0x2a588116930d04f9),
    ("tournament", 3, 5, 0x8f6a1cfce383d9c2),
    ("tournament", 1, 6, 0xd2be26f423dc6597),
    ("practice", 4, 7, 0xc14b11566925fe5c),
    ("practice", 2, 8, 0x07e803e461d4ebb1),
];

fn play(preset: &str, seats: u8, seed: i64) -> u64 {
    let rules = RulesChoice { preset: preset.to_owned(), ..RulesChoice::default() };
    let setup = Setup { rules, seats, seed, ..Setup::default() };
    let mut table = Table::new(JungleBlitz::set_up(&setup).expect("a playable setup"));
    let (mut policy, mut answers) = (Seeded::stream(seed, "hashes"), Vec::new());
    while !table.deciding().is_empty() {
        random_answers(table.game(), table.state(), &mut policy, &mut answers);
        table.play_typed(&answers);
    }
    table.hash()
}

#[test]
fn matches_end_as_they_always_did() {
    let played = FINAL.map(|(preset, seats, seed, _)| (preset, seats, seed, play(preset, seats, seed)));
    let table: String = played
        .iter()
        .map(|row| format!("    (\"{}\", {}, {}, {:#018x}),\n", row.0, row.1, row.2, row.3))
        .collect();
    assert_eq!(played, FINAL, "the table is now:\n{table}");
}
