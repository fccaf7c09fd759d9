//! All tests of this game's rules and protocol, in one program: the engine's generic code is compiled once for all of them.

mod conformance;
mod golden;
mod matches;
mod programs;
mod spec;
