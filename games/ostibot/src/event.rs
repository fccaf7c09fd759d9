//! What happened, for spectators.

use agon_game::Seat;
use serde::{Serialize, Serializer};

use crate::geometry::Cell;
use crate::items::Kind;
use crate::map::Object;
use crate::names::{AdventurerId, ItemId};

/// What happened. Serialised as `{"event":"moved",...}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Event {
    /// A round began.
    RoundBegan { round: u16 },
    /// An adventurer came from a spawner; `returns` when it escaped from an earlier round.
    Spawned {
        who: AdventurerId,
        #[serde(serialize_with = "text")]
        #[cfg_attr(test, ts(type = "string"))]
        team: Seat,
        at: Cell,
        returns: bool,
    },
    /// A team bought an item.
    Bought { who: AdventurerId, item: ItemId, kind: Kind, cost: u32 },
    /// A team sold an item.
    Sold { who: AdventurerId, item: ItemId, kind: Kind, refund: u32 },
    /// An item was put on.
    PutOn { who: AdventurerId, item: ItemId },
    /// An item was taken off.
    TookOff { who: AdventurerId, item: ItemId },
    /// An item changed hands.
    Handed { from: AdventurerId, to: AdventurerId, item: ItemId },
    /// An adventurer moved one cell.
    Moved { who: AdventurerId, to: Cell },
    /// An adventurer gave all its gold to another.
    GaveGold { from: AdventurerId, to: AdventurerId, amount: u16 },
    /// An adventurer picked up gold.
    TookGold { who: AdventurerId, amount: u16 },
    /// An adventurer picked up an item.
    TookItem { who: AdventurerId, item: ItemId },
    /// An adventurer hit another.
    Fought { who: AdventurerId, target: AdventurerId, damage: u16 },
    /// An adventurer hit an object.
    Struck {
        who: AdventurerId,
        #[serde(serialize_with = "text")]
        #[cfg_attr(test, ts(type = "string"))]
        target: Object,
        damage: u16,
    },
    /// An adventurer lost hit points.
    Hurt { who: AdventurerId, by: Harm, damage: u16, hp: u16 },
    /// An adventurer was healed, by a tile for gold or by a potion for free.
    Healed { who: AdventurerId, paid: u32, hp: u16 },
    /// A potion was used up.
    UsedUp { who: AdventurerId, item: ItemId },
    /// An object broke and left gold.
    Broke {
        #[serde(serialize_with = "text")]
        #[cfg_attr(test, ts(type = "string"))]
        what: Object,
        gold: u16,
    },
    /// A portal opened.
    Opened {
        #[serde(serialize_with = "text")]
        #[cfg_attr(test, ts(type = "string"))]
        portal: Object,
    },
    /// An adventurer died.
    Died { who: AdventurerId, at: Cell, gold: u16 },
    /// An adventurer left through a portal.
    Escaped {
        who: AdventurerId,
        #[serde(serialize_with = "text")]
        #[cfg_attr(test, ts(type = "string"))]
        portal: Object,
        gold: u16,
    },
    /// The spawners began to burn.
    FireBegan,
    /// The fire spread to this many more cells.
    FireSpread { cells: u32 },
    /// An object lost hit points to the fire.
    Scorched {
        #[serde(serialize_with = "text")]
        #[cfg_attr(test, ts(type = "string"))]
        what: Object,
        damage: u16,
    },
    /// A round ended; `lost` is the gold left on the map, `left_behind` that of living adventurers.
    RoundEnded { round: u16, lost: u32, left_behind: u32 },
    /// An item was sold at the end of the match.
    FinalSale {
        #[serde(serialize_with = "text")]
        #[cfg_attr(test, ts(type = "string"))]
        team: Seat,
        item: ItemId,
        kind: Kind,
        refund: u32,
    },
    /// A bot gave a reason for an action.
    Said { who: AdventurerId, reason: Box<str> },
    /// A bot said that something went wrong.
    Complained {
        #[serde(serialize_with = "text")]
        #[cfg_attr(test, ts(type = "string"))]
        team: Seat,
        error: Box<str>,
    },
}

/// What hurts adventurers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Harm {
    /// A block walked into.
    Block,
    /// Spikes stepped on.
    Spikes,
    /// An adventurer of another team.
    Enemy,
    /// The fire.
    Fire,
}

fn text<T: std::fmt::Display, S: Serializer>(name: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(name)
}
