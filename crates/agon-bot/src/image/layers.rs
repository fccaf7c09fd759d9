//! A tree of files from archives that lie above each other, as containers are made.
//!
//! The bytes are foreign. Names become places of a tree in memory and never of the disk: what a file holds is kept under its
//! hash, and whatever leads out by `..`, a link or a further name leads nowhere. Devices, owners, set-user-id bits and everything
//! that no sandbox shows are left out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Component, Path, PathBuf};

use agon_sandbox::SETTINGS;
use sha2::{Digest as _, Sha256};
use tar::EntryType;

use super::ImageError;
use super::gather::{MOST_BYTES, MOST_FILES};
use super::list::{KnownFiles, LONGEST_PATH, Listed, ListedFiles};
use super::make::{hex, undate};
use crate::paths::is_systems;

/// Archives above each other.
pub const MOST_LAYERS: usize = 128;
/// Entries of all of them, with those that are left out.
const MOST_ENTRIES: usize = 1_000_000;
/// What all of them unpack to: layers may replace what lies below them.
const MOST_UNPACKED: u64 = 4 * MOST_BYTES;
/// Deepest nesting of folders.
const DEEPEST: usize = 64;
/// Longest path or attribute in a header of its own.
const LONGEST_HEADER: u64 = 1 << 20;
/// Links on the way to a path.
const MOST_LINKS: usize = 40;
/// Compiled files of Python that are larger are left as they are.
const LARGEST_COMPILED: u64 = 64 << 20;
/// A file of this name stands for one that the layers below had.
const GONE: &str = ".wh.";
/// And this one for all that they had in its folder.
const ALL_GONE: &str = ".wh..wh..opq";

/// Folders of the root of which no sandbox shows anything, and those of documentation.
const LEFT_OUT: [&str; 16] = [
    "/boot",
    "/dev",
    "/home",
    "/lost+found",
    "/media",
    "/mnt",
    "/proc",
    "/root",
    "/run",
    "/srv",
    "/sys",
    "/tmp",
    "/var",
    "/usr/share/doc",
    "/usr/share/info",
    "/usr/share/man",
];

/// A file as it was packed.
#[derive(Debug)]
struct Packed {
    hash: String,
    bytes: u64,
    runs: bool,
    /// When it was changed, as Python notes it of a source: only the lowest 32 bits.
    date: u32,
}

#[derive(Clone, Debug)]
enum Node {
    /// One of [`Layers::packed`]: files that are the same have the same.
    File(usize),
    Link(PathBuf),
    Folder,
}

/// The tree of the layers so far.
#[derive(Debug)]
pub struct Layers<'a> {
    archive: &'a Path,
    /// Where what files hold is kept, by its hash.
    kept: &'a Path,
    nodes: BTreeMap<PathBuf, (Node, usize)>,
    packed: Vec<Packed>,
    layer: usize,
    entries: usize,
    left: u64,
}

/// What extensions say of the entry that follows.
#[derive(Debug, Default)]
struct Extension {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

impl<'a> Layers<'a> {
    /// None yet; `kept` is a folder.
    pub fn new(archive: &'a Path, kept: &'a Path) -> Self {
        let (nodes, packed) = (BTreeMap::new(), Vec::new());
        Self { archive, kept, nodes, packed, layer: 0, entries: 0, left: MOST_UNPACKED }
    }

    fn bad(&self, why: impl Into<String>) -> ImageError {
        ImageError::Archive(self.archive.to_owned(), why.into())
    }

