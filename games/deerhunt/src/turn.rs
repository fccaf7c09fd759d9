//! A half-turn: the ordered list of its stages.

use agon_game::Sink;

use crate::DeerhuntOf;
use crate::orders::Move;
use crate::state::State;

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// DH-TURN-2: plays a half-turn of the player whose turn it is. No list is an empty list
    /// (DH-TURN-3).
    pub fn half_turn(&self, state: &mut State<BLOCKS>, moves: &[Move], out: &mut impl Sink<Self>) {
        // 1. The moves, in the order of the list.
        self.carry_out(state, moves, out);
        // 2. The half-turn is over, and perhaps the match.
        state.half += 1;
        if self.ending(state).is_none() {
            // 3. Timers run: children appear, mining pays, stuns wear off. The next player is asked in
            //    the state this leaves.
            self.count_down(state, out);
        }
    }
}
