//! The state for spectators, and the game's own workloads for `agon bench`.

use agon_game::{Dialect as _, Game as _, Scene, Seat, Seeded, Setup};
use serde_json::{Value, json};

use crate::JungleBlitz;
use crate::arena::{Cell, Ground};
use crate::dialect::Wire;
use crate::outcome::pending;
use crate::search::Search;
use crate::state::State;

/// The state as JSON: positions as `[x, y]`, units and teams by their ids on the wire, from 1.
pub fn scene(game: &JungleBlitz, state: &State) -> Value {
    let at = |cell: Cell| game.arena.point(cell).map(|point| json!([point.x, point.y]));
    let units = (0..game.unit_count()).map(|index| {
        let unit = state.unit(index);
        json!({
            "id": index + 1,
            "team": game.team_of(index) + 1,
            "at": at(unit.cell),
            "path": state.path(&game.arena, index).map(at).collect::<Vec<_>>(),
            "diamond": unit.diamond(),
            "summoning": unit.summoning,
            "vinedBy": (unit.vined_by > 0).then_some(unit.vined_by),
            "killedBy": (unit.attacked_by > 0).then_some(unit.attacked_by),
            "diedAt": at(unit.died_at),
        })
    });
    let diamonds = state.diamonds[..game.arena.diamonds().len()].iter().map(|diamond| {
        let owner = diamond.owner.holder().map(|unit| unit + 1);
        json!({ "at": at(diamond.cell), "level": diamond.level, "points": diamond.points, "owner": owner })
    });
    let teams = (0..game.teams()).map(|team| {
        json!({
            "score": state.scores[team],
            "pending": pending(game, state, team),
            "deaths": state.deaths[team],
            "gone": state.is_dead(team),
        })
    });
    json!({
        "tick": state.tick,
        "totalTick": game.rules.total_tick,
        "map": game.map.text().lines().filter(|line| !line.contains(':')).collect::<Vec<_>>(),
        "playOrder": game.play_order(state.tick).iter().map(|team| team + 1).collect::<Vec<_>>(),
        "teams": teams.collect::<Vec<_>>(),
        "units": units.collect::<Vec<_>>(),
        "diamonds": diamonds.collect::<Vec<_>>(),
    })
}

/// The game's own workloads.
pub fn workloads() -> Vec<Scene> {
    vec![far_searches(), conversation()]
}

/// Four teams of four units on a map, all units on the board, spread over it.
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
fn far_searches() -> Scene {
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
    Scene { name: "far path", about: "one search across a map of 20 x 14", run: Box::new(run) }
}

/// One message to a bot and its answer.
fn conversation() -> Scene {
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
    Scene { name: "messages", about: "one TICK written and one COMMAND read", run: Box::new(run) }
}
