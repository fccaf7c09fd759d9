//! The list of games. Adding a game adds its folder and one line here.

#![forbid(unsafe_code)]

use agon_game::{AnyGame, Face};

/// All games, in alphabetical order.
///
/// A static, because a constant is built where it is named: each crate that did so would build all engines once more.
pub static ALL: &[&dyn AnyGame] = &[
    &Face::<cultist_wars::CultistWars>::new(),
    &deerhunt::FACE,
    &Face::<jungle_blitz::JungleBlitz>::new(),
    &Face::<ostibot::Ostibot>::new(),
    &Face::<terminal::Terminal>::new(),
];

/// Finds the game with this name.
pub fn find(name: &str) -> Option<&'static dyn AnyGame> {
    ALL.iter().copied().find(|game| game.info().name == name)
}
