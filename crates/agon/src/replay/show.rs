//! `agon replay show`: the board of a replay, its frames, and what a bot wrote.

use agon_desk::replays::TurnCount;
use std::io::{self, Write as _};
use std::path::PathBuf;

use agon_desk::replays::read;
use agon_game::{Picture, Seat, Session};
use agon_replay::data::note;
use clap::Args;

use crate::common::screen::{self, harmless, harmless_lines};
use crate::common::seats::eyes;
use crate::common::{self, Done, Failure};
use crate::replay::json::{Board, Frame, Written};
use crate::replay::open_at;

/// Examples below the help of `agon replay show`.
pub const EXAMPLES: &str = "Examples:
  agon replay show FILE --turn 12              the board before turn 12
  agon replay show FILE --turn 12 --frame 30   the board after a frame within turn 12, in games that have frames
  agon replay show FILE --turn 12 --frame all  every frame of turn 12
  agon replay show FILE --stderr 2             everything that the bot in seat 2 wrote to standard error
  agon replay show FILE --stderr 2 --turn 12   what it wrote at turn 12
  agon replay show FILE --turn 12 --json       the same for scripts, with the state";

/// Options of `agon replay show`.
#[derive(Args, Debug)]
pub struct ShowOptions {
    /// The replay.
    pub file: PathBuf,
    /// Prints everything that the bot of this seat wrote to standard error; with --turn only at that turn
    #[arg(long, value_name = "SEAT", conflicts_with_all = ["frame", "view"])]
    pub stderr: Option<u8>,
    /// The turn, numbered as in messages: for `turn 12, player 2` write --turn 12. In games that count rounds (Deerhunt,
    /// Ostibot) the step, from 0 [default: the last]
    #[arg(long, short)]
    pub turn: Option<u32>,
    /// A frame within that turn, from 0, or `all`
    #[arg(long, short, value_name = "F|all", requires = "turn")]
    pub frame: Option<String>,
    /// Shows the board as this seat sees it
    #[arg(long, value_name = "SEAT|all", default_value = "all")]
    pub view: String,
    /// Prints it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon replay show`.
pub fn run(options: &ShowOptions) -> Done {
    match (options.stderr, options.frame.as_deref()) {
        (Some(seat), _) => stderr(options, seat),
        (None, None) => board(options),
        (None, Some(frame)) => frames(options, frame),
    }
}

/// Shows the board before a turn.
fn board(options: &ShowOptions) -> Done {
    let (file, turn) = (&options.file, options.turn);
    let replay = read(file)?;
    let eyes = eyes(&options.view, replay.header.seats.len())?;
    let count = TurnCount::of(&replay);
    let until = turn.map_or(replay.steps.len(), |turn| count.step(turn) as usize);
    if until > replay.steps.len() {
        return Err(Failure::usage(format!(
            "--turn {}: the match is over before turn {}",
            turn.unwrap_or_default(),
            count.turn(replay.steps.len() as u32)
        )));
    }
    let session = open_at(file, &replay, until, false)?;
    if options.json {
        return common::print_json(&mut io::stdout().lock(), &Board::of(session.as_ref(), count, eyes));
    }
    drawn(session.as_ref(), eyes)
}

/// Draws the board as it stands, and says what comes next.
pub fn drawn(session: &dyn Session, eyes: Option<Seat>) -> Done {
    let screen = screen::output();
    let mut out = io::stdout().lock();
    write!(out, "{}", screen.picture(&screen::shown(session.picture(eyes))))?;
    let next = match session.outcome() {
        Some(outcome) => format!("over: {}", outcome.reason),
        None => format!("before {}", session.moment()),
    };
    writeln!(out, "{}", screen.dim(&harmless(&next)))?;
    Ok(())
}

impl Board {
    /// The board as it stands, as `eyes` sees it.
    pub fn of(session: &dyn Session, count: TurnCount, eyes: Option<Seat>) -> Self {
        let outcome = session.outcome().cloned();
        Self {
            turn: count.turn(session.steps()) as usize,
            before: outcome.is_none().then(|| session.moment()),
            outcome,
            deciding: session.deciding().iter().map(Seat::number).collect(),
            lines: lines(&session.picture(eyes)),
            state: eyes.is_none().then(|| session.scene()),
        }
    }
}

fn lines(picture: &Picture) -> Vec<String> {
    picture.plain().lines().map(str::to_owned).collect()
}

/// Shows one frame within a turn, or all.
fn frames(options: &ShowOptions, frame: &str) -> Done {
    let (file, turn) = (&options.file, options.turn.unwrap_or_default());
    let replay = read(file)?;
    let eyes = eyes(&options.view, replay.header.seats.len())?;
    let count = TurnCount::of(&replay);
    let step = count.step(turn) as usize;
    if step >= replay.steps.len() {
        let last = count.turn(replay.steps.len().saturating_sub(1) as u32);
        return Err(Failure::usage(format!("--turn {turn}: the last turn with frames is {last}")));
    }
    let session = open_at(file, &replay, step + 1, true)?;
    let frames = session.frames(eyes);
    let (first, chosen) = match frame.parse::<usize>() {
        _ if frames.is_empty() => {
            let info = session.info();
            return Err(Failure::usage(format!("a {} of {} has no frames", info.step, info.title)));
        }
        Ok(number) if number < frames.len() => (number, &frames[number..=number]),
        Err(_) if frame == "all" => (0, &frames[..]),
        _ => {
            let last = frames.len() - 1;
            return Err(Failure::usage(format!(
                "--frame {frame}: turn {turn} has the frames 0 to {last}, or all"
            )));
        }
    };
    let screen = screen::output();
    let mut out = io::stdout().lock();
    if options.json {
        let numbered = chosen.iter().enumerate();
        let frames = numbered.map(|(at, picture)| Frame { frame: first + at, lines: lines(picture) });
        return common::print_json(&mut out, &frames.collect::<Vec<_>>());
    }
    chosen
        .iter()
        .try_for_each(|picture| writeln!(out, "{}", screen.picture(picture).trim_end_matches('\n')))?;
    Ok(())
}

/// Shows everything a bot wrote to standard error, or what it wrote at one turn.
fn stderr(options: &ShowOptions, seat: u8) -> Done {
    let (file, turn) = (&options.file, options.turn);
    let replay = read(file)?;
    let (seats, steps) = (replay.header.seats.len(), replay.steps.len());
    if !(1..=seats).contains(&usize::from(seat)) {
        return Err(Failure::usage(format!("--stderr {seat}: write a seat from 1 to {seats}")));
    }
    let count = TurnCount::of(&replay);
    if let Some(turn) = turn.filter(|turn| count.step(*turn) as usize >= steps) {
        let (first, last) = (count.first(), count.turn(steps.saturating_sub(1) as u32));
        return Err(Failure::usage(format!("--turn {turn}: this match has the turns {first} to {last}")));
    }
    let notes = replay.notes.get(&Seat::new(seat - 1)).map_or(&[][..], Vec::as_slice);
    let written = notes.iter().filter(|note| note.kind == note::STDERR);
    let written: Vec<_> =
        written.filter(|note| turn.is_none_or(|turn| count.step(turn) == note.step)).collect();
    let screen = screen::output();
    let mut out = io::stdout().lock();
    if options.json {
        let written = written.iter().map(|note| Written { turn: count.turn(note.step), text: &note.text });
        return common::print_json(&mut out, &written.collect::<Vec<_>>());
    }
    for note in &written {
        if turn.is_none() {
            writeln!(out, "{}", screen.strong(&format!("turn {}", count.turn(note.step))))?;
        }
        writeln!(out, "{}", harmless_lines(note.text.trim_end_matches('\n')))?;
    }
    if written.is_empty() {
        let at = turn.map(|turn| format!(" at turn {turn}")).unwrap_or_default();
        eprintln!(
            "note: the bot in seat {seat} wrote nothing to standard error{at}, or it was removed from this replay"
        );
    }
    Ok(())
}
