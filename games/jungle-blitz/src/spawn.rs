//! SPAWN: a unit comes onto the board.

use agon_game::{Chance, Sink};

use crate::JungleBlitz;
use crate::arena::{Cell, Direction, Ground};
use crate::event::Event;
use crate::reason::Why;
use crate::state::UnitIndex;
use crate::turn::Turn;

impl<C: Chance, S: Sink<JungleBlitz>> Turn<'_, C, S> {
    /// A unit that is off the board appears on a spawn tile, whoever owns it (JB-SPAWN-1), or beside it.
    pub(crate) fn spawn(&mut self, unit: UnitIndex, at: Cell) -> Result<(), Why> {
        let arena = &self.game.arena;
        if self.state.unit(unit).alive() {
            return Err(Why::AlreadyOnBoard);
        }
        if arena.ground(at) != Ground::Spawn {
            return Err(Why::NotASpawnTile(arena.point(at)));
        }
        let cell = match self.state.unit_on(at) {
            None => at,
            Some(_) => self.beside(at).ok_or(Why::NoFreeSpawnTile(arena.point(at)))?,
        };
        let own = self.state.unit_mut(unit);
        own.cell = cell;
        own.known = true;
        self.out.event(Event::Spawned { unit: unit + 1, at: arena.point(cell) });
        Ok(())
    }

    /// A free spawn tile next to a taken one, drawn from at most four; no wider search (JB-SPAWN-2).
    fn beside(&mut self, at: Cell) -> Option<Cell> {
        let arena = &self.game.arena;
        let (mut options, mut count) = ([0u16; 4], 0);
        for way in Direction::ALL {
            let cell = arena.neighbour(at, way);
            if arena.ground(cell) == Ground::Spawn && self.state.unit_on(cell).is_none() {
                options[count] = cell.0;
                count += 1;
            }
        }
        (count > 0).then(|| Cell(self.chance.choose(&options[..count])))
    }
}
