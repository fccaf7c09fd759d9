//! The built-in bots. They see only a view, and their thinking is limited by a budget, not by time,
//! so that their matches are repeatable.

mod hand;
mod miner;
mod random;
mod rusher;
mod warden;

use agon_game::{Builtin, BuiltinInfo, number_option};

pub(crate) use hand::Distances;

use crate::DeerhuntOf;
use crate::info::INFO;
use crate::orders::Moves;
use crate::view::View;

/// The built-in bots.
pub const BUILTINS: &[BuiltinInfo] = &[
    BuiltinInfo { name: "idle", about: "does nothing", options: &[] },
    BuiltinInfo { name: "random", about: "moves, mines, attacks and duplicates at random", options: &[] },
    BuiltinInfo { name: "miner", about: "mines, and in 2021 makes workers; never fights", options: &[] },
    BuiltinInfo {
        name: "rusher",
        about: "mines, and runs at the enemy with every melee it can get",
        options: &[],
    },
    BuiltinInfo {
        name: "warden",
        about: "mines, multiplies, defends, then hunts; looks ahead one round of attacks",
        options: &[("budget", "positions it tries in a half-turn, 0 to 100000 (default 400)")],
    },
];

/// Makes a bot.
pub fn seat<const BLOCKS: usize>(
    game: &DeerhuntOf<BLOCKS>,
    name: &str,
    options: &[(String, String)],
    seed: u64,
) -> Result<Box<dyn Builtin<DeerhuntOf<BLOCKS>>>, String> {
    INFO.check_builtin(name, options)?;
    let budget = number_option(options, "budget", 0..=100_000)?.unwrap_or(400);
    Ok(match name {
        "idle" => Box::new(Idle),
        "random" => Box::new(random::Random::new(seed)),
        "miner" => Box::new(miner::Miner),
        "rusher" => Box::new(rusher::Rusher::default()),
        _ => Box::new(warden::Warden::new(game, budget)),
    })
}

/// Does nothing.
struct Idle;

impl<const BLOCKS: usize> Builtin<DeerhuntOf<BLOCKS>> for Idle {
    fn order(&mut self, _: &DeerhuntOf<BLOCKS>, _: View<'_>) -> Moves {
        Moves::new()
    }
}
