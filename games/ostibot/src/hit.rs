//! Hitting, hurting and dying (OB-HIT-1, OB-HIT-2, OB-DIE-1 to OB-DIE-3, OB-LOOT-1 to OB-LOOT-3).

use agon_game::Sink;

use crate::Ostibot;
use crate::event::{Event, Harm};
use crate::geometry::Cell;
use crate::items::Slot;
use crate::map::{Object, ObjectKind};
use crate::state::{Adventurer, GONE, Place, State};
use crate::turn::Now;

impl Ostibot {
    /// The damage of an adventurer: its own and that of its weapon (OB-HIT-1, OB-ITEM-4).
    pub fn damage(&self, state: &State, who: usize) -> u16 {
        self.rules().adventurer_damage + self.bonus(state, who, Slot::Weapon)
    }

    /// How much damage by other adventurers an adventurer's armor keeps off (OB-ITEM-5).
    pub fn armor(&self, state: &State, who: usize) -> u16 {
        self.bonus(state, who, Slot::Armor)
    }

    /// What the item in a slot adds.
    pub(crate) fn bonus(&self, state: &State, who: usize, slot: Slot) -> u16 {
        state.worn(who, slot).map_or(0, |kind| self.rules().items[&kind].bonus)
    }
}

impl<S: Sink<Ostibot>> Now<'_, S> {
    /// Hits an adventurer of another team; its armor keeps off some of the damage, at most all of it (OB-HIT-2).
    pub fn fight(&mut self, who: usize, target: usize) {
        let damage = self.game.damage(self.state, who).saturating_sub(self.game.armor(self.state, target));
        let (name, other) = (self.name(who), self.name(target));
        self.tell(Event::Fought { who: name, target: other, damage });
        self.hurt(target, damage, Harm::Enemy);
    }

    /// Hits an object with the full damage (OB-HIT-1).
    pub fn strike(&mut self, who: usize, object: usize) {
        let damage = self.game.damage(self.state, who);
        let (name, target) = (self.name(who), self.game.map().objects[object]);
        self.tell(Event::Struck { who: name, target, damage });
        let hp = self.state.hp[object].saturating_sub(damage);
        self.state.hp[object] = hp;
        if hp == 0 {
            self.break_open(object);
        }
    }

    /// Breaks an object without hit points: a portal is open from now on (OB-PORTAL-2), a chest and
    /// a vase leave their gold on the ground (OB-LOOT-1, OB-LOOT-2), a door is gone (OB-LOOT-3).
    pub fn break_open(&mut self, object: usize) {
        let rules = self.game.rules();
        let what @ Object { kind, cell, .. } = self.game.map().objects[object];
        let gold = match kind {
            ObjectKind::Portal => return self.tell(Event::Opened { portal: what }),
            ObjectKind::Chest => rules.chest_gold,
            ObjectKind::Vase => rules.vase_gold,
            ObjectKind::Door => 0,
        };
        self.state.hp[object] = GONE;
        self.state.drop_gold(cell, gold);
        self.tell(Event::Broke { what, gold });
    }

    /// An adventurer loses hit points, and dies when none are left (OB-DIE-1).
    pub fn hurt(&mut self, who: usize, damage: u16, by: Harm) {
        let adventurer = &mut self.state.adventurers[who];
        adventurer.hp = adventurer.hp.saturating_sub(damage);
        let Adventurer { id, hp, .. } = *adventurer;
        self.tell(Event::Hurt { who: id, by, damage, hp });
        if hp == 0 {
            self.die(who);
        }
    }

    /// All gold, equipment and inventory drop where the adventurer stood (OB-DIE-2), even on a
    /// spawner, where nobody can reach them before it burns (OB-DIE-3).
    pub fn die(&mut self, who: usize) {
        let Adventurer { id, cell, gold, .. } = self.state.adventurers[who];
        self.state.adventurers[who] = Adventurer { id, ..Adventurer::NOBODY };
        debug_assert!(cell != Cell::NOWHERE);
        self.state.drop_gold(cell, gold);
        let (pack, worn) = (Place::Pack(who as u8), Place::Worn(who as u8));
        for item in self.state.items.iter_mut().filter(|item| item.place == pack || item.place == worn) {
            item.place = Place::Ground(cell);
        }
        self.tell(Event::Died { who: id, at: cell, gold });
    }
}
