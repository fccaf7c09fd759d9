//! Who can read the files that this program makes: only its user, unless they are meant for others.
//!
//! Most of what we write is private: a contest's database, tokens, journals, replays with what bots said to their
//! authors. No place that writes has to remember this: from its first line on the program lets nobody else in
//! ([`keep_private`]), whatever the umask it was started with. The few places that write for others say so, with
//! [`create_public`] and its neighbours, and programs that we start get the user's umask back ([`restore`]).
//!
//! Inside the sandbox files have rights of their own, the same everywhere (`agon-sandbox`).

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags};

/// What others may not have: everything.
const OTHERS: u32 = 0o077;

/// The umask that this program was started with.
static USERS: OnceLock<Mode> = OnceLock::new();

/// From now on nobody but our user can read or change what this program makes. To be called first in `main`, before
/// there are threads.
pub fn keep_private() {
    let before = rustix::process::umask(Mode::from_raw_mode(OTHERS));
    let _ = USERS.set(before);
}

/// The umask that our user's own programs have; none when ours is unchanged.
pub(crate) fn users() -> Option<libc::mode_t> {
    USERS.get().map(|mask| mask.as_raw_mode())
}

/// Starts the command with the umask of our user, for programs that make our user's files: compilers, browsers.
pub fn restore(command: &mut Command) {
    if let Some(mask) = users() {
        crate::sys::start_with_umask(command, mask);
    }
}

/// Creates a file that is meant for others, as [`File::create`] does in an ordinary program.
///
/// # Errors
/// Those of the system.
pub fn create_public(path: &Path) -> io::Result<File> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => share(&file, 0o666).map(|()| file),
        // Whoever made it has decided who may read it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => File::create(path),
        Err(error) => Err(error),
    }
}

/// Writes a file that is meant for others.
///
/// # Errors
/// Those of the system.
pub fn write_public(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    create_public(path)?.write_all(bytes.as_ref())
}

/// Creates a folder that is meant for others, and all above it that are missing.
///
/// # Errors
/// Those of the system.
pub fn create_public_folder(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), create_public_folder)?;
    match fs::create_dir(path) {
        Ok(()) => {
            // The folder that we have made, not one that a link leads to that somebody has put in its place.
            let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
            share(&OpenOptions::new().read(true).custom_flags(flags).open(path)?, 0o777)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives a file or folder that we have just made the rights that an ordinary program would have made it with: `most`
/// without what the user's umask takes away.
///
/// # Errors
/// Those of the system.
pub fn share(made: &File, most: u32) -> io::Result<()> {
    let Some(mask) = users() else { return Ok(()) };
    // A folder may have inherited its group's bit.
    let inherited = made.metadata()?.permissions().mode() & 0o7000;
    made.set_permissions(Permissions::from_mode(inherited | most & !mask))
}

/// Creates a folder whose content bots must be able to read that run as users of their own, whatever the umask. The folders
/// above it are private: bots reach it through their sandbox, and others do not.
///
/// # Errors
/// Those of the system.
pub fn create_shown_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Lets others pass through a folder of ours to what they know the name of. They still cannot list it.
///
/// # Errors
/// Those of the system.
pub fn let_through(folder: &Path) -> io::Result<()> {
    let mode = fs::metadata(folder)?.permissions().mode();
    match mode & 0o001 {
        0 => fs::set_permissions(folder, Permissions::from_mode(mode | 0o001)),
        _ => Ok(()),
    }
}

/// Creates a private file. One that is there already is emptied, and nobody else can read it any more.
///
/// # Errors
/// Those of the system.
pub fn create_private(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    // Devices and pipes have no content of their own.
    if file.metadata()?.is_file() {
        narrow(&file)?;
        file.set_len(0)?;
    }
    Ok(file)
}

/// Writes a private file, as [`create_private`] creates it.
///
/// # Errors
/// Those of the system.
pub fn write_private(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    create_private(path)?.write_all(bytes.as_ref())
}

/// Takes a file from everybody but its owner, before something private is written to it.
///
/// # Errors
/// Those of the system, except for a file system without rights, such as that of a memory stick.
pub fn narrow(file: &File) -> io::Result<()> {
    let about = file.metadata()?;
    let mode = about.permissions().mode();
    if !about.is_file() || mode & OTHERS == 0 {
        return Ok(());
    }
    match file.set_permissions(Permissions::from_mode(mode & 0o700)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Takes a file or folder from everybody but its owner; true if others could read or change it. A folder that others can
/// only [pass through](let_through) stays as it is. Nothing happens to links.
///
/// # Errors
/// Those of the system.
pub fn take_back(path: &Path) -> io::Result<bool> {
    let about = fs::symlink_metadata(path)?;
    let mode = about.permissions().mode();
    if about.is_symlink() || mode & 0o066 == 0 {
        return Ok(false);
    }
    fs::set_permissions(path, Permissions::from_mode(mode & 0o700))?;
    Ok(true)
}

/// Takes a folder of ours from everybody but its owner, as [`take_back`] does, which also closes it to what is in it.
/// Folders that belong to the whole system, such as `/tmp`, and our user's home stay as they are.
///
/// # Errors
/// Those of the system.
pub fn close(folder: &Path) -> io::Result<bool> {
    let real = folder.canonicalize()?;
    let is_everybodys = fs::metadata(&real)?.permissions().mode() & 0o1000 != 0 || real.parent().is_none();
    let is_home = std::env::var_os("HOME")
        .is_some_and(|home| Path::new(&home).canonicalize().is_ok_and(|home| home == real));
    if is_everybodys || is_home {
        return Ok(false);
    }
    take_back(&real)
}
