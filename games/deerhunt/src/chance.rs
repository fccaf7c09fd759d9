//! Random orders, for benchmarks and property tests, and random changes to what a player cannot see.

use agon_game::Chance;

use crate::DeerhuntOf;
use crate::orders::{Move, Moves, Verb, Words};
use crate::rules::{Attackers, Duplication};
use crate::state::{At, Direction, Kind, State, Unit, UnitId};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Each free unit of the mover attacks a neighbour, mines, duplicates or walks. Almost every move
    /// is well formed, so lists are seldom void; the board forbids some.
    pub(crate) fn random_moves(&self, state: &State<BLOCKS>, chance: &mut impl Chance) -> Moves {
        let army = &state.living[state.mover() as usize];
        let mut moves = Vec::with_capacity(army.len());
        for id in army.iter() {
            let unit = state.unit(id);
            if unit.lock().is_none() {
                moves.push(self.random_move(state, id, unit, chance));
            }
        }
        if chance.happens(1, 64) {
            self.spoil(&mut moves, chance);
        }
        moves
    }

    fn random_move(&self, state: &State<BLOCKS>, id: UnitId, unit: &Unit, chance: &mut impl Chance) -> Move {
        let draw = chance.below(64);
        let direction = Direction::ALL[(draw % 4) as usize];
        let to = |verb| Move::new(id, verb, Words::one(direction));
        let wealth = state.resources[unit.owner as usize];
        if unit.kind == Kind::Worker && draw >= 16 && self.hub_at(state, unit.at).is_some() {
            return Move::new(id, Verb::Mine, Words::NONE);
        }
        if (unit.kind == Kind::Melee || self.rules.attackers == Attackers::Any)
            && let Some(enemy) = self.enemy_beside(state, unit)
            && draw >= 16
        {
            return Move::new(id, Verb::Attack, Words::one(enemy));
        }
        match (self.rules.duplication, unit.kind) {
            (Duplication::MeleeItself, Kind::Melee) if draw < 32 && wealth >= self.rules.melee_cost => {
                return to(Verb::Duplicate);
            }
            (Duplication::WorkersBoth, Kind::Worker) if draw < 16 && wealth >= self.rules.worker_cost => {
                return to(Verb::DuplicateWorker);
            }
            (Duplication::WorkersBoth, Kind::Worker) if draw < 32 && wealth >= self.rules.melee_cost => {
                return to(Verb::DuplicateMelee);
            }
            (Duplication::WorkersBoth, Kind::Melee) if draw < 32 && wealth >= self.rules.stun_cost => {
                return to(Verb::Stun);
            }
            _ => {}
        }
        let mut steps = Words::one(direction);
        if self.rules.max_steps > 1 && draw >= 48 {
            steps.push(Some(direction));
        }
        Move::new(id, Verb::Walk, steps)
    }

    /// The direction of an enemy on a neighbouring tile.
    fn enemy_beside(&self, state: &State<BLOCKS>, unit: &Unit) -> Option<Direction> {
        Direction::ALL.into_iter().find(|&direction| {
            let at = unit.at.step(direction);
            self.map.holds(at)
                && state.occupied.contains(self.map.cell(at))
                && state.unit_at(at).is_some_and(|other| state.unit(other).owner != unit.owner)
        })
    }

    /// Puts one mistake into a list.
    fn spoil(&self, moves: &mut Moves, chance: &mut impl Chance) {
        let Some(&first) = moves.first() else { return };
        moves.push(match chance.below(4) {
            0 => first,
            1 => Move { unit: None, ..first },
            2 => Move { words: (0..9).map(|_| None).collect(), ..first },
            _ => Move { verb: Verb::ALL[chance.below(7) as usize], ..first },
        });
    }

    /// Moves, wounds and occupies the enemies that `seat` does not see, and changes the wealth and
    /// the stocks it is not told.
    pub(crate) fn scramble(
        &self,
        state: &mut State<BLOCKS>,
        seat: agon_game::Seat,
        chance: &mut impl Chance,
    ) {
        let player = crate::state::Player::of(seat);
        let sight = self.sight(state, player);
        let told = self.view_of(state, player).their_resources.is_some();
        let hidden: Vec<UnitId> = state
            .army(player.other())
            .filter(|(_, unit)| !sight.contains(self.map.cell(unit.at)))
            .map(|(id, _)| id)
            .collect();
        let last = hidden.len();
        for (index, id) in hidden.into_iter().enumerate() {
            let from = state.unit(id).at;
            let to = At::new(
                chance.below(self.map.width().into()) as u8,
                chance.below(self.map.height().into()) as u8,
            );
            let cell = self.map.cell(to);
            if !self.map.is_wall(to) && !sight.contains(cell) && !state.occupied.contains(cell) {
                state.relocate(id, to, self.map.cell(from), cell);
            }
            let unit = state.unit_mut(id);
            unit.hp = 1 + chance.below(9) as u8;
            unit.stun = chance.below(3) as i16;
            if unit.mining > 0 {
                unit.mining = 1 + chance.below(5) as u8;
            }
            if chance.happens(1, 2) {
                unit.kind = if unit.kind == Kind::Worker { Kind::Melee } else { Kind::Worker };
            }
            // Some are removed altogether; one stays, so that the match goes on.
            if index + 1 < last && chance.happens(1, 8) {
                let at = unit.at;
                state.remove(id, self.map.cell(at));
            }
        }
        if !told {
            state.resources[player.other() as usize] = chance.below(1_000);
        }
        if self.rules.hub_capacity > 0 {
            for left in state.stock.iter_mut().filter(|left| **left > 0) {
                *left = 1 + chance.below(self.rules.hub_capacity.into()) as u16;
            }
        }
        for id in (0..state.made).filter(|&id| state.unit(id).hp == 0).collect::<Vec<_>>() {
            state.unit_mut(id).at = At::new(1, chance.below(self.map.height().into()) as u8);
        }
    }
}
