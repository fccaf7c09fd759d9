//! The built-in bots. They see only a view, and their thinking is limited by a budget, not by time,
//! so that their matches are repeatable.

mod hand;
mod miner;
mod random;
mod rusher;
mod warden;

use agon_game::{Builtin, BuiltinInfo};

pub(crate) use hand::Distances;

use crate::DeerhuntOf;
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
        about: "mines, multiplies, defends, then hunts; looks one exchange of blows ahead",
        options: &[("budget", "positions it tries in a half-turn, 0 to 100000; 400 by default")],
    },
];

/// Makes a bot.
pub fn seat<const BLOCKS: usize>(
    game: &DeerhuntOf<BLOCKS>,
    name: &str,
    options: &[(String, String)],
    seed: u64,
) -> Result<Box<dyn Builtin<DeerhuntOf<BLOCKS>>>, String> {
    let mut budget = 400;
    for (key, value) in options {
        match (name, key.as_str()) {
            ("warden", "budget") => {
                budget = value
                    .parse()
                    .ok()
                    .filter(|budget| *budget <= 100_000)
                    .ok_or_else(|| format!("budget must be a number from 0 to 100000, not `{value}`"))?;
            }
            _ => return Err(format!("{name} has no option `{key}`")),
        }
    }
    Ok(match name {
        "idle" => Box::new(Idle),
        "random" => Box::new(random::Random::new(seed)),
        "miner" => Box::new(miner::Miner),
        "rusher" => Box::new(rusher::Rusher::default()),
        "warden" => Box::new(warden::Warden::new(game, budget)),
        _ => {
            let known: Vec<&str> = BUILTINS.iter().map(|bot| bot.name).collect();
            return Err(format!("there is no `{name}`; there are {}", known.join(", ")));
        }
    })
}

/// Does nothing.
struct Idle;

impl<const BLOCKS: usize> Builtin<DeerhuntOf<BLOCKS>> for Idle {
    fn order(&mut self, _: &DeerhuntOf<BLOCKS>, _: View<'_>) -> Moves {
        Moves::new()
    }
}
