//! Scratch memory of an action phase: mobile units, and tables over the structures.

use std::collections::BTreeMap;

use agon_game::Seat;

use crate::arena::{Board, Edge, GRID, Nearest, Tile};
use crate::frame::Events;
use crate::path::Field;
use crate::rules::{Kind, Picks, RecordedChoices, Rules};
use crate::state::{State, Structure};

/// No structure, in [`Work::slot_on`].
pub const NONE: u16 = u16::MAX;

/// The status of a mobile unit in the current frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is still in play.
    Alive,
    /// It reached its edge and is off the board.
    Breached,
    /// Its health is gone; it is removed at the end of the frame.
    Dead,
}

/// A mobile unit.
#[derive(Clone, Copy, Debug)]
pub struct Mobile {
    /// Its number.
    pub id: u32,
    /// Its owner.
    pub owner: Seat,
    /// Scout, Demolisher or Interceptor.
    pub kind: Kind,
    /// Where it is.
    pub tile: Tile,
    /// Its target edge.
    pub edge: Edge,
    /// The share of a step it has accumulated.
    pub progress: f32,
    /// Steps made.
    pub steps: u32,
    /// Whether its last step was horizontal; a unit that has not moved counts as horizontal (TM-PATH-4).
    pub went_sideways: bool,
    /// The version of the field its distance comes from.
    pub way: u32,
    /// Steps to go.
    pub distance: u16,
    /// Its status.
    pub fate: Fate,
    /// Whether it has nowhere to go and destroys itself in this frame.
    pub exploding: bool,
    /// Health without shields.
    pub base: f32,
    /// All shields together.
    pub shielded: f32,
    /// The health that counts and is shown: the sum of both.
    pub health: f32,
    /// Its place in the tables of shields: the order of deployment in this turn.
    pub berth: usize,
    /// Its first remaining shield in [`Work::shields`], and the number of remaining ones.
    pub shields: (usize, usize),
}

/// Structures of one sort (turrets, supports), and which of them reach each tile.
#[derive(Default)]
pub struct Cover {
    /// Slots of the structures, ascending.
    pub slots: Vec<u16>,
    /// Which are standing, as bits by place in `slots`.
    pub standing: Vec<u64>,
    /// The number of 64-bit words in a set.
    pub words: usize,
    /// For each owner and tile the set of those that reach it.
    sets: [Vec<u64>; 2],
}

impl Cover {
    fn clear(&mut self, count: usize) {
        self.slots.clear();
        self.words = count.div_ceil(64);
        self.standing.clear();
        self.standing.resize(self.words, 0);
        for sets in &mut self.sets {
            sets.clear();
        }
    }

    fn add(&mut self, slot: usize, structure: Structure, reach: &crate::arena::Reach) {
        let place = self.slots.len();
        self.slots.push(slot as u16);
        self.standing[place / 64] |= 1 << (place % 64);
        let sets = &mut self.sets[structure.owner().index()];
        if sets.is_empty() {
            sets.resize(GRID * self.words, 0);
        }
        reach.each(structure.tile(), |tile| sets[tile * self.words + place / 64] |= 1 << (place % 64));
    }

    /// The structures of `owner` that reach `tile`, as words; empty when `owner` has none.
    #[inline]
    pub fn reaching(&self, owner: Seat, tile: Tile) -> &[u64] {
        let start = tile.index() * self.words;
        self.sets[owner.index()].get(start..start + self.words).unwrap_or(&[])
    }

    fn fall(&mut self, slot: usize) {
        if let Ok(place) = self.slots.binary_search(&(slot as u16)) {
            self.standing[place / 64] &= !(1 << (place % 64));
        }
    }
}

