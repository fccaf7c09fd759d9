//! All numbers of the game, named as in its rules document, and the presets.

use std::collections::BTreeMap;

use agon_game::{Cpus, Preset, SetupError};
use serde::{Deserialize, Serialize};

use crate::items::{ItemRule, Kind};
use crate::state::{ADVENTURERS, PILES};

/// The rules of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rules {
    /// Rounds in a match (OB-GAME-1).
    pub nb_rounds: u16,
    /// Gold of each team at the start (OB-GAME-2).
    pub starting_gold: u32,
    /// Seconds a team has for one answer (OB-GAME-6).
    pub timeout: u32,
    /// Adventurers of each team in a round (OB-SPAWN-1).
    pub adventurers_per_round: u16,
    /// Hit points of an unhurt adventurer (OB-SPAWN-2).
    pub adventurer_hp: u16,
    /// Damage of an adventurer without a weapon (OB-SPAWN-2).
    pub adventurer_damage: u16,
    /// Damage for walking into a block (OB-MOVE-2).
    pub block_damage: u16,
    /// Vision of an adventurer without an accessory, in cells (OB-SEE-1).
    pub vision_length: u16,
    /// Vision of a spawner, in cells (OB-SEE-3).
    pub spawner_vision: u16,
    /// The turn at whose end the spawners burn (OB-FIRE-1).
    pub corruption_start_at: u16,
    /// Turns from one spreading of the fire to the next (OB-FIRE-2).
    pub corruption_spread_speed: u16,
    /// Damage of the fire each turn (OB-FIRE-3).
    pub corruption_damage: u16,
    /// Damage of spikes (OB-TILE-1).
    pub spike_damage: u16,
    /// Hit points of a portal (OB-PORTAL-1).
    pub portal_hp: u16,
    /// Hit points of a chest (OB-LOOT-1).
    pub chest_hp: u16,
    /// Gold in a chest (OB-LOOT-1).
    pub chest_gold: u16,
    /// Hit points of a vase (OB-LOOT-2).
    pub vase_hp: u16,
    /// Gold in a vase (OB-LOOT-2).
    pub vase_gold: u16,
    /// Hit points of a door (OB-LOOT-3).
    pub door_hp: u16,
    /// Gold of each pile drawn on the map (OB-LOOT-4).
    pub gold_pile: u16,
    /// Price of a health tile (OB-TILE-6).
    pub heal_cost: u32,
    /// Share of its price refunded for a sold item (OB-ITEM-8).
    pub sell_ratio: f64,
    /// The longest round, in turns (OB-ROUND-6).
    pub max_turns: u16,
    /// Whether an adventurer that slides into something hits it (OB-TILE-4).
    pub slide_bumps: bool,
    /// How distances are measured (OB-SEE-5).
    pub vision_metric: Metric,
    /// Whether bots are told terrain they do not see (OB-SEE-7).
    pub reveal_terrain: bool,
    /// Prices and effects of the items (OB-ITEM-4 to OB-ITEM-7).
    pub items: BTreeMap<Kind, ItemRule>,
}

/// How the distance of a cell is measured (OB-SEE-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// In a straight line: a disc.
    Radius,
    /// In steps: a diamond.
    Manhattan,
    /// In steps of a chess king: a square.
    Chebyshev,
}

impl Metric {
    /// Whether an offset of `dx` columns and `dy` rows is at most `reach` cells long.
    pub const fn within(self, dx: i32, dy: i32, reach: i32) -> bool {
        match self {
            Self::Radius => dx * dx + dy * dy <= reach * reach,
            Self::Manhattan => dx.abs() + dy.abs() <= reach,
            Self::Chebyshev => dx.abs() <= reach && dy.abs() <= reach,
        }
    }
}

/// The presets (OB-GAME-7); the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "default",
        about: "two rounds",
        text: concat!(include_str!("../rules/default.toml"), include_str!("../rules/common.toml")),
        cpus: Cpus::One,
    },
    Preset {
        name: "semifinal",
        about: "three rounds",
        text: concat!(include_str!("../rules/semifinal.toml"), include_str!("../rules/common.toml")),
        cpus: Cpus::One,
    },
    Preset {
        name: "final",
        about: "four rounds",
        text: concat!(include_str!("../rules/final.toml"), include_str!("../rules/common.toml")),
        cpus: Cpus::One,
    },
];

/// Upper limit on damage, hit points and prices.
const LARGEST: u32 = 10_000;
/// Upper limit on the gold in one place of a map, so that all gold of a map fits into 16 bits.
const MOST_GOLD: u32 = 500;
const _: () = assert!(MOST_GOLD as usize * (PILES - ADVENTURERS) <= u16::MAX as usize);

impl Rules {
    /// Checks that the engine can handle every number.
    ///
    /// # Errors
    /// Names the rule and its bounds.
    pub fn check(&self, place: &str) -> Result<(), SetupError> {
        let wide = u32::from;
        let mut bounds = vec![
            ("nbRounds", wide(self.nb_rounds), 1, 100),
            ("startingGold", self.starting_gold, 0, LARGEST),
            ("timeout", self.timeout, 1, 3_600),
            ("adventurersPerRound", wide(self.adventurers_per_round), 1, 32),
            ("adventurerHp", wide(self.adventurer_hp), 1, LARGEST),
            ("adventurerDamage", wide(self.adventurer_damage), 0, LARGEST),
            ("blockDamage", wide(self.block_damage), 0, LARGEST),
            ("visionLength", wide(self.vision_length), 0, 100),
            ("spawnerVision", wide(self.spawner_vision), 0, 100),
            ("corruptionStartAt", wide(self.corruption_start_at), 1, LARGEST),
            ("corruptionSpreadSpeed", wide(self.corruption_spread_speed), 1, LARGEST),
            ("corruptionDamage", wide(self.corruption_damage), 0, LARGEST),
            ("spikeDamage", wide(self.spike_damage), 0, LARGEST),
            ("portalHp", wide(self.portal_hp), 1, LARGEST),
            ("chestHp", wide(self.chest_hp), 1, LARGEST),
            ("chestGold", wide(self.chest_gold), 0, MOST_GOLD),
            ("vaseHp", wide(self.vase_hp), 1, LARGEST),
            ("vaseGold", wide(self.vase_gold), 0, MOST_GOLD),
            ("doorHp", wide(self.door_hp), 1, LARGEST),
            ("goldPile", wide(self.gold_pile), 0, MOST_GOLD),
            ("healCost", self.heal_cost, 0, LARGEST),
            ("maxTurns", wide(self.max_turns), 1, LARGEST),
        ];
        let names: Vec<String> = Kind::ALL
            .iter()
            .flat_map(|kind| ["cost", "bonus"].map(|part| format!("items.{}.{part}", kind.id())))
            .collect();
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            let Some(item) = self.items.get(&kind) else {
                let why = format!("`items.{}` is missing", kind.id());
                return Err(SetupError::BadRule { place: place.to_owned(), why });
            };
            bounds.push((&names[2 * index], item.cost, 0, LARGEST));
            bounds.push((&names[2 * index + 1], wide(item.bonus), 0, LARGEST));
        }
        for (name, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                let why = format!("`{name}` must be between {least} and {most}, not {value}");
                return Err(SetupError::BadRule { place: place.to_owned(), why });
            }
        }
        if !(0.0..=1.0).contains(&self.sell_ratio) {
            let why = format!("`sellRatio` must be between 0 and 1, not {}", self.sell_ratio);
            return Err(SetupError::BadRule { place: place.to_owned(), why });
        }
        Ok(())
    }
}
