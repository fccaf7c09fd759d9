//! When the match ends and who wins.

use agon_game::Outcome;

use crate::DeerhuntOf;
use crate::rules::Tie;
use crate::state::{Player, State};

/// Why a match is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// DH-END-1: this player has no units left.
    Eliminated(Player),
    /// DH-END-2: the last round has been played.
    RoundLimit,
}

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Why the match is over; `None` while it goes on.
    #[inline]
    pub fn ending(&self, state: &State<BLOCKS>) -> Option<Ending> {
        let gone = |player: &Player| state.living[*player as usize].is_empty();
        match Player::BOTH.into_iter().find(gone) {
            Some(player) => Some(Ending::Eliminated(player)),
            None if state.half >= 2 * self.rules.max_rounds => Some(Ending::RoundLimit),
            None => None,
        }
    }

    /// DH-END-4: the score is what a player owns; the winner has rank 1, whatever it owns.
    pub(crate) fn result(&self, state: &State<BLOCKS>) -> Option<Outcome> {
        let (winner, reason) = match self.ending(state)? {
            Ending::Eliminated(player) => (Some(player.other()), format!("{player} has no units left")),
            Ending::RoundLimit => (self.richer(state), "round limit".to_owned()),
        };
        let rank = |player| u8::from(winner.is_some_and(|winner| winner != player)) + 1;
        let scores = state.resources.iter().map(|&owned| f64::from(owned)).collect();
        Some(Outcome { scores, ranks: Player::BOTH.into_iter().map(rank).collect(), reason })
    }

    /// DH-END-2: the player who owns more at the limit. DH-END-3: with equal resources, the tie rule decides.
    fn richer(&self, state: &State<BLOCKS>) -> Option<Player> {
        let [one, two] = state.resources;
        match one.cmp(&two) {
            std::cmp::Ordering::Greater => Some(Player::One),
            std::cmp::Ordering::Less => Some(Player::Two),
            std::cmp::Ordering::Equal => match self.rules.tie {
                Tie::PlayerTwo => Some(Player::Two),
                Tie::Shared => None,
            },
        }
    }
}
