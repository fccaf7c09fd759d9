//! The arena: a diamond of 420 tiles, its halves and its four edges.

use agon_game::Seat;
use serde::{Serialize, Serializer};

/// Tiles along one axis of the square the diamond lies in.
pub const SIDE: i32 = 28;

/// Tiles of the diamond.
pub const TILES: usize = 420;

/// Entries of a table over [`Tile::index`].
pub const GRID: usize = 32 * 32;

/// A tile of the arena.
///
/// Stored as a place in a padded grid 32 wide with spare rows below and above, so that the four
/// neighbours of any tile are plain offsets inside a table of [`GRID`] entries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "[number, number]"))]
pub struct Tile(u16);

impl Tile {
    /// The tile at column `x` from the left and row `y` from the bottom; `None` outside the
    /// diamond (TM-ARENA-1).
    pub fn at(x: i32, y: i32) -> Option<Self> {
        let inside = (0..SIDE).contains(&y)
            && if y < 14 { 13 - y <= x && x <= 14 + y } else { y - 14 <= x && x <= 41 - y };
        inside.then(|| Self(((y + 1) * 32 + x) as u16))
    }

    /// The tile with this [`index`](Tile::index), if it is inside the diamond.
    pub fn from_index(index: usize) -> Option<Self> {
        Self::at((index % 32) as i32, (index / 32) as i32 - 1)
    }

    /// The place in a table of [`GRID`] entries.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// A tile that the caller knows is inside: a neighbour found open in a table.
    #[inline]
    pub(crate) const fn known(index: usize) -> Self {
        Self(index as u16)
    }

    /// The column, from 0 at the left.
    #[inline]
    pub const fn x(self) -> i32 {
        (self.0 & 31) as i32
    }

    /// The row, from 0 at the bottom.
    #[inline]
    pub const fn y(self) -> i32 {
        (self.0 >> 5) as i32 - 1
    }

    /// The tile in the other player's coordinates: the arena turned by 180 degrees (TM-ARENA-4).
    #[must_use]
    pub fn turned(self) -> Self {
        Self::at(SIDE - 1 - self.x(), SIDE - 1 - self.y()).expect("the arena is symmetric")
    }

    /// The player whose half the tile lies in (TM-ARENA-2).
    #[inline]
    pub const fn owner(self) -> Seat {
        Seat::new((self.y() >= 14) as u8)
    }

    /// All tiles, by rows from the bottom.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..GRID).filter_map(Self::from_index)
    }

    /// The square of the distance between the centres of two tiles.
    #[inline]
    pub const fn distance2(self, other: Self) -> i32 {
        let (dx, dy) = (self.x() - other.x(), self.y() - other.y());
        dx * dx + dy * dy
    }
}

impl std::fmt::Debug for Tile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{}", self.x(), self.y())
    }
}

impl Serialize for Tile {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        [self.x(), self.y()].serialize(to)
    }
}

/// One of the four edges of the diamond, 14 tiles each (TM-ARENA-3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// From (0,13) down to (13,0).
    BottomLeft,
    /// From (14,0) up to (27,13).
    BottomRight,
    /// From (0,14) up to (13,27).
    TopLeft,
    /// From (14,27) down to (27,14).
    TopRight,
}

impl Edge {
    /// All edges, in the order of their [`index`](Edge::index).
    pub const ALL: [Self; 4] = [Self::BottomLeft, Self::BottomRight, Self::TopLeft, Self::TopRight];

    /// The place of the edge in a table.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// -1 for a left edge, +1 for a right one.
    #[inline]
    pub const fn dx(self) -> i32 {
        if self.index() & 1 == 0 { -1 } else { 1 }
    }

    /// -1 for a bottom edge, +1 for a top one.
    #[inline]
    pub const fn dy(self) -> i32 {
        if self.index() < 2 { -1 } else { 1 }
    }

    /// Whether the edge belongs to this player: the bottom ones to player 1.
    pub const fn belongs_to(self, seat: Seat) -> bool {
        (self.dy() > 0) == (seat.index() == 1)
    }

    /// Whether `tile` is one of the 14 of this edge.
    #[inline]
    pub const fn holds(self, tile: Tile) -> bool {
        let (x, y) = (tile.x(), tile.y());
        match self {
            Self::BottomLeft => x + y == 13,
            Self::BottomRight => x - y == 14,
            Self::TopLeft => y - x == 14,
            Self::TopRight => x + y == 41,
        }
    }

    /// The tiles of the edge, from the middle of the arena outwards.
    pub fn tiles(self) -> impl Iterator<Item = Tile> {
        (0..14).map(move |step| {
            let x = if self.dx() < 0 { 13 - step } else { 14 + step };
            let y = if self.dy() < 0 { step } else { SIDE - 1 - step };
            Tile::at(x, y).expect("an edge lies inside the arena")
        })
    }

