//! The board for a terminal.
use crate::{
    DeerhuntOf,
    state::{Player, State},
};
use agon_game::Picture;
impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    pub(crate) fn draw(&self, _: &State<BLOCKS>, _: Option<Player>) -> Picture {
        Picture::new()
    }
}
