//! The built-in bots. They see only views, and a seed makes them repeatable.

mod crew;
mod mind;
mod simple;

use agon_game::{Builtin, BuiltinInfo};

use crate::Ostibot;
use crew::{Crew, Style};
use simple::{Idle, Random};

/// Their names and options.
pub(crate) const BUILTINS: &[BuiltinInfo] = &[
    BuiltinInfo { name: "idle", about: "does nothing", options: &[] },
    BuiltinInfo { name: "random", about: "goes anywhere but into what hurts", options: &[] },
    BuiltinInfo {
        name: "looter",
        about: "each for itself: the nearest gold, then the nearest portal before the fire",
        options: &[("leave", "the turn at which it turns to the portals; 24")],
    },
    BuiltinInfo {
        name: "fighter",
        about: "buys weapons and hunts whoever carries gold; loots when it sees nobody",
        options: &[("leave", "the turn at which it turns to the portals; 24")],
    },
    BuiltinInfo {
        name: "planner",
        about: "shares the gold out among its adventurers, leaves before the others, and takes the portals",
        options: &[("leave", "the turn at which it turns to the portals; 28")],
    },
];

/// Seats one of them.
pub(crate) fn seat(
    game: &Ostibot,
    name: &str,
    options: &[(String, String)],
    seed: u64,
) -> Result<Box<dyn Builtin<Ostibot>>, String> {
    let known = BUILTINS.iter().find(|info| info.name == name);
    let known = known.ok_or_else(|| {
        let names: Vec<&str> = BUILTINS.iter().map(|info| info.name).collect();
        format!("no built-in bot is called `{name}`; there are {}", names.join(", "))
    })?;
    let mut leave = None;
    for (key, value) in options {
        if !known.options.iter().any(|(option, _)| option == key) {
            return Err(format!("`{name}` has no option `{key}`"));
        }
        leave = Some(value.parse().map_err(|_| format!("`{key}` must be a turn, not `{value}`"))?);
    }
    let crew = |style| Box::new(Crew::new(game, style, leave, seed));
    Ok(match name {
        "idle" => Box::new(Idle),
        "random" => Box::new(Random::new(seed)),
        "looter" => crew(Style::Looter),
        "fighter" => crew(Style::Fighter),
        _ => crew(Style::Planner),
    })
}
