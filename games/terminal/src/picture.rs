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

/// The arena after a frame. Structures are letters (w wall, s support, t turret; capital when upgraded, x when marked for
/// removal) in their owner's half. Mobile units go anywhere and can be told apart without colours: 1 scout, 2 demolisher,
/// 3 interceptor of player 1, and 4 to 6 of player 2. * stands for several units of one player, # for units of both.
pub fn frame(frame: &Frame, eyes: Option<Seat>) -> Picture {
    let turned = eyes.is_some_and(|seat| seat.index() == 1);
    let mut cells = vec![(Ink::Dim, '.'); crate::arena::GRID];
    for (index, lists) in frame.lists.iter().enumerate() {
        let ink = Ink::Seat(Seat::new(index as u8));
        for kind in Kind::ALL {
            for unit in &lists.units[kind.index()] {
                let cell = &mut cells[unit.at.index()];
                let upgraded = lists.upgrades.iter().any(|other| other.id == unit.id);
                let marked = lists.removals.iter().any(|other| other.id == unit.id);
                *cell = match *cell {
                    (_, '.') => (ink, letter(kind, index, upgraded, marked)),
                    (other, _) if other == ink => (ink, '*'),
                    _ => (Ink::Plain, '#'),
                };
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

/// The first and last rows of the arena are so narrow that text fits into its corners.
const TEXT_BESIDE_TIP: i32 = 19;

fn is_tip(row: i32) -> bool {
    !(3..SIDE - 3).contains(&row)
}

/// The meaning of the letters.
const LEGEND: [&str; 10] = [
    "w wall",
    "s support",
    "t turret",
    "W upgraded",
    "x to remove",
    "1 scout, player 2: 4",
    "2 demolisher, player 2: 5",
    "3 interceptor, player 2: 6",
    "* several",
    "# several of both players",
];

/// The text beside a row of the arena: each player at its corner, and the meaning of the letters.
fn beside(picture: &mut Picture, frame: &Frame, row: i32, turned: bool) {
    let stats = |upper: bool, line: i32| {
        let index = usize::from(upper != turned);
        let stats = &frame.stats[index];
        let text = match line {
            // Shows which turn cost health (TM-CLOCK-1).
            0 if stats.ms >= 1_000 => {
                format!("player {}, last answer {:.1} s", index + 1, f64::from(stats.ms / 100) / 10.0)
            }
            0 => format!("player {}", index + 1),
            1 => format!("health {:?}", stats.hp),
            _ => format!("SP {:?} MP {:?}", stats.sp, stats.mp),
        };
        (Ink::Seat(Seat::new(index as u8)), text)
    };
    let (ink, text) = match row {
        row if is_tip(row) => stats(row > 3, if row > 3 { SIDE - 1 - row } else { 2 - row }),
        3..13 => (Ink::Dim, LEGEND[12 - row as usize].to_owned()),
        _ => return,
    };
    picture.put(ink, text);
}

fn letter(kind: Kind, player: usize, upgraded: bool, marked: bool) -> char {
    match (kind, upgraded) {
        (Kind::Scout, _) => ['1', '4'][player],
        (Kind::Demolisher, _) => ['2', '5'][player],
        (Kind::Interceptor, _) => ['3', '6'][player],
        _ if marked => 'x',
        (Kind::Wall, false) => 'w',
        (Kind::Wall, true) => 'W',
        (Kind::Support, false) => 's',
        (Kind::Support, true) => 'S',
        (Kind::Turret, false) => 't',
        (Kind::Turret, true) => 'T',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Lists, Standing, Stats};
    use crate::state::Real;

    #[test]
    fn units_are_told_apart_without_colours() {
        let unit = |x, y| Standing { at: Tile::at(x, y).expect("a tile"), health: Real(9.0), id: 1 };
        let mut lists = [Lists::default(), Lists::default()];
        // Player 1 has one of each kind and two on a tile; so has player 2, with one sharing a tile with a unit of player 1.
        for (list, row) in lists.iter_mut().zip([12, 15]) {
            list.units[0].push(unit(10, row));
            list.units[3].extend([unit(12, 13), unit(11, row), unit(14, row), unit(14, row)]);
            list.units[4].push(unit(12, row));
            list.units[5].push(unit(13, row));
        }
        let stats = [Stats { ms: 6_490, ..Stats::default() }, Stats { ms: 999, ..Stats::default() }];
        let events = Events::default();
        let shown = |eyes| {
            let frame =
                Frame { turn: 3, frame: 0, line: 4, stats, lists: lists.clone(), events: events.clone() };
            super::frame(&frame, eyes).plain()
        };
        let text = shown(None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "turn 3 frame 0");
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
        assert!(lines[28 - 12].contains("w123*") && lines[28 - 15].contains("w456*"), "{text}");
        assert_eq!(lines[28 - 13].find('#'), Some(12), "{text}");
        assert!(text.contains("player 1, last answer 6.4 s\n") && text.contains("player 2\n"), "{text}");
        let turned = shown(Some(Seat::new(1)));
        assert!(turned.contains("*321w") && turned.contains("*654w"), "{turned}");
    }
}
