//! Mines, multiplies, defends, then hunts. Near enemies it tries every possible move of a unit on a copy
//! of the board, lets the enemies strike back, and takes the best move.

use agon_game::{Builtin, Ignored};

use super::hand::{Distances, Hand};
use crate::DeerhuntOf;
use crate::orders::{Move, Moves, Verb, Words};
use crate::rules::Duplication;
use crate::state::{At, Direction, Kind, Player, State, Unit, UnitId};
use crate::view::{Seen, View};

/// See the module.
pub struct Warden {
    /// Positions to try in a half-turn.
    budget: u32,
    /// The round in which each tile was last in sight.
    last_seen: Vec<u16>,
    /// Where each hunter looks, by its id.
    quarries: Vec<(UnitId, At)>,
    /// Rounds in which enemies were near and nobody struck.
    standoff: u32,
    /// How many rounds it waits in a stand-off before it strikes first.
    patience: u32,
    /// Total health of its own units at the last look.
    health: u32,
}

impl Warden {
    /// A warden for a map.
    pub fn new<const BLOCKS: usize>(game: &DeerhuntOf<BLOCKS>, budget: u32) -> Self {
        let cells = game.map.cells().count();
        Self { budget, last_seen: vec![0; cells], quarries: Vec::new(), standoff: 0, patience: 2, health: 0 }
    }
}

impl<const BLOCKS: usize> Builtin<DeerhuntOf<BLOCKS>> for Warden {
    fn order(&mut self, game: &DeerhuntOf<BLOCKS>, view: View<'_>) -> Moves {
        let now = game.rules.max_rounds - view.turns_left + 1;
        self.look_around(&view, now);
        let mut hand = Hand::new(&view);
        let mut fight = Fight::new(game, &view, self.budget, self.standoff > self.patience);
        let goals = self.goals(&hand, now);

        // Near enemies: the best of all possible moves of the unit. Those in front act first.
        let mut near: Vec<&Seen> = hand.free_units().filter(|seen| fight.is_near(seen)).collect();
        near.sort_by_key(|seen| fight.nearest_enemy(seen.unit.at));
        let mut engaged = Vec::new();
        for seen in near {
            let goal = goals.iter().find(|goal| goal.unit == seen.id).map(|goal| &goal.way);
            if let Some(order) = fight.best(seen, goal) {
                if let Some(order) = order {
                    fight.carry_out(&order, &mut hand, seen);
                }
                engaged.push(seen.id);
            }
        }
        // Elsewhere: each unit does its usual work.
        self.trade(&mut hand, &goals, &engaged);
        self.standoff = match hand.moves.iter().any(|order| order.verb == Verb::Attack) {
            _ if engaged.is_empty() => 0,
            true => 0,
            false => self.standoff + 1,
        };
        hand.moves
    }
}

/// What a unit does while no enemy is near.
struct Goal {
    unit: UnitId,
    way: Distances,
}

impl Warden {
    /// Notes what is in sight, and whether its units were hit.
    fn look_around(&mut self, view: &View<'_>, now: u16) {
        let reach = view.rules.vision;
        for at in view.map.cells() {
            if view.mine.iter().any(|seen| seen.unit.at.square_distance(at) <= reach) {
                self.last_seen[view.map.cell(at)] = now;
            }
        }
        let health = view.mine.iter().map(|seen| u32::from(seen.unit.hp)).sum();
        if health < self.health {
            // The enemies do strike: the next stand-off lasts longer.
            self.patience = (2 * self.patience).min(24);
            self.standoff = 0;
        }
        self.health = health;
    }

