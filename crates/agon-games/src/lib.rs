//! The list of games. Adding a game adds its folder and one line here; a program can add more when it starts.

#![forbid(unsafe_code)]

use std::sync::OnceLock;

use agon_game::setup::nearest;
use agon_game::{AnyGame, Face};

/// The games built into the program.
///
/// A static, because a constant is built where it is named: each crate that did so would build all engines once more.
static OURS: &[&dyn AnyGame] = &[
    &Face::<cultist_wars::CultistWars>::new(),
    &deerhunt::FACE,
    &Face::<jungle_blitz::JungleBlitz>::new(),
    &Face::<ostibot::Ostibot>::new(),
    &Face::<terminal::Terminal>::new(),
];

static ALL: OnceLock<Vec<&'static dyn AnyGame>> = OnceLock::new();

/// All games, in alphabetical order.
pub fn all() -> &'static [&'static dyn AnyGame] {
    ALL.get_or_init(|| OURS.to_vec())
}

pub fn find(name: &str) -> Option<&'static dyn AnyGame> {
    all().iter().copied().find(|game| game.info().name == name)
}

/// The game called `name`.
///
/// # Errors
/// A sentence with the nearest name and all others, when there is none.
pub fn named(name: &str) -> Result<&'static dyn AnyGame, String> {
    find(name).ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|game| game.info().name).collect();
        let hint = nearest(name, names.iter().copied()).map(|name| format!("; did you mean `{name}`?"));
        format!("no game is called `{name}`{}\n  games: {}", hint.unwrap_or_default(), names.join(", "))
    })
}

/// Adds games to those built in: once, before anything asks which there are, so that the list is the same to everybody.
///
/// # Errors
/// When two games have the same name, or the list is already in use. It stays as it was.
pub fn add(games: &[&'static dyn AnyGame]) -> Result<(), String> {
    let mut list = OURS.to_vec();
    for &game in games {
        let name = game.info().name;
        match list.binary_search_by_key(&name, |other| other.info().name) {
            Ok(_) => return Err(format!("there is a game called `{name}` already; choose another name")),
            Err(place) => list.insert(place, game),
        }
    }
    ALL.set(list).map_err(|_| "games can only be added before the list of games is first used".to_owned())
}
