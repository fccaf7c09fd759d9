//! Plays Jungle Blitz over WebSocket. What it decides is in brain.rs.
//!
//! `target/release/bot --lines` speaks the same messages over standard input and output, one per line: with a pipe instead of
//! a socket there is less between you and a debugger.

mod brain;
mod conversation;
mod game;
mod json;
mod websocket;

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = if std::env::args().any(|argument| argument == "--lines") {
        conversation::over_lines(io::stdin().lock(), io::stdout().lock())
    } else {
        let address = std::env::var("AGON_ADDRESS").unwrap_or_else(|_| "ws://127.0.0.1:8765".to_owned());
        conversation::over_websocket(&address)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
