//! All tests of this game's rules and protocol in one program, so that the engine's generic code is compiled once.

#[path = "../hostile/mod.rs"]
mod hostile;

mod bots;
mod conformance;
mod fuzz;
mod golden;
mod presets;
mod replay;
mod spec;
