//! Tiles, sets of tiles and the four directions.
//!
//! The shape of the board is a constant, not a rule: sets of tiles, steps and lines of fire all depend on it.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

/// Tiles per row. CW-BOARD-1.
pub const WIDTH: u8 = 13;
/// Rows. CW-BOARD-1.
pub const HEIGHT: u8 = 7;
/// Tiles on the board.
pub const TILES: usize = WIDTH as usize * HEIGHT as usize;

/// A tile of the board, or [`Tile::NOWHERE`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "[number, number]"))]
pub struct Tile(u8);

impl Tile {
    /// The place of dead units, and what lies beyond the edge. It is in no set of free tiles.
    pub const NOWHERE: Self = Self(127);

    /// The tile in column `x` of row `y`; both must lie on the board.
    pub const fn at(x: u8, y: u8) -> Self {
        debug_assert!(x < WIDTH && y < HEIGHT);
        Self(y * WIDTH + x)
    }

    /// The tile in column `x` of row `y`, if it is on the board. (0, 0) is the top left corner. CW-BOARD-1.
    pub fn new(x: i32, y: i32) -> Option<Self> {
        let on_board = (0..i32::from(WIDTH)).contains(&x) && (0..i32::from(HEIGHT)).contains(&y);
        on_board.then(|| Self::at(x as u8, y as u8))
    }

    /// The tile with this number: row by row from the top left, from 0.
    pub fn from_number(number: u8) -> Option<Self> {
        (usize::from(number) < TILES).then_some(Self(number))
    }

    /// The tile `offset` numbers further on. The caller ensures that it is on the board.
    pub(crate) const fn offset(self, offset: i8) -> Self {
        Self(self.0.wrapping_add_signed(offset))
    }

    /// All tiles, row by row from the top left.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TILES as u8).map(Self)
    }

    /// Its number: row by row from the top left, from 0.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Its column.
    pub const fn x(self) -> u8 {
        self.0 % WIDTH
    }

    /// Its row.
    pub const fn y(self) -> u8 {
        self.0 / WIDTH
    }

    /// The mirror image of the tile, with left and right swapped.
    pub const fn mirrored(self) -> Self {
        Self::at(WIDTH - 1 - self.x(), self.y())
    }

    /// Manhattan distance: columns plus rows.
    pub const fn distance(self, other: Self) -> u8 {
        self.x().abs_diff(other.x()) + self.y().abs_diff(other.y())
    }

    /// The next tile in a direction, or [`Tile::NOWHERE`] beyond the edge.
    pub fn step(self, direction: Direction) -> Self {
        STEPS[usize::from(self.0)][direction as usize]
    }

    /// The tiles around it in the order of [`Direction::ALL`].
    pub fn neighbours(self) -> [Self; 4] {
        STEPS[usize::from(self.0)]
    }
}

/// As written by people and in map files: `3,0` for column 3 of the top row.
impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NOWHERE { f.write_str("nowhere") } else { write!(f, "{},{}", self.x(), self.y()) }
    }
}

impl fmt::Debug for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({self})")
    }
}

/// A direction, in the order in which the rules always check them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// One row up: y - 1.
    Up,
    /// One column to the right: x + 1.
    Right,
    /// One row down: y + 1.
    Down,
    /// One column to the left: x - 1.
    Left,
}

impl Direction {
    /// Up, right, down, left: the order that settles every tie. CW-BOARD-3.
    pub const ALL: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];

    const fn delta(self) -> (i8, i8) {
        match self {
            Self::Up => (0, -1),
            Self::Right => (1, 0),
            Self::Down => (0, 1),
            Self::Left => (-1, 0),
        }
    }
}

/// The neighbours of every tile.
const STEPS: [[Tile; 4]; TILES] = {
    let mut steps = [[Tile::NOWHERE; 4]; TILES];
    let mut number = 0;
    while number < TILES {
        let tile = Tile(number as u8);
        let mut turn = 0;
        while turn < 4 {
            let (dx, dy) = Direction::ALL[turn].delta();
            let (x, y) = (tile.x() as i8 + dx, tile.y() as i8 + dy);
            if x >= 0 && x < WIDTH as i8 && y >= 0 && y < HEIGHT as i8 {
                steps[number][turn] = Tile::at(x as u8, y as u8);
            }
            turn += 1;
        }
        number += 1;
    }
    steps
};

/// A set of tiles: bit `n` is the tile with number `n`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Tiles(u128);

impl Tiles {
    /// No tile.
    pub const NONE: Self = Self(0);
    /// The whole board.
    pub const BOARD: Self = Self((1 << TILES) - 1);
    const FIRST_COLUMN: u128 = {
        let (mut column, mut y) = (0, 0);
        while y < HEIGHT {
            column |= 1 << Tile::at(0, y).0;
            y += 1;
        }
        column
    };
    const LAST_COLUMN: u128 = Self::FIRST_COLUMN << (WIDTH - 1);

    /// One tile.
    pub const fn one(tile: Tile) -> Self {
        Self(1 << tile.0)
    }

    /// Whether `tile` is in the set.
    pub const fn contains(self, tile: Tile) -> bool {
        self.0 >> tile.0 & 1 == 1
    }

    /// Puts `tile` into the set.
    pub const fn insert(&mut self, tile: Tile) {
        self.0 |= 1 << tile.0;
    }

    /// Takes `tile` out of the set.
    pub const fn remove(&mut self, tile: Tile) {
        self.0 &= !(1 << tile.0);
    }

    /// Whether no tile is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of tiles in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The tiles next to one of the set. Also reaches beyond the bottom edge, so intersect with the board.
    pub const fn around(self) -> Self {
        let Self(set) = self;
        let sideways = (set & !Self::LAST_COLUMN) << 1 | (set & !Self::FIRST_COLUMN) >> 1;
        Self(sideways | set << WIDTH | set >> WIDTH)
    }
}

impl BitAnd for Tiles {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Tiles {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Not for Tiles {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Debug for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(Tile::all().filter(|&tile| self.contains(tile))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_look_around_as_single_tiles_do() {
        for tile in Tile::all() {
            let mut expected = Tiles::NONE;
            for next in tile.neighbours().into_iter().filter(|&next| next != Tile::NOWHERE) {
                assert_eq!(tile.distance(next), 1);
                expected.insert(next);
            }
            assert_eq!(Tiles::one(tile).around() & Tiles::BOARD, expected);
        }
        assert_eq!(Tiles::BOARD.len(), 91);
    }
}
