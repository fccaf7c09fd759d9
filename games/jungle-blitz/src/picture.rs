//! The board for a terminal.

use agon_game::{Ink, Picture, Seat};

use crate::JungleBlitz;
use crate::arena::Point;
use crate::map::Tile;
use crate::outcome::pending;
use crate::state::{Diamond, State, UnitIndex};

/// Draws the board, three characters per tile: `A2` is the second unit of the first team, `A2*` holds a
/// diamond, `A2^` summons; `*4` is a diamond of level 4 on the ground; `:` is a tile of a stored path. Below
/// it are the teams, with level and points of the diamonds they hold.
pub fn picture(game: &JungleBlitz, state: &State) -> Picture {
    let mut picture = Picture::new();
    picture.line().put(Ink::Dim, "    ");
    for x in 0..game.map.width() {
        picture.put(Ink::Dim, format!("{x:<3}"));
    }
    for y in 0..game.map.height() {
        picture.line().put(Ink::Dim, format!("{y:>3} "));
        for x in 0..game.map.width() {
            tile(game, state, Point { x, y }, &mut picture);
        }
    }
    for team in 0..game.teams() {
        describe_team(game, state, team, &mut picture);
    }
    picture
}

/// One tile: three characters.
fn tile(game: &JungleBlitz, state: &State, at: Point, picture: &mut Picture) {
    let cell = game.arena.cell(at);
    if let Some(unit) = state.unit_on(cell) {
        let own = state.unit(unit);
        let mark = match (own.diamond(), own.summoning > 0) {
            (None, _) => ' ',
            (Some(_), true) => '^',
            (Some(_), false) => '*',
        };
        picture.put(ink(game, unit), format!("{}{mark}", name(game, unit)));
        return;
    }
    let lying = |diamond: &&Diamond| diamond.cell == cell && diamond.on_ground();
    if let Some(diamond) = state.diamonds.iter().filter(lying).max_by_key(|diamond| diamond.points) {
        picture.put(Ink::Treasure, format!("*{} ", diamond.level.min(9)));
        return;
    }
    let planner = (0..game.unit_count()).find(|&unit| state.path(&game.arena, unit).any(|tile| tile == cell));
    match (game.map.tile(at.x, at.y), planner) {
        (Tile::Stone, _) => picture.put(Ink::Wall, "## "),
        (Tile::Water, _) => picture.put(Ink::Wall, "~~ "),
        (_, Some(unit)) => picture.put(ink(game, unit), ": ").put(Ink::Dim, " "),
        (Tile::Spawn, None) => picture.put(Ink::Dim, "_  "),
        (Tile::Floor | Tile::Trap | Tile::Diamond, None) => picture.put(Ink::Dim, ".  "),
    };
}

fn describe_team(game: &JungleBlitz, state: &State, team: usize, picture: &mut Picture) {
    let ink = Ink::Seat(Seat::new(team as u8));
    let letter = letter(team);
    let (score, waiting, deaths) = (state.scores[team], pending(game, state, team), state.deaths[team]);
    let gone = if state.is_dead(team) { ", gone" } else { "" };
    picture.line().put(ink, format!("{letter}: {score} points, {waiting} pending, {deaths} lost{gone}"));
    let first = game.first_unit(team);
    for unit in first..first + game.units_per_team {
        let own = state.unit(unit);
        let Some(diamond) = own.diamond() else { continue };
        let diamond = &state.diamonds[usize::from(diamond)];
        let summons = if own.summoning > 0 { ", summoning" } else { "" };
        let about =
            format!("  {} level {}, {} points{summons}", name(game, unit), diamond.level, diamond.points);
        picture.put(Ink::Treasure, about);
    }
}

fn letter(team: usize) -> char {
    char::from(b'A' + team as u8)
}

fn ink(game: &JungleBlitz, unit: UnitIndex) -> Ink {
    Ink::Seat(Seat::new(game.team_of(unit) as u8))
}

/// A unit by its team's letter and its number in the team, `A1`; above nine, a letter.
pub(crate) fn name(game: &JungleBlitz, unit: UnitIndex) -> String {
    let team = game.team_of(unit);
    let number = u32::from(unit - game.first_unit(team)) + 1;
    format!("{}{}", letter(team), char::from_digit(number, 36).unwrap_or('?'))
}
