//! All tests of this game's rules and protocol, in one program: the engine's generic code is compiled once for all of them.

#[path = "../hostile/mod.rs"]
mod hostile;

mod bots;
mod conformance;
mod fuzz;
mod golden;
mod presets;
mod replay;
mod spec;
