//! Folders that a program may change while nothing in them changes: below lies the folder itself, read-only, above it,
//! in memory, whatever the program writes. What that costs does not depend on what lies in the folder.
//!
//! Overlays of file systems look at the owner of a file. A program of a user of its own is shown the files of the
//! folder's owner as its own, by a mount that maps the one to the other; files of others it sees as anybody does.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};
use rustix::process::Signal;

use crate::confinement::{Confinement, ShownPath};
use crate::message::{Step as _, StepRefusal};
use crate::root::{INSIDE, PLAIN, below, set_attributes};
use crate::sys::{self, Forked};

/// What fails where a folder cannot have a layer above it.
pub const LAYER: &str = "a layer above a folder";

/// Files and folders that the overlay itself needs in memory.
const OWN_FILES: u32 = 16;

/// How many namespaces are kept: each is an open descriptor.
const MOST_KEPT: usize = 256;

/// Namespaces that map one user to another: a mount in one of them shows files of the first as those of the second.
#[derive(Default)]
pub struct Owners(BTreeMap<[u32; 3], OwnedFd>);

impl Owners {
    /// The namespace that shows files of this user and group as those of `user`.
    fn mapped(&mut self, owner: u32, group: u32, user: u32) -> io::Result<&OwnedFd> {
        let key = [owner, group, user];
        if self.0.len() >= MOST_KEPT && !self.0.contains_key(&key) {
            self.0.clear();
        }
        Ok(match self.0.entry(key) {
            Entry::Occupied(kept) => kept.into_mut(),
            Entry::Vacant(new) => new.insert(make(owner, group, user)?),
        })
    }
}

/// A namespace lives as long as somebody holds it; the process it is made with ends at once.
fn make(owner: u32, group: u32, user: u32) -> io::Result<OwnedFd> {
    match sys::fork_into(libc::CLONE_NEWUSER as u64, None)? {
        Forked::Child => {
            let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            loop {
                std::thread::park();
            }
        }
        Forked::Parent(pid, handle) => {
            let of = |name: &str| PathBuf::from(format!("/proc/{}/{name}", pid.as_raw_nonzero()));
            let held = fs::write(of("gid_map"), format!("{group} {user} 1\n"))
                .and_then(|()| fs::write(of("uid_map"), format!("{owner} {user} 1\n")))
                .and_then(|()| {
                    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                    Ok(rustix::fs::open(of("ns/user"), flags, Mode::empty())?)
                });
            if let Some(handle) = handle {
                let _ = rustix::process::pidfd_send_signal(handle, Signal::KILL);
            }
            held
        }
    }
}

/// A folder that will lie below what a program writes, taken hold of before the root changes.
pub struct Layer {
    inside: PathBuf,
    lower: OwnedFd,
}

impl Layer {
    /// Takes hold of a folder. `owners` are those of a spawner whose programs run as `user`; without them its files are
    /// those of the program's user already.
    ///
    /// # Errors
    /// The kernel's: this folder's file system knows no mapped owners.
    pub fn hold(place: &ShownPath, owners: Option<(&mut Owners, u32)>) -> Result<Self, StepRefusal> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let lower = open_tree(CWD, &place.outside, flags).step(LAYER)?;
        let found = fs::metadata(&place.outside).step(LAYER)?;
        let mapped = match owners {
            None => None,
            Some((owners, user)) => Some(owners.mapped(found.uid(), found.gid(), user).step(LAYER)?),
        };
        set_attributes(&lower, PLAIN, mapped.map(|mapped| mapped.as_fd())).step(LAYER)?;
        Ok(Self { inside: place.inside.clone(), lower })
    }

    /// Shows it below `root`; returns the folder that will hold what the program writes.
    ///
    /// # Errors
    /// The kernel's: it knows no overlays in a namespace of users.
    pub fn show(&self, root: &Path, confinement: &Confinement) -> Result<OwnedFd, StepRefusal> {
        let point = below(root, &self.inside);
        fs::create_dir_all(&point).step(LAYER)?;
        let files = confinement.files.saturating_add(OWN_FILES);
        let size = format!("size={},nr_inodes={files},mode=700", confinement.disk);
        let size = std::ffi::CString::new(size).step(LAYER)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("agon", &point, "tmpfs", flags, size.as_c_str()).step(LAYER)?;
        for name in ["lower", "upper", "work"] {
            fs::create_dir(point.join(name)).step(LAYER)?;
        }
        if rustix::process::getuid().is_root() {
            chown(point.join("upper"), Some(INSIDE), Some(INSIDE)).step(LAYER)?;
        }
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        move_mount(&self.lower, "", CWD, point.join("lower"), flags).step(LAYER)?;
        let upper = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let upper = rustix::fs::open(point.join("upper"), upper, Mode::empty()).step(LAYER)?;
        // By names that need no escaping. The overlay covers all three, so that nobody reaches them by a path.
        rustix::process::chdir(&point).step(LAYER)?;
        let parts = c"lowerdir=lower,upperdir=upper,workdir=work,userxattr";
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("agon", &point, "overlay", flags, parts).step(LAYER)?;
        Ok(upper)
    }
}
