//! The board for a terminal.
use agon_game::Picture;
use crate::{state::{Player, State}, DeerhuntOf};
impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    pub(crate) fn draw(&self, _: &State<BLOCKS>, _: Option<Player>) -> Picture { Picture::new() }
}
