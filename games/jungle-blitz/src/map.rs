//! Maps: a grid of tiles, and the number of units per team.

use std::fmt::Write as _;

use agon_game::SetupError;

use crate::arena::Ground;
use crate::rules::{MAX_SIDE, MAX_TEAMS};

/// A tile as named in a map (JB-MAP-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// `.`
    Floor,
    /// `#`, a wall of stone.
    Stone,
    /// `~`, a wall of water: the same as stone, drawn differently.
    Water,
    /// `t`, a trap: floor that looks different (JB-MAP-3).
    Trap,
    /// `S`
    Spawn,
    /// `D`, floor with a diamond on it at the start.
    Diamond,
}

impl Tile {
    /// All tiles with their letter and their colour in the original's images.
    pub const ALL: [(Self, char, [u8; 3]); 6] = [
        (Self::Floor, '.', [0xff, 0xff, 0xff]),
        (Self::Stone, '#', [0x00, 0x00, 0x00]),
        (Self::Water, '~', [0x33, 0x33, 0x33]),
        (Self::Trap, 't', [0xcc, 0xcc, 0xcc]),
        (Self::Spawn, 'S', [0xff, 0x00, 0x00]),
        (Self::Diamond, 'D', [0x00, 0xff, 0x00]),
    ];

    /// The tile with this letter.
    pub fn of_letter(letter: char) -> Option<Self> {
        Self::ALL.iter().find(|entry| entry.1 == letter).map(|entry| entry.0)
    }

    /// The tile with this colour: red, green, blue.
    pub fn of_colour(colour: [u8; 3]) -> Option<Self> {
        Self::ALL.iter().find(|entry| entry.2 == colour).map(|entry| entry.0)
    }

    /// Its letter in map files.
    pub fn letter(self) -> char {
        Self::ALL[self as usize].1
    }

    /// Its ground in the rules: both walls are walls, a trap and a diamond's tile are EMPTY (JB-MAP-2, JB-MAP-3).
    pub fn ground(self) -> Ground {
        match self {
            Self::Stone | Self::Water => Ground::Wall,
            Self::Floor | Self::Trap | Self::Diamond => Ground::Empty,
            Self::Spawn => Ground::Spawn,
        }
    }
}

/// A map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    width: u8,
    height: u8,
    /// Row by row.
    tiles: Vec<Tile>,
    /// Units per team for 1 to 4 teams; 0 if the map does not say.
    pub units: [u8; MAX_TEAMS],
}

impl Map {
    /// A map of nothing but floor.
    ///
    /// # Errors
    /// When it would be empty or too large (JB-MAP-5).
    pub fn new(width: usize, height: usize) -> Result<Self, String> {
        if !(1..=MAX_SIDE).contains(&width) || !(1..=MAX_SIDE).contains(&height) {
            return Err(format!("a map is 1 to {MAX_SIDE} tiles wide and high, not {width} x {height}"));
        }
        let tiles = vec![Tile::Floor; width * height];
        Ok(Self { width: width as u8, height: height as u8, tiles, units: [0; MAX_TEAMS] })
    }

    /// Reads a map file: an image of the original, or our text.
    ///
    /// # Errors
    /// What is wrong with it and where.
    pub fn read(name: &str, content: &[u8]) -> Result<Self, SetupError> {
        if content.starts_with(b"BM") {
            return crate::bitmap::read(content)
                .map_err(|why| SetupError::BadMap { place: name.to_owned(), why });
        }
        let bad =
            |line: usize, why: String| SetupError::BadMap { place: format!("{name}, line {line}"), why };
        let text = std::str::from_utf8(content)
            .map_err(|_| bad(1, "a map is a text in UTF-8 or a BMP image".to_owned()))?;
        Self::parse(text).map_err(|(line, why)| bad(line, why))
    }

