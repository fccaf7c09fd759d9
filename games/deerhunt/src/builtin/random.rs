//! Moves, mines, attacks and duplicates at random.

use agon_game::{Builtin, Chance, Seeded};

use super::hand::Hand;
use crate::DeerhuntOf;
use crate::orders::{Move, Moves, Verb, Words};
use crate::state::{Direction, Kind};
use crate::view::View;

/// See the module.
pub struct Random(Seeded);

impl Random {
    /// Draws from a stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Seeded::stream(seed as i64, "random bot"))
    }
}

impl<const BLOCKS: usize> Builtin<DeerhuntOf<BLOCKS>> for Random {
    fn order(&mut self, _: &DeerhuntOf<BLOCKS>, view: View<'_>) -> Moves {
        let mut hand = Hand::new(&view);
        for seen in hand.free_units() {
            let kind = if self.0.happens(1, 2) { Kind::Melee } else { Kind::Worker };
            let done = match self.0.below(4) {
                0 => hand.attack(seen),
                1 => hand.mine(seen),
                2 => hand.duplicate(seen, kind),
                _ => false,
            };
            let direction = Direction::ALL[self.0.below(4) as usize];
            let to = seen.unit.at.step(direction);
            if !done && hand.is_free(to) {
                hand.shift(seen.unit.at, to);
                hand.moves.push(Move::new(seen.id, Verb::Walk, Words::one(direction)));
            }
        }
        hand.moves
    }
}
