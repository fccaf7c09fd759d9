//! Packages that an organiser puts into an image, by the language's own manager: in one version each, so that the same is
//! got tomorrow; and which packages an image holds.

use std::fmt;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::gather::Gathering;
use super::list::{ListReader, Listed};
use super::{FILES, Image, ImageError};
use crate::process::inside::{User, tool_of};

/// Where packages of npm are inside: above every bot's folder, so that `require` and `import` find them from everywhere.
const MODULES: &str = "/node_modules";
/// What is read of a file that describes a package.
const MOST_TOLD: u64 = 4 << 20;
/// Longest licence that is shown: some packages write the whole text there.
const LONGEST_LICENCE: usize = 60;
/// What pip notes of a package that was installed from a file.
const FROM_WHERE: &str = "direct_url.json";
/// How much of what a manager says of its failure is passed on.
const LAST_LINES: usize = 6;

/// A manager of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageManager {
    Pip,
    Npm,
}

impl PackageManager {
    fn word(self) -> &'static str {
        match self {
            Self::Pip => "pip",
            Self::Npm => "npm",
        }
    }

    /// The language whose packages it brings.
    pub fn language(self) -> &'static str {
        match self {
            Self::Pip => "Python",
            Self::Npm => "JavaScript",
        }
    }

    /// What stands between name and version.
    fn sign(self) -> &'static str {
        match self {
            Self::Pip => "==",
            Self::Npm => "@",
        }
    }

    /// How its files of packages end.
    fn ending(self) -> &'static str {
        match self {
            Self::Pip => ".whl",
            Self::Npm => ".tgz",
        }
    }
}

/// A package in one version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ImagePackage {
    pub manager: PackageManager,
    /// As one types it: `numpy==1.26.4`, `left-pad@1.3.0`, the name of a file.
    pub name: String,
    /// Where it is here, if it is a file.
    #[serde(skip)]
    file: Option<PathBuf>,
}

impl ImagePackage {
    /// Reads what was typed: a name with one version, or the path of a wheel or of a package of npm.
    ///
    /// # Errors
    /// It could be another package tomorrow, or is none.
    pub fn new(manager: PackageManager, typed: &str) -> Result<Self, ImageError> {
        if typed.ends_with(manager.ending()) {
            let file = fs::canonicalize(typed).ok().filter(|file| file.is_file());
            let file = file.ok_or_else(|| ImageError::Missing(typed.into()))?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Ok(Self { manager, name, file: Some(file) });
        }
        let wrong = |why: &str| ImageError::Package(typed.to_owned(), why.to_owned());
        // The first sign of npm may belong to the name: `@scope/name@1.0.0`.
        let from = usize::from(manager == PackageManager::Npm && typed.starts_with('@'));
        let (name, version) = match typed[from..].find(manager.sign()) {
            Some(at) => (&typed[..from + at], Some(&typed[from + at + manager.sign().len()..])),
            None => (typed, None),
        };
        let is_name = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '@' || first == '_')
                && name.chars().all(|sign| sign.is_ascii_alphanumeric() || "._-@/[],".contains(sign))
                && !name.contains("..")
        };
        let plain = name.split(['<', '>', '~', '!', '=', '^', ' ']).next().unwrap_or(name);
        if !is_name(plain) {
            return Err(wrong("that is no name of a package"));
        }
        if plain != name || !version.is_some_and(|version| is_version(manager, version)) {
            return Err(ImageError::Unpinned {
                typed: typed.to_owned(),
                example: format!("{plain}{}1.2.3", manager.sign()),
                versions: match manager {
                    PackageManager::Pip => format!("python3 -m pip index versions {plain}"),
                    PackageManager::Npm => format!("npm view {plain} versions"),
                },
            });
        }
        Ok(Self { manager, name: typed.to_owned(), file: None })
    }

    /// What its manager is told.
    fn spec(&self) -> std::ffi::OsString {
        self.file.as_ref().map_or_else(|| self.name.clone().into(), |file| file.clone().into_os_string())
    }
}

