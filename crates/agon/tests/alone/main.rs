//! Tests of the program that run one at a time, with nothing beside them.

#[path = "../common/mod.rs"]
mod common;
mod wire;

mod calls;
mod cases;
mod clocks;
mod containment;
mod deletion;
mod fair;
mod full_disk;
mod images;
mod inside;
mod interruptions;
mod java;
mod kills;
mod left_behind;
mod lines;
mod many;
mod moved;
mod online;
mod probes;
mod proxies;
mod season;
mod serve;
mod signals;
mod walls;
mod wires;
