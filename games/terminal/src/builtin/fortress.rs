//! Turrets, walls, supports, interceptors.

use agon_game::{Builtin, Chance as _, Seeded};

use super::Plan;
use crate::Terminal;
use crate::orders::Commands;
use crate::rules::Kind;
use crate::view::View;

/// Builds from a list, repairs its structures each turn, meets a rich enemy with interceptors and strikes back when rich itself.
pub(super) struct Fortress {
    chance: Seeded,
    /// Mobile points at which it strikes.
    riches: f32,
    /// Whether its plan is mirrored.
    mirrored: bool,
}

/// Where turrets go, the most important first.
const TURRETS: [(i32, i32); 14] = [
    (3, 12),
    (24, 12),
    (8, 11),
    (19, 11),
    (13, 11),
    (6, 11),
    (21, 11),
    (1, 12),
    (26, 12),
    (11, 11),
    (16, 11),
    (4, 11),
    (23, 11),
    (14, 10),
];

/// Where walls go.
const WALLS: [(i32, i32); 14] = [
    (0, 13),
    (27, 13),
    (3, 13),
    (24, 13),
    (8, 12),
    (19, 12),
    (13, 12),
    (1, 13),
    (26, 13),
    (6, 12),
    (21, 12),
    (2, 13),
    (25, 13),
    (11, 12),
];

/// Where supports go.
const SUPPORTS: [(i32, i32); 6] = [(13, 5), (14, 5), (12, 6), (15, 6), (13, 7), (14, 7)];

impl Fortress {
    pub(super) fn new(seed: u64) -> Self {
        let mut chance = Seeded::stream(seed as i64, "builtin fortress");
        let (riches, mirrored) = (12.0 + chance.below(5) as f32, chance.happens(1, 2));
        Self { chance, riches, mirrored }
    }
}

impl Builtin<Terminal> for Fortress {
    fn order(&mut self, _: &Terminal, view: View<'_>) -> Commands {
        let mut plan = Plan::new(view);
        let at = |(x, y): (i32, i32)| if self.mirrored { (27 - x, y) } else { (x, y) };
        let tiles = |plan: &Plan<'_>, list: &[(i32, i32)]| -> Vec<_> {
            list.iter().filter_map(|&place| plan.own(at(place).0, at(place).1)).collect()
        };
        let (turrets, walls, supports) =
            (tiles(&plan, &TURRETS), tiles(&plan, &WALLS), tiles(&plan, &SUPPORTS));
        // First half of the turrets and walls, then upgrades for some of them, then the rest.
        for &tile in &turrets[..7] {
            let _ = plan.build(Kind::Turret, tile);
        }
        for &tile in &walls[..7] {
            let _ = plan.build(Kind::Wall, tile);
        }
        for &tile in &turrets[..4] {
            let _ = plan.upgrade(tile);
        }
        for &tile in &supports[..2] {
            let _ = plan.build(Kind::Support, tile);
        }
        for &tile in &turrets[7..] {
            let _ = plan.build(Kind::Turret, tile);
        }
        for &tile in &walls {
            let _ = plan.build(Kind::Wall, tile) || plan.upgrade(tile);
        }
        for &tile in &supports {
            let _ = plan.build(Kind::Support, tile) || plan.upgrade(tile);
        }
        for &tile in &turrets {
            let _ = plan.upgrade(tile);
        }

        let enemy = view.state.players[view.enemy().index()].mp.0;
        if plan.mp >= self.riches {
            // Demolishers along one side, scouts behind them.
            let (x, y) = at(if self.chance.happens(1, 2) { (4, 9) } else { (13, 0) });
            if let Some(tile) = plan.own(x, y) {
                if self.chance.happens(1, 2) {
                    plan.deploy(Kind::Demolisher, tile, 3);
                }
                plan.deploy(Kind::Scout, tile, 500);
            }
        } else if enemy >= 8.0 && view.state.turn > 1 {
            let (x, y) = at(if self.chance.happens(1, 2) { (6, 7) } else { (21, 7) });
            if let Some(tile) = plan.own(x, y) {
                plan.deploy(Kind::Interceptor, tile, 2);
            }
        }
        plan.commands
    }
}
