//! The arena for a terminal.

use agon_game::{Ink, Picture, Seat};

use crate::arena::{SIDE, Tile};
use crate::frame::{Events, Frame};
use crate::rules::Kind;
use crate::state::State;

/// The arena at a deploy phase, as `eyes` sees it: player 2 sees it turned.
pub fn picture(state: &State, eyes: Option<Seat>) -> Picture {
    frame(&Frame::of(state, &[], -1, Events::default()), eyes)
}

/// The arena after a frame. Structures are letters (w wall, s support, t turret; capital when upgraded, x when
/// marked for removal), mobile units are 1 scout, 2 demolisher, 3 interceptor, and * for several.
pub fn frame(frame: &Frame, eyes: Option<Seat>) -> Picture {
    let turned = eyes.is_some_and(|seat| seat.index() == 1);
    let mut cells = vec![(Ink::Dim, '.'); crate::arena::GRID];
    for (index, lists) in frame.lists.iter().enumerate() {
        let ink = Ink::Seat(Seat::new(index as u8));
        for kind in Kind::ALL {
            for unit in &lists.units[kind.index()] {
                let cell = &mut cells[unit.at.index()];
                let taken = cell.1 != '.';
                let upgraded = lists.upgrades.iter().any(|other| other.id == unit.id);
                let marked = lists.removals.iter().any(|other| other.id == unit.id);
                *cell = (ink, if taken { '*' } else { letter(kind, upgraded, marked) });
            }
        }
    }
    let mut picture = Picture::new();
    picture.put(Ink::Plain, moment(frame));
    for row in (0..SIDE).rev() {
        picture.line();
        let end = if is_tip(row) { TEXT_BESIDE_TIP } else { SIDE };
        for column in 0..end {
            let tile = Tile::at(column, row).map(|tile| if turned { tile.turned() } else { tile });
            match tile {
                Some(tile) => {
                    let (ink, letter) = cells[tile.index()];
                    picture.put(ink, letter);
                }
                None => {
                    picture.put(Ink::Plain, ' ');
                }
            }
        }
        beside(&mut picture, frame, row, turned);
    }
    picture
}

fn moment(frame: &Frame) -> String {
    match frame.frame {
        -1 => format!("turn {}", frame.turn),
        number => format!("turn {} frame {number}", frame.turn),
    }
}

/// The arena is so narrow in its first and last rows that text fits into its corners.
const TEXT_BESIDE_TIP: i32 = 19;

fn is_tip(row: i32) -> bool {
    !(3..SIDE - 3).contains(&row)
}

/// What the letters mean.
const LEGEND: [&str; 9] = [
    "w wall",
    "s support",
    "t turret",
    "W upgraded",
    "x to remove",
    "1 scout",
    "2 demolisher",
    "3 interceptor",
    "* several",
];

/// What stands beside a row of the arena: each player at its corner, and what the letters mean.
fn beside(picture: &mut Picture, frame: &Frame, row: i32, turned: bool) {
    let stats = |upper: bool, line: i32| {
        let index = usize::from(upper != turned);
        let stats = &frame.stats[index];
        let text = match line {
            0 => format!("player {}", index + 1),
            1 => format!("health {:?}", stats.hp),
            _ => format!("SP {:?} MP {:?}", stats.sp, stats.mp),
        };
        (Ink::Seat(Seat::new(index as u8)), text)
    };
    let (ink, text) = match row {
        row if is_tip(row) => stats(row > 3, if row > 3 { SIDE - 1 - row } else { 2 - row }),
        3..12 => (Ink::Dim, LEGEND[11 - row as usize].to_owned()),
        _ => return,
    };
    picture.put(ink, text);
}

fn letter(kind: Kind, upgraded: bool, marked: bool) -> char {
    match (kind, upgraded) {
        (Kind::Scout, _) => '1',
        (Kind::Demolisher, _) => '2',
        (Kind::Interceptor, _) => '3',
        _ if marked => 'x',
        (Kind::Wall, false) => 'w',
        (Kind::Wall, true) => 'W',
        (Kind::Support, false) => 's',
        (Kind::Support, true) => 'S',
        (Kind::Turret, false) => 't',
        (Kind::Turret, true) => 'T',
    }
}
