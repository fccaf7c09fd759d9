//! Folders shown as a copy in memory: read with the reader's rights, writable by the program.
//!
//! The same walk copies files out of a sandbox. Links are never followed, anything other than a file, folder or
//! link is ignored, and count, depth and bytes are bounded: the files may be a stranger's, and may change
//! meanwhile.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Timespec, Timestamps};
use rustix::mount::{MountFlags, mount};

use crate::confinement::{Confinement, ShownPath};
use crate::message::{Step as _, StepRefusal};
use crate::root::{INSIDE, below};

/// Deepest folder that is walked.
const DEEPEST: usize = 32;

/// The kind of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Folder,
    /// A file and its bytes.
    File(Vec<u8>),
    /// A link and its target.
    Link(PathBuf),
}

/// An entry found by a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its path within the folder.
    pub path: PathBuf,
    pub what: What,
    /// Whether it is executable.
    pub runs: bool,
    /// Modification time: seconds and nanoseconds.
    pub changed: (i64, u32),
    /// Size of a file in bytes.
    pub size: u64,
}

/// Upper limits of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Files, folders and links.
    pub entries: usize,
}

/// Reads a folder. With `contents`, files include their bytes, otherwise they are empty. What cannot be read is
/// left out.
///
/// # Errors
/// The folder itself cannot be read, or it exceeds the bounds (`FileTooLarge`).
pub fn walk(folder: impl AsFd, bounds: Bounds, contents: bool) -> io::Result<Vec<FileEntry>> {
    let mut walk = Walk { bounds, contents, found: Vec::new() };
    let top = open(folder, c".", OFlags::RDONLY | OFlags::DIRECTORY)?;
    walk.folder(&top, Path::new(""), 0)?;
    Ok(walk.found)
}

/// Opens an entry of a folder, following no link.
fn open(folder: impl AsFd, name: &std::ffi::CStr, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(folder, name, flags, Mode::empty(), within)?)
}

/// The opened file; none if it may not be read, is gone, or has become a link.
fn unless_hidden(opened: io::Result<OwnedFd>) -> io::Result<Option<OwnedFd>> {
    const HIDDEN: [i32; 6] =
        [libc::EACCES, libc::EPERM, libc::ENOENT, libc::ELOOP, libc::ENOTDIR, libc::ENXIO];
    match opened {
        Err(error) if error.raw_os_error().is_some_and(|errno| HIDDEN.contains(&errno)) => Ok(None),
        opened => opened.map(Some),
    }
}

struct Walk {
    bounds: Bounds,
    contents: bool,
    found: Vec<FileEntry>,
}

impl Walk {
    fn folder(&mut self, folder: &OwnedFd, path: &Path, depth: usize) -> io::Result<()> {
        let mut names: Vec<CString> = Vec::new();
        for entry in Dir::read_from(folder)? {
            let name = entry?.file_name().to_owned();
            if name.as_bytes() != b"." && name.as_bytes() != b".." {
                names.push(name);
            }
            if names.len() + self.found.len() > self.bounds.entries {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
        names.sort();
        for name in names {
            let path = path.join(OsStr::from_bytes(name.as_bytes()));
            let Ok(found) = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let mut entry = FileEntry {
                path,
                what: What::Folder,
                runs: found.st_mode & 0o111 != 0,
                changed: (found.st_mtime, found.st_mtime_nsec as u32),
                size: 0,
            };
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Directory => {
                    let inner = open(folder, &name, OFlags::RDONLY | OFlags::DIRECTORY);
                    let Some(inner) = unless_hidden(inner)? else { continue };
                    if depth >= DEEPEST {
                        return Err(io::ErrorKind::FileTooLarge.into());
                    }
                    let path = entry.path.clone();
                    self.found.push(entry);
                    self.folder(&inner, &path, depth + 1)?;
                    continue;
                }
                FileType::Symlink => {
                    let Ok(target) = rustix::fs::readlinkat(folder, &name, Vec::new()) else { continue };
                    entry.what = What::Link(OsString::from_vec(target.into_bytes()).into());
                }
                FileType::RegularFile => {
                    let Some(file) = unless_hidden(open(folder, &name, OFlags::RDONLY))? else { continue };
                    // The opened file itself, which may differ from what was there a moment ago.
                    let found = rustix::fs::fstat(&file)?;
                    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
                        continue;
                    }
                    entry.size = found.st_size as u64;
                    let mut bytes = Vec::new();
                    if self.contents && entry.size <= self.bounds.bytes {
                        File::from(file).take(self.bounds.bytes + 1).read_to_end(&mut bytes)?;
                        entry.size = bytes.len() as u64;
                    }
                    entry.what = What::File(bytes);
                }
                _ => continue,
            }
            let room = self.bounds.bytes.checked_sub(entry.size).ok_or(io::ErrorKind::FileTooLarge)?;
            self.bounds.bytes = room;
            self.found.push(entry);
        }
        Ok(())
    }
}

