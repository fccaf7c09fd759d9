//! The built-in bots. They see only their view, and always play the same for a seed.
//!
//! - `idle` does nothing, `random` anything ([`simple`]);
//! - `collector` and `raider` follow a few habits ([`habits`]);
//! - `keeper` tries actions out with the engine before it decides ([`keeper`]).

mod distances;
mod habits;
mod keeper;
mod simple;

use agon_game::{Builtin, BuiltinInfo, number_option};

use crate::{INFO, JungleBlitz};
use habits::Style;

/// The built-in bots.
pub const KNOWN: &[BuiltinInfo] = &[
    BuiltinInfo { name: "idle", about: "answers in time and does nothing", options: &[] },
    BuiltinInfo { name: "random", about: "mostly legal actions at random", options: &[] },
    BuiltinInfo {
        name: "collector",
        about: "picks up the nearest diamonds, raises them as high as they go, drops them at the end",
        options: &[],
    },
    BuiltinInfo {
        name: "raider",
        about: "hunts units that hold diamonds and cashes in at once",
        options: &[],
    },
    BuiltinInfo {
        name: "keeper",
        about: "grows diamonds where it is safe and plans a few ticks ahead with the engine",
        options: &[("nodes", "ticks it may simulate for one answer, 0 to 100000 (default 600)")],
    },
];

/// Seats the bot called `name`.
///
/// # Errors
/// A sentence for the user.
pub fn seat(
    name: &str,
    options: &[(String, String)],
    seed: u64,
) -> Result<Box<dyn Builtin<JungleBlitz>>, String> {
    INFO.check_builtin(name, options)?;
    let nodes = number_option(options, "nodes", 0..=100_000)?.unwrap_or(600);
    Ok(match name {
        "idle" => Box::new(simple::Idle),
        "random" => Box::new(simple::Random::new(seed)),
        "collector" => Box::new(habits::Habitual::new(Style::Collector)),
        "raider" => Box::new(habits::Habitual::new(Style::Raider)),
        _ => Box::new(keeper::Keeper::new(nodes, seed)),
    })
}
