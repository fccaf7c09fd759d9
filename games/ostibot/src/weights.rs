//! What each feature of [`advantage`](crate::advantage) is worth.
//!
//! Made by `cargo run --release --package agon-view --example advantage -- ostibot --write`; `docs/advantage.md` says from what.

use agon_game::Feature;

/// The features, the score first, with their weights.
#[allow(clippy::approx_constant, reason = "a weight may happen to lie near a famous number")]
pub(crate) const FEATURES: &[Feature] = &[
    Feature::new("gold", [-0.115, 1.594, 4.536]),
    Feature::new("share of the gold", [1.213, 3.035, 2.361]),
    Feature::new("carried gold", [1.066, -0.395, -0.738]),
    Feature::new("gold near a portal", [-0.522, 1.618, 7.961]),
    Feature::new("adventurers", [-0.167, -0.413, -0.345]),
    Feature::new("escaped", [0.612, -0.157, -0.197]),
    Feature::new("health", [0.308, 0.036, -0.099]),
    Feature::new("equipment", [0.28, 3.332, 2.139]),
    Feature::new("portals within reach", [0.279, -0.171, 1.193]),
    Feature::new("chests within reach", [0.513, 0.531, -0.067]),
    Feature::new("carried late", [-0.978, -0.883, -0.426]),
    Feature::new("outside late", [-0.022, 0.301, -0.33]),
    Feature::new("to move", [0.036, 0.06, -0.275]),
];
