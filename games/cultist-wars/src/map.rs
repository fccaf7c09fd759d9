//! Boards: the obstacles, and the units at the start.
//!
//! A match is played on a board generated from its seed (see [`generate`](crate::generate)) or on one from a file:
//!
//! ```text
//! # A position with a wounded cultist and a dead neutral.
//! .......x.....
//! ...x.....x...
//! .....7.......
//! 0...2.......1
//! ......a......
//! ...x.....x...
//! .............
//! unit 2 player 1 hp 4
//! unit 9 dead neutral
//! turn 12
//! generator 1250496027
//! ```
//!
//! Seven rows of thirteen characters: `.` is floor, `x` an obstacle, `0` to `9` and `a` to `d` are units 0
//! to 13 on floor. Below them, a line `unit` gives a unit's owner and health points, or says that it is
//! dead (by default leaders belong to their players, all others are neutral, and all are unhurt); `turn`
//! gives the number of turns played (default 0), and `generator` the state of the neutrals' generator. `#`
//! begins a comment. Units that are not mentioned do not take part.

use std::fmt::Write as _;

use agon_game::{MapChoice, Seat, SetupError, setup::nearest};

use crate::board::{HEIGHT, Tile, Tiles, WIDTH};
use crate::generate::generate;
use crate::rules::Rules;
use crate::state::{LEADERS, Owner, State, UNITS, UnitId};
use crate::{INFO, outcome::PLAYERS};

/// The name of a map generated from the seed.
pub const GENERATED: &str = "generated";
/// Size limit of a map file, in bytes.
const LARGEST_FILE: usize = 16 << 10;
/// How a file and the protocol draw tiles.
const OBSTACLE: u8 = b'x';
const FLOOR: u8 = b'.';

/// A board with the starting position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// The tiles without an obstacle. CW-BOARD-2.
    pub floor: Tiles,
    /// The state before the first answer.
    pub start: State,
}

/// A chosen map: its name, its text as kept in the recipe, and the map.
#[derive(Clone)]
pub(crate) struct Chosen {
    pub name: String,
    pub text: String,
    pub map: Map,
}

/// The map generated from a seed.
///
/// # Errors
/// When the rules leave no room for one.
pub(crate) fn made(rules: &Rules, seed: i64) -> Result<Chosen, SetupError> {
    let map =
        generate(rules, seed).map_err(|why| SetupError::BadMap { place: format!("of seed {seed}"), why })?;
    Ok(Chosen { name: GENERATED.to_owned(), text: String::new(), map })
}

/// Reads the requested map; `None` where it is generated from the seed.
///
/// # Errors
/// When there is no such map, or its file is wrong; names the line and what is expected there.
pub(crate) fn choose(rules: &Rules, choice: &MapChoice) -> Result<Option<Chosen>, SetupError> {
    match choice {
        MapChoice::Default | MapChoice::Generated => Ok(None),
        MapChoice::Named(name) => Err(SetupError::UnknownMap {
            game: INFO.name,
            name: name.clone(),
            nearest: nearest(name, INFO.maps.iter().map(|map| map.name)),
        }),
        MapChoice::File(name, content) => {
            let map = parse(rules, content).map_err(|Wrong { line, why }| {
                let place = if line == 0 { name.clone() } else { format!("{name}, line {line}") };
                SetupError::BadMap { place, why }
            })?;
            Ok(Some(Chosen { name: name.clone(), text: map.text(rules), map }))
        }
    }
}

/// What is wrong with a map file, and in which line (0: in the whole file).
struct Wrong {
    line: usize,
    why: String,
}

