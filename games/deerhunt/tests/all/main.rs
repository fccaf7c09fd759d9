//! All tests of this game's rules and protocol in one program, so that the engine's generic code is compiled once.

mod conformance;
mod golden;
mod matches;
mod programs;
mod spec;