    /// The tiles of the edge as a set.
    #[inline]
    pub const fn board(self) -> &'static Board {
        static BOARDS: [Board; 4] = {
            let mut boards = [Board([0; 32]); 4];
            let mut step = 0;
            while step < 14 {
                boards[Edge::BottomLeft.index()].0[step + 1] |= 1 << (13 - step);
                boards[Edge::BottomRight.index()].0[step + 1] |= 1 << (14 + step);
                boards[Edge::TopLeft.index()].0[28 - step] |= 1 << (13 - step);
                boards[Edge::TopRight.index()].0[28 - step] |= 1 << (14 + step);
                step += 1;
            }
            boards
        };
        &BOARDS[self.index()]
    }

    /// The target of a unit that starts on `tile`: the edge opposite in both axes (TM-PATH-1).
    pub const fn opposite(tile: Tile) -> Self {
        match (tile.x() < 14, tile.y() < 14) {
            (true, true) => Self::TopRight,
            (false, true) => Self::TopLeft,
            (true, false) => Self::BottomRight,
            (false, false) => Self::BottomLeft,
        }
    }

    /// Whether `tile` lies on an edge of `seat`: where its mobile units may start (TM-DEPLOY-2).
    pub fn start_of(seat: Seat, tile: Tile) -> bool {
        Self::ALL.into_iter().any(|edge| edge.belongs_to(seat) && edge.holds(tile))
    }
}

/// The tiles within a range of a tile, as half-widths of rows (TM-TARGET-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The square of the range, rounded down: a tile is within range when its squared distance is at most this.
    pub square: i32,
    /// How many rows up and down the range extends; -1 when it is empty.
    rows: i32,
    /// Half the width of the range `n` rows away, without the middle column.
    widths: [u8; SIDE as usize],
}

impl Reach {
    /// The tiles within a distance of `range`.
    pub fn new(range: f32) -> Self {
        // The longest distance in the arena is below 39, whose square is 1,521.
        let square =
            if range <= 0.0 { -1 } else { (f64::from(range) * f64::from(range)).min(4_000.0) as i32 };
        let mut widths = [0; SIDE as usize];
        let mut rows = -1;
        for dy in 0..SIDE {
            if dy * dy <= square {
                rows = dy;
                let width = (0..SIDE).take_while(|dx| dx * dx + dy * dy <= square).count() - 1;
                widths[dy as usize] = width as u8;
            }
        }
        Self { square, rows, widths }
    }

    /// Whether the range holds no tile at all, not even the middle.
    pub const fn is_empty(&self) -> bool {
        self.rows < 0
    }

    /// The columns within the range of `middle` in the row `dy` away, as bits.
    #[inline]
    fn columns(&self, middle: Tile, dy: i32) -> u32 {
        let width = u32::from(self.widths[dy as usize]);
        let span = (1u64 << (2 * width + 1)) - 1;
        ((span << (middle.x() as u32 + 28 - width)) >> 28) as u32
    }

    /// Calls `with` for the [`index`](Tile::index) of each tile of the arena within the range of `middle`.
    #[inline]
    pub fn each(&self, middle: Tile, mut with: impl FnMut(usize)) {
        let (low, high) = ((middle.y() - self.rows).max(0), (middle.y() + self.rows).min(SIDE - 1));
        for y in low..=high {
            let mut row = self.columns(middle, (y - middle.y()).abs()) & ROWS[y as usize];
            while row != 0 {
                with((y as usize + 1) * 32 + row.trailing_zeros() as usize);
                row &= row - 1;
            }
        }
    }

    /// The tiles of `board` nearest to `middle` and within the range, with the square of their distance. All
    /// of them have the same distance; there are only a few at most.
    #[inline]
    pub fn nearest(&self, middle: Tile, board: &Board, found: &mut Nearest) {
        found.count = 0;
        found.square = self.square;
        let mut dy = 0;
        while dy <= self.rows && dy * dy <= found.square {
            self.nearest_in_row(middle, dy, middle.y() + dy, board, found);
            if dy > 0 {
                self.nearest_in_row(middle, dy, middle.y() - dy, board, found);
            }
            dy += 1;
        }
    }

    #[inline]
    fn nearest_in_row(&self, middle: Tile, dy: i32, y: i32, board: &Board, found: &mut Nearest) {
        let row = board.0.get((y + 1) as usize).copied().unwrap_or(0);
        if row == 0 {
            return;
        }
        let hits = row & self.columns(middle, dy);
        if hits == 0 {
            return;
        }
        let x = middle.x() as u32;
        let right = (hits >> x).trailing_zeros();
        let left = (hits << (31 - x)).leading_zeros();
        let step = right.min(left);
        let square = (step * step) as i32 + dy * dy;
        if square < found.square || found.count == 0 {
            found.square = square;
            found.count = 0;
        } else if square > found.square {
            return;
        }
        let base = (y as usize + 1) * 32;
        if right == step {
            found.push(Tile::known(base + (x + step) as usize));
        }
        if left == step && step > 0 {
            found.push(Tile::known(base + (x - step) as usize));
        }
    }
}

/// What [`Reach::nearest`] found.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    /// The square of their common distance.
    pub square: i32,
    tiles: [Tile; 32],
    count: usize,
}

