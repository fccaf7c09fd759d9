//! The engines of all games as one module of WebAssembly, for a page that shows replays without asking a server.
//!
//! [`Engines`] is the whole of it and knows no WebAssembly, so that it is tested and fuzzed like everything else: bytes
//! come in, bytes go out. `exports` is what a page calls; it exists in the module alone, and is the only place here
//! with `unsafe`. A panic ends the module, whose memory then holds the sentence that says why: the page drops it
//! and makes a new one.

mod engines;
#[cfg(target_family = "wasm")]
mod exports;

pub use engines::{Engines, MOST_OPEN, MOST_PLAYS, Refusal};
