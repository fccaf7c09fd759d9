//! Which files a bot's words may name, before anything runs.

use std::path::{Component, Path, PathBuf};

use agon_sandbox::{Confinement, ShownPath};

/// What every sandbox shows.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Whether every sandbox shows this path.
pub fn is_systems(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

/// Whether a path can be shown in a sandbox, which has a /proc, /sys, /dev, /tmp and /etc of its own.
pub fn can_show(path: &Path) -> bool {
    Confinement { readable: vec![ShownPath::same(path)], ..Confinement::default() }.check().is_ok()
}

/// A path without `.` and `..`, resolved as text: links are not followed.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The same path from the root, without `.` and `..`. Where it has `..`, the system says where that leads: `link/..` is
/// beside what the link leads to.
pub(crate) fn settled(path: &Path) -> PathBuf {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let goes_up = full.components().any(|part| part == Component::ParentDir);
    full.canonicalize().ok().filter(|_| goes_up).unwrap_or_else(|| plain(&full))
}

/// Whether a path is one in a folder, and does not lead out of it by a link. Whether what it leads to is there makes no
/// difference.
pub fn stays(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let Some(home) = real(folder).filter(|_| path.starts_with(folder)) else { return false };
    match real(path) {
        Some(real) => real.starts_with(&home) || is_systems(&real),
        None => path.ancestors().take_while(|part| part.starts_with(folder)).all(|part| !part.is_symlink()),
    }
}
