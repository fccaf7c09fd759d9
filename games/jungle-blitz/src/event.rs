//! What happened, for spectators.

use serde::Serialize;

use crate::arena::Point;
use crate::state::DiamondIndex;

/// Something that happened in a tick. Units by their id on the wire (from 1), diamonds by their index,
/// seats from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Event {
    Spawned { unit: u8, at: Option<Point> },
    Moved { unit: u8, to: Option<Point> },
    PickedUp { unit: u8, diamond: DiamondIndex, points: u16 },
    SummonBegun { unit: u8, level: u8, points: u16 },
    SummonDone { unit: u8, level: u8 },
    HandedOver { unit: u8, to: u8, diamond: DiamondIndex },
    Dropped { unit: u8, diamond: DiamondIndex, at: Option<Point>, points: u16, level: u8 },
    Killed { unit: u8, victim: u8, at: Option<Point>, diamond: Option<DiamondIndex> },
    Vined { unit: u8, victim: u8, from: Option<Point>, to: Option<Point>, lost: Option<DiamondIndex> },
    TimedOut { seat: u8 },
    Gone { seat: u8 },
}
