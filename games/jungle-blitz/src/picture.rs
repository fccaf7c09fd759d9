//! The board for a terminal.

use agon_game::Picture;

use crate::JungleBlitz;
use crate::state::State;

/// Draws the board.
pub fn picture(_game: &JungleBlitz, _state: &State) -> Picture {
    Picture::new()
}