    /// Lays an archive above what is there.
    ///
    /// # Errors
    /// It is damaged, too large, or leads out.
    pub fn add(&mut self, bytes: impl Read) -> Result<(), ImageError> {
        self.layer += 1;
        if self.layer > MOST_LAYERS {
            return Err(self.bad(format!("it has more than {MOST_LAYERS} layers")));
        }
        let mut gone = BTreeSet::new();
        let mut archive = tar::Archive::new(bytes.take(self.left));
        let damaged =
            |this: &Self, error: io::Error| this.bad(format!("it is not a readable archive ({error})"));
        // Extensions are read here, and bounded.
        let entries = archive.entries().map_err(|error| damaged(self, error))?.raw(true);
        let mut extension = Extension::default();
        for entry in entries {
            let mut entry = entry.map_err(|error| damaged(self, error))?;
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(self.bad(format!("it holds more than {MOST_ENTRIES} entries")));
            }
            // A header stands for a block, whatever follows it.
            self.left = self.left.saturating_sub(entry.size().saturating_add(512));
            if self.left == 0 {
                return Err(self.bad(format!("it unpacks to more than {} GB", MOST_UNPACKED >> 30)));
            }
            let kind = entry.header().entry_type();
            if self.extend(&mut extension, kind, &mut entry)? {
                continue;
            }
            let Extension { path, link } = std::mem::take(&mut extension);
            let name = path.unwrap_or_else(|| entry.path_bytes().into_owned());
            let link = link.or_else(|| entry.link_name_bytes().map(|link| link.into_owned()));
            let Some(path) = self.path(&name)? else { continue };
            let (folder, last) = (path.parent().unwrap_or(&path), path.file_name().unwrap_or_default());
            let last = last.to_string_lossy();
            if last == ALL_GONE {
                gone.insert((self.resolved(folder)?, true));
                continue;
            }
            if let Some(own) = last.strip_prefix(GONE) {
                // Others of these words are notes of the program that made it.
                if !own.is_empty() && !own.starts_with(GONE) {
                    gone.insert((self.resolved(folder)?.join(own), false));
                }
                continue;
            }
            let path = self.resolved(folder)?.join(path.file_name().unwrap_or_default());
            if !is_shown(&path) {
                continue;
            }
            self.put(path, kind, link, &mut entry)?;
        }
        self.take_away(&gone);
        Ok(())
    }

    /// Reads what is said of the next entry; whether this one is only that.
    fn extend(
        &self,
        extension: &mut Extension,
        kind: EntryType,
        entry: &mut impl Read,
    ) -> Result<bool, ImageError> {
        let mut text = Vec::new();
        let mut all = || match entry.take(LONGEST_HEADER + 1).read_to_end(&mut text) {
            Ok(count) if count as u64 > LONGEST_HEADER => Err(self.bad("a header in it is too long")),
            Ok(_) => Ok(std::mem::take(&mut text)),
            Err(error) => Err(self.bad(error.to_string())),
        };
        let ended = |mut name: Vec<u8>| {
            name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
            name
        };
        match kind {
            EntryType::GNULongName => extension.path = Some(ended(all()?)),
            EntryType::GNULongLink => extension.link = Some(ended(all()?)),
            EntryType::XHeader => {
                let text = all()?;
                for one in tar::PaxExtensions::new(&text) {
                    let one = one.map_err(|error| self.bad(error.to_string()))?;
                    match one.key_bytes() {
                        b"path" => extension.path = Some(one.value_bytes().to_vec()),
                        b"linkpath" => extension.link = Some(one.value_bytes().to_vec()),
                        // 8 GB and more, or with holes: no program is.
                        b"size" | b"GNU.sparse.major" | b"GNU.sparse.map" => {
                            return Err(self.bad("it holds a file that is too large, or has holes"));
                        }
                        _ => {}
                    }
                }
            }
            EntryType::XGlobalHeader => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The place of a name, from the root; none for the root itself and for what is no text, which no list could hold.
    fn path(&self, name: &[u8]) -> Result<Option<PathBuf>, ImageError> {
        let shown = || String::from_utf8_lossy(&name[..name.len().min(100)]).escape_debug().to_string();
        let Ok(text) = std::str::from_utf8(name) else { return Ok(None) };
        if text.chars().any(char::is_control) {
            return Err(self.bad(format!("`{}` in it has control characters in its name", shown())));
        }
        let mut path = PathBuf::from("/");
        for part in Path::new(text).components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir | Component::RootDir => {}
                _ => return Err(self.bad(format!("`{}` in it leads up with `..`", shown()))),
            }
        }
        if path.as_os_str().len() > LONGEST_PATH || path.components().count() > DEEPEST {
            return Err(self.bad(format!("`{}` in it is too long or too deep", shown())));
        }
        Ok(path.parent().is_some().then_some(path))
    }

