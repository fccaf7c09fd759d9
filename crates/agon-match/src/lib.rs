//! The referee: it asks the bots, keeps the time, plays their answers and records what happened.
//!
//! It knows no game: a match is a [`Session`](agon_game::Session). It runs on the calling thread and
//! waits for all bots at once in a single `poll`, so that nothing a bot does can block it.

// In reading order.
pub mod referee;

pub mod arrival;
pub mod cause;
pub mod fault;
pub mod player;
pub mod record;
pub mod recorder;
pub mod seats;
pub mod trace;

mod pulse;

pub use agon_spec::{Clock, Ponder};
pub use cause::{FaultCause, Lateness};
pub use fault::{Fault, FaultKind, RejectedOrder};
pub use player::{Player, SeatError, seat_player};
pub use record::{MatchRecord, PrintedMatch, SeatCounts, SeatResult, SeatTime};
pub use recorder::Recorder;
pub use referee::{
    Future, MOST_DISTURBANCES, Observer, Said, StepReport, TakenAnswer, Terms, Together, When, play, play_on,
};
pub use seats::{CpuShares, cpus_a_match, place, seat_all};
