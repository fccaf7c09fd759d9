//! Duplication: a unit makes another one beside it.

use agon_game::Sink;

use crate::DeerhuntOf;
use crate::event::Event;
use crate::orders::{Reason, Verb, Words};
use crate::rules::Duplication;
use crate::state::{At, Kind, State, Unit, UnitId};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// DH-DUP-1: who duplicates, and in exactly one direction.
    pub(crate) fn duplicate_wording(
        &self,
        id: UnitId,
        kind: Kind,
        verb: Verb,
        words: &Words,
    ) -> Result<(), Reason> {
        let parent = match self.rules.duplication {
            Duplication::MeleeItself => Kind::Melee,
            Duplication::WorkersBoth => Kind::Worker,
        };
        if kind != parent {
            return Err(Reason::WrongKind(id, kind, verb));
        }
        match words.only() {
            Some(_) => Ok(()),
            None => Err(Reason::WordCount(id, verb, "exactly one direction")),
        }
    }

    /// DH-DUP-2: the price is paid with the order. DH-DUP-3: the parent is locked until the child
    /// appears.
    pub(crate) fn duplicate(
        &self,
        state: &mut State<BLOCKS>,
        id: UnitId,
        verb: Verb,
        words: &Words,
        out: &mut impl Sink<Self>,
    ) -> Result<(), Reason> {
        let child = if verb == Verb::DuplicateWorker { Kind::Worker } else { Kind::Melee };
        let direction = words.only().expect("the wording was checked");
        let parent = *state.unit(id);
        let (cost, have) = (self.cost(child), state.resources[parent.owner as usize]);
        if cost > have {
            return Err(Reason::CannotPay(id, cost, have));
        }
        let place = parent.at.step(direction);
        if self.map.is_wall(place) || state.occupied.contains(self.map.cell(place)) {
            return Err(Reason::NoRoom(id, place));
        }
        self.leaves_room(state, id)?;
        state.resources[parent.owner as usize] -= cost;
        let parent = state.unit_mut(id);
        parent.duplication = self.rules.duplication_time;
        parent.direction = Some(direction);
        parent.child = Some(child);
        state.working.push(id);
        out.event(Event::DuplicationBegan { unit: id, child, direction });
        Ok(())
    }

    /// The price of a child.
    pub fn cost(&self, child: Kind) -> u32 {
        match child {
            Kind::Melee => self.rules.melee_cost,
            Kind::Worker => self.rules.worker_cost,
        }
    }

    /// DH-DUP-5: units made so far plus those in the making never exceed what a match can hold.
    fn leaves_room(&self, state: &State<BLOCKS>, id: UnitId) -> Result<(), Reason> {
        let coming = state.working.as_slice().iter().filter(|&&id| state.unit(id).duplication > 0).count();
        match usize::from(state.made) + coming < usize::from(self.rules.max_units) {
            true => Ok(()),
            false => Err(Reason::TooManyUnits(id, self.rules.max_units)),
        }
    }

    /// DH-DUP-4: the time has come. If the place is taken by now, the child is lost, and so is its price.
    pub(crate) fn give_birth(&self, state: &mut State<BLOCKS>, parent: UnitId, out: &mut impl Sink<Self>) {
        let Unit { at, owner, direction: Some(direction), child: Some(kind), .. } = *state.unit(parent)
        else {
            return;
        };
        let at = at.step(direction);
        if self.welcomes_child(state, at) {
            let unit = Unit { at, owner, kind, hp: self.full_hp(kind), ..Unit::default() };
            let child = state.add(unit, self.map.cell(at));
            out.event(Event::Born { unit: child, parent, owner, kind, at });
        } else {
            out.event(Event::ChildLost { parent, at });
        }
    }

    /// DH-DUP-4: where a child can appear.
    fn welcomes_child(&self, state: &State<BLOCKS>, at: At) -> bool {
        !self.map.is_wall(at)
            && !state.occupied.contains(self.map.cell(at))
            && (self.rules.child_on_resource || self.hub_at(state, at).is_none())
    }

    /// DH-ATTACK-3: the health of a new unit.
    pub fn full_hp(&self, kind: Kind) -> u8 {
        match kind {
            Kind::Melee => self.rules.melee_hp,
            Kind::Worker => self.rules.worker_hp,
        }
    }
}
