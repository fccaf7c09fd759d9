//! Archives as bots: what is handed in at a contest plays like the folder in it.
//!
//! An archive is unpacked once, into the user's cache, under a name made of its content. Its bytes are
//! foreign: their number, their size and the places they name are bounded, and links are not followed.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _};
use std::path::{Component, Path, PathBuf};

use agon_bot::build::cache;
use agon_contest::content;

/// A larger archive is refused, in bytes.
const LARGEST: u64 = 512 << 20;
/// No more is unpacked of one, in bytes.
const MOST_BYTES: u64 = 1 << 30;
/// An archive of more entries is refused.
const MOST_ENTRIES: usize = 20_000;
/// Folders are not nested deeper.
const DEEPEST: usize = 32;
/// What systems leave in archives beside the files.
const LITTER: &[&str] = &["__MACOSX", ".DS_Store"];

/// How files are put together.
#[derive(Clone, Copy)]
enum Form {
    Zip,
    Tar,
    TarGz,
}

fn form(path: &Path) -> Option<Form> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    match () {
        () if name.ends_with(".zip") => Some(Form::Zip),
        () if name.ends_with(".tar") => Some(Form::Tar),
        () if name.ends_with(".tar.gz") || name.ends_with(".tgz") => Some(Form::TarGz),
        () => None,
    }
}

/// The folder with what is in the archive; none when `path` is no archive.
///
/// # Errors
/// A sentence that names the file, and what is wrong with it.
pub fn unpacked(path: &Path) -> Result<Option<PathBuf>, String> {
    let Some(form) = form(path).filter(|_| path.is_file()) else { return Ok(None) };
    let wrong = |why: String| format!("{}: {why}", path.display());
    let mut file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let size = file.metadata().map_err(|error| wrong(error.to_string()))?.len();
    if size > LARGEST {
        return Err(wrong(format!("an archive of {} MiB; at most {} are read", size >> 20, LARGEST >> 20)));
    }
    let mut bytes = Vec::new();
    file.by_ref().take(LARGEST).read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
    let stem = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("bot").to_owned();
    let place = cache().join("unpacked").join(format!("{:016x}", content::of_text(&bytes)));
    drop(bytes);
    let inner = place.join(&stem);
    if !place.is_dir() {
        file.rewind().map_err(|error| wrong(error.to_string()))?;
        let draft = place.with_extension(format!("{}.new", std::process::id()));
        let done = fs::create_dir_all(draft.join(&stem))
            .map_err(|error| format!("{}: {error}", draft.display()))
            .and_then(|()| Unpacking::new(draft.join(&stem)).run(form, file).map_err(wrong))
            .and_then(|()| match fs::rename(&draft, &place) {
                // Somebody else was quicker.
                Err(_) if place.is_dir() => Ok(()),
                done => done.map_err(|error| format!("{}: {error}", place.display())),
            });
        let _ = fs::remove_dir_all(&draft);
        done?;
    }
    // Somebody with the same content under another name may have been first.
    let inner = if inner.is_dir() { inner } else { only_folder(&place).unwrap_or(inner) };
    Ok(Some(only_folder(&inner).unwrap_or(inner)))
}

/// The one folder that is all there is in a folder.
fn only_folder(folder: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.next().filter(|only| only.is_dir() && entries.next().is_none())
}

/// Writes the entries of an archive below a folder.
struct Unpacking {
    folder: PathBuf,
    entries: usize,
    left: u64,
}

impl Unpacking {
    fn new(folder: PathBuf) -> Self {
        Self { folder, entries: 0, left: MOST_BYTES }
    }

    fn run(&mut self, form: Form, file: File) -> Result<(), String> {
        match form {
            Form::Zip => self.zip(file),
            Form::Tar => self.tar(file),
            Form::TarGz => self.tar(flate2::read::GzDecoder::new(file)),
        }
    }

    fn zip(&mut self, file: File) -> Result<(), String> {
        let damaged = |error: zip::result::ZipError| format!("it is no zip that can be read ({error})");
        let mut archive = zip::ZipArchive::new(file).map_err(damaged)?;
        for index in 0..archive.len().min(MOST_ENTRIES + 1) {
            let entry = archive.by_index(index).map_err(damaged)?;
            // Windows writes its own separator, which the format forbids.
            let name = entry.name().map_err(damaged)?.replace('\\', "/");
            let mode = entry.unix_mode().unwrap_or(0o644);
            if mode & 0o170_000 == 0o120_000 {
                return Err(format!("`{name}` in it is a link; pack the file itself"));
            }
            let is_folder = entry.is_dir() || name.ends_with('/');
            self.put(Path::new(&name), is_folder, mode, entry)?;
        }
        Ok(())
    }