    /// Where a path leads, with all its links followed, as far as they lead inside.
    fn resolved(&self, path: &Path) -> Result<PathBuf, ImageError> {
        self.lead(path)
            .ok_or_else(|| self.bad(format!("`{}` in it leads through too many links", path.display())))
    }

    fn lead(&self, path: &Path) -> Option<PathBuf> {
        let parts = |path: &Path| -> Vec<PathBuf> {
            let inner =
                path.components().filter(|part| !matches!(part, Component::RootDir | Component::CurDir));
            inner.map(|part| PathBuf::from(part.as_os_str())).collect()
        };
        let mut left: VecDeque<PathBuf> = parts(path).into();
        let (mut at, mut links) = (PathBuf::from("/"), 0);
        while let Some(part) = left.pop_front() {
            if part.as_os_str() == ".." {
                at.pop();
                continue;
            }
            let next = at.join(part);
            match self.nodes.get(&next) {
                Some((Node::Link(target), _)) => {
                    links += 1;
                    if links > MOST_LINKS {
                        return None;
                    }
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    parts(target).into_iter().rev().for_each(|part| left.push_front(part));
                }
                _ => at = next,
            }
        }
        (at.as_os_str().len() <= LONGEST_PATH).then_some(at)
    }

    /// Puts an entry at its place, in place of what was there.
    fn put(
        &mut self,
        path: PathBuf,
        kind: EntryType,
        link: Option<Vec<u8>>,
        entry: &mut tar::Entry<'_, impl Read>,
    ) -> Result<(), ImageError> {
        let shown = path.display().to_string();
        let above = path
            .ancestors()
            .skip(1)
            .find(|above| self.nodes.get(*above).is_some_and(|(node, _)| !matches!(node, Node::Folder)));
        if let Some(above) = above {
            return Err(self.bad(format!("`{shown}` in it is to lie in the file {}", above.display())));
        }
        let text = |link: Option<Vec<u8>>| {
            let text = String::from_utf8(link.unwrap_or_default()).unwrap_or_default();
            let fits = !text.is_empty() && text.len() <= LONGEST_PATH && !text.chars().any(char::is_control);
            fits.then_some(text).ok_or_else(|| self.bad(format!("the link `{shown}` in it leads nowhere")))
        };
        let node = match kind {
            EntryType::Directory => Node::Folder,
            EntryType::Regular | EntryType::Continuous => self.keep(&shown, entry)?,
            EntryType::Symlink => Node::Link(text(link)?.into()),
            EntryType::Link => {
                let first = text(link)?;
                let first = match self.path(first.as_bytes())? {
                    Some(first) => self
                        .resolved(first.parent().unwrap_or(&first))?
                        .join(first.file_name().unwrap_or_default()),
                    None => return Err(self.bad(format!("the link `{shown}` in it leads nowhere"))),
                };
                match self.nodes.get(&first) {
                    Some((node @ (Node::File(_) | Node::Link(_)), _)) => node.clone(),
                    // Of what is left out there are no further names.
                    _ if !is_shown(&first) => return Ok(()),
                    _ => {
                        let first = first.display();
                        return Err(self.bad(format!("`{shown}` in it is to be {first}, which is not there")));
                    }
                }
            }
            EntryType::GNUSparse => return Err(self.bad("it holds a file with holes")),
            // Devices and pipes: a sandbox has its own.
            _ => return Ok(()),
        };
        if !matches!((&node, self.nodes.get(&path)), (Node::Folder, Some((Node::Folder, _)) | None)) {
            self.remove(&path, usize::MAX, true);
        }
        self.nodes.insert(path, (node, self.layer));
        match self.nodes.len() > MOST_FILES {
            true => Err(self.bad(format!("it holds more than {MOST_FILES} files"))),
            false => Ok(()),
        }
    }

