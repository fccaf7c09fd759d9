//! `git:REV[:PATH]`: a bot as it was in some commit.
//!
//! The whole commit is checked out once into the user's cache folder, because a bot may need its neighbours; the bot is
//! PATH in it. PATH is relative to the current folder, like every other bot's name, and is that folder when left out: in
//! a bot's folder, `git:HEAD~1` is its previous version.

use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use agon_bot::words::{typed, typed_path};
use agon_bot::{BotName, NameKind, build};

/// The prefix of such names.
pub const PREFIX: &str = "git:";

/// A bot from a commit.
#[derive(Debug)]
pub struct GitBot {
    /// Where it is now, under a name that will always mean the same.
    pub name: BotName,
    /// A short name: what it is, and the revision as the user wrote it.
    pub label: String,
}

/// Finds the bot that `text` means, a name with [`PREFIX`].
///
/// # Errors
/// A sentence for the user.
pub fn find(text: &str) -> Result<GitBot, String> {
    let inner = text.strip_prefix(PREFIX).unwrap_or(text);
    let (revision, path) = inner.split_once(':').unwrap_or((inner, "."));
    if revision.is_empty() || revision.starts_with('-') {
        return Err(format!("`{text}`: write git:REVISION or git:REVISION:PATH, as in git:HEAD~1:bots/mine"));
    }
    let top = git(&["rev-parse", "--show-toplevel"], None).map_err(|why| {
        format!("`{text}`: {}", if why.is_empty() { "this is not a git repository" } else { &why })
    })?;
    let prefix = git(&["rev-parse", "--show-prefix"], None).map_err(|why| format!("`{text}`: {why}"))?;
    let commit = git(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")], None)
        .map_err(|_| format!("`{text}`: this repository has no revision `{revision}`"))?;
    let inside = normal(&Path::new(&prefix).join(path))
        .ok_or_else(|| format!("`{text}`: `{path}` is outside the repository {top}"))?;
    let tree = lay_out(Path::new(&top), &commit).map_err(|why| format!("`{text}`: {why}"))?;
    let place = tree.join(&inside);
    let short = &commit[..12.min(commit.len())];
    if !place.exists() {
        let from_top = normal(Path::new(path)).filter(|path| tree.join(path).exists());
        let hint = from_top.map_or_else(String::new, |_| {
            format!("; PATH is relative to the current folder: run this in {top}")
        });
        return Err(format!("`{text}`: commit {short} has no `{}`{hint}", inside.display()));
    }
    let own = inside.file_name().or(Path::new(&top).file_name()).map(|name| name.to_string_lossy());
    let shown = if inside.as_os_str().is_empty() { ".".to_owned() } else { path.to_owned() };
    let name = BotName {
        text: format!("{PREFIX}{short}:{shown}"),
        kind: NameKind::Path(place),
        confined: agon_bot::Confined::No,
        run: Arc::default(),
    };
    Ok(GitBot { name, label: format!("{}@{revision}", own.unwrap_or_default()) })
}

/// A path without `.` and `..`; none when it leads out of its starting folder.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => normal = normal.parent()?.to_owned(),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

/// The folder with all files of `commit`.
fn lay_out(top: &Path, commit: &str) -> Result<PathBuf, String> {
    // Those of before had empty folders where submodules belong.
    let cache = build::cache().join("git-2");
    let place = cache.join(commit);
    if place.is_dir() {
        return Ok(place);
    }
    let failed = |error: std::io::Error| build::uncached(&cache, &error);
    let temporary = cache.join(format!("{commit}.{}.new", std::process::id()));
    std::fs::create_dir_all(&temporary).map_err(failed)?;
    let index = temporary.join("index");
    // The trailing slash makes it a folder for git.
    let tree = format!("{}/tree/", temporary.display());
    let done = git(&["-C", &top.display().to_string(), "read-tree", commit], Some(&index))
        .and_then(|_| {
            let prefix = format!("--prefix={tree}");
            let arguments = ["-C", &top.display().to_string(), "checkout-index", "--all", "--quiet", &prefix];
            git(&arguments, Some(&index))
        })
        .and_then(|_| submodules(top, commit, Path::new(&tree), 0))
        .and_then(|()| pointers(Path::new(&tree)))
        .and_then(|()| match std::fs::rename(&tree, &place) {
            // Another process was faster.
            Err(_) if place.is_dir() => Ok(()),
            done => done.map_err(failed),
        });
    let _ = std::fs::remove_dir_all(&temporary);
    done.map(|()| place)
}

/// How deep submodules of submodules are followed.
const DEEPEST: usize = 8;

/// Puts the files of a commit's submodules where they belong; a commit itself holds only which commits of theirs it means.
fn submodules(top: &Path, commit: &str, tree: &Path, depth: usize) -> Result<(), String> {
    let listed = git(&["-C", &top.display().to_string(), "ls-tree", "-r", "-z", commit], None)?;
    for line in listed.split('\0').filter(|line| line.starts_with("160000 ")) {
        let Some((about, path)) = line.split_once('\t') else { continue };
        let meant = about.rsplit(' ').next().unwrap_or_default();
        let own = top.join(path);
        let missing = |why: &str| {
            format!(
                "its submodule `{path}` is not here ({why}), and without it this would be another bot; fetch it: git -C {} submodule \
                 update --init --recursive -- {}",
                typed_path(top),
                typed(path)
            )
        };
        if normal(Path::new(path)).is_none() || depth == DEEPEST || !own.join(".git").exists() {
            return Err(missing("it was not checked out"));
        }
        let place = tree.join(path);
        let index = tree.join(format!(".index-{depth}"));
        let own_text = own.display().to_string();
        let prefix = format!("--prefix={}/", place.display());
        std::fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        let done = git(&["-C", &own_text, "read-tree", meant], Some(&index)).and_then(|_| {
            git(&["-C", &own_text, "checkout-index", "--all", "--quiet", &prefix], Some(&index))
        });
        let _ = std::fs::remove_file(&index);
        done.map_err(|_| missing(&format!("it has no commit {}", &meant[..12.min(meant.len())])))?;
        submodules(&own, meant, &place, depth + 1)?;
    }
    Ok(())
}

/// Refuses files of Git LFS that are only pointers to their contents.
fn pointers(tree: &Path) -> Result<(), String> {
    const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let about = entry.metadata().map_err(failed)?;
            if about.is_dir() {
                folders.push(entry.path());
            } else if about.is_file() && about.len() < 1024 {
                let content = std::fs::read(entry.path()).map_err(failed)?;
                if content.starts_with(POINTER) {
                    let path = entry.path();
                    let path = path.strip_prefix(tree).unwrap_or(&path).display();
                    return Err(format!(
                        "`{path}` is kept by Git LFS and its content is not here, so this would be another bot; fetch it: git lfs \
                         install && git lfs pull"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The output of git; its error message when it fails.
///
/// # Errors
/// What git says; nothing with `--quiet`.
pub fn git(arguments: &[&str], index: Option<&Path>) -> Result<String, String> {
    let mut command = Command::new("git");
    command.args(arguments);
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let output = command.output().map_err(|error| format!("git cannot be started: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr).trim_start_matches("fatal: ").to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        let normal = |text: &str| normal(Path::new(text)).map(|path| path.display().to_string());
        assert_eq!(normal("bots/mine/./../other"), Some("bots/other".to_owned()));
        assert_eq!(normal("."), Some(String::new()));
        assert_eq!(normal("bots/../../etc"), None);
        assert_eq!(normal("/etc"), None);
    }

    #[test]
    fn options_are_not_taken_for_revisions() {
        assert!(find("git:").unwrap_err().contains("git:HEAD~1"));
        assert!(find("git:--upload-pack=x").unwrap_err().contains("git:REVISION"));
    }
}
