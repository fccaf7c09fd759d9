//! SHOOT: the line of fire and the damage.

use crate::board::{HEIGHT, Tile, Tiles, WIDTH};
use crate::state::{State, UnitId};

/// What a shot struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Struck {
    /// An obstacle, without effect.
    Obstacle(Tile),
    /// A unit, and how many health points it lost.
    Unit {
        /// The unit: the target, or one that stood in the way.
        unit: UnitId,
        /// Health points lost.
        damage: u8,
    },
}

/// What a shot strikes: of everything in between, whatever is nearest to the shooter (an obstacle or any
/// unit, the player's own included), or else the target. CW-SHOOT-3.
pub(crate) fn aim(
    lines: &Lines,
    floor: Tiles,
    base: u8,
    state: &State,
    shooter: UnitId,
    target: UnitId,
) -> Struck {
    let (from, to) = (state.tile(shooter), state.tile(target));
    let open = floor & !state.occupied;
    let unit = match lines.between(from, to).find(|&tile| !open.contains(tile)) {
        None => target,
        Some(tile) => match state.unit_at(tile) {
            Some(unit) => unit,
            None => return Struck::Obstacle(tile),
        },
    };
    // The distance to the unit hit counts, not the one to the target. CW-SHOOT-2.
    let damage = base.saturating_sub(from.distance(state.tile(unit)));
    Struck::Unit { unit, damage: damage.min(state.hp(unit)) }
}

/// Takes health points off a unit; at 0 it is dead, but its body stays on its tile until it is removed.
/// Returns whether it died. CW-UNIT-2.
pub(crate) fn hurt(state: &mut State, unit: UnitId, damage: u8) -> bool {
    let hp = &mut state.hp[usize::from(unit)];
    *hp = hp.saturating_sub(damage);
    let dead = *hp == 0;
    if dead {
        state.living.remove(unit);
    }
    dead
}

/// For every offset on the board, the tiles between its ends.
pub(crate) struct Lines([[Line; 2 * WIDTH as usize - 1]; 2 * HEIGHT as usize - 1]);

/// The tiles between two ends, nearest the shooter first, as offsets from the shooter's tile number.
#[derive(Clone, Copy)]
struct Line {
    len: u8,
    offsets: [i8; WIDTH as usize - 2],
}

impl Lines {
    /// Draws all lines.
    pub(crate) fn new() -> Self {
        let empty = Line { len: 0, offsets: [0; WIDTH as usize - 2] };
        let mut lines = [[empty; 2 * WIDTH as usize - 1]; 2 * HEIGHT as usize - 1];
        for (dy, row) in (1 - i32::from(HEIGHT)..).zip(&mut lines) {
            for (dx, line) in (1 - i32::from(WIDTH)..).zip(row) {
                *line = Line::drawn(dx, dy);
            }
        }
        Self(lines)
    }

    /// The tiles between two tiles, nearest `from` first.
    pub(crate) fn between(&self, from: Tile, to: Tile) -> impl Iterator<Item = Tile> + '_ {
        let dy = usize::from(HEIGHT - 1 + to.y() - from.y());
        let dx = usize::from(WIDTH - 1 + to.x() - from.x());
        let line = &self.0[dy][dx];
        line.offsets[..usize::from(line.len)].iter().map(move |&offset| from.offset(offset))
    }
}

impl Line {
    /// Bresenham's line to a target `dx` columns and `dy` rows away. It is drawn from the upper end to the
    /// lower one, whoever shoots; this decides which of two tiles it touches. CW-SHOOT-4.
    fn drawn(dx: i32, dy: i32) -> Self {
        let upwards = dy < 0;
        // Relative to the upper end, which lies at (0, 0).
        let (end_x, end_y) = if upwards { (-dx, -dy) } else { (dx, dy) };
        let (width, height) = (end_x.abs(), end_y);
        let step_x = if end_x > 0 { 1 } else { -1 };
        let mut tiles = Vec::new();
        let (mut x, mut y, mut error) = (0, 0, width - height);
        loop {
            let doubled = 2 * error;
            if doubled > -height {
                error -= height;
                x += step_x;
            }
            if doubled < width {
                error += width;
                y += 1;
            }
            if (x, y) == (end_x, end_y) {
                break;
            }
            tiles.push((x, y));
        }
        if upwards {
            tiles.reverse();
            tiles.iter_mut().for_each(|(x, y)| (*x, *y) = (*x + dx, *y + dy));
        }
        let mut line = Self { len: tiles.len() as u8, offsets: [0; WIDTH as usize - 2] };
        for (offset, (x, y)) in line.offsets.iter_mut().zip(tiles) {
            *offset = (y * i32::from(WIDTH) + x) as i8;
        }
        line
    }
}
