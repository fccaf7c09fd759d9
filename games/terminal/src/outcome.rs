//! Who won, and the statistics of a finished match.

use agon_game::{Outcome, Seat};

use crate::rules::Rules;
use crate::state::{Ending, Real, State, tenth};

/// How the match ended (TM-END-3): more health wins, with negative health counting as none; with
/// equal health less computation time (TM-END-4); with equal time it is a draw (TM-END-5).
pub fn outcome(state: &State) -> Option<Outcome> {
    let ending = state.ending?;
    let scores = state.players.map(|player| f64::from(player.hp.0.max(0.0)));
    let crashed: Vec<String> = (1..)
        .zip(&state.players)
        .filter(|(_, player)| player.crashed)
        .map(|(seat, _)| seat.to_string())
        .collect();
    let mut reason = match ending {
        Ending::Turns => "the last turn was played".to_owned(),
        Ending::Health if !crashed.is_empty() => format!("player {} crashed", crashed.join(" and player ")),
        Ending::Health => "no health left".to_owned(),
    };
    if scores[0] == scores[1] {
        reason.push_str(match state.players[0].total_ms == state.players[1].total_ms {
            true => ", equal health and time",
            false => ", equal health, decided by computation time",
        });
    }
    // TM-CLOCK-1: nothing else shows that health was lost to slowness and not to the other player.
    for (seat, player) in (1..).zip(&state.players).filter(|(_, player)| player.time_damage.0 > 0.0) {
        let lost = player.time_damage.0;
        reason.push_str(&format!("; player {seat} lost {lost} health to slow answers [TM-CLOCK-1]"));
    }
    Some(Outcome::by(scores.to_vec(), reason, |score, seat| {
        (score, std::cmp::Reverse(state.players[seat].total_ms))
    }))
}

/// The winner of a finished match; `None` for a draw.
pub fn winner(state: &State) -> Option<Seat> {
    outcome(state)?.winner()
}

/// The structure points standing on the board.
pub fn left_on_board(rules: &Rules, state: &State, seat: Seat) -> Real {
    let own = state.structures().iter().filter(|structure| structure.owner() == seat);
    Real(own.fold(0.0, |sum, structure| tenth(sum + rules.worth(structure.kind(), structure.upgraded()))))
}
