//! MOVE: one tile a turn, towards a tile.

use crate::board::{Tile, Tiles};
use crate::orders::Action;
use crate::path::first_step;
use crate::state::{State, UnitId};

/// What a unit sent to `target` does: MOVE, CONVERT out of reach and SHOOT out of range all end here.
///
/// - Its own tile: it waits. CW-MOVE-2.
/// - A neighbouring tile: it goes there when that is free, and waits otherwise. CW-MOVE-3.
/// - Further: it takes the first step of a path around obstacles and units (CW-PATH-1); where there is none, of
///   a path around obstacles alone, and waits when a unit stands on that step (CW-PATH-3);
///   where there is none either, it waits (CW-PATH-4).
pub(crate) fn towards(floor: Tiles, state: &State, unit: UnitId, target: Tile) -> Action {
    let from = state.tile(unit);
    let free = floor & !state.occupied;
    let step = match from.distance(target) {
        0 => None,
        1 => Some(target),
        _ => first_step(from, target, free).or_else(|| first_step(from, target, floor)),
    };
    match step {
        Some(to) if free.contains(to) => Action::Move { unit, to },
        _ => Action::Wait,
    }
}

/// Puts a unit on a free tile. CW-MOVE-1.
pub(crate) fn relocate(state: &mut State, unit: UnitId, to: Tile) {
    let tile = &mut state.tiles[usize::from(unit)];
    state.occupied.remove(*tile);
    state.occupied.insert(to);
    *tile = to;
}
