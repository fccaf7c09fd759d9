//! Checks that a replay is the requested match, and how it ended, by recomputing all of it.

use agon_contest::Proven;
use agon_contest::same::{AnswerHash, start};
use agon_contest::told::proven;
use agon_replay::Replay;

use crate::play::PreparedGame;
use crate::protocol::Job;

/// Larger replays are refused, in bytes.
pub const LARGEST: usize = 16 << 20;

/// Recomputes a match from its replay.
///
/// # Errors
/// A sentence that says how it differs from the requested match.
pub fn verify(table: &PreparedGame, job: &Job, replay: &[u8]) -> Result<Proven, String> {
    if replay.len() > LARGEST {
        return Err(format!("the replay is larger than {} MiB", LARGEST >> 20));
    }
    let replay = Replay::read(replay).map_err(|error| error.to_string())?;
    let mut session = table.open_for(job)?;
    let info = session.info();
    let header = &replay.header;
    if header.game != info.name || header.rules_version != info.rules_version {
        return Err(format!("it is a replay of {}, rules {}", header.game, header.rules_version));
    }
    if header.recipe != *session.recipe() {
        return Err("its rules, map, seats or seed are not those of the match".to_owned());
    }
    let own: Vec<&str> = job.seats.iter().map(|seat| seat.program.hash()).collect();
    let its: Vec<&str> = header.seats.iter().map(|seat| seat.hash.as_deref().unwrap_or("")).collect();
    if own != its {
        return Err("it was played by other bots".to_owned());
    }
    let start = start(session.as_mut());
    let mut answers = AnswerHash::default();
    for number in 0..replay.steps.len() {
        replay.play_step(number, session.as_mut())?;
        replay.steps[number].answers.iter().for_each(|(seat, answer)| answers.add(*seat, answer));
    }
    if replay.end.is_none() {
        return Err("its end is missing".to_owned());
    }
    if let Some((step, seat)) = replay.wrong_charge() {
        return Err(format!(
            "step {step}: the thinking time of seat {seat} does not follow from what was counted"
        ));
    }
    let proven = proven(session.as_ref(), start, answers).ok_or("it ends before the match does")?;
    match replay.wrong_end(session.hash(), session.outcome()) {
        Some(why) => Err(why.to_owned()),
        None => Ok(proven),
    }
}
