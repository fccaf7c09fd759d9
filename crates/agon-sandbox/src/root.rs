//! The files a program sees: a root of its own in memory, with the system's programs and libraries read-only.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change,
    mount_remount, move_mount, open_tree, unmount,
};

use crate::confinement::{Confinement, Place};
use crate::copy::Copied;
use crate::message::{Refusal, Step as _};
use crate::sys::{self, Arg};

/// User and group of the program, as it sees them.
pub const INSIDE: u32 = 1000;

/// What every program sees of the system: folders, or links where the system has merged them into `/usr`.
pub const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Parts of `/etc` that libraries look into. Not all of Maven's: its settings may hold passwords.
pub const SETTINGS: [&str; 12] = [
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/java-11-openjdk",
    "/etc/mono",
    "/etc/dotnet",
    "/etc/php",
    "/etc/perl",
    "/etc/localtime",
    "/etc/maven/m2.conf",
    "/etc/maven/logging",
];
/// The devices that are given.
pub const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

// Attributes of mounts, for `mount_setattr`.
const READ_ONLY: u64 = 1;
const NO_SET_UID: u64 = 2;
const NO_DEVICES: u64 = 4;

/// A copy of a mount that hangs nowhere yet.
struct Tree {
    copy: OwnedFd,
    inside: PathBuf,
    is_folder: bool,
    attributes: u64,
    /// A part of the system's settings: whoever installs a package replaces it at any moment, and a file that is gone
    /// cannot be hung anywhere. Libraries do without.
    may_go: bool,
}

/// All that is to be shown, held before the root changes.
pub struct Trees {
    shown: Vec<Tree>,
    copies: Vec<Copied>,
}

impl Trees {
    /// Takes hold of all that the confinement shows and of the system's part.
    ///
    /// # Errors
    /// The system's; a place that is not there.
    pub fn hold(confinement: &Confinement) -> io::Result<Self> {
        let of_system =
            SYSTEM.iter().filter(|path| fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()));
        let settings = SETTINGS.iter().filter(|path| Path::new(path).exists());
        let plain = READ_ONLY | NO_SET_UID | NO_DEVICES;
        let mut all: Vec<(Place, u64)> =
            of_system.chain(settings).map(|path| (Place::same(*path), plain)).collect();
        all.extend(DEVICES.iter().map(|path| (Place::same(*path), NO_SET_UID)));
        all.extend(confinement.readable.iter().map(|place| (place.clone(), plain)));
        all.extend(confinement.writable.iter().map(|place| (place.clone(), NO_SET_UID | NO_DEVICES)));
        let hold = |(place, attributes): (Place, u64)| {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE
                | OpenTreeFlags::OPEN_TREE_CLOEXEC
                | OpenTreeFlags::AT_RECURSIVE;
            let say = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", place.outside.display()))
            };
            let is_folder = fs::metadata(&place.outside).map_err(say)?.is_dir();
            let copy = open_tree(CWD, &place.outside, flags).map_err(|error| say(error.into()))?;
            let may_go = SETTINGS.iter().any(|own| place.inside == Path::new(own));
            Ok(Tree { copy, inside: place.inside, is_folder, attributes, may_go })
        };
        let copies = confinement.copied.iter().map(|place| Copied::read(place, confinement));
        let copies = copies.collect::<io::Result<_>>()?;
        Ok(Self { shown: all.into_iter().map(hold).collect::<io::Result<_>>()?, copies })
    }

    /// Hangs all of it below `root`, with the attributes it is to have.
    fn show(self, root: &Path) -> Result<(), Refusal> {
        for tree in self.shown {
            let name = format!("showing {}", tree.inside.display());
            let point = below(root, &tree.inside);
            if tree.is_folder {
                fs::create_dir_all(&point).step(&name)?;
            } else {
                fs::create_dir_all(point.parent().unwrap_or(root)).step(&name)?;
                fs::OpenOptions::new().create(true).append(true).open(&point).step(&name)?;
            }
            set_attributes(&tree.copy, tree.attributes).step(&name)?;
            match move_mount(&tree.copy, "", CWD, &point, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH) {
                Err(rustix::io::Errno::NOENT) if tree.may_go => {
                    let _ = fs::remove_file(&point);
                }
                done => done.step(&name)?,
            }
        }
        for copied in self.copies {
            copied.write(root)?;
        }
        Ok(())
    }
}

/// A path as it is below another root.
pub fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// `mount_setattr` on a whole tree.
fn set_attributes(tree: &OwnedFd, attributes: u64) -> io::Result<()> {
    const EMPTY_PATH_AND_BELOW: i64 = 0x1000 | 0x8000;
    let what = sys::bytes(&[attributes, 0, 0, 0]);
    let size = what.len() as i64;
    let arguments = &mut [
        Arg::Int(tree.as_raw_fd().into()),
        Arg::Text(c""),
        Arg::Int(EMPTY_PATH_AND_BELOW),
        Arg::In(&what),
        Arg::Int(size),
    ];
    sys::call(libc::SYS_mount_setattr, arguments).map(|_| ())
}

/// Makes the new root and enters it. `trees` are given where they had to be held before.
pub fn enter(confinement: &Confinement, trees: Option<Trees>) -> Result<(), Refusal> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).step("private mounts")?;
    let trees = match trees {
        Some(trees) => trees,
        None => Trees::hold(confinement).step("the files to be shown")?,
    };
    let root = Path::new("/tmp");
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    mount("agon", root, "tmpfs", plain, c"size=1m,nr_inodes=2048,mode=755").step("a root in memory")?;
    for path in SYSTEM {
        if let Ok(target) = fs::read_link(path) {
            symlink(target, below(root, Path::new(path))).step("links of the system")?;
        }
    }
    // Folders that would be made with the rights of nobody in particular.
    for folder in ["proc", "dev", "etc", "tmp"] {
        fs::create_dir(root.join(folder)).step("folders")?;
    }
    let write = |name: &str, text: &str| fs::write(root.join("etc").join(name), text).step(name);
    write("passwd", "root:x:0:0::/:/bin/false\nbot:x:1000:1000::/tmp:/bin/sh\n")?;
    write("group", "root:x:0:\nbot:x:1000:\n")?;
    // One address only: who tries the other one first finds nobody there.
    write("hosts", "127.0.0.1 localhost\n")?;
    write("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")?;
    let links = [("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1")];
    for (name, target) in links.into_iter().chain([("stderr", "/proc/self/fd/2")]) {
        symlink(target, root.join("dev").join(name)).step("links to devices")?;
    }
    let home = root.join("tmp");
    let size = format!("size={},nr_inodes={},mode=1777", confinement.disk, confinement.files);
    let size = std::ffi::CString::new(size).step("the size of /tmp")?;
    mount("agon", &home, "tmpfs", plain, size.as_c_str()).step("a /tmp of its own")?;
    // After /tmp, so that a place below it is shown in the new one.
    trees.show(root)?;
    let hidden = c"subset=pid,hidepid=2";
    let options = plain | MountFlags::NOEXEC;
    mount("proc", root.join("proc"), "proc", options, hidden).step("a /proc of its own")?;
    // The old root is put on top of the new one, so that it needs no folder there, and taken away.
    rustix::process::chdir(root).step("the way to the root")?;
    rustix::process::pivot_root(".", ".").step("the change of the root")?;
    unmount(".", UnmountFlags::DETACH).step("leaving the old root")?;
    rustix::process::chdir("/").step("the way to the root")?;
    mount_remount("/", plain | MountFlags::RDONLY, c"").step("a root that cannot be changed")
}