    /// Keeps what a file holds.
    fn keep(&mut self, shown: &str, entry: &mut tar::Entry<'_, impl Read>) -> Result<Node, ImageError> {
        let header = entry.header();
        let runs = header.mode().unwrap_or(0o644) & 0o111 != 0;
        let date = header.mtime().unwrap_or(0) as u32;
        let wanted = entry.size();
        if wanted > MOST_BYTES {
            return Err(self.bad(format!("`{shown}` in it is too large")));
        }
        let own = |error| ImageError::Write(self.kept.to_owned(), error);
        let mut file = tempfile::NamedTempFile::new_in(self.kept).map_err(own)?;
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let mut part = vec![0; 64 << 10];
        loop {
            let count = entry.read(&mut part).map_err(|error| self.bad(error.to_string()))?;
            if count == 0 {
                break;
            }
            hash.update(&part[..count]);
            file.write_all(&part[..count]).map_err(own)?;
            bytes += count as u64;
        }
        if bytes != wanted {
            return Err(self.bad(format!("it ends within `{shown}`: it was not copied whole")));
        }
        let hash = hex(&hash.finalize());
        file.persist(self.kept.join(&hash)).map_err(|error| own(error.error))?;
        self.packed.push(Packed { hash, bytes, runs, date });
        Ok(Node::File(self.packed.len() - 1))
    }

    /// Takes away what this layer says is gone of those below it.
    fn take_away(&mut self, gone: &BTreeSet<(PathBuf, bool)>) {
        let mut last: Option<&Path> = None;
        for (path, only_inner) in gone {
            // What lies within another has gone with it.
            if last.is_some_and(|last| path.starts_with(last)) {
                continue;
            }
            last = Some(path);
            self.remove(path, self.layer, !only_inner);
        }
    }

    /// Removes what layers before `layer` had at a path, itself or only what lies in it.
    fn remove(&mut self, path: &Path, layer: usize, itself: bool) {
        let within = self.nodes.range(path.to_owned()..).take_while(|(own, _)| own.starts_with(path));
        let old = within.filter(|(own, (_, from))| *from < layer && (itself || *own != path));
        let old: Vec<PathBuf> = old.map(|(own, _)| own.clone()).collect();
        // A folder in which this layer has put something stays.
        for own in old.iter().rev() {
            let holds = |nodes: &BTreeMap<PathBuf, (Node, usize)>| {
                let mut behind = nodes
                    .range::<Path, _>((std::ops::Bound::Excluded(own.as_path()), std::ops::Bound::Unbounded));
                behind.next().is_some_and(|(next, _)| next.starts_with(own))
            };
            if !holds(&self.nodes) {
                self.nodes.remove(own);
            }
        }
    }

    /// The first program of this name in the folders, with links followed.
    pub fn program(&self, name: &str, folders: &[PathBuf]) -> Option<(PathBuf, PathBuf)> {
        let mut all = folders.iter().map(|folder| folder.join(name));
        all.find_map(|path| {
            let real = self.lead(&path)?;
            match self.nodes.get(&real) {
                Some((Node::File(packed), _)) if self.packed[*packed].runs => {
                    Some((path, self.kept.join(&self.packed[*packed].hash)))
                }
                _ => None,
            }
        })
    }

    /// Whether a path leads to a folder.
    pub fn has_folder(&self, path: &Path) -> bool {
        let Some(real) = self.lead(path) else { return false };
        // Archives need not name the folders that their files lie in.
        self.nodes.range(real.clone()..).next().is_some_and(|(own, (node, _))| {
            own.starts_with(&real) && (*own != real || matches!(node, Node::Folder))
        })
    }

