//! Which files of this machine an image holds: those that its languages list, and what these lead to by links, by their
//! first lines and by the libraries that they load.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use agon_sandbox::SETTINGS;

use super::elf::{ElfFile, ElfTarget};
use super::languages::{BASE, ImageLanguage, LANGUAGES, LIBRARIES};
use super::patterns::{arch, fits, matching};
use super::{ImageError, ImageSet};
use crate::build::cache;
use crate::paths::is_systems;
use crate::process::guard;
use crate::process::inside::{User, tool_of};

/// An image of more files or bytes is refused: what was named is no language.
pub const MOST_FILES: usize = 100_000;
pub const MOST_BYTES: u64 = 4 << 30;
/// Names that are never part of an image: what tools write when they are used, and what is read by people.
const NEVER: [&str; 7] = ["*.pyo", "*.opt-?.pyc", "__pycache__.*", ".git", "man", "*.debug", ".cache"];

/// A file of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gathered {
    /// To be copied from the same path here.
    File {
        bytes: u64,
        runs: bool,
    },
    /// To be copied from elsewhere here.
    Brought {
        from: PathBuf,
        bytes: u64,
        runs: bool,
    },
    /// The same file as another here, by a further name (`git-add` is `git`), and so it is in the image.
    Twin(PathBuf),
    Link(PathBuf),
    Folder,
}

/// What was gathered.
#[derive(Debug, Default)]
pub struct Gathering {
    pub files: BTreeMap<PathBuf, Gathered>,
    /// The folders in which programs are found.
    pub path: Vec<PathBuf>,
    /// The folders outside of the system's that are shown.
    pub places: BTreeSet<PathBuf>,
    /// What the image was made from: where one of these has changed, it is made anew.
    pub sources: BTreeSet<PathBuf>,
    bytes: u64,
    /// The first name of each file that has several.
    named: BTreeMap<(u64, u64), PathBuf>,
    /// Libraries whose dependencies are known to be here.
    followed: BTreeSet<PathBuf>,
    known: Option<BTreeMap<String, Vec<PathBuf>>>,
    /// Folders here whose files are at another path in the image.
    brought: Vec<PathBuf>,
}

impl Gathering {
    /// Gathers what a set names.
    ///
    /// # Errors
    /// A language is not installed, or what was named is no such thing.
    pub fn of(set: &ImageSet) -> Result<Self, ImageError> {
        let user = User::own();
        let mut gathering = Self::default();
        for link in agon_sandbox::SYSTEM {
            if let Ok(target) = fs::read_link(link) {
                gathering.files.insert(link.into(), Gathered::Link(target));
            }
        }
        gathering.language(&BASE, &user)?;
        let mut machine = None;
        if let Some(own) = guard::program() {
            // Ours runs inside, too, and is shown apart.
            machine = ElfFile::read(own).map(|found| found.machine);
            gathering.libraries_of(own)?;
        }
        let machine = machine.or_else(|| ElfFile::read(Path::new("/bin/sh")).map(|found| found.machine));
        for name in LIBRARIES {
            if let Some(file) = machine.and_then(|machine| gathering.library(name, machine, &[])) {
                gathering.add(&file)?;
            }
        }
        for name in set.closed() {
            let language = LANGUAGES.iter().find(|language| language.name == name);
            let wanted = set.languages.contains(&name);
            match gathering.language(language.ok_or(ImageError::Unknown(name))?, &user) {
                // What only another needs may be missing, and with it what the other needs it for.
                Err(ImageError::NotInstalled(_)) if !wanted => {}
                done => done?,
            }
        }
        for added in &set.added {
            if !added.exists() {
                return Err(ImageError::Missing(added.clone()));
            }
            if !may_hold(added) || is_home_of_all(added) || cache().starts_with(added) {
                return Err(ImageError::NeverShown(added.clone()));
            }
            gathering.sources.insert(added.clone());
            gathering.whole(added, &[])?;
            // Not the folder that a file lies in: bots may lie there, too.
            gathering.place(added);
        }
        for usual in ["/usr/local/bin", "/usr/bin", "/bin"] {
            gathering.reach(Path::new(usual));
        }
        let all = gathering.places.clone();
        gathering.places.retain(|place| !all.iter().any(|other| place != other && place.starts_with(other)));
        Ok(gathering)
    }

