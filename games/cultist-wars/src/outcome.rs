//! When a match ends, and who wins.

use agon_game::{Outcome, Seat};

use crate::rules::Rules;
use crate::state::{Ending, Fault, State};

/// The players.
pub const PLAYERS: u8 = 2;

/// Whether the match is over after a turn: a player without a unit (CW-END-2) takes precedence over
/// the last turn (CW-END-3).
pub(crate) fn ending(rules: &Rules, state: &State) -> Option<Ending> {
    if Seat::first(PLAYERS).any(|seat| state.count(seat) == 0) {
        Some(Ending::Elimination)
    } else if state.turn >= rules.number_of_turns {
        Some(Ending::TurnLimit)
    } else {
        None
    }
}

/// Scores, ranks and the reason. A fault scores -1 against 0 (CW-END-1); otherwise the living units
/// count, and equal counts are a draw (CW-END-4).
pub(crate) fn outcome(state: &State) -> Option<Outcome> {
    let units = || Seat::first(PLAYERS).map(|seat| f64::from(state.count(seat))).collect();
    Some(match state.ending()? {
        Ending::TurnLimit => Outcome::by_score(units(), "all turns are played"),
        Ending::Elimination => {
            let gone = Seat::first(PLAYERS).find(|&seat| state.count(seat) == 0)?;
            Outcome::by_score(units(), format!("player {gone} has no unit left"))
        }
        Ending::Fault(seat, fault) => {
            let scores = Seat::first(PLAYERS).map(|other| if other == seat { -1.0 } else { 0.0 }).collect();
            let what = match fault {
                Fault::Malformed => "gave a line that is no action",
                Fault::Invalid => "gave an action that is not allowed",
                Fault::TimedOut => "did not answer in time",
                Fault::Gone => "is gone",
                Fault::NeverStarted => "never started",
            };
            Outcome::by_score(scores, format!("player {seat} {what}"))
        }
    })
}
