//! The games themselves: rulebooks, maps, the guide, conformance with the originals, speed.

pub mod bench;
mod book;
pub mod conform;
pub mod docs;
pub mod json;
pub mod library;
mod llms;
pub mod man;
pub mod maps;
