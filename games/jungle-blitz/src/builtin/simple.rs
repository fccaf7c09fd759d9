//! Bots that do not think.

use agon_game::{Builtin, Seeded};

use crate::JungleBlitz;
use crate::orders::{self, Command};
use crate::view::View;

/// Does nothing.
pub struct Idle;

impl Builtin<JungleBlitz> for Idle {
    fn order(&mut self, _game: &JungleBlitz, _view: View<'_>) -> Command {
        Command::default()
    }
}

/// Does anything.
pub struct Random(Seeded);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Seeded::stream(seed as i64, "random"))
    }
}

impl Builtin<JungleBlitz> for Random {
    fn order(&mut self, game: &JungleBlitz, view: View<'_>) -> Command {
        orders::random(game, &view.as_state(), view.seat.index(), &mut self.0)
    }
}
