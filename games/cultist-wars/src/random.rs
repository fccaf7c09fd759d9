//! The policy of benchmarks and property tests: lively, and only allowed orders.

use agon_game::{Chance, Seat};

use crate::board::{TILES, Tile};
use crate::orders::Order;
use crate::state::{Owner, State, Units, leader};

/// A random order: a living unit of the player, half of the time with a target anywhere, else with a
/// tile anywhere; sometimes nothing.
pub(crate) fn order(state: &State, seat: Seat, chance: &mut impl Chance) -> Order {
    const ORDERS: u32 = 16;
    let own = state.living_of(Owner::Player(seat));
    let wish = chance.below(ORDERS);
    if wish == 0 || own.is_empty() {
        return Order::Wait;
    }
    let unit = own.nth(chance.below(own.len()));
    let others = state.living().without(own);
    if wish <= ORDERS / 2 {
        let leads = unit == leader(seat);
        let targets = if leads { others.without(Units::LEADERS) } else { others };
        if !targets.is_empty() {
            let (unit, target) = (unit.into(), targets.nth(chance.below(targets.len())).into());
            return if leads { Order::Convert { unit, target } } else { Order::Shoot { unit, target } };
        }
    }
    let tile = Tile::from_number(chance.below(TILES as u32) as u8).expect("a tile was drawn");
    Order::Move { unit: unit.into(), x: tile.x().into(), y: tile.y().into() }
}
