//! The shop phase (OB-SHOP-1 to OB-SHOP-10).

use agon_game::{Seat, Sink};

use crate::Ostibot;
use crate::event::Event;
use crate::items::Kind;
use crate::names::{AdventurerId, ItemId};
use crate::orders::{Act, Order, Refusal};
use crate::state::{Item, Place};
use crate::turn::Now;

impl<S: Sink<Ostibot>> Now<'_, S> {
    /// Carries out a team's list in order; impossible entries are skipped (OB-SHOP-1, OB-SHOP-8).
    pub fn shop(&mut self, team: Seat, order: &Order) {
        self.note(team, order);
        for (index, action) in order.actions.iter().enumerate() {
            if let Err(refusal) = self.deal(team, &action.act) {
                self.out.reject(team, index, refusal);
            }
        }
    }

    fn deal(&mut self, team: Seat, act: &Act) -> Result<(), Refusal> {
        let whom = |name| self.game.member(self.state, team, name).ok_or(Refusal::NotYours(name));
        match *act {
            Act::Buy { who, kind, equip } => self.buy(team, whom(who)?, kind, equip),
            Act::Sell { who, item } => self.sell(team, whom(who)?, item),
            Act::Equip { who, item } => self.equip(whom(who)?, item),
            Act::Unequip { who, item } => self.unequip(whom(who)?, item),
            Act::Transfer { from, to, item } => self.transfer(whom(from)?, whom(to)?, item),
            Act::Move { .. } | Act::Use { .. } => Err(Refusal::NotInTheShop),
            Act::Unclear { why, .. } => Err(Refusal::Unclear(why)),
        }
    }

    /// The team pays and the adventurer gets a new item: into its slot if `equip` is set and the
    /// slot is empty, otherwise into the inventory (OB-SHOP-2, OB-SHOP-3). A match holds a limited
    /// number of items (OB-SHOP-10).
    fn buy(&mut self, team: Seat, who: usize, kind: Kind, equip: bool) -> Result<(), Refusal> {
        let cost = self.game.rules().items[&kind].cost;
        let gold = self.state.gold_of(team);
        if gold < cost {
            return Err(Refusal::TooDear { cost, gold });
        }
        let free = kind.slot().is_some_and(|slot| self.state.worn(who, slot).is_none());
        let place = if equip && free { Place::Worn(who as u8) } else { Place::Pack(who as u8) };
        let id = ItemId(self.state.last_item.checked_add(1).ok_or(Refusal::NoMoreItems)?);
        self.state.items.push(Item { id, place, kind }).map_err(|_| Refusal::NoMoreItems)?;
        self.state.last_item = id.0;
        self.state.gold[team.index()] -= cost;
        let who = self.name(who);
        self.tell(Event::Bought { who, item: id, kind, cost });
        Ok(())
    }

    /// Sells an item of the inventory: the team gets part of its price (OB-SHOP-4).
    fn sell(&mut self, team: Seat, who: usize, item: ItemId) -> Result<(), Refusal> {
        let index = self.state.packed(who, item).ok_or(Refusal::NotInInventory(item))?;
        let kind = self.state.items.remove(index).kind;
        let refund = self.game.rules().refund(kind);
        self.state.gold[team.index()] += refund;
        let who = self.name(who);
        self.tell(Event::Sold { who, item, kind, refund });
        Ok(())
    }

    /// Puts an item of the inventory into its slot; the item there goes to the inventory.
    /// Consumables have no slot (OB-SHOP-5).
    fn equip(&mut self, who: usize, item: ItemId) -> Result<(), Refusal> {
        let index = self.state.packed(who, item).ok_or(Refusal::NotInInventory(item))?;
        let kind = self.state.items[index].kind;
        if kind.slot().is_none() {
            return Err(Refusal::NotWearable(kind));
        }
        self.state.put_on(who, index);
        let who = self.name(who);
        self.tell(Event::PutOn { who, item });
        Ok(())
    }

    /// Moves a worn item to the inventory (OB-SHOP-6).
    fn unequip(&mut self, who: usize, item: ItemId) -> Result<(), Refusal> {
        let worn =
            self.state.items.iter_mut().find(|own| own.id == item && own.place == Place::Worn(who as u8));
        worn.ok_or(Refusal::NotWorn(item))?.place = Place::Pack(who as u8);
        let who = self.name(who);
        self.tell(Event::TookOff { who, item });
        Ok(())
    }

    /// Moves an item from one inventory to another of the team (OB-SHOP-7).
    fn transfer(&mut self, from: usize, to: usize, item: ItemId) -> Result<(), Refusal> {
        let index = self.state.packed(from, item).ok_or(Refusal::NotInInventory(item))?;
        self.state.items[index].place = Place::Pack(to as u8);
        let (from, to) = (self.name(from), self.name(to));
        self.tell(Event::Handed { from, to, item });
        Ok(())
    }

    /// The name of the adventurer at this place.
    pub fn name(&self, who: usize) -> AdventurerId {
        self.state.adventurers[who].id
    }
}
