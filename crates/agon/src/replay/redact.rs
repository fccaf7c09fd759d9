//! `agon replay redact`: removes from a replay what belongs to single bots.

use std::io::{self, Write as _};
use std::path::PathBuf;

use agon_bot::rights;
use agon_desk::replays;
use agon_game::Seat;
use clap::Args;

use crate::common::{self, Done, Failure};
use crate::replay::json;

/// Examples for the help.
pub const EXAMPLES: &str =
    "Removed are what the bots wrote to standard error, their answers as they were sent, and the
sentences about their faults. Names, orders, times and results stay, and the replay still verifies.

Examples:
  agon replay redact FILE                      for everybody: writes FILE with .public before its ending
  agon replay redact FILE --keep-seat 2 -o for-seat-2.replay";

/// Options of `agon replay redact`.
#[derive(Args, Debug)]
pub struct RedactOptions {
    /// The replay
    pub file: PathBuf,
    /// Keeps what belongs to this seat; may be given several times
    #[arg(long, value_name = "N")]
    pub keep_seat: Vec<u8>,
    /// The output file [default: beside FILE, with .public before its extension]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Prints what was made as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon replay redact`.
pub fn run(options: &RedactOptions) -> Done {
    let file = &options.file;
    let found = replays::read(file)?;
    let seats = found.header.seats.len();
    let mut keep = Vec::new();
    for &seat in &options.keep_seat {
        if !(1..=seats).contains(&usize::from(seat)) {
            return Err(Failure::usage(format!("--keep-seat {seat}: write a seat from 1 to {seats}")));
        }
        keep.push(Seat::new(seat - 1));
    }
    let bytes = replays::bytes(file)?;
    // Only the game knows which part of an order is private to the bot's author.
    let game = replays::open(&found)?;
    let (public, redacted) = agon_replay::redact(&bytes, &keep, &|order| game.public(order))
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    let to = options.output.clone().unwrap_or_else(|| file.with_extension("public.replay"));
    let written = match keep.is_empty() {
        true => rights::write_public(&to, public),
        false => rights::write_private(&to, public),
    };
    written.map_err(|error| Failure::own(format!("{}: {error}", to.display())))?;
    if options.json {
        let told = json::RedactedReplay { file: &to, notes: redacted.notes, sentences: redacted.sentences };
        return common::print_json(&mut io::stdout(), &told);
    }
    let count = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    writeln!(
        io::stdout(),
        "{}: {} and {} were removed",
        to.display(),
        count(redacted.notes, "private note"),
        count(redacted.sentences, "sentence")
    )?;
    Ok(())
}
