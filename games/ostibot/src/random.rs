//! Random orders and random hidden state, for benchmarks and property tests.

use agon_game::session::random_answers;
use agon_game::{Chance, Dialect as _, Game, Ignored, Seat, Seeded, Setup, Workload};

use crate::Ostibot;
use crate::dialect::Talk;
use crate::geometry::{Cell, Direction, Rows};
use crate::items::Kind;
use crate::map::Tile;
use crate::names::{AdventurerId, ItemId};
use crate::orders::{Act, Action, Order, Unclear};
use crate::state::{Adventurer, Phase, Pile, Place, State};

/// Moves that mostly avoid walls; now and then something else, or nonsense.
pub(crate) fn order(game: &Ostibot, state: &State, seat: Seat, chance: &mut impl Chance) -> Order {
    let mut order = Order::default();
    let members = game.members(seat).filter(|&who| state.adventurers[who].is_here());
    if state.phase == Phase::Shop {
        for who in members {
            if chance.happens(1, 2) {
                order.actions.push(deal(state, state.adventurers[who].id, chance).into());
            }
        }
        return order;
    }
    order.actions.reserve(members.clone().count());
    for who in members {
        let adventurer = &state.adventurers[who];
        if chance.happens(1, 32) {
            let act = odd(state, adventurer.id, chance);
            let speaks = !matches!(act, Act::Unclear { .. }) && chance.happens(1, 8);
            let reason = speaks.then(|| "why not".into());
            order.actions.push(Action { act, reason });
            continue;
        }
        let mut direction = Direction::ALL[chance.below(4) as usize];
        for _ in 0..3 {
            let next = game.map().neighbour(adventurer.cell, direction);
            if next.is_some_and(|next| !matches!(game.map().tile(next), Tile::Wall | Tile::Spawner(_))) {
                break;
            }
            direction = Direction::ALL[chance.below(4) as usize];
        }
        order.actions.push(Act::Move { who: adventurer.id, direction }.into());
    }
    order
}

fn any_item(state: &State, chance: &mut impl Chance) -> ItemId {
    match state.items.len() as u32 {
        0 => ItemId::UNKNOWN,
        count => state.items[chance.below(count) as usize].id,
    }
}

/// A random deal in the shop.
fn deal(state: &State, who: AdventurerId, chance: &mut impl Chance) -> Act {
    let item = any_item(state, chance);
    match chance.below(8) {
        0 => Act::Sell { who, item },
        1 => Act::Equip { who, item },
        2 => Act::Unequip { who, item },
        3 => Act::Transfer { from: who, to: AdventurerId(1 + chance.below(12) as u16), item },
        kind => {
            let cheap = Kind::ALL[chance.below(Kind::ALL.len() as u32) as usize];
            Act::Buy { who, kind: cheap, equip: kind > 5 }
        }
    }
}

/// A rare entry in a turn, not always legal.
fn odd(state: &State, who: AdventurerId, chance: &mut impl Chance) -> Act {
    match chance.below(4) {
        0 | 1 => Act::Use { who, item: any_item(state, chance) },
        2 => Act::Unclear { who, why: [Unclear::Nothing, Unclear::Direction][chance.below(2) as usize] },
        _ => deal(state, who, chance),
    }
}

