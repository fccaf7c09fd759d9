//! All tests of this game's rules and protocol in one program, so that the engine's generic code is compiled once.

mod builtin;
mod conformance;
mod dialect;
mod golden;
mod maps;
mod search;
mod spec;
