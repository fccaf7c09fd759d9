//! The orders of a bot, and why an entry may be refused.

use std::fmt;

use agon_game::Reason;

use crate::geometry::Direction;
use crate::items::Kind;
use crate::names::{AdventurerId, ItemId};

/// The answer of a bot to one call of `shop` or `play`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The entries of the list, in order.
    pub actions: Vec<Action>,
    /// What the bot says went wrong; for the replay (OB-BOT-6).
    pub error: Option<Box<str>>,
}

/// One entry of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What is asked for.
    pub act: Act,
    /// Why, in the bot's own words; for the replay (OB-BOT-6).
    pub reason: Option<Box<str>>,
}

impl From<Act> for Action {
    fn from(act: Act) -> Self {
        Self { act, reason: None }
    }
}

/// What an entry asks for. The names in it may belong to nobody and nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the protocol: who acts, and with which item")]
pub enum Act {
    /// Move or hit (OB-MOVE-1).
    Move { who: AdventurerId, direction: Direction },
    /// Use up or put on an item of the inventory (OB-USE-1).
    Use { who: AdventurerId, item: ItemId },
    /// Buy an item, and put it on if its slot is free (OB-SHOP-2).
    Buy { who: AdventurerId, kind: Kind, equip: bool },
    /// Sell an item of the inventory (OB-SHOP-4).
    Sell { who: AdventurerId, item: ItemId },
    /// Put on an item of the inventory (OB-SHOP-5).
    Equip { who: AdventurerId, item: ItemId },
    /// Take off an item (OB-SHOP-6).
    Unequip { who: AdventurerId, item: ItemId },
    /// Hand an item from inventory to inventory (OB-SHOP-7).
    Transfer { from: AdventurerId, to: AdventurerId, item: ItemId },
    /// Nothing in the rules.
    Unclear { who: AdventurerId, why: Unclear },
}

impl Act {
    /// The adventurer it is for.
    pub const fn who(&self) -> AdventurerId {
        match *self {
            Self::Move { who, .. }
            | Self::Use { who, .. }
            | Self::Buy { who, .. }
            | Self::Sell { who, .. }
            | Self::Equip { who, .. }
            | Self::Unequip { who, .. }
            | Self::Unclear { who, .. } => who,
            Self::Transfer { from, .. } => from,
        }
    }
}

/// Why an entry matches nothing in the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// It asks for nothing.
    Nothing,
    /// It asks for several things at once.
    Several,
    /// It asks for a move in a direction that does not exist.
    Direction,
    /// It asks for an item that no shop has.
    ItemType,
}

/// Why an entry was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The team has no adventurer of this name on the map.
    NotYours(AdventurerId),
    /// The adventurer has already acted this turn.
    Again(AdventurerId),
    /// The entry asks for nothing, or for several things.
    Unclear(Unclear),
    /// A shop action in a turn.
    NotInATurn,
    /// A move or use in the shop.
    NotInTheShop,
    /// The item is not in this adventurer's inventory.
    NotInInventory(ItemId),
    /// The item is not worn by this adventurer.
    NotWorn(ItemId),
    /// Consumables have no slot.
    NotWearable(Kind),
    /// The team cannot afford it.
    TooDear {
        /// What it costs.
        cost: u32,
        /// What the team has.
        gold: u32,
    },
    /// The game holds no more items.
    NoMoreItems,
    /// The list is unreasonably long.
    TooMany,
}

impl Reason for Refusal {
    fn rule(&self) -> &'static str {
        match self {
            Self::NotYours(_) => "OB-ACT-3",
            Self::Again(_) => "OB-ACT-1",
            Self::Unclear(Unclear::Direction) => "OB-ACT-5",
            Self::Unclear(Unclear::ItemType) => "OB-ITEM-2",
            Self::Unclear(_) => "OB-ACT-4",
            Self::NotInATurn | Self::NotInTheShop => "OB-ACT-7",
            Self::NotInInventory(_) => "OB-ITEM-3",
            Self::NotWorn(_) => "OB-SHOP-6",
            Self::NotWearable(_) => "OB-SHOP-5",
            Self::TooDear { .. } => "OB-SHOP-2",
            Self::NoMoreItems => "OB-SHOP-10",
            Self::TooMany => "OB-BOT-3",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotYours(AdventurerId::UNKNOWN) => f.write_str("`adventurerId` names nobody"),
            Self::NotYours(who) => write!(f, "{who} is not an adventurer of yours on the map"),
            Self::Again(who) => write!(f, "{who} had its action this turn; only the first counts"),
            Self::Unclear(Unclear::Nothing) => f.write_str("asks for nothing the rules know"),
            Self::Unclear(Unclear::Several) => f.write_str("asks for several things at once"),
            Self::Unclear(Unclear::Direction) => f.write_str("`direction` must be UP, DOWN, LEFT or RIGHT"),
            Self::Unclear(Unclear::ItemType) => f.write_str("the shop has no item of that `itemType`"),
            Self::NotInATurn => f.write_str("the shop is closed during the turns; move or use"),
            Self::NotInTheShop => f.write_str("nobody moves or uses anything in the shop"),
            Self::NotInInventory(item) => write!(f, "{item} is not in this adventurer's inventory"),
            Self::NotWorn(item) => write!(f, "{item} is not worn by this adventurer"),
            Self::NotWearable(kind) => write!(f, "a {} cannot be worn", kind.name()),
            Self::TooDear { cost, gold } => write!(f, "costs {cost} gold and the team has {gold}"),
            Self::NoMoreItems => f.write_str("as many items exist as a match can hold"),
            Self::TooMany => f.write_str("the list is too long; the rest was not looked at"),
        }
    }
}
