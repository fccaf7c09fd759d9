//! Bots of our own.

use agon_game::{Builtin, BuiltinInfo, Seeded};

use crate::Ostibot;
use crate::orders::Order;
use crate::view::View;

/// Their names and options.
pub(crate) const BUILTINS: &[BuiltinInfo] =
    &[BuiltinInfo { name: "idle", about: "does nothing", options: &[] }];

/// Seats one of them.
pub(crate) fn seat(
    _game: &Ostibot,
    name: &str,
    _options: &[(String, String)],
    seed: u64,
) -> Result<Box<dyn Builtin<Ostibot>>, String> {
    let _ = Seeded::stream(seed as i64, name);
    Ok(Box::new(Idle))
}

struct Idle;

impl Builtin<Ostibot> for Idle {
    fn order(&mut self, _: &Ostibot, _: View<'_>) -> Order {
        Order::default()
    }
}
