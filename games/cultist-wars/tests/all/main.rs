//! All tests of this game's rules and protocol, in one program: the engine's generic code is compiled once for all of them.

mod builtins;
mod conform;
mod conformance;
mod dialect;
mod drawing;
mod golden;
mod spec;
