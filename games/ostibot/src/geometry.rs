//! Cells, directions and sets of cells.

use serde::ser::{SerializeStruct as _, Serializer};
use serde::{Deserialize, Serialize};

/// The longest side of a map, in cells.
pub const SIDE: usize = 32;

/// A cell of the board, counted row by row in rows of [`SIDE`], whatever the size of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "{ x: number, y: number }"))]
pub struct Cell(u16);

impl Cell {
    /// No cell: the place of adventurers that have left the map.
    pub const NOWHERE: Self = Self(u16::MAX);
    /// The number of cells.
    pub const COUNT: usize = SIDE * SIDE;

    /// The cell in column `x` and row `y`, both from 0 and below [`SIDE`].
    pub const fn new(x: usize, y: usize) -> Self {
        debug_assert!(x < SIDE && y < SIDE);
        Self((y * SIDE + x) as u16)
    }

    /// The cell with this index, if there is one.
    pub const fn from_index(index: usize) -> Option<Self> {
        if index < Self::COUNT { Some(Self(index as u16)) } else { None }
    }

    /// The column, from 0.
    pub const fn x(self) -> usize {
        self.0 as usize % SIDE
    }

    /// The row, from 0.
    pub const fn y(self) -> usize {
        self.0 as usize / SIDE
    }

    /// The index in tables of [`Cell::COUNT`] entries; meaningless for [`Cell::NOWHERE`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is a cell and not [`Cell::NOWHERE`].
    pub const fn is_somewhere(self) -> bool {
        (self.0 as usize) < Self::COUNT
    }

    /// Steps between two cells when nothing is in the way.
    pub const fn distance(self, other: Self) -> usize {
        self.x().abs_diff(other.x()) + self.y().abs_diff(other.y())
    }
}

impl Serialize for Cell {
    /// `{"x":3,"y":5}`
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut pair = to.serialize_struct("Cell", 2)?;
        pair.serialize_field("x", &self.x())?;
        pair.serialize_field("y", &self.y())?;
        pair.end()
    }
}

/// A direction of a move. The origin of the board is its top left corner (OB-MOVE-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Direction {
    /// y - 1.
    Up,
    /// y + 1.
    Down,
    /// x - 1.
    Left,
    /// x + 1.
    Right,
}

impl Direction {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];

    /// Its name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "UP",
            Self::Down => "DOWN",
            Self::Left => "LEFT",
            Self::Right => "RIGHT",
        }
    }

    /// The direction of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.name() == name)
    }

    /// The neighbour of `cell`, if there is one on a board of `width` times `height`.
    #[inline]
    pub const fn from(self, cell: Cell, width: usize, height: usize) -> Option<Cell> {
        let (x, y) = (cell.x(), cell.y());
        match self {
            Self::Up if y > 0 => Some(Cell::new(x, y - 1)),
            Self::Down if y + 1 < height => Some(Cell::new(x, y + 1)),
            Self::Left if x > 0 => Some(Cell::new(x - 1, y)),
            Self::Right if x + 1 < width => Some(Cell::new(x + 1, y)),
            _ => None,
        }
    }
}

/// A set of cells: one word of bits per row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rows(pub [u32; SIDE]);

impl Rows {
    /// No cell.
    pub const NONE: Self = Self([0; SIDE]);

    /// Whether `cell` is in the set.
    #[inline]
    pub const fn contains(&self, cell: Cell) -> bool {
        self.0[cell.y()] >> cell.x() & 1 == 1
    }

    /// Puts `cell` into the set and returns whether it is new there.
    #[inline]
    pub const fn insert(&mut self, cell: Cell) -> bool {
        let new = !self.contains(cell);
        self.0[cell.y()] |= 1 << cell.x();
        new
    }

    /// Takes `cell` out of the set.
    pub const fn remove(&mut self, cell: Cell) {
        self.0[cell.y()] &= !(1 << cell.x());
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&row| row == 0)
    }

    /// How many cells are in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|row| row.count_ones() as usize).sum()
    }

    /// The cells of the set in reading order.
    pub fn iter(&self) -> impl Iterator<Item = Cell> + '_ {
        self.0.iter().enumerate().flat_map(|(y, &row)| {
            let mut rest = row;
            std::iter::from_fn(move || {
                let x = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(Cell::new(x, y))
            })
        })
    }

    /// The cells that are in both sets.
    pub fn and(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(row, other)| *row &= other);
        self
    }

    /// The cells that are in either set.
    pub fn or(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(row, other)| *row |= other);
        self
    }

    /// The cells that are in this set and not in the other.
    pub fn without(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(row, other)| *row &= !other);
        self
    }

    /// The set and the four neighbours of each of its cells.
    pub fn grown(&self) -> Self {
        let mut grown = *self;
        for y in 0..SIDE {
            let above = if y > 0 { self.0[y - 1] } else { 0 };
            let below = if y + 1 < SIDE { self.0[y + 1] } else { 0 };
            grown.0[y] |= self.0[y] << 1 | self.0[y] >> 1 | above | below;
        }
        grown
    }
}

impl FromIterator<Cell> for Rows {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> Self {
        let mut set = Self::NONE;
        cells.into_iter().for_each(|cell| {
            set.insert(cell);
        });
        set
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter().map(|cell| (cell.x(), cell.y()))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in_and_grow_by_four_neighbours() {
        let mut set = Rows::NONE;
        assert!(set.insert(Cell::new(0, 0)) && set.insert(Cell::new(31, 31)) && !set.insert(Cell::new(0, 0)));
        let grown: Vec<_> = set.grown().iter().map(|cell| (cell.x(), cell.y())).collect();
        assert_eq!(grown, [(0, 0), (1, 0), (0, 1), (31, 30), (30, 31), (31, 31)]);
        set.remove(Cell::new(0, 0));
        assert_eq!((set.len(), set.is_empty()), (1, false));
    }

    #[test]
    fn neighbours_end_at_the_edge() {
        let corner = Cell::new(4, 2);
        assert_eq!(Direction::Right.from(corner, 5, 3), None);
        assert_eq!(Direction::Down.from(corner, 5, 3), None);
        assert_eq!(Direction::Up.from(corner, 5, 3), Some(Cell::new(4, 1)));
        assert_eq!(Direction::Left.from(corner, 5, 3), Some(Cell::new(3, 2)));
    }
}