/// Whether this is one version, and not one of several.
fn is_version(manager: PackageManager, version: &str) -> bool {
    let signs = version.chars().all(|sign| sign.is_ascii_alphanumeric() || "._-+!".contains(sign));
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let all_numbers = |text: &str| text.split('.').all(|part| part.parse::<u64>().is_ok());
    signs
        && match manager {
            PackageManager::Pip => version.starts_with(|first: char| first.is_ascii_digit()),
            // `1.2` is any version that begins so.
            PackageManager::Npm => numbers.split('.').count() == 3 && all_numbers(numbers),
        }
}

impl fmt::Display for ImagePackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.manager.word(), self.name)
    }
}

impl FromStr for ImagePackage {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (word, name) = text.split_once(' ').ok_or(())?;
        let manager = [PackageManager::Pip, PackageManager::Npm].into_iter().find(|own| own.word() == word);
        Ok(Self { manager: manager.ok_or(())?, name: name.to_owned(), file: None })
    }
}

/// Installs packages in a folder, and adds what came to an image.
///
/// # Errors
/// A manager is missing, or what it said.
pub fn bring(packages: &[&ImagePackage], folder: &Path, gathering: &mut Gathering) -> Result<(), ImageError> {
    for manager in [PackageManager::Pip, PackageManager::Npm] {
        let own: Vec<&ImagePackage> =
            packages.iter().filter(|package| package.manager == manager).copied().collect();
        if own.is_empty() {
            continue;
        }
        let here = folder.join(manager.word());
        fs::create_dir_all(&here).map_err(|error| ImageError::Write(here.clone(), error))?;
        let (here, inside) = match manager {
            PackageManager::Pip => pip(&own, &here)?,
            PackageManager::Npm => npm(&own, &here)?,
        };
        gathering.bring(&here, &inside)?;
    }
    Ok(())
}

fn tool(name: &'static str) -> Result<PathBuf, ImageError> {
    tool_of(name, &User::own()).ok_or(ImageError::NotInstalled(name))
}

/// Runs a manager; what it writes at last says why it failed.
fn run(manager: PackageManager, command: &mut Command) -> Result<(), ImageError> {
    let failed = |why: String| ImageError::Manager(manager.word(), why);
    let done = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned() + &String::from_utf8_lossy(&done.stdout);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n  ");
    Err(failed(if last.is_empty() { done.status.to_string() } else { last }))
}

/// Wheels only: nothing of a package is run here.
fn pip(packages: &[&ImagePackage], here: &Path) -> Result<(PathBuf, PathBuf), ImageError> {
    let python = tool("python3")?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--only-binary", ":all:", "--no-compile", "--no-input"]);
    install.args(["--disable-pip-version-check", "--no-warn-script-location", "--target"]).arg(here);
    install.args(packages.iter().map(|package| package.spec()));
    run(PackageManager::Pip, &mut install)?;
    let place = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let told = Command::new(&python).args(["-c", place]).stdin(Stdio::null()).output();
    let told = told.map(|told| String::from_utf8_lossy(&told.stdout).trim().to_owned()).unwrap_or_default();
    let inside = Some(PathBuf::from(told)).filter(|inside| inside.is_absolute());
    let inside = inside.ok_or_else(|| {
        ImageError::Manager("pip", "this Python does not say where its packages are".to_owned())
    })?;
    // Scripts name this machine's Python, and this says from where here a file was installed.
    let _ = fs::remove_dir_all(here.join("bin"));
    for entry in fs::read_dir(here).into_iter().flatten().flatten() {
        let _ = fs::remove_file(entry.path().join(FROM_WHERE));
        // The list of its files, whose lines end in one way or another.
        let record = entry.path().join("RECORD");
        let Some(text) = read(&record) else { continue };
        let kept = text.lines().filter(|line| !line.contains(FROM_WHERE)).flat_map(|line| [line, "\n"]);
        fs::write(&record, kept.collect::<String>()).map_err(|error| ImageError::Write(record, error))?;
    }
    // Compiled once for all, with the names that the files have inside. What cannot be compiled is compiled when it is used.
    let mut compile = Command::new(&python);
    compile.args(["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s"]).arg(here);
    let _ = compile.arg("-p").arg(&inside).arg(here).stdin(Stdio::null()).output();
    Ok((here.to_owned(), inside))
}

