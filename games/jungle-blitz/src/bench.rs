//! The game's own workloads for `agon bench`.

use agon_game::{Dialect as _, Game as _, Seat, Seeded, Setup, Workload};

use crate::JungleBlitz;
use crate::arena::{Cell, Ground};
use crate::dialect::Wire;
use crate::search::Search;
use crate::state::State;

/// The game's own workloads.
pub fn workloads() -> Vec<Workload> {
    vec![far_searches(), conversation()]
}

/// Four teams of four units on a map, all on the board and spread over it.
fn crowd(map: &str) -> (JungleBlitz, State) {
    let map = agon_game::MapChoice::Named(map.to_owned());
    let rules = agon_game::RulesChoice {
        sets: vec![("unitsPerTeam".to_owned(), "4".to_owned())],
        ..agon_game::RulesChoice::default()
    };
    let setup = Setup { map, rules, seats: 4, ..Setup::default() };
    let game = JungleBlitz::set_up(&setup).expect("a bundled map with the default rules");
    let empty = empty_tiles(&game);
    let mut state = game.start();
    for unit in 0..game.unit_count() {
        let spread = usize::from(unit) * empty.len() / usize::from(game.unit_count());
        let unit = state.unit_mut(unit);
        (unit.cell, unit.known) = (empty[spread], true);
    }
    (game, state)
}

fn empty_tiles(game: &JungleBlitz) -> Vec<Cell> {
    game.arena.cells().filter(|&cell| game.arena.ground(cell) == Ground::Empty).collect()
}

/// Searches from the first tile to the last, with fifteen units in between.
fn far_searches() -> Workload {
    let maps = ["easy-clearing", "inter-riverbend", "adv-temple"];
    let tasks = maps.map(|map| {
        let (game, state) = crowd(map);
        let last = empty_tiles(&game).last().copied().expect("a map has floor");
        (game, state, last)
    });
    let mut search = Search::default();
    let run = move || {
        for (game, state, to) in &tasks {
            let found = search.find(&game.arena, state, 0, *to);
            std::hint::black_box(found.expect("the ends are connected"));
        }
        tasks.len() as u64
    };
    Workload { name: "far path", about: "one search across a map of 20 x 14", run: Box::new(run) }
}

/// One message to a bot and its answer.
fn conversation() -> Workload {
    let (game, state) = crowd("inter-riverbend");
    let (mut wire, seat) = (Wire::new(&game), Seat::new(0));
    let (mut told, mut said) = (Vec::new(), Vec::new());
    wire.ask(&game, seat, &game.view(&state, seat), &mut told);
    let order = game.random_order(&state, seat, &mut Seeded::stream(1, "bench"));
    wire.say(&game, seat, &order, &mut said);
    let run = move || {
        told.clear();
        wire.ask(&game, seat, &game.view(&state, seat), &mut told);
        std::hint::black_box(wire.hear(&game, seat, &said));
        1
    };
    Workload { name: "messages", about: "one TICK written and one COMMAND read", run: Box::new(run) }
}
