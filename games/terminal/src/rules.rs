//! Every number of the game, named as in the original configuration.
//!
//! [`crate::config`] turns a configuration file into these numbers.

use std::collections::{BTreeMap, BTreeSet};

use agon_game::Seats;

use crate::arena::{Reach, Tile};

/// The six kinds of units, in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
pub enum Kind {
    /// Blocks the way.
    Wall,
    /// Shields its own mobile units.
    Support,
    /// Shoots at mobile units.
    Turret,
    /// Fast, cheap, scores.
    Scout,
    /// Fragile, hits hard and far.
    Demolisher,
    /// Slow, tough, fights mobile units only.
    Interceptor,
}

impl Kind {
    /// All kinds, in the order of the configuration.
    pub const ALL: [Self; 6] =
        [Self::Wall, Self::Support, Self::Turret, Self::Scout, Self::Demolisher, Self::Interceptor];

    /// The place in the configuration and in the unit lists of a state line.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether it moves.
    pub const fn is_mobile(self) -> bool {
        self.index() >= 3
    }

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        ["Wall", "Support", "Turret", "Scout", "Demolisher", "Interceptor"][self.index()]
    }
}

/// The numbers of one kind of unit, as built or as upgraded (TM-CONFIG-2).
///
/// Points, damages and healths are 32-bit floats as in the original; ranges are in tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Form {
    /// Structure points it costs; for an upgraded form what the upgrade costs.
    pub cost1: f32,
    /// Mobile points it costs.
    pub cost2: f32,
    /// Its full health.
    pub start_health: f32,
    /// Damage to mobile units.
    pub attack_damage_walker: f32,
    /// Damage to structures.
    pub attack_damage_tower: f32,
    /// How far it shoots.
    pub attack_range: Reach,
    /// The base amount of one shield.
    pub shield_per_unit: f32,
    /// The range of its shields.
    pub shield_range: Reach,
    /// Added to a shield for each row between the giver and its own corner.
    pub shield_bonus_per_y: f32,
    /// Share of a step made per frame.
    pub speed: f32,
    /// Health the enemy loses when it breaches.
    pub player_breach_damage: f32,
    /// Structure points its player gains when it breaches.
    pub metal_for_breach: f32,
    /// Damage of its self-destruction to mobile units.
    pub self_destruct_damage_walker: f32,
    /// Damage of its self-destruction to structures.
    pub self_destruct_damage_tower: f32,
    /// The range of its self-destruction.
    pub self_destruct_range: Reach,
    /// Steps it must have made before its self-destruction does harm.
    pub self_destruct_steps_required: u32,
    /// Share of the cost refunded when it is removed.
    pub refund_percentage: f32,
    /// Restores until a removal is done.
    pub turns_required_to_remove: u8,
    /// Structure points it makes in each restore.
    pub generates_resource1: f32,
    /// Mobile points it makes in each restore.
    pub generates_resource2: f32,
}

/// The numbers of a kind, in both forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Its shorthand in orders.
    pub shorthand: String,
    /// As built, and as upgraded; equal if there is no upgrade.
    pub forms: [Form; 2],
    /// Whether there is an upgrade.
    pub upgradable: bool,
}

/// Points and health of a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resources {
    /// Health at the start.
    pub starting_hp: f32,
    /// Structure points at the start.
    pub starting_cores: f32,
    /// Mobile points at the start.
    pub starting_bits: f32,
    /// Structure points of each later turn.
    pub cores_per_round: f32,
    /// Mobile points of each later turn.
    pub bits_per_round: f32,
    /// Added to the mobile points per turn each time the schedule comes round.
    pub bit_growth_rate: f32,
    /// Turns between two such increases; 0 for none.
    pub turn_interval_for_bit_schedule: u32,
    /// Share of the mobile points lost at each restore.
    pub bit_decay_per_round: f32,
    /// Upper limit on mobile points after income.
    pub max_bits: f32,
}

/// The clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Milliseconds free of charge.
    pub wait_time_bot_soft: u32,
    /// Milliseconds after which a bot is stopped.
    pub wait_time_bot_max: u32,
    /// Milliseconds before the first question and after the end line (TM-CLOCK-5).
    pub pauses_ms: [u32; 2],
}

/// Bounds that the original does not specify, under the key `agon` of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The match ends when this turn would start.
    pub max_turns: u16,
    /// After this many frames of a turn every mobile unit is removed.
    pub max_frames_per_turn: u16,
    /// Entries of an answer beyond this are rejected.
    pub max_orders: u16,
    /// Stray output lines allowed in a turn.
    pub stray_lines: u16,
    /// Whether a stray output line is a crash, as in the original.
    pub strict: bool,
    /// The seats that a person plays by hand and that pay nothing for time (TM-SEASON-5).
    pub by_hand: Seats,
}

/// What was different in the first seasons, 2018 and 2019 (TM-SEASON-1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Early {
    /// Whether the configuration has the keys of then.
    pub is_early: bool,
    /// What each shield loses in a frame (TM-SEASON-2).
    pub shield_decay_per_frame: f32,
    /// Structure points the opponent of a bot gets when the bot crashes (TM-SEASON-4).
    pub cores_for_crash: f32,
    /// Whether units also strike at all that reach them, not only at their neighbours (TM-SEASON-6).
    pub strikes_in_reach: bool,
    /// With so little health left a hit mobile unit is dead (TM-SEASON-8); 0 but for the later engine of then.
    pub dust: f32,
}

/// Choices among equals in a match of the first seasons (TM-SEASON-7).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picks {
    /// By turn and unit: the place of a unit that is hit before others equal to it; the lowest first.
    pub first: BTreeMap<(u16, u32), usize>,
    /// By turn, frame and unit: the tile of a step.
    pub steps: BTreeMap<(u16, u16, u32), Tile>,
}

/// What a record shows, by turn, frame and unit, from which [`Picks`] are read.
#[derive(Clone, Debug, Default)]
pub struct RecordedChoices {
    /// The targets of attacks.
    pub targets: BTreeMap<(u16, u16, u32), u32>,
    /// The tiles of steps.
    pub steps: BTreeMap<(u16, u16, u32), Tile>,
    /// The turns in which a target was chosen otherwise than here.
    pub otherwise: BTreeSet<u16>,
}

/// The rules of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The six kinds of units, by [`Kind::index`].
    pub units: [Unit; 6],
    /// The shorthand for a removal in orders.
    pub remove: String,
    /// The shorthand for an upgrade in orders.
    pub upgrade: String,
    /// Whether the configuration is from before there were upgrades: state lines have no list of them (TM-CONFIG-6).
    pub before_upgrades: bool,
    /// What was different in the first seasons.
    pub early: Early,
    /// The original's choices among equals, in a match read from a record of then.
    pub picks: Picks,
    /// Points and health.
    pub resources: Resources,
    /// The clock.
    pub timing: Timing,
    /// Our own bounds.
    pub bounds: Bounds,
}

impl Rules {
    /// The numbers of a kind as built or upgraded.
    #[inline]
    pub const fn form(&self, kind: Kind, upgraded: bool) -> &Form {
        &self.units[kind.index()].forms[upgraded as usize]
    }

    /// The structure points a structure is worth: its cost, plus that of its upgrade (TM-RESTORE-5).
    pub fn worth(&self, kind: Kind, upgraded: bool) -> f32 {
        let [base, better] = &self.units[kind.index()].forms;
        if upgraded { base.cost1 + better.cost1 } else { base.cost1 }
    }
}
