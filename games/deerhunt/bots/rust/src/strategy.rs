//! Workers mine, everybody hits adjacent enemies, melees hold the centre.
//! `agon rules deerhunt` shows the rules; what a state holds is in game.rs.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::game::{Kind, Move, State, Unit};

/// x and y.
type Place = (i32, i32);

const STEPS: [(&str, Place); 4] = [("UP", (0, -1)), ("DOWN", (0, 1)), ("LEFT", (-1, 0)), ("RIGHT", (1, 0))];

/// The moves of this half-turn, at most one for each unit.
pub fn decide(state: &State) -> Vec<Move> {
    let units = state.mine.iter().chain(&state.theirs);
    let mut taken: HashSet<Place> = units.map(|unit| (unit.x, unit.y)).collect();
    // Health of the enemies, minus our hits so far.
    let enemies = state.theirs.iter().map(|unit| ((unit.x, unit.y), unit.health.unwrap_or(1)));
    let mut health: HashMap<Place, i32> = enemies.collect();
    let middle = (state.map.first().map_or(0, Vec::len) as i32 / 2, state.map.len() as i32 / 2);
    let is_resource = |at: Place| state.tile(at) == 'R';
    let is_centre = |at: Place| (at.0 - middle.0).abs() + (at.1 - middle.1).abs() <= 2;

    let mut moves = Vec::new();
    for unit in state.mine.iter().filter(|unit| unit.busy == 0) {
        let here = (unit.x, unit.y);
        let words = match unit.kind {
            _ if can_attack(unit) && target(here, &health).is_some() => {
                let (word, at) = target(here, &health).expect("seen");
                *health.entry(at).or_default() -= 1;
                vec!["ATTACK", word]
            }
            Kind::Worker if is_resource(here) => vec!["MINE"],
            Kind::Melee if is_centre(here) => continue,
            _ => {
                let is_free = |at: Place| state.tile(at) != 'X' && !taken.contains(&at);
                let step = match unit.kind {
                    Kind::Worker => step_towards(here, is_resource, is_free),
                    Kind::Melee => step_towards(here, is_centre, is_free),
                };
                let Some((word, to)) = step else { continue };
                taken.remove(&here);
                taken.insert(to);
                vec![word]
            }
        };
        moves.push(Move { unit: unit.id, words });
    }
    moves
}

/// Under the document's rules, whose units have health, only melees can attack.
fn can_attack(unit: &Unit) -> bool {
    unit.kind == Kind::Melee || unit.health.is_none()
}

/// Where an enemy stands beside a place that has health left, and in what direction.
fn target(here: Place, health: &HashMap<Place, i32>) -> Option<(&'static str, Place)> {
    let beside = STEPS.iter().map(|&(word, step)| (word, plus(here, step)));
    beside.into_iter().find(|(_, at)| health.get(at).is_some_and(|&left| left > 0))
}

/// The first step of a shortest way to one of the goals, around walls and units; none if there is no way.
fn step_towards(
    from: Place,
    is_goal: impl Fn(Place) -> bool,
    is_free: impl Fn(Place) -> bool,
) -> Option<(&'static str, Place)> {
    let mut seen = HashSet::from([from]);
    let mut open = VecDeque::from([(from, None)]);
    while let Some((at, first)) = open.pop_front() {
        for (word, step) in STEPS {
            let to = plus(at, step);
            if !is_free(to) || !seen.insert(to) {
                continue;
            }
            let first = first.unwrap_or((word, to));
            if is_goal(to) {
                return Some(first);
            }
            open.push_back((to, Some(first)));
        }
    }
    None
}

fn plus(at: Place, step: Place) -> Place {
    (at.0 + step.0, at.1 + step.1)
}
