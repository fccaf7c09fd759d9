//! Where mobile units go: the shortest way to the target edge, or to the deepest tile there is.

use crate::arena::{Edge, GRID, Tile};
use crate::work::{Mobile, Work};

/// A tile nothing can enter: outside the arena, or under a structure (TM-PATH-2).
pub const CLOSED: u16 = u16::MAX;

/// A tile whose distance is not known.
pub const OPEN: u16 = u16::MAX - 1;

/// Up, down, right, left, as offsets of [`Tile::index`].
const AROUND: [isize; 4] = [32, -32, 1, -1];

/// Distances to an edge, or in pockets cut off from it to the pocket's deepest tile.
#[derive(Clone, Copy)]
pub struct Field {
    /// Whether the distances fit the structures that stand.
    pub known: bool,
    /// Steps to go from each tile; [`CLOSED`] and [`OPEN`] (not reached so far) are above all others.
    steps: [u16; GRID],
}

impl Default for Field {
    fn default() -> Self {
        Self { known: false, steps: [OPEN; GRID] }
    }
}

/// The arena without structures.
pub fn open_ground() -> [u16; GRID] {
    static GROUND: [u16; GRID] = {
        let mut ground = [CLOSED; GRID];
        let mut index = 32;
        while index < 29 * 32 {
            let (x, y) = (index as i32 % 32, index as i32 / 32 - 1);
            let half = if y < 14 { y + 1 } else { 28 - y };
            if 14 - half <= x && x < 14 + half {
                ground[index] = OPEN;
            }
            index += 1;
        }
        ground
    };
    GROUND
}

/// The tile a unit steps to next; `None` when it stands on the best tile it can reach (TM-PATH-5).
///
/// Everything is decided anew for each step, from the structures that stood at the start of the frame.
#[inline]
pub fn next_step(work: &mut Work, mobile: &Mobile) -> Option<Tile> {
    let Work { ways, ground, queue, .. } = work;
    let way = &mut ways[mobile.edge.index()];
    if !way.known {
        way.known = true;
        way.steps = *ground;
        lead_to_edge(&mut way.steps, mobile.edge, queue);
    }
    let here = mobile.tile.index();
    if way.steps[here] == OPEN {
        lead_to_deepest(&mut way.steps, mobile.tile, mobile.edge, queue);
    }
    let nearer = way.steps[here].checked_sub(1)?;
    let leads = |offset: isize| way.steps[here.wrapping_add_signed(offset)] == nearer;
    choose(mobile, AROUND.map(leads)).map(|offset| Tile::known(here.wrapping_add_signed(offset)))
}

/// Chooses among the neighbours that are one step nearer: up, down, right, left.
///
/// TM-PATH-4: after a horizontal step, and at the start, a vertical one is preferred; after a
/// vertical one a horizontal. TM-PATH-6: of two on the preferred axis the one towards the target
/// edge. TM-PATH-7: of two on the other axis the left one (the lower one), for both players.
#[inline]
fn choose(mobile: &Mobile, [up, down, right, left]: [bool; 4]) -> Option<isize> {
    let vertical = |towards: bool| match (up, down) {
        (true, true) => Some(if towards && mobile.edge.dy() > 0 { 32 } else { -32 }),
        (true, false) => Some(32),
        (false, true) => Some(-32),
        (false, false) => None,
    };
    let horizontal = |towards: bool| match (right, left) {
        (true, true) => Some(if towards && mobile.edge.dx() > 0 { 1 } else { -1 }),
        (true, false) => Some(1),
        (false, true) => Some(-1),
        (false, false) => None,
    };
    if mobile.went_sideways {
        vertical(true).or_else(|| horizontal(false))
    } else {
        horizontal(true).or_else(|| vertical(false))
    }
}

/// TM-PATH-2: where the target edge can be reached, all its open tiles are goals alike.
fn lead_to_edge(steps: &mut [u16; GRID], edge: Edge, queue: &mut Vec<u16>) {
    queue.clear();
    for tile in edge.tiles() {
        if steps[tile.index()] == OPEN {
            steps[tile.index()] = 0;
            queue.push(tile.index() as u16);
        }
    }
    spread(steps, queue);
}

/// TM-PATH-3: in a pocket the goal is the deepest tile, and among those the one furthest to the
/// side of the target edge.
fn lead_to_deepest(steps: &mut [u16; GRID], from: Tile, edge: Edge, queue: &mut Vec<u16>) {
    queue.clear();
    steps[from.index()] = 0;
    queue.push(from.index() as u16);
    spread(steps, queue);
    let merit = |&index: &u16| {
        let tile = Tile::known(usize::from(index));
        let depth = if edge.dy() > 0 { tile.y() } else { 27 - tile.y() };
        let sideways = if edge.dx() > 0 { tile.x() } else { 27 - tile.x() };
        28 * depth + sideways
    };
    let goal = queue.iter().copied().max_by_key(merit).expect("the unit's own tile is in its pocket");
    queue.iter().for_each(|&index| steps[usize::from(index)] = OPEN);
    queue.clear();
    steps[usize::from(goal)] = 0;
    queue.push(goal);
    spread(steps, queue);
}

/// Breadth-first search from the tiles in `queue`, which holds every tile reached in the end.
fn spread(steps: &mut [u16; GRID], queue: &mut Vec<u16>) {
    let mut next = 0;
    while next < queue.len() {
        let here = usize::from(queue[next]);
        next += 1;
        let further = steps[here] + 1;
        for offset in AROUND {
            let there = here.wrapping_add_signed(offset);
            if steps[there] == OPEN {
                steps[there] = further;
                queue.push(there as u16);
            }
        }
    }
}

/// How far it is from every tile to an edge, for bots: the structures of `state`, and more that are planned.
pub struct Survey {
    ground: [u16; GRID],
    queue: Vec<u16>,
}

impl Survey {
    /// The arena with these structures.
    pub fn new(state: &crate::state::State) -> Self {
        let mut ground = open_ground();
        state.structures().iter().for_each(|structure| ground[structure.tile().index()] = CLOSED);
        Self { ground, queue: Vec::new() }
    }

    /// Puts a planned structure on a tile.
    pub fn close(&mut self, tile: Tile) {
        self.ground[tile.index()] = CLOSED;
    }

    /// Whether nothing stands on a tile.
    pub fn is_open(&self, tile: Tile) -> bool {
        self.ground[tile.index()] == OPEN
    }

    /// Steps from a start tile to its target edge; `None` where there is no way.
    pub fn steps(&mut self, tile: Tile) -> Option<u16> {
        let mut steps = self.ground;
        lead_to_edge(&mut steps, Edge::opposite(tile), &mut self.queue);
        (steps[tile.index()] < OPEN).then_some(steps[tile.index()])
    }
}
