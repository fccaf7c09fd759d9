//! Bots as programs: naming them, starting them, talking to them, timing them, ending them.
//!
//! Everything specific to an operating system is in [`sys`] and [`spawn`]. Nothing here knows a game:
//! messages are bytes, and what a silence means is up to the referee.

// In reading order.
pub mod name;

pub mod algo;
pub mod build;
mod java;
pub mod launch;
pub mod manifest;
pub mod program;
pub mod script;
pub mod wire;

pub mod advice;
pub mod tools;
pub mod words;

pub mod join;
pub mod listener;
pub mod peer;
pub mod tcp;
pub mod websocket;

pub mod guard;
pub mod inside;
pub mod rights;
pub mod scratch;
pub mod spawn;
pub mod sys;
pub mod tree;
mod usage;

pub use agon_sandbox::Level;
pub use build::Build;
pub use inside::Confined;
pub use launch::{Launch, LaunchError};
pub use name::{BotName, Kind};
pub use program::{Ending, Program, StartError};
pub use script::{Js, Script};
pub use tree::{Excess, Limits};
pub use usage::{KeptWaiting, Usage};
pub use wire::{Received, Wire};
