//! Bots without a plan.

use agon_game::{Builtin, Chance as _, Seeded};

use crate::Ostibot;
use crate::geometry::Direction;
use crate::map::Tile;
use crate::orders::{Act, Order};
use crate::view::View;

/// Does nothing.
pub(super) struct Idle;

impl Builtin<Ostibot> for Idle {
    fn order(&mut self, _: &Ostibot, _: View<'_>) -> Order {
        Order::default()
    }
}

/// Moves at random, but not into anything it knows to hurt.
pub(super) struct Random(Seeded);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(Seeded::stream(seed as i64, "random"))
    }
}

impl Builtin<Ostibot> for Random {
    fn order(&mut self, game: &Ostibot, view: View<'_>) -> Order {
        let mut order = Order::default();
        if view.shop {
            return order;
        }
        for body in view.own() {
            let harmless = |direction: &Direction| {
                let next = game.map().neighbour(body.cell, *direction);
                next.is_some_and(|next| {
                    !matches!(
                        view.tile(next),
                        Some(Tile::Wall | Tile::Spawner(_) | Tile::Health | Tile::Spikes)
                    )
                })
            };
            let ways: Vec<Direction> = Direction::ALL.into_iter().filter(harmless).collect();
            if !ways.is_empty() {
                let direction = ways[self.0.below(ways.len() as u32) as usize];
                order.actions.push(Act::Move { who: body.id, direction }.into());
            }
        }
        order
    }
}
