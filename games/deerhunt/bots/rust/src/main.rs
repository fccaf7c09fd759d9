//! Plays Deerhunt over TCP, as the bots of its contest do. What it decides is in strategy.rs.
//!
//! `target/release/bot --lines` speaks the same messages over standard input and output, one per line: with a pipe instead of
//! a socket there is less between you and a debugger.

mod conversation;
mod game;
mod json;
mod strategy;

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).or_else(|| std::env::var("AGON_ADDRESS").ok());
    let done = match wanted.as_deref() {
        Some("--lines") => conversation::over_lines(io::stdin().lock(), io::stdout().lock()),
        Some(address) => conversation::over_tcp(address),
        None => {
            eprintln!("where is the referee? bot HOST:PORT, or AGON_ADDRESS=HOST:PORT, or bot --lines");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