    /// Reads our text form: `key: value` lines, then the rows (JB-MAP-2). `;` begins a comment line.
    ///
    /// # Errors
    /// The line, from 1, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut units = [0; MAX_TEAMS];
        let mut rows: Vec<(usize, &str)> = Vec::new();
        for (number, line) in text.lines().map(str::trim_end).enumerate() {
            let number = number + 1;
            if line.is_empty() || line.starts_with(';') {
                continue;
            }
            match line.split_once(':') {
                Some((key, value)) => {
                    let (teams, count) =
                        parse_units(key.trim(), value.trim()).map_err(|why| (number, why))?;
                    units[teams - 1] = count;
                }
                None if rows.len() < MAX_SIDE => rows.push((number, line)),
                None => return Err((number, format!("a map has at most {MAX_SIDE} rows"))),
            }
        }
        let width = rows.first().map_or(0, |(_, row)| row.chars().count());
        let first = rows.first().map_or(1, |(number, _)| *number);
        let mut map = Self::new(width, rows.len()).map_err(|why| (first, why))?;
        map.units = units;
        for (y, (number, row)) in rows.iter().enumerate() {
            if row.chars().count() != width {
                return Err((
                    *number,
                    format!("this row has {} tiles, the first one {width}", row.chars().count()),
                ));
            }
            for (x, letter) in row.chars().enumerate() {
                let tile = Tile::of_letter(letter).ok_or_else(|| {
                    (*number, format!("column {}: `{letter}` is not a tile (. # ~ t S D)", x + 1))
                })?;
                map.set(x as u8, y as u8, tile);
            }
        }
        Ok(map)
    }

    /// The map in our text form.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (index, &count) in self.units.iter().enumerate().filter(|(_, count)| **count > 0) {
            writeln!(text, "units for {} teams: {count}", index + 1).expect("writing to a string");
        }
        for row in self.tiles.chunks(usize::from(self.width)) {
            text.extend(row.iter().map(|tile| tile.letter()));
            text.push('\n');
        }
        text
    }

    /// The number of columns.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> u8 {
        self.height
    }

    /// The tile in column `x` and row `y`, both from 0 (JB-MAP-1).
    pub fn tile(&self, x: u8, y: u8) -> Tile {
        self.tiles[usize::from(y) * usize::from(self.width) + usize::from(x)]
    }

    /// Changes a tile.
    pub fn set(&mut self, x: u8, y: u8, tile: Tile) {
        self.tiles[usize::from(y) * usize::from(self.width) + usize::from(x)] = tile;
    }

    /// The number of tiles of the kind `tile`.
    pub fn count(&self, tile: Tile) -> usize {
        self.tiles.iter().filter(|&&other| other == tile).count()
    }

    /// Units per team for `teams` teams (JB-MAP-4): the map's number for that many teams, else for the next
    /// larger count it mentions, else for the largest; `None` when it does not mention units.
    pub fn units_for(&self, teams: u8) -> Option<u8> {
        let from = usize::from(teams) - 1;
        let said = |count: &&u8| **count > 0;
        self.units[from..].iter().find(said).or_else(|| self.units[..from].iter().rev().find(said)).copied()
    }
}

/// `units for 2 teams: 4`.
fn parse_units(key: &str, value: &str) -> Result<(usize, u8), String> {
    let teams = key
        .strip_prefix("units for ")
        .and_then(|rest| rest.split_once(' '))
        .filter(|(_, word)| ["team", "teams"].contains(word));
    let teams =
        teams.and_then(|(number, _)| number.parse().ok()).filter(|number| (1..=MAX_TEAMS).contains(number));
    let teams = teams.ok_or_else(|| {
        format!("`{key}` is not a setting; a map knows `units for 1 teams` to `units for {MAX_TEAMS} teams`")
    })?;
    let count = value.parse().ok().filter(|count| (1..=16).contains(count));
    count
        .map(|count| (teams, count))
        .ok_or_else(|| format!("`{value}` is not a number of units from 1 to 16"))
}
