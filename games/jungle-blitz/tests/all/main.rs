//! All tests of this game's rules and protocol, in one program: the engine's generic code is compiled once for all of them.

mod builtin;
mod conformance;
mod dialect;
mod golden;
mod maps;
mod search;
mod spec;
