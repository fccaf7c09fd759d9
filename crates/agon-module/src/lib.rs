//! The engines of all games as a module of WebAssembly (`crates/agon-wasm`), built and packed by `build.rs`, as the
//! program carries it for its pages. Where it could not be built, or was not asked for, pages get their steps from the
//! server.

#![forbid(unsafe_code)]

/// The module, packed with brotli; empty when it was not built.
pub const BROTLI: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agon.wasm.br"));
/// The module, packed with gzip; empty when it was not built.
pub const GZIP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agon.wasm.gz"));
/// Why it was not built; empty when it was.
pub const MISSING: &str = include_str!(concat!(env!("OUT_DIR"), "/missing.txt"));
/// A name that changes with its content, so that a browser may keep it for ever.
pub const NAME: &str = include_str!(concat!(env!("OUT_DIR"), "/name.txt"));

/// Whether the module lies in this program.
pub const fn is_built() -> bool {
    MISSING.is_empty()
}
