//! Where matches and series are kept unless told otherwise.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The folder of replays.
pub const REPLAYS: &str = "agon-replays";
/// The folder of series.
pub const SERIES: &str = "agon-series";
/// The journal in the folder of a series.
pub const JOURNAL: &str = "journal.jsonl";

/// Lets `LAST`, beside what was just made, lead to it: `agon-series/LAST`, `agon-replays/LAST.replay`. A disk without links has none.
pub fn remember(made: &Path) {
    let (Some(folder), Some(name)) = (made.parent(), made.file_name()) else { return };
    let last = match made.extension() {
        Some(ending) if !made.is_dir() => folder.join("LAST").with_extension(ending),
        _ => folder.join("LAST"),
    };
    // Somebody's own file of that name stays.
    if last.symlink_metadata().is_ok_and(|there| !there.is_symlink()) {
        return;
    }
    let draft = folder.join(format!(".LAST.{}", std::process::id()));
    let done = symlink(name, &draft).and_then(|()| fs::rename(&draft, &last));
    if done.is_err() {
        let _ = fs::remove_file(&draft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_leads_to_what_was_made_last() {
        let place = tempfile::tempdir().expect("a folder");
        for name in ["one.replay", "two.replay"] {
            let made = place.path().join(name);
            fs::write(&made, name).expect("a file");
            remember(&made);
            assert_eq!(fs::read_to_string(place.path().join("LAST.replay")).expect("there"), name);
        }
        let series = place.path().join("series.v1-1");
        fs::create_dir(&series).expect("a folder");
        remember(&series);
        assert!(place.path().join("LAST").is_dir());
        let left = fs::read_dir(place.path()).expect("a folder").count();
        assert_eq!(left, 5, "nothing else is left");
        fs::remove_file(place.path().join("LAST")).expect("there");
        fs::write(place.path().join("LAST"), "mine").expect("a file");
        remember(&series);
        assert_eq!(fs::read_to_string(place.path().join("LAST")).expect("there"), "mine");
    }
}
