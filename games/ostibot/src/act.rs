//! The actions of a team in its turn (OB-ACT-1 to OB-ACT-7, OB-USE-1 to OB-USE-3).

use agon_game::{Seat, Sink};

use crate::Ostibot;
use crate::event::Event;
use crate::names::{AdventurerId, ItemId};
use crate::orders::{Act, Order, Refusal};
use crate::state::State;
use crate::turn::Now;

impl Ostibot {
    /// The place of the adventurer of `team` on the map with this name (OB-ACT-3).
    pub(crate) fn member(&self, state: &State, team: Seat, name: AdventurerId) -> Option<usize> {
        self.members(team).find(|&who| state.adventurers[who].id == name && state.adventurers[who].is_here())
    }
}

impl<S: Sink<Ostibot>> Now<'_, S> {
    /// Carries out a team's list entry by entry, each taking effect at once (OB-ROUND-3).
    /// Adventurers without an entry stay idle (OB-ACT-2).
    pub fn carry_out(&mut self, team: Seat, order: &Order) {
        self.note(team, order);
        let mut acted = 0u32;
        for (index, action) in order.actions.iter().enumerate() {
            if let Err(refusal) = self.act(team, &action.act, &mut acted) {
                self.out.reject(team, index, refusal);
            }
        }
    }

    /// The first entry for an adventurer is its action of the turn, even when it is refused; later
    /// ones are refused (OB-ACT-1, OB-ACT-6).
    fn act(&mut self, team: Seat, act: &Act, acted: &mut u32) -> Result<(), Refusal> {
        let name = act.who();
        // An adventurer that died or escaped in its own action keeps its place until the end of the round.
        let again = self.game.members(team).any(|who| *acted >> who & 1 == 1 && self.name(who) == name);
        if again {
            return Err(Refusal::Again(name));
        }
        let who = self.game.member(self.state, team, name).ok_or(Refusal::NotYours(name))?;
        *acted |= 1 << who;
        match *act {
            Act::Move { direction, .. } => self.go(team, who, direction),
            Act::Use { item, .. } => self.use_item(who, item)?,
            Act::Unclear { why, .. } => return Err(Refusal::Unclear(why)),
            _ => return Err(Refusal::NotInATurn), // OB-ACT-7
        }
        Ok(())
    }

    /// Uses an item of the inventory (OB-USE-3): a consumable heals, at most to full hit points,
    /// and is gone (OB-USE-1, OB-ITEM-7); anything else is put on (OB-USE-2).
    fn use_item(&mut self, who: usize, item: ItemId) -> Result<(), Refusal> {
        let index = self.state.packed(who, item).ok_or(Refusal::NotInInventory(item))?;
        let (kind, name) = (self.state.items[index].kind, self.name(who));
        if kind.slot().is_some() {
            self.state.put_on(who, index);
            self.tell(Event::PutOn { who: name, item });
            return Ok(());
        }
        self.state.items.remove(index);
        let rules = self.game.rules();
        let adventurer = &mut self.state.adventurers[who];
        adventurer.hp = rules.adventurer_hp.min(adventurer.hp + rules.items[&kind].bonus);
        let hp = adventurer.hp;
        self.tell(Event::UsedUp { who: name, item });
        self.tell(Event::Healed { who: name, paid: 0, hp });
        Ok(())
    }

    /// Passes on a bot's remarks in its own words (OB-BOT-6).
    pub fn note(&mut self, team: Seat, order: &Order) {
        if !self.out.listens() {
            return;
        }
        for action in &order.actions {
            if let Some(reason) = &action.reason {
                self.tell(Event::Said { who: action.act.who(), reason: reason.clone() });
            }
        }
        if let Some(error) = &order.error {
            self.tell(Event::Complained { team, error: error.clone() });
        }
    }
}
