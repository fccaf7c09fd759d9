//! Maps: the legend, reading and checking (OB-MAP-1 to OB-MAP-3).

use agon_game::{BundledMap, MapFindings, Seat, Seats};

use crate::geometry::{Cell, Direction, Rows, SIDE};
use crate::state::{ADVENTURERS, OBJECTS, PILES};

/// The most teams of a match.
pub const TEAMS: usize = 9;

/// The maps built into the program.
pub const MAPS: &[BundledMap] = &[
    BundledMap { name: "cloister", seats: (2, 2), text: include_str!("../maps/cloister.txt") },
    BundledMap { name: "crossing", seats: (2, 2), text: include_str!("../maps/crossing.txt") },
    BundledMap { name: "foundry", seats: (2, 2), text: include_str!("../maps/foundry.txt") },
    BundledMap { name: "glacier", seats: (2, 2), text: include_str!("../maps/glacier.txt") },
    BundledMap { name: "quarters", seats: (4, 4), text: include_str!("../maps/quarters.txt") },
    BundledMap { name: "vaults", seats: (2, 2), text: include_str!("../maps/vaults.txt") },
];

/// The ground of a cell. Breakable objects stand on floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// A block; the only thing fire does not enter.
    Wall,
    /// Nothing special.
    Floor,
    /// Where adventurers of this team come from; a block until the fire starts.
    Spawner(Seat),
    /// Heals for gold; nobody ever stands on it.
    Health,
    /// Hurts an adventurer that steps on it.
    Spikes,
    /// An adventurer that steps on it slides on.
    Ice,
    /// Moves an adventurer that steps on it this way.
    Treadmill(Direction),
}

impl Tile {
    /// Its character in map files and in `gameState.map`.
    pub fn character(self) -> char {
        match self {
            Self::Wall => '#',
            Self::Floor => '.',
            Self::Spawner(team) => char::from(b'0' + team.number()),
            Self::Health => 'H',
            Self::Spikes => 'S',
            Self::Ice => '~',
            Self::Treadmill(Direction::Up) => '^',
            Self::Treadmill(Direction::Down) => 'v',
            Self::Treadmill(Direction::Left) => '<',
            Self::Treadmill(Direction::Right) => '>',
        }
    }
}

/// The kinds of objects that stand on the map and can be hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectKind {
    /// The way out (OB-PORTAL-1).
    Portal,
    /// Holds a lot of gold (OB-LOOT-1).
    Chest,
    /// Holds a little gold (OB-LOOT-2).
    Vase,
    /// Blocks the way and the view (OB-LOOT-3).
    Door,
}

impl ObjectKind {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Portal, Self::Chest, Self::Vase, Self::Door];

    /// Its name in the protocol; names of objects begin with its first letter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portal => "portal",
            Self::Chest => "chest",
            Self::Vase => "vase",
            Self::Door => "door",
        }
    }

    /// Its character in map files.
    pub const fn character(self) -> char {
        match self {
            Self::Portal => 'P',
            Self::Chest => 'C',
            Self::Vase => 'V',
            Self::Door => 'D',
        }
    }
}

/// Something that stands on the map and can be hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Where it stands.
    pub cell: Cell,
    /// Its number among those of its kind in reading order, from 1: `p1`, `c2`.
    pub number: u16,
}

impl std::fmt::Display for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", &self.kind.name()[..1], self.number)
    }
}

/// A map as it is at the start of every round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The ground of every cell; wall beyond the map.
    pub tiles: Box<[Tile]>,
    /// The cells that are wall, and all beyond the map.
    pub walls: Rows,
    /// The cells that are spawners.
    pub spawners: Rows,
    /// What can be hit, in reading order.
    pub objects: Vec<Object>,
    /// The gold piles, in reading order.
    pub piles: Vec<Cell>,
    /// The spawners of each team, in reading order.
    pub homes: Vec<Vec<Cell>>,
    /// By cell: which of `objects` stands there at the start, or [`NO_OBJECT`].
    object_at: Box<[u8]>,
}

