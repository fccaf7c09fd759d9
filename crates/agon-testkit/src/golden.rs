//! Recorded matches of the originals, for tests.

use std::path::{Path, PathBuf};

pub use agon_replay::record::{files, read};

/// The folder of recorded matches of `game`: below `$AGON_GOLDEN`, or below `shared/golden` beside
/// the checkout. If it is missing, says so on standard error and returns `None`, unless
/// `AGON_REQUIRE_GOLDEN` is set.
///
/// # Panics
/// When the folder is missing and `AGON_REQUIRE_GOLDEN` is set.
pub fn folder(game: &str) -> Option<PathBuf> {
    let root = std::env::var_os("AGON_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden"), PathBuf::from);
    let folder = root.join(game);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("AGON_REQUIRE_GOLDEN").is_none(),
        "golden records are required, but {} is not there",
        folder.display()
    );
    eprintln!("SKIPPED: no golden records at {} (set AGON_GOLDEN)", folder.display());
    None
}
