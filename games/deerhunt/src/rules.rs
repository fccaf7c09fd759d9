//! Every number and choice of the rulebook, and the three presets.

use serde::{Deserialize, Serialize};

use agon_game::{Cpus, Preset, SetupError};

use crate::map::MAX_CELLS;
use crate::orders::MAX_WORDS;

/// The presets; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "document",
        about: "the rules document of February 2019: 40 x 40, health, hubs that run dry",
        text: include_str!("../rules/document.toml"),
        cpus: Cpus::One,
    },
    Preset {
        name: "neo2019",
        about: "the overnight contest of March 2019, exactly as its engine played",
        text: include_str!("../rules/neo2019.toml"),
        cpus: Cpus::One,
    },
    Preset {
        name: "bc2021",
        about: "the contest of January 2021: workers multiply, fighters stun",
        text: include_str!("../rules/bc2021.toml"),
        cpus: Cpus::One,
    },
];

/// All rules of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Rounds of a match; a round is one half-turn of each player (DH-TURN-1).
    pub max_rounds: u16,
    /// What each player owns at the start (DH-TURN-4).
    pub start_resources: u32,
    /// Who wins with equal resources at the limit (DH-END-3).
    pub tie: Tie,
    /// What one bad move does to the rest of its list (DH-VALID-1 to DH-VALID-3).
    pub validation: Validation,

    /// The maps from which the seed picks one; empty: the map is generated from the seed (DH-MAP-5).
    pub maps: Vec<String>,
    /// Width of a generated map, in tiles (DH-GEN-1).
    pub map_width: u8,
    /// Height of a generated map, in tiles (DH-GEN-1).
    pub map_height: u8,
    /// Hubs on a generated map (DH-GEN-2).
    pub hubs: u8,
    /// Workers of each player on a generated map (DH-GEN-3).
    pub start_workers: u8,
    /// Melees of each player on a generated map (DH-GEN-3).
    pub start_melees: u8,

    /// Health of a melee (DH-ATTACK-3).
    pub melee_hp: u8,
    /// Health of a worker (DH-ATTACK-3).
    pub worker_hp: u8,
    /// How far every unit sees, in tiles, diagonals counting as one (DH-FOG-1).
    pub vision: u8,
    /// When a player is told the other's resources (DH-FOG-3).
    pub opponent_resources: OpponentResources,
    /// Steps in one move (DH-MOVE-2).
    pub max_steps: u8,

    /// Who may attack (DH-ATTACK-1).
    pub attackers: Attackers,
    /// Health taken by an attack (DH-ATTACK-3).
    pub attack_damage: u8,
    /// Range of an attack, in tiles (DH-ATTACK-4).
    pub attack_range: u8,

    /// Who duplicates into what (DH-DUP-1).
    pub duplication: Duplication,
    /// Price of a new melee (DH-DUP-2).
    pub melee_cost: u32,
    /// Price of a new worker (DH-DUP-2).
    pub worker_cost: u32,
    /// Rounds from the order to the child (DH-DUP-3).
    pub duplication_time: u8,
    /// Whether a child may appear on a resource tile (DH-DUP-4).
    pub child_on_resource: bool,
    /// Units ever made in one match, those in the making included (DH-DUP-5).
    pub max_units: u16,

    /// Rounds from the order to the yield (DH-MINE-2).
    pub mining_time: u8,
    /// Resources of one mining (DH-MINE-2).
    pub mining_yield: u32,
    /// Resources in a hub before it is saturated; 0: endless (DH-MINE-3).
    pub hub_capacity: u16,
    /// Whether `MINE` may name a neighbouring hub; otherwise its further words are ignored (DH-MINE-4).
    pub mine_direction: bool,

    /// Whether melees can stun (DH-STUN-1).
    pub stun: bool,
    /// Price of a stun (DH-STUN-2).
    pub stun_cost: u32,
    /// Half-turns a victim loses to a stun (DH-STUN-3).
    pub stun_length: u8,
    /// Range of a stun, in words and so in tiles (DH-STUN-1).
    pub stun_range: u8,
    /// Whether stuns are counted down under the name of the stunner, as the event of 2021 did (DH-STUN-4).
    pub compat_stun_registry: bool,

    /// When timers run (DH-TIME-1, DH-TIME-2).
    pub countdown: Countdown,
    /// What happens to the timer of a unit that dies (DH-TIME-3).
    pub timers_of_the_dead: DeadTimers,

    /// The form of the units in messages (DH-WIRE-2).
    pub message: Message,
    /// Milliseconds for a bot to connect (DH-WIRE-4).
    pub connect_timeout_ms: u32,
    /// Milliseconds for a reply (DH-WIRE-4).
    pub reply_timeout_ms: u32,
    /// Whether a late reply counts as the answer to the next question, as in the events (DH-WIRE-5).
    pub compat_late_reply: bool,
}

