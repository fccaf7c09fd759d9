//! Maps from a seed.

use agon_game::Chance;

use crate::map::{Map, Tile};
use crate::map_check::check;

/// The sizes of the contest's maps.
pub const SIZES: [(u8, u8); 3] = [(20, 14), (17, 12), (15, 11)];

/// Generates a map with four equal quarters on which every diamond can be reached (JB-MAP-7).
pub fn generate(chance: &mut impl Chance) -> Map {
    let (width, height) = SIZES[chance.below(3) as usize];
    loop {
        let map = attempt(width, height, chance);
        if check(&map).good() {
            return map;
        }
    }
}

/// Draws the upper left quarter and its three mirror images.
fn attempt(width: u8, height: u8, chance: &mut impl Chance) -> Map {
    let mut map = Map::new(usize::from(width), usize::from(height)).expect("the sizes are small");
    map.units = [0, 4 + chance.below(2) as u8, 0, 2 + chance.below(2) as u8];
    let (columns, rows) = (width.div_ceil(2), height.div_ceil(2));
    let mut put = |x: u8, y: u8, tile: Tile| {
        for (x, y) in [(x, y), (width - 1 - x, y), (x, height - 1 - y), (width - 1 - x, height - 1 - y)] {
            map.set(x, y, tile);
        }
    };
    // Walls are short lines of stone or water, so that they form corners rather than noise.
    for _ in 0..2 + chance.below(5) {
        let tile = if chance.happens(1, 2) { Tile::Stone } else { Tile::Water };
        let (mut x, mut y) = (chance.below(columns.into()) as u8, chance.below(rows.into()) as u8);
        let across = chance.happens(1, 2);
        for _ in 0..1 + chance.below(4) {
            if x < columns && y < rows {
                put(x, y, tile);
            }
            if across { x += 1 } else { y += 1 }
        }
    }
    let (x, y) = (chance.below(u32::from(columns) - 1) as u8, chance.below(u32::from(rows) - 1) as u8);
    for (right, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        put(x + right, y + down, Tile::Spawn);
    }
    for _ in 0..1 + chance.below(2) {
        put(chance.below(columns.into()) as u8, chance.below(rows.into()) as u8, Tile::Diamond);
    }
    map
}