/// Scratch memory of an action phase. Its content does not matter between turns.
pub struct Work {
    /// The mobile units, by ascending id.
    pub mobiles: Vec<Mobile>,
    /// The slot of the structure on each tile, or [`NONE`].
    pub slot_on: [u16; GRID],
    /// The tiles of each player's structures that have health left.
    pub standing: [Board; 2],
    /// Ways to each edge.
    pub ways: [Field; 4],
    /// The tiles without a structure.
    pub open: Board,
    /// Structures that shoot.
    pub guns: Cover,
    /// Whether any gun damages structures, so that guns also shoot when no mobile unit is near.
    pub guns_hit_structures: bool,
    /// Structures that shield.
    pub givers: Cover,
    /// For each mobile unit the givers that have shielded it, as sets of `givers.words` words.
    pub given: Vec<u64>,
    /// For each mobile unit its shields, oldest first, `stride` places each.
    pub shields: Vec<f32>,
    /// Places for shields of a mobile unit: one for each giver.
    pub stride: usize,
    /// Structures that lost their last health in this frame.
    pub fallen: Vec<u16>,
    /// For each player its mobile units that can be hit: tile, and place in `mobiles`.
    pub targets: [Vec<(Tile, u32)>; 2],
    /// Scratch of a search for targets.
    pub nearest: Nearest,
    /// Scratch of a set of guns.
    pub active: Vec<u64>,
    /// The frame of the action phase, from 0.
    pub frame: u16,
    /// What a record shows, while its choices are being read (TM-SEASON-7).
    pub shown: Option<RecordedChoices>,
    /// The choices read from it so far: those that this engine would have made otherwise.
    pub picks: Picks,
    /// In the first seasons, by structure, the number of its mark for removal, if it got one in this turn.
    pub marks: BTreeMap<u32, u32>,
    /// What happened in this frame, if somebody listens.
    pub events: Events,
    /// Whether somebody listens.
    pub listening: bool,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            mobiles: Vec::new(),
            slot_on: [NONE; GRID],
            standing: [Board::default(); 2],
            ways: Default::default(),
            open: Board::ARENA,
            guns: Cover::default(),
            guns_hit_structures: false,
            givers: Cover::default(),
            given: Vec::new(),
            shields: Vec::new(),
            stride: 0,
            fallen: Vec::new(),
            targets: Default::default(),
            nearest: Nearest::none(),
            active: Vec::new(),
            frame: 0,
            shown: None,
            picks: Picks::default(),
            marks: BTreeMap::new(),
            events: Events::default(),
            listening: false,
        }
    }
}

impl Work {
    /// Prepares for the orders of a turn: which structure stands where.
    pub fn lay_out(&mut self, state: &State) {
        self.mobiles.clear();
        self.marks.clear();
        self.slot_on.fill(NONE);
        for (slot, structure) in state.structures().iter().enumerate() {
            self.slot_on[structure.tile().index()] = slot as u16;
        }
    }

    /// Prepares for the frames of a turn, after all orders are carried out.
    pub fn make_ready(&mut self, rules: &Rules, state: &State) {
        self.standing = [Board::default(); 2];
        self.open = Board::ARENA;
        self.ways.iter_mut().for_each(Field::forget);
        self.fallen.clear();
        self.guns_hit_structures = false;
        let (mut guns, mut givers) = (0, 0);
        let faces_mobiles = [0, 1].map(|own| self.mobiles.iter().any(|mobile| mobile.owner.index() != own));
        let has_mobiles = [0, 1].map(|own| self.mobiles.iter().any(|mobile| mobile.owner.index() == own));
        for structure in state.structures() {
            let tile = structure.tile();
            let own = structure.owner().index();
            self.standing[own].insert(tile);
            self.open.remove(tile);
            let form = rules.form(structure.kind(), structure.upgraded());
            guns += usize::from(!form.attack_range.is_empty());
            givers += usize::from(!form.shield_range.is_empty() && has_mobiles[own]);
        }
        self.guns.clear(guns);
        self.givers.clear(givers);
        if guns + givers > 0 {
            for (slot, &structure) in state.structures().iter().enumerate() {
                let form = rules.form(structure.kind(), structure.upgraded());
                let own = structure.owner().index();
                let hits_structures = form.attack_damage_tower > 0.0;
                if !form.attack_range.is_empty() && (faces_mobiles[own] || hits_structures) {
                    self.guns.add(slot, structure, &form.attack_range);
                    self.guns_hit_structures |= hits_structures;
                }
                if !form.shield_range.is_empty() && has_mobiles[own] {
                    self.givers.add(slot, structure, &form.shield_range);
                }
            }
        }
        self.stride = self.givers.slots.len();
        self.given.clear();
        self.given.resize(self.mobiles.len() * self.givers.words, 0);
        self.shields.clear();
        self.shields.resize(self.mobiles.len() * self.stride, 0.0);
    }

    /// Takes a structure without health off the board, at the end of a frame.
    pub fn take_off(&mut self, slot: usize, structure: Structure) {
        self.slot_on[structure.tile().index()] = NONE;
        self.open.insert(structure.tile());
        self.ways.iter_mut().for_each(Field::forget);
        self.guns.fall(slot);
        self.givers.fall(slot);
    }
}
