//! The board for a terminal.

use agon_game::{Ink, Picture, Seat};

use crate::CultistWars;
use crate::board::{HEIGHT, Tile, WIDTH};
use crate::outcome::PLAYERS;
use crate::state::{LEADERS, Owner, State};

/// The board with coordinates, three characters a tile: `#` an obstacle, `L` a leader, else the id of a cultist;
/// beside it both players with their units and health points.
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
        Some(unit) => {
            let text = if unit < LEADERS { format!("L{} ", unit + 1) } else { format!("{unit:>2} ") };
            (state.owner(unit).map_or(Ink::Plain, ink), text)
        }
        None if game.floor().contains(tile) => (Ink::Dim, " . ".to_owned()),
        None => (Ink::Wall, "## ".to_owned()),
    };
    picture.put(ink, text);
}

/// The lines beside the board; with 46 columns for the board, 30 are left of 80.
fn legend(state: &State) -> Vec<(Ink, String)> {
    let mut lines = Vec::new();
    for seat in Seat::first(PLAYERS) {
        let owner = Owner::Player(seat);
        let units = state.living_of(owner);
        lines.push((ink(owner), format!("player {seat}: {} units", units.len())));
        let hp: Vec<String> = units.iter().map(|unit| state.hp(unit).to_string()).collect();
        lines.push((ink(owner), fit(format!(" hp {}", hp.join(" ")))));
    }
    lines.push((Ink::Neutral, format!("neutral: {} units", state.living_of(Owner::Neutral).len())));
    lines
}

/// Cut to the columns there are.
fn fit(mut text: String) -> String {
    text.truncate(30);
    text
}

const fn ink(owner: Owner) -> Ink {
    match owner {
        Owner::Player(seat) => Ink::Seat(seat),
        Owner::Neutral => Ink::Neutral,
    }
}