    /// Workers go to resources, melees guard them; with enough melees most of them hunt.
    fn goals(&mut self, hand: &Hand<'_>, now: u16) -> Vec<Goal> {
        let view = hand.view;
        let mut goals: Vec<Goal> =
            hand.assign_resources().into_iter().map(|(seen, way)| Goal { unit: seen.id, way }).collect();
        let melees: Vec<&Seen> = view.mine.iter().filter(|seen| seen.unit.kind == Kind::Melee).collect();
        let workers: Vec<At> =
            view.mine.iter().filter(|seen| seen.unit.kind == Kind::Worker).map(|seen| seen.unit.at).collect();
        let enough = match view.rules.duplication {
            Duplication::MeleeItself if view.rules.melee_hp > 1 => 2,
            Duplication::MeleeItself | Duplication::WorkersBoth => 4,
        };
        let late = view.turns_left < view.rules.max_rounds * 6 / 10;
        let hunting = melees.len() >= enough || late || workers.is_empty();
        let home = Distances::to(view.map, workers.iter().copied());
        let enemies = Distances::to(view.map, view.theirs.iter().map(|seen| seen.unit.at));
        self.quarries.retain(|(id, _)| melees.iter().any(|seen| seen.id == *id));
        for (index, seen) in melees.iter().enumerate() {
            let guards = !workers.is_empty() && (!hunting || (index == 0 && melees.len() > 1));
            let at = seen.unit.at;
            let close = enemies.of(view.map, at) <= if guards { 8 } else { 16 };
            let way = if close {
                Distances::to(view.map, view.theirs.iter().map(|seen| seen.unit.at))
            } else if guards {
                // Close enough is good enough, and keeps it out of the way of its own workers.
                if home.of(view.map, at) <= 2 {
                    continue;
                }
                Distances::to(view.map, workers.iter().copied())
            } else {
                Distances::to(view.map, [self.quarry(view, seen, now)])
            };
            goals.push(Goal { unit: seen.id, way });
        }
        goals
    }

    /// Where a hunter looks: tiles not seen for a long time, preferring resources and the enemy's home,
    /// and not where another hunter goes.
    fn quarry(&mut self, view: &View<'_>, seen: &Seen, now: u16) -> At {
        let known = self.quarries.iter().position(|(id, _)| *id == seen.id);
        if let Some(index) = known {
            let at = self.quarries[index].1;
            if self.last_seen[view.map.cell(at)] != now {
                return at;
            }
            self.quarries.swap_remove(index);
        }
        let homes: Vec<At> =
            view.map.units.iter().filter(|unit| unit.0 != view.player).map(|unit| unit.2).collect();
        let worth = |at: &At| {
            let age = i32::from(now - self.last_seen[view.map.cell(*at)]);
            let likely = if view.is_resource(*at) || homes.contains(at) { 30 } else { 0 };
            let others = self.quarries.iter().filter(|(_, other)| other.distance(*at) < 8).count() as i32;
            2 * age + likely - i32::from(at.distance(seen.unit.at)) - 25 * others
        };
        let reachable = Distances::to(view.map, [seen.unit.at]);
        let at = view
            .map
            .cells()
            .filter(|&at| (at.x + at.y).is_multiple_of(3) || view.is_resource(at))
            .filter(|&at| reachable.of(view.map, at) < Distances::FAR)
            .max_by_key(worth)
            .unwrap_or(seen.unit.at);
        self.quarries.push((seen.id, at));
        at
    }

    /// Mines, multiplies and walks.
    fn trade(&self, hand: &mut Hand<'_>, goals: &[Goal], engaged: &[UnitId]) {
        let view = hand.view;
        let count = |kind| {
            let stand = view.mine.iter().filter(|seen| seen.unit.kind == kind).count();
            let coming =
                view.mine.iter().filter(|seen| seen.unit.duplication > 0 && seen.unit.child == Some(kind));
            stand + coming.count()
        };
        let tiles = view.map.cells().filter(|&at| view.is_resource(at)).count();
        let (mut workers, mut melees) = (count(Kind::Worker), count(Kind::Melee));
        let most_melees = match view.rules.duplication {
            Duplication::MeleeItself if view.rules.melee_hp > 1 => 9,
            Duplication::MeleeItself => 12,
            Duplication::WorkersBoth => 16,
        };
        let early = view.turns_left > view.rules.max_rounds / 4;
        for seen in hand.free_units().filter(|seen| !engaged.contains(&seen.id)) {
            let more_workers = early && workers < tiles.min(10) && (melees >= 2 || workers < 4);
            if more_workers && hand.duplicate(seen, Kind::Worker) {
                workers += 1;
                continue;
            }
            if early && melees < most_melees && hand.duplicate(seen, Kind::Melee) {
                melees += 1;
                continue;
            }
            if hand.mine(seen) {
                continue;
            }
            if let Some(goal) = goals.iter().find(|goal| goal.unit == seen.id) {
                hand.walk(seen, &goal.way);
            }
        }
    }
}

