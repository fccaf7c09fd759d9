//! The engines of all games as a WebAssembly module (`crates/agon-wasm`), built and packed by `build.rs`, which the program carries for its
//! pages. Where it could not be built, or was not asked for, pages get their steps from the server.

#![forbid(unsafe_code)]

/// The module, packed with brotli; empty when it was not built.
pub const BROTLI: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agon.wasm.br"));
/// The module, packed with gzip; empty when it was not built.
pub const GZIP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agon.wasm.gz"));
/// Why it was not built; empty when it was.
pub const MISSING: &str = include_str!(concat!(env!("OUT_DIR"), "/missing.txt"));
/// A name that changes with the content, so that browsers may cache it for ever.
pub const NAME: &str = include_str!(concat!(env!("OUT_DIR"), "/name.txt"));

/// Whether this program contains the module.
pub const fn is_built() -> bool {
    MISSING.is_empty()
}
