//! What a bot sees: everything except the orders the other is about to give (TM-TALK-4).

use agon_game::Seat;

use crate::Terminal;
use crate::rules::Rules;
use crate::state::{Player, State};

/// A deploy phase seen by a seat. Coordinates are those of the arena for both players; only the dialect turns them.
#[derive(Clone, Copy)]
pub struct View<'a> {
    game: &'a Terminal,
    /// The seat.
    pub seat: Seat,
    /// The board and both players.
    pub state: &'a State,
}

impl<'a> View<'a> {
    /// The view of `seat`: the whole board, but no orders of the other (TM-TALK-4).
    pub const fn new(game: &'a Terminal, state: &'a State, seat: Seat) -> Self {
        Self { game, seat, state }
    }

    /// The rules.
    pub fn rules(&self) -> &'a Rules {
        self.game.rules()
    }

    /// The player of the seat.
    pub const fn own(&self) -> &'a Player {
        &self.state.players[self.seat.index()]
    }

    /// The other seat.
    pub const fn enemy(&self) -> Seat {
        Seat::new(1 - self.seat.index() as u8)
    }
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("seat", &self.seat).field("state", self.state).finish()
    }
}