/// A board of what is in sight, for trying moves.
struct Fight<'g, 'v, const BLOCKS: usize> {
    game: &'g DeerhuntOf<BLOCKS>,
    view: &'v View<'v>,
    /// The board after the moves so far.
    state: State<BLOCKS>,
    /// The true ids of its units, own units first.
    ids: Vec<UnitId>,
    /// Positions that may still be tried.
    budget: u32,
    /// Whether to ignore that enemies strike back.
    reckless: bool,
}

impl<'g, 'v, const BLOCKS: usize> Fight<'g, 'v, BLOCKS> {
    fn new(game: &'g DeerhuntOf<BLOCKS>, view: &'v View<'v>, budget: u32, reckless: bool) -> Self {
        let mut state = State::empty();
        state.half = u16::from(view.player == Player::Two);
        state.resources[view.player as usize] = view.resources;
        for hub in 0..view.map.hubs().min(view.saturated.len()) {
            state.stock[hub] = if view.saturated[hub] { 0 } else { game.rules.hub_capacity };
        }
        let mut ids = Vec::new();
        for seen in view.mine.iter().chain(&view.theirs) {
            state.add(seen.unit, game.map.cell(seen.unit.at));
            ids.push(seen.id);
        }
        Self { game, view, state, ids, budget, reckless }
    }

    fn nearest_enemy(&self, at: At) -> u16 {
        self.view.theirs.iter().map(|seen| seen.unit.at.distance(at)).min().unwrap_or(u16::MAX)
    }

    /// Whether the unit could exchange blows within this move and the next.
    fn is_near(&self, seen: &Seen) -> bool {
        self.nearest_enemy(seen.unit.at) <= u16::from(self.game.rules.max_steps) + 3
    }

