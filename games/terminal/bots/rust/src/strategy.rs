//! A small strategy: turrets in front, supports behind, demolishers with an escort of scouts.
//!
//! `agon rules terminal` shows the rules; what a turn offers is in terminal.rs.

use crate::terminal::{Config, Frame, Play, Turn};

const TURRETS: [(i32, i32); 6] = [(3, 12), (24, 12), (8, 11), (19, 11), (13, 11), (14, 11)];
const WALLS: [(i32, i32); 6] = [(0, 13), (27, 13), (3, 13), (24, 13), (8, 12), (19, 12)];
const SUPPORTS: [(i32, i32); 4] = [(13, 3), (14, 3), (13, 4), (14, 4)];

/// Remembers how often the enemy came through on the left and on the right.
#[derive(Default)]
pub struct Strategy {
    breached: [u32; 2],
}

impl Play for Strategy {
    fn turn(&mut self, config: &Config, turn: &mut Turn) {
        for (x, y) in TURRETS {
            turn.build(config, config.turret(), x, y);
        }
        for (x, y) in WALLS {
            turn.build(config, config.wall(), x, y);
        }
        // The side where the enemy comes through is upgraded first.
        let mut upgrades: Vec<(i32, i32)> = TURRETS.into_iter().chain(SUPPORTS).collect();
        if self.breached[1] > self.breached[0] {
            upgrades.sort_by_key(|&(x, _)| -x);
        }
        for (x, y) in SUPPORTS {
            turn.build(config, config.support(), x, y);
        }
        for (x, y) in upgrades {
            turn.upgrade(config, x, y);
        }
        if turn.mobile_points >= 12.0 {
            let x = if turn.number % 2 == 0 { 13 } else { 14 };
            turn.deploy(config, config.demolisher(), x, 0, 2);
            turn.deploy(config, config.scout(), x, 0, 1000);
        }
    }

    fn frame(&mut self, _config: &Config, frame: &Frame) {
        for breach in frame.breaches.iter().filter(|breach| breach.owner == 2) {
            self.breached[usize::from(breach.at.0 >= 14)] += 1;
        }
    }
}
