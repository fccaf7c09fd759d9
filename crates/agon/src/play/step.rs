//! `agon play GAME human BOT --step`: a seat played on standard input and output, turn by turn, by a program or by hand; and
//! `--until`, which shows a position.
//!
//! To the referee the seat is a bot that talks in lines: a small process of this program, which passes both directions on.
//! What is shown comes from a second session, which is told only what was played.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use agon_desk::replays::TurnCount;
use agon_game::{AnyGame, Heard, Seat, Session};
use agon_match::{Observer, StepReport};
use agon_replay::Header;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::common::screen::{Screen, harmless, harmless_lines};
use crate::common::{Done, Failure, print_json_line};
use crate::play::json::AskedHere;
use crate::replay::json::Board;

/// A question is complete when nothing follows for this long: no person answers faster.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// The longest line of an answer, in bytes: more is no answer in any game.
const LONGEST: usize = 1 << 20;

/// The hidden subcommand of this program that passes on both directions of a conversation.
pub const SUBCOMMAND: &str = "--pass-both";

/// Stops a match before a turn.
pub struct StopBefore<'a> {
    step: u32,
    stop: &'a AtomicBool,
}

impl<'a> StopBefore<'a> {
    /// Stops the match of `session`, which has not begun, before this turn.
    pub fn new(session: &dyn Session, turn: u32, stop: &'a AtomicBool) -> Self {
        let own = Self { step: TurnCount::at_start(session).step(turn), stop };
        own.look(session);
        own
    }

    /// Whether the match has come to that turn.
    pub fn is_reached(&self, session: &dyn Session) -> bool {
        session.steps() >= self.step && session.outcome().is_none()
    }

    fn look(&self, session: &dyn Session) {
        if self.is_reached(session) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Observer for StopBefore<'_> {
    fn stepped(&mut self, session: &mut dyn Session, _: &StepReport<'_>) -> io::Result<()> {
        self.look(session);
        Ok(())
    }
}

/// A seat played here.
#[derive(Clone)]
pub struct SteppedSeat(Arc<Mutex<Now>>);

struct Now {
    session: Box<dyn Session>,
    count: TurnCount,
    seat: Seat,
    /// Whether the seat has answered in this step.
    answered: bool,
    json: bool,
}

impl SteppedSeat {
    /// Offers the seat to whoever is at standard input.
    pub fn sit(
        game: &dyn AnyGame,
        header: &Header,
        (seat, listener): (Seat, &UnixListener),
        json: bool,
    ) -> Result<Self, Failure> {
        let session = game.open(&header.recipe.setup())?;
        let count = TurnCount::at_start(session.as_ref());
        let own = Self(Arc::new(Mutex::new(Now { session, count, seat, answered: false, json })));
        let (here, listener) = (own.clone(), listener.try_clone()?);
        thread::spawn(move || {
            if let Ok((stream, _)) = listener.accept() {
                // Whoever cannot be asked any more has left: the seat's process ends, and the referee says so.
                let _ = here.converse(&stream);
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
        Ok(own)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Now) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows each question, and passes on what is answered, until one side ends.
    fn converse(&self, stream: &UnixStream) -> Done {
        let mut input = io::stdin().lock();
        while asked(stream)? {
            // What follows an answer, such as the end of a match, is no question.
            if !self.with(|now| !now.answered && now.session.deciding().contains(now.seat)) {
                continue;
            }
            self.with(Now::show)?;
            loop {
                let Some(line) = next_line(&mut input)? else { return Ok(()) };
                let is_whole = self.with(|now| now.is_whole(&line));
                (&*stream).write_all(&[&line[..], b"\n"].concat())?;
                if is_whole {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Now {
    /// Shows the position and the question.
    fn show(&mut self) -> Done {
        let mut question = Vec::new();
        self.session.ask(self.seat, &mut question);
        let question = String::from_utf8_lossy(&question);
        let board = Board::of(self.session.as_ref(), self.count, Some(self.seat));
        let mut out = io::stdout().lock();
        if self.json {
            let seat = self.seat.number();
            let asked = AskedHere { event: "asked", seat, board, question: &question };
            return Ok(print_json_line(&mut out, &asked)?);
        }
        let picture = Screen::PLAIN.picture(&self.session.picture(Some(self.seat)));
        writeln!(out, "before {}\n\n{picture}", harmless(&self.session.moment()))?;
        writeln!(out, "question:\n{}", harmless_lines(question.trim_end_matches('\n')))?;
        writeln!(out, "answer of seat {}, as its bot would write it:", self.seat)?;
        Ok(out.flush()?)
    }

    /// Whether the answer is whole with this line.
    fn is_whole(&mut self, line: &[u8]) -> bool {
        self.answered = !matches!(self.session.hear(self.seat, line), Heard::More | Heard::Ignore(_));
        self.answered
    }
}

impl Observer for SteppedSeat {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        self.with(|now| {
            now.answered = false;
            now.session.play(step.answers).map_err(io::Error::other)
        })
    }
}

/// The next line without its end; none at the end of the input, and after a line that is too long.
fn next_line(input: &mut impl io::BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.take(LONGEST as u64 + 1).read_until(b'\n', &mut line)?;
    if line.len() > LONGEST {
        eprintln!("error: a line of more than {LONGEST} bytes is no answer: the seat is left");
        return Ok(None);
    }
    let had_any = !line.is_empty();
    line.pop_if(|last| *last == b'\n');
    line.pop_if(|last| *last == b'\r');
    Ok(had_any.then_some(line))
}

/// Waits until something was asked, and nothing follows for a moment; false when nothing more will come.
pub fn asked(from: impl AsFd) -> io::Result<bool> {
    let mut buffer = [0; 64 << 10];
    let mut some = false;
    loop {
        if poll(&mut [PollFd::new(&from, PollFlags::IN)], some.then_some(&QUIET))? == 0 {
            return Ok(true);
        }
        if rustix::io::read(&from, &mut buffer)? == 0 {
            return Ok(false);
        }
        some = true;
    }
}

/// Passes on both directions between the referee and the seat, until one of them ends.
pub fn pass_both(arguments: &[std::ffi::OsString]) -> ExitCode {
    let done = || -> io::Result<()> {
        let place = arguments.first().ok_or_else(|| io::Error::other("no place to come to"))?;
        let stream = UnixStream::connect(place)?;
        let asks = stream.try_clone()?;
        thread::spawn(move || {
            let _ = copy(io::stdin().lock(), &asks);
            let _ = asks.shutdown(Shutdown::Write);
        });
        copy(&stream, io::stdout().lock())
    };
    if done().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn copy(mut from: impl io::Read, mut to: impl io::Write) -> io::Result<()> {
    let mut buffer = [0; 64 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            length => to.write_all(&buffer[..length]).and_then(|()| to.flush())?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_never_ends_is_not_kept() {
        let mut input = io::Cursor::new(b"0 WAIT\r\n\nlast".to_vec());
        let mut next = || next_line(&mut input).expect("read");
        assert_eq!(
            [next(), next(), next(), next()].map(|line| line.map(|line| line.len())),
            [Some(6), Some(0), Some(4), None]
        );
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        assert_eq!(next_line(&mut endless).expect("read"), None);
    }
}
