//! Scouts where the way is shortest.

use agon_game::{Builtin, Chance as _, Seeded};

use super::Plan;
use crate::Terminal;
use crate::orders::Commands;
use crate::path::Survey;
use crate::rules::Kind;
use crate::view::View;

/// Saves a few mobile points, then sends them all as scouts; structure points go into supports behind them.
pub(super) struct Rush {
    chance: Seeded,
    /// Mobile points it waits for.
    patience: f32,
    /// The side it prefers.
    left: bool,
}

impl Rush {
    pub(super) fn new(seed: u64) -> Self {
        let mut chance = Seeded::stream(seed as i64, "builtin rush");
        let (patience, left) = (6.0 + chance.below(7) as f32, chance.happens(1, 2));
        Self { chance, patience, left }
    }
}

impl Builtin<Terminal> for Rush {
    fn order(&mut self, _: &Terminal, view: View<'_>) -> Commands {
        let mut plan = Plan::new(view);
        let mut survey = Survey::new(view.state);
        let side = |x: i32| if self.left { x } else { 27 - x };
        // A few turrets against enemy scouts, then supports in the middle, upgraded at once.
        for (x, y) in [(3, 12), (24, 12), (10, 10), (17, 10)] {
            plan.own(side(x), y).map(|tile| plan.build(Kind::Turret, tile));
        }
        for step in 0..12 {
            let (x, y) = (13 + step % 2, 3 + step / 2);
            if let Some(tile) = plan.own(side(x), y) {
                plan.build(Kind::Support, tile);
                plan.upgrade(tile);
            }
        }
        for order in &plan.commands.build {
            order.tile().into_iter().for_each(|tile| survey.close(tile));
        }
        if plan.mp >= self.patience {
            let ways: Vec<_> =
                plan.starts().into_iter().filter_map(|tile| Some((survey.steps(tile)?, tile))).collect();
            let shortest = ways.iter().map(|way| way.0).min();
            let best: Vec<_> = ways.iter().filter(|way| Some(way.0) == shortest).map(|way| way.1).collect();
            let starts = plan.starts();
            if best.is_empty() && !starts.is_empty() {
                // No way through: break one.
                let tile = starts[self.chance.below(starts.len() as u32) as usize];
                plan.deploy(Kind::Demolisher, tile, 500);
            } else if !best.is_empty() {
                let tile = best[self.chance.below(best.len() as u32) as usize];
                plan.deploy(Kind::Scout, tile, 500);
            }
        }
        plan.commands
    }
}
