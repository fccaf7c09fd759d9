//! The maps inside the program.

use agon_game::BundledMap;

/// All of them.
pub const BUNDLED: &[BundledMap] = &[BundledMap { name: "x", seats: (1, 4), text: "S..D\nS..D\n" }];
