//! One turn: the ordered list of its stages.

use agon_game::{Absence, Answer, Seat, Sink};

use crate::event::{Event, Line};
use crate::orders::{Action, Order};
use crate::shoot::{Struck, aim, hurt};
use crate::state::{Ending, Fault, Owner, State, UnitId};
use crate::{CultistWars, convert, moving, neutral, outcome};

impl CultistWars {
    /// Plays the turn of `seat`. CW-TURN-2.
    pub(crate) fn play_turn(
        &self,
        state: &mut State,
        seat: Seat,
        answer: &Answer<Order>,
        out: &mut impl Sink<Self>,
    ) {
        // 1. The answer. A player without a valid action loses at once, and nothing else happens.
        let action = match self.hear(state, seat, answer, out) {
            Ok(action) => action,
            Err(fault) => {
                state.ending = Some(Ending::Fault(seat, fault));
                return;
            }
        };
        self.carry_out(state, action, out);
    }

    /// Plays the rest of the turn after a resolved action of the mover. Searches begin here.
    pub(crate) fn carry_out(&self, state: &mut State, action: Action, out: &mut impl Sink<Self>) {
        // 2. The action.
        let body = self.act(state, action, out);
        // 3. A neutral strolls.
        if let Some((unit, from, to)) = neutral::stroll(state, self.floor(), self.rules().neutral_draw) {
            out.event(Event::NeutralMoved { unit, from, to });
        }
        // 4. The body of a unit that died leaves the board.
        if let Some(unit) = body {
            remove_body(state, unit);
        }
        // 5. The end of the match.
        state.turn += 1;
        state.ending = outcome::ending(self.rules(), state);
    }

    /// Returns the resolved action, or what was wrong with the answer. CW-END-1.
    fn hear(
        &self,
        state: &State,
        seat: Seat,
        answer: &Answer<Order>,
        out: &mut impl Sink<Self>,
    ) -> Result<Action, Fault> {
        match answer {
            Answer::Given { order, .. } => self.resolve(state, seat, order).map_err(|reason| {
                out.reject(seat, 0, reason);
                if out.listens() {
                    out.event(Event::Invalid { player: seat.number(), why: reason.to_string() });
                }
                Fault::Invalid
            }),
            Answer::Malformed { why, .. } => {
                if out.listens() {
                    out.event(Event::Invalid { player: seat.number(), why: why.clone() });
                }
                Err(Fault::Malformed)
            }
            Answer::Missing(Absence::TimedOut) => Err(Fault::TimedOut),
            Answer::Missing(Absence::Gone) => Err(Fault::Gone),
            Answer::Missing(Absence::NeverStarted) => Err(Fault::NeverStarted),
        }
    }

    /// Carries out an action of the mover. Returns the unit killed, if any.
    fn act(&self, state: &mut State, action: Action, out: &mut impl Sink<Self>) -> Option<UnitId> {
        match action {
            Action::Wait => out.event(Event::Waited { player: state.mover().number() }),
            Action::Move { unit, to } => {
                out.event(Event::Moved { unit, from: state.tile(unit), to });
                moving::relocate(state, unit, to);
            }
            Action::Convert { unit, target } => {
                convert::convert(state, target, Owner::Player(state.mover()));
                out.event(Event::Converted { unit, target, player: state.mover().number() });
            }
            Action::Shoot { unit, target } => {
                let struck = self.strike(state, unit, target);
                if out.listens() {
                    let line = Line(self.line_of_fire(state.tile(unit), state.tile(target)).collect());
                    out.event(Event::shot(state, unit, target, line, struck));
                }
                if let Struck::Unit { unit, damage } = struck
                    && hurt(state, unit, damage)
                {
                    out.event(Event::Died { unit });
                    return Some(unit);
                }
            }
        }
        None
    }

    /// What a shot strikes. CW-SHOOT-3.
    pub(crate) fn strike(&self, state: &State, unit: UnitId, target: UnitId) -> Struck {
        aim(self.lines(), self.floor(), self.rules().damage, state, unit, target)
    }
}

/// Takes a dead unit off the board and frees its tile. CW-TURN-3.
fn remove_body(state: &mut State, unit: UnitId) {
    let tile = &mut state.tiles[usize::from(unit)];
    state.occupied.remove(*tile);
    *tile = crate::board::Tile::NOWHERE;
}
