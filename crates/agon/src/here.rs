//! What the `agon.toml` of the folder we are in says: its `[defaults]`.

use std::path::Path;

use agon_bot::manifest::{FILE, Manifest};

use crate::common::Failure;

/// The `agon.toml` of this folder; none when there is none.
pub fn read() -> Result<Option<Manifest>, Failure> {
    Manifest::read(Path::new(".")).map_err(Failure::Usage)
}

/// The game it names.
pub fn game(here: Option<&Manifest>) -> Result<String, Failure> {
    let Some(here) = here else {
        return Err(Failure::usage(format!(
            "no game is named, and this folder has no {FILE}; write: agon COMMAND GAME BOT ... (agon games lists them)"
        )));
    };
    here.defaults.game.clone().ok_or_else(|| {
        Failure::usage(format!(
            "no game is named, neither here nor in ./{FILE}: add [defaults] with game = \"...\""
        ))
    })
}

/// The bots of a match: the one of this folder, and its usual opponents.
pub fn bots(here: &Manifest) -> Result<Vec<String>, Failure> {
    if here.defaults.opponents.is_empty() {
        return Err(Failure::usage(format!(
            "no bots are named, neither here nor in ./{FILE}: add opponents = [\"builtin:...\"] to [defaults]"
        )));
    }
    Ok(std::iter::once(".".to_owned()).chain(here.defaults.opponents.iter().cloned()).collect())
}
