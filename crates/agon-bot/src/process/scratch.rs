//! Private temporary folders for bots.
//!
//! Making and removing two folders costs more than twenty turns of a quick match, so an unused
//! folder is handed to the next bot. A used one is removed.

use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Empty folders ready for use.
static FREE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The folder of the run with this mark; it contains the bots' folders.
fn root(run: &str) -> PathBuf {
    std::env::temp_dir().join(format!("agon-{run}"))
}

/// An empty folder; none if the system refuses one.
pub fn take(run: &str) -> Option<PathBuf> {
    let free = FREE.lock().unwrap_or_else(|poison| poison.into_inner()).pop();
    free.or_else(|| {
        // For this user only.
        let mut private = std::fs::DirBuilder::new();
        private.mode(0o700);
        let root = root(run);
        let folder = root.join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
        let made = private.create(&folder).is_ok()
            || (private.create(&root).is_ok() | private.create(&folder).is_ok());
        made.then_some(folder)
    })
}

/// Takes a folder back.
pub fn give_back(folder: PathBuf) {
    if is_empty(&folder) {
        FREE.lock().unwrap_or_else(|poison| poison.into_inner()).push(folder);
    } else {
        remove(&folder);
    }
}

/// A folder with these files, made once per run and shared by all its bots.
///
/// # Errors
/// Those of the system.
pub fn shared(run: &str, name: &str, files: &[(&str, &str)]) -> std::io::Result<PathBuf> {
    static MADE: Mutex<()> = Mutex::new(());
    let _one_at_a_time = MADE.lock().unwrap_or_else(|poison| poison.into_inner());
    let folder = root(run).join(name);
    if !folder.is_dir() {
        // It gets its name when it is complete.
        let draft = root(run).join(format!("{name}.new"));
        let mut private = std::fs::DirBuilder::new();
        private.recursive(true).mode(0o700).create(&draft)?;
        for (file, text) in files {
            std::fs::write(draft.join(file), text)?;
        }
        std::fs::rename(&draft, &folder)?;
    }
    Ok(folder)
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Removes all folders of a run; called when the program ends.
pub fn clean_up(run: &str) {
    // Most are empty, and known to be.
    for folder in FREE.lock().unwrap_or_else(|poison| poison.into_inner()).drain(..) {
        let _ = std::fs::remove_dir(folder);
    }
    remove(&root(run));
}

/// Removes a folder, even if a bot has locked parts of it.
fn remove(folder: &Path) {
    if std::fs::remove_dir(folder).is_ok() {
        return;
    }
    for _ in 0..2 {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => unlock(folder, 0),
            _ => return,
        }
    }
}

fn unlock(folder: &Path, depth: u32) {
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        // Links are not followed: they point to what is not ours.
        if depth < 64 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path(), depth + 1);
        }
    }
}
