//! What a team sees.

use std::fmt;

use agon_game::{Chance, Seat};

use crate::JungleBlitz;
use crate::arena::Cell;
use crate::rules::MAX_TEAMS;
use crate::state::{Diamond, State, Unit, UnitIndex};

/// What a team sees: everything on the board, including all stored paths (JB-WIRE-3). The progress of a summon and
/// the number of units a team lost are hidden; they are not on the wire either.
#[derive(Clone, Copy)]
pub struct View<'a> {
    game: &'a JungleBlitz,
    state: &'a State,
    /// The seat that looks.
    pub seat: Seat,
}

impl<'a> View<'a> {
    /// The view of `seat`.
    pub(crate) fn new(game: &'a JungleBlitz, state: &'a State, seat: Seat) -> Self {
        Self { game, state, seat }
    }

    /// The tick to be answered.
    pub fn tick(&self) -> u16 {
        self.state.tick
    }

    /// The score of a team.
    pub fn score(&self, team: usize) -> u32 {
        self.state.scores[team]
    }

    /// Whether a team's connection is gone.
    pub fn is_dead(&self, team: usize) -> bool {
        self.state.is_dead(team)
    }

    /// A unit; while it summons, [`Unit::summoning`] is 1 whatever its progress.
    pub fn unit(&self, index: UnitIndex) -> Unit {
        let unit = *self.state.unit(index);
        Unit { summoning: unit.summoning.min(1), ..unit }
    }

    /// All units, team by team.
    pub fn units(&self) -> impl Iterator<Item = (UnitIndex, Unit)> + '_ {
        (0..self.game.unit_count()).map(|index| (index, self.unit(index)))
    }

    /// The stored path of a unit, the next tile first.
    pub fn path(&self, index: UnitIndex) -> impl Iterator<Item = Cell> + '_ {
        self.state.path(&self.game.arena, index)
    }

    /// All diamonds in the order of the map.
    pub fn diamonds(&self) -> &'a [Diamond] {
        &self.state.diamonds[..self.game.arena.diamonds().len()]
    }

    /// The play order of the coming ticks, this one first, as far ahead as it is told to teams (JB-ORDER-3).
    pub fn play_orders(&self) -> impl Iterator<Item = (u16, &'a [u8])> + '_ {
        let rules = &self.game.rules;
        let last = self.state.tick.saturating_add(rules.play_order_look_ahead).min(rules.total_tick);
        (self.state.tick..last).map(|tick| (tick, self.game.play_order(tick)))
    }

    /// The state as far as it can be seen, for bots that plan with the engine: every summon appears just begun, no unit ever lost.
    pub fn as_state(&self) -> State {
        let mut state = *self.state;
        state.deaths = [0; MAX_TEAMS];
        state.units.iter_mut().for_each(|unit| unit.summoning = unit.summoning.min(1));
        state
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("View").field(&self.seat).field(&self.as_state()).finish()
    }
}

/// Changes what a team cannot see.
pub(crate) fn scramble_hidden(state: &mut State, chance: &mut impl Chance) {
    state.deaths.iter_mut().for_each(|deaths| *deaths = chance.below(1_000) as u16);
    for at in 0..state.units.len() {
        if let (Some(diamond), 1..) = (state.units[at].diamond(), state.units[at].summoning) {
            let level = u32::from(state.diamonds[usize::from(diamond)].level);
            state.units[at].summoning = 1 + chance.below(level + 1) as u8;
        }
    }
}
