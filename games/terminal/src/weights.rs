//! What each feature of [`advantage`](crate::advantage) is worth.
//!
//! Made by `cargo run --release --package agon-view --example advantage -- terminal --write`; `docs/advantage.md` says from what.

use agon_game::Feature;

/// The features, the score first, with their weights.
#[allow(clippy::approx_constant, reason = "a weight may happen to lie near a famous number")]
pub(crate) const FEATURES: &[Feature] = &[
    Feature::new("health", [1.352, 1.958, 12.984]),
    Feature::new("nerve", [-0.269, -2.692, -7.045]),
    Feature::new("structure points", [-0.335, 0.441, -0.165]),
    Feature::new("mobile points", [1.126, -1.408, 0.164]),
    Feature::new("walls", [0.197, 0.091, -0.723]),
    Feature::new("supports", [0.406, -0.39, -0.013]),
    Feature::new("turrets", [0.936, -1.317, 1.064]),
    Feature::new("mobile against turrets", [-11.19, 18.529, 5.603]),
    Feature::new("turrets standing", [0.193, -0.617, -0.517]),
    Feature::new("share of the health", [3.299, 1.098, -4.684]),
    Feature::new("share of the structures", [-1.931, 2.718, 0.07]),
    Feature::new("health against mobile", [8.193, -12.096, 4.619]),
];
