//! The orders of a bot in one turn, and why one may be refused.

use agon_game::pack::{Reader, put_varint};
use agon_game::{Reason, Seat};

use crate::arena::{SIDE, Tile};
use crate::rules::Kind;

/// What an order asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Place a unit of this kind.
    Place(Kind),
    /// Mark a structure for removal.
    Remove,
    /// Upgrade a structure.
    Upgrade,
    /// Something without a shorthand in the configuration, or not even a triple; [`Order::mistake`] says which.
    Unknown,
}

/// What is wrong with an entry that is not an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// Any mistake: the entry is empty, or from a replay that does not say which.
    Any,
    /// Not of three elements.
    Count,
    /// The first element is not a string.
    NoText,
    /// A coordinate is not a whole number.
    NotWhole,
    /// A shorthand that the configuration does not have and that cannot be displayed.
    Odd,
    /// A shorthand that the configuration does not have: its first two characters in printable ASCII (a 0 if there is
    /// only one), and whether there are more.
    Shorthand([u8; 2], bool),
}

impl Mistake {
    /// The mistake for this shorthand, which the configuration does not have.
    pub fn shorthand(name: &str) -> Self {
        match *name.as_bytes() {
            [first @ b'!'..=b'~'] => Self::Shorthand([first, 0], false),
            [first @ b'!'..=b'~', second @ b' '..=b'~', ref more @ ..] => {
                Self::Shorthand([first, second], !more.is_empty())
            }
            _ => Self::Odd,
        }
    }
}

/// One entry of an answer. Coordinates are those of the arena, for both players, and may lie anywhere. If nothing was
/// understood and so there is no tile, they hold the [`Mistake`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// What.
    pub action: Action,
    /// Column, from 0 at the left; clamped to [`Order::LEAST`] and [`Order::MOST`].
    pub x: i8,
    /// Row, from 0 at the bottom, with the same bounds.
    pub y: i8,
}

impl Order {
    /// An order for a tile of the arena.
    pub fn new(action: Action, tile: Tile) -> Self {
        Self { action, x: tile.x() as i8, y: tile.y() as i8 }
    }

    /// The least coordinate; turned for the other player it is the largest.
    pub const LEAST: i8 = -100;
    /// The largest coordinate.
    pub const MOST: i8 = i8::MAX;

    /// TM-TALK-3: converts a coordinate between the arena's count and that of `seat`: player 2 counts from its own
    /// corner. A replay may hold any value.
    pub fn turned(seat: Seat, at: i8) -> i8 {
        if seat.index() == 0 { at } else { ((SIDE - 1) as i8).saturating_sub(at) }
    }

    /// An entry that is not an order.
    pub fn wrong(mistake: Mistake) -> Self {
        let (x, y) = match mistake {
            Mistake::Any => (0, 0),
            Mistake::Count => (1, 0),
            Mistake::NoText => (2, 0),
            Mistake::NotWhole => (3, 0),
            Mistake::Odd => (4, 0),
            Mistake::Shorthand([first, second], more) => (first, second | u8::from(more) << 7),
        };
        Self { action: Action::Unknown, x: x as i8, y: y as i8 }
    }

    /// What is wrong with an entry that is not an order.
    pub fn mistake(&self) -> Mistake {
        let (x, y) = (self.x as u8, self.y as u8);
        match (x, y & 0x7f) {
            (1, _) => Mistake::Count,
            (2, _) => Mistake::NoText,
            (3, _) => Mistake::NotWhole,
            (4, _) => Mistake::Odd,
            (b'!'..=b'~', 0) if y == 0 => Mistake::Shorthand([x, 0], false),
            (b'!'..=b'~', second @ b' '..=b'~') => Mistake::Shorthand([x, second], y > 0x7f),
            _ => Mistake::Any,
        }
    }

    /// The tile it is about, if it lies inside the arena.
    pub fn tile(&self) -> Option<Tile> {
        Tile::at(self.x.into(), self.y.into())
    }
}

/// An answer of two lines, each in order of execution (TM-ANSWER-1).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Commands {
    /// The first line: structures, removals and upgrades.
    pub build: Vec<Order>,
    /// The second line: mobile units, and anything else to be done after both first lines.
    pub deploy: Vec<Order>,
}

impl Commands {
    /// Appends the canonical bytes: two lists, each entry one byte for the action and two for the tile.
    pub fn pack(&self, out: &mut Vec<u8>) {
        for list in [&self.build, &self.deploy] {
            put_varint(out, list.len() as u64);
            for order in list {
                let action = match order.action {
                    Action::Place(kind) => kind.index() as u8,
                    Action::Remove => 6,
                    Action::Upgrade => 7,
                    Action::Unknown => 8,
                };
                out.extend_from_slice(&[action, order.x as u8, order.y as u8]);
            }
        }
    }

    /// Reads what [`pack`](Commands::pack) wrote.
    pub fn unpack(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader::new(bytes);
        let mut commands = Self::default();
        for list in [&mut commands.build, &mut commands.deploy] {
            let count = from.up_to(from.left() / 3)?;
            for _ in 0..count {
                let [action, x, y] = from.array()?;
                let action = match action {
                    0..=5 => Action::Place(Kind::ALL[usize::from(action)]),
                    6 => Action::Remove,
                    7 => Action::Upgrade,
                    8 => Action::Unknown,
                    _ => return None,
                };
                list.push(Order { action, x: x as i8, y: y as i8 });
            }
        }
        from.end(commands)
    }
}

