//! The conversation and its transport: TCP, where each message follows its length in ten characters, or lines.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::game::State;
use crate::strategy::decide;

/// How many characters a length has.
const DIGITS: usize = 10;

/// The answer to a state: the list of moves.
fn answer(message: &str) -> io::Result<String> {
    let state = State::read(message).ok_or_else(|| wrong(format!("this is no state: {message}")))?;
    let moves: Vec<String> = decide(&state).iter().map(|one| one.json()).collect();
    Ok(format!("[{}]", moves.join(", ")))
}

/// Plays over TCP, until the referee closes the connection.
pub fn over_tcp(address: &str) -> io::Result<()> {
    let stream = TcpStream::connect(address)
        .map_err(|error| io::Error::new(error.kind(), format!("no connection to {address}: {error}")))?;
    // A reply is one small write; it must not wait until the one before is acknowledged.
    stream.set_nodelay(true)?;
    match talk(BufReader::new(stream.try_clone()?), stream) {
        Err(error) if is_closed(&error) => Ok(()), // the match is over
        done => done,
    }
}

/// Answers framed messages until there are no more.
pub fn talk(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    loop {
        let mut length = [0; DIGITS];
        match input.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let length = std::str::from_utf8(&length).ok().and_then(|text| text.trim().parse().ok());
        let length = length.ok_or_else(|| wrong("a message must begin with its length".to_owned()))?;
        let mut body = String::new();
        if (&mut input).take(length).read_to_string(&mut body)? as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // Length and body at once.
        let reply = answer(&body)?;
        output.write_all(format!("{:>DIGITS$}{reply}", reply.len()).as_bytes())?;
    }
}

/// Plays in lines.
pub fn over_lines(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    for line in input.lines() {
        writeln!(output, "{}", answer(&line?)?)?;
        output.flush()?;
    }
    Ok(())
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
