//! For authors of bots: begin, build, check, test, pack, what the machine must have, and how well it holds a bot.

pub mod build;
mod changes;
pub mod check;
pub mod doctor;
pub mod json;
pub mod new;
pub mod pack;
pub mod sandbox;
pub mod test;
