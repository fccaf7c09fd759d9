//! Mining, and hubs that run dry.

use agon_game::Sink;

use crate::DeerhuntOf;
use crate::event::Event;
use crate::orders::{Reason, Verb, Words};
use crate::state::{At, Kind, State, UnitId};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// DH-MINE-1: workers mine. DH-MINE-4: in at most one direction, if directions count at all.
    pub(crate) fn mine_wording(&self, id: UnitId, kind: Kind, words: &Words) -> Result<(), Reason> {
        if kind != Kind::Worker {
            return Err(Reason::WrongKind(id, kind, Verb::Mine));
        }
        if self.rules.mine_direction && !words.is_empty() && words.only().is_none() {
            return Err(Reason::WordCount(id, Verb::Mine, "one direction or none"));
        }
        Ok(())
    }

    /// DH-MINE-1: a worker on a hub begins to mine it. DH-MINE-2: it is locked until that pays.
    pub(crate) fn mine(
        &self,
        state: &mut State<BLOCKS>,
        id: UnitId,
        words: &Words,
        out: &mut impl Sink<Self>,
    ) -> Result<(), Reason> {
        let at = state.unit(id).at;
        let hub = self.hub_for(state, at, words).ok_or(Reason::NoHub(id))?;
        let unit = state.unit_mut(id);
        unit.mining = self.rules.mining_time;
        unit.hub = hub;
        state.working.push(id);
        out.event(Event::MiningBegan { unit: id });
        Ok(())
    }

    /// DH-MINE-4: the hub beside the worker in the named direction, else the one under it.
    fn hub_for(&self, state: &State<BLOCKS>, at: At, words: &Words) -> Option<u8> {
        let named = words.only().filter(|_| self.rules.mine_direction);
        named.and_then(|direction| self.hub_at(state, at.step(direction))).or_else(|| self.hub_at(state, at))
    }

    /// The hub on a tile, by number; `None` when it is saturated (DH-MINE-3).
    #[inline]
    pub fn hub_at(&self, state: &State<BLOCKS>, at: At) -> Option<u8> {
        self.map.hub(at).filter(|&hub| !self.is_saturated(state, hub))
    }

    /// DH-MINE-3: whether a hub has run dry.
    #[inline]
    pub fn is_saturated(&self, state: &State<BLOCKS>, hub: u8) -> bool {
        self.rules.hub_capacity > 0 && state.stock[usize::from(hub)] == 0
    }

    /// DH-MINE-2: the time has come: the owner is paid. DH-MINE-3: out of what is left in the hub.
    pub(crate) fn pay(&self, state: &mut State<BLOCKS>, miner: UnitId, out: &mut impl Sink<Self>) {
        let unit = *state.unit(miner);
        let mut paid = self.rules.mining_yield;
        if self.rules.hub_capacity > 0 {
            let stock = &mut state.stock[usize::from(unit.hub)];
            paid = paid.min(u32::from(*stock));
            *stock -= paid as u16;
        }
        let owned = &mut state.resources[unit.owner as usize];
        *owned = owned.saturating_add(paid);
        out.event(Event::Mined { unit: miner, owner: unit.owner, amount: paid });
        if paid > 0 && self.is_saturated(state, unit.hub) {
            out.event(Event::HubSaturated { hub: unit.hub });
        }
    }
}
