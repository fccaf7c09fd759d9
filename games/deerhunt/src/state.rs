//! Everything that changes in a match: the units, what they are doing, the resources.
//!
//! The state is one flat value. Its size depends on `BLOCKS`: it holds 64 units per block. The small state
//! (one block) serves the document's rules, where stock limits the births; the large one serves the events.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::map::{CellSet, MAX_HUBS};
use crate::sets::{Queue, UnitSet};

/// Number of a unit: its place in the order of creation, from 0.
pub type UnitId = u16;

/// The kind of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Kind {
    /// Mines (and, in 2021, duplicates).
    #[default]
    Worker,
    /// Fights (and, before 2021, duplicates).
    Melee,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Worker => "worker",
            Self::Melee => "melee",
        })
    }
}

/// One of the two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Player {
    /// Player 1: moves first, starts at the top.
    #[default]
    #[serde(rename = "p1")]
    One,
    /// Player 2.
    #[serde(rename = "p2")]
    Two,
}

impl Player {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::One, Self::Two];

    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::One => Self::Two,
            Self::Two => Self::One,
        }
    }

    /// The player of a seat.
    pub const fn of(seat: agon_game::Seat) -> Self {
        if seat.index() == 0 { Self::One } else { Self::Two }
    }

    /// The seat of the player.
    pub const fn seat(self) -> agon_game::Seat {
        agon_game::Seat::new(self as u8)
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.seat())
    }
}

/// A tile, by column and row from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct At {
    /// Column, from 0.
    pub x: u8,
    /// Row, from 0.
    pub y: u8,
}

impl At {
    /// The tile at column `x`, row `y`.
    pub const fn new(x: u8, y: u8) -> Self {
        Self { x, y }
    }

    /// Its neighbour. At the edges it lies outside any map (coordinates wrap at 256).
    #[inline]
    pub const fn step(self, direction: Direction) -> Self {
        let Self { x, y } = self;
        match direction {
            Direction::Up => Self::new(x, y.wrapping_sub(1)),
            Direction::Down => Self::new(x, y.wrapping_add(1)),
            Direction::Left => Self::new(x.wrapping_sub(1), y),
            Direction::Right => Self::new(x.wrapping_add(1), y),
        }
    }

    /// Steps to `other`, diagonals counting as one: the distance used for sight.
    pub fn square_distance(self, other: Self) -> u8 {
        self.x.abs_diff(other.x).max(self.y.abs_diff(other.y))
    }

    /// Steps to `other` along rows and columns.
    pub fn distance(self, other: Self) -> u16 {
        u16::from(self.x.abs_diff(other.x)) + u16::from(self.y.abs_diff(other.y))
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// One of the four directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Direction {
    /// Towards row 0.
    Up,
    /// Away from row 0.
    Down,
    /// Towards column 0.
    Left,
    /// Away from column 0.
    Right,
}

impl Direction {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];

    /// The word of the protocol.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Up => "UP",
            Self::Down => "DOWN",
            Self::Left => "LEFT",
            Self::Right => "RIGHT",
        }
    }
}

/// A unit, alive or dead. A dead one keeps its place in the list, because in the events its timer
/// runs on (DH-TIME-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Unit {
    /// Where it stands, or died.
    pub at: At,
    /// Its owner.
    pub owner: Player,
    /// Its kind.
    pub kind: Kind,
    /// Its health; 0 when dead.
    pub hp: u8,
    /// Countdowns until its mining is done; 0 when it does not mine.
    pub mining: u8,
    /// The hub it mines, by number; kept after it is done.
    pub hub: u8,
    /// Countdowns until its child appears; 0 when it does not duplicate.
    pub duplication: u8,
    /// Where the child appears or appeared; never cleared once set (DH-DUP-6).
    pub direction: Option<Direction>,
    /// The kind of the current or last child; never cleared once set (DH-DUP-6).
    pub child: Option<Kind>,
    /// Countdowns until it is free of a stun; it acts while this is 0 or less (DH-STUN-4).
    pub stun: i16,
}

impl Unit {
    /// What keeps it from acting (DH-ORDER-3).
    #[inline]
    pub fn lock(&self) -> Option<Lock> {
        if self.duplication > 0 {
            Some(Lock::Duplicating)
        } else if self.mining > 0 {
            Some(Lock::Mining)
        } else if self.stun > 0 {
            Some(Lock::Stunned)
        } else {
            None
        }
    }
}

