//! All tests of the store in one program: shared code is compiled once, and one PostgreSQL is started for all.

#[path = "../common/mod.rs"]
mod common;

mod again;
mod bits;
mod bloat;
mod contests;
mod fsck;
mod model;
mod moving;
mod people;
mod s3;
mod servers;
