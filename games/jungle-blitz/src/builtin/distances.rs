//! The number of steps between any two tiles, ignoring units.

use crate::arena::{Arena, Cell, Direction, Ground};

/// The distance of an unreachable tile.
pub const FAR: u16 = 10_000;

/// Steps from every tile to every tile.
pub struct Distances {
    numbers: usize,
    steps: Vec<u16>,
}

impl Distances {
    /// Measures a map: a breadth-first search backwards from every tile.
    pub fn new(arena: &Arena) -> Self {
        let numbers = arena.numbers();
        let mut distances = Self { numbers, steps: vec![FAR; numbers * numbers] };
        let mut queue = Vec::with_capacity(numbers);
        for to in arena.cells().filter(|&cell| arena.ground(cell) != Ground::Wall) {
            let row = &mut distances.steps[to.index() * numbers..][..numbers];
            row[to.index()] = 0;
            queue.clear();
            queue.push(to);
            let mut next = 0;
            while let Some(&cell) = queue.get(next) {
                next += 1;
                for way in Direction::ALL {
                    let from = arena.neighbour(cell, way);
                    // Nobody steps from EMPTY ground onto a spawn tile.
                    let allowed = match arena.ground(from) {
                        Ground::Wall => false,
                        Ground::Empty => arena.ground(cell) == Ground::Empty,
                        Ground::Spawn => true,
                    };
                    if allowed && row[from.index()] == FAR {
                        row[from.index()] = row[cell.index()] + 1;
                        queue.push(from);
                    }
                }
            }
        }
        distances
    }

    /// Steps from `from` to `to`; [`FAR`] when there is no way.
    pub fn steps(&self, from: Cell, to: Cell) -> u16 {
        self.steps[to.index() * self.numbers + from.index()]
    }
}
