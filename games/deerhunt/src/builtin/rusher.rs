//! Mines, and runs at the enemy with every melee it can get.

use agon_game::Builtin;

use super::hand::{Distances, Hand};
use crate::DeerhuntOf;
use crate::orders::Moves;
use crate::state::{At, Kind};
use crate::view::View;

/// See the module.
#[derive(Default)]
pub struct Rusher {
    /// Places to look for the enemy, one after the other.
    places: Vec<At>,
    next: usize,
}

impl<const BLOCKS: usize> Builtin<DeerhuntOf<BLOCKS>> for Rusher {
    fn order(&mut self, game: &DeerhuntOf<BLOCKS>, view: View<'_>) -> Moves {
        if self.places.is_empty() {
            let starts = game.map.units.iter().filter(|unit| unit.0 != view.player).map(|unit| unit.2);
            self.places = starts.chain(game.map.cells().filter(|&at| game.map.is_resource(at))).collect();
        }
        let mut hand = Hand::new(&view);
        for (seen, way) in hand.assign_resources() {
            let done = hand.attack(seen) || hand.duplicate(seen, Kind::Melee) || hand.mine(seen);
            if !done {
                hand.walk(seen, &way);
            }
        }
        let place = self.places[self.next % self.places.len()];
        if view.mine.iter().any(|seen| seen.unit.at.square_distance(place) <= 1) && view.theirs.is_empty() {
            self.next += 1;
        }
        let targets: Vec<At> = match view.theirs.is_empty() {
            true => vec![place],
            false => view.theirs.iter().map(|seen| seen.unit.at).collect(),
        };
        let way = Distances::to(view.map, targets);
        for seen in hand.free_units().filter(|seen| seen.unit.kind == Kind::Melee) {
            let done = hand.attack(seen) || (view.theirs.is_empty() && hand.duplicate(seen, Kind::Melee));
            if !done {
                hand.walk(seen, &way);
            }
        }
        hand.moves
    }
}
