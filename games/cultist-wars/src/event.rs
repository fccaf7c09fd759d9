//! What happened in a turn, for spectators. Players are numbered from 1; a tile is `[x, y]`.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::board::Tile;
use crate::shoot::Struck;
use crate::state::{State, UnitId};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Event {
    /// A unit of the mover moved one tile.
    Moved {
        /// The unit.
        unit: UnitId,
        /// Where it was.
        from: Tile,
        /// Where it is.
        to: Tile,
    },
    /// A unit shot.
    Shot {
        /// The shooter.
        unit: UnitId,
        /// The unit it aimed at.
        target: UnitId,
        /// The tiles between the two, nearest the shooter first.
        line: Line,
        /// The unit that was hit; `None` when an obstacle was hit.
        hit: Option<UnitId>,
        /// Where the shot ended.
        at: Tile,
        /// Health points lost.
        damage: u8,
    },
    /// A leader converted a cultist.
    Converted {
        /// The leader.
        unit: UnitId,
        /// The cultist.
        target: UnitId,
        /// Its new owner.
        player: u8,
    },
    /// A unit died.
    Died {
        /// The unit.
        unit: UnitId,
    },
    /// A neutral strolled.
    NeutralMoved {
        /// The unit.
        unit: UnitId,
        /// Where it was.
        from: Tile,
        /// Where it is.
        to: Tile,
    },
    /// The mover did nothing: it chose to wait, or its way was blocked.
    Waited {
        /// The mover.
        player: u8,
    },
    /// The mover's line was not a valid action.
    Invalid {
        /// The mover.
        player: u8,
        /// Why.
        why: String,
    },
}

/// Tiles in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Line(pub Vec<Tile>);

impl Event {
    /// A shot; `state` is the one before the damage.
    pub(crate) fn shot(state: &State, unit: UnitId, target: UnitId, line: Line, struck: Struck) -> Self {
        let (hit, at, damage) = match struck {
            Struck::Obstacle(tile) => (None, tile, 0),
            Struck::Unit { unit, damage } => (Some(unit), state.tile(unit), damage),
        };
        Self::Shot { unit, target, line, hit, at, damage }
    }
}

/// One plain line.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved { unit, from, to } => write!(f, "unit {unit} moved from {from} to {to}"),
            Self::Shot { unit, target, hit, at, damage, .. } => {
                write!(f, "unit {unit} shot at unit {target} and hit ")?;
                match hit {
                    Some(hit) => write!(f, "unit {hit} for {damage}"),
                    None => write!(f, "the obstacle at {at}"),
                }
            }
            Self::Converted { unit, target, player } => {
                write!(f, "unit {unit} converted unit {target} for player {player}")
            }
            Self::Died { unit } => write!(f, "unit {unit} died"),
            Self::NeutralMoved { unit, from, to } => write!(f, "neutral {unit} moved from {from} to {to}"),
            Self::Waited { player } => write!(f, "player {player} waited"),
            Self::Invalid { player, why } => write!(f, "player {player} gave no valid action: {why}"),
        }
    }
}

impl Serialize for Tile {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        [self.x(), self.y()].serialize(to)
    }
}
