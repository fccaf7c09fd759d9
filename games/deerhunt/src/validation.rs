//! How a list of moves is carried out, and what one bad move does to the rest.

use agon_game::Sink;

use crate::DeerhuntOf;
use crate::event::Event;
use crate::orders::{Move, Reason, Verb};
use crate::rules::{Duplication, Validation};
use crate::sets::UnitSet;
use crate::state::{State, UnitId};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// DH-ORDER-1: carries out the list of the mover, move by move, unless it is void.
    pub(crate) fn carry_out(&self, state: &mut State<BLOCKS>, moves: &[Move], out: &mut impl Sink<Self>) {
        let bad = match self.rules.validation {
            Validation::Form => self.against_form(state, moves, out),
            Validation::Strict => self.against_any_rule(state, moves, out),
            // DH-VALID-3: every move stands on its own.
            Validation::Each => Vec::new(),
        };
        if bad.is_empty() {
            self.each(state, moves, out);
            return;
        }
        out.event(Event::ListVoid { player: state.mover() });
        let Move { unit, verb, .. } = moves[bad[0]];
        let reason = Reason::Void(self.rules.validation, bad[0] as u16, unit, verb);
        for index in (0..moves.len()).filter(|index| !bad.contains(index)) {
            out.reject(state.mover().seat(), index, reason);
        }
    }

    /// Carries out every move that is allowed.
    fn each(&self, state: &mut State<BLOCKS>, moves: &[Move], out: &mut impl Sink<Self>) {
        let mover = state.mover().seat();
        let mut used = UnitSet::default();
        for (index, order) in moves.iter().enumerate() {
            let done = self
                .identify(state, order, &mut used)
                .and_then(|id| self.wording(state, id, order).and_then(|()| self.act(state, id, order, out)));
            if let Err(reason) = done {
                out.reject(mover, index, reason);
            }
        }
    }

    /// Carries out one move as if it were the whole list.
    pub(crate) fn alone(
        &self,
        state: &mut State<BLOCKS>,
        order: &Move,
        out: &mut impl Sink<Self>,
    ) -> Result<(), Reason> {
        let id = self.identify(state, order, &mut UnitSet::default())?;
        self.wording(state, id, order)?;
        self.act(state, id, order, out)
    }

    /// DH-VALID-1: a list is void when one of its moves is malformed, whatever the board says.
    /// Returns the malformed moves.
    fn against_form(&self, state: &State<BLOCKS>, moves: &[Move], out: &mut impl Sink<Self>) -> Vec<usize> {
        let mover = state.mover().seat();
        let mut used = UnitSet::default();
        let mut bad = Vec::new();
        for (index, order) in moves.iter().enumerate() {
            let form = self.identify(state, order, &mut used).and_then(|id| self.wording(state, id, order));
            if let Err(reason) = form {
                out.reject(mover, index, reason);
                bad.push(index);
            }
        }
        bad
    }

    /// DH-VALID-2: a list is void when any of its moves would be rejected in the course of the list. Returns those moves.
    fn against_any_rule(
        &self,
        state: &State<BLOCKS>,
        moves: &[Move],
        out: &mut impl Sink<Self>,
    ) -> Vec<usize> {
        let mut trial = Trial { out, rejected: Vec::new() };
        self.each(&mut state.clone(), moves, &mut trial);
        trial.rejected
    }

    /// The acting unit: one of the mover's that is alive (DH-ORDER-2), free (DH-ORDER-3) and not yet
    /// used in this list (DH-ORDER-4). From here on it counts as used, whatever happens to the move.
    fn identify(
        &self,
        state: &State<BLOCKS>,
        order: &Move,
        used: &mut UnitSet<BLOCKS>,
    ) -> Result<UnitId, Reason> {
        let army = &state.living[state.mover() as usize];
        let id = order.unit.filter(|&id| army.contains(id)).ok_or(Reason::NotYours(order.unit))?;
        if let Some(lock) = state.unit(id).lock() {
            return Err(Reason::Locked(id, lock));
        }
        if used.insert(id) { Ok(id) } else { Err(Reason::Twice(id)) }
    }

    /// DH-ORDER-5: checks that the words make sense for the unit, wherever it stands.
    fn wording(&self, state: &State<BLOCKS>, id: UnitId, order: &Move) -> Result<(), Reason> {
        let kind = state.unit(id).kind;
        let own_verb = match self.rules.duplication {
            Duplication::MeleeItself => &[Verb::Duplicate][..],
            Duplication::WorkersBoth => &[Verb::DuplicateMelee, Verb::DuplicateWorker],
        };
        match order.verb {
            Verb::Walk => self.walk_wording(id, &order.words),
            Verb::Attack => self.attack_wording(id, kind, &order.words),
            Verb::Mine => self.mine_wording(id, kind, &order.words),
            Verb::Stun if self.rules.stun => self.stun_wording(id, kind, &order.words),
            verb if own_verb.contains(&verb) => self.duplicate_wording(id, kind, verb, &order.words),
            verb => Err(Reason::NoSuchVerb(id, verb)),
        }
    }

    /// Carries out the move as far as the board allows it.
    fn act(
        &self,
        state: &mut State<BLOCKS>,
        id: UnitId,
        order: &Move,
        out: &mut impl Sink<Self>,
    ) -> Result<(), Reason> {
        match order.verb {
            Verb::Walk => self.walk(state, id, &order.words, out),
            Verb::Attack => self.attack(state, id, &order.words, out),
            Verb::Mine => self.mine(state, id, &order.words, out),
            Verb::Stun => self.stun(state, id, &order.words, out),
            verb => self.duplicate(state, id, verb, &order.words, out),
        }
    }
}

/// A trial on a copy: rejections are passed on and kept; events are dropped.
struct Trial<'a, S> {
    out: &'a mut S,
    rejected: Vec<usize>,
}

impl<const BLOCKS: usize, S: Sink<DeerhuntOf<BLOCKS>>> Sink<DeerhuntOf<BLOCKS>> for Trial<'_, S> {
    fn event(&mut self, _: Event) {}

    fn reject(&mut self, seat: agon_game::Seat, index: usize, reason: Reason) {
        self.out.reject(seat, index, reason);
        self.rejected.push(index);
    }

    fn listens(&self) -> bool {
        false
    }
}
