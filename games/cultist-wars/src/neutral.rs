//! The neutral step: after every valid action a neutral may stroll one tile.

use crate::board::{Tile, Tiles};
use crate::moving::relocate;
use crate::state::{Owner, State, UnitId};

/// The next number of the neutrals' generator, below `bound`. CW-NEUTRAL-1.
///
/// It is independent of the match's seed: it starts at the same number in every match, so that everybody
/// can know where the neutrals will go.
fn draw(state: &mut State, bound: u32) -> u32 {
    state.generator = state.generator.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
    state.generator % bound
}

/// The neutral step. Returns which unit moved, from where and to where.
///
/// The list of neutrals is ordered by id and keeps the dead for ever (CW-NEUTRAL-3). One of its places is
/// drawn, always out of `neutral_draw`: the shorter the list, the more often nobody moves (CW-NEUTRAL-2).
/// A living neutral goes to one of the free tiles around it; the tile of a unit killed this turn is not
/// yet free, and a neutral that is shut in still draws (CW-NEUTRAL-4, CW-NEUTRAL-5).
pub(crate) fn stroll(state: &mut State, floor: Tiles, neutral_draw: u32) -> Option<(UnitId, Tile, Tile)> {
    let neutrals = state.owned(Owner::Neutral);
    if neutrals.is_empty() {
        return None;
    }
    let place = draw(state, neutral_draw);
    if place >= neutrals.len() {
        return None;
    }
    let unit = neutrals.nth(place);
    if !state.living.contains(unit) {
        return None;
    }
    let from = state.tile(unit);
    let free = floor & !state.occupied;
    let mut options = [Tile::NOWHERE; 4];
    let mut count = 0;
    for tile in from.neighbours() {
        options[count & 3] = tile;
        count += usize::from(free.contains(tile));
    }
    let choice = draw(state, count.max(1) as u32);
    if count == 0 {
        return None;
    }
    let to = options[choice as usize];
    relocate(state, unit, to);
    Some((unit, from, to))
}
