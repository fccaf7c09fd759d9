//! The board for a terminal.
use crate::Ostibot;
use crate::state::State;
use agon_game::{Picture, Seat};
pub(crate) fn draw(_: &Ostibot, _: &State, _: Option<Seat>) -> Picture {
    Picture::new()
}
