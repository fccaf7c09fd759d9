//! The conversation and its transport: a WebSocket, or lines.

use std::io::{self, BufRead, Write};

use crate::brain::decide;
use crate::game::{quoted, Tick};
use crate::websocket::WebSocket;

/// The first message. A server that knows its teams gives each a token.
fn registration() -> String {
    let who = match std::env::var("TOKEN") {
        Ok(token) => format!("\"token\":{}", quoted(&token)),
        Err(_) => "\"teamName\":\"Rust raider\"".to_owned(),
    };
    format!("{{\"type\":\"REGISTER\",{who}}}")
}

/// The answer to a TICK message.
fn answer(message: &str) -> io::Result<String> {
    let tick = Tick::read(message)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("this is no TICK: {message}")))?;
    let actions: Vec<String> = decide(&tick).iter().map(|action| action.json()).collect();
    Ok(format!("{{\"type\":\"COMMAND\",\"tick\":{},\"actions\":[{}]}}", tick.number, actions.join(",")))
}

/// Plays over a WebSocket, until the server closes it.
pub fn over_websocket(address: &str) -> io::Result<()> {
    let mut socket = WebSocket::connect(address)
        .map_err(|error| io::Error::new(error.kind(), format!("no connection to {address}: {error}")))?;
    socket.send(&registration())?;
    while let Some(message) = socket.receive()? {
        socket.send(&answer(&message)?)?;
    }
    Ok(())
}

/// Plays in lines.
pub fn over_lines(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    writeln!(output, "{}", registration())?;
    output.flush()?;
    for line in input.lines() {
        writeln!(output, "{}", answer(&line?)?)?;
        output.flush()?;
    }
    Ok(())
}
