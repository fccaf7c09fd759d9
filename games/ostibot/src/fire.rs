//! Corruption: the fire that ends every round (OB-FIRE-1 to OB-FIRE-7).

use agon_game::Sink;

use crate::Ostibot;
use crate::event::{Event, Harm};
use crate::geometry::Cell;
use crate::turn::Now;

/// What the fire destroyed.
#[derive(Clone, Copy)]
enum Burnt {
    Adventurer(usize),
    Object(usize),
}

impl<S: Sink<Ostibot>> Now<'_, S> {
    /// At the end of turn `corruptionStartAt` every spawner becomes burning floor (OB-FIRE-1).
    pub fn light_spawners(&mut self) {
        if self.state.turn == self.game.rules().corruption_start_at {
            self.state.fire = self.state.fire.or(&self.game.map().spawners);
            self.tell(Event::FireBegan);
        }
    }

    /// Every `corruptionSpreadSpeed` turns from then on, the neighbours of burning cells burn too;
    /// only walls stop it (OB-FIRE-2), and nothing puts it out before the round ends (OB-FIRE-7).
    pub fn spread_fire(&mut self) {
        let rules = self.game.rules();
        let since = self.state.turn.saturating_sub(rules.corruption_start_at);
        if since == 0 || !since.is_multiple_of(rules.corruption_spread_speed) {
            return;
        }
        let before = self.state.fire;
        self.state.fire = before.grown().without(&self.game.map().walls);
        if self.out.listens() {
            let cells = (self.state.fire.len() - before.len()) as u32;
            self.tell(Event::FireSpread { cells });
        }
    }

    /// Everything on a burning cell loses hit points: adventurers whatever they wear (OB-FIRE-3,
    /// OB-FIRE-4), chests, vases, doors and closed portals (OB-FIRE-5). All lose them at once; deaths
    /// and breakages follow in reading order. What lies on the ground does not burn (OB-FIRE-6).
    pub fn burn(&mut self) {
        if self.state.turn < self.game.rules().corruption_start_at {
            return;
        }
        let damage = self.game.rules().corruption_damage;
        let mut burnt: [(Cell, Burnt); BURNT] = [(Cell::NOWHERE, Burnt::Object(0)); BURNT];
        let mut count = 0;
        let mut note = |cell, what| {
            burnt[count] = (cell, what);
            count += 1;
        };
        for (index, object) in self.game.map().objects.iter().enumerate() {
            if self.state.fire.contains(object.cell) && self.state.is_closed(index) {
                self.state.hp[index] = self.state.hp[index].saturating_sub(damage);
                self.out.event(Event::Scorched { what: *object, damage });
                if self.state.hp[index] == 0 {
                    note(object.cell, Burnt::Object(index));
                }
            }
        }
        for (index, adventurer) in self.state.adventurers.iter_mut().enumerate() {
            if adventurer.is_here() && self.state.fire.contains(adventurer.cell) {
                adventurer.hp = adventurer.hp.saturating_sub(damage);
                let (who, hp) = (adventurer.id, adventurer.hp);
                self.out.event(Event::Hurt { who, by: Harm::Fire, damage, hp });
                if hp == 0 {
                    note(adventurer.cell, Burnt::Adventurer(index));
                }
            }
        }
        burnt[..count].sort_unstable_by_key(|&(cell, _)| cell);
        for &(_, what) in &burnt[..count] {
            match what {
                Burnt::Adventurer(who) => self.die(who),
                Burnt::Object(object) => self.break_open(object),
            }
        }
    }
}

/// How many things can burn at once, at most.
const BURNT: usize = crate::state::OBJECTS + crate::state::ADVENTURERS;
