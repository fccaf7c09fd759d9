//! For authors of bots: starting, building, checking, testing and packing one, and what this machine offers.

pub mod agents;
pub mod build;
mod changes;
pub mod check;
pub mod doctor;
pub mod image;
pub mod json;
pub mod new;
pub mod pack;
pub mod sandbox;
pub mod test;
