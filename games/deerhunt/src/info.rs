//! What is known of the game before a match.

use agon_game::{BuiltinInfo, BundledMap, GameInfo, Transport};

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
    transport: Transport::Tcp,
    time_is_played: false,
    presets: PRESETS,
    maps: MAPS,
    generates_maps: true,
    builtins: BUILTINS,
    rulebook: "",
    sources: &[],
};
const MAPS: &[BundledMap] = &[];
const BUILTINS: &[BuiltinInfo] = &[];
