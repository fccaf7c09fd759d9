//! The state for spectators, and the game's own workloads for `agon bench`.

use agon_game::{Game as _, Scene, Setup};
use serde_json::{Value, json};

use crate::JungleBlitz;
use crate::arena::{Cell, Ground};
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

/// Searches for far paths: on each map of 20 x 14 between tiles at opposite ends, units in between.
pub fn far_searches() -> Vec<Scene> {
    let mut tasks = Vec::new();
    for name in ["easy-clearing", "inter-riverbend", "adv-temple"] {
        let map = agon_game::MapChoice::Named(name.to_owned());
        let setup = Setup { map, seats: 4, ..Setup::default() };
        let game = JungleBlitz::set_up(&setup).expect("a bundled map with the default rules");
        let empty = game.arena.cells().filter(|&cell| game.arena.ground(cell) == Ground::Empty);
        let empty: Vec<Cell> = empty.collect();
        let mut state = game.start();
        for unit in 1..game.unit_count() {
            let known = usize::from(unit) * empty.len() / usize::from(game.unit_count());
            state.unit_mut(unit).cell = empty[known];
        }
        state.unit_mut(0).cell = empty[0];
        tasks.push((game, state, empty[empty.len() - 1]));
    }
    let mut search = Search::default();
    let run = move || {
        for (game, state, to) in &tasks {
            let found = search.find(&game.arena, state, 0, *to);
            std::hint::black_box(found.expect("the ends are connected"));
        }
        tasks.len() as u64
    };
    vec![Scene { name: "far path", about: "one search across a map of 20 x 14", run: Box::new(run) }]
}
