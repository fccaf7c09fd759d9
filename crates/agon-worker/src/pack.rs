//! Submissions: a bot is packed into an archive, and an uploaded file is checked before it is kept.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use agon_bot::Launch;
use agon_contest::content;

use crate::protocol::{Stage, Unfit};
use crate::unpack::ArchiveFormat;

/// Largest accepted submission, in bytes.
pub const LARGEST: u64 = 20 << 20;
/// Longest name of a single submitted file, in bytes.
const LONGEST_NAME: usize = 100;

/// What surrounds the bytes of a submission where it is kept: nothing for an archive; for a single file, what makes it
/// an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Goes before them.
    pub before: Vec<u8>,
    /// Goes after them.
    pub after: Vec<u8>,
}

impl Frame {
    /// Whether the submission is kept as it is.
    pub fn is_none(&self) -> bool {
        self.before.is_empty()
    }
}

/// How to keep a submission of which the first bytes and the size are known. Nothing is unpacked: that is done in the
/// sandbox. `name` is the uploaded file's name.
///
/// # Errors
/// What is wrong with it, and what to do.
pub fn received(name: &str, head: &[u8], size: u64) -> Result<Frame, Unfit> {
    let unfit = |what: String, fix: &str| Unfit { stage: Stage::Unpacking, what, fix: Some(fix.to_owned()) };
    if size == 0 {
        return Err(unfit(
            "Nothing arrived: the file is empty.".to_owned(),
            "Choose the bot's file or archive again.",
        ));
    }
    if size > LARGEST {
        let (size, most) = (size >> 20, LARGEST >> 20);
        return Err(unfit(format!("It is {size} MiB; at most {most} MiB are accepted."), TOO_LARGE));
    }
    if ArchiveFormat::of(head).is_some() {
        return Ok(Frame::default());
    }
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let lower = name.to_lowercase();
    let other = OTHER_ARCHIVES.iter().any(|ending| lower.ends_with(ending));
    let damaged = [".zip", ".tar.gz", ".tgz", ".tar"].iter().any(|ending| lower.ends_with(ending));
    if damaged {
        return Err(unfit(
            format!("`{name}` is not a valid archive."),
            "Zip the bot's files again and submit that.",
        ));
    }
    if other {
        return Err(unfit(format!("`{name}` is an archive of an unsupported kind."), "Use zip or tar.gz."));
    }
    let is_good = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.starts_with('.')
        && !name.chars().any(char::is_control);
    if !is_good {
        return Err(unfit(
            "The file has no name that a bot can have.".to_owned(),
            "Name it as its language expects, for example bot.py.",
        ));
    }
    let is_program = is_program(head);
    if !is_program && !Launch::knows(name) {
        return Err(unfit(
            format!("`{name}` is neither an archive nor a program."),
            "Submit a zip or tar.gz of the bot's folder, or a single source file with its language's extension, such as bot.py.",
        ));
    }
    let mut header = header(size, is_program);
    header
        .set_path(name)
        .map_err(|error| unfit(format!("`{name}`: {error}"), "Zip the bot's files and submit that."))?;
    header.set_cksum();
    // A tar consists of blocks, and ends with two empty ones.
    let rest = size.next_multiple_of(BLOCK) - size + 2 * BLOCK;
    Ok(Frame { before: header.as_bytes().to_vec(), after: vec![0; rest as usize] })
}

/// Whether a file that begins so is a program that starts by itself.
fn is_program(head: &[u8]) -> bool {
    head.starts_with(b"#!") || head.starts_with(b"\x7fELF")
}

/// Block size of a tar, in bytes.
const BLOCK: u64 = 512;

const TOO_LARGE: &str = "Leave out .git, node_modules, target and build output; `agon submit` does so.";

/// Endings of archive formats that are not supported.
const OTHER_ARCHIVES: &[&str] =
    &[".rar", ".7z", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar.zst", ".xz", ".bz2", ".zst"];

/// The header of a file in our archives: always the same for the same file.
fn header(size: u64, runs: bool) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(if runs { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header
}

/// Packs files, given by name, into one archive.
///
/// # Errors
/// When a name does not fit into an archive.
pub fn of_files<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        archive.append_data(&mut header(bytes.len() as u64, is_program(bytes)), name, bytes)?;
    }
    archive.into_inner()
}

