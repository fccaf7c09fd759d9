//! `agon replay show`: the board of a replay, its frames, and what a bot wrote.

use std::io::{self, Write as _};
use std::path::Path;

use agon_game::Seat;
use agon_replay::data::note;

use crate::common::screen::{self, harmless, harmless_lines};
use crate::common::seats::eyes;
use crate::common::{Done, Failure};
use crate::replay::{open, read};

/// Shows the board before a turn.
pub fn board(file: &Path, turn: Option<u32>, view: &str) -> Done {
    let replay = read(file)?;
    let mut session = open(&replay)?;
    let eyes = eyes(view, replay.header.seats.len())?;
    let until = turn.map_or(replay.steps.len(), |turn| turn as usize);
    if until > replay.steps.len() {
        return Err(Failure::usage(format!("--turn {until}: the replay holds {} steps", replay.steps.len())));
    }
    for step in &replay.steps[..until] {
        session.play(&step.answers).map_err(|why| Failure::usage(format!("{}: {why}", file.display())))?;
    }
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

/// Shows one frame within a turn, or all.
pub fn frames(file: &Path, turn: usize, frame: &str, view: &str) -> Done {
    let replay = read(file)?;
    let mut session = open(&replay)?;
    let eyes = eyes(view, replay.header.seats.len())?;
    if turn >= replay.steps.len() {
        let last = replay.steps.len().saturating_sub(1);
        return Err(Failure::usage(format!("--turn {turn}: the last turn with frames is {last}")));
    }
    for (number, step) in replay.steps[..=turn].iter().enumerate() {
        if number == turn {
            session.keep_events();
        }
        session.play(&step.answers).map_err(|why| Failure::usage(format!("{}: {why}", file.display())))?;
    }
    let frames = session.frames(eyes);
    let chosen = match frame.parse::<usize>() {
        _ if frames.is_empty() => {
            let info = session.info();
            return Err(Failure::usage(format!("a {} of {} has no frames", info.step, info.title)));
        }
        Ok(number) if number < frames.len() => &frames[number..=number],
        Err(_) if frame == "all" => &frames[..],
        _ => {
            let last = frames.len() - 1;
            return Err(Failure::usage(format!(
                "--frame {frame}: turn {turn} has the frames 0 to {last}, or all"
            )));
        }
    };
    let screen = screen::output();
    let mut out = io::stdout().lock();
    chosen
        .iter()
        .try_for_each(|picture| writeln!(out, "{}", screen.picture(picture).trim_end_matches('\n')))?;
    Ok(())
}

/// Shows all that a bot wrote on standard error, or what it wrote at one turn.
pub fn stderr(file: &Path, seat: u8, turn: Option<u32>) -> Done {
    let replay = read(file)?;
    let (seats, steps) = (replay.header.seats.len(), replay.steps.len());
    if !(1..=seats).contains(&usize::from(seat)) {
        return Err(Failure::usage(format!("--stderr {seat}: write a seat from 1 to {seats}")));
    }
    if let Some(turn) = turn.filter(|turn| *turn as usize >= steps) {
        let last = steps.saturating_sub(1);
        return Err(Failure::usage(format!("--turn {turn}: the last turn that was answered is {last}")));
    }
    let notes = replay.notes.get(&Seat::new(seat - 1)).map_or(&[][..], Vec::as_slice);
    let written = notes.iter().filter(|note| note.kind == note::STDERR);
    let written: Vec<_> = written.filter(|note| turn.is_none_or(|turn| turn == note.step)).collect();
    let screen = screen::output();
    let mut out = io::stdout().lock();
    for note in &written {
        if turn.is_none() {
            writeln!(out, "{}", screen.strong(&format!("turn {}", note.step)))?;
        }
        writeln!(out, "{}", harmless_lines(note.text.trim_end_matches('\n')))?;
    }
    if written.is_empty() {
        let at = turn.map(|turn| format!(" at turn {turn}")).unwrap_or_default();
        eprintln!("note: this replay holds nothing that the bot of seat {seat} wrote on standard error{at}");
    }
    Ok(())
}
