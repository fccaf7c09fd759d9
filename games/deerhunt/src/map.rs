//! The ground: walls, resource tiles, hubs, and the units at the start.
//!
//! The file format is that of the events: the top half, whose last line is the shared middle row.

use agon_game::{MapFindings, SetupError};

use crate::state::{At, Direction, Kind, Player};

/// Upper limit on the tiles of a map.
pub const MAX_CELLS: usize = 2_048;
/// Upper limit on the hubs of a map when hubs can run dry.
pub const MAX_HUBS: usize = 16;

/// A set of tiles, by their number on the map ([`Map::cell`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSet([u64; MAX_CELLS / 64]);

impl Default for CellSet {
    fn default() -> Self {
        Self([0; MAX_CELLS / 64])
    }
}

impl CellSet {
    /// Adds a tile.
    #[inline]
    pub fn insert(&mut self, cell: usize) {
        self.0[cell / 64] |= 1 << (cell % 64);
    }

    /// Removes a tile.
    #[inline]
    pub fn remove(&mut self, cell: usize) {
        self.0[cell / 64] &= !(1 << (cell % 64));
    }

    /// Whether a tile is in the set.
    #[inline]
    pub fn contains(&self, cell: usize) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 == 1
    }
}

/// A map. It never changes; which hubs are saturated is in the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    width: u8,
    height: u8,
    walls: CellSet,
    resources: CellSet,
    /// The hub of each resource tile; [`NO_HUB`] elsewhere.
    hub: Box<[u8]>,
    hubs: usize,
    /// The units at the start, in the order of their ids.
    pub units: Vec<(Player, Kind, At)>,
}

const NO_HUB: u8 = u8::MAX;

/// The meaning of a character in a map.
enum Tile {
    Wall,
    Ground,
    Resource,
    Unit(Kind),
}

/// DH-MAP-2: capital and small letters mean the same, everything else is ground.
fn tile(letter: char) -> Tile {
    match letter.to_ascii_lowercase() {
        'x' => Tile::Wall,
        'r' => Tile::Resource,
        'w' => Tile::Unit(Kind::Worker),
        'm' => Tile::Unit(Kind::Melee),
        _ => Tile::Ground,
    }
}

impl Map {
    /// DH-MAP-1: a map file holds the top half; all lines but the last are mirrored below it.
    ///
    /// # Errors
    /// A map that is too large or has no units.
    pub fn parse(place: &str, text: &str) -> Result<Self, SetupError> {
        let bad = |why: String| SetupError::BadMap { place: place.to_owned(), why };
        if text.len() > 100_000 {
            return Err(bad("longer than 100,000 bytes".to_owned()));
        }
        let top: Vec<&str> = text.lines().map(str::trim_end).collect();
        let Some((_, above)) = top.split_last() else {
            return Err(bad("is empty".to_owned()));
        };
        let rows: Vec<&str> = top.iter().chain(above.iter().rev()).copied().collect();
        Self::from_rows(&rows, |_, row| if row < top.len() { Player::One } else { Player::Two }).map_err(bad)
    }

