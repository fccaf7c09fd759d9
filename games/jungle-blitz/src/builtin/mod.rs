//! The built-in bots. They see only their view, and always play the same for a seed.
//!
//! - `idle` does nothing, `random` anything ([`simple`]);
//! - `collector` and `raider` follow a few habits ([`habits`]);
//! - `keeper` tries actions out with the engine before it decides ([`keeper`]).

mod distances;
mod habits;
mod keeper;
mod simple;

use agon_game::{Builtin, BuiltinInfo};

use crate::JungleBlitz;
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
        options: &[("nodes", "ticks it may simulate for one answer, 0 to 100000; 600")],
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
    let mut nodes = 600;
    for (key, value) in options {
        if name != "keeper" || key != "nodes" {
            return Err(format!("`{name}` has no option `{key}`"));
        }
        let number = value.parse().ok().filter(|number| *number <= 100_000);
        nodes = number.ok_or_else(|| format!("nodes must be 0 to 100000, not `{value}`"))?;
    }
    match name {
        "idle" => Ok(Box::new(simple::Idle)),
        "random" => Ok(Box::new(simple::Random::new(seed))),
        "collector" => Ok(Box::new(habits::Habitual::new(Style::Collector))),
        "raider" => Ok(Box::new(habits::Habitual::new(Style::Raider))),
        "keeper" => Ok(Box::new(keeper::Keeper::new(nodes, seed))),
        _ => {
            let known: Vec<&str> = KNOWN.iter().map(|bot| bot.name).collect();
            Err(format!("no built-in bot is called `{name}`; there are {}", known.join(", ")))
        }
    }
}
