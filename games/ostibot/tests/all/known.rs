//! A table of known matches, so that a changed rule is noticed without records of the original.
//!
//! When a rule changes on purpose, raise `rules_version` and take the new table from the failure.

use agon_game::session::{RunningMatch, random_answers};
use agon_game::{Game, RulesChoice, Seeded, Session, Setup};
use ostibot::Ostibot;

/// Preset, seats, seed, and one hash over all states.
const MATCHES: [(&str, u8, i64, u64); 12] = [
    ("default", 2, 1, 0xafd697c8368d7eb8),
    ("default", 2, 2, 0x85339653ca26b74b),
    ("default", 4, 3, 0x6ce6541391d1ff0c),
    ("default", 7, 4, 0x18dee437a42ea441),
    ("semifinal", 2, 1, 0xee8b1f28d50fe769),
    ("semifinal", 2, 2, 0x0131e4baca9e5f96),
    ("semifinal", 4, 3, 0x254c69b6cc88cf55),
    ("semifinal", 7, 4, 0x818b6f9b9c8dacbb),
    ("final", 2, 1, 0x873b75cbc5010c58),
    ("final", 2, 2, 0xf1fb47d27279f7aa),
    ("final", 4, 3, 0x0b4822ba1f0ce1fd),
    ("final", 7, 4, 0x1ef9e8b1dcfebc42),
];

#[test]
fn known_matches_end_as_they_always_did() {
    let presets = ["default", "semifinal", "final"];
    let mut table = Vec::new();
    for (preset, seats, seed) in presets
        .into_iter()
        .flat_map(|preset| [(preset, 2, 1), (preset, 2, 2), (preset, 4, 3), (preset, 7, 4)])
    {
        let rules = RulesChoice { preset: preset.to_owned(), ..RulesChoice::default() };
        let game = Ostibot::set_up(&Setup { rules, seats, seed, ..Setup::default() }).expect("a set-up");
        let (mut session, mut chance, mut answers) =
            (RunningMatch::new(game), Seeded::stream(seed, "golden"), Vec::new());
        let mut all = 0u64;
        while !session.deciding().is_empty() {
            random_answers(session.game(), session.state(), &mut chance, &mut answers);
            session.play_typed(&answers);
            all = all.rotate_left(5) ^ session.hash();
        }
        table.push((preset, seats, seed, all));
    }
    assert_eq!(table, MATCHES);
}
