//! What is known of the game before a match.

use agon_game::{BundledMap, GameInfo, HandIn, Transport};

use crate::builtin::BUILTINS;
use crate::rules::PRESETS;

/// Name, presets, maps and documents.
pub const INFO: GameInfo = GameInfo {
    name: "deerhunt",
    title: "Deerhunt",
    summary: "Two armies of workers and melees mine, multiply and fight in the fog",
    rules_version: 1,
    seats: (2, 2),
    step: "half-turn",
    alternating: true,
    stops_late_bots: false,
    transport: Transport::Tcp,
    longest_message: 1 << 20,
    time_is_played: false,
    ranks_follow_scores: false,
    presets: PRESETS,
    maps: MAPS,
    generates_maps: true,
    builtins: BUILTINS,
    rulebook: agon_game::with_tools(include_str!("../RULES.md"), ""),
    sources: agon_game::with_tools(SOURCES, &[]),
    example_set: "maxTurns=50",
    looks_like_answer,
    reads_any_map: true,
    hand_in: HandIn::Flat("grid_player.py"),
    starters: agon_game::with_tools(crate::starters::STARTERS, &[]),
    advantage: crate::weights::FEATURES,
    policy: "rusher",
};

/// Nothing distinguishes its answers from other texts.
fn looks_like_answer(_: &str) -> bool {
    false
}

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

const SOURCES: &[(&str, &str)] = &[
    ("src/lib.rs", include_str!("../src/lib.rs")),
    ("src/rules.rs", include_str!("../src/rules.rs")),
    ("src/state.rs", include_str!("../src/state.rs")),
    ("src/turn.rs", include_str!("../src/turn.rs")),
    ("src/orders.rs", include_str!("../src/orders.rs")),
    ("src/validation.rs", include_str!("../src/validation.rs")),
    ("src/walk.rs", include_str!("../src/walk.rs")),
    ("src/attack.rs", include_str!("../src/attack.rs")),
    ("src/duplicate.rs", include_str!("../src/duplicate.rs")),
    ("src/mine.rs", include_str!("../src/mine.rs")),
    ("src/stun.rs", include_str!("../src/stun.rs")),
    ("src/countdown.rs", include_str!("../src/countdown.rs")),
    ("src/event.rs", include_str!("../src/event.rs")),
    ("src/outcome.rs", include_str!("../src/outcome.rs")),
    ("src/view.rs", include_str!("../src/view.rs")),
    ("src/generate.rs", include_str!("../src/generate.rs")),
    ("src/map.rs", include_str!("../src/map.rs")),
    ("src/setup.rs", include_str!("../src/setup.rs")),
    ("src/dialect.rs", include_str!("../src/dialect.rs")),
    ("src/dialect/kit.rs", include_str!("../src/dialect/kit.rs")),
    ("src/dialect/message.rs", include_str!("../src/dialect/message.rs")),
    ("src/dialect/reply.rs", include_str!("../src/dialect/reply.rs")),
    ("src/sets.rs", include_str!("../src/sets.rs")),
    ("src/pack.rs", include_str!("../src/pack.rs")),
    ("src/chance.rs", include_str!("../src/chance.rs")),
    ("spec/map.md", include_str!("../spec/map.md")),
    ("spec/generate.md", include_str!("../spec/generate.md")),
    ("spec/turn.md", include_str!("../spec/turn.md")),
    ("spec/countdown.md", include_str!("../spec/countdown.md")),
    ("spec/view.md", include_str!("../spec/view.md")),
    ("spec/validation.md", include_str!("../spec/validation.md")),
    ("spec/walk.md", include_str!("../spec/walk.md")),
    ("spec/attack.md", include_str!("../spec/attack.md")),
    ("spec/duplicate.md", include_str!("../spec/duplicate.md")),
    ("spec/mine.md", include_str!("../spec/mine.md")),
    ("spec/stun.md", include_str!("../spec/stun.md")),
    ("spec/outcome.md", include_str!("../spec/outcome.md")),
    ("spec/dialect.md", include_str!("../spec/dialect.md")),
];
