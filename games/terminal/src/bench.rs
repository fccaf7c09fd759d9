//! Workloads of the benchmark: one turn from a built-up board, light and heavy.

use agon_game::{Answer, Game as _, Ignored, Seat, Setup, Workload};

use crate::Terminal;
use crate::arena::Tile;
use crate::orders::{Action, Commands, Order};
use crate::rules::Kind;
use crate::state::{State, Structure};
use crate::turn;
use crate::work::Work;

/// A light turn (20 structures, 4 mobile units) and a heavy one (100 structures, 12 mobile units).
pub fn workloads() -> Vec<Workload> {
    vec![
        turns("light turn", "one turn with 20 structures and 4 mobile units", 10, 2),
        turns("heavy turn", "one turn with 100 structures and 12 mobile units", 50, 6),
    ]
}

/// Plays the same turn again and again.
fn turns(name: &'static str, about: &'static str, structures: usize, mobiles: usize) -> Workload {
    let game =
        Terminal::set_up(&Setup { seats: 2, ..Setup::default() }).expect("the default rules are playable");
    let (state, answers) = board(&game, structures, mobiles);
    let mut work = Work::default();
    let run = move || {
        for _ in 0..100 {
            let mut copy = state;
            turn::play(&game, &mut copy, &mut work, &answers, &mut Ignored);
            std::hint::black_box(&copy);
        }
        100
    };
    Workload { name, about, run: Box::new(run) }
}

/// A board with this many structures and mobile units for each player, the second player's turned.
fn board(game: &Terminal, structures: usize, mobiles: usize) -> (State, [(Seat, Answer<Commands>); 2]) {
    let rules = game.rules();
    let mut state = game.start();
    // Rows of structures with a gap in each, so that there is a way through.
    let places = [13, 11, 9]
        .into_iter()
        .flat_map(|y: i32| (0..28).filter(move |x| (x + y) % 7 != 3).filter_map(move |x| Tile::at(x, y)));
    for (index, tile) in places.take(structures).enumerate() {
        let kind = match index % 5 {
            0 | 1 => Kind::Wall,
            2 | 3 => Kind::Turret,
            _ => Kind::Support,
        };
        for tile in [tile, tile.turned()] {
            let health = rules.form(kind, false).start_health;
            state.push(Structure::new(state.next_id, kind, false, tile, health));
            state.next_id += 1;
        }
    }
    state.players.iter_mut().for_each(|player| player.mp.0 = 100.0);
    let answers = [0, 1].map(|seat| {
        let mut commands = Commands::default();
        for index in 0..mobiles {
            let kind = [Kind::Scout, Kind::Demolisher, Kind::Interceptor][index % 3];
            let tile = Tile::at(13 - index as i32, index as i32).expect("on the edge");
            let tile = if seat == 0 { tile } else { tile.turned() };
            commands.deploy.push(Order::new(Action::Place(kind), tile));
        }
        (Seat::new(seat), Answer::Given { order: commands, think_ms: 0 })
    });
    (state, answers)
}