/// Copies the files and folders that are new, or differ from `before`, out of a folder. Returns the links that were
/// left behind. Nobody else writes to `into` meanwhile; links in it are not followed either.
///
/// # Errors
/// The folder exceeds the bounds (`FileTooLarge`), or a file cannot be written; the message names it.
pub fn bring_out(
    from: impl AsFd,
    into: &Path,
    before: &[FileEntry],
    bounds: Bounds,
) -> io::Result<Vec<PathBuf>> {
    let from = open(from, c".", OFlags::RDONLY | OFlags::DIRECTORY)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let into = rustix::fs::open(into, flags, Mode::empty())?;
    let known: BTreeMap<&Path, &FileEntry> = before.iter().map(|entry| (&*entry.path, entry)).collect();
    let (mut left, mut room) = (Vec::new(), bounds.bytes);
    for entry in walk(&from, bounds, false)? {
        let before = known.get(&*entry.path);
        // A folder's date says nothing about its content.
        let is_same =
            before.is_some_and(|old| **old == entry || entry.what == What::Folder && old.what == entry.what);
        let done = match &entry.what {
            _ if is_same => continue,
            What::Link(_) => {
                left.push(entry.path);
                continue;
            }
            What::Folder => make_folder(&into, &entry.path),
            What::File(_) => copy_file(&from, &into, &entry, &mut room),
        };
        done.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", entry.path.display())))?;
    }
    Ok(left)
}

/// The folder containing an entry, and the entry's name in it.
fn parent(into: &OwnedFd, path: &Path) -> io::Result<(OwnedFd, CString)> {
    let name = |path: &OsStr| CString::new(path.as_bytes()).map_err(io::Error::from);
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = open(into, &name(above.as_os_str())?, OFlags::RDONLY | OFlags::DIRECTORY)?;
    Ok((folder, name(path.file_name().unwrap_or_default())?))
}

fn make_folder(into: &OwnedFd, path: &Path) -> io::Result<()> {
    let (folder, name) = parent(into, path)?;
    let mode = Mode::from_raw_mode(0o755);
    match rustix::fs::mkdirat(&folder, &name, mode) {
        Err(rustix::io::Errno::EXIST) => {
            // It must be a folder, not a link to one.
            open(&folder, &name, OFlags::RDONLY | OFlags::DIRECTORY).map(drop)
        }
        // Regardless of the umask: bots running as other users must be able to read them.
        done => Ok(done.and_then(|()| rustix::fs::chmodat(&folder, &name, mode, AtFlags::empty()))?),
    }
}

