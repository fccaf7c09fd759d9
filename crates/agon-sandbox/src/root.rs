//! The files a program sees: its own root in memory, with the system's programs and libraries read-only.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change,
    mount_remount, move_mount, open_tree, unmount,
};
use rustix::thread::LinkNameSpaceType;

use crate::confinement::{Confinement, ShownPath};
use crate::copy::Copied;
use crate::layer::{Layer, Owners};
use crate::machine;
use crate::message::{Step as _, StepRefusal};
use crate::sys::{self, Arg};

/// User and group of the program, as it sees them.
pub const INSIDE: u32 = 1000;

/// What every program sees of the system: folders, or links if the system has merged them into `/usr`.
pub const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Parts of `/etc` that libraries read. Not all of Maven's: its settings may contain passwords.
pub const SETTINGS: [&str; 13] = [
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
    "/etc/timezone",
    "/etc/maven/m2.conf",
    "/etc/maven/logging",
];
/// The devices every program gets.
pub const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

// Mount attributes, for `mount_setattr`.
const READ_ONLY: u64 = 1;
const NO_SET_UID: u64 = 2;
const NO_DEVICES: u64 = 4;

/// Of what is shown to be read.
pub const PLAIN: u64 = READ_ONLY | NO_SET_UID | NO_DEVICES;

/// A copy of a mount that is not attached anywhere yet.
struct Tree {
    copy: OwnedFd,
    inside: PathBuf,
    is_folder: bool,
}

impl Tree {
    /// Makes a detached copy of a place.
    fn hold(place: &ShownPath, attributes: u64) -> io::Result<Self> {
        let say =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", place.outside.display()));
        let is_folder = fs::metadata(&place.outside).map_err(say)?.is_dir();
        let copy = copy_of(&place.outside).map_err(say)?;
        set_attributes(&copy, attributes, None).map_err(say)?;
        Ok(Self { copy, inside: place.inside.clone(), is_folder })
    }

    /// Attaches it below `root`. Returns whether it could: a file that was replaced meanwhile cannot be
    /// attached anywhere.
    fn show(&self, root: &Path) -> Result<bool, StepRefusal> {
        let name = format!("showing {}", self.inside.display());
        let point = below(root, &self.inside);
        if self.is_folder {
            fs::create_dir_all(&point).step(&name)?;
        } else {
            fs::create_dir_all(point.parent().unwrap_or(root)).step(&name)?;
            fs::OpenOptions::new().create(true).append(true).open(&point).step(&name)?;
        }
        match move_mount(&self.copy, "", CWD, &point, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH) {
            Err(rustix::io::Errno::NOENT) if !self.is_folder => Ok(false),
            done => done.step(&name).map(|()| true),
        }
    }
}

/// A copy of everything mounted at a path and below it.
fn copy_of(path: &Path) -> io::Result<OwnedFd> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

/// Where a path of the system is: in an image of it, or on this machine.
fn of_system(image: Option<&Path>, path: &str) -> PathBuf {
    below(image.unwrap_or(Path::new("/")), Path::new(path))
}

/// Those system paths that are folders, not links.
fn folders_of_system(image: Option<&Path>) -> impl Iterator<Item = &'static str> {
    let is_folder =
        move |path: &&str| fs::symlink_metadata(of_system(image, path)).is_ok_and(|data| data.is_dir());
    SYSTEM.into_iter().filter(is_folder)
}

/// The system's part of a root, held before a root is made: where that is assembled, an image may lie.
struct Furniture {
    /// Its folders, and the devices.
    folders: Vec<Tree>,
    settings: Settings,
}

impl Furniture {
    fn hold(image: Option<&Path>) -> Result<Self, StepRefusal> {
        let from = |path: &str| ShownPath { outside: of_system(image, path), inside: path.into() };
        let shown = folders_of_system(image).map(|path| (from(path), PLAIN));
        let shown = shown.chain(DEVICES.map(|path| (ShownPath::same(path), NO_SET_UID)));
        let folders = shown.map(|(place, attributes)| Tree::hold(&place, attributes));
        let folders = folders.collect::<io::Result<_>>().step("the files to be shown")?;
        Ok(Self { folders, settings: Settings::hold(image) })
    }

