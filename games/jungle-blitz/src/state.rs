//! Everything that changes in a match: one flat value of at most 1 KiB.

use crate::arena::{Arena, Cell, Direction};
use crate::rules::{MAX_DIAMONDS, MAX_TEAMS, MAX_UNITS};

/// Bytes for the stored paths of all units; see [`Arena::path_bytes`](crate::arena::Arena).
pub const PATH_BYTES: usize = 704;

/// A unit, counted over all teams from 0: team 0 has the first ones. On the wire its id is one more.
pub type UnitIndex = u8;
/// A diamond, counted from 0 in the order of the map: column by column, top to bottom.
pub type DiamondIndex = u8;

/// The state of a match between two ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The points scored by each team (JB-DROP-4).
    pub scores: [u32; MAX_TEAMS],
    /// The number of units each team lost to attacks (JB-RANK-1).
    pub deaths: [u16; MAX_TEAMS],
    /// The tick to be played next, from 0.
    pub tick: u16,
    /// One bit per team: its connection is gone for good (JB-TIME-3).
    pub dead: u8,
    /// The units; those beyond the match's number stay as [`Unit::WAITING`].
    pub units: [Unit; MAX_UNITS],
    /// The diamonds; those beyond the map's number stay as [`Diamond::ABSENT`].
    pub diamonds: [Diamond; MAX_DIAMONDS],
    /// The stored paths: [`Arena::path_bytes`](crate::arena::Arena) bytes per unit, two bits per step, the step
    /// into the destination first. Everything beyond [`Unit::path_length`] is zero.
    pub paths: [u8; PATH_BYTES],
}

/// A unit. All zero means that it was never on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Where it stands; [`Cell::NOWHERE`] while it is not on the board.
    pub cell: Cell,
    /// Where its stored path ends; [`Cell::NOWHERE`] without a path.
    pub destination: Cell,
    /// Where it stood when [`attacked_by`](Unit::attacked_by) killed it.
    pub died_at: Cell,
    /// Steps in its stored path.
    pub path_length: u8,
    /// 0, or the progress of its summon: 1 when ordered, one more after each turn of its team (JB-SUMMON-2).
    pub summoning: u8,
    /// 0, or one more than the index of the diamond it holds.
    pub holds: u8,
    /// 0, or one more than the index of the unit that last vined it in the previous tick.
    pub vined_by: u8,
    /// 0, or one more than the index of the unit that killed it in the previous tick.
    pub attacked_by: u8,
    /// Whether it was ever on the board: the wire distinguishes "not yet" from "killed" (JB-WIRE-3).
    pub known: bool,
}

/// A diamond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diamond {
    /// Where it lies, or where its holder stands.
    pub cell: Cell,
    /// Pending points.
    pub points: u16,
    /// Its summon level.
    pub level: u8,
    /// Who holds it.
    pub owner: Owner,
}

/// Who holds a diamond, in one byte: 0 nobody yet, 1 nobody any more, else the unit's index plus two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(pub u8);

impl Owner {
    /// Nobody yet; the wire leaves the field out.
    pub const NEVER: Self = Self(0);
    /// Nobody any more; the wire says null.
    pub const NOBODY: Self = Self(1);

    /// A unit.
    #[inline]
    pub const fn unit(unit: UnitIndex) -> Self {
        Self(unit + 2)
    }

    /// The unit, if one holds the diamond.
    #[inline]
    pub const fn holder(self) -> Option<UnitIndex> {
        self.0.checked_sub(2)
    }
}

impl Unit {
    /// A unit before its first spawn.
    pub const WAITING: Self = Self {
        cell: Cell::NOWHERE,
        destination: Cell::NOWHERE,
        died_at: Cell::NOWHERE,
        path_length: 0,
        summoning: 0,
        holds: 0,
        vined_by: 0,
        attacked_by: 0,
        known: false,
    };

    /// Whether it is on the board.
    #[inline]
    pub fn alive(&self) -> bool {
        self.cell != Cell::NOWHERE
    }

    /// The diamond it holds.
    #[inline]
    pub fn diamond(&self) -> Option<DiamondIndex> {
        self.holds.checked_sub(1)
    }
}

impl Diamond {
    /// No diamond.
    pub const ABSENT: Self = Self { cell: Cell::NOWHERE, points: 0, level: 0, owner: Owner::NEVER };

