//! What is known of the game before a match.

use agon_game::{BundledMap, GameInfo, HandIn, Transport};
use include_dir::include_dir;

use crate::builtin::BUILTINS;
use crate::rules::PRESETS;

/// Name, presets, maps and documents.
pub const INFO: GameInfo = GameInfo {
    name: "deerhunt",
    title: "Deerhunt",
    summary: "two armies of workers and melees mine, multiply and fight in the fog",
    rules_version: 1,
    seats: (2, 2),
    step: "half-turn",
    transport: Transport::Tcp,
    longest_message: 1 << 20,
    ranks_follow_scores: false,
    presets: PRESETS,
    maps: MAPS,
    generates_maps: true,
    builtins: BUILTINS,
    rulebook: agon_game::with_tools(include_str!("../RULES.md"), ""),
    sources: agon_game::with_tools(
        &[
            ("src", include_dir!("$CARGO_MANIFEST_DIR/src")),
            ("spec", include_dir!("$CARGO_MANIFEST_DIR/spec")),
        ],
        &[],
    ),
    example_set: "maxTurns=50",
    reads_any_map: true,
    hand_in: HandIn::Flat("grid_player.py"),
    starters: agon_game::with_tools(crate::starters::STARTERS, &[]),
    advantage: crate::weights::FEATURES,
    policy: "rusher",
    judge: "warden?budget=100",
    ..GameInfo::PLAIN
};

const fn map(name: &'static str, text: &'static str) -> BundledMap {
    BundledMap { name, seats: (2, 2), text }
}

/// The first three are for the army of 2019, the others for that of 2021.
const MAPS: &[BundledMap] = &[
    map("narrows", include_str!("../maps/narrows.map")),
    map("twin-halls", include_str!("../maps/twin-halls.map")),
    map("long-march", include_str!("../maps/long-march.map")),
    map("orchard", include_str!("../maps/orchard.map")),
    map("causeway", include_str!("../maps/causeway.map")),
    map("four-rooms", include_str!("../maps/four-rooms.map")),
    map("delta", include_str!("../maps/delta.map")),
];