    fn language(&mut self, language: &ImageLanguage, user: &User) -> Result<(), ImageError> {
        let base = language.name == BASE.name;
        let mut prefixes = BTreeSet::new();
        for (index, name) in language.programs.iter().enumerate() {
            let found = match base {
                true => ["/usr/bin", "/bin"]
                    .map(|folder| Path::new(folder).join(name))
                    .into_iter()
                    .find(|file| file.is_file()),
                false => tool_of(name, user),
            };
            let Some(file) = found else {
                if index == 0 && !base {
                    return Err(ImageError::NotInstalled(language.name));
                }
                continue;
            };
            let Some(real) = self.add(&file)? else { continue };
            self.sources.extend([file.clone(), real.clone()]);
            if !base {
                self.reach(file.parent().unwrap_or(&file));
                // Scripts name it where systems have it.
                let usual = Path::new("/usr/bin").join(name);
                if !is_systems(&file) && !self.files.contains_key(&usual) {
                    self.files.insert(usual, Gathered::Link(file.clone()));
                }
            }
            if let Some(package) = package_of(&real) {
                self.whole(&package, language.without)?;
                self.place(&package);
                continue;
            }
            // What runs a virtual environment is the Python it was made from, which finds its parts by itself.
            for program in [&file, &real] {
                let Some(prefix) = prefix_of(program) else { continue };
                if index == 0 || prefix.join("bin") != Path::new("/usr/bin") {
                    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    prefixes.insert((prefix.to_owned(), name));
                }
            }
        }
        for (prefix, name) in prefixes {
            for part in language.parts {
                // The system's own folders are everybody's.
                if !part.contains('/') && is_home_of_all(&prefix) {
                    continue;
                }
                for place in matching(&prefix, &part.replace("NAME", &name)) {
                    self.sources.insert(place.clone());
                    self.whole(&place, language.without)?;
                }
            }
            self.place(&prefix);
        }
        for pattern in language.system {
            for place in matching(Path::new("/"), pattern.trim_start_matches('/')) {
                self.sources.insert(place.clone());
                self.whole(&place, language.without)?;
            }
        }
        Ok(())
    }