    /// Puts it into a root, with an `/etc` and a `/dev`.
    fn show(self, root: &Path) -> Result<(), StepRefusal> {
        self.settings.show(root)?;
        fs::create_dir(root.join("dev")).step("folders")?;
        let links = [("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1")];
        // Shared memory and semaphores with names lie in the /tmp of each bot, and count as what it writes there.
        for (name, target) in links.into_iter().chain([("stderr", "/proc/self/fd/2"), ("shm", "../tmp")]) {
            symlink(target, root.join("dev").join(name)).step("links to devices")?;
        }
        for folder in self.folders {
            folder.show(root)?;
        }
        Ok(())
    }
}

/// The system's part of an `/etc`.
struct Settings {
    held: Vec<Tree>,
    /// Those of an image that are links: what they lead to is part of it.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Settings {
    fn hold(image: Option<&Path>) -> Self {
        let (mut held, mut links) = (Vec::new(), Vec::new());
        for path in SETTINGS {
            let place = ShownPath { outside: of_system(image, path), inside: path.into() };
            match fs::read_link(&place.outside) {
                Ok(target) if image.is_some() => links.push((place.inside, target)),
                // Installing a package may replace them at any moment. Libraries do without.
                _ => held.extend(Tree::hold(&place, PLAIN)),
            }
        }
        Self { held, links }
    }

    /// Puts an `/etc` into a root.
    fn show(self, root: &Path) -> Result<(), StepRefusal> {
        fs::create_dir(root.join("etc")).step("folders")?;
        let write = |name: &str, text: &str| fs::write(root.join("etc").join(name), text).step(name);
        write("passwd", "root:x:0:0::/:/bin/false\nbot:x:1000:1000::/tmp:/bin/sh\n")?;
        write("group", "root:x:0:\nbot:x:1000:\n")?;
        // One address only: whoever tries the other first would find nobody there.
        write("hosts", "127.0.0.1 localhost bot\n")?;
        write("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")?;
        for setting in self.held {
            if setting.show(root) != Ok(true) {
                let _ = fs::remove_file(below(root, &setting.inside));
            }
        }
        for (inside, target) in self.links {
            let point = below(root, &inside);
            fs::create_dir_all(point.parent().unwrap_or(root)).step("links of the system")?;
            symlink(target, point).step("links of the system")?;
        }
        Ok(())
    }
}

/// The system's part of every root, prepared once: a sandbox gets copies of three mounts, and of what is
/// mounted below them, instead of making some thirty. It is mounted in a mount namespace of its own, in which
/// no process lives.
pub struct System {
    space: OwnedFd,
    /// What is mounted there for a sandbox.
    parts: Vec<&'static str>,
    /// The settings files that were shown; if they are replaced, all is made anew.
    settings: Vec<Option<(u64, u64)>>,
}

/// The image that a system is shown from, if it is not this machine's own.
type Systems = BTreeMap<Option<PathBuf>, System>;

/// How many systems are kept ready.
const MOST_SYSTEMS: usize = 16;

impl System {
    /// The existing one, or a new one if there is none or the system's settings were replaced.
    ///
    /// # Errors
    /// The step that failed.
    pub fn current<'a>(held: &'a mut Systems, image: Option<&Path>) -> Result<&'a Self, StepRefusal> {
        let (settings, key) = (settings(image), image.map(Path::to_owned));
        let made = match held.remove(&key).filter(|held| held.settings == settings) {
            Some(held) => held,
            None => Self::make(settings, image)?,
        };
        if held.len() >= MOST_SYSTEMS {
            held.pop_last();
        }
        Ok(held.entry(key).or_insert(made))
    }

    fn make(settings: Vec<Option<(u64, u64)>>, image: Option<&Path>) -> Result<Self, StepRefusal> {
        let step = "the files to be shown";
        let new = || sys::call(libc::SYS_unshare, &mut [Arg::Int(libc::CLONE_NEWNS.into())]).step(step);
        elsewhere(new, || {
            private_mounts()?;
            let furniture = Furniture::hold(image)?;
            let parts = folders_of_system(image).chain(["/dev", "/etc"]).collect();
            let root = mount_root()?;
            furniture.show(root)?;
            mount_remount(root, ROOT | MountFlags::RDONLY, c"").step(step)?;
            Ok(Self { space: space().step(step)?, parts, settings })
        })
    }

    /// Copies of it, without `/etc` where something is to be put into that: a copy cannot be changed.
    fn copies(&self, with_settings: bool) -> Result<Vec<Tree>, StepRefusal> {
        let step = "the files to be shown";
        let parts = self.parts.iter().filter(|path| with_settings || **path != "/etc");
        let copy = |path: &&str| {
            let copy = copy_of(&below(Path::new(PLACE), Path::new(path))).step(step)?;
            Ok(Tree { copy, inside: PathBuf::from(path), is_folder: true })
        };
        let there = || enter_space(&self.space).step(step);
        elsewhere(there, || parts.map(copy).collect())
    }
}