    /// Whether it lies on the ground.
    #[inline]
    pub fn on_ground(&self) -> bool {
        self.owner.holder().is_none()
    }
}

impl State {
    /// Nothing anywhere.
    pub const EMPTY: Self = Self {
        scores: [0; MAX_TEAMS],
        deaths: [0; MAX_TEAMS],
        tick: 0,
        dead: 0,
        units: [Unit::WAITING; MAX_UNITS],
        diamonds: [Diamond::ABSENT; MAX_DIAMONDS],
        paths: [0; PATH_BYTES],
    };

    /// The unit `index`.
    #[inline]
    pub fn unit(&self, index: UnitIndex) -> &Unit {
        &self.units[usize::from(index)]
    }

    /// The unit `index`, mutable.
    #[inline]
    pub fn unit_mut(&mut self, index: UnitIndex) -> &mut Unit {
        &mut self.units[usize::from(index)]
    }

    /// The unit that stands on `cell`.
    #[inline]
    pub fn unit_on(&self, cell: Cell) -> Option<UnitIndex> {
        if cell == Cell::NOWHERE {
            return None;
        }
        self.units.iter().position(|unit| unit.cell == cell).map(|index| index as UnitIndex)
    }

    /// Whether a diamond lies on the ground at `cell`.
    #[inline]
    pub fn diamond_lies_on(&self, cell: Cell) -> bool {
        cell != Cell::NOWHERE
            && self.diamonds.iter().any(|diamond| diamond.cell == cell && diamond.on_ground())
    }

    /// Whether the connection of `team` is gone.
    #[inline]
    pub fn is_dead(&self, team: usize) -> bool {
        self.dead >> team & 1 == 1
    }

    /// The first step of the stored path of a unit that has one.
    #[inline]
    pub fn first_step(&self, arena: &Arena, index: UnitIndex) -> Option<Direction> {
        let last = self.unit(index).path_length.checked_sub(1)?;
        Some(self.step(arena, index, last))
    }

    /// The tiles of the stored path of a unit, the next one first.
    pub fn path(&self, arena: &Arena, index: UnitIndex) -> impl Iterator<Item = Cell> {
        let mut cell = self.unit(index).cell;
        (0..self.unit(index).path_length).rev().map(move |at| {
            cell = arena.neighbour(cell, self.step(arena, index, at));
            cell
        })
    }

    /// Step number `at` of a stored path, counted from its end.
    #[inline]
    fn step(&self, arena: &Arena, index: UnitIndex, at: u8) -> Direction {
        let byte = self.paths[arena.path_start(index) + usize::from(at / 4)];
        Direction::from_code(byte >> (at % 4 * 2))
    }

    /// Takes the first step off the stored path of a unit.
    #[inline]
    pub fn drop_first_step(&mut self, arena: &Arena, index: UnitIndex) {
        let unit = &mut self.units[usize::from(index)];
        unit.path_length -= 1;
        let at = unit.path_length;
        if at == 0 {
            unit.destination = Cell::NOWHERE;
        }
        self.paths[arena.path_start(index) + usize::from(at / 4)] &= !(3 << (at % 4 * 2));
    }

    /// Empties the stored path of a unit.
    #[inline]
    pub fn forget_path(&mut self, arena: &Arena, index: UnitIndex) {
        let unit = &mut self.units[usize::from(index)];
        if unit.path_length > 0 {
            let start = arena.path_start(index);
            let bytes = usize::from(unit.path_length).div_ceil(4);
            unit.path_length = 0;
            unit.destination = Cell::NOWHERE;
            self.paths[start..start + bytes].fill(0);
        }
    }

    /// Stores a path: its steps from the last one (into `destination`) to the first.
    pub fn store_path(&mut self, arena: &Arena, index: UnitIndex, destination: Cell, steps: &[Direction]) {
        self.forget_path(arena, index);
        if steps.is_empty() {
            return;
        }
        debug_assert!(
            steps.len() <= arena.path_bytes() * 4,
            "set_up lets no map through that has longer paths"
        );
        let start = arena.path_start(index);
        for (bytes, steps) in self.paths[start..start + arena.path_bytes()].iter_mut().zip(steps.chunks(4)) {
            *bytes = steps.iter().rev().fold(0, |byte, &step| byte << 2 | step as u8);
        }
        let unit = self.unit_mut(index);
        unit.destination = destination;
        unit.path_length = steps.len() as u8;
    }
}
