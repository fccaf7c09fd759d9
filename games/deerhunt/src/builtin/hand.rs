//! What the bots share: a list under construction that knows which tiles are taken.

use std::collections::VecDeque;

use crate::map::{CellSet, Map};
use crate::orders::{Move, Moves, Verb, Words};
use crate::rules::{Attackers, Duplication};
use crate::state::{At, Direction, Kind};
use crate::view::{Seen, View};

/// Steps from every tile to the nearest target, around walls, ignoring units.
pub struct Distances(Vec<u16>);

impl Distances {
    /// The distance of an unreachable tile.
    pub const FAR: u16 = u16::MAX;

    /// Searches from the targets outwards.
    pub fn to(map: &Map, targets: impl IntoIterator<Item = At>) -> Self {
        let mut steps = vec![Self::FAR; usize::from(map.width()) * usize::from(map.height())];
        let mut open = VecDeque::new();
        for at in targets {
            if !map.is_wall(at) && steps[map.cell(at)] == Self::FAR {
                steps[map.cell(at)] = 0;
                open.push_back(at);
            }
        }
        while let Some(at) = open.pop_front() {
            for next in Direction::ALL.map(|direction| at.step(direction)) {
                if !map.is_wall(next) && steps[map.cell(next)] == Self::FAR {
                    steps[map.cell(next)] = steps[map.cell(at)] + 1;
                    open.push_back(next);
                }
            }
        }
        Self(steps)
    }

    /// Steps from a tile of the map.
    pub fn of(&self, map: &Map, at: At) -> u16 {
        if map.holds(at) { self.0[map.cell(at)] } else { Self::FAR }
    }
}

/// A list under construction.
pub struct Hand<'v> {
    /// What is seen.
    pub view: &'v View<'v>,
    /// The moves so far.
    pub moves: Moves,
    /// Resources left to spend.
    pub purse: u32,
    /// Tiles taken by units in sight, after the moves so far.
    taken: CellSet,
}

impl<'v> Hand<'v> {
    /// An empty list.
    pub fn new(view: &'v View<'v>) -> Self {
        let mut taken = CellSet::default();
        for seen in view.mine.iter().chain(&view.theirs) {
            taken.insert(view.map.cell(seen.unit.at));
        }
        Self { view, moves: Moves::new(), purse: view.resources, taken }
    }

    /// Whether a unit could step there.
    pub fn is_free(&self, at: At) -> bool {
        !self.view.map.is_wall(at) && !self.taken.contains(self.view.map.cell(at))
    }

    /// Keeps a tile free of own units.
    pub fn reserve(&mut self, at: At) {
        if self.view.map.holds(at) {
            self.taken.insert(self.view.map.cell(at));
        }
    }

    /// Notes that a unit went from one tile to another.
    pub fn shift(&mut self, from: At, to: At) {
        self.taken.remove(self.view.map.cell(from));
        self.taken.insert(self.view.map.cell(to));
    }

    /// Own units that can act.
    pub fn free_units(&self) -> impl Iterator<Item = &'v Seen> + use<'v> {
        self.view.mine.iter().filter(|seen| seen.unit.lock().is_none())
    }

    /// Whether units of a kind can attack.
    pub fn fights(&self, kind: Kind) -> bool {
        kind == Kind::Melee || self.view.rules.attackers == Attackers::Any
    }

    /// Attacks the neighbour with the least health.
    pub fn attack(&mut self, seen: &Seen) -> bool {
        if !self.fights(seen.unit.kind) {
            return false;
        }
        let beside = |direction: Direction| {
            let at = seen.unit.at.step(direction);
            self.view.theirs.iter().find(|enemy| enemy.unit.at == at).map(|enemy| (enemy.unit.hp, direction))
        };
        let best = Direction::ALL.into_iter().filter_map(beside).min_by_key(|(hp, _)| *hp);
        if let Some((_, direction)) = best {
            self.moves.push(Move::new(seen.id, Verb::Attack, Words::one(direction)));
        }
        best.is_some()
    }

