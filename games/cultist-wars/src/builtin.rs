//! The built-in bots.

mod greedy;
mod hunter;

use agon_game::{Builtin, BuiltinInfo, Game as _, Seeded, number_option};

use crate::orders::Order;
use crate::view::View;
use crate::{CultistWars, INFO};

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
        options: &[("nodes", "positions to look at for each answer, 1 to 100000000 (default 10000)")],
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
    INFO.check_builtin(name, options)?;
    let nodes = number_option(options, "nodes", 1..=100_000_000)?;
    Ok(match name {
        "greedy" => Box::new(greedy::Greedy),
        "hunter" => Box::new(hunter::Hunter::new(nodes.unwrap_or(hunter::NODES))),
        "random" => Box::new(Random(Seeded::stream(seed as i64, "random"))),
        _ => Box::new(Idle),
    })
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