/// Without scripts of packages: nothing of one is run here.
fn npm(packages: &[&ImagePackage], here: &Path) -> Result<(PathBuf, PathBuf), ImageError> {
    let mut install = Command::new(tool("npm")?);
    install.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--omit=dev"]);
    install.args(["--loglevel=error", "--prefix"]).arg(here);
    install.args(packages.iter().map(|package| package.spec()));
    run(PackageManager::Npm, &mut install)?;
    let modules = here.join("node_modules");
    // Which says from where here a file was installed, and links to programs.
    let _ = fs::remove_file(modules.join(".package-lock.json"));
    let _ = fs::remove_dir_all(modules.join(".bin"));
    Ok((modules, MODULES.into()))
}

/// A package that an image holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldPackage {
    pub manager: PackageManager,
    pub name: String,
    pub version: String,
    /// As the package says it.
    pub licence: Option<String>,
    pub bytes: u64,
}

impl Image {
    /// The packages that it holds, besides those that belong to a tool.
    ///
    /// # Errors
    /// Its list cannot be read.
    pub fn packages(&self) -> Result<Vec<HeldPackage>, ImageError> {
        let wrong = |why: String| ImageError::Unsound(self.hash.clone(), why);
        let list = self.folder.join(FILES);
        let list = File::open(&list).map_err(|error| ImageError::Write(list, error))?;
        let (mut described, mut sizes) = (Vec::new(), Vec::new());
        for line in ListReader::new(list).map_err(wrong)? {
            let (path, listed) = line.map_err(wrong)?;
            let Listed::File { bytes, .. } = listed else { continue };
            if let Some((manager, folder)) = describes(&path) {
                described.push((manager, folder.to_owned(), path.clone()));
            }
            sizes.push((path, bytes));
        }
        let held = described.into_iter().filter_map(|(manager, folder, path)| {
            let text = read(&self.real(&path)?)?;
            let mut held = match manager {
                PackageManager::Pip => of_wheel(&text)?,
                PackageManager::Npm => of_npm(&text)?,
            };
            held.bytes = match manager {
                PackageManager::Npm => {
                    sizes.iter().filter(|(path, _)| path.starts_with(&folder)).map(|(_, bytes)| bytes).sum()
                }
                PackageManager::Pip => {
                    let record = self.real(&folder.join("RECORD")).and_then(|record| read(&record));
                    let size = |line: &str| line.rsplit(',').next()?.trim().parse::<u64>().ok();
                    record.unwrap_or_default().lines().filter_map(size).fold(0, u64::saturating_add)
                }
            };
            Some(held)
        });
        Ok(held.collect())
    }
}

/// Whether a file describes a package, and the folder that this is about.
fn describes(path: &Path) -> Option<(PackageManager, &Path)> {
    let folder = path.parent()?;
    let name = path.file_name()?.to_str()?;
    if name == "METADATA" && folder.extension().is_some_and(|ending| ending == "dist-info") {
        return Some((PackageManager::Pip, folder));
    }
    let is_modules = |path: &Path| path.file_name().is_some_and(|name| name == "node_modules");
    let inner = folder.parent()?;
    let is_scope = inner.file_name().is_some_and(|name| name.to_string_lossy().starts_with('@'));
    let modules = if is_scope { inner.parent()? } else { inner };
    // Not those that another brings along for itself, nor npm itself.
    let once = path.ancestors().filter(|above| is_modules(above)).count() == 1;
    let is_tools = ["npm", "corepack"].iter().any(|tool| folder.ends_with(tool));
    (name == "package.json" && is_modules(modules) && once && !is_tools)
        .then_some((PackageManager::Npm, folder))
}

