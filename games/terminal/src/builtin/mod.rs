//! The bots built into the program. All play from their view alone, and the same seed gives the same match.

mod fortress;
mod planner;
mod rush;
mod simple;

use agon_game::{Builtin, BuiltinInfo, Seat, number_option};

use crate::arena::{Edge, Tile};
use crate::orders::{Action, Commands, Order};
use crate::rules::Kind;
use crate::state::tenth;
use crate::view::View;
use crate::{INFO, Terminal};

/// The built-in bots.
pub const BUILTINS: &[BuiltinInfo] = &[
    BuiltinInfo { name: "idle", about: "does nothing", options: &[] },
    BuiltinInfo { name: "random", about: "builds and deploys at random", options: &[] },
    BuiltinInfo {
        name: "rush",
        about: "saves a little, then sends scouts where the way is shortest",
        options: &[],
    },
    BuiltinInfo {
        name: "fortress",
        about: "turrets, walls and supports; strikes back when it is rich",
        options: &[],
    },
    BuiltinInfo {
        name: "planner",
        about: "tries its attacks and the enemy's in the engine before it decides",
        options: &[("nodes", "turns it may simulate for each answer, 1 to 100000 (default 400)")],
    },
];

/// The bot of this name.
pub fn builtin(
    name: &str,
    options: &[(String, String)],
    seed: u64,
) -> Result<Box<dyn Builtin<Terminal>>, String> {
    INFO.check_builtin(name, options)?;
    let nodes = number_option(options, "nodes", 1..=100_000)?.unwrap_or(400);
    Ok(match name {
        "idle" => Box::new(simple::Idle),
        "random" => Box::new(simple::Random::new(seed)),
        "rush" => Box::new(rush::Rush::new(seed)),
        "fortress" => Box::new(fortress::Fortress::new(seed)),
        _ => Box::new(planner::Planner::new(seed, nodes)),
    })
}

/// An answer under construction: keeps track of costs, leaves out what cannot be done.
struct Plan<'a> {
    view: View<'a>,
    sp: f32,
    mp: f32,
    commands: Commands,
    /// The structure on each of its own tiles, planned ones included: kind and whether upgraded.
    built: [Option<(Kind, bool)>; crate::arena::GRID],
}

impl<'a> Plan<'a> {
    fn new(view: View<'a>) -> Self {
        let mut built = [None; crate::arena::GRID];
        for structure in view.state.structures() {
            built[structure.tile().index()] = Some((structure.kind(), structure.upgraded()));
        }
        Self { view, sp: view.own().sp.0, mp: view.own().mp.0, commands: Commands::default(), built }
    }

    /// The tile that the bot calls (x, y), counted from its own corner.
    fn own(&self, x: i32, y: i32) -> Option<Tile> {
        Tile::at(x, y).map(|tile| if self.view.seat.index() == 0 { tile } else { tile.turned() })
    }

    fn cost(&self, kind: Kind, upgraded: bool) -> f32 {
        let form = self.view.rules().form(kind, upgraded);
        if kind.is_mobile() { form.cost2 } else { form.cost1 }
    }

    /// Builds, if the tile is free and the points suffice.
    fn build(&mut self, kind: Kind, tile: Tile) -> bool {
        let cost = self.cost(kind, false);
        let fits = self.built[tile.index()].is_none() && tile.owner() == self.view.seat && cost <= self.sp;
        if fits {
            self.sp = tenth(self.sp - cost);
            self.built[tile.index()] = Some((kind, false));
            self.commands.build.push(Order::new(Action::Place(kind), tile));
        }
        fits
    }

    /// Upgrades, if there is something to upgrade and the points suffice.
    fn upgrade(&mut self, tile: Tile) -> bool {
        let Some((kind, false)) = self.built[tile.index()] else { return false };
        let cost = self.cost(kind, true);
        let fits = tile.owner() == self.view.seat
            && self.view.rules().units[kind.index()].upgradable
            && cost <= self.sp;
        if fits {
            self.sp = tenth(self.sp - cost);
            self.built[tile.index()] = Some((kind, true));
            self.commands.build.push(Order::new(Action::Upgrade, tile));
        }
        fits
    }

    /// Deploys up to `count` units and returns how many it could.
    fn deploy(&mut self, kind: Kind, tile: Tile, count: usize) -> usize {
        let cost = self.cost(kind, false);
        if self.built[tile.index()].is_some() {
            return 0;
        }
        let mut done = 0;
        while done < count && cost <= self.mp && done < 500 {
            self.mp = tenth(self.mp - cost);
            self.commands.deploy.push(Order::new(Action::Place(kind), tile));
            done += 1;
        }
        done
    }

    /// The tiles of the player's edges without a structure.
    fn starts(&self) -> Vec<Tile> {
        starts(self.view.seat).filter(|tile| self.built[tile.index()].is_none()).collect()
    }
}

/// The tiles of a player's two edges.
fn starts(seat: Seat) -> impl Iterator<Item = Tile> {
    Edge::ALL.into_iter().filter(move |edge| edge.belongs_to(seat)).flat_map(Edge::tiles)
}
