//! What a player may see: everything.

use agon_game::Seat;

use crate::map::Map;
use crate::state::State;

/// What a player sees. Nothing is hidden in this game: what the protocol leaves out (whose turn it is, how many
/// were played, where the neutrals' generator stands) follows from what was sent before. CW-WIRE-3.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The player.
    pub seat: Seat,
    /// The board as it was at the start.
    pub map: &'a Map,
    /// The position.
    pub state: &'a State,
}
