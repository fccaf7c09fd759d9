//! Archives: what somebody hands in becomes a folder, and a folder an archive.
//!
//! The bytes are foreign: their number, their size and the places they name are bounded, and links are not followed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use agon_bot::inside::work::{self, Work};
use agon_bot::{Confined, guard};
use agon_contest::content;

/// No more is unpacked of one, in bytes.
const MOST_BYTES: u64 = 1 << 30;
/// An archive of more entries is refused.
const MOST_ENTRIES: usize = 20_000;
/// Folders are not nested deeper.
const DEEPEST: usize = 32;
/// What systems leave in archives beside the files.
const LITTER: &[&str] = &["__MACOSX", ".DS_Store"];

/// How files are put together.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A zip.
    Zip,
    /// A tar.
    Tar,
    /// A tar under gzip.
    TarGz,
}

impl Form {
    const ALL: [Self; 3] = [Self::Zip, Self::Tar, Self::TarGz];

    fn word(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::Tar => "tar",
            Self::TarGz => "tar.gz",
        }
    }
}

/// Writes what is in an archive below `folder`, which is there and empty.
///
/// # Errors
/// A sentence that says what is wrong with the archive.
pub fn unpack(folder: &Path, form: Form, archive: impl Read + Seek) -> Result<(), String> {
    Unpacking::new(folder.to_owned()).run(form, archive)
}

/// The hidden subcommand by which the program unpacks an archive inside of a sandbox: `agon __unpack FORM`, the archive at its
/// standard input, its folder the one to fill.
pub const SUBCOMMAND: &str = "__unpack";
/// Unpacking takes no longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The same in a sandbox, where the archive can do no harm even if this code had a flaw.
///
/// # Errors
/// A sentence that says what is wrong with the archive, or why there is no sandbox.
pub fn unpack_inside(folder: &Path, form: Form, archive: impl Read) -> Result<(), String> {
    let program = guard::program().ok_or("no program makes sandboxes here")?;
    let failed = |error: io::Error| error.to_string();
    let input = work::sealed(archive).map_err(failed)?;
    let mut command = Command::new(program);
    command.args([SUBCOMMAND, form.word()]).current_dir(folder);
    let work =
        Work { confined: Confined::Foreign, writes: &[folder], input: Some(input), patience: PATIENCE };
    let mut said = Vec::new();
    let status = work::run(&command, work, &mut |bytes| {
        // A sentence of ours: it is short, and bounded all the same.
        said.extend(&bytes[..bytes.len().min(MOST_SAID - said.len())]);
        Ok(())
    });
    match status.map_err(failed)? {
        status if status.success() => Ok(()),
        status if said.is_empty() => Err(format!("unpacking it ended with {status}")),
        _ => Err(String::from_utf8_lossy(&said).trim().to_owned()),
    }
}

/// The longest message of who unpacks inside.
const MOST_SAID: usize = 4096;

/// The life of the program as the one who unpacks; `arguments` are those behind [`SUBCOMMAND`].
pub fn live(arguments: &[OsString]) -> ExitCode {
    let word = arguments.first().and_then(|word| word.to_str());
    let Some(form) = Form::ALL.into_iter().find(|form| word == Some(form.word())) else {
        return ExitCode::from(2);
    };
    let archive = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    match archive.map_err(|error| error.to_string()).and_then(|archive| unpack(Path::new("."), form, archive))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The most that [`pack`] puts into one archive, in bytes.
pub const MOST_PACKED: u64 = 100 << 20;

/// A bot as one archive, the same bytes for the same files: a tar of everything in its folder but what tools leave
/// there, or of its only file.
///
/// # Errors
/// A sentence for the user.
pub fn pack(bot: &Path) -> Result<Vec<u8>, String> {
    let failed = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let (folder, files) = match bot.is_dir() {
        true => (bot.to_owned(), content::files(bot)?),
        false => (
            bot.parent().unwrap_or(Path::new("")).to_owned(),
            bot.file_name().map(PathBuf::from).into_iter().collect(),
        ),
    };
    if files.is_empty() {
        return Err(format!("{}: there is no file in it", bot.display()));
    }
    let (mut archive, mut bytes) = (tar::Builder::new(Vec::new()), 0);
    for file in files {
        let path = folder.join(&file);
        let mut open = File::open(&path).map_err(|error| failed(&path, error))?;
        let about = open.metadata().map_err(|error| failed(&path, error))?;
        bytes += about.len();
        if bytes > MOST_PACKED {
            let most = MOST_PACKED >> 20;
            return Err(format!(
                "{}: more than {most} MiB; leave out what the bot does not need",
                bot.display()
            ));
        }
        let mut content = Vec::new();
        open.by_ref().take(about.len()).read_to_end(&mut content).map_err(|error| failed(&path, error))?;
        use std::os::unix::fs::PermissionsExt as _;
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(if about.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 });
        header.set_mtime(0);
        archive.append_data(&mut header, &file, &content[..]).map_err(|error| failed(&path, error))?;
    }
    archive.into_inner().map_err(|error| failed(bot, error))
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

    fn run(&mut self, form: Form, file: impl Read + Seek) -> Result<(), String> {
        match form {
            Form::Zip => self.zip(file),
            Form::Tar => self.tar(file),
            Form::TarGz => self.tar(flate2::read::GzDecoder::new(file)),
        }
    }

    fn zip(&mut self, file: impl Read + Seek) -> Result<(), String> {
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

    #[test]
    fn the_same_files_are_the_same_archive_and_come_back_as_they_were() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let bot = folder.path().join("bot");
        fs::create_dir_all(bot.join("lib")).expect("a folder");
        fs::write(bot.join("lib/help.py"), "help").expect("a file");
        fs::write(bot.join("run.sh"), "#!/bin/sh").expect("a file");
        fs::set_permissions(bot.join("run.sh"), fs::Permissions::from_mode(0o700)).expect("set");
        let packed = pack(&bot).expect("packed");
        fs::create_dir_all(bot.join("__pycache__")).expect("a folder");
        fs::write(bot.join("__pycache__/x.pyc"), "noise").expect("a file");
        fs::File::open(bot.join("run.sh"))
            .expect("there")
            .set_modified(std::time::SystemTime::UNIX_EPOCH)
            .expect("set");
        assert_eq!(pack(&bot), Ok(packed.clone()));
        let out = folder.path().join("out");
        fs::create_dir(&out).expect("a folder");
        super::unpack(&out, Form::Tar, io::Cursor::new(packed)).expect("a good archive");
        assert_eq!(fs::read(out.join("lib/help.py")).expect("there"), b"help");
        let mode = fs::metadata(out.join("run.sh")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let single = pack(&bot.join("run.sh")).expect("packed");
        fs::remove_dir_all(&out).expect("removed");
        fs::create_dir(&out).expect("a folder");
        super::unpack(&out, Form::Tar, io::Cursor::new(single)).expect("a good archive");
        assert_eq!(fs::read_dir(&out).expect("a folder").count(), 1);
    }

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
