//! Who won (OB-GAME-4, OB-GAME-5).

use agon_game::Outcome;

use crate::Ostibot;
use crate::state::{Phase, State};

impl Ostibot {
    /// After the last round (OB-GAME-4) the most gold wins, and equal gold shares a rank
    /// (OB-GAME-5).
    pub(crate) fn result(&self, state: &State) -> Option<Outcome> {
        let gold = state.gold[..usize::from(self.seats())].iter().map(|&gold| f64::from(gold));
        (state.phase == Phase::Over).then(|| Outcome::by_score(gold.collect(), "all rounds played"))
    }
}
