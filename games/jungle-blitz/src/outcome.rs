//! How a match ends and who wins.

use std::cmp::Reverse;

use agon_game::Outcome;

use crate::JungleBlitz;
use crate::state::{Owner, State};

/// The result, once all ticks are played or every team is gone (JB-GAME-3).
///
/// A higher score ranks first, then more pending points in the hands of the team, then fewer
/// deaths; teams equal in all three share the rank (JB-RANK-1).
pub fn outcome(game: &JungleBlitz, state: &State) -> Option<Outcome> {
    let all_gone = (0..game.teams()).all(|team| state.is_dead(team));
    let reason = match (state.tick >= game.rules.total_tick, all_gone) {
        (true, _) => "tick limit",
        (false, true) => "every team is gone",
        (false, false) => return None,
    };
    let scores = state.scores[..game.teams()].iter().map(|&score| f64::from(score)).collect();
    Some(Outcome::by(scores, reason, |_, team| {
        (state.scores[team], pending(game, state, team), Reverse(state.deaths[team]))
    }))
}

/// The pending points of the diamonds that units of `team` hold.
pub fn pending(game: &JungleBlitz, state: &State, team: usize) -> u32 {
    let held = |owner: Owner| owner.holder().is_some_and(|unit| game.team_of(unit) == team);
    state.diamonds.iter().filter(|diamond| held(diamond.owner)).map(|diamond| u32::from(diamond.points)).sum()
}
