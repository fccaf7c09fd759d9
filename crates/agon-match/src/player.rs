//! Who answers for a seat.

use agon_bot::{BotName, Kind, Launch, Program};
use agon_game::{Seat, Session};

/// Who answers for a seat.
pub enum Player {
    /// A bot inside the program, seated at the session.
    Builtin,
    /// A program.
    Program(Box<Program>),
    /// Nobody: the bot could not be started, for this reason.
    Absent(String),
}

/// Seats the bot called `name`: starts its program on `cpu`, or seats the built-in.
///
/// A program that the system will not start is an absent player, and the match is played as the
/// rulebook says.
///
/// # Errors
/// When the name itself is wrong: no such file, no such built-in.
pub fn seat_player(
    session: &mut dyn Session,
    name: &BotName,
    seat: Seat,
    cpu: Option<usize>,
) -> Result<Player, String> {
    if let Kind::Builtin { name: builtin, options } = &name.kind {
        // The bot's own seed differs from match to match and from seat to seat.
        let seed = (session.recipe().seed as u64).wrapping_mul(31).wrapping_add(u64::from(seat.number()));
        session.seat_builtin(seat, builtin, options, seed)?;
        return Ok(Player::Builtin);
    }
    let Some(launch) = Launch::of(name).map_err(|error| error.to_string())? else {
        return Err(format!(
            "`{name}`: {} talks to its bots over standard input and output",
            session.info().title
        ));
    };
    Ok(match Program::start(&launch, seat.number(), cpu, session.info().longest_message) {
        Ok(program) => Player::Program(Box::new(program)),
        Err(why) => Player::Absent(why),
    })
}
