//! Images: what strangers' bots see of the system, in place of this machine's own files.
//!
//! An image is a folder that nobody changes any more. It holds what a set of languages needs to run and to build bots, as
//! copies of this machine's files at the same paths, and is named by the hash of its list: of the path, kind and content
//! of each. Images are made when they are first needed ([`Images::take`]), by one process at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, ResolveFlags, flock, openat2};
use serde::{Deserialize, Serialize};
use thiserror::Error;

mod archive;
mod elf;
mod fetch;
mod gather;
mod languages;
mod layers;
mod list;
mod make;
mod packages;
mod patterns;
mod shelf;

pub use fetch::MOST_PART;
pub use languages::{ImageLanguage, LANGUAGES};
use list::{ImageHead, ListReader, Listed};
pub use packages::{HeldPackage, ImagePackage, PackageManager};
pub use shelf::{Images, NewImage};

/// The list of an image's files: its head says what the image is.
const FILES: &str = "files";
/// The folder with the files themselves.
const ROOT: &str = "root";
/// No list is longer than this.
pub const LONGEST: u64 = 64 << 20;

/// What an image is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ImageSet {
    /// Names of [`LANGUAGES`].
    pub languages: BTreeSet<String>,
    /// Files and folders of this machine besides.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub added: BTreeSet<PathBuf>,
    /// The name of the archive that it was made from, in place of this machine's files: its languages are those found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What managers of packages bring besides.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub packages: BTreeSet<ImagePackage>,
}

impl ImageSet {
    /// The languages that programs of these names belong to.
    pub fn of_programs<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let languages = names.into_iter().filter_map(ImageLanguage::of_program);
        Self { languages: languages.map(|language| language.name.to_owned()).collect(), ..Self::default() }
    }

    /// All languages that are installed here.
    pub fn installed() -> Self {
        let user = crate::process::inside::User::own();
        let is_here = |language: &&ImageLanguage| {
            crate::process::inside::tool_of(language.programs[0], &user).is_some()
        };
        let languages = LANGUAGES.iter().filter(is_here).map(|language| language.name.to_owned());
        Self { languages: languages.collect(), ..Self::default() }
    }

    /// Its languages, with those that they need.
    pub fn closed(&self) -> Vec<String> {
        let mut all = self.languages.clone();
        if self.from.is_some() {
            return all.into_iter().collect();
        }
        // No chain of needs is longer than the list.
        for _ in LANGUAGES {
            let needed = LANGUAGES.iter().filter(|language| all.contains(language.name));
            let needed: Vec<&str> = needed.flat_map(|language| language.needs.iter().copied()).collect();
            all.extend(needed.into_iter().map(str::to_owned));
        }
        all.into_iter().collect()
    }

    /// Whether it has everything that another has.
    pub fn covers(&self, other: &Self) -> bool {
        let own: BTreeSet<String> = self.closed().into_iter().collect();
        // What a language needs to work here, it need not need there.
        let mut wanted =
            if self.from.is_some() { other.languages.clone() } else { other.closed().into_iter().collect() };
        // What no language runs was compiled: where there is a compiler, or here.
        if self.from.is_some() && wanted.is_empty() {
            wanted.insert("C++".to_owned());
        }
        wanted.is_subset(&own)
            && (other.from.is_none() || self.from == other.from)
            && self.added.is_superset(&other.added)
            && self.packages.is_superset(&other.packages)
    }

    /// The names of the programs that an image of it holds, without making it.
    ///
    /// # Errors
    /// A language is not installed.
    pub fn programs(&self) -> Result<BTreeSet<String>, ImageError> {
        let gathering = gather::Gathering::of(self)?;
        let on_path = |path: &&PathBuf| {
            path.parent().is_some_and(|folder| gathering.path.iter().any(|own| own == folder))
        };
        let names = gathering.files.keys().filter(on_path).filter_map(|path| path.file_name());
        Ok(names.map(|name| name.to_string_lossy().into_owned()).collect())
    }

    /// Its languages in a sentence.
    pub fn words(&self) -> String {
        let mut words = self.closed();
        words.extend(self.added.iter().map(|path| path.display().to_string()));
        words.extend(self.packages.iter().map(|package| package.name.clone()));
        let words = match words.is_empty() {
            true => "a shell and the usual tools".to_owned(),
            false => words.join(", "),
        };
        self.from.as_ref().map_or_else(|| words.clone(), |from| format!("{words} of {from}"))
    }
}

