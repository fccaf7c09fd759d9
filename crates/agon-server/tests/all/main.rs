//! All tests of the server in one program: shared code is compiled once, and one PostgreSQL is started for all.

#[path = "../common/mod.rs"]
mod common;

mod again;
mod clocks;
mod export;
mod fleet;
mod marks;
mod mistakes;
mod pipeline;
mod server;
mod servers;
