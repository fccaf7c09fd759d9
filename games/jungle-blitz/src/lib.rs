//! Jungle Blitz: teams gather diamonds, let them grow while they hold them, and drop them for points.
//!
//! The rules are in `RULES.md`; each function names, by id, those it decides. Read [`turn`] first.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order.
pub mod rules;
pub mod state;
mod turn;

mod attack;
mod drop;
mod pick_up;
pub mod schedule;
pub mod search;
mod spawn;
mod summon;
mod vine;
mod walk;

pub mod event;
pub mod orders;
pub mod outcome;
pub mod reason;
pub mod view;

pub mod arena;
pub mod bitmap;
pub mod map;
pub mod map_check;

pub mod dialect;
pub mod hand;

pub mod builtin;
pub mod generate;
mod maps;

mod advantage;
mod bench;
mod conform;
mod picture;
pub mod recording;
mod save;
mod scene;

mod game;
mod starters;
mod weights;

pub use game::{INFO, JungleBlitz};