/// Why there is no image.
#[derive(Debug, Error)]
pub enum ImageError {
    /// No such language is known.
    #[error("there is no language `{0}`; there are {all}", all = names())]
    Unknown(String),
    /// A language that this machine does not have.
    #[error("{0} is not installed on this machine")]
    NotInstalled(&'static str),
    /// What was to be added is not there.
    #[error("{}: there is no such file or folder", .0.display())]
    Missing(PathBuf),
    /// What was to be added is never shown.
    #[error(
        "{}: an image holds programs and folders of their own, no homes, and nothing in /dev, /proc, /sys and /etc", .0.display()
    )]
    NeverShown(PathBuf),
    /// What was named is no language, but half a disk.
    #[error("{}: an image holds at most 100,000 files and 4 GB; name less", .0.display())]
    TooMuch(PathBuf),
    /// No room.
    #[error("{}: {} MB are needed for an image, and {} MB are free; make room (`agon image rm` removes images that nobody uses)", .place.display(), .needed >> 20, .free >> 20)]
    Full { place: PathBuf, needed: u64, free: u64 },
    /// It cannot be written.
    #[error("{}: {why}", .0.display(), why = .1)]
    Write(PathBuf, io::Error),
    /// Not one version of a package.
    #[error(
        "`{typed}` does not name one version: the same words would bring another package on another day, or on another machine. \
         Name one, as in {example}; `{versions}` lists them"
    )]
    Unpinned { typed: String, example: String, versions: String },
    /// No package.
    #[error("{0:?}: {1}")]
    Package(String, String),
    /// What a manager of packages said.
    #[error("{0} could not install them:\n  {1}")]
    Manager(&'static str, String),
    /// What was to become an image is none.
    #[error("{}: {why}", .0.display(), why = .1)]
    Archive(PathBuf, String),
    /// Another machine's image.
    #[error("the image {0} cannot be used: {1}")]
    Unsound(String, String),
    /// It cannot be removed now.
    #[error("the image {0} is in use by an agon that runs; try again when it has ended")]
    InUse(String),
    /// Nothing of this name.
    #[error("there is no image `{0}`; `agon image` lists them")]
    NoSuch(String),
    /// More than one.
    #[error("`{0}` begins the names of several images; write more of it")]
    Ambiguous(String),
}

fn names() -> String {
    LANGUAGES.iter().map(|language| language.name).collect::<Vec<_>>().join(", ")
}

/// An image. While one is held, nobody removes it.
#[derive(Debug)]
pub struct Image {
    /// Its name: the hash of its list.
    pub hash: String,
    /// What it was made of.
    pub set: ImageSet,
    /// The folders in which programs are found, as a program sees them.
    pub path: Vec<PathBuf>,
    /// The folders outside of the system's that are shown, as a program sees them.
    pub places: Vec<PathBuf>,
    /// What its programs find in their environment, besides what every sandbox sets.
    pub variables: BTreeMap<String, String>,
    folder: PathBuf,
    root: File,
    _held: File,
}

impl Image {
    /// Opens the image in a folder.
    fn open(folder: &Path) -> io::Result<Self> {
        let list = File::open(folder.join(FILES))?;
        flock(&list, FlockOperation::NonBlockingLockShared)?;
        let wrong = |why| io::Error::new(io::ErrorKind::InvalidData, why);
        let head = ListReader::new(list.try_clone()?).map_err(wrong)?.head;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(folder.join(ROOT), flags, Mode::empty())?.into();
        let hash = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ImageHead { set, path, places, variables } = head;
        Ok(Self { hash, set, path, places, variables, folder: folder.to_owned(), root, _held: list })
    }

    /// The folder that holds its files.
    pub fn root(&self) -> PathBuf {
        self.folder.join(ROOT)
    }

    /// Where a path inside is outside, with links followed as they are inside; none if it leads nowhere.
    pub fn real(&self, path: &Path) -> Option<PathBuf> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let found = openat2(&self.root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT).ok()?;
        fs::read_link(format!("/proc/self/fd/{}", found.as_raw_fd())).ok()
    }

    /// Whether a path inside leads to a program of this image.
    pub fn runs(&self, path: &Path) -> bool {
        // Links are followed as they are inside.
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let found = openat2(&self.root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT);
        let about = found.and_then(|found| rustix::fs::fstat(&found));
        about.is_ok_and(|about| {
            rustix::fs::FileType::from_raw_mode(about.st_mode).is_file() && about.st_mode & 0o111 != 0
        })
    }

    /// The first program of this name in its folders.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        self.path.iter().map(|folder| folder.join(name)).find(|file| self.runs(file))
    }

    /// Whether this program can run in it: it needs what loads it, unless it was built to need nothing.
    pub fn runs_agon(&self) -> bool {
        let own = elf::ElfFile::read(Path::new("/proc/self/exe"));
        own.and_then(|own| own.loader).is_none_or(|loader| self.runs(&loader))
    }

    /// The number and the size of its files.
    ///
    /// # Errors
    /// Its list cannot be read.
    pub fn size(&self) -> io::Result<(u64, u64)> {
        let (mut files, mut all) = (0, 0);
        let wrong = |why| io::Error::new(io::ErrorKind::InvalidData, why);
        for line in ListReader::new(File::open(self.folder.join(FILES))?).map_err(wrong)? {
            if let (_, Listed::File { bytes, .. }) = line.map_err(wrong)? {
                files += 1;
                all += bytes;
            }
        }
        Ok((files, all))
    }

    /// When it was made.
    pub fn made(&self) -> Option<std::time::SystemTime> {
        fs::metadata(self.folder.join(FILES)).and_then(|about| about.modified()).ok()
    }
}
