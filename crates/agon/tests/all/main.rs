//! Tests of the program that run beside one another.

// Fuzz targets, which `hostile` brings, refer to themselves and their library by these names.
extern crate self as agon_fuzz;
extern crate self as libfuzzer_sys;

#[path = "../common/mod.rs"]
mod common;

mod adversary;
mod advised;
mod against;
mod agents;
mod algos;
mod author;
mod beginnings;
mod book;
mod ci;
mod class;
mod cli;
mod coming;
mod crashers;
mod crowded;
mod encrypted;
mod examples;
mod faultless;
mod fleet;
mod formats;
mod hostile;
mod join;
mod keep;
mod kept;
mod languages;
mod meant;
mod numbers;
mod printed;
mod private;
mod promises;
mod python;
mod replays;
mod scripts;
mod series;
mod starters;
mod starting;
mod terminal;
mod why;
mod work;
mod wrong;