fn read(file: &Path) -> Option<String> {
    let mut text = Vec::new();
    File::open(file).ok()?.take(MOST_TOLD).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn short(licence: &str) -> Option<String> {
    let line = licence.trim().lines().next().unwrap_or_default();
    let is_none = line.is_empty() || line == "UNKNOWN";
    (!is_none).then(|| line.chars().take(LONGEST_LICENCE).collect())
}

/// What the head of a wheel's METADATA says.
fn of_wheel(text: &str) -> Option<HeldPackage> {
    let head: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let all = |name: &str| {
        let name = format!("{name}: ");
        head.iter().filter_map(move |line| line.strip_prefix(&name)).collect::<Vec<_>>()
    };
    let one = |name: &str| all(name).first().map(|value| (*value).to_owned());
    let classified = || {
        let licences = all("Classifier").into_iter().filter(|value| value.starts_with("License ::"));
        licences.filter_map(|value| value.rsplit(" :: ").next()).next().map(str::to_owned)
    };
    let licence = one("License-Expression").or_else(|| one("License")).and_then(|licence| short(&licence));
    Some(HeldPackage {
        manager: PackageManager::Pip,
        name: one("Name")?,
        version: one("Version")?,
        licence: licence.or_else(classified),
        bytes: 0,
    })
}

/// What a package.json says.
fn of_npm(text: &str) -> Option<HeldPackage> {
    let told: serde_json::Value = serde_json::from_str(text).ok()?;
    let licence = &told["license"];
    Some(HeldPackage {
        manager: PackageManager::Npm,
        name: told["name"].as_str()?.to_owned(),
        version: told["version"].as_str()?.to_owned(),
        licence: licence.as_str().or_else(|| licence["type"].as_str()).and_then(short),
        bytes: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_one_version() {
        let new = |manager, typed: &str| ImagePackage::new(manager, typed);
        for typed in ["numpy==1.26.4", "a.b-c_d==2024.1", "x[extra]==1!2.0rc1"] {
            assert!(new(PackageManager::Pip, typed).is_ok(), "{typed}");
        }
        for typed in ["left-pad@1.3.0", "@scope/name@1.0.0-rc.1", "a@1.2.3+b"] {
            assert!(new(PackageManager::Npm, typed).is_ok(), "{typed}");
        }
        for typed in ["numpy", "numpy>=1", "numpy==", "numpy==1.*", "numpy~=1.2", "numpy==1,<2"] {
            let said = new(PackageManager::Pip, typed).expect_err(typed).to_string();
            assert!(said.contains("numpy==1.2.3") && said.contains("index versions numpy"), "{said}");
        }
        for typed in ["ws", "ws@latest", "ws@^1.0.0", "ws@1.2", "ws@1.x.0", "ws@"] {
            let said = new(PackageManager::Npm, typed).expect_err(typed).to_string();
            assert!(said.contains("ws@1.2.3") && said.contains("npm view ws versions"), "{said}");
        }
        for typed in ["--index-url=x==1", "-r", "", "git+https://x/y==1", "a b==1;c==1", "../x==1"] {
            assert!(new(PackageManager::Pip, typed).is_err(), "{typed}");
        }
        for typed in ["-g@1.0.0", "../x@1.0.0", "git+ssh://x@1.0.0", "http://x/y@1.0.0"] {
            assert!(new(PackageManager::Npm, typed).is_err(), "{typed}");
        }
        let gone = new(PackageManager::Npm, "./nowhere-1.0.0.tgz");
        assert!(matches!(gone, Err(ImageError::Missing(_))), "{gone:?}");
    }

    #[test]
    fn what_packages_say_of_themselves_is_read() {
        let wheel = of_wheel("Metadata-Version: 2.1\nName: own\nVersion: 1.0\nLicense: MIT\n\nName: other\n");
        let wheel = wheel.expect("a package");
        assert_eq!((&*wheel.name, &*wheel.version, wheel.licence.as_deref()), ("own", "1.0", Some("MIT")));
        let classified =
            "Name: a\nVersion: 1\nLicense: UNKNOWN\nClassifier: License :: OSI Approved :: BSD License\n";
        assert_eq!(of_wheel(classified).expect("a package").licence.as_deref(), Some("BSD License"));
        assert!(of_wheel("").is_none() && of_npm("[").is_none() && of_npm("{}").is_none());
        let npm = of_npm(r#"{"name":"a","version":"1.0.0","license":{"type":"ISC"}}"#).expect("a package");
        assert_eq!(npm.licence.as_deref(), Some("ISC"));
        for (path, is) in [
            ("/node_modules/a/package.json", true),
            ("/node_modules/@s/a/package.json", true),
            ("/node_modules/a/lib/package.json", false),
            ("/node_modules/a/node_modules/b/package.json", false),
            ("/usr/lib/node_modules/npm/package.json", false),
            ("/usr/lib/python3/dist-packages/a-1.dist-info/METADATA", true),
            ("/usr/lib/METADATA", false),
        ] {
            assert_eq!(describes(Path::new(path)).is_some(), is, "{path}");
        }
    }
}
