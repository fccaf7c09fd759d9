//! Who sees what (OB-SEE-1 to OB-SEE-6).
//!
//! A sight line is a Bresenham line between two cell centres, drawn from either end; it is free
//! when one of the two meets nothing that blocks it strictly between its ends (OB-SEE-4). All lines
//! of a radius are drawn once per match and merged into a tree: lines with a common beginning share
//! it, so that a wall cuts off everything behind it at once.

use agon_game::Seat;

use crate::Ostibot;
use crate::geometry::{Cell, Rows, SIDE};
use crate::items::{Kind, Slot};
use crate::map::{Map, ObjectKind};
use crate::rules::Rules;
use crate::state::State;

/// Sight lines for every radius of vision in use.
#[derive(Clone, Debug)]
pub struct Sight(Vec<Fan>);

/// Sight lines to all cells within a radius, as a tree in preorder.
#[derive(Clone, Debug)]
struct Fan {
    radius: u16,
    nodes: Vec<Node>,
}

/// A cell on a sight line.
#[derive(Clone, Copy, Debug)]
struct Node {
    dx: i8,
    dy: i8,
    /// Whether a line ends here.
    end: bool,
    /// Where in the tree to go on when this cell blocks the view.
    skip: u32,
}

impl Sight {
    /// Draws the lines that `rules` need.
    pub fn new(rules: &Rules) -> Self {
        let accessories = Kind::ALL.into_iter().filter(|kind| kind.slot() == Some(Slot::Accessory));
        let mut radii: Vec<u16> =
            accessories.map(|kind| rules.vision_length + rules.items[&kind].bonus).collect();
        radii.extend([rules.vision_length, rules.spawner_vision]);
        radii.sort_unstable();
        radii.dedup();
        Self(radii.into_iter().map(|radius| Fan::new(rules, radius)).collect())
    }

    /// Adds to `seen` the cells seen from `cell` within `radius`.
    fn look(&self, cell: Cell, radius: u16, map: &Map, blocking: &Rows, seen: &mut Rows) {
        let fan = self.0.iter().find(|fan| fan.radius == radius).expect("every radius there is was drawn");
        let mut next = 0;
        while let Some(&Node { dx, dy, end, skip }) = fan.nodes.get(next) {
            // Coordinates left of or above the map wrap round to a huge number.
            let x = cell.x().wrapping_add_signed(dx.into());
            let y = cell.y().wrapping_add_signed(dy.into());
            next = if x >= map.width || y >= map.height {
                skip as usize
            } else {
                seen.0[y] |= u32::from(end) << x;
                if blocking.0[y] >> x & 1 == 1 { skip as usize } else { next + 1 }
            };
        }
    }
}

impl Fan {
    /// Draws the lines to all cells that are at most `radius` away (OB-SEE-5). No map is longer
    /// than [`SIDE`].
    fn new(rules: &Rules, radius: u16) -> Self {
        let reach = i32::from(radius).min(SIDE as i32 - 1);
        let mut lines = Vec::new();
        for dy in -reach..=reach {
            for dx in -reach..=reach {
                if rules.vision_metric.within(dx, dy, radius.into()) {
                    lines.push(line((0, 0), (dx, dy)));
                    let mut back = line((dx, dy), (0, 0));
                    back.reverse();
                    lines.push(back);
                }
            }
        }
        lines.sort_unstable();
        lines.dedup();
        let mut fan = Self { radius, nodes: Vec::new() };
        fan.grow(&lines, 0);
        fan
    }

    /// Adds the part of sorted `lines` from `depth` on; the lines agree up to there.
    fn grow(&mut self, lines: &[Vec<(i8, i8)>], depth: usize) {
        for branch in lines.chunk_by(|one, other| one[depth] == other[depth]) {
            let ((dx, dy), own) = (branch[0][depth], self.nodes.len());
            let longer = branch.iter().position(|line| line.len() > depth + 1).unwrap_or(branch.len());
            self.nodes.push(Node { dx, dy, end: longer > 0, skip: 0 });
            self.grow(&branch[longer..], depth + 1);
            self.nodes[own].skip = self.nodes.len() as u32;
        }
    }
}

