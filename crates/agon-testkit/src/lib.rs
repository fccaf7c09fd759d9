//! Tests that every game must pass.
//!
//! - [`conformance`]: the contract of `agon-game`, with random and hostile input.
//! - [`spec`]: the readable rule tests in a game's `spec/` folder.
//! - [`recorded`]: such tests, generated from recorded matches.
//! - [`rulebook`]: every rule has an id, one place in the code and a spec section.
//! - [`golden`]: finding the recorded matches of the originals.
//! - [`mod@generated`]: TypeScript types generated from Rust types.
//! - [`sources`]: the project's own sources, for tests about them.

#![forbid(unsafe_code)]

mod choices;
pub mod conformance;
pub mod generated;
pub mod golden;
pub mod recorded;
pub use agon_rulebook as rulebook;
pub mod sources;
pub mod spec;
