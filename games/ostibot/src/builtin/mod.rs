//! The built-in bots. They see only views, and a seed makes them repeatable.

mod crew;
mod mind;
mod simple;

use agon_game::{Builtin, BuiltinInfo, number_option};

use crate::Ostibot;
use crate::info::INFO;
use crew::{Crew, Style};
use simple::{Idle, Random};

/// Their names and options.
pub(crate) const BUILTINS: &[BuiltinInfo] = &[
    BuiltinInfo { name: "idle", about: "does nothing", options: &[] },
    BuiltinInfo { name: "random", about: "goes anywhere but into what hurts", options: &[] },
    BuiltinInfo {
        name: "looter",
        about: "each for itself: the nearest gold, then the nearest portal before the fire",
        options: &[("leave", "the turn at which it turns to the portals (default 24)")],
    },
    BuiltinInfo {
        name: "fighter",
        about: "buys weapons and hunts whoever carries gold; loots when it sees nobody",
        options: &[("leave", "the turn at which it turns to the portals (default 24)")],
    },
    BuiltinInfo {
        name: "planner",
        about: "shares the gold out among its adventurers, leaves before the others, and takes the portals",
        options: &[("leave", "the turn at which it turns to the portals (default 28)")],
    },
];

/// Seats one of them.
pub(crate) fn seat(
    game: &Ostibot,
    name: &str,
    options: &[(String, String)],
    seed: u64,
) -> Result<Box<dyn Builtin<Ostibot>>, String> {
    INFO.check_builtin(name, options)?;
    let leave = number_option(options, "leave", 0..=u16::MAX.into())?.map(|turn| turn as u16);
    let crew = |style| Box::new(Crew::new(game, style, leave, seed));
    Ok(match name {
        "idle" => Box::new(Idle),
        "random" => Box::new(Random::new(seed)),
        "looter" => crew(Style::Looter),
        "fighter" => crew(Style::Fighter),
        _ => crew(Style::Planner),
    })
}
