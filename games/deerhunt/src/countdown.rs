//! Timers: when they run, and in which order they take effect.

use agon_game::Sink;

use crate::DeerhuntOf;
use crate::rules::Countdown;
use crate::state::{Player, State};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Runs the timers that are due before the player who is next.
    pub(crate) fn count_down(&self, state: &mut State<BLOCKS>, out: &mut impl Sink<Self>) {
        let next = state.mover();
        match self.rules.countdown {
            // DH-TIME-1: all timers once a round, before player 1.
            Countdown::Round => {
                if next == Player::One {
                    self.duplications(state, |_| true, out);
                    self.minings(state, |_| true, out);
                    self.stuns(state, |_| true);
                }
            }
            // DH-TIME-2: the work of the player who just moved, and the stuns by the player who is next.
            Countdown::Half => {
                self.duplications(state, |owner| owner != next, out);
                self.minings(state, |owner| owner != next, out);
                self.stuns(state, |stunner| stunner == next);
            }
        }
    }

    /// Counts down duplications, in the order they began.
    fn duplications(
        &self,
        state: &mut State<BLOCKS>,
        due: impl Fn(Player) -> bool,
        out: &mut impl Sink<Self>,
    ) {
        let mut finished = false;
        for index in 0..state.working.as_slice().len() {
            let id = state.working.as_slice()[index];
            let unit = state.unit_mut(id);
            if unit.duplication > 0 && due(unit.owner) {
                unit.duplication -= 1;
                if unit.duplication == 0 {
                    finished = true;
                    self.give_birth(state, id, out);
                }
            }
        }
        if finished {
            state.dismiss_idle();
        }
    }

    /// Counts down minings, in the order they began.
    fn minings(&self, state: &mut State<BLOCKS>, due: impl Fn(Player) -> bool, out: &mut impl Sink<Self>) {
        let mut finished = false;
        for index in 0..state.working.as_slice().len() {
            let id = state.working.as_slice()[index];
            let unit = state.unit_mut(id);
            if unit.mining > 0 && due(unit.owner) {
                unit.mining -= 1;
                if unit.mining == 0 {
                    finished = true;
                    self.pay(state, id, out);
                }
            }
        }
        if finished {
            state.dismiss_idle();
        }
    }

    /// DH-STUN-4: counts down stuns by the players selected by `due`: every victim once, or, with the
    /// registry of 2021, once for each entry that names it, until its count is exactly 0.
    fn stuns(&self, state: &mut State<BLOCKS>, due: impl Fn(Player) -> bool) {
        if !self.rules.stun {
            return;
        }
        if !self.rules.compat_stun_registry {
            for id in 0..state.made {
                let victim = state.unit_mut(id);
                if victim.stun > 0 && due(victim.owner.other()) {
                    victim.stun -= 1;
                }
            }
            return;
        }
        if state.stuns.as_slice().is_empty() {
            return;
        }
        let mut running = state.stuns;
        running.retain(|stun| {
            if !due(state.unit(stun.by).owner) {
                return true;
            }
            let victim = state.unit_mut(stun.victim);
            victim.stun = victim.stun.saturating_sub(1);
            victim.stun != 0
        });
        state.stuns = running;
    }
}
