//! What each feature of [`advantage`](crate::advantage) is worth.
//!
//! Made by `cargo run --release --package agon-view --example advantage -- deerhunt --write`; `docs/advantage.md` says from what.

use agon_game::Feature;

/// The features, the score first, with their weights.
#[allow(clippy::approx_constant, reason = "a weight may happen to lie near a famous number")]
pub(crate) const FEATURES: &[Feature] = &[
    Feature::new("resources", [0.047, -0.047, 0.109]),
    Feature::new("wealth", [0.0, 0.0, 0.0]),
    Feature::new("workers", [0.0, 0.0, 0.0]),
    Feature::new("melees", [1.21, -1.21, 0.0]),
    Feature::new("health", [0.0, 0.0, 0.0]),
    Feature::new("income to come", [0.7, -0.7, 0.0]),
    Feature::new("children", [0.429, -0.429, 0.0]),
    Feature::new("share of the army", [0.0, 0.0, 0.0]),
    Feature::new("front", [1.383, -1.383, 0.0]),
    Feature::new("share of the wealth", [0.0, 1.693, 1.99]),
    Feature::new("last units", [0.0, 0.0, 0.0]),
    Feature::new("the tie", [0.158, 1.463, 0.0]),
    Feature::new("to move", [0.097, -0.097, 0.0]),
];
