//! Private temporary folders for bots.
//!
//! Making and removing two folders costs more than twenty turns of a quick match, so that an
//! unused folder is handed to the next bot. One that was used is removed.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::guard;

/// Folders that are empty and free.
static FREE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The folder of this run; the bots' folders lie in it.
fn root() -> PathBuf {
    std::env::temp_dir().join(format!("agon-{}", guard::mark()))
}

/// An empty folder; none where the system refuses one.
pub fn take() -> Option<PathBuf> {
    let free = FREE.lock().unwrap_or_else(|poison| poison.into_inner()).pop();
    free.or_else(|| {
        let folder = root().join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir_all(&folder).is_ok().then_some(folder)
    })
}

/// Takes a folder back.
pub fn give_back(folder: PathBuf) {
    if is_empty(&folder) {
        FREE.lock().unwrap_or_else(|poison| poison.into_inner()).push(folder);
    } else {
        let _ = std::fs::remove_dir_all(&folder);
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Removes all folders of this run; called when the program ends.
pub fn clean_up(mark: &str) {
    let _ = std::fs::remove_dir_all(std::env::temp_dir().join(format!("agon-{mark}")));
}
