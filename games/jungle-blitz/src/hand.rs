//! Play choice by choice: an action for a unit.

use agon_game::{Ignored, Seat, Seeded};
use serde::{Deserialize, Serialize};

use crate::JungleBlitz;
use crate::arena::{Cell, Direction};
use crate::orders::{Action, Command, Entry, Flaw};
use crate::search::Search;
use crate::state::{State, UnitIndex};
use crate::turn::{Turn, forget_marks};
use crate::view::View;

/// See [`agon_game::Hand`].
pub enum Hand {}

/// An action for a unit, by its id on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The unit, from 1 over all teams.
    pub unit: u8,
    /// What it is to do.
    #[serde(rename = "do")]
    pub verb: Verb,
    /// The target, for verbs that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<[u8; 2]>,
}

/// An action without its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "as in `Action`")]
pub enum Verb {
    Stay,
    Summon,
    Spawn,
    Move,
    Drop,
    Vine,
    Attack,
}

impl Choice {
    fn new(game: &JungleBlitz, unit: UnitIndex, action: Action) -> Self {
        let (verb, cell) = match action {
            Action::None => (Verb::Stay, None),
            Action::Summon => (Verb::Summon, None),
            Action::Spawn(cell) => (Verb::Spawn, Some(cell)),
            Action::Move(cell) => (Verb::Move, Some(cell)),
            Action::Drop(cell) => (Verb::Drop, Some(cell)),
            Action::Vine(cell) => (Verb::Vine, Some(cell)),
            Action::Attack(cell) => (Verb::Attack, Some(cell)),
        };
        let at = cell.and_then(|cell| game.arena.point(cell)).map(|point| [point.x, point.y]);
        Self { unit: unit + 1, verb, at }
    }

    fn action(&self, game: &JungleBlitz) -> Action {
        let cell = self.at.map_or(Cell::NOWHERE, |[x, y]| game.arena.cell_at(x.into(), y.into()));
        match self.verb {
            Verb::Stay => Action::None,
            Verb::Summon => Action::Summon,
            Verb::Spawn => Action::Spawn(cell),
            Verb::Move => Action::Move(cell),
            Verb::Drop => Action::Drop(cell),
            Verb::Vine => Action::Vine(cell),
            Verb::Attack => Action::Attack(cell),
        }
    }

    fn entry(&self, game: &JungleBlitz, seat: Seat) -> Entry {
        let first = game.first_unit(seat.index());
        match self.unit.checked_sub(first + 1).filter(|&unit| unit < game.units_per_team) {
            Some(unit) => Entry::Unit { unit, action: self.action(game) },
            None => Entry::Flawed(Flaw::NotYours),
        }
    }
}

impl agon_game::Hand<JungleBlitz> for Hand {
    type Choice = Choice;

    fn seen(_: &JungleBlitz, view: &View<'_>) -> State {
        view.as_state()
    }

    /// Actions for a unit without one that the rules carry out and that change something: MOVE to every tile that a
    /// path leads to, the others where they take effect.
    fn choices(game: &JungleBlitz, seat: Seat, seen: &State, chosen: &[Choice]) -> Vec<Choice> {
        let (mut state, mut search, mut chance) = (*seen, Search::default(), Seeded::stream(0, "hand"));
        let mut acted = 0;
        forget_marks(game, &mut state);
        let mut carry_out = |state: &mut State, acted: &mut u16, unit, action| {
            let (search, chance) = (&mut search, &mut chance);
            Turn { game, state, search, chance, out: &mut Ignored }.entry(unit, action, acted).is_ok()
        };
        for choice in chosen {
            if let Entry::Unit { unit, action } = choice.entry(game, seat) {
                carry_out(&mut state, &mut acted, game.first_unit(seat.index()) + unit, action);
            }
        }
        let first = game.first_unit(seat.index());
        let mut found = Vec::new();
        for unit in (first..first + game.units_per_team).filter(|unit| acted >> unit & 1 == 0) {
            for action in candidates(game, &state, unit) {
                let (mut copy, mut acted) = (state, acted);
                if carry_out(&mut copy, &mut acted, unit, action) && copy != state {
                    found.push(Choice::new(game, unit, action));
                }
            }
        }
        found
    }

    fn order(game: &JungleBlitz, seat: Seat, _: &State, chosen: &[Choice]) -> Command {
        Command { entries: chosen.iter().map(|choice| choice.entry(game, seat)).collect() }
    }

    fn chosen(game: &JungleBlitz, seat: Seat, order: &Command) -> Vec<Choice> {
        let choice = |entry: &Entry| match *entry {
            Entry::Unit { unit, action } => {
                Some(Choice::new(game, game.first_unit(seat.index()) + unit, action))
            }
            Entry::Flawed(_) => None,
        };
        order.entries.iter().filter_map(choice).collect()
    }
}

/// Candidate actions for a unit.
fn candidates(game: &JungleBlitz, state: &State, unit: UnitIndex) -> Vec<Action> {
    let (arena, own) = (&game.arena, state.unit(unit));
    if !own.alive() {
        return arena.spawns().iter().map(|&cell| Action::Spawn(cell)).collect();
    }
    let around = Direction::ALL.map(|way| arena.neighbour(own.cell, way));
    let around = around.into_iter().filter(|&cell| arena.point(cell).is_some());
    let others = state.units.iter().map(|unit| unit.cell).filter(|&cell| cell != Cell::NOWHERE);
    let mut all = vec![Action::None, Action::Summon];
    all.extend(around.flat_map(|cell| [Action::Drop(cell), Action::Attack(cell)]));
    all.extend(others.map(Action::Vine));
    all.extend(arena.cells().map(Action::Move));
    all
}
