//! What happens in a half-turn, for spectators.

use serde::Serialize;

use crate::state::{At, Direction, Kind, Player, UnitId};

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Event {
    /// A unit walked.
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
        /// Whom.
        target: UnitId,
        /// The health the target has left.
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
        /// What the child will be.
        child: Kind,
        /// On which side of the parent.
        direction: Direction,
    },
    /// A child appeared.
    Born {
        /// The child.
        unit: UnitId,
        /// Its parent.
        parent: UnitId,
        /// Whose it is.
        owner: Player,
        /// What it is.
        kind: Kind,
        /// Where it stands.
        at: At,
    },
    /// A child could not appear: its place is taken.
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
        /// Who was paid.
        owner: Player,
        /// How much.
        amount: u32,
    },
    /// A hub has nothing left.
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
        /// Whose list.
        player: Player,
    },
}
