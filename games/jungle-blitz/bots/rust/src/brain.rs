//! A small raider: attack adjacent enemies, fetch diamonds, and drop them as soon as they are worth something.
//! `agon rules jungle-blitz` shows the rules; what a tick holds is in game.rs.

use std::collections::HashSet;

use crate::game::{Action, Diamond, Position, Tick, Tile, Unit};

const WORTH_DROPPING: i32 = 12;
const HIGHEST: i32 = 2;

/// The actions of this tick, at most one for each unit.
pub fn decide(tick: &Tick) -> Vec<Action> {
    let taken: HashSet<Position> = tick.units().filter_map(|unit| unit.position).collect();
    let mut free: Vec<&Diamond> = tick.diamonds.iter().filter(|diamond| diamond.owner_id.is_none()).collect();
    let enemies: Vec<&Unit> = tick.units().filter(|unit| unit.team_id != tick.team_id).collect();
    let is_open = |at: Position| tick.tile(at) == Tile::Empty;
    let free_beside = |at: Position| at.neighbours().into_iter().find(|&beside| is_open(beside) && !taken.contains(&beside));

    let mut actions = Vec::new();
    for unit in &tick.me().units {
        let Some(here) = unit.position else {
            actions.push(spawn(unit, actions.len(), tick, &free));
            continue;
        };
        if let Some(held) = tick.diamonds.iter().find(|diamond| diamond.owner_id.as_ref() == Some(&unit.id)) {
            actions.push(hold(unit, held, tick, free_beside(here)));
            continue;
        }
        // Nobody can attack, or be attacked, on a spawn tile.
        let reach = |enemy: &&&Unit| enemy.position.is_some_and(|at| at.distance(here) == 1 && is_open(at));
        if let Some(enemy) = enemies.iter().find(reach).filter(|_| is_open(here)) {
            actions.push(unit.act("ATTACK", enemy.position));
            continue;
        }
        if let Some(nearest) = (0..free.len()).min_by_key(|&index| here.distance(free[index].position)) {
            actions.push(unit.act("MOVE", Some(free.remove(nearest).position)));
            continue;
        }
        // A unit cannot walk onto another: go next to an enemy that holds a diamond, not onto it.
        let holders = enemies.iter().filter(|enemy| enemy.diamond_id.is_some()).filter_map(|enemy| enemy.position);
        match holders.min_by_key(|at| here.distance(*at)).and_then(free_beside) {
            Some(goal) => actions.push(unit.act("MOVE", Some(goal))),
            None => actions.push(unit.act("NONE", None)),
        }
    }
    actions
}

/// With a diamond in hand; `beside` is where it can be dropped.
fn hold(unit: &Unit, diamond: &Diamond, tick: &Tick, beside: Option<Position>) -> Action {
    let is_last = tick.number >= tick.total - 1;
    if beside.is_some() && !unit.is_summoning && (is_last || diamond.points >= WORTH_DROPPING) {
        return unit.act("DROP", beside);
    }
    let raise = diamond.level < HIGHEST && !unit.is_summoning;
    unit.act(if raise { "SUMMON" } else { "NONE" }, None)
}

/// The spawn tile nearest to a diamond. Units take different diamonds.
fn spawn(unit: &Unit, index: usize, tick: &Tick, diamonds: &[&Diamond]) -> Action {
    let goal = diamonds.get(index % diamonds.len().max(1)).map_or(Position { x: 0, y: 0 }, |diamond| diamond.position);
    match tick.spawns().into_iter().min_by_key(|at| at.distance(goal)) {
        Some(tile) => unit.act("SPAWN", Some(tile)),
        None => unit.act("NONE", None),
    }
}
