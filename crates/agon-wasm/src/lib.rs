//! The engines of all games as one WebAssembly module, for pages that show replays without a server.
//!
//! [`Engines`] is all of it and knows nothing of WebAssembly, so it is tested and fuzzed like everything else: bytes in, bytes out.
//! `exports` is what a page calls; it exists only in the module and holds the crate's only `unsafe`. A panic ends the module and leaves a
//! sentence in its memory that says why: the page drops the module and makes a new one.

mod engines;
#[cfg(target_family = "wasm")]
mod exports;

pub use engines::{Engines, MOST_OPEN, MOST_PLAYS, Refusal};
