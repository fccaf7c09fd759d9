//! Stunning (2021): a melee takes half-turns from an enemy.

use agon_game::Sink;

use crate::DeerhuntOf;
use crate::event::Event;
use crate::orders::{Reason, Verb, Words};
use crate::state::{At, Kind, State, Stun, UnitId};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// DH-STUN-1: melees stun, with a limited number of words.
    pub(crate) fn stun_wording(&self, id: UnitId, kind: Kind, words: &Words) -> Result<(), Reason> {
        if kind != Kind::Melee {
            return Err(Reason::WrongKind(id, kind, Verb::Stun));
        }
        if words.len() > usize::from(self.rules.stun_range) {
            return Err(Reason::WordCount(id, Verb::Stun, "as many words as it reaches tiles, or fewer"));
        }
        Ok(())
    }

    /// DH-STUN-2: the price; an own unit is spared and costs nothing. DH-STUN-3: the length.
    pub(crate) fn stun(
        &self,
        state: &mut State<BLOCKS>,
        id: UnitId,
        words: &Words,
        out: &mut impl Sink<Self>,
    ) -> Result<(), Reason> {
        let stunner = *state.unit(id);
        let have = state.resources[stunner.owner as usize];
        if have < self.rules.stun_cost {
            return Err(Reason::CannotPayStun(id, self.rules.stun_cost, have));
        }
        let target = self.pointed_at(state, stunner.at, words).ok_or(Reason::NobodyToStun(id))?;
        if state.unit(target).owner == stunner.owner {
            return Ok(());
        }
        state.resources[stunner.owner as usize] -= self.rules.stun_cost;
        state.unit_mut(target).stun = self.rules.stun_length.into();
        if self.rules.compat_stun_registry {
            self.register(state, Stun { by: id, victim: target });
        }
        out.event(Event::Stunned { unit: id, target });
        Ok(())
    }

    /// DH-STUN-1: the unit where the words lead, across walls and units. A word that is no
    /// direction leads nowhere.
    fn pointed_at(&self, state: &State<BLOCKS>, from: At, words: &Words) -> Option<UnitId> {
        let at = words.iter().flatten().fold(from, At::step);
        (self.map.holds(at) && state.occupied.contains(self.map.cell(at))).then(|| state.unit_at(at))?
    }

    /// DH-STUN-4: the registry of the event of 2021 has one place for each stunner. A stunner that stuns again
    /// before its first stun ran out takes the place from its first victim, whose count then stops for ever.
    fn register(&self, state: &mut State<BLOCKS>, stun: Stun) {
        match state.stuns.as_mut_slice().iter_mut().find(|old| old.by == stun.by) {
            Some(old) => *old = stun,
            None => state.stuns.push(stun),
        }
    }
}
