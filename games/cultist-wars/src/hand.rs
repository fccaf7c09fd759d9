//! Play choice by choice: the orders that take effect at once.

use agon_game::{Seat, hand};

use crate::CultistWars;
use crate::board::Tile;
use crate::orders::Order;
use crate::state::{State, UNITS, UnitId};
use crate::view::View;

/// See [`agon_game::Hand`]. A choice is a whole order; the last of several counts.
pub enum Hand {}

impl agon_game::Hand<CultistWars> for Hand {
    type Choice = Order;

    fn seen(_: &CultistWars, view: &View<'_>) -> State {
        *view.state
    }

    /// Steps onto neighbouring tiles, shots within range and conversions of neighbours. From further away the same orders
    /// are allowed, but amount to one of the listed steps.
    fn choices(game: &CultistWars, seat: Seat, seen: &State, chosen: &[Order]) -> Vec<Order> {
        if !chosen.is_empty() {
            return Vec::new();
        }
        let at_once =
            |order: &Order| game.resolve(seen, seat, order).is_ok_and(|action| Order::from(action) == *order);
        let orders = (0..UNITS as UnitId).flat_map(|unit| {
            let around = seen.tile(unit).neighbour_orders(unit);
            let unit = i32::from(unit);
            let at = (0..UNITS as i32)
                .flat_map(move |target| [Order::Shoot { unit, target }, Order::Convert { unit, target }]);
            around.into_iter().chain(at)
        });
        hand::effective(game, seat, seen, chosen, orders.filter(at_once))
    }

    fn order(_: &CultistWars, _: Seat, _: &State, chosen: &[Order]) -> Order {
        chosen.last().copied().unwrap_or(Order::Wait)
    }

    fn chosen(_: &CultistWars, _: Seat, order: &Order) -> Vec<Order> {
        if *order == Order::Wait { Vec::new() } else { vec![*order] }
    }

    fn entry(chosen: &[Order], _: usize) -> usize {
        chosen.len().saturating_sub(1)
    }
}

impl Tile {
    /// The steps open to a unit here.
    fn neighbour_orders(self, unit: UnitId) -> Vec<Order> {
        if self == Self::NOWHERE {
            return Vec::new();
        }
        let tiles = self.neighbours().into_iter().filter(|&tile| tile != Self::NOWHERE);
        tiles.map(|tile| Order::Move { unit: unit.into(), x: tile.x().into(), y: tile.y().into() }).collect()
    }
}
