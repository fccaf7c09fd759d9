//! Mines, and under the 2021 rules makes workers while there are tiles for them; never fights.

use agon_game::Builtin;

use super::hand::Hand;
use crate::DeerhuntOf;
use crate::orders::Moves;
use crate::state::Kind;
use crate::view::View;

/// See the module.
pub struct Miner;

impl<const BLOCKS: usize> Builtin<DeerhuntOf<BLOCKS>> for Miner {
    fn order(&mut self, _: &DeerhuntOf<BLOCKS>, view: View<'_>) -> Moves {
        let mut hand = Hand::new(&view);
        let tiles = view.map.cells().filter(|&at| view.is_resource(at)).count();
        let mut workers = view.mine.iter().filter(|seen| seen.unit.kind == Kind::Worker).count();
        for (seen, way) in hand.assign_resources() {
            if 2 * workers < tiles && view.turns_left > 40 && hand.duplicate(seen, Kind::Worker) {
                workers += 1;
            } else if !hand.mine(seen) {
                hand.walk(seen, &way);
            }
        }
        hand.moves
    }
}
