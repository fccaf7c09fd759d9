//! Attacks, and how units die.

use agon_game::Sink;

use crate::DeerhuntOf;
use crate::event::Event;
use crate::orders::{Reason, Verb, Words};
use crate::rules::{Attackers, DeadTimers};
use crate::state::{At, Direction, Kind, State, UnitId};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// DH-ATTACK-1: who may attack. DH-ATTACK-2: in exactly one direction.
    pub(crate) fn attack_wording(&self, id: UnitId, kind: Kind, words: &Words) -> Result<(), Reason> {
        if self.rules.attackers == Attackers::Melee && kind != Kind::Melee {
            return Err(Reason::WrongKind(id, kind, Verb::Attack));
        }
        match words.only() {
            Some(_) => Ok(()),
            None => Err(Reason::WordCount(id, Verb::Attack, "exactly one direction")),
        }
    }

    /// DH-ATTACK-3: the enemy in that direction loses health, and leaves the board when none is
    /// left. DH-ATTACK-5: own units are no targets.
    pub(crate) fn attack(
        &self,
        state: &mut State<BLOCKS>,
        id: UnitId,
        words: &Words,
        out: &mut impl Sink<Self>,
    ) -> Result<(), Reason> {
        let attacker = *state.unit(id);
        let direction = words.only().expect("the wording was checked");
        let target = self.first_in_reach(state, attacker.at, direction).ok_or(Reason::NobodyToAttack(id))?;
        if state.unit(target).owner == attacker.owner {
            return Err(Reason::OwnUnit(id, target));
        }
        let victim = state.unit_mut(target);
        let left = victim.hp.saturating_sub(self.rules.attack_damage);
        out.event(Event::Attacked { unit: id, target, left });
        if left > 0 {
            victim.hp = left;
        } else {
            self.kill(state, target, out);
        }
        Ok(())
    }

    /// DH-ATTACK-4: an attack goes straight ahead, up to its range, until it meets a wall or a unit.
    fn first_in_reach(&self, state: &State<BLOCKS>, from: At, direction: Direction) -> Option<UnitId> {
        let mut at = from;
        for _ in 0..self.rules.attack_range {
            at = at.step(direction);
            if self.map.is_wall(at) {
                return None;
            }
            if state.occupied.contains(self.map.cell(at)) {
                return state.unit_at(at);
            }
        }
        None
    }

    /// DH-TIME-3: a unit leaves the board; its timer ends with it, or runs on.
    fn kill(&self, state: &mut State<BLOCKS>, id: UnitId, out: &mut impl Sink<Self>) {
        let at = state.unit(id).at;
        state.remove(id, self.map.cell(at));
        if self.rules.timers_of_the_dead == DeadTimers::Cancelled {
            let unit = state.unit_mut(id);
            (unit.mining, unit.duplication) = (0, 0);
            state.working.retain(|other| other != id);
        }
        out.event(Event::Died { unit: id, at });
    }
}
