//! Maps generated from the seed, for the rules document: mirrored, with hubs, everything within reach.

use agon_game::{Chance, Seeded, SetupError};

use crate::map::Map;
use crate::rules::Rules;
use crate::state::{At, Kind, Player};

/// How often the generator tries before it gives up.
const ATTEMPTS: u32 = 200;
/// Rows at the top (and, mirrored, at the bottom) that stay open for the armies; fewer on low maps.
const HOME_ROWS: u8 = 6;

/// Generates the map of `seed`.
///
/// # Errors
/// When the map is too small for the hubs.
pub fn generate(rules: &Rules, seed: i64) -> Result<Map, SetupError> {
    let mut chance = Seeded::stream(seed, "map");
    // Each new attempt asks for less: fewer walls, hubs closer together.
    (0..ATTEMPTS).find_map(|attempt| Draft::new(rules).finish(rules, attempt, &mut chance)).ok_or_else(|| {
        SetupError::BadMap {
            place: "generated".to_owned(),
            why: format!(
                "{} hubs find no place on {} x {} tiles",
                rules.hubs, rules.map_width, rules.map_height
            ),
        }
    })
}

/// The top half of a map, including the middle row if there is one.
struct Draft {
    width: u8,
    height: u8,
    rows: Vec<Vec<u8>>,
}

impl Draft {
    /// DH-GEN-1: a bordered field of the rules' size, every row equal to its mirror image.
    fn new(rules: &Rules) -> Self {
        let (width, height) = (rules.map_width, rules.map_height);
        let mut rows = vec![vec![b' '; usize::from(width)]; usize::from(height.div_ceil(2))];
        rows[0].fill(b'X');
        for row in &mut rows {
            row[0] = b'X';
            row[usize::from(width) - 1] = b'X';
        }
        Self { width, height, rows }
    }

    fn home_rows(&self) -> u8 {
        HOME_ROWS.min(self.height / 4)
    }

    fn set(&mut self, at: At, tile: u8) {
        self.rows[usize::from(at.y)][usize::from(at.x)] = tile;
    }

    fn finish(mut self, rules: &Rules, attempt: u32, chance: &mut Seeded) -> Option<Map> {
        let armies = self.armies(rules);
        let hubs = self.place_hubs(rules.hubs, &armies, attempt, chance)?;
        let keep: Vec<At> = armies.iter().map(|army| army.1).chain(hubs.iter().copied()).collect();
        self.place_walls(&keep, attempt, chance);
        for &(kind, at) in &armies {
            self.set(at, if kind == Kind::Worker { b'w' } else { b'm' });
        }
        let top: Vec<&str> =
            self.rows.iter().map(|row| std::str::from_utf8(row).unwrap_or_default()).collect();
        let middle = usize::from(self.height % 2);
        let below = top[..top.len() - middle].iter().rev();
        let rows: Vec<&str> = top.iter().chain(below).copied().collect();
        let owner = |_, row: usize| if row < top.len() { Player::One } else { Player::Two };
        let mut map = Map::from_rows(&rows, owner).ok()?;
        // DH-GEN-3: both armies are numbered alike, workers first.
        let mirrored = |at: At| At::new(at.x, self.height - 1 - at.y);
        let one = armies.iter().map(|&(kind, at)| (Player::One, kind, at));
        map.units = one.chain(armies.iter().map(|&(kind, at)| (Player::Two, kind, mirrored(at)))).collect();
        let wanted: Vec<At> = map.units.iter().map(|unit| unit.2).chain(hubs).collect();
        (map.hubs() == usize::from(rules.hubs) && map.connects(wanted[0], wanted)).then_some(map)
    }

    /// DH-GEN-3: workers in row 3, melees in row 4, each with a tile between them, around the middle
    /// column.
    fn armies(&self, rules: &Rules) -> Vec<(Kind, At)> {
        let row = |kind, count: u8, y| {
            let first = self.width / 2 - count.saturating_sub(1);
            (0..count).map(move |index| (kind, At::new(first + 2 * index, y)))
        };
        row(Kind::Worker, rules.start_workers, 3).chain(row(Kind::Melee, rules.start_melees, 4)).collect()
    }

    /// DH-GEN-2: an odd hub lies in the centre, over the middle row; the others in mirrored pairs.
    fn place_hubs(
        &mut self,
        hubs: u8,
        armies: &[(Kind, At)],
        attempt: u32,
        chance: &mut Seeded,
    ) -> Option<Vec<At>> {
        let mut places = Vec::new();
        if hubs % 2 == 1 {
            for x in (self.width - 1) / 2..=self.width / 2 {
                let at = At::new(x, (self.height - 1) / 2);
                self.set(at, b'R');
                places.push(at);
            }
        }
        let apart = 2.max(8_u8.saturating_sub((attempt / 20) as u8));
        // A hub must not touch its mirror image: two rows stay between it and the middle.
        let (top, bottom) = (self.home_rows(), ((self.height - 1) / 2).checked_sub(2)?);
        for _ in 0..hubs / 2 {
            let place = (0..50).find_map(|_| {
                let at = At::new(between(2, self.width - 3, chance)?, between(top, bottom, chance)?);
                let free = armies.iter().all(|army| at.square_distance(army.1) > 1)
                    && places.iter().all(|other| at.square_distance(*other) >= apart);
                free.then_some(at)
            })?;
            self.set(place, b'R');
            places.push(place);
        }
        Some(places)
    }

    /// Scatters blocks and bars of wall, none touching what is in `keep`.
    fn place_walls(&mut self, keep: &[At], attempt: u32, chance: &mut Seeded) {
        let area = u32::from(self.width) * self.rows.len() as u32;
        let pieces = area / 40 * (ATTEMPTS - attempt) / ATTEMPTS;
        for _ in 0..pieces {
            let (wide, high) = match chance.below(3) {
                0 => (1, 2 + chance.below(4)),
                1 => (2 + chance.below(5), 1),
                _ => (1 + chance.below(3), 1 + chance.below(3)),
            };
            let x = 1 + chance.below(u32::from(self.width) - 2);
            let home = u32::from(self.home_rows());
            let y = home + chance.below(self.rows.len() as u32 - home);
            for (x, y) in (y..y + high).flat_map(|y| (x..x + wide).map(move |x| (x, y))) {
                let at = At::new(x as u8, y as u8);
                let inside = x < u32::from(self.width) - 1 && y < self.rows.len() as u32;
                if inside && keep.iter().all(|kept| kept.square_distance(at) > 1) {
                    self.set(at, b'X');
                }
            }
        }
    }
}

/// A random number from `least` to `most`; `None` for an empty range.
fn between(least: u8, most: u8, chance: &mut Seeded) -> Option<u8> {
    (least <= most).then(|| least + chance.below(u32::from(most - least) + 1) as u8)
}
