//! What each feature of [`advantage`](crate::advantage) is worth.
//!
//! Made by `cargo run --release --package agon-view --example advantage -- cultist-wars --write`; `docs/advantage.md` says from what.

use agon_game::Feature;

/// The features, the score first, with their weights.
#[allow(clippy::approx_constant, reason = "a weight may happen to lie near a famous number")]
pub(crate) const FEATURES: &[Feature] = &[
    Feature::new("units", [0.0, 0.0, 2.287]),
    Feature::new("lead over what is left", [0.639, 0.211, 0.0]),
    Feature::new("share of the health", [5.752, -0.931, 0.0]),
    Feature::new("neutrals within reach", [1.114, -0.634, 0.0]),
    Feature::new("enemies beside the leader", [1.708, -1.708, 1.261]),
    Feature::new("aim", [0.0, 0.0, 0.911]),
    Feature::new("shots", [0.194, -0.194, 0.0]),
    Feature::new("kills within reach", [0.31, 0.116, 0.0]),
    Feature::new("to move", [0.137, -0.137, 0.192]),
];
