//! All tests of the site in one program: what all of them need is compiled once, and they share one PostgreSQL.

#[path = "../common/mod.rs"]
mod common;

mod api;
mod asked;
mod batches;
mod clocks;
mod crowds;
mod day;
mod doors;
mod encrypted;
mod factor;
mod fleet;
mod get;
mod lessons;
mod mail;
mod marks;
mod metrics;
mod nights;
mod organising;
mod private;
mod rights;
mod settings;
mod spectator;
mod told;
mod uploads;
mod webhook;
mod work;
