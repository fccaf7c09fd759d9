//! DROP: a held diamond is handed over, or put down for points.

use agon_game::{Chance, Sink};

use crate::JungleBlitz;
use crate::arena::{Cell, Ground};
use crate::event::Event;
use crate::reason::Why;
use crate::state::{DiamondIndex, Owner, UnitIndex};
use crate::turn::Turn;

impl<C: Chance, S: Sink<JungleBlitz>> Turn<'_, C, S> {
    /// Puts the held diamond onto an adjacent EMPTY tile (JB-DROP-1), or into the hands of the unit there.
    pub(crate) fn drop_diamond(&mut self, unit: UnitIndex, at: Cell) -> Result<(), Why> {
        let diamond = self.state.unit(unit).diamond().ok_or(Why::NeedsDiamond("DROP"))?;
        self.forget_path(unit);
        self.within_reach(unit, at)?;
        if self.game.arena.ground(at) != Ground::Empty {
            return Err(Why::NotEmptyGround(self.game.arena.point(at)));
        }
        match self.state.unit_on(at) {
            Some(receiver) => self.hand_over(unit, receiver, diamond),
            None => {
                self.put_down(unit, diamond, at);
                Ok(())
            }
        }
    }

    /// A friend or an enemy receives the diamond unchanged; nobody scores (JB-DROP-2, JB-DROP-3).
    fn hand_over(&mut self, unit: UnitIndex, receiver: UnitIndex, diamond: DiamondIndex) -> Result<(), Why> {
        let at = self.state.unit(receiver).cell;
        if self.state.unit(receiver).holds > 0 {
            return Err(Why::ReceiverHoldsDiamond(self.game.arena.point(at)));
        }
        self.state.unit_mut(unit).holds = 0;
        self.give(diamond, receiver);
        self.out.event(Event::HandedOver { unit: unit + 1, to: receiver + 1, diamond });
        Ok(())
    }

    /// The team scores the pending points; the diamond starts afresh (JB-DROP-4).
    fn put_down(&mut self, unit: UnitIndex, diamond: DiamondIndex, at: Cell) {
        self.state.unit_mut(unit).holds = 0;
        let stone = &mut self.state.diamonds[usize::from(diamond)];
        let (points, level) = (stone.points, stone.level);
        stone.points = 0;
        stone.level = self.game.rules.initial_diamond_summon_level;
        stone.owner = Owner::NOBODY;
        stone.cell = at;
        self.state.scores[self.game.team_of(unit)] += u32::from(points);
        self.out.event(Event::Dropped {
            unit: unit + 1,
            diamond,
            at: self.game.arena.point(at),
            points,
            level,
        });
    }

    /// Puts `diamond` into the hands of `unit`.
    pub(crate) fn give(&mut self, diamond: DiamondIndex, unit: UnitIndex) {
        let own = self.state.unit_mut(unit);
        own.holds = diamond + 1;
        let cell = own.cell;
        let stone = &mut self.state.diamonds[usize::from(diamond)];
        stone.owner = Owner::unit(unit);
        stone.cell = cell;
    }
}