/// Copies a file such that nobody sees half of it.
fn copy_file(from: &OwnedFd, into: &OwnedFd, entry: &FileEntry, room: &mut u64) -> io::Result<()> {
    let path = CString::new(entry.path.as_os_str().as_bytes())?;
    let source = open(from, &path, OFlags::RDONLY)?;
    if FileType::from_raw_mode(rustix::fs::fstat(&source)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is no longer a file"));
    }
    let (folder, name) = parent(into, &entry.path)?;
    let draft = CString::new(format!(".agon-new-{}", std::process::id()))?;
    let _ = rustix::fs::unlinkat(&folder, &draft, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut target = File::from(rustix::fs::openat(&folder, &draft, flags, Mode::RUSR | Mode::WUSR)?);
    let done = io::copy(&mut File::from(source).take(*room + 1), &mut target).and_then(|written| {
        *room = room.checked_sub(written).ok_or(io::ErrorKind::FileTooLarge)?;
        let mode = if entry.runs { 0o755 } else { 0o644 };
        rustix::fs::fchmod(&target, Mode::from_raw_mode(mode))?;
        let _ = rustix::fs::futimens(&target, &entry.times());
        Ok(rustix::fs::renameat(&folder, &draft, &folder, &name)?)
    });
    if done.is_err() {
        let _ = rustix::fs::unlinkat(&folder, &draft, AtFlags::empty());
    }
    done
}

/// A folder that was read, to be written into a sandbox.
pub struct Copied {
    inside: PathBuf,
    entries: Vec<FileEntry>,
    size: u64,
    files: u64,
}

impl Copied {
    /// Reads a folder with the caller's rights, and takes its size off `room`, which is in bytes.
    ///
    /// # Errors
    /// It cannot be read, or is larger than the room or than what the program may write.
    pub fn read(place: &ShownPath, confinement: &Confinement, room: &mut u64) -> io::Result<Self> {
        let bounds = Bounds { bytes: confinement.disk.min(*room), entries: confinement.files as usize };
        let say =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", place.outside.display()));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder =
            rustix::fs::open(&place.outside, flags, Mode::empty()).map_err(|error| say(error.into()))?;
        let entries = walk(&folder, bounds, true).map_err(say)?;
        *room = room.saturating_sub(entries.iter().map(|entry| entry.size).sum());
        // Room for the original, plus what the program may write.
        let used: u64 = entries.iter().map(|entry| entry.size.div_ceil(4096) * 4096 + 4096).sum();
        let files = entries.len() as u64 + u64::from(confinement.files);
        Ok(Self { inside: place.inside.clone(), entries, size: used + confinement.disk, files })
    }

    /// Writes it below `root`, owned by the program.
    pub fn write(self, root: &Path) -> Result<(), StepRefusal> {
        let name = format!("a copy of {}", self.inside.display());
        let point = below(root, &self.inside);
        std::fs::create_dir_all(&point).step(&name)?;
        let owner = rustix::process::getuid().is_root().then_some(INSIDE);
        let owned = owner.map_or_else(String::new, |owner| format!(",uid={owner},gid={owner}"));
        let size = format!("size={},nr_inodes={},mode=755{owned}", self.size, self.files);
        let size = CString::new(size).step(&name)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("agon", &point, "tmpfs", flags, size.as_c_str()).step(&name)?;
        for entry in &self.entries {
            entry.write(&point, owner).step(&format!("{name}: {}", entry.path.display()))?;
        }
        // Last, because putting entries into a folder changes its date.
        for entry in self.entries.iter().filter(|entry| entry.what == What::Folder) {
            entry.date(&point);
        }
        Ok(())
    }
}

impl FileEntry {
    /// Writes it, with its original date, into a folder nobody else writes to.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&self, folder: &Path, owner: Option<u32>) -> io::Result<()> {
        let place = folder.join(&self.path);
        match &self.what {
            What::Folder => std::fs::create_dir(&place)?,
            What::Link(target) => std::os::unix::fs::symlink(target, &place)?,
            What::File(bytes) => {
                use std::os::unix::fs::OpenOptionsExt as _;
                let mode = if self.runs { 0o755 } else { 0o644 };
                let mut options = File::options();
                options.write(true).create_new(true).mode(mode).open(&place)?.write_all(bytes)?;
            }
        }
        std::os::unix::fs::lchown(&place, owner, owner)?;
        if self.what != What::Folder {
            self.date(folder);
        }
        Ok(())
    }

    fn times(&self) -> Timestamps {
        let time = Timespec { tv_sec: self.changed.0, tv_nsec: self.changed.1.into() };
        Timestamps { last_access: time, last_modification: time }
    }

    fn date(&self, folder: &Path) {
        let _ = rustix::fs::utimensat(
            rustix::fs::CWD,
            folder.join(&self.path),
            &self.times(),
            AtFlags::SYMLINK_NOFOLLOW,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_follows_no_link_and_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let secret = tempfile::tempdir().expect("a folder");
        std::fs::write(secret.path().join("secret"), "x").expect("a file");
        std::fs::create_dir(folder.path().join("inner")).expect("a folder");
        std::fs::write(folder.path().join("inner/file"), "hello").expect("a file");
        std::os::unix::fs::symlink(secret.path(), folder.path().join("link")).expect("a link");
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), Mode::RUSR).expect("a pipe");
        let open = || File::open(folder.path()).expect("a folder");
        let bounds = Bounds { bytes: 5, entries: 4 };
        let found = walk(open(), bounds, true).expect("it is read");
        let names: Vec<_> = found.iter().map(|entry| entry.path.to_str().expect("a name")).collect();
        assert_eq!(names, ["inner", "inner/file", "link"]);
        assert_eq!(found[1].what, What::File(b"hello".to_vec()));
        assert_eq!(found[2].what, What::Link(secret.path().to_owned()));
        for small in [Bounds { bytes: 4, ..bounds }, Bounds { entries: 2, ..bounds }] {
            let error = walk(open(), small, true).expect_err("too much");
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{small:?}");
        }
        let other = tempfile::tempdir().expect("a folder");
        for entry in &found {
            entry.write(other.path(), None).expect("it is written");
        }
        let again = walk(File::open(other.path()).expect("a folder"), bounds, true).expect("it is read");
        assert_eq!(again[1], found[1], "with its date");
    }

    #[test]
    fn what_is_brought_out_goes_nowhere_else() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let [from, into, outside] = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
        let write = |path: &Path, text: &str| std::fs::write(path, text).expect("a file");
        write(&from.path().join("old"), "old");
        write(&into.path().join("kept"), "kept");
        let open = || File::open(from.path()).expect("a folder");
        let bounds = Bounds { bytes: 100, entries: 20 };
        let before = walk(open(), bounds, false).expect("it is read");
        std::fs::create_dir(from.path().join("sub")).expect("a folder");
        write(&from.path().join("sub/program"), "run me");
        let runs = std::fs::Permissions::from_mode(0o6700);
        std::fs::set_permissions(from.path().join("sub/program"), runs).expect("set");
        symlink("/etc/passwd", from.path().join("link")).expect("a link");
        let left = bring_out(open(), into.path(), &before, bounds).expect("it is brought out");
        assert_eq!(left, [PathBuf::from("link")]);
        assert!(!into.path().join("old").exists(), "it did not change");
        let program = into.path().join("sub/program");
        assert_eq!(std::fs::read_to_string(&program).expect("there"), "run me");
        let mode = std::fs::metadata(&program).expect("there").permissions().mode();
        assert_eq!(mode & 0o7777, 0o755, "no bits but those of any program");
        assert_eq!(std::fs::read_dir(into.path()).expect("a folder").count(), 2, "no draft is left");
        // A link in place of a folder or file is not followed.
        std::fs::remove_dir_all(into.path().join("sub")).expect("removed");
        symlink(outside.path(), into.path().join("sub")).expect("a link");
        let refused = bring_out(open(), into.path(), &before, bounds).expect_err("a link");
        assert!(refused.to_string().starts_with("sub: "), "{refused}");
        std::fs::remove_file(into.path().join("sub")).expect("removed");
        std::fs::create_dir(into.path().join("sub")).expect("a folder");
        write(&outside.path().join("mine"), "mine");
        symlink(outside.path().join("mine"), &program).expect("a link");
        bring_out(open(), into.path(), &before, bounds).expect("the link is replaced");
        assert!(program.symlink_metadata().expect("there").is_file());
        assert_eq!(std::fs::read_to_string(outside.path().join("mine")).expect("there"), "mine");
        assert!(bring_out(open(), into.path(), &before, Bounds { bytes: 5, ..bounds }).is_err());
    }

    #[test]
    fn a_folder_that_is_too_deep_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("d/".repeat(DEEPEST + 2))).expect("folders");
        let bounds = Bounds { bytes: 0, entries: 1000 };
        assert!(walk(File::open(folder.path()).expect("a folder"), bounds, true).is_err());
    }
}
