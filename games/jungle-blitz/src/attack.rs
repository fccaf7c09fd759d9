//! ATTACK: kills an adjacent unit.

use agon_game::{Chance, Sink};

use crate::JungleBlitz;
use crate::arena::Cell;
use crate::event::Event;
use crate::reason::Why;
use crate::state::UnitIndex;
use crate::turn::Turn;

impl<C: Chance, S: Sink<JungleBlitz>> Turn<'_, C, S> {
    /// Kills the unit on an adjacent tile, friend or enemy (JB-ATTACK-1); the attacker stays where it is and
    /// takes the victim's diamond as it is (JB-ATTACK-3).
    pub(crate) fn attack(&mut self, unit: UnitIndex, at: Cell) -> Result<(), Why> {
        if self.state.unit(unit).holds > 0 {
            return Err(Why::HoldsDiamond("ATTACK"));
        }
        self.forget_path(unit);
        let victim = self.victim(at)?;
        self.within_reach(unit, at)?;
        self.off_spawn(at)?;
        let diamond = self.kill(victim, unit);
        if let Some(diamond) = diamond {
            self.give(diamond, unit);
        }
        let at = self.game.arena.point(at);
        self.out.event(Event::Killed { unit: unit + 1, victim: victim + 1, at, diamond });
        Ok(())
    }

    /// The victim leaves the board at once, with its path and its summon; its team has lost one more unit
    /// (JB-ATTACK-2). Returns the diamond it held.
    fn kill(&mut self, victim: UnitIndex, by: UnitIndex) -> Option<u8> {
        self.forget_path(victim);
        let team = self.game.team_of(victim);
        self.state.deaths[team] = self.state.deaths[team].saturating_add(1);
        let dead = self.state.unit_mut(victim);
        let diamond = dead.diamond();
        dead.died_at = dead.cell;
        dead.attacked_by = by + 1;
        dead.cell = Cell::NOWHERE;
        dead.summoning = 0;
        dead.holds = 0;
        diamond
    }
}
