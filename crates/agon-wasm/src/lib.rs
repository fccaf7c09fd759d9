//! The engines of all games as one WebAssembly module, for pages that show replays without a server.
//!
//! [`Engines`](agon_view::Engines) is all of it and knows nothing of WebAssembly, so it is tested and fuzzed like everything else: bytes
//! in, bytes out. `exports` is what a page calls; it exists only in the module and holds the crate's only `unsafe`. A panic ends the module
//! and leaves a sentence in its memory that says why: the page drops the module and makes a new one.

use agon_game::Setup;

#[cfg(target_family = "wasm")]
mod exports;

/// How many replays a page can have open at a time, and how many matches by hand.
pub const MOST_OPEN: usize = 4;

/// Plays random matches of a game until `steps` steps are played; returns how many were. For measurements.
///
/// # Errors
/// When there is no such game.
pub fn playout(game: &str, steps: u32) -> Result<u64, String> {
    let game = agon_games::find(game).ok_or_else(|| format!("no game is called `{game}`"))?;
    let setup = Setup { seats: game.info().usual_seats(), seed: 1, ..Setup::default() };
    let mut bench = game.bench(&setup).map_err(|error| error.to_string())?;
    let playouts = bench.workloads.iter_mut().find(|workload| workload.name == "playout");
    let playouts = playouts.ok_or("no play-outs")?;
    let mut played = 0;
    while played < u64::from(steps) {
        played += (playouts.run)();
    }
    Ok(played)
}
