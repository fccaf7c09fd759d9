//! The replay format (`docs/replay-format.md`): seed, rules, map and every answer, so that a match
//! can be computed again and checked; beside them, conveniences that can be removed.
//!
//! A file is a magic followed by a list of chunks. Chunks are written as the match goes; a file
//! that was cut off is readable up to its last whole chunk. What belongs to one seat alone is in
//! private chunks, outside the hash chain.

#![forbid(unsafe_code)]

// In reading order.
pub mod asked;
pub mod data;
#[cfg(unix)]
pub mod file;
#[cfg(unix)]
pub mod record;
pub mod redact;
pub mod section;
pub mod wait;

mod chunk;
mod packing;
mod reader;
mod steps;
mod writer;

pub use data::{Counted, EndInfo, Header, Replay, SeatInfo, SeatNote, Step, Timing};
pub use reader::{LARGEST, MOST_ITEMS, ReplayError};
pub use redact::{redact, redact_named, redact_step};
pub use wait::{Doing, Use, Wait};
pub use writer::Writer;

/// The first bytes of every replay.
pub const MAGIC: &[u8; 8] = b"AGONRPL1";