/// This process's mount namespace.
fn space() -> rustix::io::Result<OwnedFd> {
    rustix::fs::open("/proc/self/ns/mnt", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

fn enter_space(space: &OwnedFd) -> rustix::io::Result<()> {
    rustix::thread::move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Mount))
}

/// Does something in another mount namespace, and returns.
fn elsewhere<G, T>(
    go: impl FnOnce() -> Result<G, StepRefusal>,
    act: impl FnOnce() -> Result<T, StepRefusal>,
) -> Result<T, StepRefusal> {
    let back = space().step("the way back")?;
    go()?;
    let done = act();
    if enter_space(&back).is_err() {
        // A process left there would show its mounts to every later sandbox.
        sys::leave(1);
    }
    done
}

/// The identities of the current settings files and folders.
fn settings(image: Option<&Path>) -> Vec<Option<(u64, u64)>> {
    let which =
        |path: &&str| fs::symlink_metadata(of_system(image, path)).ok().map(|data| (data.dev(), data.ino()));
    SETTINGS.iter().map(which).collect()
}

/// What a spawner of root has ready for its sandboxes.
#[derive(Default)]
pub struct Prepared {
    systems: Systems,
    owners: Owners,
}

/// Everything that will be shown, held before the root changes.
pub struct Trees {
    shown: Vec<Tree>,
    layers: Vec<Layer>,
    copies: Vec<Copied>,
    /// The system's part, unless it is among what is shown.
    furniture: Option<Furniture>,
    /// The system's part of `/etc`, where something is put into that.
    settings: Option<Settings>,
    /// Those of the system's folders that are links to others.
    links: Vec<(&'static str, PathBuf)>,
}

impl Trees {
    /// Takes hold of everything the confinement shows, and of what `prepared` is ready for a program of a user of its own.
    ///
    /// # Errors
    /// The system's; a place that does not exist.
    pub fn hold(
        confinement: &Confinement,
        prepared: Option<(&mut Prepared, u32)>,
    ) -> Result<Self, StepRefusal> {
        let step = "the files to be shown";
        let has_settings = !confinement.places().any(|place| place.inside.starts_with("/etc"));
        let image = confinement.image.as_deref();
        let furniture = if prepared.is_none() { Some(Furniture::hold(image)?) } else { None };
        let settings = if has_settings || prepared.is_none() { None } else { Some(Settings::hold(image)) };
        let links =
            SYSTEM.into_iter().filter_map(|path| Some((path, fs::read_link(of_system(image, path)).ok()?)));
        let links = links.collect();
        let (mut shown, mut owners) = (Vec::new(), None);
        if let Some((prepared, user)) = prepared {
            shown = System::current(&mut prepared.systems, image)?.copies(has_settings)?;
            owners = Some((&mut prepared.owners, user));
        }
        let readable = confinement.readable.iter().map(|place| (place, PLAIN));
        let writable = confinement.writable.iter().map(|place| (place, NO_SET_UID | NO_DEVICES));
        for (place, attributes) in readable.chain(writable) {
            shown.push(Tree::hold(place, attributes).step(step)?);
        }
        let mut room = confinement.copies();
        let copies = confinement.copied.iter().map(|place| Copied::read(place, confinement, &mut room));
        let copies = copies.collect::<io::Result<_>>().step(step)?;
        let mut layers = Vec::new();
        for place in &confinement.layered {
            let owners = owners.as_mut().map(|(owners, user)| (&mut **owners, *user));
            layers.push(Layer::hold(place, owners)?);
        }
        Ok(Self { shown, layers, copies, furniture, settings, links })
    }

