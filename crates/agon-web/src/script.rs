//! The script that somebody writes in the page: the one file named at start-up, read and written as a whole.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tempfile::NamedTempFile;
#[cfg(test)]
use ts_rs::TS;

/// The largest script in a page, in bytes.
pub const LARGEST_SCRIPT: u64 = 1 << 20;

/// What a page is told about the script: `GET /api/script`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ScriptText {
    /// The file, as it was named.
    pub name: String,
    /// Its content.
    pub text: String,
    /// Identifies this content until it changes.
    pub stamp: String,
}

/// Why a script cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// None was named.
    #[error("this viewer was started without a script; start it with one: agon watch bot.js")]
    None,
    /// The system refuses.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    /// Too large for a page, or not text.
    #[error("{0}: a script is text of at most 1 MiB")]
    NoScript(String),
    /// Somebody else has changed it.
    #[error("{0} was changed on disk since this page read it: save yours elsewhere, or read it again")]
    Changed(String),
}

/// The script of a server.
#[derive(Debug)]
pub struct ScriptFile {
    name: String,
    /// Its real path, so that a link changed later leads nowhere else.
    path: PathBuf,
    /// Only one write at a time.
    writing: Mutex<()>,
}

impl ScriptFile {
    /// The script at `path`, which must exist.
    ///
    /// # Errors
    /// When it is not a file, or cannot be read.
    pub fn new(path: &Path) -> Result<Self, ScriptError> {
        let name = path.display().to_string();
        let real = path.canonicalize().map_err(|error| ScriptError::Io(name.clone(), error))?;
        let own = Self { name, path: real, writing: Mutex::default() };
        own.read()?;
        Ok(own)
    }

    /// Its current content.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self) -> Result<ScriptText, ScriptError> {
        let failed = |error| ScriptError::Io(self.name.clone(), error);
        let found = fs::symlink_metadata(&self.path).map_err(failed)?;
        if !found.is_file() || found.len() > LARGEST_SCRIPT {
            return Err(ScriptError::NoScript(self.name.clone()));
        }
        let text = String::from_utf8(fs::read(&self.path).map_err(failed)?)
            .map_err(|_| ScriptError::NoScript(self.name.clone()))?;
        Ok(ScriptText { name: self.name.clone(), stamp: stamp(&text), text })
    }

    /// Replaces it with `text`, atomically, if the file still has the stamp `was`; returns the new stamp.
    ///
    /// # Errors
    /// When somebody else has changed it, or it cannot be written.
    pub fn write(&self, text: &str, was: &str) -> Result<String, ScriptError> {
        let failed = |error| ScriptError::Io(self.name.clone(), error);
        if text.len() as u64 > LARGEST_SCRIPT {
            return Err(ScriptError::NoScript(self.name.clone()));
        }
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.read()?.stamp != was {
            return Err(ScriptError::Changed(self.name.clone()));
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        let permissions = fs::metadata(&self.path).map_err(failed)?.permissions();
        file.as_file().set_permissions(permissions).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(stamp(text))
    }
}

fn stamp(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_script_is_replaced_whole_and_never_over_a_strangers_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bot.js");
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let script = ScriptFile::new(&path).unwrap();
        let first = script.read().unwrap();
        let second = script.write("two", &first.stamp).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(matches!(script.write("three", &first.stamp), Err(ScriptError::Changed(_))));
        fs::write(&path, "by somebody else").unwrap();
        assert!(matches!(script.write("three", &second), Err(ScriptError::Changed(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "by somebody else");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left in the folder");
    }

    #[test]
    fn what_is_no_script_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bot.js");
        assert!(matches!(ScriptFile::new(&path), Err(ScriptError::Io(..))));
        assert!(matches!(ScriptFile::new(folder.path()), Err(ScriptError::NoScript(_))));
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(ScriptFile::new(&path), Err(ScriptError::NoScript(_))));
        fs::write(&path, "a".repeat(LARGEST_SCRIPT as usize)).unwrap();
        let script = ScriptFile::new(&path).unwrap();
        let stamp = script.read().unwrap().stamp;
        let larger = "a".repeat(LARGEST_SCRIPT as usize + 1);
        assert!(matches!(script.write(&larger, &stamp), Err(ScriptError::NoScript(_))));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(matches!(script.write("x", &stamp), Err(ScriptError::NoScript(_))));
    }
}
