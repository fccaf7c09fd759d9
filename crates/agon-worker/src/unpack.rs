//! Unpacks a submission into a folder.
//!
//! The bytes are foreign: their number, their size and the places they name are bounded, and links are not followed.
//! After a refusal the folder is empty again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use agon_bot::inside::work::{self, Work};
use agon_bot::{Confined, guard, rights};

/// Upper limits for an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Bytes to unpack.
    pub bytes: u64,
    /// Entries; an archive with more is refused.
    pub entries: usize,
    /// Whether names that differ only in case are refused: on other systems they are the same file.
    pub one_case: bool,
}

impl ArchiveLimits {
    /// For submissions.
    pub const UPLOAD: Self = Self { bytes: 100 << 20, entries: 2_000, one_case: true };
    /// For an archive of one's own.
    pub const OWN: Self = Self { bytes: 1 << 30, entries: 20_000, one_case: false };

    const ALL: [(&str, Self); 2] = [("upload", Self::UPLOAD), ("own", Self::OWN)];
}

/// Deepest nesting of folders.
const DEEPEST: usize = 32;
/// What systems and tools leave in archives besides the files; ignored.
const LITTER: &[&str] = &["__MACOSX", ".DS_Store", ".git", ".hg", ".svn", "__pycache__"];

/// Archive formats.
#[derive(Clone, Copy, Debug)]
pub enum ArchiveFormat {
    Zip,
    Tar,
    /// A tar compressed with gzip.
    TarGz,
}

impl ArchiveFormat {
    const ALL: [Self; 3] = [Self::Zip, Self::Tar, Self::TarGz];

    /// The format of these bytes, judging by the first ones; none if they are no such archive.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        // A tar without entries is nothing but zeros.
        let zeros = || bytes.len() >= 1024 && bytes[..1024].iter().all(|byte| *byte == 0);
        match bytes {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Self::Zip),
            [0x1f, 0x8b, ..] => Some(Self::TarGz),
            _ if bytes.get(257..262) == Some(b"ustar") || zeros() => Some(Self::Tar),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::Tar => "tar",
            Self::TarGz => "tar.gz",
        }
    }
}

/// Unpacks an archive below `folder`, which exists and is empty.
///
/// # Errors
/// A sentence that says what is wrong with the archive.
pub fn unpack(
    folder: &Path,
    form: ArchiveFormat,
    limits: ArchiveLimits,
    archive: impl Read + Seek,
) -> Result<(), String> {
    let done = Unpacking::new(folder.to_owned(), limits).run(form, archive);
    if done.is_err() {
        clear(folder);
    }
    done
}

/// Empties a folder. What cannot be removed harms nobody: the folder is given up.
fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
}

/// The hidden subcommand by which the program unpacks an archive inside a sandbox: `agon __unpack FORM LIMITS`, with
/// the archive at its standard input and the folder to fill as its working folder.
pub const SUBCOMMAND: &str = "__unpack";
/// Time limit for unpacking.
const PATIENCE: Duration = Duration::from_secs(120);

/// The same in a sandbox, where the archive could do no harm even if this code had a flaw.
///
/// # Errors
/// A sentence that says what is wrong with the archive, or why there is no sandbox.
pub fn unpack_inside(
    folder: &Path,
    form: ArchiveFormat,
    limits: ArchiveLimits,
    archive: impl Read,
) -> Result<(), String> {
    let program = guard::program().ok_or("this process cannot make sandboxes")?;
    let failed = |error: io::Error| error.to_string();
    let input = work::sealed(archive).map_err(failed)?;
    let mut command = Command::new(program);
    let word = ArchiveLimits::ALL.iter().find(|(_, own)| *own == limits).map_or("own", |(word, _)| word);
    command.args([SUBCOMMAND, form.word(), word]).current_dir(folder);
    let work = Work {
        confined: Confined::Foreign,
        writes: &[folder],
        run: Arc::default(),
        input: Some(input),
        patience: PATIENCE,
    };
    let mut said = Vec::new();
    let status = work::run(&command, work, &mut |bytes| {
        // A sentence of ours: it is short, but bounded all the same.
        said.extend(&bytes[..bytes.len().min(MOST_SAID - said.len())]);
        Ok(())
    });
    match status.map_err(failed)? {
        status if status.success() => Ok(()),
        status if said.is_empty() => Err(format!("unpacking it failed with {status}")),
        _ => Err(String::from_utf8_lossy(&said).trim().to_owned()),
    }
}

