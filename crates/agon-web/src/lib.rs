//! The viewer's side of the program: live matches, a server on the loopback, single pages.
//!
//! What a page is told of a match is made by `agon-view`, step by step as it is viewed; a running match sends the same lines while it is
//! played ([`live`]). The web app itself (`web/`) is built into the binary ([`app`]).

#![forbid(unsafe_code)]

// In reading order.
pub mod hand;
pub mod live;

pub mod api;
pub mod app;
pub mod bench;
pub mod folder;
pub mod gate;
pub mod page;
pub mod server;

mod script;
mod shelf;

pub use agon_view::{Privacy, Unshowable, View};
pub use hand::TakenSeat;
pub use live::Live;
pub use script::{ScriptError, ScriptFile};
pub use bench::{Bench, BenchNumber};
pub use folder::BotFolder;
pub use server::{Config, Handle, Host, Patient, PlayBegun, Server, TrialWanted};
