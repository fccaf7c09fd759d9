//! Walking: words that are steps.

use agon_game::Sink;

use crate::DeerhuntOf;
use crate::event::Event;
use crate::orders::{Obstacle, Reason, Words};
use crate::state::{State, UnitId};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// DH-MOVE-2: limits the number of steps.
    pub(crate) fn walk_wording(&self, id: UnitId, words: &Words) -> Result<(), Reason> {
        if words.len() > usize::from(self.rules.max_steps) {
            return Err(Reason::TooManySteps(id, self.rules.max_steps));
        }
        if words.iter().any(|word| word.is_none()) {
            return Err(Reason::UnknownWord(id));
        }
        Ok(())
    }

    /// DH-MOVE-1: walks step by step; each must enter a tile without wall or unit, or the unit stays where
    /// it was. It occupies its own tile until it has arrived. DH-MOVE-3: a walk without steps is a rest.
    pub(crate) fn walk(
        &self,
        state: &mut State<BLOCKS>,
        id: UnitId,
        words: &Words,
        out: &mut impl Sink<Self>,
    ) -> Result<(), Reason> {
        let from = state.unit(id).at;
        let mut at = from;
        for direction in words.iter().flatten() {
            at = at.step(direction);
            if self.map.is_wall(at) {
                return Err(Reason::Blocked(id, at, Obstacle::Wall));
            }
            if state.occupied.contains(self.map.cell(at)) {
                let by = if at == from { Obstacle::Itself } else { Obstacle::Unit };
                return Err(Reason::Blocked(id, at, by));
            }
        }
        if at != from {
            state.relocate(id, at, self.map.cell(from), self.map.cell(at));
            out.event(Event::Moved { unit: id, from, to: at });
        }
        Ok(())
    }
}