fn parse(rules: &Rules, content: &[u8]) -> Result<Map, Wrong> {
    let whole = |why: String| Wrong { line: 0, why };
    if content.len() > LARGEST_FILE {
        return Err(whole(format!("a map has at most {LARGEST_FILE} bytes")));
    }
    let text = std::str::from_utf8(content).map_err(|_| whole("a map is a text in UTF-8".to_owned()))?;
    let mut map = Map::empty(rules);
    let mut drawn = [Tile::NOWHERE; UNITS];
    let mut said: [Option<Said>; UNITS] = [const { None }; UNITS];
    let mut rows = 0;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let wrong = |why: String| Wrong { line: number + 1, why };
        if line.is_empty() {
            continue;
        }
        if rows < HEIGHT {
            read_row(line, rows, &mut map.floor, &mut drawn).map_err(wrong)?;
            rows += 1;
            continue;
        }
        let mut words = line.split_whitespace();
        match words.next().unwrap_or_default() {
            "unit" => {
                let (unit, what) = read_unit(words).map_err(wrong)?;
                if said[usize::from(unit)].replace(what).is_some() {
                    return Err(wrong(format!("unit {unit} is described twice")));
                }
            }
            "turn" => map.start.turn = number_in(words, rules.number_of_turns.into()).map_err(wrong)? as u16,
            "generator" => map.start.generator = number_in(words, 1 << 31).map_err(wrong)?,
            other => return Err(wrong(format!("`{other}` is none of `unit`, `turn` and `generator`"))),
        }
    }
    if rows < HEIGHT {
        return Err(whole(format!("a board has {HEIGHT} rows, this one {rows}")));
    }
    for (unit, (tile, said)) in (0..).zip(drawn.into_iter().zip(said)) {
        populate(&mut map.start, rules, unit, tile, said.unwrap_or_default()).map_err(whole)?;
    }
    match Seat::first(PLAYERS).find(|&seat| map.start.count(seat) == 0) {
        Some(seat) => {
            Err(whole(format!("player {seat} has no unit; its leader is drawn as `{}`", seat.index())))
        }
        None => Ok(map),
    }
}

fn read_row(line: &str, y: u8, floor: &mut Tiles, drawn: &mut [Tile; UNITS]) -> Result<(), String> {
    if line.len() != usize::from(WIDTH) || !line.is_ascii() {
        return Err(format!("a row has {WIDTH} characters, not {}", line.chars().count()));
    }
    for (x, symbol) in (0..).zip(line.bytes()) {
        let tile = Tile::at(x, y);
        match (symbol, unit_of(symbol)) {
            (FLOOR, _) => {}
            (OBSTACLE, _) => floor.remove(tile),
            (_, Some(unit)) if drawn[usize::from(unit)] == Tile::NOWHERE => drawn[usize::from(unit)] = tile,
            (_, Some(unit)) => return Err(format!("unit {unit} stands in two places")),
            _ => {
                return Err(format!(
                    "`{}` in column {x} is not a tile (`.` floor, `x` obstacle, `0` to `d` units)",
                    char::from(symbol).escape_default()
                ));
            }
        }
    }
    Ok(())
}

/// What a `unit` line says.
#[derive(Default)]
struct Said {
    owner: Option<Owner>,
    hp: Option<u8>,
    dead: bool,
}

fn read_unit<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<(UnitId, Said), String> {
    let unit = words.next().and_then(|word| word.parse().ok()).filter(|&unit| usize::from(unit) < UNITS);
    let unit: UnitId = unit.ok_or_else(|| format!("after `unit` comes an id from 0 to {}", UNITS - 1))?;
    let mut said = Said::default();
    while let Some(word) = words.next() {
        match word {
            "dead" => said.dead = true,
            "neutral" => said.owner = Some(Owner::Neutral),
            "player" => {
                let seat = words
                    .next()
                    .and_then(|word| word.parse().ok())
                    .filter(|seat| (1..=PLAYERS).contains(seat));
                let seat: u8 = seat.ok_or("after `player` comes 1 or 2")?;
                said.owner = Some(Owner::Player(Seat::new(seat - 1)));
            }
            "hp" => {
                let hp = words.next().and_then(|word| word.parse().ok()).filter(|&hp: &u8| hp > 0);
                said.hp = Some(hp.ok_or("after `hp` comes a number from 1 to 255")?);
            }
            other => {
                return Err(format!(
                    "`{other}` is none of `player 1`, `player 2`, `neutral`, `hp N`, `dead`"
                ));
            }
        }
    }
    Ok((unit, said))
}

