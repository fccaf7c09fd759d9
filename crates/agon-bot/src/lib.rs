//! Bots as programs: naming them, starting them, talking to them, timing them, ending them.
//!
//! Everything specific to an operating system is in [`sys`] and [`process`]. Nothing here knows a game:
//! messages are bytes, and what a silence means is up to the referee.

// In reading order.
pub mod name;

pub mod algo;
pub mod build;
pub mod excerpt;
pub mod image;
mod java;
mod kinds;
pub mod launch;
pub mod manifest;
mod paths;
pub mod program;
mod run;
pub mod script;
pub mod wire;

pub mod advice;
pub mod advised;
pub mod missing;
pub mod tools;
pub mod words;

pub mod join;
pub mod listener;
pub mod tcp;
pub mod websocket;

pub mod process;
pub mod rights;
pub mod sys;

pub use agon_sandbox::Level;
pub use build::Build;
pub use image::{Image, ImageSet, Images};
pub use launch::{Launch, LaunchError};
pub use name::{BotName, Confined, Js, NameKind};
pub use process::{
    Excess, KeptWaiting, ProcessLimits, StartError, Usage, guard, inside, peer, scratch, tree,
};
pub use program::{Program, ProgramEnd};
pub use run::{Packages, Run};
pub use script::Script;
pub use wire::{Received, Wire};
