//! Where mobile units go: the shortest way to the target edge, or to the deepest reachable tile.

use crate::arena::{Board, Edge, Tile};
use crate::work::{Mobile, Work};

/// Up, down, right, left, as offsets of [`Tile::index`].
const AROUND: [isize; 4] = [32, -32, 1, -1];

/// Distances to an edge, or, in pockets cut off from it, to the pocket's deepest tile.
#[derive(Clone, Default)]
pub struct Field {
    /// Raised whenever the distances change; 0 while they do not match the standing structures.
    version: u32,
    /// How often the distances were computed.
    counted: u32,
    /// By distance, the tiles that many steps away.
    rings: Vec<Board>,
    /// The open tiles without a known distance so far.
    rest: Board,
}

/// The tile a unit steps to next; `None` when it stands on the best tile it can reach (TM-PATH-5).
///
/// Everything is decided anew for each step, from the structures standing at the start of the frame.
#[inline]
pub fn next_step(work: &mut Work, mobile: &mut Mobile, pick: Option<Tile>) -> Option<Tile> {
    let way = &mut work.ways[mobile.edge.index()];
    if way.version == 0 {
        way.lead_to_edge(work.open, mobile.edge);
    }
    if mobile.way != way.version {
        mobile.way = way.version;
        mobile.distance = way.distance(mobile.tile).unwrap_or_else(|| {
            way.lead_to_deepest(mobile.tile, mobile.edge);
            way.distance(mobile.tile).expect("the goal was looked for from this tile")
        });
    }
    let nearer = mobile.distance.checked_sub(1)?;
    let here = mobile.tile.index();
    let ring = &way.rings[usize::from(nearer)];
    let leads = |offset: isize| ring.contains(Tile::known(here.wrapping_add_signed(offset)));
    let own = Tile::known(here.wrapping_add_signed(choose(mobile, AROUND.map(leads))?));
    mobile.distance = nearer;
    // TM-SEASON-7: any tile that is one step nearer can be picked, no other.
    Some(match pick {
        Some(tile) if ring.contains(tile) && tile.distance2(mobile.tile) == 1 => tile,
        _ => own,
    })
}

/// Chooses among the neighbours that are one step nearer: up, down, right, left.
///
/// TM-PATH-4: after a horizontal step, and at the start, a vertical one is preferred; after a vertical one, a
/// horizontal one. TM-PATH-6: of two on the preferred axis, the one towards the target edge. TM-PATH-7: of
/// two on the other axis, the left one (the lower one), for both players.
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

impl Field {
    /// Invalidates the distances because a structure has gone or come.
    pub fn forget(&mut self) {
        self.version = 0;
    }

    /// The steps to go from a tile, if known.
    fn distance(&self, tile: Tile) -> Option<u16> {
        self.rings.iter().position(|ring| ring.contains(tile)).map(|distance| distance as u16)
    }

    /// TM-PATH-2: if the target edge can be reached, all its open tiles are equal goals, and structures of
    /// both players block (`open` holds the tiles without any).
    fn lead_to_edge(&mut self, open: Board, edge: Edge) {
        self.counted += 1;
        self.version = self.counted;
        self.rings.clear();
        self.rest = open;
        self.spread(open.and(edge.board()));
    }

    /// TM-PATH-3: in a pocket the goal is the deepest tile, and among those the one furthest to the side of
    /// the target edge.
    #[cold]
    fn lead_to_deepest(&mut self, from: Tile, edge: Edge) {
        let mut front = Board::default();
        front.insert(from);
        let mut pocket = Board::default();
        while !front.is_empty() {
            pocket = pocket.or(&front);
            front = front.around().and(&self.rest).and_not(&pocket);
        }
        let mut goal = Board::default();
        goal.insert(pocket.furthest(edge).expect("the unit's own tile is in its pocket"));
        self.spread(goal);
    }

    /// Counts the steps from `goals`, which are open, to every open tile they can be reached from. Pockets
    /// have no tile in common, so their rings share the same boards.
    fn spread(&mut self, goals: Board) {
        let (mut front, mut distance) = (goals, 0);
        while !front.is_empty() {
            self.rest = self.rest.and_not(&front);
            match self.rings.get_mut(distance) {
                Some(ring) => *ring = ring.or(&front),
                None => self.rings.push(front),
            }
            distance += 1;
            front = front.around().and(&self.rest);
        }
    }
}

/// The distance from every tile to an edge, for bots: with the structures of a state, and planned ones.
pub struct Survey {
    open: Board,
    ways: [Field; 4],
}

impl Survey {
    /// The arena with the structures of `state`.
    pub fn new(state: &crate::state::State) -> Self {
        let mut open = Board::ARENA;
        state.structures().iter().for_each(|structure| open.remove(structure.tile()));
        Self { open, ways: Default::default() }
    }

    /// Puts a planned structure on a tile.
    pub fn close(&mut self, tile: Tile) {
        self.open.remove(tile);
        self.ways.iter_mut().for_each(Field::forget);
    }

    /// Steps from a start tile to its target edge; `None` if there is no way.
    pub fn steps(&mut self, tile: Tile) -> Option<u16> {
        let edge = Edge::opposite(tile);
        let way = &mut self.ways[edge.index()];
        if way.version == 0 {
            way.lead_to_edge(self.open, edge);
        }
        way.distance(tile)
    }
}
