//! Every number of the game.

use agon_game::rules::{Loaded, load};
use agon_game::{Cpus, Preset, RulesChoice, SetupError};
use serde::{Deserialize, Serialize};

/// The presets; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "tournament",
        about: "the final day: 300 ticks, 150 ms to answer, units as the map says",
        text: include_str!("../rules/tournament.toml"),
        cpus: Cpus::All,
    },
    Preset {
        name: "practice",
        about: "the server contestants ran at home: one second to answer, 3 units a team",
        text: include_str!("../rules/practice.toml"),
        cpus: Cpus::All,
    },
];

/// Upper limit on the units on a board, all teams together (JB-MAP-5).
pub const MAX_UNITS: usize = 16;
/// Upper limit on the teams (JB-GAME-1).
pub const MAX_TEAMS: usize = 4;
/// Upper limit on the diamonds on a map (JB-MAP-5).
pub const MAX_DIAMONDS: usize = 16;
/// Upper limit on the width and on the height of a map (JB-MAP-5).
pub const MAX_SIDE: usize = 64;
/// Upper limit on the entries in the `actions` of one command; a longer list is no answer (JB-WIRE-5).
pub const MAX_ACTIONS: usize = 1_024;
/// Units per team when neither the map nor the rules say how many (JB-MAP-4).
pub const DEFAULT_UNITS_PER_TEAM: u8 = 3;

/// The numbers of a match, under the names used by the contest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rules {
    /// How many ticks are played (JB-GAME-3).
    pub total_tick: u16,
    /// Milliseconds a team has to answer; 0: no limit (JB-TIME-1).
    pub time_per_tick: u32,
    /// Additional milliseconds in each of the first ticks (JB-TIME-1).
    pub extra_time: u32,
    /// How many ticks have the extra time (JB-TIME-1).
    pub extra_time_ticks: u16,
    /// Units of each team; 0: the map's number for that many teams (JB-MAP-4).
    pub units_per_team: u8,
    /// Points a held diamond gains per tick and level (JB-POINTS-1).
    pub points_per_diamond: u16,
    /// The level of a diamond at the start and after a drop on the ground (JB-DROP-4).
    pub initial_diamond_summon_level: u8,
    /// The highest level (JB-SUMMON-1).
    pub maximum_diamond_summon_level: u8,
    /// For how many ticks a team is told the play order, the current one included (JB-ORDER-3).
    pub play_order_look_ahead: u16,
    /// The orders drawn for the blocks of a recorded match, each as it stands in the block's first tick: seats from 1.
    /// Empty, as in every preset: they are drawn from the match seed (JB-ORDER-1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub play_orders: Vec<Vec<u8>>,
}

impl Rules {
    /// Reads and checks the rules that `choice` names.
    ///
    /// # Errors
    /// When a rule is unknown, of the wrong type, or out of range.
    pub fn load(choice: &RulesChoice) -> Result<Loaded<Self>, SetupError> {
        let loaded = load::<Self>(&crate::INFO, choice)?;
        loaded.rules.check().map_err(|why| SetupError::BadRule { place: loaded.name.clone(), why })?;
        Ok(loaded)
    }

    /// What is out of range, if anything is.
    fn check(&self) -> Result<(), String> {
        let (low, high) = (self.initial_diamond_summon_level, self.maximum_diamond_summon_level);
        if !(1..=20_000).contains(&self.total_tick) {
            return Err(format!("totalTick must be 1 to 20000, not {}", self.total_tick));
        }
        if !(1 <= low && low <= high && high <= 100) {
            return Err(format!(
                "levels must satisfy 1 <= initialDiamondSummonLevel ({low}) <= maximumDiamondSummonLevel ({high}) <= 100"
            ));
        }
        for order in &self.play_orders {
            let mut seats = order.clone();
            seats.sort_unstable();
            if !(1..=MAX_TEAMS).contains(&seats.len())
                || seats.iter().zip(1..).any(|(&seat, number)| seat != number)
            {
                return Err(format!(
                    "each of playOrders must name every team once, as [2, 1, 3], not {order:?}"
                ));
            }
        }
        if self.play_orders.len() > usize::from(self.total_tick) {
            return Err("there are more playOrders than ticks".to_owned());
        }
        // The points of a diamond held from the first tick to the last must fit its counter.
        let most = u64::from(self.total_tick) * u64::from(high) * u64::from(self.points_per_diamond);
        if most > u64::from(u16::MAX) {
            return Err(format!(
                "totalTick x maximumDiamondSummonLevel x pointsPerDiamond must be at most {}, not {most}",
                u16::MAX
            ));
        }
        Ok(())
    }
}
