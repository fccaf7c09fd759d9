//! What is known of the game before a match.

use agon_game::{BuiltinInfo, GameInfo, HandIn, Transport};

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
    alternating: true,
    stops_late_bots: false,
    transport: Transport::Script,
    longest_message: 4 << 20,
    time_is_played: false,
    ranks_follow_scores: true,
    presets: PRESETS,
    maps: MAPS,
    generates_maps: true,
    builtins: BUILTINS as &[BuiltinInfo],
    rulebook: agon_game::with_tools(include_str!("../RULES.md"), ""),
    sources: agon_game::with_tools(SOURCES, &[]),
    example_set: "maxTurns=50",
    looks_like_answer,
    reads_any_map: false,
    hand_in: HandIn::Source { endings: Some(&["js", "mjs", "cjs"]), largest: 1 << 20 },
    starters: agon_game::with_tools(crate::starters::STARTERS, &[]),
    advantage: crate::weights::FEATURES,
    policy: "looter",
};

/// Answers are recognised by their functions, not by their text.
fn looks_like_answer(_: &str) -> bool {
    false
}

macro_rules! sources {
    ($($path:literal)*) => { &[$(($path, include_str!(concat!("../", $path)))),*] };
}

const SOURCES: &[(&str, &str)] = sources! {
    "src/turn.rs" "src/round.rs" "src/shop.rs" "src/act.rs" "src/walk.rs" "src/hit.rs" "src/fire.rs"
    "src/sight.rs" "src/view.rs" "src/items.rs" "src/map.rs" "src/rules.rs" "src/state.rs" "src/geometry.rs"
    "src/names.rs" "src/orders.rs" "src/event.rs" "src/input.rs" "src/dialect.rs" "src/outcome.rs" "src/lib.rs"
    "spec/turn.md" "spec/round.md" "spec/shop.md" "spec/items.md" "spec/act.md" "spec/walk.md" "spec/hit.md" "spec/fire.md" "spec/sight.md" "spec/input.md" "spec/map.md"
};