/// Who wins with equal resources at the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tie {
    /// Player 2.
    #[serde(rename = "player_2")]
    PlayerTwo,
    /// Nobody.
    Shared,
}

/// What one bad move does to the rest of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    /// A malformed move voids the list; a move forbidden by the board wastes one action.
    Form,
    /// Any rejected move voids the list.
    Strict,
    /// Every move stands on its own.
    Each,
}

/// When a player is told the other's resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpponentResources {
    /// While it sees a worker of the other.
    WithWorker,
    /// Never.
    Never,
}

/// Who may attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attackers {
    /// Melees.
    Melee,
    /// Every unit.
    Any,
}

/// Who duplicates into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplication {
    /// A melee makes a melee: `DUPLICATE`.
    MeleeItself,
    /// A worker makes a melee or a worker: `DUPLICATE_M`, `DUPLICATE_W`.
    WorkersBoth,
}

/// When timers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Countdown {
    /// All of them once a round, before player 1.
    Round,
    /// Those of the player who just moved, before the other one.
    Half,
}

/// What happens to the timer of a unit that dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadTimers {
    /// It ends with the unit.
    Cancelled,
    /// It runs on and has its effect.
    RunOn,
}

/// The form of the units in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// That of 2019 with health, and the opponent's resources.
    #[serde(rename = "document")]
    Document,
    /// That of the event of 2019.
    #[serde(rename = "2019")]
    Neo2019,
    /// That of the event of 2021.
    #[serde(rename = "2021")]
    Bc2021,
}

/// Upper limit on any price, yield, stock and starting wealth: sums of them stay far from overflow.
const MAX_AMOUNT: u32 = 1_000_000;

impl Rules {
    /// Refuses values with which no match can be played. `capacity` is the number of units a state holds.
    ///
    /// # Errors
    /// Names the rule and what is allowed.
    pub fn check(&self, place: &str, capacity: usize) -> Result<(), SetupError> {
        let within = |name: &str, value: u32, least: u32, most: u32| match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(SetupError::BadRule {
                place: place.to_owned(),
                why: format!("`{name}` must be from {least} to {most}, not {value}"),
            }),
        };
        within("max_rounds", self.max_rounds.into(), 1, 10_000)?;
        within("start_resources", self.start_resources, 0, MAX_AMOUNT)?;
        within("map_width", self.map_width.into(), 12, 100)?;
        within("map_height", self.map_height.into(), 14, 100)?;
        within(
            "map_width x map_height",
            u32::from(self.map_width) * u32::from(self.map_height),
            1,
            MAX_CELLS as u32,
        )?;
        within("hubs", self.hubs.into(), 1, 9)?;
        within("start_workers", self.start_workers.into(), 0, u32::from(self.map_width - 4) / 2)?;
        within("start_melees", self.start_melees.into(), 0, u32::from(self.map_width - 4) / 2)?;
        within(
            "start_workers + start_melees",
            u32::from(self.start_workers) + u32::from(self.start_melees),
            1,
            100,
        )?;
        within("melee_hp", self.melee_hp.into(), 1, 255)?;
        within("worker_hp", self.worker_hp.into(), 1, 255)?;
        within("max_steps", self.max_steps.into(), 1, MAX_WORDS as u32)?;
        within("attack_damage", self.attack_damage.into(), 0, 255)?;
        within("attack_range", self.attack_range.into(), 1, 100)?;
        within("melee_cost", self.melee_cost, 0, MAX_AMOUNT)?;
        within("worker_cost", self.worker_cost, 0, MAX_AMOUNT)?;
        within("duplication_time", self.duplication_time.into(), 1, 255)?;
        within("max_units", self.max_units.into(), 1, capacity as u32)?;
        within("mining_time", self.mining_time.into(), 1, 255)?;
        within("mining_yield", self.mining_yield, 0, MAX_AMOUNT)?;
        within("hub_capacity", self.hub_capacity.into(), 0, u32::from(u16::MAX))?;
        within("stun_cost", self.stun_cost, 0, MAX_AMOUNT)?;
        within("stun_range", self.stun_range.into(), 0, MAX_WORDS as u32)?;
        within("connect_timeout_ms", self.connect_timeout_ms, 1, 600_000)?;
        within("reply_timeout_ms", self.reply_timeout_ms, 1, 600_000)
    }
}
