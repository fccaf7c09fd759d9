//! The contract between a game and everything else.
//!
//! A game is a pure state machine: [`Game`] says who must answer, shows each seat its view, plays
//! the answers and knows the outcome. Its original wire protocol is a [`Dialect`]. Everything else
//! in the program (referee, replays, statistics, viewer) talks to games through the object-safe
//! face in [`session`], so that adding a game touches only the game's folder and one line of the
//! registry.
//!
//! Nothing here reads a file, a clock, the environment or the network, and no game may.
//! Seats count from 1 wherever a person reads them.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order.
pub mod seat;

pub mod answer;
pub mod game;

pub mod chance;
pub mod dialect;
pub mod outcome;
pub mod setup;

pub mod advantage;
pub mod author;
pub mod bench;
pub mod conform;
pub mod hand;
pub mod import;
pub mod info;
pub mod kit;
pub mod leaves;
pub mod map_check;
pub mod pack;
pub mod picture;
pub mod prepared;
pub mod rules;
pub mod rules_name;
pub mod session;
pub mod simple;

pub use advantage::{Feature, SeatAdvantages, advantage};
pub use answer::{Absence, Answer, Answers, Heard};
pub use author::{HandIn, Starter, StarterLanguage};
pub use bench::{Bench, Workload};
pub use chance::{Chance, Seeded};
pub use dialect::{Dialect, Facts};
pub use game::{Builtin, Game, Ignored, Reason, Sink, is_rule_id};
pub use hand::{ByHand, Hand, Prospect};
pub use import::{Import, Unreadable};
pub use info::{BuiltinInfo, BundledMap, Cpus, GameInfo, Preset, Transport, number_option, with_tools};
pub use kit::{Kit, TcpKit, WebSocketKit};
pub use map_check::MapFindings;
pub use outcome::Outcome;
pub use picture::{Ink, Picture};
pub use rules_name::RulesName;
pub use seat::{Seat, Seats};
pub use session::{AnyGame, Face, PackedAnswer, Position, Ready, Rejection, Session};
pub use setup::{MapChoice, Recipe, RulesChoice, Setup, SetupError};
