//! What happens in a frame, for bots and spectators.

use std::sync::Arc;

use agon_game::Seat;
use serde::{Serialize, Serializer};

use crate::arena::Tile;
use crate::rules::Kind;
use crate::state::{Real, State, Structure};
use crate::work::{Mobile, Work};

/// A unit in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Who {
    /// Its number.
    pub id: u32,
    /// Its kind.
    pub kind: Kind,
    /// Its owner.
    #[serde(rename = "player", serialize_with = "seat_number")]
    #[cfg_attr(test, ts(type = "number"))]
    pub owner: Seat,
}

impl Who {
    /// A mobile unit.
    #[inline]
    pub fn mobile(mobile: &Mobile) -> Self {
        Self { id: mobile.id, kind: mobile.kind, owner: mobile.owner }
    }

    /// A structure.
    #[inline]
    pub fn structure(structure: &Structure) -> Self {
        Self { id: structure.id(), kind: structure.kind(), owner: structure.owner() }
    }
}

/// What was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Spawned {
    /// A new unit of this kind.
    Unit(Kind),
    /// A structure was marked for removal.
    Removal,
    /// A structure was upgraded; the id is its new one.
    Upgrade,
}

/// An order that was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Spawn {
    /// Where.
    pub at: Tile,
    /// What.
    pub what: Spawned,
    /// The number of the unit.
    pub id: u32,
    /// The player who gave the order.
    #[serde(rename = "player", serialize_with = "seat_number")]
    #[cfg_attr(test, ts(type = "number"))]
    pub owner: Seat,
}

/// A step of a mobile unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Step {
    /// Where it was.
    pub from: Tile,
    /// Where it is.
    pub to: Tile,
    /// Which.
    pub unit: Who,
}

/// A mobile unit reached its edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Breach {
    /// Where.
    pub at: Tile,
    /// Health the enemy loses.
    pub damage: Real,
    /// Which.
    pub unit: Who,
}

/// A support shielded a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Shield {
    /// Where the support stands.
    pub from: Tile,
    /// Where the unit is.
    pub to: Tile,
    /// The amount of the shield.
    pub amount: Real,
    /// The support.
    pub giver: Who,
    /// The number of the unit.
    pub target: u32,
}

/// A unit destroyed itself and did damage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SelfDestruct {
    /// Where.
    pub at: Tile,
    /// The tile of each unit it hit, ascending; a tile is repeated for each unit on it.
    pub tiles: Vec<Tile>,
    /// The health each lost.
    pub damage: Real,
    /// Which.
    pub unit: Who,
    /// Its victims in the frame's list of damages: index of the first, and their number. Their order means nothing.
    #[serde(skip)]
    pub damages: (usize, usize),
    /// Those it killed, in the frame's list of deaths.
    #[serde(skip)]
    pub deaths: (usize, usize),
}

/// A unit attacked another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Attack {
    /// Where the attacker is.
    pub from: Tile,
    /// Where its target is.
    pub to: Tile,
    /// The health the target loses.
    pub damage: Real,
    /// The attacker.
    pub attacker: Who,
    /// The number of the target.
    pub target: u32,
}

/// A unit lost health.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Damage {
    /// Where.
    pub at: Tile,
    /// The whole damage, even if less health was left.
    pub amount: Real,
    /// Which.
    pub unit: Who,
}

/// A unit strikes at another for nothing, in the first seasons (TM-SEASON-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Melee {
    /// Where it is.
    pub from: Tile,
    /// Where the struck unit is.
    pub to: Tile,
    /// Which strikes.
    pub unit: Who,
}

/// A unit left the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Death {
    /// Where.
    pub at: Tile,
    /// Which.
    pub unit: Who,
    /// Whether its own player removed it.
    pub removed: bool,
}

/// Everything that happened in a frame, each list in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Events {
    /// Orders carried out; only in the first frame of a turn.
    pub spawn: Vec<Spawn>,
    /// Steps.
    pub moves: Vec<Step>,
    /// Breaches.
    pub breach: Vec<Breach>,
    /// Shields given.
    pub shield: Vec<Shield>,
    /// Self-destructions.
    pub self_destruct: Vec<SelfDestruct>,
    /// Attacks.
    pub attack: Vec<Attack>,
    /// Health lost.
    pub damage: Vec<Damage>,
    /// Units that left.
    pub death: Vec<Death>,
    /// Strikes for nothing, one for each unit and tile struck; nobody draws them.
    #[serde(skip)]
    pub melee: Vec<Melee>,
    /// The struck units, with a damage of 0; part of the damages of a state line.
    #[serde(skip)]
    pub struck: Vec<Damage>,
}

