//! MOVE: one step towards a tile.

use agon_game::{Chance, Sink};

use crate::JungleBlitz;
use crate::arena::{Cell, Ground};
use crate::event::Event;
use crate::reason::Why;
use crate::state::UnitIndex;
use crate::turn::Turn;

impl<C: Chance, S: Sink<JungleBlitz>> Turn<'_, C, S> {
    /// One step towards `to`, straight, along the stored path, or along a new one.
    ///
    /// - JB-MOVE-2: if vined in this tick, or already there, it stays.
    /// - JB-MOVE-3: a destination that is not walkable now is refused, however far away.
    /// - JB-MOVE-4: an adjacent destination is stepped on directly.
    pub(crate) fn walk(&mut self, unit: UnitIndex, to: Cell) -> Result<(), Why> {
        let arena = &self.game.arena;
        let own = *self.state.unit(unit);
        if own.vined_by > 0 || to == own.cell {
            return self.stay_put(unit);
        }
        if !self.walkable(unit, to) {
            self.forget_path(unit);
            return Err(Why::NotWalkable(arena.point(to)));
        }
        let cell = if arena.adjacent(own.cell, to) {
            self.forget_path(unit);
            to
        } else if let Some(cell) = self.along_stored_path(unit, to) {
            cell
        } else {
            self.along_new_path(unit, to)?
        };
        self.state.unit_mut(unit).cell = cell;
        self.carry(unit, cell);
        self.out.event(Event::Moved { unit: unit + 1, to: arena.point(cell) });
        self.pick_up(unit);
        Ok(())
    }

    fn stay_put(&mut self, unit: UnitIndex) -> Result<(), Why> {
        self.forget_path(unit);
        self.pick_up(unit);
        Ok(())
    }

    /// Whether `unit` may step on `cell` (JB-MOVE-1): no wall, no unit, no spawn tile unless it stands
    /// on one, and no diamond on the ground while it holds one.
    #[inline]
    pub(crate) fn walkable(&self, unit: UnitIndex, cell: Cell) -> bool {
        let (arena, own) = (&self.game.arena, self.state.unit(unit));
        let ground = match arena.ground(cell) {
            Ground::Wall => false,
            Ground::Empty => true,
            Ground::Spawn => arena.ground(own.cell) == Ground::Spawn,
        };
        ground && self.state.unit_on(cell).is_none() && !(own.holds > 0 && self.state.diamond_lies_on(cell))
    }

    /// The first tile of the stored path, if the path leads to `to` and the tile is free (JB-MOVE-5).
    fn along_stored_path(&mut self, unit: UnitIndex, to: Cell) -> Option<Cell> {
        let arena = &self.game.arena;
        let own = self.state.unit(unit);
        if own.destination != to {
            return None;
        }
        let first = self.state.first_step(arena, unit)?;
        let cell = arena.neighbour(own.cell, first);
        if !self.walkable(unit, cell) {
            return None;
        }
        self.state.drop_first_step(arena, unit);
        Some(cell)
    }

    /// The first tile of a path found now; the rest is stored (JB-MOVE-6).
    fn along_new_path(&mut self, unit: UnitIndex, to: Cell) -> Result<Cell, Why> {
        let arena = &self.game.arena;
        match self.search.find(arena, self.state, unit, to) {
            Some((first, rest)) => {
                self.state.store_path(arena, unit, to, rest);
                Ok(arena.neighbour(self.state.unit(unit).cell, first))
            }
            None => {
                self.forget_path(unit);
                Err(Why::NoPath(arena.point(to)))
            }
        }
    }

    /// Moves the diamond a unit holds along with it.
    pub(crate) fn carry(&mut self, unit: UnitIndex, to: Cell) {
        if let Some(diamond) = self.state.unit(unit).diamond() {
            self.state.diamonds[usize::from(diamond)].cell = to;
        }
    }
}
