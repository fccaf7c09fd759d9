//! SUMMON: raises a held diamond by one level.

use agon_game::{Chance, Sink};

use crate::JungleBlitz;
use crate::event::Event;
use crate::reason::Why;
use crate::state::UnitIndex;
use crate::turn::Turn;

impl<C: Chance, S: Sink<JungleBlitz>> Turn<'_, C, S> {
    /// Begins a summon (JB-SUMMON-1); a second order while it is in progress changes nothing (JB-SUMMON-3).
    pub(crate) fn summon(&mut self, unit: UnitIndex) -> Result<(), Why> {
        let diamond = self.state.unit(unit).diamond().ok_or(Why::NeedsDiamond("SUMMON"))?;
        self.forget_path(unit);
        let diamond = self.state.diamonds[usize::from(diamond)];
        if diamond.level >= self.game.rules.maximum_diamond_summon_level {
            return Err(Why::HighestLevel);
        }
        let own = self.state.unit_mut(unit);
        if own.summoning == 0 {
            own.summoning = 1;
            self.out.event(Event::SummonBegun {
                unit: unit + 1,
                level: diamond.level,
                points: diamond.points,
            });
        }
        Ok(())
    }

    /// At the end of a team's turn all its summons advance by one; from level k a summon is done
    /// after k + 1 such turns, the one that ordered it included (JB-SUMMON-2).
    pub(crate) fn advance_summons(&mut self, team: usize) {
        let first = self.game.first_unit(team);
        for unit in first..first + self.game.units_per_team {
            let own = &mut self.state.units[usize::from(unit)];
            let Some(diamond) = own.diamond().filter(|_| own.summoning > 0) else { continue };
            let diamond = &mut self.state.diamonds[usize::from(diamond)];
            if own.summoning > diamond.level {
                own.summoning = 0;
                diamond.level += 1;
                self.out.event(Event::SummonDone { unit: unit + 1, level: diamond.level });
            } else {
                own.summoning += 1;
            }
        }
    }
}