/// Nothing to hit in a cell.
const NO_OBJECT: u8 = u8::MAX;

impl Map {
    /// Reads a map file (OB-MAP-1) and checks that it can be played (OB-MAP-2, OB-MAP-3).
    ///
    /// # Errors
    /// A sentence with line and column where that helps.
    pub fn read(text: &str) -> Result<Self, String> {
        let rows: Vec<&str> = text.lines().map(|row| row.trim_end_matches('\r')).collect();
        let rows = &rows[..rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1)];
        let (width, height) = (rows.iter().map(|row| row.chars().count()).max().unwrap_or(0), rows.len());
        if width == 0 {
            return Err("holds no map".to_owned());
        }
        if width > SIDE || height > SIDE {
            return Err(format!("is {width} x {height}; at most {SIDE} x {SIDE} cells are possible"));
        }
        let mut map = Self {
            width,
            height,
            tiles: vec![Tile::Wall; Cell::COUNT].into(),
            walls: Rows::NONE,
            spawners: Rows::NONE,
            objects: Vec::new(),
            piles: Vec::new(),
            homes: vec![Vec::new(); TEAMS],
            object_at: vec![NO_OBJECT; Cell::COUNT].into(),
        };
        for (y, row) in rows.iter().enumerate() {
            for (x, character) in row.chars().enumerate() {
                let place = || format!("line {}, column {}", y + 1, x + 1);
                map.put(Cell::new(x, y), character).map_err(|why| format!("{}: {why}", place()))?;
            }
        }
        // Short rows are padded with wall, and beyond the map there is nothing else.
        let everywhere = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| Cell::new(x, y)));
        map.walls = everywhere.filter(|cell| map.tiles[cell.index()] == Tile::Wall).collect();
        let teams = map.homes.iter().rposition(|home| !home.is_empty()).map_or(0, |last| last + 1);
        map.homes.truncate(teams);
        map.check().map(|()| map)
    }

    fn put(&mut self, cell: Cell, character: char) -> Result<(), String> {
        let tile = match character {
            '#' => Tile::Wall,
            '.' | ' ' => Tile::Floor,
            'H' => Tile::Health,
            'S' => Tile::Spikes,
            '~' => Tile::Ice,
            '^' => Tile::Treadmill(Direction::Up),
            'v' => Tile::Treadmill(Direction::Down),
            '<' => Tile::Treadmill(Direction::Left),
            '>' => Tile::Treadmill(Direction::Right),
            'G' => {
                self.piles.push(cell);
                Tile::Floor
            }
            '1'..='9' => {
                let team = character as u8 - b'1';
                self.homes[usize::from(team)].push(cell);
                self.spawners.insert(cell);
                Tile::Spawner(Seat::new(team))
            }
            other => {
                let kind =
                    ObjectKind::ALL.into_iter().find(|kind| kind.character() == other).ok_or_else(|| {
                        format!(
                            "`{other}` means nothing; a map is drawn with # . 1-9 P C V D H S G ~ ^ v < >"
                        )
                    })?;
                if self.objects.len() == OBJECTS {
                    return Err(format!("more than {OBJECTS} portals, chests, vases and doors"));
                }
                let number = 1 + self.objects.iter().filter(|object| object.kind == kind).count() as u16;
                self.object_at[cell.index()] = self.objects.len() as u8;
                self.objects.push(Object { kind, cell, number });
                Tile::Floor
            }
        };
        self.tiles[cell.index()] = tile;
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        if self.homes.len() < 2 {
            return Err("has spawners of fewer than two teams; digits are spawners".to_owned());
        }
        if let Some(team) = self.homes.iter().position(Vec::is_empty) {
            return Err(format!("has spawners of team {} but none of team {}", self.homes.len(), team + 1));
        }
        let gold = |object: &&Object| matches!(object.kind, ObjectKind::Chest | ObjectKind::Vase);
        let piles = self.piles.len() + self.objects.iter().filter(gold).count();
        if piles > PILES - ADVENTURERS {
            return Err(format!(
                "has {piles} chests, vases and gold piles; at most {} are possible",
                PILES - ADVENTURERS
            ));
        }
        if !self.objects.iter().any(|object| object.kind == ObjectKind::Portal) {
            return Err("has no portal `P`, so that nobody could ever leave".to_owned());
        }
        Ok(())
    }

    /// The findings of `agon maps check`: what is on the map, and the [`advice`](Self::advice).
    pub fn findings(&self) -> MapFindings {
        let count = |kind| self.objects.iter().filter(|object| object.kind == kind).count();
        let spawners: Vec<String> = self.homes.iter().map(|home| home.len().to_string()).collect();
        let mut facts = vec![
            format!(
                "{} x {} cells; portals: {}, chests: {}, vases: {}, piles of gold: {}",
                self.width,
                self.height,
                count(ObjectKind::Portal),
                count(ObjectKind::Chest),
                count(ObjectKind::Vase),
                self.piles.len()
            ),
            format!("{} teams; their spawners: {}", self.homes.len(), spawners.join(", ")),
        ];
        let is_edge = |cell: &Cell| {
            let (right, below) = (self.width - 1, self.height - 1);
            cell.x() == 0 || cell.y() == 0 || cell.x() == right || cell.y() == below
        };
        let open = self.cells().filter(|cell| is_edge(cell) && self.tile(*cell) != Tile::Wall).count();
        if open > 0 {
            facts.push(format!(
                "the border is open at {open} cells: the edge stops adventurers and the fire as a wall does"
            ));
        }
        let warnings = self.advice();
        if warnings.is_empty() {
            facts.push("every team can reach everything, and the map is the same for all of them".to_owned());
        }
        MapFindings { facts, errors: Vec::new(), warnings }
    }

    /// All cells of the map in reading order.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let width = self.width;
        (0..self.height).flat_map(move |y| (0..width).map(move |x| Cell::new(x, y)))
    }

    /// The ground of `cell`.
    #[inline]
    pub fn tile(&self, cell: Cell) -> Tile {
        self.tiles[cell.index()]
    }

    /// The neighbour of `cell`, if it is on the map.
    #[inline]
    pub fn neighbour(&self, cell: Cell, direction: Direction) -> Option<Cell> {
        direction.from(cell, self.width, self.height)
    }

    /// Which of `objects` stands in `cell` at the start.
    #[inline]
    pub fn object_at(&self, cell: Cell) -> Option<usize> {
        let index = self.object_at[cell.index()];
        (index != NO_OBJECT).then_some(usize::from(index))
    }

    /// The teams that have spawners.
    pub fn teams(&self) -> Seats {
        Seats::first(self.homes.len() as u8)
    }

    /// What is playable but worth a second look, one sentence each: unequal homes, unreachable
    /// places, portals for everybody, no symmetry.
    pub fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        let spawners: Vec<usize> = self.homes.iter().map(Vec::len).collect();
        if spawners.iter().any(|&count| count != spawners[0]) {
            advice.push(format!("teams have different numbers of spawners: {spawners:?}"));
        }
        for (team, home) in self.homes.iter().enumerate() {
            let reached = self.reachable(home);
            let missed = self.objects.iter().filter(|object| !reached.grown().contains(object.cell));
            let missed: Vec<String> = missed.map(Object::to_string).collect();
            if !missed.is_empty() {
                advice.push(format!("team {} cannot reach {}", team + 1, missed.join(", ")));
            }
            if let Some(pile) = self.piles.iter().find(|&&pile| !reached.contains(pile)) {
                advice.push(format!("team {} cannot reach the gold at {},{}", team + 1, pile.x(), pile.y()));
            }
        }
        let portals = self.objects.iter().filter(|object| object.kind == ObjectKind::Portal).count();
        if portals >= spawners.iter().sum() {
            advice.push(format!("{portals} portals are enough for everybody; scarcer ones are fought for"));
        }
        if !self.is_symmetric() {
            advice.push("no rotation or reflection swaps the teams".to_owned());
        }
        advice
    }

    /// Where adventurers that start in `home` can get to: breakable objects let them through;
    /// walls, health tiles and spawners do not. Slides are not followed.
    fn reachable(&self, home: &[Cell]) -> Rows {
        let closed: Rows = self.cells().filter(|&cell| self.tile(cell) == Tile::Health).collect();
        let closed = closed.or(&self.walls).or(&self.spawners);
        let open = self.cells().collect::<Rows>().without(&closed);
        let mut reached: Rows = home.iter().copied().collect();
        loop {
            let next = reached.or(&reached.grown().and(&open));
            if next == reached {
                return reached;
            }
            reached = next;
        }
    }

    /// Whether a half turn or a reflection maps every object onto one of its kind and every spawner
    /// onto one of another team.
    pub fn is_symmetric(&self) -> bool {
        let (right, bottom) = (self.width - 1, self.height - 1);
        [(true, true), (true, false), (false, true)].into_iter().any(|(across, down)| {
            let flip = |cell: Cell| {
                let x = if across { right - cell.x() } else { cell.x() };
                Cell::new(x, if down { bottom - cell.y() } else { cell.y() })
            };
            let turned = |tile: Tile| match tile {
                Tile::Treadmill(Direction::Left) if across => Tile::Treadmill(Direction::Right),
                Tile::Treadmill(Direction::Right) if across => Tile::Treadmill(Direction::Left),
                Tile::Treadmill(Direction::Up) if down => Tile::Treadmill(Direction::Down),
                Tile::Treadmill(Direction::Down) if down => Tile::Treadmill(Direction::Up),
                tile => tile,
            };
            let kind = |cell| self.object_at(cell).map(|index| self.objects[index].kind);
            self.cells().all(|cell| {
                let other = flip(cell);
                let ground = match (self.tile(cell), self.tile(other)) {
                    (Tile::Spawner(own), Tile::Spawner(other)) => own != other,
                    (own, other) => turned(own) == other,
                };
                ground
                    && kind(cell) == kind(other)
                    && self.piles.contains(&cell) == self.piles.contains(&other)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_played_is_refused_with_its_place() {
        let why = |text: &str| Map::read(text).expect_err("not a map");
        assert_eq!(why("\n\n"), "holds no map");
        assert!(why("#1P2#\n#.x.#").starts_with("line 2, column 3: `x` means nothing"));
        assert!(why(&".".repeat(33)).contains("at most 32 x 32"));
        assert!(why("1.P").contains("fewer than two teams"));
        assert!(why("1.P3").contains("none of team 2"));
        assert!(why("1.2").contains("no portal"));
        assert!(why(&format!("1P2\n{}", format!("{}\n", "G".repeat(32)).repeat(4))).contains("at most 96"));
        assert!(
            why(&format!("1P2\n{}", format!("{}\n", "D".repeat(32)).repeat(4))).contains("more than 128")
        );
    }

    #[test]
    fn short_rows_are_filled_up_with_wall() {
        let map = Map::read("1.P.2\n..\n").expect("a map");
        assert_eq!((map.width, map.height), (5, 2));
        assert_eq!(map.tile(Cell::new(2, 1)), Tile::Wall);
    }

    #[test]
    fn advice_names_what_is_odd() {
        let map = Map::read("1.PP#G\n2.##V#").expect("a map");
        let advice = map.advice().join("; ");
        for part in ["cannot reach v1", "cannot reach the gold at 5,0", "enough for everybody", "no rotation"]
        {
            assert!(advice.contains(part), "{part} is not in: {advice}");
        }
    }
}
