//! Everything that changes in a match, as one flat value.
//!
//! Only the gold is kept per team. Adventurers, items and piles of all teams share one pool each, so
//! nine teams need no more room than two.

use agon_game::Seat;

use crate::geometry::{Cell, Rows};
use crate::items::Kind;
use crate::list::List;
use crate::map::{ObjectKind, TEAMS};
use crate::names::{AdventurerId, ItemId};

/// Upper limit on the adventurers of all teams in a round.
pub const ADVENTURERS: usize = 32;
/// Upper limit on the items in the match at one time.
pub const ITEMS: usize = 128;
/// Upper limit on the portals, chests, vases and doors of a map.
pub const OBJECTS: usize = 128;
/// Upper limit on gold piles: those of the map, one from each chest and vase, one from each adventurer.
pub const PILES: usize = 128;

/// The state of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The round, from 1.
    pub round: u16,
    /// The turn of the round, from 1; 0 in the shop.
    pub turn: u16,
    /// Who is asked.
    pub phase: Phase,
    /// The gold of each team.
    pub gold: [u32; TEAMS],
    /// Every place for an adventurer; those of a team lie together
    /// (see [`Ostibot::members`](crate::Ostibot::members)).
    pub adventurers: [Adventurer; ADVENTURERS],
    /// The hit points of each object of the map: 0 for an open portal, [`GONE`] for an object that no longer exists.
    pub hp: [u16; OBJECTS],
    /// The gold on the ground, one pile per cell.
    pub piles: List<Pile, PILES>,
    /// All items, by rising id.
    pub items: List<Item, ITEMS>,
    /// The burning cells.
    pub fire: Rows,
    /// The highest adventurer id given.
    pub last_adventurer: u16,
    /// The highest item id given.
    pub last_item: u16,
    /// How many adventurers escaped in this match.
    pub escapes: u16,
}

/// The value in [`State::hp`] for a broken object or a used portal.
pub const GONE: u16 = u16::MAX;

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// All teams, what they buy.
    Shop,
    /// The team at this place of the round's order, from 0, what its adventurers do.
    Play(u8),
    /// Nobody: the match is over.
    Over,
}

/// A place for an adventurer of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adventurer {
    /// Who holds the place, or held it last.
    pub id: AdventurerId,
    /// Where the adventurer is; [`Cell::NOWHERE`] when dead or escaped.
    pub cell: Cell,
    /// Hit points; 0 when dead.
    pub hp: u16,
    /// The number of its escape, counted through the match from 1; 0 when it has not escaped.
    pub escape: u16,
    /// Carried gold.
    pub gold: u16,
}

impl Adventurer {
    /// Nobody.
    pub const NOBODY: Self =
        Self { id: AdventurerId::UNKNOWN, cell: Cell::NOWHERE, hp: 0, escape: 0, gold: 0 };

    /// Whether the adventurer is alive on the map.
    #[inline]
    pub const fn is_here(&self) -> bool {
        self.cell.is_somewhere()
    }
}

/// Gold on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pile {
    /// Where.
    pub cell: Cell,
    /// How much; never 0.
    pub amount: u16,
}

/// An item. Having one `place`, it is in exactly one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name.
    pub id: ItemId,
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub kind: Kind,
}

/// Where an item is. Adventurers are given by their index in [`State::adventurers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// On the ground.
    Ground(Cell),
    /// In the inventory of an adventurer.
    Pack(u8),
    /// Worn by an adventurer.
    Worn(u8),
}

impl State {
    /// The state before the first round.
    pub(crate) const BLANK: Self = Self {
        round: 0,
        turn: 0,
        phase: Phase::Over,
        gold: [0; TEAMS],
        adventurers: [Adventurer::NOBODY; ADVENTURERS],
        hp: [GONE; OBJECTS],
        piles: List::new(Pile { cell: Cell::NOWHERE, amount: 0 }),
        items: List::new(Item {
            id: ItemId::UNKNOWN,
            place: Place::Ground(Cell::NOWHERE),
            kind: Kind::RustySword,
        }),
        fire: Rows::NONE,
        last_adventurer: 0,
        last_item: 0,
        escapes: 0,
    };

    /// The gold of a team.
    pub fn gold_of(&self, team: Seat) -> u32 {
        self.gold[team.index()]
    }

    /// Whether this object stands on the map and can be hit.
    #[inline]
    pub(crate) fn is_closed(&self, object: usize) -> bool {
        let hp = self.hp[object];
        hp != 0 && hp != GONE
    }

    /// The hit points of an object that is still there; an open portal has 0.
    pub fn object_hp(&self, object: usize) -> Option<u16> {
        Some(self.hp[object]).filter(|&hp| hp != GONE)
    }

    /// Puts gold on the ground; piles in one cell are merged (OB-DIE-2).
    pub(crate) fn drop_gold(&mut self, cell: Cell, amount: u16) {
        if amount == 0 {
            return;
        }
        match self.piles.iter_mut().find(|pile| pile.cell == cell) {
            Some(pile) => pile.amount += amount,
            None => {
                let fits = self.piles.push(Pile { cell, amount });
                debug_assert!(fits.is_ok(), "there is room for a pile from each chest, vase and adventurer");
            }
        }
    }
}

/// The hit points of an object at the start of a round.
pub(crate) fn full_hp(rules: &crate::Rules, kind: ObjectKind) -> u16 {
    match kind {
        ObjectKind::Portal => rules.portal_hp,
        ObjectKind::Chest => rules.chest_hp,
        ObjectKind::Vase => rules.vase_hp,
        ObjectKind::Door => rules.door_hp,
    }
}
