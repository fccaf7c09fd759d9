//! Files that appear whole or not at all, even if this program is killed.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

/// Creates a file that nobody sees before `fill` has filled it. It is open for appending.
///
/// # Errors
/// `AlreadyExists` when something is already there; otherwise those of the system and of `fill`.
pub fn create(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::TMPFILE | OFlags::CLOEXEC;
    match open(folder, flags, Mode::from_raw_mode(0o666)) {
        Ok(nameless) => {
            let mut file = File::from(nameless);
            fill(&mut file)?;
            // Unlike a rename, a link does not replace what somebody else has just created.
            let own = format!("/proc/self/fd/{}", file.as_raw_fd());
            linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?;
            Ok(file)
        }
        // Some file systems have no unnamed files.
        Err(error)
            if [ErrorKind::NotFound, ErrorKind::PermissionDenied]
                .contains(&io::Error::from(error).kind()) =>
        {
            Err(error.into())
        }
        Err(_) => create_beside(path, fill),
    }
}

/// Does the same through a file with a temporary name, which a killed program leaves behind.
fn create_beside(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<File> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.new", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let mut file = OpenOptions::new().append(true).create(true).open(&temporary)?;
    let made = fill(&mut file).and_then(|()| std::fs::hard_link(&temporary, path));
    let _ = std::fs::remove_file(&temporary);
    made.map(|()| file)
}

/// Writes a file, replacing any that is there.
///
/// # Errors
/// Those of the system.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fill = |file: &mut File| io::Write::write_all(file, bytes);
    match create(path, fill) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            std::fs::remove_file(path)?;
            create(path, fill).map(drop)
        }
        made => made.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_and_replaces_nothing_unasked() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let seen = |path: &Path| std::fs::read_to_string(path).expect("a file");
        let make = |how: fn(&Path, &[u8]) -> io::Result<()>, text: &str| how(&path, text.as_bytes());
        for beside in [false, true] {
            let how: fn(&Path, &[u8]) -> io::Result<()> = match beside {
                false => |path, text| create(path, |file| io::Write::write_all(file, text)).map(drop),
                true => |path, text| create_beside(path, |file| io::Write::write_all(file, text)).map(drop),
            };
            make(how, "one").expect("made");
            assert_eq!(make(how, "two").unwrap_err().kind(), ErrorKind::AlreadyExists);
            assert_eq!(seen(&path), "one");
            write(&path, b"three").expect("written");
            assert_eq!(seen(&path), "three");
            let failed = create(&folder.path().join("b"), |_| Err(io::Error::other("full")));
            assert_eq!(failed.unwrap_err().to_string(), "full");
            assert_eq!(
                std::fs::read_dir(folder.path()).expect("a folder").count(),
                1,
                "and nothing else is left"
            );
            std::fs::remove_file(&path).expect("removed");
        }
        assert_eq!(
            make(|path, text| write(&path.join("no/such"), text), "x").unwrap_err().kind(),
            ErrorKind::NotFound
        );
    }
}
