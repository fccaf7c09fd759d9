//! Generating a board from a seed.

use agon_game::Seat;

use crate::board::{Tile, Tiles, WIDTH};
use crate::map::Map;
use crate::rules::Rules;
use crate::state::{LEADERS, Owner, State};

/// Where the leaders start. CW-UNIT-1.
const LEADERS_START: [Tile; LEADERS as usize] = [Tile::at(0, 3), Tile::at(WIDTH - 1, 3)];
/// Columns in which the neutrals of the left half start: 1 to 5. CW-MAP-2.
const NEUTRAL_COLUMNS: u32 = 5;
/// Rows to draw from.
const ROWS: u32 = crate::board::HEIGHT as u32;
/// The left half: columns 0 to 5. The middle column never has an obstacle. CW-MAP-3.
const LEFT_HALF: u8 = WIDTH / 2;
/// After this many boards with disconnected floor the rules are taken to be impossible.
const MOST_ATTEMPTS: u32 = 100_000;

/// Makes the board of `seed`: leaders, neutrals in the left half with their mirror images (CW-MAP-2), then
/// obstacles until the floor is in one piece (CW-MAP-3, CW-MAP-4).
///
/// # Errors
/// When the floor is never in one piece.
pub(crate) fn generate(rules: &Rules, seed: i64) -> Result<Map, String> {
    let mut random = SplittableRandom::new(seed);
    let mut start = State::empty(rules.neutral_seed);
    let pairs = (rules.number_of_units - LEADERS) / 2;
    for (unit, tile) in (0..).zip(LEADERS_START) {
        start.place(unit, tile, Owner::Player(Seat::new(unit)), rules.health_points);
    }
    for unit in LEADERS..LEADERS + pairs {
        let tile = loop {
            let x = random.below(NEUTRAL_COLUMNS) as u8 + 1;
            let tile = Tile::at(x, random.below(ROWS) as u8);
            if !start.occupied.contains(tile) {
                break tile;
            }
        };
        start.place(unit, tile, Owner::Neutral, rules.health_points);
    }
    for unit in LEADERS..LEADERS + pairs {
        start.place(unit + pairs, start.tile(unit).mirrored(), Owner::Neutral, rules.health_points);
    }
    for _ in 0..MOST_ATTEMPTS {
        let floor = scatter(&mut random, start.occupied, rules.obstacle_chance);
        if in_one_piece(floor) {
            return Ok(Map { floor, start });
        }
    }
    Err(format!("no board in one piece in {MOST_ATTEMPTS} attempts; lower `obstacle_chance`"))
}

/// Draws for each free tile of the left half, column by column, whether it and its mirror image become
/// obstacles; returns the remaining floor. CW-MAP-3.
fn scatter(random: &mut SplittableRandom, occupied: Tiles, chance: f64) -> Tiles {
    let mut floor = Tiles::BOARD;
    for x in 0..LEFT_HALF {
        for y in 0..ROWS as u8 {
            let tile = Tile::at(x, y);
            if !occupied.contains(tile) && random.unit() < chance {
                floor.remove(tile);
                floor.remove(tile.mirrored());
            }
        }
    }
    floor
}

/// Whether every floor tile can be reached from the first leader's tile, ignoring units. CW-MAP-4.
fn in_one_piece(floor: Tiles) -> bool {
    let mut reached = Tiles::one(LEADERS_START[0]);
    loop {
        let more = reached | (reached.around() & floor);
        if more == reached {
            return reached == floor;
        }
        reached = more;
    }
}

/// The part of Java's `SplittableRandom` that boards need. CW-MAP-1.
struct SplittableRandom(u64);

impl SplittableRandom {
    fn new(seed: i64) -> Self {
        Self(seed as u64)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0
    }

    /// `nextInt(bound)` for bounds that are not powers of two.
    fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(!bound.is_power_of_two());
        loop {
            let mut mixed = self.next();
            mixed = (mixed ^ mixed >> 33).wrapping_mul(0x62a9_d9ed_7997_05f5);
            mixed = (mixed ^ mixed >> 28).wrapping_mul(0xcb24_d0a5_c88c_35b3);
            // The upper 32 bits, without their sign.
            let drawn = (mixed >> 33) as u32;
            let number = drawn % bound;
            // Numbers from the last, incomplete round of `bound` would come up too often.
            if drawn - number + (bound - 1) < 1 << 31 {
                return number;
            }
        }
    }

    /// `nextDouble()`: from 0 to below 1.
    fn unit(&mut self) -> f64 {
        let mut mixed = self.next();
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers come from the Java library itself.
    #[test]
    fn draws_what_java_draws() {
        let mut random = SplittableRandom::new(1_234_567);
        assert_eq!([5, 7, 5, 7, 5, 7].map(|bound| random.below(bound)), [0, 2, 0, 5, 4, 4]);
        let numbers = [0.5906476283120033, 0.27528749941108965, 0.43779353926260767];
        assert_eq!([(); 3].map(|()| random.unit()), numbers);
        let mut random = SplittableRandom::new(-1);
        let drawn: Vec<u32> = (0..16).map(|turn| random.below([5, 7][turn % 2])).collect();
        assert_eq!(drawn, [3, 6, 3, 5, 2, 5, 1, 6, 2, 0, 2, 3, 0, 4, 0, 5]);
    }
}
