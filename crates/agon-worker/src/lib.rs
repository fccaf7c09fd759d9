//! A worker of a contest: lease, fetch, build, play, post.
//!
//! A worker knows a [`Hall`] and nothing behind it: no database, no contest folder. The worker inside `agon serve`
//! calls the server's functions through it; a worker on another machine makes the same calls over the wire. Their
//! messages are in [`protocol`].
//!
//! The server trusts nobody: [`verify()`] recomputes a replay, with the same terms.

#![forbid(unsafe_code)]

// In reading order.
pub mod protocol;

pub mod play;
pub mod run;
pub mod verify;

mod positions;
mod private;

pub mod fairness;
pub mod fit;
pub mod holding;
pub mod pack;
pub mod speed;
pub mod unpack;
pub mod versions;

pub mod fleet;
pub mod wire;

pub use play::{HeldRecord, PreparedGame};
pub use protocol::{
    Away, BotSource, ContestTerms, Granted, Hall, Job, MatchGround, Nothing, PositionJob, Posted, Private,
    Sitting, Stage, ToldFault, Try, Unfit, Whole,
};
pub use run::{Pauses, PlaySettings, run};
pub use verify::verify;
pub use versions::VersionShelf;

/// The names of the bots inside the program that play this game, the weakest first.
pub fn builtins(game: &str) -> Vec<&'static str> {
    agon_games::find(game)
        .map_or_else(Vec::new, |game| game.info().builtins.iter().map(|bot| bot.name).collect())
}
