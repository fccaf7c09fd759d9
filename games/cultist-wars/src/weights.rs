//! What each feature of [`advantage`](crate::advantage) is worth.
//!
//! Made by `cargo run --release --package agon-view --example advantage -- cultist-wars --write`; `docs/advantage.md` says from what.

use agon_game::Feature;

/// The features, the score first, with their weights.
#[allow(clippy::approx_constant, reason = "a weight may happen to lie near a famous number")]
pub(crate) const FEATURES: &[Feature] = &[
    Feature::new("units", [0.0, 0.0, 0.315]),
    Feature::new("spread of units", [0.0, 0.0, 7.054]),
    Feature::new("health", [0.577, 0.223, 0.0]),
    Feature::new("leader", [0.706, -0.706, 0.0]),
    Feature::new("neutrals within reach", [0.407, -0.108, 0.0]),
    Feature::new("aim", [0.456, -0.456, 0.0]),
    Feature::new("share of the units", [3.002, -3.002, 6.492]),
    Feature::new("shots at the leader", [0.0, 0.0, 0.0]),
    Feature::new("to move", [0.138, -0.138, 0.176]),
];
