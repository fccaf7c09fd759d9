//! The board in the form the rules need: numbered tiles, their ground, and what fits into a state.

use crate::map::{Map, Tile};
use crate::state::{DiamondIndex, PATH_BYTES, UnitIndex};

/// A tile by its number. Tiles are numbered column by column, like `tiles[x][y]` on the wire, and every column is
/// followed by one tile of wall, with a whole column of wall before the first and after the last. So every neighbour of a
/// tile of the map has a number, and a step off the map is a step into a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(pub u16);

impl Cell {
    /// No tile: the place of units that are not on the board, and every target off the map.
    pub const NOWHERE: Self = Self(0);

    /// Its index into tables of the arena.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A position as written by people and on the wire: `x` counts columns from the left, `y` rows from the top (JB-MAP-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Point {
    /// The column, from 0.
    pub x: u8,
    /// The row, from 0.
    pub y: u8,
}

/// The four steps, in the order in which neighbours are always checked (JB-MAP-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Direction {
    /// y - 1.
    Up = 0,
    /// y + 1.
    Down = 1,
    /// x - 1.
    Left = 2,
    /// x + 1.
    Right = 3,
}

impl Direction {
    /// All four, in their order.
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];

    /// The direction with this code; only the lowest two bits count.
    #[inline]
    pub const fn from_code(code: u8) -> Self {
        Self::ALL[(code & 3) as usize]
    }
}

/// The kind of a tile in the rules (JB-MAP-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ground {
    /// Never walkable; also everything off the map.
    Wall,
    /// Walkable.
    Empty,
    /// Walkable only from a spawn tile.
    Spawn,
}

/// A prepared map.
#[derive(Clone, Debug)]
pub struct Arena {
    width: u8,
    height: u8,
    stride: u16,
    /// Number offsets of the four neighbours, in the order of [`Direction`].
    offsets: [i16; 4],
    ground: Vec<Ground>,
    spawns: Vec<Cell>,
    diamonds: Vec<Cell>,
    path_bytes: usize,
}

impl Arena {
    /// Prepares a map for `units` units in all.
    ///
    /// # Errors
    /// When the stored paths of this many units on this map could exceed the state (JB-MAP-5).
    pub fn new(map: &Map, units: usize) -> Result<Self, String> {
        let (width, height) = (map.width(), map.height());
        let stride = u16::from(height) + 1;
        let mut arena = Self {
            width,
            height,
            stride,
            offsets: [-1, 1, -(stride as i16), stride as i16],
            ground: vec![Ground::Wall; usize::from(stride) * (usize::from(width) + 2)],
            spawns: Vec::new(),
            diamonds: Vec::new(),
            path_bytes: PATH_BYTES / units.max(1),
        };
        for x in 0..width {
            for y in 0..height {
                let cell = arena.cell(Point { x, y });
                let tile = map.tile(x, y);
                arena.ground[cell.index()] = tile.ground();
                match tile {
                    Tile::Spawn => arena.spawns.push(cell),
                    Tile::Diamond => arena.diamonds.push(cell),
                    _ => {}
                }
            }
        }
        let longest = arena.longest_path(units).saturating_sub(2);
        let room = (arena.path_bytes * 4).min(usize::from(u8::MAX));
        if longest > room {
            return Err(format!(
                "{units} units may have to remember paths of up to {longest} steps each on this map, but only {room} \
                 fit; give it fewer units, fewer tiles or more walls"
            ));
        }
        Ok(arena)
    }

