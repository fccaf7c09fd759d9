//! The engines for pages, as they are in this program and as a module: one program, because all engines are compiled into
//! it.

#[path = "../common/mod.rs"]
mod common;

mod agree;
mod engines;