    /// The best a unit could do, as a move of the board; `Some(None)` when that is nothing, `None` when the budget is spent.
    fn best(&mut self, seen: &Seen, goal: Option<&Distances>) -> Option<Option<Move>> {
        let id = self.ids.iter().position(|other| *other == seen.id)? as UnitId;
        let mut options = vec![None];
        options.extend(self.options(id).into_iter().map(Some));
        let mut best: Option<(i32, Option<Move>)> = None;
        for order in options {
            self.budget = self.budget.checked_sub(1)?;
            let Some(worth) = self.worth(id, order.as_ref(), goal) else { continue };
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, order));
            }
        }
        best.map(|(_, order)| order)
    }

    fn options(&self, id: UnitId) -> Vec<Move> {
        let unit = self.state.unit(id);
        let mut options = Vec::new();
        for direction in Direction::ALL {
            options.push(Move::new(id, Verb::Attack, Words::one(direction)));
        }
        options.push(Move::new(id, Verb::Mine, Words::NONE));
        // Every tile within reach, by the first path that leads there.
        let mut reached = vec![unit.at];
        let mut paths = vec![(unit.at, Words::NONE)];
        let mut next = 0;
        while next < paths.len() {
            let (at, path) = paths[next];
            next += 1;
            if path.len() == usize::from(self.game.rules.max_steps) {
                continue;
            }
            for direction in Direction::ALL {
                let to = at.step(direction);
                if !self.game.map.is_wall(to)
                    && !self.state.occupied.contains(self.game.map.cell(to))
                    && !reached.contains(&to)
                {
                    let mut longer = path;
                    longer.push(Some(direction));
                    reached.push(to);
                    paths.push((to, longer));
                    options.push(Move::new(id, Verb::Walk, longer));
                }
            }
        }
        if self.game.rules.stun && unit.kind == Kind::Melee {
            for enemy in &self.view.theirs {
                options.extend(stun(id, unit.at, enemy, self.game.rules.stun_range));
            }
        }
        options
    }

    /// The value of the board after a move and the enemies' blows; `None` when the move is not allowed.
    fn worth(&self, id: UnitId, order: Option<&Move>, goal: Option<&Distances>) -> Option<i32> {
        let mut state = self.state;
        if let Some(order) = order
            && !self.game.try_move(&mut state, order)
        {
            return None;
        }
        let own = self.view.player;
        if !self.reckless {
            self.blows(&mut state, own.other());
        }
        let mut worth = 0;
        for (_, unit) in state.everyone() {
            let value = value(unit);
            worth += if unit.owner == own { value } else { -value };
        }
        // A unit that could be struck in the next half-turn counts as half won.
        let before: i32 = state.army(own.other()).map(|(_, unit)| value(unit)).sum();
        let mut then = state;
        self.blows(&mut then, own);
        let after: i32 = then.army(own.other()).map(|(_, unit)| value(unit)).sum();
        worth += (before - after) / 2;
        worth -= (self.view.resources as i32 - state.resources[own as usize] as i32).min(200) / 2;
        let unit = state.unit(id);
        if unit.hp > 0 && unit.mining > 0 {
            worth += 60;
        }
        if let Some(goal) = goal {
            worth -= 4 * i32::from(goal.of(&self.game.map, unit.at).min(200));
        }
        Some(worth)
    }

    /// Every free unit of a player strikes the most valuable enemy beside it.
    fn blows(&self, state: &mut State<BLOCKS>, player: Player) {
        for id in state.living[player as usize].iter() {
            let unit = *state.unit(id);
            if unit.lock().is_some() {
                continue;
            }
            let target = Direction::ALL
                .into_iter()
                .filter_map(|direction| {
                    let at = unit.at.step(direction);
                    let taken = self.game.map.holds(at) && state.occupied.contains(self.game.map.cell(at));
                    let other = taken.then(|| state.unit_at(at))??;
                    let other = state.unit(other);
                    (other.owner != player).then(|| (value(other), direction))
                })
                .max_by_key(|(value, _)| *value);
            if let Some((_, direction)) = target {
                self.game.try_blow(state, id, direction);
            }
        }
    }

    /// Carries out a move of the board, and adds it to the list under the unit's true id.
    fn carry_out(&mut self, order: &Move, hand: &mut Hand<'_>, seen: &Seen) {
        let id = order.unit.unwrap_or_default();
        if self.game.try_move(&mut self.state, order) {
            hand.shift(seen.unit.at, self.state.unit(id).at);
            hand.purse = self.state.resources[self.view.player as usize].min(hand.purse);
            hand.moves.push(Move { unit: Some(seen.id), ..*order });
        }
    }
}

/// The stun that reaches an enemy, if one does.
fn stun(id: UnitId, from: At, enemy: &Seen, range: u8) -> Option<Move> {
    let At { x, y } = enemy.unit.at;
    let across = if x < from.x { Direction::Left } else { Direction::Right };
    let along = if y < from.y { Direction::Up } else { Direction::Down };
    let far = from.distance(enemy.unit.at) > range.into();
    let words = std::iter::repeat_n(Some(across), x.abs_diff(from.x).into())
        .chain(std::iter::repeat_n(Some(along), y.abs_diff(from.y).into()));
    (!far && enemy.unit.stun <= 0).then(|| Move::new(id, Verb::Stun, words.collect()))
}

/// The value of a unit.
fn value(unit: &Unit) -> i32 {
    match unit.kind {
        Kind::Melee => 100 + 60 * i32::from(unit.hp),
        Kind::Worker => 140,
    }
}

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Carries out one move of the mover by itself and returns whether it was accepted.
    fn try_move(&self, state: &mut State<BLOCKS>, order: &Move) -> bool {
        self.alone(state, order, &mut Ignored).is_ok()
    }

    /// One blow of any unit, in or out of turn.
    fn try_blow(&self, state: &mut State<BLOCKS>, id: UnitId, direction: Direction) {
        let words = Words::one(direction);
        if self.attack_wording(id, state.unit(id).kind, &words).is_ok() {
            let _ = self.attack(state, id, &words, &mut Ignored);
        }
    }
}