fn number_in<'a>(mut words: impl Iterator<Item = &'a str>, limit: u32) -> Result<u32, String> {
    let number = words.next().and_then(|word| word.parse().ok()).filter(|&number| number < limit);
    match (number, words.next()) {
        (Some(number), None) => Ok(number),
        _ => Err(format!("one number from 0 to {} is expected", limit - 1)),
    }
}

/// Puts one unit on its drawn tile, as described by its `unit` line.
fn populate(state: &mut State, rules: &Rules, unit: UnitId, tile: Tile, said: Said) -> Result<(), String> {
    let usual = usual_owner(unit);
    let owner = said.owner.unwrap_or(usual);
    if unit < LEADERS && owner != usual {
        return Err(format!("unit {unit} is the leader of {usual} for ever"));
    }
    match (tile == Tile::NOWHERE, said.dead) {
        (false, false) => state.place(unit, tile, owner, said.hp.unwrap_or(rules.health_points)),
        (true, true) => state.owned[usize::from(owner.number())].insert(unit),
        (false, true) => return Err(format!("unit {unit} is dead, yet it stands on the board")),
        (true, false) if said.owner.is_some() || said.hp.is_some() => {
            return Err(format!(
                "unit {unit} is described, but not drawn: put `{}` on the board",
                symbol(unit)
            ));
        }
        (true, false) => {}
    }
    Ok(())
}

/// A unit's owner at the start: leaders belong to their players, all others to nobody. CW-UNIT-3.
pub(crate) const fn usual_owner(unit: UnitId) -> Owner {
    if unit < LEADERS { Owner::Player(Seat::new(unit)) } else { Owner::Neutral }
}

/// The character for a unit on a drawn board: its id in base 14.
pub(crate) const fn symbol(unit: UnitId) -> char {
    (if unit < 10 { b'0' + unit } else { b'a' + unit - 10 }) as char
}

fn unit_of(symbol: u8) -> Option<UnitId> {
    char::from(symbol)
        .to_digit(UNITS as u32)
        .filter(|_| !symbol.is_ascii_uppercase())
        .map(|unit| unit as UnitId)
}

impl Map {
    /// Floor everywhere and nobody on it.
    pub(crate) fn empty(rules: &Rules) -> Self {
        Self { floor: Tiles::BOARD, start: State::empty(rules.neutral_seed) }
    }

    /// The map as a file.
    pub fn text(&self, rules: &Rules) -> String {
        let mut text = String::new();
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let tile = Tile::at(x, y);
                text.push(match self.start.unit_at(tile) {
                    Some(unit) => symbol(unit),
                    None if self.floor.contains(tile) => char::from(FLOOR),
                    None => char::from(OBSTACLE),
                });
            }
            text.push('\n');
        }
        for unit in 0..UNITS as UnitId {
            let Some(owner) = self.start.owner(unit) else { continue };
            let hp = self.start.hp(unit);
            if hp == 0 {
                writeln!(text, "unit {unit} dead {owner}").expect("writing to a string");
            } else if owner != usual_owner(unit) || hp != rules.health_points {
                writeln!(text, "unit {unit} {owner} hp {hp}").expect("writing to a string");
            }
        }
        if self.start.turn != 0 {
            writeln!(text, "turn {}", self.start.turn).expect("writing to a string");
        }
        if self.start.generator != rules.neutral_seed {
            writeln!(text, "generator {}", self.start.generator).expect("writing to a string");
        }
        text
    }

    /// Row `y` as the protocol draws it: `.` for floor, `x` for an obstacle. CW-WIRE-1.
    pub fn row(&self, y: u8) -> [u8; WIDTH as usize] {
        std::array::from_fn(|x| if self.floor.contains(Tile::at(x as u8, y)) { FLOOR } else { OBSTACLE })
    }
}
