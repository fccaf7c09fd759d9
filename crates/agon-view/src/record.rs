//! Records of the originals, as our replays.

use agon_game::{AnyGame, Import, Seat, Unreadable};
use agon_replay::data::PROGRAM;
use agon_replay::{EndInfo, Header, SeatInfo, Timing, Writer};
use agon_spec::Clock;
use serde_json::json;

/// The bot named in a replay if the original's record does not say how it was started.
pub const UNKNOWN_BOT: &str = "recorded";

/// A recorded match of an original, as our replay.
pub struct Record {
    pub game: &'static dyn AnyGame,
    /// The replay in its file format.
    pub bytes: Vec<u8>,
    /// What the record holds but the replay cannot express.
    pub notes: Vec<String>,
}

/// Reads the record of a match of any original; `None` if the bytes are not one.
///
/// # Errors
/// When they are a damaged one; the message begins with the game's title.
pub fn import(record: &[u8]) -> Result<Option<Record>, String> {
    for game in agon_games::all() {
        let refused = |why: &dyn std::fmt::Display| format!("{}: {why}", game.info().title);
        match game.import(record) {
            Ok(import) => return rewrite(*game, import).map(Some).map_err(|why| refused(&why)),
            Err(Unreadable::Foreign) => {}
            Err(error) => return Err(refused(&error)),
        }
    }
    Ok(None)
}

/// Plays the recorded answers and writes them as a replay.
fn rewrite(game: &'static dyn AnyGame, import: Import<Vec<u8>>) -> Result<Record, String> {
    let Import { setup, steps, names, whole, mut notes } = import;
    let mut session = game.open(&setup).map_err(|error| error.to_string())?;
    let seats = Seat::first(setup.seats).map(|seat| SeatInfo {
        bot: UNKNOWN_BOT.to_owned(),
        label: names.get(seat.index()).cloned().unwrap_or_else(|| format!("player {seat}")),
        hash: None,
    });
    let header = Header {
        program: format!("{PROGRAM}, from a record of the original"),
        started: 0,
        clock: "as recorded".to_owned().into(),
        ..Header::new(session.as_ref(), seats.collect(), Clock::ORIGINAL)
    };
    // Writing to memory fails only if a header cannot be written as JSON.
    let failed = |error: std::io::Error| error.to_string();
    let mut writer = Writer::new(Vec::new(), &header).map_err(failed)?;
    for answers in &steps {
        let moment = session.moment();
        if session.play(answers).is_err() {
            notes.push(format!("{moment}: here the match is over, but the record continues"));
            break;
        }
        for (seat, answer) in answers.iter().filter(|_| header.timed) {
            let wall_us = u64::from(answer.think_ms()) * 1_000;
            writer.timing(*seat, Timing { wall_us, cpu_us: None });
        }
        writer.step(answers, session.hash()).map_err(failed)?;
    }
    let void = (!whole).then_some("the record stops before the end of the match");
    let end = EndInfo {
        steps: 0,
        outcome: session.outcome().cloned(),
        state: format!("{:016x}", session.hash()),
        chain: String::new(),
        facts: json!({ "void": void, "notes": notes }),
    };
    Ok(Record { game, bytes: writer.finish(end).map_err(failed)?, notes })
}