impl Nearest {
    /// Nothing found yet.
    pub const fn none() -> Self {
        Self { square: 0, tiles: [Tile(0); 32], count: 0 }
    }

    /// The tiles.
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles[..self.count]
    }

    fn push(&mut self, tile: Tile) {
        self.tiles[self.count] = tile;
        self.count += 1;
    }
}

/// The columns of each row that lie inside the diamond, as bits.
const ROWS: [u32; SIDE as usize] = {
    let mut rows = [0; SIDE as usize];
    let mut y = 0;
    while y < SIDE {
        let half = if y < 14 { y + 1 } else { SIDE - y };
        rows[y as usize] = ((1u64 << (14 + half)) - (1u64 << (14 - half))) as u32;
        y += 1;
    }
    rows
};

/// A set of tiles, as a row of bits for each row of the padded grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Board([u32; 32]);

impl Board {
    /// All tiles.
    pub const ARENA: Self = {
        let mut rows = [0; 32];
        let mut y = 0;
        while y < SIDE as usize {
            rows[y + 1] = ROWS[y];
            y += 1;
        }
        Self(rows)
    };

    /// Whether no tile is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, row| all | row) == 0
    }

    /// The tiles that are in both sets.
    #[inline]
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|row| self.0[row] & other.0[row]))
    }

    /// The tiles in this set and not in the other.
    #[inline]
    #[must_use]
    pub fn and_not(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|row| self.0[row] & !other.0[row]))
    }

    /// The tiles in either set.
    #[inline]
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|row| self.0[row] | other.0[row]))
    }

    /// The neighbours of the tiles, including any outside the arena.
    #[inline]
    #[must_use]
    pub fn around(&self) -> Self {
        let mut around = [0; 32];
        for (around, rows) in around[1..31].iter_mut().zip(self.0.windows(3)) {
            *around = rows[1] << 1 | rows[1] >> 1 | rows[0] | rows[2];
        }
        Self(around)
    }

    /// Calls `with` for the [`index`](Tile::index) of each tile.
    #[inline]
    pub fn each(&self, mut with: impl FnMut(usize)) {
        for (row, &bits) in self.0.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                with(row * 32 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }

    /// The tile furthest in the direction of `edge`: in the row nearest its top or bottom, the one furthest to its side.
    pub fn furthest(&self, edge: Edge) -> Option<Tile> {
        let filled = |row: &usize| self.0[*row] != 0;
        let row = if edge.dy() > 0 { (0..32).rev().find(filled) } else { (0..32).find(filled) }?;
        let bits = self.0[row];
        let column = if edge.dx() > 0 { 31 - bits.leading_zeros() } else { bits.trailing_zeros() };
        Some(Tile::known(row * 32 + column as usize))
    }

    /// Puts a tile into the set.
    #[inline]
    pub fn insert(&mut self, tile: Tile) {
        self.0[tile.index() >> 5] |= 1 << (tile.index() & 31);
    }

    /// Takes a tile out of the set.
    #[inline]
    pub fn remove(&mut self, tile: Tile) {
        self.0[tile.index() >> 5] &= !(1 << (tile.index() & 31));
    }

    /// Whether a tile is in the set.
    #[inline]
    pub const fn contains(&self, tile: Tile) -> bool {
        self.0[tile.index() >> 5] >> (tile.index() & 31) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arena_has_420_tiles_and_four_edges_of_14() {
        assert_eq!(Tile::all().count(), TILES);
        assert_eq!(Tile::all().filter(|tile| tile.owner().index() == 0).count(), 210);
        for edge in Edge::ALL {
            assert_eq!(Tile::all().filter(|&tile| edge.holds(tile)).count(), 14);
            assert!(edge.tiles().all(|tile| edge.holds(tile) && edge.board().contains(tile)));
        }
    }

    #[test]
    fn the_nearest_tiles_are_those_of_a_plain_search() {
        let mut board = Board::default();
        Tile::all()
            .filter(|tile| (tile.x() * 7 + tile.y() * 11) % 13 == 0)
            .for_each(|tile| board.insert(tile));
        for range in [0.0, 1.0, 1.5, 2.5, 3.5, 4.5, 10.0, 60.0] {
            let reach = Reach::new(range);
            for middle in Tile::all() {
                let within = |tile: &Tile| {
                    f64::from(middle.distance2(*tile)).sqrt() <= f64::from(range) && range > 0.0
                };
                let mut all: Vec<_> = Tile::all().filter(within).collect();
                let mut listed = Vec::new();
                reach.each(middle, |tile| listed.push(Tile::from_index(tile).expect("inside")));
                assert_eq!(listed, all);
                all.retain(|&tile| board.contains(tile));
                let least = all.iter().map(|tile| middle.distance2(*tile)).min();
                all.retain(|tile| Some(middle.distance2(*tile)) == least);
                let mut found = Nearest::none();
                reach.nearest(middle, &board, &mut found);
                let mut tiles = found.tiles().to_vec();
                tiles.sort();
                assert_eq!(tiles, all, "range {range} of {middle:?}");
            }
        }
    }
}