    /// An upper bound on the tiles of any path the search can find, both ends included (JB-MAP-5): once with the spawn
    /// tiles walkable and once without.
    ///
    /// A path found is a shortest one, so two of its tiles are neighbours only when they follow each other: except for
    /// its ends, each has two sides that face something else. A side can face a wall, or a walkable tile off the path.
    /// The latter faces at most two path tiles, because more would be a short cut; one blocked by another unit or a
    /// diamond faces at most four. So if a tile has `w` sides at walls, and all sums are over walkable tiles,
    ///
    /// > sum over the path of `2 - w`, and 2 for the ends  <=  sum off the path of `min(2, 4 - w)`, and 2 for each blocked tile.
    ///
    /// With all terms on one side, each path tile costs `2 - w + min(2, 4 - w)` of what all tiles can take: the longest
    /// path has the cheapest tiles.
    fn longest_path(&self, units: usize) -> usize {
        let blocked = units.saturating_sub(1) + self.diamonds.len().saturating_sub(1);
        let bound = |walkable: &dyn Fn(Cell) -> bool| {
            let mut with_walls = [0usize; 5];
            for cell in self.cells().filter(|&cell| walkable(cell)) {
                let faces = Direction::ALL.iter().filter(|&&way| !walkable(self.neighbour(cell, way)));
                with_walls[faces.count()] += 1;
            }
            let [open, side, corner, end, _] = with_walls;
            let all_take = 2 * (open + side + corner) + end;
            let mut left = (all_take + 2 * blocked).saturating_sub(2);
            // A tile with three walls can only be the end of a path.
            let mut longest = end.min(2);
            for (tiles, cost) in [(corner, 2), (side, 3), (open, 4)] {
                let taken = tiles.min(left / cost);
                longest += taken;
                left -= taken * cost;
            }
            longest
        };
        let outside = bound(&|cell| self.ground(cell) == Ground::Empty);
        outside.max(bound(&|cell| self.ground(cell) != Ground::Wall))
    }

    /// The number of columns.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> u8 {
        self.height
    }

    /// The spawn tiles, column by column.
    pub fn spawns(&self) -> &[Cell] {
        &self.spawns
    }

    /// Where the diamonds lie at the start, column by column, which fixes their order.
    pub fn diamonds(&self) -> &[Cell] {
        &self.diamonds
    }

    /// Bytes of [`State::paths`](crate::state::State::paths) for each unit.
    #[inline]
    pub fn path_bytes(&self) -> usize {
        self.path_bytes
    }

    /// Where the stored path of a unit begins in [`State::paths`](crate::state::State::paths).
    #[inline]
    pub fn path_start(&self, unit: UnitIndex) -> usize {
        usize::from(unit) * self.path_bytes
    }

    /// How many tile numbers there are, the walls around the map included.
    #[inline]
    pub fn numbers(&self) -> usize {
        self.ground.len()
    }

    /// The ground by tile number.
    #[inline]
    pub fn grounds(&self) -> &[Ground] {
        &self.ground
    }

    /// The ground of a tile; a wall for every number off the map.
    #[inline]
    pub fn ground(&self, cell: Cell) -> Ground {
        self.ground.get(cell.index()).copied().unwrap_or(Ground::Wall)
    }

    /// Number offsets of the four neighbours.
    #[inline]
    pub fn offsets(&self) -> [i16; 4] {
        self.offsets
    }

    /// The next tile that way. `cell` must be on the map.
    #[inline]
    pub fn neighbour(&self, cell: Cell, way: Direction) -> Cell {
        Cell(cell.0.wrapping_add_signed(self.offsets[way as usize]))
    }

    /// Whether two tiles are adjacent: Manhattan distance 1 (JB-MAP-1).
    #[inline]
    pub fn adjacent(&self, from: Cell, to: Cell) -> bool {
        let distance = from.0.abs_diff(to.0);
        to != Cell::NOWHERE && (distance == 1 || distance == self.stride)
    }

    /// The number of a tile of the map.
    #[inline]
    pub fn cell(&self, at: Point) -> Cell {
        Cell((u16::from(at.x) + 1) * self.stride + u16::from(at.y))
    }

    /// The number of a tile; [`Cell::NOWHERE`] when it is off the map.
    pub fn cell_at(&self, x: i64, y: i64) -> Cell {
        match (u8::try_from(x), u8::try_from(y)) {
            (Ok(x), Ok(y)) if x < self.width && y < self.height => self.cell(Point { x, y }),
            _ => Cell::NOWHERE,
        }
    }

    /// The position of a tile of the map; `None` for every other number.
    pub fn point(&self, cell: Cell) -> Option<Point> {
        let (x, y) = (cell.0 / self.stride, cell.0 % self.stride);
        let on_map = (1..=u16::from(self.width)).contains(&x) && y < u16::from(self.height);
        on_map.then(|| Point { x: x as u8 - 1, y: y as u8 })
    }

    /// All tiles of the map, column by column.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        (0..self.width).flat_map(move |x| (0..self.height).map(move |y| self.cell(Point { x, y })))
    }

    /// The diamonds by index.
    pub fn diamond_indices(&self) -> impl Iterator<Item = DiamondIndex> + use<> {
        0..self.diamonds.len() as DiamondIndex
    }
}
