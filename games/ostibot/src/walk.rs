//! Moving: what is ahead, walking, sliding, picking up gold in passing, the way out (OB-MOVE-1 to
//! OB-MOVE-6, OB-TILE-1 to OB-TILE-7, OB-PORTAL-3 to OB-PORTAL-5).

use agon_game::{Seat, Sink};

use crate::Ostibot;
use crate::event::{Event, Harm};
use crate::geometry::{Cell, Direction, Rows};
use crate::items::{Kind, Slot};
use crate::map::Tile;
use crate::state::{Adventurer, Place, State};
use crate::turn::Now;

/// What an adventurer meets in a cell it moves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// The edge of the map or a wall (OB-MOVE-2), or a standing spawner (OB-MOVE-4).
    Block,
    /// One of its own team.
    Friend(usize),
    /// One of another team.
    Enemy(usize),
    /// Something to hit.
    Closed(usize),
    /// The way out.
    Open(usize),
    /// A health tile.
    Health,
    /// Nothing in the way.
    Free(Cell),
}

impl Ostibot {
    /// What is in the next cell, checked in this order (OB-MOVE-6).
    #[inline]
    fn ahead(&self, state: &State, team: Seat, cell: Option<Cell>) -> Ahead {
        let Some(cell) = cell else { return Ahead::Block };
        let tile = self.map().tile(cell);
        if tile == Tile::Wall {
            return Ahead::Block;
        }
        let everybody = 0..self.places();
        if let Some(other) = everybody.into_iter().find(|&other| state.adventurers[other].cell == cell) {
            return if self.team_of(other) == team { Ahead::Friend(other) } else { Ahead::Enemy(other) };
        }
        if let Some(object) = self.map().object_at(cell)
            && let Some(hp) = state.object_hp(object)
        {
            return if hp == 0 { Ahead::Open(object) } else { Ahead::Closed(object) };
        }
        match tile {
            Tile::Spawner(_) if !state.fire.contains(cell) => Ahead::Block,
            Tile::Health => Ahead::Health,
            _ => Ahead::Free(cell),
        }
    }
}

impl<S: Sink<Ostibot>> Now<'_, S> {
    /// Moves an adventurer to the next cell when nothing is there, and on as long as the ground
    /// carries it; otherwise it meets what is there (OB-MOVE-1).
    pub fn go(&mut self, team: Seat, who: usize, mut direction: Direction) {
        let mut carried_from = Rows::NONE;
        let mut sliding = false;
        loop {
            let cell = self.state.adventurers[who].cell;
            let next = self.game.map().neighbour(cell, direction);
            match self.game.ahead(self.state, team, next) {
                Ahead::Free(next) => {
                    self.enter(who, next);
                    let pushed = self.pushed(who, direction);
                    // Each cell carries an adventurer on at most once per move (OB-TILE-5).
                    match pushed.filter(|_| carried_from.insert(next)) {
                        Some(onward) => direction = onward,
                        None => return,
                    }
                    sliding = true;
                }
                Ahead::Open(portal) => return self.escape(team, who, portal),
                // An adventurer that slides into something stops before it (OB-TILE-4).
                _ if sliding && !self.game.rules().slide_bumps => return,
                met => return self.meet(who, met),
            }
        }
    }

    /// Enters a free cell: gold and items there are picked up (OB-MOVE-5, OB-LOOT-5), then spikes
    /// hurt an adventurer without Big Boots (OB-TILE-1, OB-ITEM-6).
    fn enter(&mut self, who: usize, cell: Cell) {
        let name = self.name(who);
        self.state.adventurers[who].cell = cell;
        self.tell(Event::Moved { who: name, to: cell });
        if let Some(index) = self.state.piles.iter().position(|pile| pile.cell == cell) {
            let amount = self.state.piles.remove(index).amount;
            self.state.adventurers[who].gold += amount;
            self.tell(Event::TookGold { who: name, amount });
        }
        for index in 0..self.state.items.len() {
            let item = &mut self.state.items[index];
            if item.place == Place::Ground(cell) {
                item.place = Place::Pack(who as u8);
                let item = item.id;
                self.tell(Event::TookItem { who: name, item });
            }
        }
        if self.game.map().tile(cell) == Tile::Spikes
            && self.state.worn(who, Slot::Accessory) != Some(Kind::BigBoots)
        {
            self.hurt(who, self.game.rules().spike_damage, Harm::Spikes);
        }
    }

    /// Where the ground under an adventurer carries it: ice onward (OB-TILE-2), a treadmill its own
    /// way (OB-TILE-3). Only an adventurer that steps there is carried.
    fn pushed(&self, who: usize, direction: Direction) -> Option<Direction> {
        let adventurer = &self.state.adventurers[who];
        match self.game.map().tile(adventurer.is_here().then_some(adventurer.cell)?) {
            Tile::Ice => Some(direction),
            Tile::Treadmill(onward) => Some(onward),
            _ => None,
        }
    }

    /// Meets something in the way; nobody changes place.
    fn meet(&mut self, who: usize, met: Ahead) {
        match met {
            Ahead::Block => self.hurt(who, self.game.rules().block_damage, Harm::Block),
            Ahead::Friend(other) => self.give_gold(who, other),
            Ahead::Enemy(other) => self.fight(who, other),
            Ahead::Closed(object) => self.strike(who, object),
            Ahead::Health => self.heal(who),
            Ahead::Open(_) | Ahead::Free(_) => {}
        }
    }

    /// All carried gold goes to the other; items stay (OB-MOVE-3).
    fn give_gold(&mut self, who: usize, other: usize) {
        let amount = std::mem::take(&mut self.state.adventurers[who].gold);
        self.state.adventurers[other].gold += amount;
        if amount > 0 {
            let (from, to) = (self.name(who), self.name(other));
            self.tell(Event::GaveGold { from, to, amount });
        }
    }

    /// A health tile heals fully for gold, even an unhurt adventurer (OB-TILE-6), and is a block
    /// for one that cannot pay (OB-TILE-7).
    fn heal(&mut self, who: usize) {
        let rules = self.game.rules();
        let adventurer = &mut self.state.adventurers[who];
        if u32::from(adventurer.gold) < rules.heal_cost {
            return self.hurt(who, rules.block_damage, Harm::Block);
        }
        adventurer.gold -= rules.heal_cost as u16;
        adventurer.hp = rules.adventurer_hp;
        let healed = Event::Healed { who: adventurer.id, paid: rules.heal_cost, hp: adventurer.hp };
        self.tell(healed);
    }

    /// Leaves through an open portal: the gold goes to the team (OB-PORTAL-3), what the adventurer
    /// wears and carries stays with it for the next round (OB-PORTAL-4), and the portal is gone
    /// (OB-PORTAL-5).
    fn escape(&mut self, team: Seat, who: usize, portal: usize) {
        let state = &mut *self.state;
        state.escapes += 1;
        let Adventurer { id, hp, gold, .. } = state.adventurers[who];
        state.gold[team.index()] += u32::from(gold);
        state.adventurers[who] = Adventurer { id, cell: Cell::NOWHERE, hp, escape: state.escapes, gold: 0 };
        state.hp[portal] = crate::state::GONE;
        let portal = self.game.map().objects[portal];
        self.tell(Event::Escaped { who: id, portal, gold });
    }
}
