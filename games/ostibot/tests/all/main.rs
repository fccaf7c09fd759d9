//! All tests of this game's rules and protocol in one program, so that the engine's generic code is compiled once.

mod bots;
mod builtins;
mod conformance;
mod dialect;
mod known;
mod maps;
mod properties;
mod spec;
