//! What a player may see: everything.

use agon_game::Seat;

use crate::map::Map;
use crate::state::State;

/// What a player sees. Nothing is hidden in this game: what the protocol leaves out (whose turn it is, the
/// number of turns played, the state of the neutrals' generator) follows from earlier messages. CW-WIRE-3.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The player.
    pub seat: Seat,
    /// The board at the start.
    pub map: &'a Map,
    /// The position.
    pub state: &'a State,
}
