//! What each feature of [`advantage`](crate::advantage) is worth.
//!
//! Made by `cargo run --release --package agon-view --example advantage -- jungle-blitz --write`; `docs/advantage.md` says from what.

use agon_game::Feature;

/// The features, the score first, with their weights.
#[allow(clippy::approx_constant, reason = "a weight may happen to lie near a famous number")]
pub(crate) const FEATURES: &[Feature] = &[
    Feature::new("score", [3.618, -1.727, -5.253]),
    Feature::new("share of the points", [-0.506, 1.211, 41.389]),
    Feature::new("pending points", [3.434, -1.486, -4.658]),
    Feature::new("levels", [0.1, 0.265, -1.705]),
    Feature::new("points to come", [0.033, -3.197, 4.814]),
    Feature::new("diamonds", [0.852, -0.709, -0.163]),
    Feature::new("units", [-0.474, -0.239, 2.182]),
    Feature::new("deaths", [-0.205, -1.264, 0.935]),
    Feature::new("diamonds within reach", [0.688, -0.587, -0.215]),
    Feature::new("prey", [0.381, -0.446, 0.124]),
    Feature::new("share of the points to come", [-1.777, 2.167, 22.224]),
];
