//! Objects in a folder, as `ab/cdef...`.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempPath;

use super::{DRAFT, damaged, fits, whole};
use crate::Sha;

/// A folder of objects. An object gets its name when it is whole.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Opens it; makes it where there is none.
    pub fn open(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Ok(Self(path.to_owned()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where an object is.
    pub fn place(&self, sha: &Sha) -> PathBuf {
        let name = sha.to_string();
        self.0.join(&name[..2]).join(&name[2..])
    }

    pub fn put(&self, bytes: &[u8]) -> io::Result<Sha> {
        fits(bytes.len() as u64)?;
        let sha = Sha::of(bytes);
        let mut draft = tempfile::Builder::new().prefix(DRAFT).tempfile_in(&self.0)?;
        draft.write_all(bytes)?;
        self.keep(&sha, draft.into_temp_path()).map(|()| sha)
    }

    /// Gives a whole draft in this folder its name.
    pub fn keep(&self, sha: &Sha, mut draft: TempPath) -> io::Result<()> {
        let place = self.place(sha);
        for _ in 0..2 {
            match draft.persist(&place) {
                Err(refused) if refused.error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(place.parent().unwrap_or(&self.0))?;
                    draft = refused.path;
                }
                kept => return Ok(kept?),
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }

    pub fn get(&self, sha: &Sha, most: u64) -> io::Result<Vec<u8>> {
        let file = File::open(self.place(sha))?;
        let size = file.metadata()?.len();
        if size > most {
            return Err(damaged(sha, &format!("is larger than {most} bytes")));
        }
        let mut bytes = Vec::with_capacity(size as usize);
        file.take(most).read_to_end(&mut bytes)?;
        whole(sha, bytes)
    }

    pub fn has(&self, sha: &Sha) -> io::Result<bool> {
        self.place(sha).try_exists()
    }

    pub fn remove(&self, sha: &Sha) -> io::Result<()> {
        match fs::remove_file(self.place(sha)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// All objects, with the time each was last kept. Anything else that lies there is left out.
    pub fn all(&self) -> io::Result<Vec<(Sha, SystemTime)>> {
        let mut all = Vec::new();
        for two in fs::read_dir(&self.0)? {
            let two = two?;
            if !two.file_type()?.is_dir() {
                continue;
            }
            for file in fs::read_dir(two.path())? {
                let file = file?;
                let name =
                    format!("{}{}", two.file_name().to_string_lossy(), file.file_name().to_string_lossy());
                let Ok(sha) = name.parse() else { continue };
                match file.metadata() {
                    // Removed meanwhile.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    data => all.push((sha, data?.modified()?)),
                }
            }
        }
        Ok(all)
    }
}
