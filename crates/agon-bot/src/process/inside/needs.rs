//! The files of this machine that a program of its user's needs besides its own folder: what runs it, and where that is
//! installed; and the programs that a stranger's command names, from which follows what its [image](super::strangers)
//! holds.
//!
//! A program is followed through its links, its `#!` line and the programs it calls by name, to the folders that
//! hold interpreters: virtual environments, pyenv, nvm, conda, rustup, a JDK besides the system's. Of a stranger's program
//! only the files in its own folder are read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::launch::Launch;
use crate::name::Confined;
use crate::paths::{is_systems, plain, settled, stays};
use crate::{build, sys, tools};

/// Folders of programs, below the folder of what they belong to.
const BINS: [&str; 4] = ["bin", "sbin", "shims", "libexec"];
/// At most this many files are followed.
const MOST: usize = 256;
/// At most this many names are collected.
const MOST_NAMES: usize = 4096;
/// Only this much of a script is read.
const LARGEST: u64 = 64 << 10;
/// Names of interpreters beside those of [`tools::TOOLS`].
const ALSO: [&str; 12] =
    ["python", "python2", "sh", "bash", "dash", "env", "mono", "deno", "bun", "kotlin", "pypy3", "ts-node"];
/// Where tools keep their files, relative to the user's home, unless the variable says otherwise.
const HOMES: [(&str, &str); 7] = [
    ("RUSTUP_HOME", ".rustup"),
    ("CARGO_HOME", ".cargo"),
    ("PYENV_ROOT", ".pyenv"),
    ("VOLTA_HOME", ".volta"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("SDKMAN_DIR", ".sdkman"),
    ("MISE_DATA_DIR", ".local/share/mise"),
];

/// What a program needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Files and folders, besides the system's and its own folder.
    pub places: BTreeSet<PathBuf>,
    /// Variables that let its tools find them, including `PATH`.
    pub variables: BTreeMap<String, String>,
}

/// What matters here about the user.
#[derive(Clone, Debug)]
pub struct User {
    /// The folders searched for programs.
    pub path: Vec<PathBuf>,
    /// The home, never shown as a whole.
    pub home: Option<PathBuf>,
    /// Where browsers put downloads: not shown as a whole either.
    pub downloads: Vec<PathBuf>,
}

impl User {
    /// The programs of this name on the path, the first first.
    pub(super) fn find(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let all = self.path.iter().map(move |folder| folder.join(name));
        all.filter(|file| file.is_file() && sys::may_execute(file))
    }

    /// The user running this program.
    pub fn own() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let absolute = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        let path = absolute.map(|folder| settled(&folder)).collect();
        let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let home = set("HOME");
        let usual = home.as_ref().map(|home| home.join("Downloads"));
        let downloads = [set("XDG_DOWNLOAD_DIR"), usual].into_iter().flatten().collect();
        Self { path, home, downloads }
    }

    /// Whether a folder holds more than a bot: the home and what is above it, the download folder, the root.
    pub fn shares(&self, folder: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let downloads = self.downloads.iter().any(|place| real(place) == real(folder));
        let home = self.home.as_ref().is_some_and(|home| home.starts_with(folder));
        // Everybody's, and a sandbox has its own.
        let own = ["/tmp", "/var/tmp", "/etc", "/dev/shm"].iter().any(|own| folder == Path::new(own));
        downloads || home || own || folder.parent().is_none()
    }
}

/// What `program`, the file that `launch` runs, needs.
pub fn of(launch: &Launch, program: &Path, user: &User) -> Needs {
    search(launch, program, user).finish()
}

/// The same for a build, which gets every known compiler that is installed, because `make` and the like may call any
/// of them.
pub fn of_build(launch: &Launch, program: &Path, user: &User) -> Needs {
    let mut search = search(launch, program, user);
    tools::TOOLS.iter().map(|tool| tool.program).chain(ALSO).for_each(|name| search.word(name));
    search.finish()
}

