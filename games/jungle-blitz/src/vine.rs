//! VINE: pulls a unit in line nearer.

use agon_game::{Chance, Sink};

use crate::JungleBlitz;
use crate::arena::{Cell, Direction, Ground};
use crate::event::Event;
use crate::reason::Why;
use crate::state::{Owner, UnitIndex};
use crate::turn::Turn;

impl<C: Chance, S: Sink<JungleBlitz>> Turn<'_, C, S> {
    /// Pulls the unit on `at`, friend or enemy, along a free line (JB-VINE-1).
    pub(crate) fn vine(&mut self, unit: UnitIndex, at: Cell) -> Result<(), Why> {
        let arena = &self.game.arena;
        let own = *self.state.unit(unit);
        if own.holds > 0 {
            return Err(Why::HoldsDiamond("VINE"));
        }
        self.forget_path(unit);
        let victim = self.victim(at)?;
        if victim == unit {
            return Err(Why::OwnPosition);
        }
        if arena.adjacent(own.cell, at) {
            return Err(Why::AdjacentVine(arena.point(at)));
        }
        self.off_spawn(at)?;
        let way = self.line_of_sight(own.cell, at).ok_or(Why::NoLineOfSight(arena.point(at)))?;
        let landing = self.landing(own.cell, at, way, victim).ok_or(Why::NoLanding(arena.point(at)))?;
        self.pull(unit, victim, landing);
        Ok(())
    }

    /// The direction to `at`, if it lies in the same row or column and all ground up to it is EMPTY; units and
    /// diamonds in between do not matter (JB-VINE-2).
    fn line_of_sight(&self, from: Cell, at: Cell) -> Option<Direction> {
        let arena = &self.game.arena;
        let (a, b) = (arena.point(from)?, arena.point(at)?);
        let way = match (a.x == b.x, a.y == b.y) {
            (true, false) if b.y < a.y => Direction::Up,
            (true, false) => Direction::Down,
            (false, true) if b.x < a.x => Direction::Left,
            (false, true) => Direction::Right,
            _ => return None,
        };
        let mut cell = from;
        while cell != at {
            cell = arena.neighbour(cell, way);
            if arena.ground(cell) != Ground::Empty {
                return None;
            }
        }
        Some(way)
    }

    /// The tile nearest to the viner where the victim could stand (JB-VINE-3).
    fn landing(&self, from: Cell, at: Cell, way: Direction, victim: UnitIndex) -> Option<Cell> {
        let mut cell = self.game.arena.neighbour(from, way);
        while cell != at {
            if self.walkable(victim, cell) {
                return Some(cell);
            }
            cell = self.game.arena.neighbour(cell, way);
        }
        None
    }

    /// Moves the victim. A friend keeps its diamond and its summon; an enemy leaves the diamond unchanged where
    /// it stood, and its summon ends (JB-VINE-4). It is marked: its MOVE in this tick is void (JB-VINE-5).
    fn pull(&mut self, unit: UnitIndex, victim: UnitIndex, landing: Cell) {
        let enemy = self.game.team_of(unit) != self.game.team_of(victim);
        self.forget_path(victim);
        let from = self.state.unit(victim).cell;
        let mut lost = None;
        let pulled = self.state.unit_mut(victim);
        if enemy && let Some(diamond) = pulled.diamond() {
            pulled.holds = 0;
            pulled.summoning = 0;
            self.state.diamonds[usize::from(diamond)].owner = Owner::NOBODY;
            lost = Some(diamond);
        }
        let pulled = self.state.unit_mut(victim);
        pulled.cell = landing;
        pulled.vined_by = unit + 1;
        self.carry(victim, landing);
        let arena = &self.game.arena;
        self.out.event(Event::Vined {
            unit: unit + 1,
            victim: victim + 1,
            from: arena.point(from),
            to: arena.point(landing),
            lost,
        });
        self.pick_up(victim);
    }
}
