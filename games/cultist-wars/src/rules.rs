//! Every number of the rulebook.
//!
//! The shape of the board is not among them (see [`board`](crate::board)).

use agon_game::{Cpus, Preset, RulesChoice, SetupError, rules::Loaded};
use serde::{Deserialize, Serialize};

use crate::{INFO, state::UNITS};

/// The presets; the first is the default.
pub const PRESETS: &[Preset] = &[Preset {
    name: "standard",
    about: "as the original referee plays it",
    text: include_str!("../rules/standard.toml"),
    cpus: Cpus::One,
}];

/// The numbers of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Turns of both players together, 1 to 10,000. CW-END-3.
    pub number_of_turns: u16,
    /// Units on a generated map, an even number from 2 to 14. CW-UNIT-1.
    pub number_of_units: u8,
    /// Health points of every unit at the start, 1 to 255. CW-UNIT-2.
    pub health_points: u8,
    /// The maximum range of a shot, as Manhattan distance, 0 to 18. CW-SHOOT-1.
    pub shooting_range: u8,
    /// The damage of a shot at distance 0: the distance is subtracted from it. CW-SHOOT-2.
    pub damage: u8,
    /// The chance of an obstacle on a free tile of the left half, 0 to 1. CW-MAP-3.
    pub obstacle_chance: f64,
    /// Where the neutrals' generator starts, below 2^31. CW-NEUTRAL-1.
    pub neutral_seed: u32,
    /// The number of places in the list of neutrals to draw from, at least 1. CW-NEUTRAL-2.
    pub neutral_draw: u32,
    /// Milliseconds for a player's first answer. CW-TIME-1.
    pub first_response_time: u32,
    /// Milliseconds for each later answer. CW-TIME-1.
    pub response_time: u32,
}

/// Reads the rules and refuses unplayable ones.
///
/// # Errors
/// With the name of the rule and what is allowed.
pub fn load(choice: &RulesChoice) -> Result<Loaded<Rules>, SetupError> {
    let loaded: Loaded<Rules> = agon_game::rules::load(&INFO, choice)?;
    let rules = &loaded.rules;
    let checks = [
        ("number_of_turns", "1 to 10000", (1..=10_000).contains(&rules.number_of_turns)),
        (
            "number_of_units",
            "an even number from 2 to 14",
            rules.number_of_units.is_multiple_of(2) && (2..=UNITS as u8).contains(&rules.number_of_units),
        ),
        ("health_points", "1 to 255", rules.health_points > 0),
        ("shooting_range", "0 to 18", rules.shooting_range <= 18),
        ("obstacle_chance", "0 to 1", (0.0..=1.0).contains(&rules.obstacle_chance)),
        ("neutral_seed", "below 2147483648", rules.neutral_seed < 1 << 31),
        ("neutral_draw", "at least 1", rules.neutral_draw > 0),
        ("first_response_time", "at least 1", rules.first_response_time > 0),
        ("response_time", "at least 1", rules.response_time > 0),
    ];
    match checks.into_iter().find(|(_, _, fine)| !fine) {
        None => Ok(loaded),
        Some((rule, allowed, _)) => {
            Err(SetupError::BadRule { place: loaded.name, why: format!("`{rule}` must be {allowed}") })
        }
    }
}