/// The files of a submission, with their paths. It is unpacked in a sandbox; where this machine has none, only if its bots are trusted.
/// At most `most` files and bytes are read.
///
/// # Errors
/// A sentence that says what is wrong with it, or with this machine.
pub fn files_of(
    archive: &[u8],
    is_trusted: bool,
    most: (usize, u64),
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let failed = |error: io::Error| error.to_string();
    let form = ArchiveFormat::of(archive).ok_or("it is neither a zip nor a tar")?;
    let place = tempfile::tempdir().map_err(failed)?;
    let top = place.path().join("bot");
    rights::create_shown_folder(&top).map_err(failed)?;
    if let Err(why) = unpack_inside(&top, form, ArchiveLimits::UPLOAD, archive) {
        if !is_trusted {
            return Err(why);
        }
        clear(&top);
        unpack(&top, form, ArchiveLimits::UPLOAD, io::Cursor::new(archive))?;
    }
    let (mut files, mut left, mut folders) = (Vec::new(), most.1, vec![top.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut bytes = Vec::new();
            File::open(&path).and_then(|file| file.take(left + 1).read_to_end(&mut bytes)).map_err(failed)?;
            if bytes.len() as u64 > left || files.len() == most.0 {
                return Err(format!("it holds more than {} files or {} KiB", most.0, most.1 >> 10));
            }
            left -= bytes.len() as u64;
            let name = path.strip_prefix(&top).ok().and_then(Path::to_str);
            files.push((name.ok_or("a file in it has a name that is no text")?.to_owned(), bytes));
        }
    }
    Ok(files)
}

/// Longest message from the unpacker inside.
const MOST_SAID: usize = 4096;

