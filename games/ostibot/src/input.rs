//! The `input` passed to a script (OB-BOT-1, OB-BOT-2, OB-BOT-4, OB-BOT-5).
//!
//! It is described once, as a value that [`serde`] can serialise: into a line of JSON for bots
//! behind a pipe, or straight into the objects of a script engine. The bot's own `state` is not
//! part of it; its keeper adds it under that key.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::Value;

use crate::geometry::Cell;
use crate::items::{Kind, Slot};
use crate::map::{Object, ObjectKind};
use crate::rules::Rules;
use crate::state::{Item, Pile, full_hp};
use crate::view::{Body, View};

/// What `script.shop` (OB-BOT-1) or `script.play` (OB-BOT-2) is called with, without `state`.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a>(pub &'a View<'a>);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let view = self.0;
        let mut input = to.serialize_map(None)?;
        input.serialize_entry("you", &Text(view.you))?;
        input.serialize_entry("rules", view.game.told_rules())?;
        input.serialize_entry("teams", &Teams(view))?;
        if view.shop {
            let own: Vec<Entity<'_>> = view.own().map(|body| Entity::Adventurer(view, body)).collect();
            input.serialize_entry("adventurers", &own)?;
            input.serialize_entry("round", &view.round)?;
            input.serialize_entry("teamsGold", &TeamsGold(view.gold))?;
        } else {
            input.serialize_entry("gameState", &GameState(view))?;
        }
        input.end()
    }
}

/// The teams in the order of play of this round.
struct Teams<'a>(&'a View<'a>);

impl Serialize for Teams<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Team {
            id: Text<agon_game::Seat>,
            name: String,
        }
        let order = self.0.game.order_of_play(self.0.round);
        to.collect_seq(order.map(|seat| Team { id: Text(seat), name: format!("Team {seat}") }))
    }
}

/// Gold by team.
struct TeamsGold<'a>(&'a [u32]);

impl Serialize for TeamsGold<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().enumerate().map(|(index, gold)| (Text(index + 1), gold)))
    }
}

/// What the team sees.
struct GameState<'a>(&'a View<'a>);

impl Serialize for GameState<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let view = self.0;
        let map = view.game.map();
        let mut state = to.serialize_map(None)?;
        state.serialize_entry("round", &view.round)?;
        state.serialize_entry("turn", &view.turn)?;
        state.serialize_entry("width", &map.width)?;
        state.serialize_entry("height", &map.height)?;
        state.serialize_entry("map", &Ground(view))?;
        state.serialize_entry("teamsGold", &TeamsGold(view.gold))?;
        state.serialize_entry("entities", &entities(view))?;
        let adventurers = view.adventurers.iter().map(|body| Entity::Adventurer(view, body));
        state.serialize_entry("adventurers", &adventurers.collect::<Vec<_>>())?;
        state.end()
    }
}

/// The terrain, row by row; `?` for what is hidden (OB-SEE-7).
struct Ground<'a>(&'a View<'a>);

impl Serialize for Ground<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let map = self.0.game.map();
        let mut rows = to.serialize_seq(Some(map.height))?;
        let mut row = String::with_capacity(map.width);
        for y in 0..map.height {
            row.clear();
            row.extend(
                (0..map.width).map(|x| self.0.tile(Cell::new(x, y)).map_or('?', |tile| tile.character())),
            );
            rows.serialize_element(&row)?;
        }
        rows.end()
    }
}

/// Everything seen, sorted by row, column and id (OB-BOT-5).
fn entities<'a>(view: &'a View<'a>) -> Vec<Entity<'a>> {
    let mut all: Vec<Entity<'a>> =
        view.adventurers.iter().map(|body| Entity::Adventurer(view, body)).collect();
    all.extend(view.objects.iter().map(|&(object, hp)| Entity::Object(view, object, hp)));
    all.extend(view.piles.iter().map(|&pile| Entity::Gold(pile)));
    all.extend(view.items.iter().map(|&(cell, item)| Entity::Item(cell, item)));
    all.extend(view.fire.iter().map(Entity::Corruption));
    all.sort_unstable_by_key(Entity::place);
    all
}

/// One thing seen.
#[derive(Clone, Copy)]
enum Entity<'a> {
    Adventurer(&'a View<'a>, &'a Body),
    Object(&'a View<'a>, Object, u16),
    Gold(Pile),
    Item(Cell, Item),
    Corruption(Cell),
}

