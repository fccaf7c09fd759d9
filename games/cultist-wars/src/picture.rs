//! The board for a terminal.

use agon_game::{Ink, Picture, Seat};

use crate::CultistWars;
use crate::board::{HEIGHT, Tile, WIDTH};
use crate::outcome::PLAYERS;
use crate::state::{LEADERS, Owner, State, UnitId};

/// The board with coordinates, three characters per tile: `##` an obstacle, `L1` a leader, else the id of a
/// cultist; beside it the units of both players with their health points.
pub(crate) fn picture(game: &CultistWars, state: &State) -> Picture {
    let mut picture = Picture::new();
    picture.line().put(Ink::Dim, "    ");
    for x in 0..WIDTH {
        picture.put(Ink::Dim, format!("{x:>2} "));
    }
    let mut beside = legend(state).into_iter();
    for y in 0..HEIGHT {
        picture.line().put(Ink::Dim, format!("{y:>2}  "));
        for x in 0..WIDTH {
            draw(&mut picture, game, state, Tile::at(x, y));
        }
        if let Some((ink, text)) = beside.next() {
            picture.put(Ink::Dim, "   ").put(ink, text);
        }
    }
    picture
}

fn draw(picture: &mut Picture, game: &CultistWars, state: &State, tile: Tile) {
    let (ink, text) = match state.unit_at(tile) {
        Some(unit) => (state.owner(unit).map_or(Ink::Plain, ink), format!("{:>2} ", name(unit))),
        None if game.floor().contains(tile) => (Ink::Dim, " . ".to_owned()),
        None => (Ink::Wall, "## ".to_owned()),
    };
    picture.put(ink, text);
}

/// The lines beside the board: each unit with its health points. The board takes 46 of 80 columns, which leaves 34.
fn legend(state: &State) -> Vec<(Ink, String)> {
    const IN_A_LINE: usize = 5;
    let mut lines = Vec::new();
    for seat in Seat::first(PLAYERS) {
        let owner = Owner::Player(seat);
        let units: Vec<_> = state.living_of(owner).iter().collect();
        lines.push((ink(owner), format!("player {seat}, units {}", units.len())));
        for some in units.chunks(IN_A_LINE) {
            let each: String =
                some.iter().map(|&unit| format!("{}:{} ", name(unit), state.hp(unit))).collect();
            lines.push((ink(owner), format!(" {}", each.trim_end())));
        }
    }
    lines.push((Ink::Neutral, format!("neutral, units {}", state.living_of(Owner::Neutral).len())));
    lines
}

/// `L1` and `L2` for the leaders, else the id.
fn name(unit: UnitId) -> String {
    if unit < LEADERS { format!("L{}", unit + 1) } else { unit.to_string() }
}

const fn ink(owner: Owner) -> Ink {
    match owner {
        Owner::Player(seat) => Ink::Seat(seat),
        Owner::Neutral => Ink::Neutral,
    }
}
