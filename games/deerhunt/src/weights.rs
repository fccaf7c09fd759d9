//! What each feature of [`advantage`](crate::advantage) is worth.
//!
//! Made by `cargo run --release --package agon-view --example advantage -- deerhunt --write`; `docs/advantage.md` says from what.

use agon_game::Feature;

/// The features, the score first, with their weights.
#[allow(clippy::approx_constant, reason = "a weight may happen to lie near a famous number")]
pub(crate) const FEATURES: &[Feature] = &[
    Feature::new("resources", [0.005, -0.01, 0.092]),
    Feature::new("wealth", [-0.01, -0.017, -0.001]),
    Feature::new("workers", [-2.5, 2.127, -0.639]),
    Feature::new("melees", [0.763, -0.262, -2.193]),
    Feature::new("health", [-0.46, 2.043, -1.812]),
    Feature::new("income to come", [0.826, -1.085, 2.131]),
    Feature::new("children", [0.65, -1.065, 0.584]),
    Feature::new("share of the army", [1.243, -11.541, 17.917]),
    Feature::new("front", [1.774, -2.277, 1.448]),
    Feature::new("share of the wealth", [0.142, 1.642, 2.756]),
    Feature::new("last units", [-8.003, -0.644, 12.383]),
    Feature::new("the tie", [0.202, 1.255, 0.357]),
    Feature::new("to move", [0.13, -0.284, 0.324]),
];