    /// The folders outside of the system's, as they are shown: one by one, since bots may lie beside them.
    pub fn places(&self) -> BTreeSet<PathBuf> {
        let depth = |path: &Path| path.components().count();
        let folders = self
            .nodes
            .iter()
            .flat_map(|(path, (node, _))| path.ancestors().skip(usize::from(!matches!(node, Node::Folder))));
        let outside =
            folders.filter(|path| depth(path) == 3 && !is_systems(path) && !path.starts_with("/etc"));
        outside.map(Path::to_owned).collect()
    }

    /// What a list says of each path, and where the files are.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn listed(mut self) -> Result<(ListedFiles, KnownFiles), ImageError> {
        self.undate_all()?;
        let (mut files, mut known) = (ListedFiles::new(), KnownFiles::new());
        let mut first: BTreeMap<usize, PathBuf> = BTreeMap::new();
        for (path, (node, _)) in std::mem::take(&mut self.nodes) {
            // A single file beside the system's folders is nobody's.
            if path.components().count() < 3 && matches!(node, Node::File(_)) {
                continue;
            }
            let listed = match node {
                Node::Folder => Listed::Folder,
                Node::Link(target) => Listed::Link(target),
                Node::File(packed) => match first.get(&packed) {
                    Some(first) => Listed::Twin(first.clone()),
                    None => {
                        first.insert(packed, path.clone());
                        let Packed { hash, bytes, runs, .. } = &self.packed[packed];
                        known.insert(hash.clone(), self.kept.join(hash));
                        Listed::File { hash: hash.clone(), bytes: *bytes, runs: *runs }
                    }
                },
            };
            files.insert(path, listed);
        }
        Ok((files, known))
    }

    /// What Python has compiled holds whatever the date of its source, which changes; and what is out of date goes.
    fn undate_all(&mut self) -> Result<(), ImageError> {
        let compiled: Vec<PathBuf> = self
            .nodes
            .keys()
            .filter(|path| path.extension().is_some_and(|ending| ending == "pyc"))
            .cloned()
            .collect();
        for path in compiled {
            let Some((Node::File(packed), _)) = self.nodes.get(&path) else { continue };
            let Packed { hash, bytes, .. } = &self.packed[*packed];
            if *bytes > LARGEST_COMPILED {
                continue;
            }
            let own = |error| ImageError::Write(self.kept.to_owned(), error);
            let mut head = fs::read(self.kept.join(hash)).map_err(own)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let stem = name.split('.').next().unwrap_or_default();
            let source = path.parent().and_then(Path::parent).map(|folder| folder.join(format!("{stem}.py")));
            let source = source.and_then(|source| match self.nodes.get(&source) {
                Some((Node::File(source), _)) => {
                    Some((self.packed[*source].date, self.packed[*source].bytes as u32))
                }
                _ => None,
            });
            if !undate(&mut head, source) {
                // Those without a source beside them are a program's own.
                if source.is_some() {
                    self.nodes.remove(&path);
                }
                continue;
            }
            let hash = hex(&Sha256::digest(&head));
            File::create(self.kept.join(&hash)).and_then(|mut file| file.write_all(&head)).map_err(own)?;
            let bytes = head.len() as u64;
            self.packed.push(Packed { hash, bytes, runs: false, date: 0 });
            self.nodes.insert(path, (Node::File(self.packed.len() - 1), self.layer));
        }
        Ok(())
    }
}

/// Whether a sandbox shows anything of this path, or below it.
fn is_shown(path: &Path) -> bool {
    let settings =
        || SETTINGS.iter().any(|shown| path.starts_with(shown) || Path::new(shown).starts_with(path));
    !LEFT_OUT.iter().any(|left| path.starts_with(left)) && (!path.starts_with("/etc") || settings())
}