/// The program's life as the unpacker; `arguments` are those after [`SUBCOMMAND`].
pub fn live(arguments: &[OsString]) -> ExitCode {
    let word = |place: usize| arguments.get(place).and_then(|word| word.to_str());
    let form = ArchiveFormat::ALL.into_iter().find(|form| word(0) == Some(form.word()));
    let limits = ArchiveLimits::ALL.into_iter().find(|(own, _)| word(1) == Some(own));
    let (Some(form), Some((_, limits))) = (form, limits) else { return ExitCode::from(2) };
    let archive = io::stdin().as_fd().try_clone_to_owned().map(File::from).map_err(|error| error.to_string());
    match archive.and_then(|archive| unpack(Path::new("."), form, limits, archive)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Where an entry of this name belongs, below the folder that is filled; none if it is ignored.
///
/// # Errors
/// What is wrong with the name.
pub fn place_of(name: &Path) -> Result<Option<PathBuf>, String> {
    let shown = name.to_string_lossy();
    if shown.chars().any(char::is_control) {
        return Err(format!("`{}` in it has control characters in its name", shown.escape_debug()));
    }
    let mut inside = PathBuf::new();
    for part in name.components() {
        match part {
            Component::Normal(part) if LITTER.iter().any(|litter| part == *litter) => return Ok(None),
            Component::Normal(part) => inside.push(part),
            Component::CurDir => {}
            _ => return Err(format!("`{}` points outside the archive", name.display())),
        }
    }
    if inside.components().count() > DEEPEST {
        return Err(format!("it holds folders in folders, more than {DEEPEST} deep"));
    }
    Ok(Some(inside))
}

/// Writes the entries of an archive below a folder.
struct Unpacking {
    folder: PathBuf,
    limits: ArchiveLimits,
    entries: usize,
    left: u64,
    /// Names of files so far, as a case-insensitive system sees them.
    names: BTreeSet<String>,
}

impl Unpacking {
    fn new(folder: PathBuf, limits: ArchiveLimits) -> Self {
        Self { folder, limits, entries: 0, left: limits.bytes, names: BTreeSet::new() }
    }

    fn run(&mut self, form: ArchiveFormat, file: impl Read + Seek) -> Result<(), String> {
        match form {
            ArchiveFormat::Zip => self.zip(file),
            ArchiveFormat::Tar => self.tar(file),
            ArchiveFormat::TarGz => self.tar(flate2::read::GzDecoder::new(file)),
        }
    }

    fn zip(&mut self, file: impl Read + Seek) -> Result<(), String> {
        let damaged = |error: zip::result::ZipError| format!("it is not a readable zip ({error})");
        let mut archive = zip::ZipArchive::new(file).map_err(damaged)?;
        for index in 0..archive.len().min(self.limits.entries + 1) {
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
        let damaged = |error: io::Error| format!("it is not a readable archive ({error})");
        // Skipped bytes count too: a few bytes can stand for very many.
        let mut archive = tar::Archive::new(bytes.take(2 * self.limits.bytes));
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
        if self.entries > self.limits.entries {
            return Err(format!("it holds more than {} files; pack only the bot", self.limits.entries));
        }
        let Some(inside) = place_of(name)? else { return Ok(()) };
        let target = self.folder.join(&inside);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::StorageFull => format!(
                "there is no room to unpack it in {}; {}",
                self.folder.display(),
                agon_bot::advised::Advised::MoveCache
            ),
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                format!("it holds `{}` twice", inside.display())
            }
            _ => format!("`{}` in it: {error}", inside.display()),
        };
        if inside.as_os_str().is_empty() && !is_folder {
            return Err("a file in it has no name".to_owned());
        }
        if !is_folder
            && self.limits.one_case
            && !self.names.insert(inside.to_string_lossy().to_lowercase())
            && !target.exists()
        {
            return Err(format!(
                "it holds `{}` twice, in upper and lower case: on other systems that is one file",
                inside.display()
            ));
        }
        if is_folder {
            return self.folders(&inside).map_err(failed);
        }
        inside.parent().map_or(Ok(()), |above| self.folders(above)).map_err(failed)?;
        // Two entries of the same name are a trick or a mistake.
        let mut file = File::create_new(&target).map_err(failed)?;
        let written = io::copy(&mut content.take(self.left + 1), &mut file).map_err(failed)?;
        if written > self.left {
            return Err(format!("it holds more than {} MiB", self.limits.bytes >> 20));
        }
        self.left -= written;
        use std::os::unix::fs::PermissionsExt as _;
        let runs = if mode & 0o111 == 0 { 0 } else { 0o111 };
        file.set_permissions(fs::Permissions::from_mode(0o644 | runs)).map_err(failed)
    }

    /// Creates those folders on the way to `inside` that are missing.
    fn folders(&self, inside: &Path) -> io::Result<()> {
        let mut folder = self.folder.clone();
        for part in inside.components() {
            folder.push(part);
            if !folder.is_dir() {
                rights::create_shown_folder(&folder)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack;
    use std::io::Write as _;

    fn unpack(form: ArchiveFormat, bytes: &[u8]) -> (tempfile::TempDir, Result<(), String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("archive");
        fs::write(&path, bytes).expect("a file");
        fs::create_dir(folder.path().join("in")).expect("a folder");
        let file = File::open(&path).expect("a file");
        let done = super::unpack(&folder.path().join("in"), form, ArchiveLimits::UPLOAD, file);
        (folder, done)
    }

    /// An archive of one entry with any name.
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
            let (folder, done) = unpack(ArchiveFormat::Tar, &tar_of(name, tar::EntryType::Regular, b"x"));
            assert!(done.is_err_and(|why| why.contains("points outside")), "{name}");
            assert!(!folder.path().join("out").exists());
        }
        let (_, done) = unpack(ArchiveFormat::Zip, &zip_of("../out"));
        assert!(done.is_err_and(|why| why.contains("points outside")));
        for kind in
            [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Fifo, tar::EntryType::Char]
        {
            let (_, done) = unpack(ArchiveFormat::Tar, &tar_of("x", kind, b""));
            assert!(done.is_err_and(|why| why.contains("is a link or a device")));
        }
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let deep = "a/".repeat(40) + "b";
        let (_, done) = unpack(ArchiveFormat::Tar, &tar_of(&deep, tar::EntryType::Regular, b"x"));
        assert!(done.is_err_and(|why| why.contains("folders in folders")));
        let folder = tempfile::tempdir().expect("a folder");
        let mut small =
            Unpacking { left: 10, ..Unpacking::new(folder.path().to_owned(), ArchiveLimits::OWN) };
        assert!(small.put(Path::new("a"), false, 0o644, &b"123456789"[..]).is_ok());
        assert!(small.put(Path::new("b"), false, 0o644, io::repeat(0)).is_err(), "it ends");
        let full = ArchiveLimits::OWN.entries;
        let mut many =
            Unpacking { entries: full, ..Unpacking::new(folder.path().to_owned(), ArchiveLimits::OWN) };
        assert!(
            many.put(Path::new("c"), false, 0o644, io::empty()).is_err_and(|why| why.contains("more than"))
        );
        let (_, done) = unpack(ArchiveFormat::Zip, b"PK\x03\x04 and then nothing");
        assert!(done.is_err_and(|why| why.contains("not a readable zip")));
        let (_, done) = unpack(ArchiveFormat::TarGz, b"\x1f\x8b and then nothing");
        assert!(done.is_err());
    }

    #[test]
    fn the_files_of_a_submission_are_read_as_far_as_they_are_few() {
        let archive = pack::of_files([("a/b.py", b"print()".as_slice()), ("c", b"\x7fELF\0")].into_iter());
        let archive = archive.expect("packed");
        let mut files = files_of(&archive, true, (2, 12)).expect("read");
        files.sort();
        assert_eq!(
            files,
            [("a/b.py".to_owned(), b"print()".to_vec()), ("c".to_owned(), b"\x7fELF\0".to_vec())]
        );
        for most in [(1, 12), (2, 11)] {
            let why = files_of(&archive, true, most).expect_err("too much");
            assert!(why.starts_with("it holds more than"), "{why}");
        }
        assert!(
            files_of(&archive, false, (2, 12)).is_err_and(|why| why.contains("sandbox")),
            "none in a test"
        );
        assert_eq!(files_of(b"no archive", true, (2, 12)), Err("it is neither a zip nor a tar".to_owned()));
    }

    #[test]
    fn an_exec_bit_is_kept_and_litter_is_not() {
        use std::os::unix::fs::PermissionsExt as _;
        let (folder, done) =
            unpack(ArchiveFormat::Tar, &tar_of("./bot/run.sh", tar::EntryType::Regular, b"#!/bin/sh\n"));
        done.expect("a good archive");
        let mode =
            fs::metadata(folder.path().join("in/bot/run.sh")).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let (folder, done) = unpack(ArchiveFormat::Zip, &zip_of("__MACOSX/._bot.py"));
        done.expect("a good archive");
        assert!(fs::read_dir(folder.path().join("in")).expect("a folder").next().is_none());
        let (folder, done) = unpack(ArchiveFormat::Zip, &zip_of("mein böt\\bot.py"));
        done.expect("a good archive");
        assert!(folder.path().join("in/mein böt/bot.py").is_file());
    }
}
