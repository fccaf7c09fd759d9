//! What each feature of [`advantage`](crate::advantage) is worth.
//!
//! Made by `cargo run --release --package agon-view --example advantage -- cultist-wars --write`; `docs/advantage.md` says from what.

use agon_game::Feature;

/// The features, the score first, with their weights.
#[allow(clippy::approx_constant, reason = "a weight may happen to lie near a famous number")]
pub(crate) const FEATURES: &[Feature] = &[
    Feature::new("units", [-0.773, 0.757, 1.09]),
    Feature::new("spread of units", [1.461, 0.408, 8.032]),
    Feature::new("health", [0.732, 0.276, -0.662]),
    Feature::new("leader", [0.985, -1.856, 1.52]),
    Feature::new("neutrals within reach", [0.442, -0.043, -0.255]),
    Feature::new("aim", [1.09, -4.9, 8.675]),
    Feature::new("share of the units", [3.663, -8.58, 7.01]),
    Feature::new("shots at the leader", [-0.239, -1.312, 5.013]),
    Feature::new("to move", [0.148, -0.315, 0.631]),
];
