//! Bots that go for a goal: one frame, three styles.

use agon_game::{Builtin, Chance as _, Seeded};

use super::mind::{Mind, Ways};
use crate::Ostibot;
use crate::geometry::{Cell, Direction, Rows};
use crate::items::{Kind, Slot};
use crate::map::ObjectKind;
use crate::orders::{Act, Order};
use crate::view::{Body, View};

/// How a crew plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Looter,
    Fighter,
    Planner,
}

/// The adventurers of a team.
pub(super) struct Crew {
    style: Style,
    leave: u16,
    mind: Mind,
    chance: Seeded,
}

/// A goal and how much it is wanted; higher is better.
struct Aim {
    cell: Cell,
    want: f32,
}

impl Crew {
    pub fn new(game: &Ostibot, style: Style, leave: Option<u16>, seed: u64) -> Self {
        let usual = game.rules().corruption_start_at.saturating_sub(match style {
            Style::Looter | Style::Fighter => 6,
            Style::Planner => 2,
        });
        let chance = Seeded::stream(seed as i64, "crew");
        Self { style, leave: leave.unwrap_or(usual), mind: Mind::new(), chance }
    }

    /// Fighters buy weapons, best first; the others keep their gold.
    fn shop(&self, game: &Ostibot, view: &View<'_>) -> Order {
        let mut order = Order::default();
        if self.style != Style::Fighter {
            return order;
        }
        let mut gold = view.gold[view.you.index()];
        for body in view.own().filter(|body| body.worn[Slot::Weapon as usize].is_none()) {
            let weapons = [Kind::EnchantedAxe, Kind::SteelBlade, Kind::RustySword];
            let cost = |kind: &Kind| game.rules().items[kind].cost;
            if let Some(kind) = weapons.into_iter().find(|kind| cost(kind) <= gold) {
                gold -= cost(&kind);
                order.actions.push(Act::Buy { who: body.id, kind, equip: true }.into());
            }
        }
        order
    }

    /// Everything `body` could go for.
    fn aims(&mut self, game: &Ostibot, view: &View<'_>, body: &Body, ways: &Ways) -> Vec<Aim> {
        let rules = game.rules();
        let mut aims = Vec::new();
        let mut aim = |cell: Cell, value: f32, extra: u32| {
            if let Some(turns) = ways.to(cell) {
                aims.push(Aim { cell, want: value / (turns + extra) as f32 });
            }
        };
        let leaving = view.turn >= self.leave;
        for (&cell, &(kind, _)) in &self.mind.things {
            match kind {
                ObjectKind::Chest if !leaving => aim(cell, rules.chest_gold as f32, 2),
                ObjectKind::Vase if !leaving => aim(cell, rules.vase_gold as f32, 2),
                // On the way out nothing else counts.
                ObjectKind::Portal if leaving => aim(cell, 1_000.0, 1),
                _ => {}
            }
        }
        for (&cell, &amount) in &self.mind.gold {
            if !leaving || ways.to(cell).is_some_and(|turns| turns <= 2) {
                aim(cell, if leaving { 2_000.0 } else { amount as f32 }, 1);
            }
        }
        for enemy in view.adventurers.iter().filter(|other| other.team != body.team) {
            let hits =
                u32::from(enemy.hp).div_ceil(u32::from(body.damage.saturating_sub(enemy.armor).max(1)));
            match self.style {
                Style::Fighter if !leaving => aim(enemy.cell, 4.0 + enemy.gold as f32, hits),
                // An adjacent enemy with gold is worth a few hits.
                Style::Planner if enemy.cell.distance(body.cell) == 1 && enemy.gold > 0 && hits <= 4 => {
                    aim(enemy.cell, 3.0 * enemy.gold as f32, hits);
                }
                _ => {}
            }
        }
        // With nothing better to do, look around; a planner sends each adventurer somewhere else.
        let looks = if self.style == Style::Planner { 8 } else { usize::from(aims.is_empty()) };
        let mut unknown: Vec<_> =
            self.mind.unexplored(game).filter_map(|cell| Some((ways.to(cell)?, cell))).collect();
        unknown.sort_unstable();
        let mut spread = Rows::NONE;
        for (turns, cell) in unknown {
            // Adjacent cells count as one look.
            if spread.len() < looks && !spread.grown().contains(cell) {
                spread.insert(cell);
                aims.push(Aim { cell, want: 0.1 / (turns + 1) as f32 });
            }
        }
        // A little noise, so that ties are not always broken the same way.
        aims.iter_mut().for_each(|aim| aim.want *= 1.0 + self.chance.below(100) as f32 / 10_000.0);
        aims
    }
}

impl Builtin<Ostibot> for Crew {
    fn order(&mut self, game: &Ostibot, view: View<'_>) -> Order {
        if view.shop {
            return self.shop(game, &view);
        }
        self.mind.learn(&view);
        let own: Vec<&Body> = view.own().collect();
        let mut taken: Rows = own.iter().map(|body| body.cell).collect();
        let mut order = Order::default();
        // The wishes of all adventurers, strongest first.
        let mut wishes: Vec<(usize, Aim, Direction)> = Vec::new();
        for (index, body) in own.iter().enumerate() {
            let ways = self.mind.ways(game, body, &taken);
            for aim in self.aims(game, &view, body, &ways) {
                if let Some(direction) = ways.first(aim.cell) {
                    wishes.push((index, aim, direction));
                }
            }
        }
        wishes.sort_by(|a, b| b.1.want.total_cmp(&a.1.want));
        let mut served = vec![false; own.len()];
        let mut aimed_at = Rows::NONE;
        for (index, aim, direction) in wishes {
            let next = game.map().neighbour(own[index].cell, direction);
            let shared = self.style == Style::Planner && aimed_at.contains(aim.cell);
            if served[index] || shared || next.is_some_and(|next| taken.contains(next)) {
                continue;
            }
            served[index] = true;
            aimed_at.insert(aim.cell);
            if let Some(next) = next {
                taken.remove(own[index].cell);
                taken.insert(next);
            }
            order.actions.push(Act::Move { who: own[index].id, direction }.into());
        }
        order
    }
}
