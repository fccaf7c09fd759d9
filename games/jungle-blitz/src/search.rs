//! The path search, with the tie-breaking of the original.
//!
//! All steps cost one, so paths are shortest paths; which of several shortest ones is found depends on the order in
//! which the original's binary heap returns tiles of equal cost. That order is reproduced exactly here, but faster:
//!
//! - The heap only ever holds tiles of two costs, `d` and `d + 1`, so one bit per tile is enough.
//! - A pushed tile costs `d + 1` and never rises: pushing is appending.
//! - The original rebuilds its heap whenever it finds an open tile again at equal cost. The heap is
//!   in order then, and rebuilding an ordered heap only reverses *chains*: from a tile to its right
//!   child if that costs the same, else to its left child if that does, and so on. Every tile is in
//!   exactly one chain.
//!
//! `tests/all/search.rs` holds the original's procedure word for word and compares millions of tiles.

use crate::arena::{Arena, Cell, Direction, Ground};
use crate::state::{State, UnitIndex};

/// A tile that cannot be entered, or has been expanded.
const CLOSED: u8 = 0;
/// A tile not seen yet.
const FREE: u8 = 1;
/// A tile in the heap; the lowest bit is the parity of its cost.
const OPEN: u8 = 2;
/// The bit of a heap entry that holds the parity of its cost; the others hold the tile.
const PARITY: u16 = 1 << 15;

/// Scratch memory of the search.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// CLOSED, FREE or OPEN, by tile number.
    board: Vec<u8>,
    /// The step that led to a tile, by tile number.
    came_by: Vec<u8>,
    heap: Vec<u16>,
    /// The steps of the found path, the last one first.
    steps: Vec<Direction>,
}

impl Search {
    /// A path for `unit` to `to`, around everything it may not enter at the moment (JB-MOVE-6): its first step,
    /// and the other steps from the last to the second. `None` when there is none.
    pub fn find(
        &mut self,
        arena: &Arena,
        state: &State,
        unit: UnitIndex,
        to: Cell,
    ) -> Option<(Direction, &[Direction])> {
        self.lay_out(arena, state, unit);
        let from = state.unit(unit).cell;
        if !self.reach(arena, from, to) {
            return None;
        }
        self.trace(arena, from, to);
        let (&first, rest) = self.steps.split_last()?;
        Some((first, rest))
    }

    /// Marks what is walkable for `unit`: the same tiles as JB-MOVE-1.
    fn lay_out(&mut self, arena: &Arena, state: &State, unit: UnitIndex) {
        let own = state.unit(unit);
        let spawns = arena.ground(own.cell) == Ground::Spawn;
        self.board.clear();
        self.board.extend(arena.grounds().iter().map(|&ground| match ground {
            Ground::Wall => CLOSED,
            Ground::Empty => FREE,
            Ground::Spawn => u8::from(spawns) * FREE,
        }));
        self.came_by.resize(arena.numbers(), 0);
        for other in &state.units {
            self.board[other.cell.index()] = CLOSED;
        }
        if own.holds > 0 {
            for diamond in state.diamonds.iter().filter(|diamond| diamond.on_ground()) {
                self.board[diamond.cell.index()] = CLOSED;
            }
        }
    }

    /// Expands tiles until the heap returns `to` (JB-PATH-1). Of several tiles from which a tile can be reached
    /// at equal cost, the one expanded last is kept (JB-PATH-2).
    fn reach(&mut self, arena: &Arena, from: Cell, to: Cell) -> bool {
        let offsets = arena.offsets();
        self.heap.clear();
        self.heap.push(from.0);
        while let Some(entry) = self.pop() {
            let cell = entry & !PARITY;
            if cell == to.0 {
                return true;
            }
            let next = !entry & PARITY;
            let open = OPEN | u8::from(next != 0);
            self.board[usize::from(cell)] = CLOSED;
            // Whether the heap still has to be rebuilt. Two rebuilds with nothing pushed in between cancel out.
            let mut rebuild = false;
            for way in Direction::ALL {
                let beside = cell.wrapping_add_signed(offsets[way as usize]);
                let seen = &mut self.board[usize::from(beside)];
                if *seen == FREE {
                    *seen = open;
                    self.came_by[usize::from(beside)] = way as u8;
                    if std::mem::take(&mut rebuild) {
                        turn_chains(&mut self.heap);
                    }
                    self.heap.push(beside | next);
                } else if *seen == open {
                    self.came_by[usize::from(beside)] = way as u8;
                    rebuild = !rebuild;
                }
            }
            if rebuild {
                turn_chains(&mut self.heap);
            }
        }
        false
    }

    /// Takes the first tile: the last one replaces it, sinks to the bottom along the cheaper children (the
    /// right one unless the left is strictly cheaper), and rises again.
    fn pop(&mut self) -> Option<u16> {
        let moved = self.heap.pop()?;
        let heap = &mut self.heap[..];
        let Some(&first) = heap.first() else { return Some(moved) };
        let cheap = first & PARITY;
        let mut at = 0;
        // `cheap` is the parity of the lower cost: a differing bit means the higher one.
        let costly = |entry: u16| (entry ^ cheap) & PARITY != 0;
        while 2 * at + 2 < heap.len() {
            let right = 2 * at + 2;
            let child = right - usize::from(costly(heap[right]) && !costly(heap[right - 1]));
            heap[at] = heap[child];
            at = child;
        }
        if 2 * at + 1 < heap.len() {
            heap[at] = heap[2 * at + 1];
            at = 2 * at + 1;
        }
        if !costly(moved) {
            while at > 0 && costly(heap[(at - 1) / 2]) {
                heap[at] = heap[(at - 1) / 2];
                at = (at - 1) / 2;
            }
        }
        heap[at] = moved;
        Some(first)
    }

    /// Records the steps from `to` back to `from`.
    fn trace(&mut self, arena: &Arena, from: Cell, to: Cell) {
        self.steps.clear();
        let mut cell = to;
        while cell != from {
            let way = Direction::from_code(self.came_by[cell.index()]);
            self.steps.push(way);
            cell = Cell(cell.0.wrapping_add_signed(-arena.offsets()[way as usize]));
        }
    }
}

/// Rebuilds an ordered heap, which reverses every chain.
fn turn_chains(heap: &mut [u16]) {
    let same = |heap: &[u16], one: usize, other: usize| (heap[one] ^ heap[other]) & PARITY == 0;
    let mut chain = [0usize; usize::BITS as usize];
    for head in 0..heap.len() / 2 {
        // A tile is in the middle of a chain when it costs the same as its parent, and, as a left
        // child, its sibling does not.
        if head > 0 && same(heap, head, (head - 1) / 2) {
            let left = head % 2 == 1;
            if !left || head + 1 >= heap.len() || !same(heap, head, head + 1) {
                continue;
            }
        }
        let (mut length, mut at) = (1, head);
        chain[0] = head;
        while 2 * at + 1 < heap.len() {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            at = if right < heap.len() && same(heap, at, right) {
                right
            } else if same(heap, at, left) {
                left
            } else {
                break;
            };
            chain[length] = at;
            length += 1;
        }
        let (mut low, mut high) = (0, length - 1);
        while low < high {
            heap.swap(chain[low], chain[high]);
            (low, high) = (low + 1, high - 1);
        }
    }
}
