//! All tests of this game's rules and protocol, in one program: the engine's generic code is compiled once for all of them.

mod bots;
mod builtins;
mod conformance;
mod dialect;
mod known;
mod maps;
mod properties;
mod spec;
