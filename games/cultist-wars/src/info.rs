//! What is known of the game before a match.

use agon_game::{GameInfo, HandIn, Transport};
use include_dir::include_dir;

use crate::{builtin, outcome, rules};

/// Name, documents and lists.
pub const INFO: GameInfo = GameInfo {
    name: "cultist-wars",
    title: "Cultist Wars",
    summary: "two leaders convert neutral cultists, who then shoot at the other side",
    rules_version: 1,
    seats: (outcome::PLAYERS, outcome::PLAYERS),
    step: "turn",
    transport: Transport::Lines,
    longest_message: 10_000,
    presets: rules::PRESETS,
    generates_maps: true,
    builtins: builtin::BUILTINS,
    rulebook: agon_game::with_tools(include_str!("../RULES.md"), ""),
    sources: agon_game::with_tools(
        &[
            ("src", include_dir!("$CARGO_MANIFEST_DIR/src")),
            ("spec", include_dir!("$CARGO_MANIFEST_DIR/spec")),
        ],
        &[],
    ),
    example_set: "number_of_turns=60",
    looks_like_answer,
    hand_in: HandIn::Source { endings: None, largest: 100_000 },
    starters: agon_game::with_tools(crate::starters::STARTERS, &[]),
    advantage: crate::weights::FEATURES,
    policy: "greedy",
    judge: "hunter?nodes=300",
    ..GameInfo::PLAIN
};

/// Whether a text looks like an answer: `WAIT`, or a unit's number and its action.
fn looks_like_answer(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let is_unit = words.next().is_some_and(|word| word.parse::<u32>().is_ok());
    let acts = words.next().is_some_and(|word| ["MOVE", "SHOOT", "CONVERT"].contains(&word));
    text == "WAIT" || is_unit && acts
}
