//! Why an action was not carried out.

use std::fmt;

use crate::arena::Point;
use crate::orders::Flaw;

/// Why an entry of a command was not carried out, with the unit it was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The unit's id on the wire, from 1; 0 when the entry named no unit of the sender.
    pub unit: u8,
    /// Where that unit stands, if it is on the board.
    pub at: Option<Point>,
    /// What is wrong.
    pub why: Why,
}

/// What is wrong with an entry. Targets are `None` when they are off the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the sentences in `Display` say it, and the rule ids")]
pub enum Why {
    Flawed(Flaw),
    NotOnBoard,
    OnSpawn(&'static str),
    Summoning(&'static str),
    SecondAction,
    AlreadyOnBoard,
    NotASpawnTile(Option<Point>),
    NoFreeSpawnTile(Option<Point>),
    NotWalkable(Option<Point>),
    NoPath(Option<Point>),
    NeedsDiamond(&'static str),
    HoldsDiamond(&'static str),
    HighestLevel,
    NotAdjacent(Option<Point>),
    NotEmptyGround(Option<Point>),
    ReceiverHoldsDiamond(Option<Point>),
    NobodyThere(Option<Point>),
    TargetOnSpawn(Option<Point>),
    OwnPosition,
    AdjacentVine(Option<Point>),
    NoLineOfSight(Option<Point>),
    NoLanding(Option<Point>),
}

impl agon_game::Reason for Refusal {
    fn rule(&self) -> &'static str {
        match self.why {
            Why::Flawed(Flaw::NoActions) => "JB-WIRE-5",
            Why::Flawed(Flaw::NoUnit | Flaw::NotYours) => "JB-ACT-2",
            Why::Flawed(_) => "JB-ACT-1",
            Why::NotOnBoard => "JB-ACT-3",
            Why::OnSpawn(_) => "JB-ACT-4",
            Why::Summoning(_) => "JB-ACT-5",
            Why::SecondAction => "JB-ACT-6",
            Why::AlreadyOnBoard | Why::NotASpawnTile(_) => "JB-SPAWN-1",
            Why::NoFreeSpawnTile(_) => "JB-SPAWN-2",
            Why::NotWalkable(_) => "JB-MOVE-3",
            Why::NoPath(_) => "JB-MOVE-6",
            Why::NeedsDiamond("SUMMON") | Why::HighestLevel => "JB-SUMMON-1",
            Why::NeedsDiamond(_) | Why::NotEmptyGround(_) => "JB-DROP-1",
            Why::ReceiverHoldsDiamond(_) => "JB-DROP-2",
            Why::HoldsDiamond("VINE") | Why::OwnPosition | Why::AdjacentVine(_) => "JB-VINE-1",
            Why::NoLineOfSight(_) => "JB-VINE-2",
            Why::NoLanding(_) => "JB-VINE-3",
            Why::HoldsDiamond(_) => "JB-ATTACK-1",
            Why::NotAdjacent(_) | Why::NobodyThere(_) | Why::TargetOnSpawn(_) => "JB-ACT-8",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.unit, self.at) {
            (0, _) => {}
            (unit, None) => write!(f, "unit {unit} (not on the board): ")?,
            (unit, Some(at)) => write!(f, "unit {unit} at {at}: ")?,
        }
        self.why.fmt(f)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// A target: its position, or that it has none.
struct Target(Option<Point>);

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(at) => at.fmt(f),
            None => f.write_str("a position off the map"),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Flawed(flaw) => f.write_str(match flaw {
                Flaw::NoActions => "the command has no list `actions`",
                Flaw::Empty => "this entry of `actions` is empty",
                Flaw::NotUnit => "this entry of `actions` is not of type UNIT",
                Flaw::UnknownAction => {
                    "this action is none of SPAWN, MOVE, SUMMON, DROP, VINE, ATTACK and NONE"
                }
                Flaw::BadTarget => "this action needs a target with whole numbers x and y",
                Flaw::NoUnit => "this action names no unit; `unitId` must be a text",
                Flaw::NotYours => "this action names a unit that is not yours",
            }),
            Self::NotOnBoard => f.write_str("only SPAWN is possible"),
            Self::OnSpawn(action) => {
                write!(f, "{action} is not possible on a spawn tile; only MOVE and NONE are")
            }
            Self::Summoning(action) => write!(f, "{action} is not possible during a summon"),
            Self::SecondAction => f.write_str("it already had an action in this command"),
            Self::AlreadyOnBoard => f.write_str("it cannot spawn, for it is already on the board"),
            Self::NotASpawnTile(at) => write!(f, "{} is not a spawn tile", Target(at)),
            Self::NoFreeSpawnTile(at) => {
                write!(f, "spawn tile {} is taken and none beside it is free", Target(at))
            }
            Self::NotWalkable(at) => write!(f, "{} is not walkable for it now", Target(at)),
            Self::NoPath(at) => write!(f, "no path leads to {}", Target(at)),
            Self::NeedsDiamond(action) => write!(f, "{action} needs a diamond in hand"),
            Self::HoldsDiamond(action) => write!(f, "{action} is not possible with a diamond in hand"),
            Self::HighestLevel => f.write_str("the diamond already has the highest level"),
            Self::NotAdjacent(at) => write!(f, "{} is not adjacent", Target(at)),
            Self::NotEmptyGround(at) => {
                write!(f, "nothing can be dropped on {}, which is not EMPTY", Target(at))
            }
            Self::ReceiverHoldsDiamond(at) => write!(f, "the unit on {} already holds a diamond", Target(at)),
            Self::NobodyThere(at) => write!(f, "no unit stands on {}", Target(at)),
            Self::TargetOnSpawn(at) => write!(f, "the unit on {} is on a spawn tile", Target(at)),
            Self::OwnPosition => f.write_str("it cannot vine itself"),
            Self::AdjacentVine(at) => write!(f, "the unit on {} is adjacent; no vine is needed", Target(at)),
            Self::NoLineOfSight(at) => write!(f, "no free straight line leads to {}", Target(at)),
            Self::NoLanding(at) => {
                write!(f, "no tile is free for the unit on {} between it and the viner", Target(at))
            }
        }
    }
}
