//! Play choice by choice: deals in the shop, one action for each adventurer in a turn. What is out of sight is left out.

use agon_game::{Seat, Sink, hand};
use serde::{Deserialize, Serialize};

use crate::Ostibot;
use crate::event::Event;
use crate::geometry::{Cell, Direction};
use crate::items::Kind;
use crate::names::{AdventurerId, ItemId};
use crate::orders::{Act, Action, Order};
use crate::scene::Scene;
use crate::state::{Adventurer, Item, Phase, Place, State};
use crate::turn::Now;
use crate::view::View;

/// See [`agon_game::Hand`].
pub enum Hand {}

/// One entry of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of `Act`")]
pub enum Choice {
    /// Move or hit.
    Move { who: AdventurerId, direction: Direction },
    /// Use up or put on an item of the inventory.
    Use { who: AdventurerId, item: ItemId },
    /// Buy an item; `equip` puts it on if its slot is free.
    Buy { who: AdventurerId, kind: Kind, equip: bool },
    /// Sell an item of the inventory.
    Sell { who: AdventurerId, item: ItemId },
    /// Put on an item of the inventory.
    Equip { who: AdventurerId, item: ItemId },
    /// Take off an item.
    Unequip { who: AdventurerId, item: ItemId },
    /// Hand an item to another adventurer.
    Transfer { from: AdventurerId, to: AdventurerId, item: ItemId },
}

impl From<Choice> for Act {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Move { who, direction } => Self::Move { who, direction },
            Choice::Use { who, item } => Self::Use { who, item },
            Choice::Buy { who, kind, equip } => Self::Buy { who, kind, equip },
            Choice::Sell { who, item } => Self::Sell { who, item },
            Choice::Equip { who, item } => Self::Equip { who, item },
            Choice::Unequip { who, item } => Self::Unequip { who, item },
            Choice::Transfer { from, to, item } => Self::Transfer { from, to, item },
        }
    }
}

impl Choice {
    fn of(act: Act) -> Option<Self> {
        Some(match act {
            Act::Move { who, direction } => Self::Move { who, direction },
            Act::Use { who, item } => Self::Use { who, item },
            Act::Buy { who, kind, equip } => Self::Buy { who, kind, equip },
            Act::Sell { who, item } => Self::Sell { who, item },
            Act::Equip { who, item } => Self::Equip { who, item },
            Act::Unequip { who, item } => Self::Unequip { who, item },
            Act::Transfer { from, to, item } => Self::Transfer { from, to, item },
            Act::Unclear { .. } => return None,
        })
    }
}

impl agon_game::Hand<Ostibot> for Hand {
    type Choice = Choice;

    const HIDES: bool = true;

    fn seen(game: &Ostibot, view: &View<'_>) -> State {
        let mut state = State::BLANK;
        (state.round, state.turn) = (view.round, view.turn);
        state.phase = if view.shop { Phase::Shop } else { Phase::Play(place_of(game, view)) };
        state.gold[..view.gold.len()].copy_from_slice(view.gold);
        let mut free: Vec<usize> = (0..game.places()).rev().collect();
        for body in &view.adventurers {
            let Some(at) = free.iter().rposition(|&who| game.team_of(who) == body.team) else { continue };
            let who = free.remove(at);
            state.adventurers[who] =
                Adventurer { id: body.id, cell: body.cell, hp: body.hp, escape: 0, gold: body.gold };
            state.last_adventurer = state.last_adventurer.max(body.id.0);
            let worn = body.worn.iter().flatten().map(|item| Item { place: Place::Worn(who as u8), ..*item });
            let packed =
                body.pack.iter().flatten().map(|item| Item { place: Place::Pack(who as u8), ..*item });
            for item in worn.chain(packed) {
                keep(&mut state, item);
            }
        }
        for &(cell, item) in &view.items {
            keep(&mut state, Item { place: Place::Ground(cell), ..item });
        }
        let objects = &game.map().objects;
        for (object, hp) in &view.objects {
            if let Some(index) = objects.iter().position(|other| other.cell == object.cell) {
                state.hp[index] = *hp;
            }
        }
        view.piles.iter().for_each(|pile| state.drop_gold(pile.cell, pile.amount));
        state.fire = view.fire;
        state
    }

