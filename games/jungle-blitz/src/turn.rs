//! One tick, in the order of its stages.

use agon_game::{Absence, Answer, Chance, Seat, Sink};

use crate::JungleBlitz;
use crate::arena::{Cell, Ground};
use crate::event::Event;
use crate::orders::{Action, Command, Entry};
use crate::reason::{Refusal, Why};
use crate::search::Search;
use crate::state::{State, UnitIndex};

/// A team's answer.
type TeamAnswer = (Seat, Answer<Command>);

/// Plays one tick (JB-TURN-1).
pub fn play(
    game: &JungleBlitz,
    state: &mut State,
    search: &mut Search,
    answers: &[TeamAnswer],
    chance: &mut impl Chance,
    out: &mut impl Sink<JungleBlitz>,
) {
    forget_marks(game, state);
    note_absent_teams(state, answers, out);
    let mut turn = Turn { game, state, search, chance, out };
    for &team in game.play_order(turn.state.tick) {
        if let Some(command) = command_of(answers, team) {
            turn.take(usize::from(team), command);
        }
    }
    grow_held_diamonds(game, state);
    state.tick += 1;
}

/// Clears the marks of the previous tick, which this tick's message has reported (JB-TURN-1).
pub(crate) fn forget_marks(game: &JungleBlitz, state: &mut State) {
    for unit in &mut state.units[..usize::from(game.unit_count())] {
        (unit.vined_by, unit.attacked_by, unit.died_at) = (0, 0, Cell::NOWHERE);
    }
}

/// A team that is gone stays gone (JB-TIME-3); one that is late has no turn (JB-TIME-2).
fn note_absent_teams(state: &mut State, answers: &[TeamAnswer], out: &mut impl Sink<JungleBlitz>) {
    for (seat, answer) in answers {
        match answer {
            Answer::Given { .. } => {}
            Answer::Missing(Absence::Gone | Absence::NeverStarted) => {
                state.dead |= 1 << seat.index();
                out.event(Event::Gone { seat: seat.number() });
            }
            Answer::Missing(Absence::TimedOut) | Answer::Malformed { .. } => {
                out.event(Event::TimedOut { seat: seat.number() });
            }
        }
    }
}

fn command_of(answers: &[TeamAnswer], team: u8) -> Option<&Command> {
    answers.iter().find(|(seat, _)| seat.index() == usize::from(team))?.1.order()
}

/// Every held diamond gains points for its level, whoever holds it and whether or not that team is
/// still connected (JB-POINTS-1).
pub(crate) fn grow_held_diamonds(game: &JungleBlitz, state: &mut State) {
    for diamond in &mut state.diamonds[..game.arena.diamonds().len()] {
        if !diamond.on_ground() {
            diamond.points += u16::from(diamond.level) * game.rules.points_per_diamond;
        }
    }
}

/// Everything an action needs.
pub(crate) struct Turn<'a, C, S> {
    pub game: &'a JungleBlitz,
    pub state: &'a mut State,
    pub search: &'a mut Search,
    pub chance: &'a mut C,
    pub out: &'a mut S,
}

impl<C: Chance, S: Sink<JungleBlitz>> Turn<'_, C, S> {
    /// The turn of one team: its actions in the order sent, each seeing the effects of those before it,
    /// then the progress of all its summons (JB-TURN-2).
    pub(crate) fn take(&mut self, team: usize, command: &Command) {
        let mut acted = 0u16;
        for (position, entry) in command.entries.iter().enumerate() {
            let (unit, result) = match *entry {
                Entry::Flawed(flaw) => (None, Err(Why::Flawed(flaw))),
                Entry::Unit { unit, action } => {
                    let unit = self.game.first_unit(team) + unit;
                    (Some(unit), self.entry(unit, action, &mut acted))
                }
            };
            if let Err(why) = result {
                let at = unit.and_then(|unit| self.game.arena.point(self.state.unit(unit).cell));
                let refusal = Refusal { unit: unit.map_or(0, |unit| unit + 1), at, why };
                self.out.reject(Seat::new(team as u8), position, refusal);
            }
        }
        self.advance_summons(team);
    }

    /// Carries out one entry: the checks shared by all actions, then the action itself.
    pub(crate) fn entry(&mut self, unit: UnitIndex, action: Action, acted: &mut u16) -> Result<(), Why> {
        self.allowed(unit, action, *acted)?;
        *acted |= 1 << unit;
        match action {
            Action::None => self.stay(unit),
            Action::Summon => self.summon(unit),
            Action::Spawn(at) => self.spawn(unit, at),
            Action::Move(to) => self.walk(unit, to),
            Action::Drop(at) => self.drop_diamond(unit, at),
            Action::Vine(at) => self.vine(unit, at),
            Action::Attack(at) => self.attack(unit, at),
        }
    }

    /// Whether a unit may do this at all at the moment. Only an entry that passes these checks uses up
    /// the unit's action (JB-ACT-6).
    ///
    /// - JB-ACT-3: a unit that is not on the board can only spawn.
    /// - JB-ACT-4: on a spawn tile it can only move or do nothing.
    /// - JB-ACT-5: during a summon it can only summon or do nothing.
    /// - JB-ACT-6: one action per unit and command.
    fn allowed(&self, unit: UnitIndex, action: Action, acted: u16) -> Result<(), Why> {
        let own = self.state.unit(unit);
        if !own.alive() {
            if !matches!(action, Action::Spawn(_)) {
                return Err(Why::NotOnBoard);
            }
        } else if self.game.arena.ground(own.cell) == Ground::Spawn
            && !matches!(action, Action::None | Action::Move(_))
        {
            return Err(Why::OnSpawn(action.word()));
        }
        if own.summoning > 0 && !matches!(action, Action::None | Action::Summon) {
            return Err(Why::Summoning(action.word()));
        }
        if acted >> unit & 1 == 1 {
            return Err(Why::SecondAction);
        }
        Ok(())
    }

    /// NONE: the unit stays, forgets its path (JB-ACT-7) and picks up the diamond under it (JB-PICK-1).
    fn stay(&mut self, unit: UnitIndex) -> Result<(), Why> {
        self.forget_path(unit);
        self.pick_up(unit);
        Ok(())
    }

    /// Empties the stored path: every action but MOVE and SPAWN does (JB-ACT-7).
    pub(crate) fn forget_path(&mut self, unit: UnitIndex) {
        self.state.forget_path(&self.game.arena, unit);
    }

    /// The unit on `at` as the target of an attack or a vine: it must be there (JB-ACT-8).
    pub(crate) fn victim(&self, at: Cell) -> Result<UnitIndex, Why> {
        self.state.unit_on(at).ok_or(Why::NobodyThere(self.game.arena.point(at)))
    }

    /// A unit on a spawn tile can be neither attacked nor vined (JB-ACT-8).
    pub(crate) fn off_spawn(&self, at: Cell) -> Result<(), Why> {
        match self.game.arena.ground(at) {
            Ground::Spawn => Err(Why::TargetOnSpawn(self.game.arena.point(at))),
            _ => Ok(()),
        }
    }

    /// Attacks and drops reach adjacent tiles only (JB-ACT-8).
    pub(crate) fn within_reach(&self, unit: UnitIndex, at: Cell) -> Result<(), Why> {
        match self.game.arena.adjacent(self.state.unit(unit).cell, at) {
            true => Ok(()),
            false => Err(Why::NotAdjacent(self.game.arena.point(at))),
        }
    }
}