    /// Adds all files below a folder, as they would lie in another one.
    ///
    /// # Errors
    /// They are too many.
    pub fn bring(&mut self, here: &Path, inside: &Path) -> Result<(), ImageError> {
        self.brought.push(here.to_owned());
        // Also where it lies beside the system's folders: nothing but this is in it.
        if !is_systems(inside) && !self.places.iter().any(|place| inside.starts_with(place)) {
            self.places.insert(inside.to_owned());
        }
        let mut folders = vec![here.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (from, name) = (entry.path(), entry.file_name());
                let Ok(about) = entry.metadata() else { continue };
                if NEVER.iter().any(|pattern| fits(&name.to_string_lossy(), pattern)) {
                    continue;
                }
                if about.is_dir() {
                    folders.push(from);
                } else if about.is_file()
                    && let Ok(rest) = from.strip_prefix(here)
                {
                    let (bytes, runs) = (about.len(), about.permissions().mode() & 0o111 != 0);
                    let path = inside.join(rest);
                    self.count(bytes, &path)?;
                    self.libraries_of(&from)?;
                    self.files.insert(path, Gathered::Brought { from, bytes, runs });
                }
            }
        }
        Ok(())
    }

    /// Counts a file.
    fn count(&mut self, bytes: u64, path: &Path) -> Result<(), ImageError> {
        self.bytes += bytes;
        match self.files.len() >= MOST_FILES || self.bytes > MOST_BYTES {
            true => Err(ImageError::TooMuch(path.to_owned())),
            false => Ok(()),
        }
    }

    /// Has programs found in a folder.
    fn reach(&mut self, folder: &Path) {
        if !self.path.iter().any(|known| known == folder) {
            self.path.push(folder.to_owned());
        }
        self.place(folder);
    }

    /// Shows a folder, unless every image shows it.
    fn place(&mut self, folder: &Path) {
        if !is_systems(folder) && !is_home_of_all(folder) {
            self.places.insert(folder.to_owned());
        }
    }

    /// Adds what a path leads to, through all links on its way. Returns where it is; none if it leads nowhere.
    fn add(&mut self, path: &Path) -> Result<Option<PathBuf>, ImageError> {
        let Some(real) = self.walk(path) else { return Ok(None) };
        let Ok(about) = fs::symlink_metadata(&real) else { return Ok(None) };
        if !about.is_file() || self.files.contains_key(&real) {
            return Ok(Some(real));
        }
        if about.nlink() > 1 {
            let first = self.named.entry((about.dev(), about.ino())).or_insert_with(|| real.clone());
            if *first != real {
                self.files.insert(real.clone(), Gathered::Twin(first.clone()));
                return Ok(Some(real));
            }
        }
        self.count(about.len(), &real)?;
        let runs = about.permissions().mode() & 0o111 != 0;
        self.files.insert(real.clone(), Gathered::File { bytes: about.len(), runs });
        let named = real.file_name().unwrap_or_default().to_string_lossy();
        if runs || named.contains(".so") || named.ends_with(".node") {
            self.libraries_of(&real)?;
        }
        Ok(Some(real))
    }

    /// Notes the links on the way to a path; where it leads, if there is something.
    fn walk(&mut self, path: &Path) -> Option<PathBuf> {
        let parts = |path: &Path| -> Vec<PathBuf> {
            path.components()
                .filter(|part| !matches!(part, Component::RootDir | Component::CurDir))
                .map(|part| PathBuf::from(part.as_os_str()))
                .collect()
        };
        let mut left: VecDeque<PathBuf> = parts(path).into();
        let (mut at, mut hops) = (PathBuf::from("/"), 0);
        while let Some(part) = left.pop_front() {
            if part.as_os_str() == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&part);
            match fs::read_link(&next) {
                Ok(target) => {
                    hops += 1;
                    if hops > 40 || !may_hold(&next) {
                        return None;
                    }
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    parts(&target).into_iter().rev().for_each(|part| left.push_front(part));
                    self.files.insert(next, Gathered::Link(target));
                }
                Err(_) => at = next,
            }
        }
        (may_hold(&at) && at.exists()).then_some(at)
    }

    /// Adds a file, or a folder with everything in it but what is `without`.
    fn whole(&mut self, place: &Path, without: &[&str]) -> Result<(), ImageError> {
        let Some(real) = self.add(place)? else { return Ok(()) };
        let mut folders = vec![real.clone()];
        let mut seen = BTreeSet::new();
        while let Some(folder) = folders.pop().filter(|_| real.is_dir()) {
            if !seen.insert(folder.clone()) {
                continue;
            }
            self.files.entry(folder.clone()).or_insert(Gathered::Folder);
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let name = name.to_string_lossy();
                if NEVER.iter().chain(without).any(|pattern| fits(&name, pattern)) {
                    continue;
                }
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    self.add(&path)?;
                } else if kind.is_symlink() {
                    let target = path.canonicalize().ok();
                    // What leads out of it to another folder, or to what is no part of the system, stays a link to nothing.
                    let near = target.as_ref().is_some_and(|target| {
                        target.starts_with(&real)
                            || target.starts_with("/etc") && may_hold(target)
                            || is_systems(target) && (target.is_file() || !real.starts_with(target))
                    });
                    match target.filter(|_| near) {
                        Some(target) if target.is_dir() => {
                            self.walk(&path);
                            folders.push(target);
                        }
                        Some(_) => drop(self.add(&path)?),
                        None => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the libraries that a program or library loads, and its loader.
    fn libraries_of(&mut self, file: &Path) -> Result<(), ImageError> {
        if !self.followed.insert(file.to_owned()) {
            return Ok(());
        }
        let Some(found) = ElfFile::read(file) else { return Ok(()) };
        if let Some(loader) = &found.loader {
            self.add(loader)?;
        }
        for name in &found.libraries {
            let library = self.library(name, found.machine, &found.folders);
            // What was brought along is at its own place already.
            let is_brought = |library: &PathBuf| self.brought.iter().any(|here| library.starts_with(here));
            if let Some(library) = library.filter(|library| !is_brought(library)) {
                self.add(&library)?;
            }
        }
        Ok(())
    }

    /// Where the loader finds a library.
    fn library(&mut self, name: &str, machine: ElfTarget, first: &[PathBuf]) -> Option<PathBuf> {
        let known = self.known.get_or_insert_with(known_to_loader);
        let arch = arch();
        let usual = [
            format!("/lib/{arch}"),
            format!("/usr/lib/{arch}"),
            "/lib64".to_owned(),
            "/usr/lib64".to_owned(),
            "/lib".to_owned(),
            "/usr/lib".to_owned(),
            "/usr/local/lib".to_owned(),
        ];
        let all = first.iter().map(|folder| folder.join(name));
        let all = all.chain(known.get(name).into_iter().flatten().cloned());
        let mut all = all.chain(usual.into_iter().map(|folder| Path::new(&folder).join(name)));
        all.find(|file| ElfFile::read(file).is_some_and(|found| found.machine == machine))
    }
}

/// The libraries that this machine's loader knows.
fn known_to_loader() -> BTreeMap<String, Vec<PathBuf>> {
    let mut known: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let told =
        ["/sbin/ldconfig", "/usr/sbin/ldconfig"].into_iter().find(|program| Path::new(program).is_file());
    let told = told.and_then(|program| Command::new(program).arg("-p").stdin(Stdio::null()).output().ok());
    let told = told.map(|told| String::from_utf8_lossy(&told.stdout).into_owned());
    for line in told.unwrap_or_default().lines() {
        if let Some((name, file)) = line.split_once(" => ")
            && let Some(name) = name.split_whitespace().next()
        {
            known.entry(name.to_owned()).or_default().push(file.trim().into());
        }
    }
    known
}

/// Whether an image may hold this path. Of `/etc`, sandboxes show a few parts only.
fn may_hold(path: &Path) -> bool {
    let own = ["/proc", "/sys", "/dev"];
    let settings =
        || SETTINGS.iter().any(|shown| path.starts_with(shown) || Path::new(shown).starts_with(path));
    !own.iter().any(|own| path.starts_with(own)) && (!path.starts_with("/etc") || settings())
}

/// The folder that holds the `bin` of a program, or the program's own folder.
fn prefix_of(program: &Path) -> Option<&Path> {
    let folder = program.parent()?;
    let is_bin = folder.file_name().is_some_and(|name| name == "bin" || name == "sbin");
    if is_bin { folder.parent() } else { Some(folder) }
}

/// The package of Node that a program is part of.
fn package_of(program: &Path) -> Option<PathBuf> {
    let mut folders = program.ancestors();
    let is_modules = |folder: &Path| folder.file_name().is_some_and(|name| name == "node_modules");
    folders.find(|folder| folder.parent().is_some_and(is_modules)).map(Path::to_owned)
}

/// Whether a folder holds much more than one thing: a home, the root, the folder of packages.
fn is_home_of_all(folder: &Path) -> bool {
    let user = User::own();
    let home = user.home.as_ref();
    folder.components().count() < 3 && !is_systems(folder)
        || home.is_some_and(|home| home.starts_with(folder) || folder == home.join(".local"))
        || ["/usr", "/usr/local", "/usr/lib", "/usr/share", "/usr/bin"]
            .iter()
            .any(|all| folder == Path::new(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compilers export names for their plugins: their tables are megabytes, and they need libraries all the same.
    #[test]
    fn all_that_a_compiler_loads_is_gathered() {
        let set = ImageSet { languages: ["C++".to_owned()].into(), ..ImageSet::default() };
        let gathering = match Gathering::of(&set) {
            Err(ImageError::NotInstalled(_)) => return println!("skipped: no compiler is installed"),
            other => other.expect("gathered"),
        };
        let names: BTreeSet<_> = gathering.files.keys().filter_map(|path| path.file_name()).collect();
        let programs =
            gathering.files.iter().filter(|(_, file)| matches!(file, Gathered::File { runs: true, .. }));
        let loaded: Vec<ElfFile> = programs.filter_map(|(path, _)| ElfFile::read(path)).collect();
        assert!(loaded.len() > 20);
        for library in loaded.iter().flat_map(|file| &file.libraries) {
            assert!(names.contains(std::ffi::OsStr::new(library)), "{library}");
        }
        let compiler = gathering.files.keys().find(|path| path.ends_with("cc1plus")).expect("a compiler");
        let told = Command::new("ldd").arg(compiler).output().expect("ldd");
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        for name in told
            .lines()
            .filter(|line| line.contains(" => "))
            .filter_map(|line| line.split_whitespace().next())
        {
            assert!(names.contains(std::ffi::OsStr::new(name)), "{name}");
        }
    }
}