impl Entity<'_> {
    /// Row and column, then the letter and the number of its id.
    fn place(&self) -> (Cell, u8, u16) {
        match *self {
            Self::Adventurer(_, body) => (body.cell, b'a', body.id.0),
            Self::Object(_, object, _) => (object.cell, object.kind.name().as_bytes()[0], object.number),
            Self::Gold(pile) => (pile.cell, b'g', 0),
            Self::Item(cell, item) => (cell, b'i', item.id.0),
            Self::Corruption(cell) => (cell, b'f', 0),
        }
    }
}

impl Serialize for Entity<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut entity = to.serialize_map(None)?;
        let cell = self.place().0;
        match *self {
            Self::Adventurer(view, body) => {
                entity.serialize_entry("id", &body.id)?;
                entity.serialize_entry("type", "adventurer")?;
                entity.serialize_entry("teamId", &Text(body.team))?;
                entity.serialize_entry("position", &cell)?;
                entity.serialize_entry("hp", &body.hp)?;
                entity.serialize_entry("maxHp", &view.game.rules().adventurer_hp)?;
                entity.serialize_entry("gold", &body.gold)?;
                entity.serialize_entry("damage", &body.damage)?;
                entity.serialize_entry("armor", &body.armor)?;
                entity.serialize_entry("vision", &body.vision)?;
                entity.serialize_entry("equipment", &Equipment(&body.worn))?;
                if let Some(pack) = &body.pack {
                    entity.serialize_entry("inventory", &Inventory(pack))?;
                }
            }
            Self::Object(view, object, hp) => {
                entity.serialize_entry("id", &Text(object))?;
                entity.serialize_entry("type", object.kind.name())?;
                entity.serialize_entry("position", &cell)?;
                entity.serialize_entry("hp", &hp)?;
                entity.serialize_entry("maxHp", &full_hp(view.game.rules(), object.kind))?;
                if object.kind == ObjectKind::Portal {
                    entity.serialize_entry("open", &(hp == 0))?;
                }
            }
            Self::Gold(pile) => {
                entity.serialize_entry("id", &Text(Placed('g', cell)))?;
                entity.serialize_entry("type", "gold")?;
                entity.serialize_entry("position", &cell)?;
                entity.serialize_entry("amount", &pile.amount)?;
            }
            Self::Item(_, item) => {
                entity.serialize_entry("id", &item.id)?;
                entity.serialize_entry("type", "item")?;
                entity.serialize_entry("position", &cell)?;
                entity.serialize_entry("item", &Carried(item))?;
            }
            Self::Corruption(_) => {
                entity.serialize_entry("id", &Text(Placed('f', cell)))?;
                entity.serialize_entry("type", "corruption")?;
                entity.serialize_entry("position", &cell)?;
            }
        }
        entity.end()
    }
}

/// What an adventurer wears, by slot.
struct Equipment<'a>(&'a [Option<Item>; 3]);

impl Serialize for Equipment<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Slot::ALL.iter().zip(self.0.map(|item| item.map(Carried))))
    }
}

/// What an adventurer carries.
struct Inventory<'a>(&'a [Item]);

impl Serialize for Inventory<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|&item| Carried(item)))
    }
}

/// An item.
struct Carried(Item);

impl Serialize for Carried {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut item = to.serialize_map(Some(4))?;
        item.serialize_entry("id", &self.0.id)?;
        item.serialize_entry("itemType", self.0.kind.id())?;
        item.serialize_entry("name", self.0.kind.name())?;
        item.serialize_entry("slot", slot_name(self.0.kind))?;
        item.end()
    }
}

/// The slot of an item, in the protocol.
fn slot_name(kind: Kind) -> &'static str {
    match kind.slot() {
        Some(Slot::Weapon) => "weapon",
        Some(Slot::Armor) => "armor",
        Some(Slot::Accessory) => "accessory",
        None => "consumable",
    }
}

/// The rules as sent to bots: all numbers, and for each item also its name, its slot and its refund.
pub(crate) fn told_rules(rules: &Rules) -> Value {
    let mut told = serde_json::to_value(rules).unwrap_or_default();
    for kind in Kind::ALL {
        let item = &mut told["items"][kind.id()];
        item["name"] = kind.name().into();
        item["slot"] = slot_name(kind).into();
        item["refund"] = rules.refund(kind).into();
    }
    told
}

/// A value written as text.
struct Text<T>(T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

/// The id of what a cell holds at most once: gold and fire.
struct Placed(char, Cell);

impl Display for Placed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}_{}", self.0, self.1.x(), self.1.y())
    }
}
