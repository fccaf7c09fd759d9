//! The built-in bots.

mod greedy;
mod hunter;

use agon_game::{Builtin, BuiltinInfo, Game as _, Seeded};

use crate::CultistWars;
use crate::orders::Order;
use crate::view::View;

/// The built-in bots, weakest first.
pub const BUILTINS: &[BuiltinInfo] = &[
    BuiltinInfo { name: "idle", about: "always waits", options: &[] },
    BuiltinInfo { name: "random", about: "any allowed order", options: &[] },
    BuiltinInfo {
        name: "greedy",
        about: "takes the best conversion or shot there is, else goes where the next will be",
        options: &[],
    },
    BuiltinInfo {
        name: "hunter",
        about: "looks several turns ahead (alpha-beta), the neutrals' moves included",
        options: &[("nodes", "positions to look at for each answer, 1 to 100000000; default 10000")],
    },
];

/// Seats a bot.
///
/// # Errors
/// When the name or an option is unknown, or its value out of range.
pub(crate) fn seat(
    name: &str,
    options: &[(String, String)],
    seed: u64,
) -> Result<Box<dyn Builtin<CultistWars>>, String> {
    let Some(info) = BUILTINS.iter().find(|bot| bot.name == name) else {
        let known: Vec<_> = BUILTINS.iter().map(|bot| bot.name).collect();
        return Err(format!("cultist-wars has no built-in bot `{name}`; there are {}", known.join(", ")));
    };
    if let Some((key, _)) = options.iter().find(|(key, _)| info.options.iter().all(|(known, _)| known != key))
    {
        let known: Vec<_> = info.options.iter().map(|(known, _)| *known).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!("builtin:{name} has no option `{key}`; options: {known}"));
    }
    Ok(match name {
        "greedy" => Box::new(greedy::Greedy),
        "hunter" => Box::new(hunter::Hunter::new(number(options, "nodes", hunter::NODES, 100_000_000)?)),
        "random" => Box::new(Random(Seeded::stream(seed as i64, "random"))),
        _ => Box::new(Idle),
    })
}

/// The last value given for a numeric option.
fn number(options: &[(String, String)], key: &str, default: u32, largest: u32) -> Result<u32, String> {
    let Some((_, value)) = options.iter().rfind(|(given, _)| given == key) else { return Ok(default) };
    let number = value.parse().ok().filter(|number| (1..=largest).contains(number));
    number.ok_or_else(|| format!("`{key}` must be a whole number from 1 to {largest}, not `{value}`"))
}

/// Always waits.
struct Idle;

impl Builtin<CultistWars> for Idle {
    fn order(&mut self, _: &CultistWars, _: View<'_>) -> Order {
        Order::Wait
    }
}

/// Any allowed order.
struct Random(Seeded);

impl Builtin<CultistWars> for Random {
    fn order(&mut self, game: &CultistWars, view: View<'_>) -> Order {
        game.random_order(view.state, view.seat, &mut self.0)
    }
}