/// Bresenham's line, both ends included.
fn line(from: (i32, i32), to: (i32, i32)) -> Vec<(i8, i8)> {
    let (width, height) = ((to.0 - from.0).abs(), -(to.1 - from.1).abs());
    let (across, down) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
    let (mut x, mut y, mut error) = (from.0, from.1, width + height);
    let mut cells = vec![(x as i8, y as i8)];
    while (x, y) != to {
        let twice = 2 * error;
        if twice >= height {
            error += height;
            x += across;
        }
        if twice <= width {
            error += width;
            y += down;
        }
        cells.push((x as i8, y as i8));
    }
    cells
}

impl Ostibot {
    /// How far an adventurer sees: the rule and its accessory (OB-SEE-1, OB-ITEM-6).
    pub fn vision(&self, state: &State, who: usize) -> u16 {
        self.rules().vision_length + self.bonus(state, who, Slot::Accessory)
    }

    /// The cells a team sees: what any of its adventurers sees with its own vision (OB-SEE-2), and
    /// any of its spawners while it stands (OB-SEE-3), together (OB-SEE-6). Walls and closed doors
    /// block the view (OB-SEE-4).
    pub fn seen(&self, state: &State, team: Seat) -> Rows {
        let map = self.map();
        let mut blocking = map.walls;
        for (index, object) in map.objects.iter().enumerate() {
            if object.kind == ObjectKind::Door && state.object_hp(index).is_some() {
                blocking.insert(object.cell);
            }
        }
        let mut seen = Rows::NONE;
        for who in self.members(team) {
            let adventurer = &state.adventurers[who];
            if adventurer.is_here() {
                self.sight().look(adventurer.cell, self.vision(state, who), map, &blocking, &mut seen);
            }
        }
        for &spawner in &map.homes[team.index()] {
            if !state.fire.contains(spawner) {
                self.sight().look(spawner, self.rules().spawner_vision, map, &blocking, &mut seen);
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use agon_game::{Chance as _, Game as _, Seeded, Setup};

    use super::*;

    #[test]
    fn lines_go_from_end_to_end() {
        assert_eq!(line((0, 0), (3, 1)), [(0, 0), (1, 0), (2, 1), (3, 1)]);
        assert_eq!(line((3, 1), (0, 0)), [(3, 1), (2, 1), (1, 0), (0, 0)]);
        assert_eq!(line((2, 2), (2, 2)), [(2, 2)]);
    }

    /// The tree gives the same result as looking along each line by itself.
    #[test]
    fn the_tree_sees_what_single_lines_see() {
        let game = Ostibot::set_up(&Setup { seats: 2, ..Setup::default() }).expect("the default set-up");
        let (map, rules) = (game.map(), game.rules());
        let mut chance = Seeded::stream(1, "sight");
        for round in 0..300 {
            let blocking: Rows = map.cells().filter(|_| chance.happens(1 + round % 4, 8)).collect();
            let from =
                Cell::new(chance.below(map.width as u32) as usize, chance.below(map.height as u32) as usize);
            let radius = [5, 7, 10][round as usize % 3];
            let mut seen = Rows::NONE;
            game.sight().look(from, radius, map, &blocking, &mut seen);
            let point = |cell: Cell| (cell.x() as i32, cell.y() as i32);
            let free = |line: Vec<(i8, i8)>| {
                let between = line.get(1..line.len() - 1).unwrap_or_default();
                between.iter().all(|&(x, y)| !blocking.contains(Cell::new(x as usize, y as usize)))
            };
            let blocked_here = blocking.contains(from);
            for cell in map.cells() {
                let (from, to) = (point(from), point(cell));
                let near = rules.vision_metric.within(to.0 - from.0, to.1 - from.1, radius.into());
                let expected = near && (free(line(from, to)) || free(line(to, from)));
                assert!(blocked_here || seen.contains(cell) == expected, "{from:?} {to:?}");
            }
        }
    }
}
