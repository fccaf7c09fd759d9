//! What a launcher owns on this machine: a number, held by a lock.
//!
//! The lock is one on a file in a folder that only this user can enter, and is held by descriptor. The kernel lets it go
//! when the last process that holds the descriptor has ended, however it ended. No other user can hold it, nobody can
//! break it, and it holds across namespaces of processes, where a process number means somebody else. The users of a
//! launcher's slots and the names of its cgroups follow from its number: whatever carries a number that nobody holds was
//! left behind.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::message::{Step as _, StepRefusal};

/// The step of making a sandbox that fails without a claim.
pub const CLAIM: &str = "a claim";
/// How many launchers a user can have on a machine at a time.
pub const MOST: u32 = 1024;
/// The length of a folder's name for itself, in hexadecimal digits.
const DIGITS: usize = 16;

/// The claims of this user on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    folder: PathBuf,
    /// What the folder calls itself: containers may share cgroups, but not this folder.
    name: String,
}

/// A number of one's own.
#[derive(Debug)]
pub struct Claim {
    /// The number, below [`MOST`].
    pub number: u32,
    /// What the names of its cgroups begin with.
    pub prefix: String,
    lock: File,
}

impl Claims {
    /// Opens, or makes, the folder of this user's claims.
    ///
    /// # Errors
    /// Every folder that was tried, and why it will not do.
    pub fn open() -> Result<Self, String> {
        let mut whys = Vec::new();
        for folder in candidates() {
            match Self::of(&folder) {
                Ok(claims) => return Ok(claims),
                Err(error) => whys.push(format!("{}: {error}", folder.display())),
            }
        }
        Err(whys.join("; "))
    }

    fn of(folder: &Path) -> io::Result<Self> {
        make_private(folder)?;
        // Of several programs that start at once in a new folder, one names it.
        let held = File::open(folder)?;
        flock(&held, FlockOperation::LockExclusive)?;
        let mut file = open(&folder.join("name"))?;
        let mut name = String::new();
        (&file).take(DIGITS as u64 + 1).read_to_string(&mut name)?;
        if !is_name(&name) {
            let mut number = [0; DIGITS / 2];
            getrandom(&mut number, GetRandomFlags::empty())?;
            name = format!("{:0DIGITS$x}", u64::from_ne_bytes(number));
            file.set_len(0)?;
            io::Seek::rewind(&mut file)?;
            file.write_all(name.as_bytes())?;
        }
        Ok(Self { folder: folder.to_owned(), name })
    }

    /// Claims the first free number.
    ///
    /// # Errors
    /// The system's, or all are taken.
    pub fn take(&self) -> Result<Claim, StepRefusal> {
        for number in 0..MOST {
            if let Some(claim) = self.try_take(number).step(CLAIM)? {
                return Ok(claim);
            }
        }
        let why = format!("{MOST} programs of this user have sandboxes already");
        Err(StepRefusal { step: CLAIM.into(), why, errno: 0 })
    }

    fn try_take(&self, number: u32) -> io::Result<Option<Claim>> {
        let lock = open(&self.folder.join(number.to_string()))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Claim { number, prefix: format!("agon-{}-{number}-", self.name), lock })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// If a cgroup of this name was made by a program of this user that is gone: the claim of its maker. While it is
    /// held, nobody else cleans up or begins anew under that number.
    pub fn of_left(&self, group: &str) -> Option<Claim> {
        let rest = group.strip_prefix("agon-")?.strip_prefix(&self.name)?.strip_prefix('-')?;
        let number: u32 = rest.split_once('-')?.0.parse().ok()?;
        let claim = if number < MOST { self.try_take(number).ok()? } else { None };
        claim.filter(|claim| group.starts_with(&claim.prefix))
    }
}

impl Claim {
    /// A descriptor that holds the lock as well, for a process that cleans up after this one.
    ///
    /// # Errors
    /// The system's.
    pub fn share(&self) -> io::Result<File> {
        self.lock.try_clone()
    }
}

/// Where the folder may be, the best place first. Root's is for root alone; the last could be taken by somebody else, who
/// gains nothing by it.
fn candidates() -> Vec<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = rustix::process::geteuid();
    let system = user.is_root().then(|| PathBuf::from("/run/agon"));
    let session = set("XDG_RUNTIME_DIR").map(|folder| folder.join("agon"));
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let cache = cache.map(|folder| folder.join("agon/claims"));
    let last = std::env::temp_dir().join(format!("agon-{}", user.as_raw()));
    [system, session, cache, Some(last)].into_iter().flatten().collect()
}

/// Makes sure that a folder is there, belongs to this user, and can be entered by nobody else.
fn make_private(folder: &Path) -> io::Result<()> {
    if let Some(above) = folder.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(above)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it is not a folder of this user"));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn is_name(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|sign| sign.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(folder: &Path) -> Claims {
        Claims::of(folder).expect("a folder of claims")
    }

    #[test]
    fn a_number_belongs_to_whoever_holds_its_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("claims");
        let (one, other) = (claims(&place), claims(&place));
        assert_eq!(one, other, "it keeps its name");
        let first = one.take().expect("a claim");
        let second = other.take().expect("a claim");
        assert_eq!((first.number, second.number), (0, 1));
        let group = format!("{}7", first.prefix);
        assert!(other.of_left(&group).is_none(), "its maker lives");
        let heir = first.share().expect("a descriptor");
        drop(first);
        assert!(other.of_left(&group).is_none(), "somebody still cleans up");
        drop(heir);
        let left = other.of_left(&group).expect("its maker is gone");
        assert_eq!(other.take().expect("a claim").number, 2, "while it is cleaned up, its number is taken");
        drop(left);
        assert_eq!(other.take().expect("a claim").number, 0);
    }

    #[test]
    fn what_carries_another_folders_name_is_nobodys_business() {
        let folder = tempfile::tempdir().expect("a folder");
        let here = claims(&folder.path().join("here"));
        let there = claims(&folder.path().join("there"));
        let claim = there.take().expect("a claim");
        let group = format!("{}0", claim.prefix);
        drop(claim);
        assert!(there.of_left(&group).is_some() && here.of_left(&group).is_none());
        for other in ["agon-home", "agon-1-2-3-4", "user.slice", &format!("agon-{}-x-1", here.name)] {
            assert!(here.of_left(other).is_none(), "{other}");
        }
        let beyond = format!("agon-{}-{MOST}-1", here.name);
        assert!(
            here.of_left(&beyond).is_none() && here.of_left(&format!("agon-{}-007-1", here.name)).is_none()
        );
    }

    #[test]
    fn a_folder_is_made_private_and_one_of_somebody_else_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("claims");
        fs::create_dir(&place).expect("a folder");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).expect("open to all");
        let _ = claims(&place).take().expect("a claim");
        assert_eq!(fs::metadata(&place).expect("there").mode() & 0o777, 0o700);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&place, &link).expect("a link");
        assert!(Claims::of(&link).is_err(), "a link may lead anywhere");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&place, Some(65_534), None).expect("given away");
            assert!(Claims::of(&place).is_err());
        } else {
            println!("skipped: only root can give a folder away");
        }
    }
}
