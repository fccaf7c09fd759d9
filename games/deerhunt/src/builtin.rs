//! Bots of our own.
use crate::DeerhuntOf;
use agon_game::Builtin;
pub fn seat<const BLOCKS: usize>(
    _: &DeerhuntOf<BLOCKS>,
    name: &str,
    _: &[(String, String)],
    _: u64,
) -> Result<Box<dyn Builtin<DeerhuntOf<BLOCKS>>>, String> {
    Err(name.to_owned())
}