    /// Begins to mine, if the worker stands on a resource.
    pub fn mine(&mut self, seen: &Seen) -> bool {
        let can = seen.unit.kind == Kind::Worker && self.view.is_resource(seen.unit.at);
        if can {
            self.moves.push(Move::new(seen.id, Verb::Mine, Words::NONE));
        }
        can
    }

    /// Begins a child, if the rules, the purse and the neighbourhood allow it.
    pub fn duplicate(&mut self, seen: &Seen, child: Kind) -> bool {
        let rules = self.view.rules;
        let verb = match (rules.duplication, seen.unit.kind, child) {
            (Duplication::MeleeItself, Kind::Melee, Kind::Melee) => Verb::Duplicate,
            (Duplication::WorkersBoth, Kind::Worker, Kind::Melee) => Verb::DuplicateMelee,
            (Duplication::WorkersBoth, Kind::Worker, Kind::Worker) => Verb::DuplicateWorker,
            _ => return false,
        };
        let cost = if child == Kind::Melee { rules.melee_cost } else { rules.worker_cost };
        let place = Direction::ALL.into_iter().find(|&direction| {
            let at = seen.unit.at.step(direction);
            self.is_free(at) && !self.view.is_resource(at)
        });
        let Some(direction) = place.filter(|_| cost <= self.purse) else { return false };
        self.purse -= cost;
        self.reserve(seen.unit.at.step(direction));
        self.moves.push(Move::new(seen.id, verb, Words::one(direction)));
        true
    }

    /// Walks towards the targets of `distances`, as far as one move goes.
    pub fn walk(&mut self, seen: &Seen, distances: &Distances) -> bool {
        let map = self.view.map;
        let mut words = Words::NONE;
        let mut at = seen.unit.at;
        while words.len() < usize::from(self.view.rules.max_steps) {
            let here = distances.of(map, at);
            let next = Direction::ALL
                .into_iter()
                .filter(|&direction| self.is_free(at.step(direction)))
                .min_by_key(|&direction| distances.of(map, at.step(direction)))
                .filter(|&direction| distances.of(map, at.step(direction)) < here);
            let Some(direction) = next else { break };
            words.push(Some(direction));
            at = at.step(direction);
        }
        if !words.is_empty() {
            self.shift(seen.unit.at, at);
            self.moves.push(Move::new(seen.id, Verb::Walk, words));
        }
        !words.is_empty()
    }

    /// Assigns a resource tile to each free worker: nearest pairs first, and no tile twice. Tiles
    /// occupied by other units are left out.
    pub fn assign_resources(&self) -> Vec<(&'v Seen, Distances)> {
        let map = self.view.map;
        let workers: Vec<&Seen> = self.free_units().filter(|seen| seen.unit.kind == Kind::Worker).collect();
        let open: Vec<At> = map
            .cells()
            .filter(|&at| self.view.is_resource(at))
            .filter(|&at| {
                !self.view.mine.iter().any(|seen| seen.unit.at == at && seen.unit.lock().is_some())
                    && !self.view.theirs.iter().any(|seen| seen.unit.at == at)
            })
            .collect();
        let mut pairs = Vec::new();
        for (tile, &at) in open.iter().enumerate() {
            let distances = Distances::to(map, [at]);
            for (index, worker) in workers.iter().enumerate() {
                let steps = distances.of(map, worker.unit.at);
                if steps < Distances::FAR {
                    pairs.push((steps, index, tile));
                }
            }
        }
        pairs.sort_unstable();
        let (mut placed, mut used) = (vec![false; workers.len()], vec![false; open.len()]);
        let mut assigned = Vec::new();
        for (_, worker, tile) in pairs {
            if !placed[worker] && !used[tile] {
                (placed[worker], used[tile]) = (true, true);
                assigned.push((workers[worker], Distances::to(map, [open[tile]])));
            }
        }
        assigned
    }
}
