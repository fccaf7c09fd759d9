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
    head(&mut picture, frame, turned);
    for row in (0..SIDE).rev() {
        picture.line();
        for column in 0..SIDE {
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
    }
    picture
}

fn head(picture: &mut Picture, frame: &Frame, turned: bool) {
    let moment = match frame.frame {
        -1 => format!("turn {}", frame.turn),
        number => format!("turn {} frame {number}", frame.turn),
    };
    picture.put(Ink::Plain, moment);
    for index in if turned { [0, 1] } else { [1, 0] } {
        let stats = &frame.stats[index];
        let text =
            format!("player {}: health {:?}  SP {:?}  MP {:?}", index + 1, stats.hp, stats.sp, stats.mp);
        picture.line().put(Ink::Seat(Seat::new(index as u8)), text);
    }
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