    /// A map from all of its rows; `owner` gives the owner of the unit drawn as a letter in a row.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn from_rows(rows: &[&str], owner: impl Fn(char, usize) -> Player) -> Result<Self, String> {
        let width = rows.iter().map(|row| row.chars().count()).max().unwrap_or(0);
        let height = rows.len();
        if width == 0 || width > 200 || height > 200 || width * height > MAX_CELLS {
            return Err(format!(
                "has {width} x {height} tiles; a map has at most {MAX_CELLS}, and 200 a side"
            ));
        }
        let mut map = Self {
            width: width as u8,
            height: height as u8,
            walls: CellSet::default(),
            resources: CellSet::default(),
            hub: vec![NO_HUB; width * height].into(),
            hubs: 0,
            units: Vec::new(),
        };
        for (y, row) in rows.iter().enumerate() {
            // DH-MAP-4: short rows are padded with wall.
            let letters = row.chars().chain(std::iter::repeat('x')).take(width);
            for (x, letter) in letters.enumerate() {
                let at = At::new(x as u8, y as u8);
                match tile(letter) {
                    Tile::Wall => map.walls.insert(map.cell(at)),
                    Tile::Resource => map.resources.insert(map.cell(at)),
                    Tile::Unit(kind) => map.units.push((owner(letter, y), kind, at)),
                    Tile::Ground => {}
                }
            }
        }
        // DH-MAP-3: ids go to player 1 first, then to player 2, each from the top left.
        map.units.sort_by_key(|&(owner, _, _)| owner as u8);
        map.name_hubs();
        Ok(map)
    }

    /// DH-MAP-6: resource tiles that touch are one hub.
    fn name_hubs(&mut self) {
        let mut open = Vec::new();
        for first in self.cells() {
            if !self.is_resource(first) || self.hub[self.cell(first)] != NO_HUB {
                continue;
            }
            let number = self.hubs.min(usize::from(NO_HUB - 1)) as u8;
            self.hubs += 1;
            open.push(first);
            while let Some(at) = open.pop() {
                let cell = self.cell(at);
                if self.hub[cell] == NO_HUB {
                    self.hub[cell] = number;
                    let around = Direction::ALL.map(|direction| at.step(direction));
                    open.extend(around.into_iter().filter(|&next| self.is_resource(next)));
                }
            }
        }
    }

    /// Columns.
    pub const fn width(&self) -> u8 {
        self.width
    }

    /// Rows.
    pub const fn height(&self) -> u8 {
        self.height
    }

    /// The number of hubs.
    pub const fn hubs(&self) -> usize {
        self.hubs
    }

    /// All tiles, row by row.
    pub fn cells(&self) -> impl Iterator<Item = At> + use<> {
        let (width, height) = (self.width, self.height);
        (0..height).flat_map(move |y| (0..width).map(move |x| At::new(x, y)))
    }

    /// Whether a tile is on the map.
    #[inline]
    pub const fn holds(&self, at: At) -> bool {
        at.x < self.width && at.y < self.height
    }

    /// The number of a tile, which must be on the map.
    #[inline]
    pub const fn cell(&self, at: At) -> usize {
        at.y as usize * self.width as usize + at.x as usize
    }

    /// DH-MAP-4: whether no unit can be there: a wall, or off the map.
    #[inline]
    pub fn is_wall(&self, at: At) -> bool {
        !self.holds(at) || self.walls.contains(self.cell(at))
    }

    /// Whether a tile was a resource tile at the start.
    #[inline]
    pub fn is_resource(&self, at: At) -> bool {
        self.holds(at) && self.resources.contains(self.cell(at))
    }

    /// The hub of a tile, by number.
    #[inline]
    pub fn hub(&self, at: At) -> Option<u8> {
        self.is_resource(at).then(|| self.hub[self.cell(at)])
    }

    /// Findings about a map: armies, hubs, and whether everything can be reached.
    pub fn check(&self) -> MapFindings {
        let mut findings = MapFindings::default();
        let (width, height) = (self.width, self.height);
        let armies = Player::BOTH.map(|player| {
            [Kind::Worker, Kind::Melee].map(|kind| {
                let own = |unit: &&(Player, Kind, At)| (unit.0, unit.1) == (player, kind);
                self.units.iter().filter(own).count()
            })
        });
        findings
            .facts
            .push(format!("{width} x {height} tiles, mirrored at the middle row; hubs: {}", self.hubs));
        for (player, [workers, melees]) in Player::BOTH.into_iter().zip(armies) {
            findings.facts.push(format!("{player}: workers {workers}, melees {melees}"));
            if workers + melees == 0 {
                findings.errors.push(format!("{player} has no unit (`w` or `m`) on it"));
            }
        }
        if armies[0] != armies[1] {
            let why =
                "the armies differ: units in the last line of the file, the middle row, are all player 1's";
            findings.warnings.push(why.to_owned());
        }
        if self.hubs == 0 {
            findings.warnings.push("it has no resource tile (`r`), so nobody can mine".to_owned());
        }
        if self.hubs > MAX_HUBS {
            let why = format!(
                "it has {} hubs; at most {MAX_HUBS} where hubs can run dry (hub_capacity)",
                self.hubs
            );
            findings.warnings.push(why);
        }
        let wanted =
            self.cells().filter(|&at| self.is_resource(at)).chain(self.units.iter().map(|unit| unit.2));
        let lost: Vec<At> = match self.units.first() {
            Some(&(_, _, from)) => wanted.filter(|&at| !self.connects(from, [at])).collect(),
            None => Vec::new(),
        };
        match lost.first() {
            None => findings.facts.push("every unit can reach every hub and every other unit".to_owned()),
            Some(at) => findings.warnings.push(format!(
                "no way leads from the first unit to column {}, row {} ({} such tiles of hubs and units in all)",
                at.x + 1,
                at.y + 1,
                lost.len()
            )),
        }
        findings
    }

    /// Whether a unit can walk from `from` to each of `to`, ignoring other units.
    pub fn connects(&self, from: At, to: impl IntoIterator<Item = At>) -> bool {
        let (mut reached, mut open) = (CellSet::default(), vec![from]);
        while let Some(at) = open.pop() {
            if !self.is_wall(at) && !reached.contains(self.cell(at)) {
                reached.insert(self.cell(at));
                open.extend(Direction::ALL.map(|direction| at.step(direction)));
            }
        }
        to.into_iter().all(|at| self.holds(at) && reached.contains(self.cell(at)))
    }
}
