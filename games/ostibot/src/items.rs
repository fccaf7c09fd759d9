//! What adventurers wear and carry: the catalogue (OB-ITEM-1 to OB-ITEM-8).

use serde::{Deserialize, Serialize};

use crate::names::ItemId;
use crate::rules::Rules;
use crate::state::{Place, State};

/// Where an item is worn (OB-ITEM-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// Adds to the damage.
    Weapon,
    /// Reduces the damage by other adventurers.
    Armor,
    /// Adds to the vision, or protects from spikes.
    Accessory,
}

impl Slot {
    /// All three, in the order of the protocol.
    pub const ALL: [Self; 3] = [Self::Weapon, Self::Armor, Self::Accessory];
}

macro_rules! catalogue {
    ($($kind:ident $id:literal $name:literal $slot:expr;)*) => {
        /// A kind of item. Its price and its bonus are rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[expect(missing_docs, reason = "each is named after the item it is")]
        pub enum Kind { $($kind),* }

        impl Kind {
            /// The whole catalogue.
            pub const ALL: [Self; 11] = [$(Self::$kind),*];

            /// Its name in the protocol and in rules files: `steel_blade`.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$kind => $id),* }
            }

            /// Its name for people: `Steel Blade`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),* }
            }

            /// Where it is worn; `None` for consumables.
            pub const fn slot(self) -> Option<Slot> {
                match self { $(Self::$kind => $slot),* }
            }
        }
    };
}

catalogue! {
    RustySword "rusty_sword" "Rusty Sword" Some(Slot::Weapon);
    SteelBlade "steel_blade" "Steel Blade" Some(Slot::Weapon);
    EnchantedAxe "enchanted_axe" "Enchanted Axe" Some(Slot::Weapon);
    LeatherVest "leather_vest" "Leather Vest" Some(Slot::Armor);
    Chainmail "chainmail" "Chainmail" Some(Slot::Armor);
    PlateArmor "plate_armor" "Plate Armor" Some(Slot::Armor);
    ScoutsBinocular "scouts_binocular" "Scout's Binocular" Some(Slot::Accessory);
    SpeedBoots "speed_boots" "Speed Boots" Some(Slot::Accessory);
    BigBoots "big_boots" "Big Boots" Some(Slot::Accessory);
    HealthPotion "health_potion" "Health Potion" None;
    GreaterHealthPotion "greater_health_potion" "Greater Health Potion" None;
}

impl Kind {
    /// The kind an answer asks for: letters and digits must match; case and everything in between are ignored (OB-ITEM-2).
    pub fn asked(text: &str) -> Option<Self> {
        let plain = |text: &str| -> String {
            let letters = text.chars().take(100).filter(char::is_ascii_alphanumeric);
            letters.map(|letter| letter.to_ascii_lowercase()).collect()
        };
        let asked = plain(text);
        Self::ALL.into_iter().find(|kind| plain(kind.id()) == asked)
    }

    /// The kind with this index in [`Kind::ALL`].
    pub fn from_index(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }
}

/// Price and effect of a kind of item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemRule {
    /// Gold it costs.
    pub cost: u32,
    /// What it adds: damage (weapon), damage kept off (armor), vision (accessory), hit points healed.
    pub bonus: u16,
}

impl Rules {
    /// The refund for a sold item: `sellRatio` of its price, rounded down (OB-ITEM-8).
    pub fn refund(&self, kind: Kind) -> u32 {
        (f64::from(self.items[&kind].cost) * self.sell_ratio) as u32
    }
}

impl State {
    /// The kind of item the adventurer in place `who` wears in `slot`.
    #[inline]
    pub fn worn(&self, who: usize, slot: Slot) -> Option<Kind> {
        let worn = Place::Worn(who as u8);
        self.items
            .iter()
            .find(|item| item.place == worn && item.kind.slot() == Some(slot))
            .map(|item| item.kind)
    }

    /// The index of `id` in the list of items.
    pub fn item(&self, id: ItemId) -> Option<usize> {
        self.items.iter().position(|item| item.id == id)
    }

    /// The index of `id` in the list of items, if it lies in the inventory of `who` (OB-ITEM-3).
    pub(crate) fn packed(&self, who: usize, id: ItemId) -> Option<usize> {
        self.item(id).filter(|&index| self.items[index].place == Place::Pack(who as u8))
    }

    /// Puts an item of the inventory into its slot; the item there goes back to the inventory
    /// (OB-SHOP-5, OB-USE-2).
    pub(crate) fn put_on(&mut self, who: usize, index: usize) {
        let (pack, worn) = (Place::Pack(who as u8), Place::Worn(who as u8));
        let slot = self.items[index].kind.slot();
        for item in self.items.iter_mut().filter(|item| item.place == worn && item.kind.slot() == slot) {
            item.place = pack;
        }
        self.items[index].place = worn;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_name_is_understood() {
        for kind in Kind::ALL {
            for spelling in [kind.id(), kind.name(), &kind.id().to_uppercase(), &kind.name().replace(' ', "")]
            {
                assert_eq!(Kind::asked(spelling), Some(kind), "{spelling}");
            }
        }
        assert_eq!(Kind::asked("Scouts Binocular"), Some(Kind::ScoutsBinocular));
        assert_eq!(Kind::asked("sword"), None);
        assert_eq!(Kind::asked(""), None);
    }
}
