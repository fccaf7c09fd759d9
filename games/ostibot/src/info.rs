//! What is known of the game before a match.

use agon_game::{BuiltinInfo, GameInfo, HandIn, Transport};
use include_dir::include_dir;

use crate::builtin::BUILTINS;
use crate::map::{MAPS, TEAMS};
use crate::rules::PRESETS;

/// Name, presets, maps and documents.
pub(crate) const INFO: GameInfo = GameInfo {
    name: "ostibot",
    title: "Ostibot",
    summary: "adventurers loot a maze, shop between rounds and leave before the fire; fog of war",
    rules_version: 1,
    seats: (2, TEAMS as u8),
    step: "call",
    transport: Transport::Script,
    longest_message: 4 << 20,
    presets: PRESETS,
    maps: MAPS,
    generates_maps: true,
    builtins: BUILTINS as &[BuiltinInfo],
    rulebook: agon_game::with_tools(include_str!("../RULES.md"), ""),
    sources: agon_game::with_tools(
        &[
            ("src", include_dir!("$CARGO_MANIFEST_DIR/src")),
            ("spec", include_dir!("$CARGO_MANIFEST_DIR/spec")),
        ],
        &[],
    ),
    example_set: "maxTurns=50",
    hand_in: HandIn::Source { endings: Some(&["js", "mjs", "cjs"]), largest: 1 << 20 },
    starters: agon_game::with_tools(crate::starters::STARTERS, &[]),
    advantage: crate::weights::FEATURES,
    policy: "looter",
    judge: "planner",
    ..GameInfo::PLAIN
};
