//! What each feature of [`advantage`](crate::advantage) is worth.
//!
//! Made by `cargo run --release --package agon-view --example advantage -- terminal --write`; `docs/advantage.md` says from what.

use agon_game::Feature;

/// The features, the score first, with their weights.
#[allow(clippy::approx_constant, reason = "a weight may happen to lie near a famous number")]
pub(crate) const FEATURES: &[Feature] = &[
    Feature::new("health", [0.0, 0.0, 6.133]),
    Feature::new("nerve", [0.0, 0.0, 0.0]),
    Feature::new("structure points", [0.0, 0.0, 0.0]),
    Feature::new("mobile points", [1.313, -1.313, 0.0]),
    Feature::new("walls", [0.0, 0.0, 0.0]),
    Feature::new("supports", [0.417, -0.417, 0.0]),
    Feature::new("turrets", [0.347, -0.347, 0.0]),
    Feature::new("mobile against turrets", [0.0, 0.0, 0.0]),
    Feature::new("turrets standing", [0.0, 0.0, 0.0]),
    Feature::new("share of the health", [14.594, -14.594, 0.0]),
    Feature::new("share of the structures", [0.0, 0.0, 0.472]),
    Feature::new("health against mobile", [0.0, 3.484, 0.0]),
];