/// What keeps a unit from acting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// It is making a child.
    Duplicating,
    /// It is mining.
    Mining,
    /// It was stunned.
    Stunned,
}

/// Everything that changes in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State<const BLOCKS: usize> {
    /// Half-turns played.
    pub half: u16,
    /// Number of units made so far: their ids are the numbers below this.
    pub made: u16,
    /// What each player owns.
    pub resources: [u32; 2],
    /// The remaining stock of each hub; 0 for all when hubs are endless.
    pub stock: [u16; MAX_HUBS],
    /// The living units of each player.
    pub living: [UnitSet<BLOCKS>; 2],
    /// Tiles with a unit on them.
    pub occupied: CellSet,
    /// Units whose mining or duplication is running, in the order they began.
    pub working: Queue<UnitId, BLOCKS>,
    /// Running stuns, in the order they were registered.
    pub stuns: Queue<Stun, BLOCKS>,
    units: [[Unit; 64]; BLOCKS],
}

/// A running stun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stun {
    /// The melee that stunned.
    pub by: UnitId,
    /// Its victim.
    pub victim: UnitId,
}

impl<const BLOCKS: usize> State<BLOCKS> {
    /// The number of units a state holds.
    pub const CAPACITY: usize = 64 * BLOCKS;

    /// A state without units.
    pub fn empty() -> Self {
        Self {
            half: 0,
            made: 0,
            resources: [0; 2],
            stock: [0; MAX_HUBS],
            living: [UnitSet::default(); 2],
            occupied: CellSet::default(),
            working: Queue::default(),
            stuns: Queue::default(),
            units: [[Unit::default(); 64]; BLOCKS],
        }
    }

    /// Who moves next.
    #[inline]
    pub const fn mover(&self) -> Player {
        if self.half.is_multiple_of(2) { Player::One } else { Player::Two }
    }

    /// The round of the next half-turn, from 1.
    pub const fn round(&self) -> u16 {
        self.half / 2 + 1
    }

    /// The unit with this id, alive or dead. The id must be below [`made`](Self::made).
    #[inline]
    pub fn unit(&self, id: UnitId) -> &Unit {
        &self.units.as_flattened()[usize::from(id)]
    }

    /// The unit with this id, mutable. To move or kill it, use [`relocate`](Self::relocate) and
    /// [`remove`](Self::remove).
    #[inline]
    pub fn unit_mut(&mut self, id: UnitId) -> &mut Unit {
        &mut self.units.as_flattened_mut()[usize::from(id)]
    }

    /// The living units of `player`, in order of creation.
    #[inline]
    pub fn army(&self, player: Player) -> impl Iterator<Item = (UnitId, &Unit)> + Clone {
        self.living[player as usize].iter().map(|id| (id, self.unit(id)))
    }

    /// All living units, in order of creation.
    pub fn everyone(&self) -> impl Iterator<Item = (UnitId, &Unit)> + Clone {
        let all = self.living[0].union(&self.living[1]);
        all.iter().map(|id| (id, self.unit(id)))
    }

    /// Puts a new unit on the board. There must be room for it.
    pub fn add(&mut self, unit: Unit, cell: usize) -> UnitId {
        let id = self.made;
        self.made += 1;
        *self.unit_mut(id) = unit;
        if unit.hp > 0 {
            self.living[unit.owner as usize].insert(id);
            self.occupied.insert(cell);
        }
        id
    }

    /// Takes a unit off the board.
    pub fn remove(&mut self, id: UnitId, cell: usize) {
        let unit = self.unit_mut(id);
        unit.hp = 0;
        let owner = unit.owner;
        self.living[owner as usize].remove(id);
        self.occupied.remove(cell);
    }

    /// Puts a unit on another tile.
    #[inline]
    pub fn relocate(&mut self, id: UnitId, to: At, from_cell: usize, to_cell: usize) {
        self.occupied.remove(from_cell);
        self.occupied.insert(to_cell);
        self.unit_mut(id).at = to;
    }

    /// The living unit on a tile.
    pub fn unit_at(&self, at: At) -> Option<UnitId> {
        self.everyone().find(|(_, unit)| unit.at == at).map(|(id, _)| id)
    }
}

impl<const BLOCKS: usize> State<BLOCKS> {
    /// Drops units whose work is done from [`working`](Self::working).
    pub(crate) fn dismiss_idle(&mut self) {
        let units = self.units.as_flattened();
        self.working.retain(|id| {
            let unit = &units[usize::from(id)];
            unit.mining > 0 || unit.duplication > 0
        });
    }
}