/// Changes what `seat` is not told: everything out of sight, and what others carry.
pub(crate) fn scramble(game: &Ostibot, state: &mut State, seat: Seat, chance: &mut impl Chance) {
    let shop = state.phase == Phase::Shop;
    let seen = if shop { Rows::NONE } else { game.seen(state, seat) };
    let map = game.map();
    let rules = game.rules();
    let occupied: Rows = state.adventurers.iter().filter(|one| one.is_here()).map(|one| one.cell).collect();
    let things: Rows = map.objects.iter().map(|object| object.cell).collect();
    let floor: Rows = map.cells().filter(|&cell| map.tile(cell) == Tile::Floor).collect();
    let mut hideouts: Vec<Cell> = floor.without(&things).without(&occupied).without(&seen).iter().collect();
    let hidden_cell = |cell: Cell| !seen.contains(cell);
    let mut unseen = [false; crate::state::ADVENTURERS];
    for who in (0..game.places()).filter(|&who| game.team_of(who) != seat) {
        let adventurer = &mut state.adventurers[who];
        unseen[who] = !adventurer.is_here() || hidden_cell(adventurer.cell);
        if !adventurer.is_here() || !unseen[who] {
            continue;
        }
        match chance.below(4) {
            0 if !hideouts.is_empty() => {
                adventurer.cell = hideouts.swap_remove(chance.below(hideouts.len() as u32) as usize);
            }
            1 => {
                adventurer.hp = 1 + chance.below(u32::from(rules.adventurer_hp)) as u16;
                adventurer.gold = chance.below(50) as u16;
            }
            2 => {
                let cell = adventurer.cell;
                *adventurer = Adventurer { id: adventurer.id, ..Adventurer::NOBODY };
                hideouts.push(cell);
                let carried = [Place::Pack(who as u8), Place::Worn(who as u8)];
                state.items.iter_mut().filter(|item| carried.contains(&item.place)).for_each(|item| {
                    item.place = Place::Ground(cell);
                });
            }
            _ => {}
        }
    }
    for item in state.items.iter_mut() {
        let any = Kind::ALL[chance.below(Kind::ALL.len() as u32) as usize];
        match item.place {
            Place::Ground(cell) if hidden_cell(cell) => item.kind = any,
            Place::Pack(who) if game.team_of(usize::from(who)) != seat => item.kind = any,
            Place::Worn(who) if unseen[usize::from(who)] && any.slot() == item.kind.slot() => item.kind = any,
            _ => {}
        }
    }
    for (index, object) in map.objects.iter().enumerate() {
        if hidden_cell(object.cell) && state.is_closed(index) && chance.happens(1, 2) {
            let full = crate::state::full_hp(rules, object.kind);
            state.hp[index] = 1 + chance.below(u32::from(full)) as u16;
        }
    }
    for pile in state.piles.iter_mut().filter(|pile| hidden_cell(pile.cell)) {
        pile.amount = 1 + chance.below(50) as u16;
    }
    let piles: Rows = state.piles.iter().map(|pile| pile.cell).collect();
    if let Some(&cell) = hideouts.iter().find(|&&cell| !piles.contains(cell)) {
        // One more pile, out of sight. There is always room for one from each dead adventurer.
        let _ = state.piles.push(Pile { cell, amount: 7 });
    }
    for cell in map.cells() {
        let burns = !map.walls.contains(cell) && !map.spawners.contains(cell) && hidden_cell(cell);
        if burns && chance.happens(1, 16) && !state.fire.insert(cell) {
            state.fire.remove(cell);
        }
    }
}

/// The workloads of `agon bench` that only this game has.
pub(crate) fn workloads() -> Vec<Workload> {
    let ask = |name, about, ask: fn(&Ostibot, &State, Seat, &mut Vec<u8>)| {
        let game =
            Ostibot::set_up(&Setup { seats: 2, seed: 1, ..Setup::default() }).expect("the default set-up");
        let states = turns(&game);
        let mut out = Vec::new();
        let run = move || {
            for state in &states {
                for seat in game.deciding(state).iter() {
                    out.clear();
                    ask(&game, state, seat, &mut out);
                    std::hint::black_box(&out);
                }
            }
            states.len() as u64
        };
        Workload { name, about, run: Box::new(run) }
    };
    vec![
        ask("sight", "the cells one team sees", |game, state, seat, _| {
            std::hint::black_box(game.seen(state, seat));
        }),
        ask("view", "what one team is told", |game, state, seat, _| {
            std::hint::black_box(game.view(state, seat));
        }),
        ask("ask", "what one team is told, as a line of JSON", |game, state, seat, out| {
            Talk::new(game).ask(game, seat, &game.view(state, seat), out);
        }),
    ]
}

/// The turns of a random match.
fn turns(game: &Ostibot) -> Vec<State> {
    let mut chance = Seeded::stream(4, "bench");
    let (mut state, mut answers, mut states) = (game.start(), Vec::new(), Vec::new());
    while !game.deciding(&state).is_empty() {
        if state.phase != Phase::Shop {
            states.push(state);
        }
        random_answers(game, &state, &mut chance, &mut answers);
        game.play(&mut state, &mut (), &answers, &mut chance, &mut Ignored);
    }
    states
}