/// What of our own a stranger's command names: what we have compiled for it.
pub fn of_strangers(launch: &Launch, user: &User) -> Needs {
    let mut search = search(launch, Path::new(&launch.program), user);
    std::mem::take(&mut search.names);
    search.finish()
}

/// The names of the programs that a stranger's command calls, as far as its words and files say.
pub fn programs(launch: &Launch, user: &User) -> BTreeSet<String> {
    let mut search = search(launch, Path::new(&launch.program), user);
    let name = launch.program.to_string_lossy();
    // What these read says what else is called.
    let more: &[&str] = match name.rsplit('/').next() {
        Some("make" | "gmake") => &["Makefile", "makefile", "GNUmakefile"],
        Some("npm" | "npx") => &["package.json"],
        _ => &[],
    };
    for file in more {
        search.script(&search.folder.join(file));
    }
    search.names
}

fn search<'a>(launch: &Launch, program: &Path, user: &'a User) -> Search<'a> {
    let folder = launch.folder.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let foreign = launch.confined == Confined::Foreign;
    let mut search = Search {
        user,
        folder,
        foreign,
        seen: BTreeSet::new(),
        names: BTreeSet::new(),
        needs: Needs::default(),
    };
    match foreign {
        true => search.word(&program.to_string_lossy()),
        false => search.file(program),
    }
    let is_shell = program.file_name().is_some_and(|name| name.to_string_lossy().ends_with("sh"));
    for word in &launch.arguments {
        if is_shell || foreign && word.to_string_lossy().ends_with(".sh") {
            search.script(&plain(&search.folder.join(word)));
        }
        search.argument(Path::new(word));
        for part in word.to_string_lossy().split(':').filter(|part| part.starts_with('/')) {
            search.argument(Path::new(part));
        }
    }
    if !foreign {
        search.packages(program);
        search.packages_above();
    }
    search
}

struct Search<'a> {
    user: &'a User,
    folder: PathBuf,
    foreign: bool,
    seen: BTreeSet<PathBuf>,
    /// What a stranger calls.
    names: BTreeSet<String>,
    needs: Needs,
}

