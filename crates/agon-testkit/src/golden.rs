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
    beside("AGON_GOLDEN", "golden", game, "golden records")
}

/// The folder of small inputs that once failed, one folder with a `run.sh` each: `$AGON_CASES`, or
/// `shared/cases` beside the checkout. If it is missing, says so on standard error and returns
/// `None`, unless `AGON_REQUIRE_GOLDEN` is set.
///
/// # Panics
/// When the folder is missing and `AGON_REQUIRE_GOLDEN` is set.
pub fn cases() -> Option<PathBuf> {
    beside("AGON_CASES", "cases", "", "cases")
}

/// What lies outside of the project, in the folder that `variable` names or beside the checkout.
fn beside(variable: &str, name: &str, part: &str, what: &str) -> Option<PathBuf> {
    let root = std::env::var_os(variable).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name),
        PathBuf::from,
    );
    let folder = root.join(part);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("AGON_REQUIRE_GOLDEN").is_none(),
        "{what} are required, but {} is not there",
        folder.display()
    );
    eprintln!("SKIPPED: no {what} at {} (set {variable})", folder.display());
    None
}
