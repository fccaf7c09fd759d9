//! All tests of this game's rules and protocol in one program, so that the engine's generic code is compiled once.

mod builtins;
mod conform;
mod conformance;
mod dialect;
mod drawing;
mod golden;
mod spec;