    fn tar(&mut self, bytes: impl Read) -> Result<(), String> {
        let damaged = |error: io::Error| format!("it is no archive that can be read ({error})");
        // What is skipped counts too: a few bytes can stand for very many.
        let mut archive = tar::Archive::new(bytes.take(2 * MOST_BYTES));
        for entry in archive.entries().map_err(damaged)? {
            let entry = entry.map_err(damaged)?;
            let name = entry.path().map_err(damaged)?.into_owned();
            let mode = entry.header().mode().unwrap_or(0o644);
            let kind = entry.header().entry_type();
            match kind {
                tar::EntryType::Directory => self.put(&name, true, mode, io::empty())?,
                tar::EntryType::Regular | tar::EntryType::Continuous => {
                    self.put(&name, false, mode, entry)?
                }
                tar::EntryType::XGlobalHeader => {}
                _ => {
                    return Err(format!(
                        "`{}` in it is a link or a device; pack the file itself",
                        name.display()
                    ));
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, name: &Path, is_folder: bool, mode: u32, content: impl Read) -> Result<(), String> {
        self.entries += 1;
        if self.entries > MOST_ENTRIES {
            return Err(format!("it holds more than {MOST_ENTRIES} files; pack the bot only"));
        }
        let mut inside = PathBuf::new();
        for part in name.components() {
            match part {
                Component::Normal(part) if LITTER.iter().any(|litter| part == *litter) => return Ok(()),
                Component::Normal(part) => inside.push(part),
                Component::CurDir => {}
                _ => return Err(format!("`{}` in it leads out of the archive", name.display())),
            }
        }
        if inside.components().count() > DEEPEST {
            return Err(format!("it holds folders in folders, more than {DEEPEST} of them"));
        }
        let target = self.folder.join(&inside);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::StorageFull => format!(
                "there is no room to unpack it in {}; make room, or set AGON_CACHE to a folder on another disk",
                self.folder.display()
            ),
            _ => format!("`{}` in it: {error}", inside.display()),
        };
        if is_folder {
            return fs::create_dir_all(&target).map_err(failed);
        }
        target.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        // Two entries of one name are a trick, or a mistake.
        let mut file = File::create_new(&target).map_err(failed)?;
        let written = io::copy(&mut content.take(self.left + 1), &mut file).map_err(failed)?;
        if written > self.left {
            return Err(format!("it holds more than {} MiB", MOST_BYTES >> 20));
        }
        self.left -= written;
        use std::os::unix::fs::PermissionsExt as _;
        let runs = if mode & 0o111 == 0 { 0 } else { 0o111 };
        file.set_permissions(fs::Permissions::from_mode(0o644 | runs)).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn unpack(form: Form, bytes: &[u8]) -> (tempfile::TempDir, Result<(), String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("archive");
        fs::write(&path, bytes).expect("a file");
        fs::create_dir(folder.path().join("in")).expect("a folder");
        let file = File::open(&path).expect("a file");
        let done = Unpacking::new(folder.path().join("in")).run(form, file);
        (folder, done)
    }

    /// An archive of one entry, whatever its name.
    fn tar_of(name: &str, kind: tar::EntryType, content: &[u8]) -> Vec<u8> {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        header.set_cksum();
        let mut builder = tar::Builder::new(Vec::new());
        builder.append(&header, content).expect("a vector takes all");
        builder.into_inner().expect("a vector takes all")
    }

    fn zip_of(name: &str) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(name, options).expect("a name");
        writer.write_all(b"x").expect("a vector takes all");
        writer.finish().expect("a vector takes all").into_inner()
    }

    #[test]
    fn nothing_gets_out_of_the_folder() {
        for name in ["../out", "a/../../out", "/tmp/agon-out"] {
            let (folder, done) = unpack(Form::Tar, &tar_of(name, tar::EntryType::Regular, b"x"));
            assert!(done.is_err_and(|why| why.contains("leads out")), "{name}");
            assert!(!folder.path().join("out").exists());
        }
        let (_, done) = unpack(Form::Zip, &zip_of("../out"));
        assert!(done.is_err_and(|why| why.contains("leads out")));
        for kind in
            [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Fifo, tar::EntryType::Char]
        {
            let (_, done) = unpack(Form::Tar, &tar_of("x", kind, b""));
            assert!(done.is_err_and(|why| why.contains("is a link or a device")));
        }
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let deep = "a/".repeat(40) + "b";
        let (_, done) = unpack(Form::Tar, &tar_of(&deep, tar::EntryType::Regular, b"x"));
        assert!(done.is_err_and(|why| why.contains("folders in folders")));
        let folder = tempfile::tempdir().expect("a folder");
        let mut small = Unpacking { folder: folder.path().to_owned(), entries: 0, left: 10 };
        assert!(small.put(Path::new("a"), false, 0o644, &b"123456789"[..]).is_ok());
        assert!(small.put(Path::new("b"), false, 0o644, io::repeat(0)).is_err(), "it ends");
        let mut many = Unpacking { folder: folder.path().to_owned(), entries: MOST_ENTRIES, left: 10 };
        assert!(
            many.put(Path::new("c"), false, 0o644, io::empty()).is_err_and(|why| why.contains("more than"))
        );
        let (_, done) = unpack(Form::Zip, b"PK\x03\x04 and then nothing");
        assert!(done.is_err_and(|why| why.contains("no zip")));
        let (_, done) = unpack(Form::TarGz, b"\x1f\x8b and then nothing");
        assert!(done.is_err());
    }

    #[test]
    fn an_exec_bit_is_kept_and_litter_is_not() {
        use std::os::unix::fs::PermissionsExt as _;
        let (folder, done) =
            unpack(Form::Tar, &tar_of("./bot/run.sh", tar::EntryType::Regular, b"#!/bin/sh\n"));
        done.expect("a good archive");
        let mode =
            fs::metadata(folder.path().join("in/bot/run.sh")).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let (folder, done) = unpack(Form::Zip, &zip_of("__MACOSX/._bot.py"));
        done.expect("a good archive");
        assert!(fs::read_dir(folder.path().join("in")).expect("a folder").next().is_none());
        let (folder, done) = unpack(Form::Zip, &zip_of("mein böt\\bot.py"));
        done.expect("a good archive");
        assert!(folder.path().join("in/mein böt/bot.py").is_file());
    }
}
