//! Maps from a seed: the same homes for every team, treasure between them, too few portals.
//!
//! Two teams get a map that is unchanged by a half turn. More teams get a grid of equal rooms, one
//! home each; rooms without a home hold treasure.

use agon_game::{Chance as _, Seeded};

use crate::map::Map;

/// Draws a map for `seats` teams. The same seed always gives the same map.
pub fn generate(seed: i64, seats: u8) -> String {
    let mut chance = Seeded::stream(seed, "generate");
    loop {
        let drawn = if seats == 2 { halves(&mut chance) } else { rooms(&mut chance, usize::from(seats)) };
        // A drawing with something out of reach is thrown away.
        let sound = Map::read(&drawn)
            .is_ok_and(|map| map.advice().iter().all(|advice| advice.starts_with("no rotation")));
        if sound {
            return drawn;
        }
    }
}

/// A drawing in the making.
struct Sheet {
    width: usize,
    rows: Vec<Vec<char>>,
}

impl Sheet {
    fn new(width: usize, height: usize) -> Self {
        let mut sheet = Self { width, rows: vec![vec!['.'; width]; height] };
        for (y, row) in sheet.rows.iter_mut().enumerate() {
            for (x, cell) in row.iter_mut().enumerate() {
                if x == 0 || y == 0 || x == width - 1 || y == height - 1 {
                    *cell = '#';
                }
            }
        }
        sheet
    }

    fn text(&self) -> String {
        self.rows.iter().flat_map(|row| row.iter().chain(&['\n'])).collect()
    }

    /// Draws a character and its image under a half turn.
    fn put_both(&mut self, x: usize, y: usize, character: char) {
        let turned = match character {
            '1' => '2',
            '^' => 'v',
            'v' => '^',
            '<' => '>',
            '>' => '<',
            other => other,
        };
        let (right, bottom) = (self.width - 1 - x, self.rows.len() - 1 - y);
        self.rows[bottom][right] = turned;
        self.rows[y][x] = character;
    }
}

/// A map for two: 25 x 19, rooms of random walls, symmetric under a turn by 180 degrees.
fn halves(chance: &mut Seeded) -> String {
    const WIDTH: usize = 25;
    const HEIGHT: usize = 19;
    let mut sheet = Sheet::new(WIDTH, HEIGHT);
    // Walls with a door or a gap in each, over the upper half.
    for _ in 0..9 {
        let (x, y) = (2 + chance.below(21) as usize, 2 + chance.below(7) as usize);
        let (length, down) = (3 + chance.below(5) as usize, chance.happens(1, 2));
        let gap = chance.below(length as u32) as usize;
        for step in 0..length {
            let (x, y) = if down { (x, y + step) } else { (x + step, y) };
            if x < WIDTH - 1 && y <= HEIGHT / 2 {
                let character = if step != gap {
                    '#'
                } else if chance.happens(1, 2) {
                    'D'
                } else {
                    '.'
                };
                sheet.put_both(x, y, character);
            }
        }
    }
    for (x, y) in [(1, 1), (3, 1), (2, 2)] {
        for (x, y) in [(x, y), (x + 1, y), (x, y + 1)] {
            sheet.put_both(x, y, '.');
        }
    }
    for (x, y) in [(1, 1), (3, 1), (2, 2)] {
        sheet.put_both(x, y, '1');
    }
    strip(&mut sheet, chance);
    // Half of everything, the other side gets the rest: two portals, two chests and so on.
    for character in "PPCCVVVGGSSH".chars() {
        if let Some((x, y)) = free(&sheet, chance, 5, HEIGHT / 2) {
            sheet.put_both(x, y, character);
        }
    }
    sheet.text()
}

/// A strip of ice or a treadmill.
fn strip(sheet: &mut Sheet, chance: &mut Seeded) {
    let character = ['~', '<', '>'][chance.below(3) as usize];
    let (from, y) = (6 + chance.below(12) as usize, 3 + chance.below(6) as usize);
    for x in from..(from + 5).min(sheet.width - 1) {
        if sheet.rows[y][x] == '.' {
            sheet.put_both(x, y, character);
        }
    }
}

/// A random free cell, at least `distance` steps from the corner of the first home.
fn free(sheet: &Sheet, chance: &mut Seeded, distance: usize, rows: usize) -> Option<(usize, usize)> {
    let cells = (1..rows).flat_map(|y| (1..sheet.width - 1).map(move |x| (x, y)));
    let free: Vec<_> = cells.filter(|&(x, y)| sheet.rows[y][x] == '.' && x + y > distance).collect();
    (!free.is_empty()).then(|| free[chance.below(free.len() as u32) as usize])
}

/// A map for three to nine: rooms of 9 x 9 in rows of three, or of two for four teams.
fn rooms(chance: &mut Seeded, seats: usize) -> String {
    const ROOM: usize = 10;
    let across = if seats == 4 { 2 } else { 3 };
    let down = seats.div_ceil(across);
    let mut sheet = Sheet::new(across * ROOM + 1, down * ROOM + 1);
    let [home, vault] = [true, false].map(|home| furnish(chance, home));
    for number in 0..across * down {
        let (left, top) = (number % across * ROOM, number / across * ROOM);
        let room = if number < seats { &home } else { &vault };
        for (y, row) in room.iter().enumerate() {
            for (x, &character) in row.iter().enumerate() {
                let team = char::from_digit(number as u32 + 1, 10).unwrap_or('.');
                sheet.rows[top + 1 + y][left + 1 + x] = if character == '1' { team } else { character };
            }
        }
        // Walls to the right and below, each with a door in the middle and a gap beside it.
        for step in 0..=ROOM {
            let character = match step {
                5 => 'D',
                3 => '.',
                _ => '#',
            };
            if number % across + 1 < across {
                sheet.rows[top + step][left + ROOM] = character;
            }
            if number / across + 1 < down {
                sheet.rows[top + ROOM][left + step] = character;
            }
        }
    }
    sheet.text()
}

/// The inside of a room: its contents are random, the cells in front of its doors stay free.
fn furnish(chance: &mut Seeded, home: bool) -> Vec<Vec<char>> {
    let mut room = vec![vec!['.'; 9]; 9];
    if home {
        for (x, y) in [(3, 4), (4, 3), (5, 4)] {
            room[y][x] = '1';
        }
    }
    let things = if home { "PPCVVGS###~" } else { "PCCVGSSH###" };
    for character in things.chars() {
        let (x, y) = (1 + chance.below(7) as usize, 1 + chance.below(7) as usize);
        let near_home = home && (2..=6).contains(&x) && (2..=5).contains(&y);
        if room[y][x] == '.' && !near_home {
            room[y][x] = character;
        }
    }
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_maps_are_sound_for_any_number_of_teams() {
        for seats in 2..=9 {
            for seed in 0..50 {
                let text = generate(seed, seats);
                let map = Map::read(&text).expect("a map");
                assert_eq!(map.homes.len(), usize::from(seats));
                assert!(map.homes.iter().all(|home| home.len() == 3));
                assert!(seats > 2 || map.is_symmetric());
                assert_eq!(text, generate(seed, seats), "the same seed draws the same map");
            }
        }
    }
}
