//! The random policy of benchmarks and property tests.

use agon_game::{Chance, Seat};

use crate::arena::{Edge, Tile};
use crate::orders::{Action, Commands, Order};
use crate::rules::{Kind, Rules};
use crate::state::State;

/// A random answer, mostly legal: some structures, now and then an upgrade or a removal, and on most turns a
/// few mobile units.
pub fn random_order(rules: &Rules, state: &State, seat: Seat, chance: &mut impl Chance) -> Commands {
    let mut commands = Commands::default();
    let player = &state.players[seat.index()];
    let half = |chance: &mut dyn FnMut(u32) -> u32| loop {
        let (x, y) = (chance(28) as i32, chance(14) as i32);
        if let Some(tile) = Tile::at(x, y) {
            return if seat.index() == 0 { tile } else { tile.turned() };
        }
    };
    let mut draw = |n: u32| chance.below(n);
    let mut sp = player.sp.0;
    for _ in 0..draw(8) {
        let kind = [Kind::Wall, Kind::Wall, Kind::Turret, Kind::Turret, Kind::Support][draw(5) as usize];
        let cost = rules.form(kind, false).cost1;
        if cost <= sp {
            sp -= cost;
            commands.build.push(Order::new(Action::Place(kind), half(&mut draw)));
        }
    }
    let count = state.structures().len() as u32;
    for action in [Action::Upgrade, Action::Upgrade, Action::Remove] {
        if count > 0 && draw(4) == 0 {
            let structure = state.structures()[draw(count) as usize];
            if structure.owner() == seat {
                commands.build.push(Order::new(action, structure.tile()));
            }
        }
    }
    let mut mp = player.mp.0;
    for _ in 0..draw(4) {
        let kind = [Kind::Scout, Kind::Demolisher, Kind::Interceptor][draw(3) as usize];
        let cost = rules.form(kind, false).cost2;
        let edge = Edge::ALL[2 * seat.index() + draw(2) as usize];
        let tile = edge.tiles().nth(draw(14) as usize).expect("an edge has 14 tiles");
        for _ in 0..=draw(4) {
            if cost <= mp {
                mp -= cost;
                commands.deploy.push(Order::new(Action::Place(kind), tile));
            }
        }
    }
    if draw(50) == 0 {
        let order = Order { action: Action::Unknown, x: 0, y: 0 };
        commands.build.push(order);
        commands.deploy.push(Order { action: Action::Place(Kind::Scout), x: 28, y: -1 });
    }
    commands
}