/// A unit on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Standing {
    /// Where.
    pub at: Tile,
    /// Health, shields included.
    pub health: Real,
    /// Its number.
    pub id: u32,
}

/// The units of a player, in the lists of a state line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Lists {
    /// By [`Kind::index`], each by ascending id.
    #[cfg_attr(test, ts(type = "Standing[][]"))]
    pub units: [Vec<Standing>; 6],
    /// Structures marked for removal; `health` holds the remaining restores.
    pub removals: Vec<Standing>,
    /// Upgraded structures; `health` is 0.
    pub upgrades: Vec<Standing>,
}

impl Lists {
    /// The eight lists of a state line, in its order.
    pub fn all(&self) -> [&[Standing]; 8] {
        std::array::from_fn(|place| match place {
            6 => &self.removals[..],
            7 => &self.upgrades,
            kind => &self.units[kind],
        })
    }
}

/// The numbers of a player in a state line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Stats {
    /// Health.
    pub hp: Real,
    /// Structure points.
    pub sp: Real,
    /// Mobile points.
    pub mp: Real,
    /// Milliseconds of the last answer.
    pub ms: u32,
}

/// The board after a frame, or at a deploy phase: the content of one state line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// The turn.
    pub turn: u16,
    /// The frame of its action phase, from 0; -1 at a deploy phase.
    pub frame: i32,
    /// The running number of the line.
    pub line: u32,
    /// The numbers of both players.
    pub stats: [Stats; 2],
    /// The units of both players.
    pub lists: [Lists; 2],
    /// What happened.
    pub events: Events,
}

/// An event reported by a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A frame of the action phase was played.
    Frame(#[serde(serialize_with = "shared")] Arc<Frame>),
    /// The restore removed structures whose removal was due; reported with the next deploy line.
    Restored(Vec<Death>),
    /// The match is over.
    Over(#[serde(serialize_with = "over")] Arc<State>),
}

impl Event {
    /// The frame, if it is one.
    pub fn frame(&self) -> Option<&Frame> {
        match self {
            Self::Frame(frame) => Some(frame),
            Self::Restored(_) | Self::Over(_) => None,
        }
    }
}

impl Frame {
    /// The board now.
    pub fn of(state: &State, mobiles: &[Mobile], frame: i32, events: Events) -> Self {
        let mut lists = [Lists::default(), Lists::default()];
        for (slot, structure) in state.structures().iter().enumerate() {
            if structure.health.0 <= 0.0 {
                continue;
            }
            let own = &mut lists[structure.owner().index()];
            let (at, id) = (structure.tile(), structure.id());
            own.units[structure.kind().index()].push(Standing { at, health: structure.health, id });
            if let Some(left) = state.mark(slot) {
                own.removals.push(Standing { at, health: Real(f32::from(left)), id });
            }
            if structure.upgraded() {
                own.upgrades.push(Standing { at, health: Real(0.0), id });
            }
        }
        for mobile in mobiles {
            let entry = Standing { at: mobile.tile, health: Real(mobile.health), id: mobile.id };
            lists[mobile.owner.index()].units[mobile.kind.index()].push(entry);
        }
        let stats =
            state.players.map(|player| Stats { hp: player.hp, sp: player.sp, mp: player.mp, ms: player.ms });
        Self { turn: state.turn, frame, line: state.line(), stats, lists, events }
    }

    /// The board after the frame just played, with its events.
    pub fn take(state: &State, work: &mut Work, frame: i32) -> Self {
        let mut taken = Self::of(state, &work.mobiles, frame, std::mem::take(&mut work.events));
        if !work.marks.is_empty() {
            for lists in &mut taken.lists {
                for removal in &mut lists.removals {
                    if let Some(&id) = work.marks.get(&removal.id) {
                        (removal.id, removal.health) = (id, Real(0.0));
                    }
                }
                lists.removals.sort_unstable_by_key(|removal| removal.id);
            }
        }
        taken
    }
}

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f32(self.0)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

fn seat_number<S: Serializer>(seat: &Seat, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(seat.number())
}

fn shared<S: Serializer>(frame: &Arc<Frame>, to: S) -> Result<S::Ok, S::Error> {
    frame.as_ref().serialize(to)
}

fn over<S: Serializer>(state: &Arc<State>, to: S) -> Result<S::Ok, S::Error> {
    let hp = state.players.map(|player| player.hp);
    #[derive(Serialize)]
    struct Over {
        turns: u16,
        frames: u32,
        hp: [Real; 2],
    }
    Over { turns: state.turn, frames: state.frames, hp }.serialize(to)
}
