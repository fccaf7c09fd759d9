//! What happens in a half-turn, for spectators.

use serde::Serialize;

use crate::state::{At, Direction, Kind, Player, UnitId};

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Event {
    /// A unit moved.
    Moved {
        /// The unit.
        unit: UnitId,
        /// Where it stood.
        from: At,
        /// Where it stands.
        to: At,
    },
    /// A unit attacked another.
    Attacked {
        /// The attacker.
        unit: UnitId,
        /// The attacked unit.
        target: UnitId,
        /// The target's remaining health.
        left: u8,
    },
    /// A unit left the board.
    Died {
        /// The unit.
        unit: UnitId,
        /// Where it stood.
        at: At,
    },
    /// A unit began to make another one.
    DuplicationBegan {
        /// The parent.
        unit: UnitId,
        /// The kind of the child.
        child: Kind,
        /// The side of the parent.
        direction: Direction,
    },
    /// A child appeared.
    Born {
        /// The child.
        unit: UnitId,
        /// Its parent.
        parent: UnitId,
        /// Its owner.
        owner: Player,
        /// Its kind.
        kind: Kind,
        /// Where it stands.
        at: At,
    },
    /// A child could not appear: its place was taken.
    ChildLost {
        /// The parent.
        parent: UnitId,
        /// The place.
        at: At,
    },
    /// A worker began to mine.
    MiningBegan {
        /// The worker.
        unit: UnitId,
    },
    /// Mining paid.
    Mined {
        /// The worker, alive or dead.
        unit: UnitId,
        /// The player who was paid.
        owner: Player,
        /// How much.
        amount: u32,
    },
    /// A hub ran dry.
    HubSaturated {
        /// Its number.
        hub: u8,
    },
    /// A unit was stunned.
    Stunned {
        /// The stunner.
        unit: UnitId,
        /// Its victim.
        target: UnitId,
    },
    /// The whole list of a player was ignored.
    ListVoid {
        /// The player.
        player: Player,
    },
}