/// Why an order is not carried out. Tiles are in the coordinates of the player's own bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not a triple, or no such shorthand.
    NotUnderstood(Mistake),
    /// More entries than an answer may have.
    TooMany(u16),
    /// Outside the diamond.
    Outside(i8, i8),
    /// In the other player's half.
    NotYours(Tile),
    /// A mobile unit in the first line.
    WrongLine(Kind),
    /// The tile holds a structure already.
    Taken(Tile),
    /// A mobile unit was deployed there in this turn.
    InTheWay(Tile),
    /// Not enough structure points: has, needs.
    StructurePoints(Real1, Real1),
    /// Not enough mobile points: has, needs.
    MobilePoints(Real1, Real1),
    /// No structure there to upgrade or remove.
    NothingThere(Tile),
    /// Already upgraded.
    AlreadyUpgraded(Tile),
    /// There is no upgrade of this kind.
    NoUpgrade(Kind),
    /// It would have no health left.
    WouldDie(Tile),
    /// Already marked for removal.
    AlreadyMarked(Tile),
    /// Not on one of the player's own edges.
    NotOnEdge(Tile),
}

/// A number of points in a message, in tenths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Real1(i64);

impl From<f32> for Real1 {
    fn from(points: f32) -> Self {
        Self((f64::from(points) * 10.0).round() as i64)
    }
}

impl std::fmt::Display for Real1 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0 / 10, self.0.abs() % 10)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotUnderstood(mistake) => mistake.fmt(f),
            Self::TooMany(most) => write!(f, "an answer has at most {most} entries; the rest is not read"),
            Self::Outside(x, y) => write!(f, "({}, {}) lies outside the arena", written(*x), written(*y)),
            Self::NotYours(tile) => write!(f, "{} lies in the other player's half", At(*tile)),
            Self::WrongLine(kind) => {
                write!(f, "a {} belongs into the second line of the answer", kind.name())
            }
            Self::Taken(tile) => write!(f, "a structure stands on {}", At(*tile)),
            Self::InTheWay(tile) => {
                write!(f, "a mobile unit was deployed on {} in this turn; build before you deploy", At(*tile))
            }
            Self::StructurePoints(has, needs) => {
                write!(f, "this costs {needs} structure points, and {has} are left")
            }
            Self::MobilePoints(has, needs) => {
                write!(f, "this costs {needs} mobile points, and {has} are left")
            }
            Self::NothingThere(tile) => write!(f, "no structure of yours stands on {}", At(*tile)),
            Self::AlreadyUpgraded(tile) => write!(f, "the structure on {} is upgraded already", At(*tile)),
            Self::NoUpgrade(kind) => write!(f, "a {} has no upgrade in these rules", kind.name()),
            Self::WouldDie(tile) => {
                write!(f, "the structure on {} is too damaged: its upgrade would have no health", At(*tile))
            }
            Self::AlreadyMarked(tile) => write!(f, "the structure on {} is being removed already", At(*tile)),
            Self::NotOnEdge(tile) => write!(f, "{} is not on one of your two edges", At(*tile)),
        }
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Any => f.write_str("not a triple [shorthand, x, y] with a shorthand of the configuration"),
            Self::Count => f.write_str("an order has three elements: [shorthand, x, y]"),
            Self::NoText => f.write_str("the first element of [shorthand, x, y] must be a text"),
            Self::NotWhole => f.write_str("x and y of [shorthand, x, y] must be whole numbers"),
            Self::Odd => f.write_str("the configuration does not have this shorthand"),
            Self::Shorthand([first, second], more) => {
                let second = if second == 0 { String::new() } else { char::from(second).to_string() };
                let end = if more { "…" } else { "" };
                write!(f, "the configuration has no shorthand `{}{second}{end}`", char::from(first))
            }
        }
    }
}

/// A coordinate as it was written, as far as that is known.
fn written(at: i8) -> String {
    match at {
        Order::MOST => format!("{} or more", Order::MOST),
        ..=Order::LEAST => format!("{} or less", Order::LEAST),
        at => at.to_string(),
    }
}

struct At(Tile);

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({}, {})", self.0.x(), self.0.y())
    }
}

impl Reason for Refusal {
    fn rule(&self) -> &'static str {
        match self {
            Self::NotUnderstood(_) => "TM-ANSWER-3",
            Self::TooMany(_) => "TM-ANSWER-4",
            Self::Outside(..) => "TM-ARENA-1",
            Self::NotYours(_) => "TM-ARENA-2",
            Self::WrongLine(_) => "TM-ANSWER-2",
            Self::Taken(_) | Self::InTheWay(_) => "TM-BUILD-2",
            Self::StructurePoints(..) => "TM-BUILD-1",
            Self::MobilePoints(..) => "TM-DEPLOY-1",
            Self::NothingThere(_) => "TM-BUILD-3",
            Self::AlreadyUpgraded(_) | Self::NoUpgrade(_) | Self::WouldDie(_) => "TM-UPGRADE-1",
            Self::AlreadyMarked(_) => "TM-REMOVE-1",
            Self::NotOnEdge(_) => "TM-DEPLOY-2",
        }
    }

    /// Many good algos repeat their whole plan as orders every turn.
    fn is_harmless(&self) -> bool {
        matches!(self, Self::AlreadyMarked(_) | Self::AlreadyUpgraded(_))
    }
}
