//! Two bots to play against for want of anything better.

use agon_game::{Builtin, Game as _, Seeded};

use crate::Terminal;
use crate::orders::Commands;
use crate::view::View;

/// Does nothing.
pub(super) struct Idle;

impl Builtin<Terminal> for Idle {
    fn order(&mut self, _: &Terminal, _: View<'_>) -> Commands {
        Commands::default()
    }
}

/// Plays the random policy.
pub(super) struct Random(Seeded);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(Seeded::stream(seed as i64, "builtin random"))
    }
}

impl Builtin<Terminal> for Random {
    fn order(&mut self, game: &Terminal, view: View<'_>) -> Commands {
        game.random_order(view.state, view.seat, &mut self.0)
    }
}
