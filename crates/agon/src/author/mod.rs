//! For authors of bots: begin, build, check, pack, and what the machine must have.

pub mod build;
pub mod check;
pub mod doctor;
pub mod new;
pub mod pack;
