//! The original protocol: lines over standard input and output.

pub mod integer;

use std::io::Write as _;

use agon_game::{Dialect, Heard, Seat, Seats};

use crate::board::{HEIGHT, WIDTH};
use crate::orders::Order;
use crate::state::LEADERS;
use crate::view::View;
use crate::{CultistWars, Owner};

/// The conversations of a match.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines {
    /// The seats that have been sent the board.
    told: Seats,
}

impl Dialect<CultistWars> for Lines {
    fn new(_: &CultistWars) -> Self {
        Self::default()
    }

    fn ask(&mut self, _: &CultistWars, seat: Seat, view: &View<'_>, out: &mut Vec<u8>) {
        if !self.told.contains(seat) {
            self.told.insert(seat);
            board(view, out);
        }
        units(view, out);
        // The transport ends the last line.
        out.pop();
    }

    fn hear(&mut self, _: &CultistWars, _: Seat, message: &[u8]) -> Heard<Order> {
        match parse(&String::from_utf8_lossy(message)) {
            Ok(order) => Heard::Answer(order),
            Err(why) => Heard::Malformed(why),
        }
    }

    fn say(&self, _: &CultistWars, _: Seat, order: &Order, out: &mut Vec<u8>) {
        write!(out, "{order}").expect("writing to memory");
    }
}

/// The first message: the bot's player, the size of the board, its rows without the units. CW-WIRE-1.
fn board(view: &View<'_>, out: &mut Vec<u8>) {
    writeln!(out, "{}\n{WIDTH} {HEIGHT}", view.seat.index()).expect("writing to memory");
    for y in 0..HEIGHT {
        out.extend(view.map.row(y));
        out.push(b'\n');
    }
}

/// Part of every message: the living units by id, with absolute owners. CW-WIRE-2.
fn units(view: &View<'_>, out: &mut Vec<u8>) {
    let living = view.state.living();
    line(&[living.len() as u8], out);
    for unit in living.iter() {
        let (tile, hp) = (view.state.tile(unit), view.state.hp(unit));
        let kind = u8::from(unit < LEADERS);
        let owner = view.state.owner(unit).map_or(Owner::Neutral.number(), Owner::number);
        line(&[unit, kind, hp, tile.x(), tile.y(), owner], out);
    }
}

/// Appends numbers separated by spaces and a line feed. Written by hand: a question holds up to 85 numbers,
/// and the formatting machinery would cost more than the whole turn.
fn line(numbers: &[u8], out: &mut Vec<u8>) {
    for &number in numbers {
        if number >= 100 {
            out.push(b'0' + number / 100);
        }
        if number >= 10 {
            out.push(b'0' + number / 10 % 10);
        }
        out.extend([b'0' + number % 10, b' ']);
    }
    if let Some(last) = out.last_mut() {
        *last = b'\n';
    }
}

/// Reads an answer line. The rules decide whether the action is allowed.
fn parse(line: &str) -> Result<Order, String> {
    // Unprintable characters are trimmed from both ends; then every single space separates. CW-LINE-1.
    let mut words = line.trim_matches(|c| c <= ' ').split(' ');
    let first = words.next().unwrap_or_default();
    let Some(verb) = words.next() else {
        // WAIT stands alone. CW-LINE-3.
        return match first {
            "WAIT" => Ok(Order::Wait),
            "" => Err("the line is empty; WAIT is how to do nothing".to_owned()),
            other => Err(format!("`{}` is not an action; {FORMS}", shown(other))),
        };
    };
    let number = |what: &str, word: Option<&str>| {
        let word = word.ok_or_else(|| format!("{verb} needs {what}; {FORMS}"))?;
        integer::parse(word).ok_or_else(|| format!("`{}` is not a whole number for {what}", shown(word)))
    };
    // Whatever follows the last number is ignored. CW-LINE-4.
    match verb {
        "MOVE" => Ok(Order::Move {
            unit: number("a unit", Some(first))?,
            x: number("a column x", words.next())?,
            y: number("a row y", words.next())?,
        }),
        "SHOOT" => Ok(Order::Shoot {
            unit: number("a unit", Some(first))?,
            target: number("a target", words.next())?,
        }),
        "CONVERT" => Ok(Order::Convert {
            unit: number("a unit", Some(first))?,
            target: number("a target", words.next())?,
        }),
        "" => Err(format!("exactly one space stands between words; {FORMS}")),
        _ => Err(format!("`{}` is not an action; {FORMS}", shown(line.trim_matches(|c| c <= ' ')))),
    }
}

/// The four forms of a line. CW-LINE-2.
const FORMS: &str = "a line is `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`";

/// The beginning of a bot's word, made fit for display.
fn shown(word: &str) -> String {
    const LONGEST: usize = 20;
    let mut start: String = word.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if word.chars().nth(LONGEST).is_some() {
        start.push_str("...");
    }
    start
}
