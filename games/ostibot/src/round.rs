//! Rounds: their beginning, the spawners, their end (OB-ROUND, OB-SPAWN).

use agon_game::{Seat, Sink};

use crate::Ostibot;
use crate::event::Event;
use crate::geometry::{Cell, Rows};
use crate::list::List;
use crate::names::AdventurerId;
use crate::state::{Adventurer, GONE, Pile, Place, State, full_hp};
use crate::turn::Now;

impl Ostibot {
    /// The team at `place`, from 0, of the order of play: in round 1 teams play by number, and
    /// after each round the first becomes the last (OB-GAME-3).
    pub fn team_at(&self, round: u16, place: u8) -> Seat {
        let seats = u16::from(self.seats());
        Seat::new(((u16::from(place) + round.saturating_sub(1)) % seats) as u8)
    }

    /// All teams in their order of play (OB-GAME-3).
    pub fn order_of_play(&self, round: u16) -> impl Iterator<Item = Seat> + use<'_> {
        (0..self.seats()).map(move |place| self.team_at(round, place))
    }
}

impl State {
    /// Whether `team` has a living adventurer on the map.
    pub fn has_adventurers(&self, game: &Ostibot, team: Seat) -> bool {
        self.adventurers[game.members(team)].iter().any(Adventurer::is_here)
    }
}

impl<S: Sink<Ostibot>> Now<'_, S> {
    /// Restores the map as it was drawn, whatever happened on it before (OB-ROUND-1).
    pub fn reset_map(&mut self, round: u16) {
        let (map, rules, state) = (self.game.map(), self.game.rules(), &mut *self.state);
        state.round = round;
        state.turn = 0;
        state.fire = Rows::NONE;
        state.hp = [GONE; _];
        for (hp, object) in state.hp.iter_mut().zip(&map.objects) {
            *hp = full_hp(rules, object.kind);
        }
        state.piles = List::new(Pile { cell: Cell::NOWHERE, amount: 0 });
        for &cell in &map.piles {
            state.drop_gold(cell, rules.gold_pile);
        }
        self.tell(Event::RoundBegan { round });
    }

    /// Spawns the adventurers (OB-SPAWN-1): first those who escaped, in order of escape, with all they had (OB-SPAWN-3),
    /// then new ones; all unhurt and without gold (OB-SPAWN-2, OB-SPAWN-4). A team has a place for each adventurer it can
    /// have in a round, so everybody who escaped finds one.
    pub fn spawn(&mut self) {
        let hp = self.game.rules().adventurer_hp;
        for team in self.game.order_of_play(self.state.round) {
            let members = self.game.members(team);
            for &at in &self.game.map().homes[team.index()][..members.len()] {
                let places = &mut self.state.adventurers;
                let waiting = members.clone().filter(|&who| places[who].escape > 0);
                let (who, returns) = match waiting.min_by_key(|&who| places[who].escape) {
                    Some(who) => (who, true),
                    None => {
                        let mut empty = members.clone().filter(|&who| !places[who].is_here());
                        (empty.next().expect("a place for each spawner that is used"), false)
                    }
                };
                if !returns {
                    self.state.last_adventurer += 1;
                    places[who].id = AdventurerId(self.state.last_adventurer);
                }
                let id = places[who].id;
                places[who] = Adventurer { id, cell: at, hp, escape: 0, gold: 0 };
                self.tell(Event::Spawned { who: id, team, at, returns });
            }
        }
    }

    /// Whether nobody is left, or the last turn has been played (OB-ROUND-6).
    pub fn round_is_over(&self) -> bool {
        let state = &*self.state;
        state.turn >= self.game.rules().max_turns || !state.adventurers.iter().any(Adventurer::is_here)
    }

    /// Adventurers still on the map are lost with all gold and items; so is everything on the ground (OB-ROUND-7).
    pub fn end_round(&mut self) {
        let state = &mut *self.state;
        let lost = state.piles.iter().map(|pile| u32::from(pile.amount)).sum();
        let left_behind = state.adventurers.iter().map(|adventurer| u32::from(adventurer.gold)).sum();
        for adventurer in state.adventurers.iter_mut().filter(|adventurer| adventurer.escape == 0) {
            *adventurer = Adventurer { id: adventurer.id, ..Adventurer::NOBODY };
        }
        let adventurers = &state.adventurers;
        state.items.retain(|item| match item.place {
            Place::Ground(_) => false,
            Place::Pack(who) | Place::Worn(who) => adventurers[usize::from(who)].escape > 0,
        });
        state.piles.retain(|_| false);
        let round = state.round;
        self.tell(Event::RoundEnded { round, lost, left_behind });
    }

    /// Sells everything that escaped adventurers wear and carry (OB-ITEM-9).
    pub fn final_sale(&mut self) {
        let items = self.state.items;
        for item in items.iter() {
            if let Place::Pack(who) | Place::Worn(who) = item.place {
                let team = self.game.team_of(usize::from(who));
                let refund = self.game.rules().refund(item.kind);
                self.state.gold[team.index()] += refund;
                self.tell(Event::FinalSale { team, item: item.id, kind: item.kind, refund });
            }
        }
        self.state.items.retain(|_| false);
    }
}