impl Search<'_> {
    /// Follows a word that names a program.
    fn word(&mut self, word: &str) {
        let name = word.rsplit('/').next().unwrap_or(word);
        if self.foreign {
            if self.names.len() < MOST_NAMES {
                self.names.insert(name.to_owned());
            }
            let own = plain(&self.folder.join(word));
            if word.contains('/') && own.starts_with(&self.folder) {
                self.file(&own);
            }
            return;
        }
        let file = if word.contains('/') {
            Some(plain(&self.folder.join(word)))
        } else {
            self.user.find(name).next()
        };
        if let Some(file) = file {
            self.file(&file);
        }
    }

    /// Follows a program and whatever runs it.
    fn file(&mut self, file: &Path) {
        // The words of a script may also name devices and folders.
        if self.seen.len() >= MOST || !file.is_file() || !self.seen.insert(file.to_owned()) {
            return;
        }
        // Files in a stranger's folder may point anywhere. A link to a program of the system is that program.
        if self.foreign {
            if !stays(file, &self.folder) {
                return;
            }
            if let Some(name) = file.canonicalize().ok().as_deref().and_then(Path::file_name) {
                self.names.insert(name.to_string_lossy().into_owned());
            }
        } else {
            self.show(file);
            if let Ok(target) = fs::read_link(file) {
                self.file(&plain(&file.parent().unwrap_or(file).join(target)));
            }
            if let Ok(real) = file.canonicalize() {
                self.file(&real);
            }
            self.environment(file);
        }
        let Some(text) = behind_mark(file) else { return };
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let words: Vec<&str> = first.split_whitespace().filter(|word| !word.starts_with('-')).collect();
        let runs_others = words.iter().any(|word| word.ends_with("sh"));
        words.into_iter().take(3).for_each(|word| self.word(word));
        if runs_others && !is_systems(file) {
            self.calls(rest);
        }
    }

    /// Follows what a shell script calls, if it has no `#!` line or its shell was named.
    fn script(&mut self, file: &Path) {
        if !file.is_file() || self.foreign && !stays(file, &self.folder) {
            return;
        }
        let mut text = Vec::new();
        if File::open(file).and_then(|file| file.take(LARGEST).read_to_end(&mut text)).is_ok() {
            self.calls(&String::from_utf8_lossy(&text));
        }
    }

    /// Follows whatever the lines of a shell script may call.
    fn calls(&mut self, lines: &str) {
        let lines = lines.lines().filter(|line| !line.trim_start().starts_with('#'));
        let names: BTreeSet<&str> = lines.flat_map(|line| line.split(is_between_words)).collect();
        // `${PYTHON:-python3}` is a name and what is meant if there is none.
        let names = names.into_iter().map(|name| name.trim_start_matches(['-', '+', '?']));
        names.filter(|name| !name.is_empty() && name.len() < 64).for_each(|name| {
            let runs = |file: &Path| file.is_absolute() && file.is_file() && sys::may_execute(file);
            if !name.contains('/') || self.foreign || runs(Path::new(name)) {
                self.word(name);
            }
        });
    }

    /// Shows the folder that a program belongs to.
    fn show(&mut self, file: &Path) {
        if is_systems(file) || self.is_its_own(file) {
            return;
        }
        let Some(folder) = file.parent() else { return };
        if file.starts_with("/nix/store") {
            self.needs.places.insert("/nix/store".into());
            return;
        }
        let is_bin = folder.file_name().is_some_and(|name| BINS.iter().any(|bin| name == *bin));
        let whole = folder.parent().filter(|_| is_bin);
        // Never a home, nor a folder that holds more than programs.
        let place = [whole, Some(folder)].into_iter().flatten().find(|place| !self.is_too_much(place));
        self.needs.places.insert(place.unwrap_or(file).to_owned());
        let Some(home) = &self.user.home else { return };
        if file.starts_with(home.join(".local")) && home.join(".local/lib").is_dir() {
            self.needs.places.insert(home.join(".local/lib"));
        }
        for (variable, name) in HOMES {
            let usual = home.join(name);
            let set = std::env::var_os(variable).map(PathBuf::from);
            // Programs in cargo's folder are run by those in rustup's.
            let rustups = name == ".rustup" && file.starts_with(home.join(".cargo"));
            let mut all = [Some(usual), set].into_iter().flatten().filter(|own| own.is_dir());
            if let Some(own) = all.find(|own| file.starts_with(own) || rustups) {
                self.needs.places.insert(own.clone());
                self.needs.variables.insert(variable.to_owned(), own.to_string_lossy().into_owned());
            }
        }
    }

    /// Whether a file is shown with the bot's folder. What lies in a folder that holds more than the bot is not.
    fn is_its_own(&self, file: &Path) -> bool {
        file.starts_with(&self.folder) && !self.user.shares(&self.folder)
    }

    /// Whether a folder is a home, contains one, or is where users keep everything.
    fn is_too_much(&self, folder: &Path) -> bool {
        let home = self.user.home.as_deref();
        let is_homes = home.is_some_and(|home| home.starts_with(folder) || folder == home.join(".local"));
        is_homes || folder.components().count() < 3 && !folder.starts_with("/opt")
    }

    /// Follows a virtual environment to the Python it was made from.
    fn environment(&mut self, file: &Path) {
        let Some(prefix) = file.parent().and_then(Path::parent) else { return };
        let Ok(text) = fs::read_to_string(prefix.join("pyvenv.cfg")) else { return };
        let home = text.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == "home").then(|| PathBuf::from(value.trim()))
        });
        if let Some(home) = home.filter(|home| home.is_absolute()) {
            self.file(&home.join("python3"));
        }
    }

    /// Shows an argument that names a file: the user's own, or one that we built.
    fn argument(&mut self, word: &Path) {
        let file = plain(&self.folder.join(word));
        let built = file.starts_with(build::cache().join("built"));
        if word.as_os_str().is_empty() || self.foreign && !built || !file.exists() {
            return;
        }
        if is_systems(&file) || self.is_its_own(&file) {
            return;
        }
        let place = if file.is_dir() { &*file } else { file.parent().unwrap_or(&file) };
        let place = if self.is_too_much(place) { &*file } else { place };
        if !self.is_too_much(place) || place.is_file() {
            self.needs.places.insert(place.to_owned());
        }
    }

    /// Shows the packages that the user has installed for Python and Node.
    fn packages(&mut self, program: &Path) {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let seen: Vec<String> = self
            .seen
            .iter()
            .filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned()))
            .collect();
        let calls = |what: &str| name.starts_with(what) || seen.iter().any(|name| name.starts_with(what));
        let home = self.user.home.clone().unwrap_or_default();
        let own = home.join(".local/lib");
        if calls("python") && own.is_dir() {
            self.needs.places.insert(own);
            let base = home.join(".local").to_string_lossy().into_owned();
            self.needs.variables.insert("PYTHONUSERBASE".to_owned(), base);
        }
        for (what, variable) in [("python", "PYTHONPATH"), ("node", "NODE_PATH"), ("java", "CLASSPATH")] {
            let Some(value) = std::env::var_os(variable).filter(|_| calls(what)) else { continue };
            for place in std::env::split_paths(&value).filter(|place| place.is_absolute()) {
                self.argument(&place);
            }
            self.needs.variables.insert(variable.to_owned(), value.to_string_lossy().into_owned());
        }
    }

    /// Shows the packages of Node that lie above the bot's folder, where Node looks for them, and what says of which kind its
    /// modules are: `dist/bot.js` belongs to the folder that `dist` lies in.
    fn packages_above(&mut self) {
        let is_node = |file: &PathBuf| file.file_name().is_some_and(|name| name == "node");
        if !self.seen.iter().any(is_node) {
            return;
        }
        for folder in self.folder.ancestors().skip(1).filter(|folder| folder.parent().is_some()) {
            let all = ["node_modules", "package.json"].map(|name| folder.join(name));
            self.needs.places.extend(all.into_iter().filter(|place| place.exists() && !place.is_symlink()));
        }
    }

    fn finish(mut self) -> Needs {
        // A place inside another shown place need not be listed.
        let all = self.needs.places.clone();
        self.needs.places.retain(|place| {
            let covers = |other: &PathBuf| other != place && place.starts_with(other);
            !all.iter().any(covers) && place.exists() && place.as_os_str() != "/"
        });
        let shown = |folder: &&PathBuf| {
            let mut places = self.needs.places.iter();
            is_systems(folder) || self.is_its_own(folder) || places.any(|place| folder.starts_with(place))
        };
        let mut path: Vec<String> = Vec::new();
        for folder in self.user.path.iter().filter(shown).map(|folder| folder.to_string_lossy().into_owned())
        {
            if !path.contains(&folder) {
                path.push(folder);
            }
        }
        for usual in ["/usr/local/bin", "/usr/bin", "/bin"] {
            if !path.iter().any(|folder| folder == usual) {
                path.push(usual.to_owned());
            }
        }
        self.needs.variables.insert("PATH".to_owned(), path.join(":"));
        self.needs
    }
}

/// The text after `#!`; none for any other file, of which only the first two bytes are read.
fn behind_mark(file: &Path) -> Option<String> {
    let (mut mark, mut text) = ([0; 2], Vec::new());
    let mut file = File::open(file).ok()?;
    file.read_exact(&mut mark).ok().filter(|()| mark == *b"#!")?;
    file.take(LARGEST - 2).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Whether a character separates words in a shell script.
fn is_between_words(letter: char) -> bool {
    letter.is_whitespace() || "\"'`;|&()<>=${},:".contains(letter)
}