    fn choices(game: &Ostibot, seat: Seat, seen: &State, chosen: &[Choice]) -> Vec<Choice> {
        let own: Vec<usize> = game.members(seat).filter(|&who| seen.adventurers[who].is_here()).collect();
        let mut all = Vec::new();
        for &who in &own {
            let name = seen.adventurers[who].id;
            if seen.phase == Phase::Shop {
                all.extend(Kind::ALL.map(|kind| Choice::Buy {
                    who: name,
                    kind,
                    equip: kind.slot().is_some(),
                }));
                // Items bought now have no certain name yet.
                for item in seen.items.iter() {
                    let item = item.id;
                    all.extend([
                        Choice::Sell { who: name, item },
                        Choice::Equip { who: name, item },
                        Choice::Unequip { who: name, item },
                    ]);
                    let others = own.iter().filter(|&&other| other != who);
                    all.extend(others.map(|&to| Choice::Transfer {
                        from: name,
                        to: seen.adventurers[to].id,
                        item,
                    }));
                }
            } else {
                all.extend(Direction::ALL.map(|direction| Choice::Move { who: name, direction }));
                all.extend(seen.items.iter().map(|item| Choice::Use { who: name, item: item.id }));
            }
        }
        hand::effective(game, seat, seen, chosen, all)
    }

    fn order(_: &Ostibot, _: Seat, _: &State, chosen: &[Choice]) -> Order {
        Order { actions: chosen.iter().map(|&choice| Action::from(Act::from(choice))).collect(), error: None }
    }

    fn chosen(_: &Ostibot, _: Seat, order: &Order) -> Vec<Choice> {
        order.actions.iter().filter_map(|action| Choice::of(action.act)).collect()
    }

    /// Tries the list alone: what follows depends on things out of sight.
    fn tried(
        game: &Ostibot,
        seat: Seat,
        seen: &State,
        order: Order,
        mut out: &mut dyn Sink<Ostibot>,
    ) -> State {
        let mut state = *seen;
        let mut now = Now { game, state: &mut state, out: &mut out };
        if seen.phase == Phase::Shop {
            now.shop(seat, &order)
        } else {
            now.carry_out(seat, &order)
        }
        state
    }

    fn scene(game: &Ostibot, seat: Seat, seen: &State) -> impl Serialize {
        let mut scene = Scene::new(game, seen);
        let map = game.map();
        let sees = if seen.phase == Phase::Shop { None } else { Some(game.seen(seen, seat)) };
        if !game.rules().reveal_terrain {
            let ground = (0..map.height).map(|y| -> String {
                let seen = |x| sees.as_ref().is_some_and(|sees| sees.contains(Cell::new(x, y)));
                (0..map.width)
                    .map(|x| if seen(x) { map.tile(Cell::new(x, y)).character() } else { '?' })
                    .collect()
            });
            scene.map = ground.collect();
        }
        // What others see would give away where they are.
        for other in Seat::first(game.seats()).filter(|&other| other != seat) {
            scene.sight[other.index()].clear();
        }
        scene.moment = match seen.phase {
            Phase::Shop => format!("round {}, shop", seen.round),
            _ => format!("round {}, turn {}", seen.round, seen.turn),
        };
        scene
    }

    fn notices(game: &Ostibot, seat: Seat, before: &State, after: &State, event: &Event) -> bool {
        let here = |state: &State, id: AdventurerId| {
            state.adventurers.iter().any(|other| other.id == id && other.is_here())
        };
        let mine = |id: AdventurerId| {
            game.members(seat).any(|who| before.adventurers[who].id == id || after.adventurers[who].id == id)
        };
        let through = |id| mine(id) || here(before, id) && here(after, id);
        match event {
            Event::RoundBegan { .. } | Event::RoundEnded { .. } | Event::FireBegan => true,
            Event::Spawned { team, .. } | Event::FinalSale { team, .. } => *team == seat,
            Event::Moved { who, .. }
            | Event::TookGold { who, .. }
            | Event::TookItem { who, .. }
            | Event::Hurt { who, .. }
            | Event::Healed { who, .. }
            | Event::UsedUp { who, .. } => through(*who),
            Event::Fought { who, target, .. } => here(before, *who) && (mine(*who) || mine(*target)),
            Event::GaveGold { from, to, .. } => through(*from) && through(*to),
            Event::Died { who, .. } | Event::Escaped { who, .. } => mine(*who) || here(before, *who),
            Event::Bought { who, .. }
            | Event::Sold { who, .. }
            | Event::PutOn { who, .. }
            | Event::TookOff { who, .. }
            | Event::Struck { who, .. }
            | Event::Said { who, .. } => mine(*who),
            Event::Handed { from, .. } => mine(*from),
            Event::Complained { team, .. } => *team == seat,
            // Objects that break far away are not reported.
            Event::Broke { .. }
            | Event::Opened { .. }
            | Event::FireSpread { .. }
            | Event::Scorched { .. } => false,
        }
    }
}

/// The place of a team in the order of play of its round.
fn place_of(game: &Ostibot, view: &View<'_>) -> u8 {
    let mut order = game.order_of_play(view.round);
    order.position(|team| team == view.you).unwrap_or(0) as u8
}

/// Inserts an item by rising id; a match never shows more items than it can hold.
fn keep(state: &mut State, item: Item) {
    state.last_item = state.last_item.max(item.id.0);
    let _ = state.items.push(item);
    state.items.sort_unstable_by_key(|item| item.id);
}
