//! What a match is set up from, and what can be wrong with it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// The rules.
    pub rules: RulesChoice,
    /// The map.
    pub map: MapChoice,
    /// The number of seats.
    pub seats: u8,
    /// The seed of the match.
    pub seed: i64,
}

/// Which rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesChoice {
    /// A preset; empty for the game's default.
    pub preset: String,
    /// A rules file instead of a preset: `(name shown in errors, text)`.
    pub file: Option<(String, String)>,
    /// `name=value` changes on top, in order.
    pub sets: Vec<(String, String)>,
}

/// Which map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MapChoice {
    /// The game's default: made or picked by the seed.
    #[default]
    Default,
    /// A map built into the program.
    Named(String),
    /// A map file: `(name shown in errors, content)`.
    File(String, Vec<u8>),
    /// Generated from the seed.
    Generated,
}

/// A setup with nothing left open, as a replay carries it. Building from it gives the same game in
/// every later version with the same rules version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// The name of the rules: a preset, or a preset with its changes (`standard, maxTurns=10`).
    pub rules_name: String,
    /// The complete rules.
    pub rules: String,
    /// The name of the map.
    pub map_name: String,
    /// The complete map; empty where the seed makes it.
    pub map: String,
    /// The number of seats.
    pub seats: u8,
    /// The seed of the match.
    #[serde(with = "seed_as_string")]
    pub seed: i64,
}

impl Recipe {
    /// The setup that builds this recipe again.
    pub fn setup(&self) -> Setup {
        let map = match self.map.is_empty() {
            true => MapChoice::Default,
            false => MapChoice::File(self.map_name.clone(), self.map.clone().into_bytes()),
        };
        let rules = RulesChoice {
            file: Some((self.rules_name.clone(), self.rules.clone())),
            ..RulesChoice::default()
        };
        Setup { rules, map, seats: self.seats, seed: self.seed }
    }
}

/// Seeds are strings in JSON, because many JSON readers have no 64-bit integers.
pub mod seed_as_string {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    /// Writes the seed as a decimal string.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(seed: &i64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(seed)
    }

    /// Reads a decimal string.
    ///
    /// # Errors
    /// When it is not one.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// What is wrong with a setup. Each message names the thing, the place and the fix.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// No such preset.
    #[error("{game} has no rules preset `{name}`. Presets: {known}")]
    UnknownPreset {
        /// The game.
        game: &'static str,
        /// What was asked for.
        name: String,
        /// The known names.
        known: String,
    },
    /// No such rule.
    #[error("{place}: no rule is called `{key}`{}", rule_hint(.nearest.as_deref()))]
    UnknownRule {
        /// The file, or `--set`.
        place: String,
        /// What was asked for.
        key: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// A rule with an impossible value.
    #[error("{place}: {why}")]
    BadRule {
        /// The file, or `--set name`.
        place: String,
        /// What is wrong and what is allowed.
        why: String,
    },
    /// No such map.
    #[error("{game} has no map `{name}`{} See `agon maps {game}`", map_hint(.nearest.as_deref()))]
    UnknownMap {
        /// The game.
        game: &'static str,
        /// What was asked for.
        name: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// A map that cannot be played.
    #[error("map {place}: {why}")]
    BadMap {
        /// The file, with line and column where that helps.
        place: String,
        /// What is wrong and what is allowed.
        why: String,
    },
    /// The number of bots does not fit.
    #[error("{game} is played by {needs}, not by {got}")]
    BadSeats {
        /// The game.
        game: &'static str,
        /// How many it takes: `2 bots`, `2 to 4 bots`.
        needs: String,
        /// How many came.
        got: usize,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// The end of a sentence about an unknown map.
fn map_hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(|| ".".to_owned(), |name| hint(Some(name)))
}

/// A hint for an unknown rule.
fn rule_hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(|| " (`agon rules GAME --preset NAME` lists all)".to_owned(), |name| hint(Some(name)))
}

/// The entry of `known` most like `name`, if any is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(name);
    let known: Vec<(String, &str)> = known.into_iter().map(|other| (plain(other), other)).collect();
    let similar = known
        .iter()
        .map(|(plain, other)| (strsim::osa_distance(&wanted, plain), other))
        .filter(|&(distance, other)| distance <= 2.max(other.len().min(name.len()) / 3))
        .min_by_key(|&(distance, _)| distance);
    // `turns` may be short for `numberOfTurns`.
    let longer = || {
        let holds = |plain: &str| wanted.len() > 2 && plain.contains(&wanted);
        known.iter().find(|(plain, _)| holds(plain)).map(|(_, other)| (0, other))
    };
    similar.or_else(longer).map(|(_, other)| (*other).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_find_the_meant_one() {
        let known = ["maxTurns", "shotRange", "startHp"];
        assert_eq!(nearest("max_turn", known).as_deref(), Some("maxTurns"));
        assert_eq!(nearest("shootRange", known).as_deref(), Some("shotRange"));
        assert_eq!(nearest("gravity", known), None);
        assert_eq!(nearest("turns", ["shotRange", "numberOfTurns"]).as_deref(), Some("numberOfTurns"));
    }
}
