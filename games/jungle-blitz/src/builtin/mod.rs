//! Bots of our own.

use agon_game::{Builtin, BuiltinInfo};

use crate::JungleBlitz;

/// What there is.
pub const KNOWN: &[BuiltinInfo] = &[];

/// Seats a bot.
///
/// # Errors
/// A sentence for the user.
pub fn seat(
    name: &str,
    _options: &[(String, String)],
    _seed: u64,
) -> Result<Box<dyn Builtin<JungleBlitz>>, String> {
    Err(format!("no built-in bot is called `{name}`"))
}
