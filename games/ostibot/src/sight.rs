//! Who sees what (OB-SEE-1 to OB-SEE-6).
//!
//! A sight line is Bresenham's between two cell centres, drawn from either end; it is free when
//! one of the two meets nothing that blocks it strictly between its ends (OB-SEE-4). The lines
//! to every offset in reach are drawn once per match.

use agon_game::Seat;

use crate::Ostibot;
use crate::geometry::{Cell, Rows, SIDE};
use crate::items::Slot;
use crate::map::ObjectKind;
use crate::rules::{Metric, Rules};
use crate::state::State;

/// Sight lines to all offsets in reach.
#[derive(Clone, Debug)]
pub struct Sight {
    metric: Metric,
    /// The largest radius anybody can have, in cells; no more than the longest side of a map.
    reach: i32,
    /// By offset, row by row: where its two lines are in `steps`.
    lines: Vec<[std::ops::Range<u32>; 2]>,
    /// Offsets of the cells strictly between the ends.
    steps: Vec<(i8, i8)>,
}

impl Sight {
    /// Draws the lines that `rules` need.
    pub fn new(rules: &Rules) -> Self {
        let worn = |(kind, item): (&crate::items::Kind, &crate::items::ItemRule)| {
            if kind.slot() == Some(Slot::Accessory) { item.bonus } else { 0 }
        };
        let bonus = rules.items.iter().map(worn).max().unwrap_or(0);
        let reach = (rules.vision_length + bonus).max(rules.spawner_vision).min(SIDE as u16 - 1);
        let reach = i32::from(reach);
        let mut sight = Self { metric: rules.vision_metric, reach, lines: Vec::new(), steps: Vec::new() };
        for dy in -reach..=reach {
            for dx in -reach..=reach {
                let there = sight.draw((0, 0), (dx, dy));
                let back = sight.draw((dx, dy), (0, 0));
                sight.lines.push([there, back]);
            }
        }
        sight
    }

    /// Bresenham's line without its ends.
    fn draw(&mut self, from: (i32, i32), to: (i32, i32)) -> std::ops::Range<u32> {
        let first = self.steps.len() as u32;
        let (width, height) = ((to.0 - from.0).abs(), -(to.1 - from.1).abs());
        let (across, down) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
        let (mut x, mut y, mut error) = (from.0, from.1, width + height);
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
            if (x, y) != to {
                self.steps.push((x as i8, y as i8));
            }
        }
        first..self.steps.len() as u32
    }

    /// Adds to `seen` what is seen from `cell` over at most `radius` cells (OB-SEE-5).
    fn look(&self, cell: Cell, radius: u16, board: (usize, usize), blocking: &Rows, seen: &mut Rows) {
        let radius = i32::from(radius).min(self.reach);
        let (x, y) = (cell.x() as i32, cell.y() as i32);
        let (right, bottom) = (board.0 as i32 - 1, board.1 as i32 - 1);
        for dy in (-radius).max(-y)..=radius.min(bottom - y) {
            for dx in (-radius).max(-x)..=radius.min(right - x) {
                let there = Cell::new((x + dx) as usize, (y + dy) as usize);
                if !self.metric.within(dx, dy, radius) || seen.contains(there) {
                    continue;
                }
                let lines =
                    &self.lines[((dy + self.reach) * (2 * self.reach + 1) + dx + self.reach) as usize];
                let free = |line: &std::ops::Range<u32>| {
                    self.steps[line.start as usize..line.end as usize].iter().all(|&(dx, dy)| {
                        blocking.0[(y + i32::from(dy)) as usize] >> (x + i32::from(dx)) & 1 == 0
                    })
                };
                if lines.iter().any(free) {
                    seen.insert(there);
                }
            }
        }
    }
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
        let board = (map.width, map.height);
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
                self.sight().look(adventurer.cell, self.vision(state, who), board, &blocking, &mut seen);
            }
        }
        for &spawner in &map.homes[team.index()] {
            if !state.fire.contains(spawner) {
                self.sight().look(spawner, self.rules().spawner_vision, board, &blocking, &mut seen);
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_from_end_to_end_without_the_ends() {
        let mut sight = Sight { metric: Metric::Radius, reach: 0, lines: Vec::new(), steps: Vec::new() };
        let line = sight.draw((0, 0), (3, 1));
        assert_eq!(sight.steps[line.start as usize..line.end as usize], [(1, 0), (2, 1)]);
        let back = sight.draw((3, 1), (0, 0));
        assert_eq!(sight.steps[back.start as usize..back.end as usize], [(2, 1), (1, 0)]);
        assert!(sight.draw((0, 0), (0, 0)).is_empty());
    }
}
