//! Who answers for a seat.

use std::sync::Arc;

use agon_bot::program::Starting;
use agon_bot::{BotName, Launch, NameKind, Program, Script, StartError};
use agon_game::{Seat, Session, Transport};
use thiserror::Error;

use crate::Clock;
use crate::arrival::{self, Expected};

/// Who answers for a seat.
pub enum Player {
    /// A bot inside the program, seated at the session.
    Builtin,
    Program(Box<Program>),
    /// A bot that dials in and has not arrived yet.
    Expected(Box<Expected>),
    /// Nobody: the bot could not be started, for this reason.
    Absent(String),
}

/// Seats the bot called `name`: starts its program on `cpus` (none: those of this thread), or seats
/// the built-in.
///
/// In a game that takes scripts, a JavaScript file is a script, and its host must know how long an
/// answer may take: that is the only use of `clock`.
///
/// A program that the system will not start is an absent player; the match is played according to the
/// rulebook.
///
/// # Errors
/// When the name itself is wrong, or this machine has no room for another program.
pub fn seat_player(
    session: &mut dyn Session,
    name: &BotName,
    seat: Seat,
    cpus: Option<&[usize]>,
    clock: Clock,
) -> Result<Player, SeatError> {
    begin(session, name, seat, cpus, clock)?.settle()
}

/// A player whose program may still be starting.
pub(crate) enum Coming {
    /// It is there, or will not come.
    Here(Player),
    /// Its program is being started.
    Starting(Box<Starting>),
}

impl Coming {
    /// Waits for its program.
    pub(crate) fn settle(self) -> Result<Player, SeatError> {
        match self {
            Self::Here(player) => Ok(player),
            Self::Starting(starting) => {
                starting.settle().map_or_else(not_started, |program| Ok(Player::Program(Box::new(program))))
            }
        }
    }
}

fn not_started(error: StartError) -> Result<Player, SeatError> {
    match error {
        StartError::NoProgram(why) => Ok(Player::Absent(why)),
        StartError::NoRoom(why) => Err(SeatError::Machine(why)),
    }
}

/// The first part of [`seat_player`], so that the programs of a match need not start one after the other.
pub(crate) fn begin(
    session: &mut dyn Session,
    name: &BotName,
    seat: Seat,
    cpus: Option<&[usize]>,
    clock: Clock,
) -> Result<Coming, SeatError> {
    if let NameKind::Builtin { name: builtin, options } = &name.kind {
        // The bot's own seed differs for each match and seat.
        let seed = (session.recipe().seed as u64).wrapping_mul(31).wrapping_add(u64::from(seat.number()));
        session.seat_builtin(seat, builtin, options, seed).map_err(SeatError::Name)?;
        return Ok(Coming::Here(Player::Builtin));
    }
    if let Some(player) = arrival::expect(session, name, seat, cpus)? {
        return Ok(Coming::Here(player));
    }
    let launch = match script(session, name, seat, clock) {
        Some(script) => Ok(Some(Launch {
            confined: name.confined,
            run: Arc::clone(&name.run),
            ..script.launch(name.js())
        })),
        None => Launch::of(name),
    };
    let Some(launch) = launch.map_err(|error| SeatError::Name(error.to_string()))? else {
        unreachable!("a bot that is started elsewhere dials in");
    };
    let starting = Program::begin(launch, seat.number(), cpus, session.info().longest_message);
    starting.map_or_else(
        |error| not_started(error).map(Coming::Here),
        |starting| Ok(Coming::Starting(Box::new(starting))),
    )
}

/// The bot as a script, if the game takes scripts and the bot is one.
pub(crate) fn script(session: &dyn Session, name: &BotName, seat: Seat, clock: Clock) -> Option<Script> {
    let file = (session.info().transport == Transport::Script).then(|| Script::file(name))??;
    let (seed, limit) = (session.recipe().seed, clock.limit(session.limit_ms(seat)));
    Some(Script { file, seed, seat: seat.number(), limit, restarts: 0, owes: false })
}

/// Why nobody could be seated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SeatError {
    /// The name is wrong: no such file, no such built-in.
    #[error("{0}")]
    Name(String),
    /// This machine has no room for another program.
    #[error("{0}")]
    Machine(String),
}