    /// Attaches all of it below `root`, except for what is hidden. Returns the folders of the layers.
    fn show(self, root: &Path, confinement: &Confinement) -> Result<Vec<OwnedFd>, StepRefusal> {
        let hidden = &confinement.hidden;
        if let Some(furniture) = self.furniture {
            furniture.show(root)?;
        }
        if let Some(settings) = self.settings {
            settings.show(root)?;
        }
        let mut emptied = Vec::new();
        let mut empty = |within: &dyn Fn(&Path) -> bool| {
            for path in hidden.iter().filter(|path| within(path)) {
                let point = below(root, path);
                if !emptied.contains(&point) && point.is_dir() {
                    mount("agon", &point, "tmpfs", ROOT, c"size=64k,nr_inodes=64,mode=755")
                        .step("an empty folder")?;
                    emptied.push(point);
                }
            }
            Ok::<(), StepRefusal>(())
        };
        for tree in self.shown {
            // What is shown within an empty folder comes after it, what the folder is part of before.
            empty(&|path| tree.inside.starts_with(path) && tree.inside != path)?;
            if !tree.show(root)? {
                let gone =
                    StepRefusal::new(format!("showing {}", tree.inside.display()), io::ErrorKind::NotFound);
                return Err(gone);
            }
        }
        // Above all that is shown before, so that what is hidden in them is hidden.
        let layers =
            self.layers.iter().map(|layer| layer.show(root, confinement)).collect::<Result<_, _>>()?;
        empty(&|_| true)?;
        for point in emptied {
            mount_remount(&point, ROOT | MountFlags::RDONLY, c"").step("an empty folder")?;
        }
        for copied in self.copies {
            copied.write(root)?;
        }
        Ok(layers)
    }
}

/// A path moved below another root.
pub fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// `mount_setattr` on a whole tree. With `owners`, a namespace of users, its files are shown with owners mapped by it.
pub fn set_attributes(tree: &OwnedFd, attributes: u64, owners: Option<BorrowedFd<'_>>) -> io::Result<()> {
    const EMPTY_PATH_AND_BELOW: i64 = 0x1000 | 0x8000;
    const MAPPED: u64 = 0x10_0000;
    let mapped = if owners.is_some() { MAPPED } else { 0 };
    let owners = owners.map_or(0, |owners| owners.as_raw_fd() as u64);
    let what = sys::bytes(&[attributes | mapped, 0, 0, owners]);
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

/// Where a root is assembled.
const PLACE: &str = "/tmp";
pub const ROOT: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// Makes sure that nothing mounted here is seen elsewhere.
fn private_mounts() -> Result<(), StepRefusal> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).step("private mounts")
}

fn mount_root() -> Result<&'static Path, StepRefusal> {
    mount("agon", PLACE, "tmpfs", ROOT, c"size=1m,nr_inodes=2048,mode=755").step("a root in memory")?;
    Ok(Path::new(PLACE))
}

/// Makes the new root and enters it. `trees` are given if they had to be held beforehand. Returns the folders of the layers.
pub fn enter(confinement: &Confinement, trees: Option<Trees>) -> Result<Vec<OwnedFd>, StepRefusal> {
    private_mounts()?;
    let trees = match trees {
        Some(trees) => trees,
        None => Trees::hold(confinement, None)?,
    };
    let root = mount_root()?;
    for (path, target) in &trees.links {
        symlink(target, below(root, Path::new(path))).step("links of the system")?;
    }
    // Otherwise these folders would get arbitrary rights.
    for folder in ["proc", "tmp"] {
        fs::create_dir(root.join(folder)).step("folders")?;
    }
    let home = root.join("tmp");
    let size = format!("size={},nr_inodes={},mode=1777", confinement.disk, confinement.files);
    let size = std::ffi::CString::new(size).step("the size of /tmp")?;
    mount("agon", &home, "tmpfs", ROOT, size.as_c_str()).step("a /tmp of its own")?;
    fs::create_dir(root.join("var")).step("folders")?;
    symlink("../tmp", root.join("var/tmp")).step("a /var/tmp of its own")?;
    // After /tmp, so that a place below /tmp is shown in the new one.
    let layers = trees.show(root, confinement)?;
    machine::show(root, confinement.memory)?;
    // The old root is put on top of the new one, so that it needs no folder there, and then removed.
    rustix::process::chdir(root).step("the way to the root")?;
    rustix::process::pivot_root(".", ".").step("the change of the root")?;
    unmount(".", UnmountFlags::DETACH).step("leaving the old root")?;
    rustix::process::chdir("/").step("the way to the root")?;
    mount_remount("/", ROOT | MountFlags::RDONLY, c"").step("a root that cannot be changed")?;
    Ok(layers)
}