/// The same, compressed with gzip.
///
/// # Errors
/// When a name does not fit into an archive.
pub fn of_files_packed<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> io::Result<Vec<u8>> {
    use std::io::Write as _;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&of_files(files)?)?;
    packed.finish()
}

/// Upper limit on what [`pack`] puts into one archive, in bytes.
pub const MOST_PACKED: u64 = 100 << 20;

/// Packs a bot into one archive, with the same bytes for the same files: a tar of everything in its folder except what
/// tools leave there, or of its only file.
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
        return Err(format!("{}: it contains no files", bot.display()));
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
        let runs = about.permissions().mode() & 0o111 != 0;
        let mut header = header(content.len() as u64, runs);
        archive.append_data(&mut header, &file, &content[..]).map_err(|error| failed(&path, error))?;
    }
    archive.into_inner().map_err(|error| failed(bot, error))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::unpack::{ArchiveLimits, unpack};

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
        unpack(&out, ArchiveFormat::Tar, ArchiveLimits::OWN, io::Cursor::new(packed))
            .expect("a good archive");
        assert_eq!(fs::read(out.join("lib/help.py")).expect("there"), b"help");
        let mode = fs::metadata(out.join("run.sh")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let single = pack(&bot.join("run.sh")).expect("packed");
        fs::remove_dir_all(&out).expect("removed");
        fs::create_dir(&out).expect("a folder");
        unpack(&out, ArchiveFormat::Tar, ArchiveLimits::OWN, io::Cursor::new(single))
            .expect("a good archive");
        assert_eq!(fs::read_dir(&out).expect("a folder").count(), 1);
    }

    #[test]
    fn a_single_file_becomes_an_archive_and_an_archive_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = b"print('WAIT')\n".as_slice();
        let frame = received("C:\\bots\\bot.py", text, text.len() as u64).expect("a file");
        let kept = [&frame.before, text, &frame.after].concat();
        assert_eq!(of_files([("bot.py", text)].into_iter()).expect("packed"), kept, "the same version");
        unpack(folder.path(), ArchiveFormat::Tar, ArchiveLimits::UPLOAD, io::Cursor::new(&kept))
            .expect("a good archive");
        assert_eq!(fs::read(folder.path().join("bot.py")).expect("there"), text);
        assert!(received("whatever", &kept, kept.len() as u64).expect("an archive").is_none());
        for (name, head) in
            [("bot", b"#!/bin/sh\n".as_slice()), ("bot", b"\x7fELF"), ("Bot.java", b"class Bot {}")]
        {
            assert!(received(name, head, head.len() as u64).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_a_bot_is_refused_with_what_to_do() {
        let large = vec![7; LARGEST as usize + 1];
        let cases: [(&str, Vec<u8>, &str, &str); 9] = [
            ("bot.zip", Vec::new(), "empty", "again"),
            ("bot.zip", large, "at most 20 MiB", ".git"),
            ("bot.zip", b"no zip at all".to_vec(), "is not a valid archive", "Zip the bot's files"),
            ("bot.7z", b"7z\xbc\xaf\x27\x1c".to_vec(), "of an unsupported kind", "zip or tar.gz"),
            ("bot.rar", b"Rar!".to_vec(), "of an unsupported kind", "zip or tar.gz"),
            ("", b"x".to_vec(), "no name", "bot.py"),
            (".bashrc", b"x".to_vec(), "no name", "bot.py"),
            ("README.md", b"# A bot\n".to_vec(), "neither an archive nor a program", "bot.py"),
            ("bot", b"no program".to_vec(), "neither an archive nor a program", "zip or tar.gz"),
        ];
        for (name, bytes, what, fix) in cases {
            let unfit = received(name, &bytes, bytes.len() as u64).expect_err(name);
            assert!(unfit.what.contains(what), "{name}: {unfit:?}");
            assert!(unfit.fix.as_deref().is_some_and(|told| told.contains(fix)), "{name}: {unfit:?}");
        }
    }
}
