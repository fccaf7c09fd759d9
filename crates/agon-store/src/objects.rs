//! Bytes by their hash: uploads, replays, logs of builds. Never changed, so written once by whoever comes first.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256, in text 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Sha([u8; 32]);

impl Sha {
    /// The hash of these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// The bytes of the hash.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Its first digits, for people.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha({self})")
    }
}

impl FromStr for Sha {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{}` is no SHA-256 of 64 hexadecimal digits", text.chars().take(80).collect::<String>())
        };
        let digits = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !digits {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, two) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let two = std::str::from_utf8(two).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(two, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl From<Sha> for String {
    fn from(sha: Sha) -> Self {
        sha.to_string()
    }
}

impl TryFrom<String> for Sha {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The name of the folder of objects in a contest's folder.
pub const OBJECTS: &str = "objects";

/// A folder of objects: `objects/ab/cdef...`.
#[derive(Clone, Debug)]
pub struct Objects {
    folder: PathBuf,
}

impl Objects {
    /// Those in a contest's folder.
    pub fn new(contest: &Path) -> Self {
        Self { folder: contest.join(OBJECTS) }
    }

    fn path(&self, sha: &Sha) -> PathBuf {
        let name = sha.to_string();
        self.folder.join(&name[..2]).join(&name[2..])
    }

    /// Keeps these bytes, unless they are there already. Nobody ever sees a part of them under their name.
    ///
    /// # Errors
    /// Those of the folder.
    pub fn put(&self, bytes: &[u8]) -> io::Result<Sha> {
        static DRAFTS: AtomicU64 = AtomicU64::new(0);
        let sha = Sha::of(bytes);
        let path = self.path(&sha);
        // What is there already is kept from now on: [`sweep`](Self::sweep) goes by that.
        match fs::File::options().append(true).open(&path) {
            Ok(there) => return there.set_modified(SystemTime::now()).map(|()| sha),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
        let draft = self.folder.join(format!("draft-{}-{number}", std::process::id()));
        let written = fs::File::create(&draft)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written.map(|()| sha)
    }

    /// The bytes with this hash.
    ///
    /// # Errors
    /// When they are not there, are more than `most`, or are not those any more.
    pub fn get(&self, sha: &Sha, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        fs::File::open(self.path(sha))?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the object {sha} is larger than {most} bytes"),
            ));
        }
        if Sha::of(&bytes) != *sha {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("the object {sha} was changed")));
        }
        Ok(bytes)
    }

    /// Removes it: who it belonged to was deleted, or it was kept for a while only. Nothing in the database may name it any more.
    ///
    /// # Errors
    /// Those of the folder; that it is gone already is none.
    pub fn remove(&self, sha: &Sha) -> io::Result<()> {
        match fs::remove_file(self.path(sha)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Removes objects that are not `named` and that nobody has kept since `before`: what was refused when it was kept
    /// already, or left by a process that was killed. How many.
    ///
    /// # Errors
    /// Those of the folder.
    pub fn sweep(&self, named: &BTreeSet<Sha>, before: SystemTime) -> io::Result<u64> {
        let is_old = |path: &Path| {
            let kept = fs::metadata(path).and_then(|data| data.modified());
            kept.is_ok_and(|kept| kept < before)
        };
        let mut gone = 0;
        for sha in self.list()?.into_iter().filter(|sha| !named.contains(sha)) {
            let path = self.path(&sha);
            if !is_old(&path) {
                continue;
            }
            fs::remove_file(&path)?;
            gone += 1;
        }
        Ok(gone)
    }

    /// Whether it is there.
    pub fn has(&self, sha: &Sha) -> bool {
        self.path(sha).is_file()
    }

    /// All of them. Drafts of a process that was killed are left out.
    ///
    /// # Errors
    /// Those of the folder.
    pub fn list(&self) -> io::Result<Vec<Sha>> {
        let mut found = Vec::new();
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for folder in entries {
            let folder = folder?;
            if !folder.file_type()?.is_dir() {
                continue;
            }
            for file in fs::read_dir(folder.path())? {
                let name = format!(
                    "{}{}",
                    folder.file_name().to_string_lossy(),
                    file?.file_name().to_string_lossy()
                );
                found.extend(name.parse::<Sha>());
            }
        }
        found.sort();
        Ok(found)
    }

    /// Removes the drafts of processes that were killed. Only while nobody else writes here.
    pub fn sweep_drafts(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("draft-") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_what_its_name_says_or_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let objects = Objects::new(folder.path());
        assert_eq!(objects.list().expect("none yet"), []);
        let sha = objects.put(b"replay").expect("room");
        assert_eq!(objects.put(b"replay").expect("again"), sha);
        assert_eq!(objects.get(&sha, 6).expect("there"), b"replay");
        assert!(objects.get(&sha, 5).unwrap_err().to_string().contains("larger than 5 bytes"));
        assert_eq!(objects.list().expect("one"), [sha]);
        fs::write(objects.path(&sha), b"replaY").expect("changed");
        assert!(objects.get(&sha, 6).unwrap_err().to_string().ends_with("was changed"));
        assert!(!objects.has(&Sha::of(b"other")));
        assert_eq!(objects.get(&Sha::of(b"other"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_nothing_names_goes_when_it_is_old() {
        let folder = tempfile::tempdir().expect("a folder");
        let objects = Objects::new(folder.path());
        let [named, orphan, again] =
            [&b"named"[..], b"orphan", b"again"].map(|bytes| objects.put(bytes).expect("room"));
        let day = std::time::Duration::from_secs(86_400);
        let old = SystemTime::now() - 2 * day;
        for sha in [named, orphan, again] {
            let file = fs::File::options().append(true).open(objects.path(&sha)).expect("there");
            file.set_modified(old).expect("ours");
        }
        let young = objects.put(b"young").expect("room");
        // Handed in once more: it is not old any more, whatever it was.
        objects.put(b"again").expect("there");
        assert_eq!(objects.sweep(&[named].into(), SystemTime::now() - day).expect("swept"), 1);
        let mut left = [named, again, young];
        left.sort();
        assert_eq!(objects.list().expect("three"), left);
        assert!(!objects.has(&orphan));
    }

    #[test]
    fn hashes_are_read_strictly() {
        let sha = Sha::of(b"abc");
        // FIPS 180-2, appendix B.1.
        assert_eq!(sha.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha.to_string().parse(), Ok(sha));
        for wrong in ["", "ba78", &sha.to_string().to_uppercase(), &format!("{sha}0"), &"é".repeat(32)] {
            assert!(wrong.parse::<Sha>().is_err(), "{wrong}");
        }
    }
}
