//! What strangers' commands may name, and what strangers see of the tools that this machine's user has installed.
//!
//! They see the system's folders and the packages that an organiser declares. Of a tool somewhere else, such as in a
//! home, they see only what is executed: its programs, its libraries, its standard library. Never a whole folder of a
//! manager of versions, which may hold tokens, and no packages that somebody added: those an organiser would have declared.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::needs::{ALSO, BINS, Needs, User};
use crate::paths::{is_systems, plain, stays};
use crate::process::guard;
use crate::{build, tools};

/// What is shown of the folder that a tool was installed into, where it has it.
const PARTS: [&str; 11] =
    ["bin", "sbin", "lib", "lib64", "libexec", "include", "jmods", "jre", "release", "boot", "conf/logging"];
/// What else a Java, a Go and a .NET have, and how they are recognised.
const MORE: [(&str, &[&str]); 3] = [
    ("lib/modules", &["conf"]),
    ("pkg/tool", &["pkg", "src", "VERSION", "go.env"]),
    ("host/fxr", &["host", "shared", "sdk", "sdk-manifests", "packs", "templates"]),
];
/// Folders of packages that were added to a tool's own libraries.
const PACKAGES: [&str; 3] = ["site-packages", "dist-packages", "node_modules"];
/// How long a manager of versions may take to say where a tool is.
const PATIENCE: Duration = Duration::from_secs(10);

/// A manager of versions. It puts stand-ins on the path, which find out at each start which version is meant.
struct Manager {
    program: &'static str,
    /// The variable that names its folder, and where that is otherwise, relative to the home.
    folder: (&'static str, &'static str),
    stand_ins: &'static str,
}

const fn manager(
    program: &'static str,
    folder: (&'static str, &'static str),
    stand_ins: &'static str,
) -> Manager {
    Manager { program, folder, stand_ins }
}

const MANAGERS: [Manager; 5] = [
    manager("rustup", ("CARGO_HOME", ".cargo"), "bin"),
    manager("pyenv", ("PYENV_ROOT", ".pyenv"), "shims"),
    manager("volta", ("VOLTA_HOME", ".volta"), "bin"),
    manager("asdf", ("ASDF_DATA_DIR", ".asdf"), "shims"),
    manager("mise", ("MISE_DATA_DIR", ".local/share/mise"), "shims"),
];

/// A tool that bots are known to need, as it is installed here.
pub(crate) struct Found {
    /// The folder of the path where it was found.
    pub on_path: PathBuf,
    /// The program itself.
    pub file: PathBuf,
}

/// Finds a tool by its name; none if it is not one, or is not installed.
pub fn tool(name: &str, user: &User) -> Option<Found> {
    let is_one = tools::TOOLS.iter().any(|tool| tool.program == name) || ALSO.contains(&name);
    let mut all = user.find(name).filter(|_| is_one);
    all.find_map(|found| {
        let on_path = found.parent()?.to_owned();
        let file = match managed(&on_path, user) {
            Some((manager, folder)) => told_by(manager, &folder, name, user)?,
            None => found,
        };
        Some(Found { on_path, file })
    })
}

/// The manager whose stand-ins are in this folder, and the manager's own folder.
fn managed(on_path: &Path, user: &User) -> Option<(&'static Manager, PathBuf)> {
    MANAGERS.iter().find_map(|manager| {
        let (variable, usual) = manager.folder;
        let set = std::env::var_os(variable).map(PathBuf::from);
        let usual = user.home.as_ref().map(|home| home.join(usual));
        let mut folders = [set, usual].into_iter().flatten();
        Some((manager, folders.find(|folder| folder.join(manager.stand_ins) == on_path)?))
    })
}

/// Asks a manager where a tool is. It is asked once, and not from a stranger's folder, whose files would be read.
fn told_by(manager: &Manager, folder: &Path, name: &str, user: &User) -> Option<PathBuf> {
    static TOLD: Mutex<BTreeMap<PathBuf, Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let key = folder.join(manager.stand_ins).join(name);
    if let Some(known) = told.get(&key) {
        return known.clone();
    }
    let program =
        user.find(manager.program).next().unwrap_or_else(|| folder.join("bin").join(manager.program));
    let answer = tools::answer(Command::new(program).args(["which", name]).current_dir("/"), PATIENCE);
    let file =
        answer.map(|line| PathBuf::from(line.trim_end())).filter(|file| file.is_absolute() && file.is_file());
    told.insert(key, file.clone());
    file
}

/// Shows what strangers see of the place where a tool is installed.
pub fn show(file: &Path, is_too_much: impl Fn(&Path) -> bool, needs: &mut Needs) {
    // What a link leads to is shown where it is: a program finds its parts beside itself.
    if !file.is_symlink() {
        needs.places.insert(file.to_owned());
    }
    let Some(folder) = file.parent() else { return };
    let is_bin = folder.file_name().is_some_and(|name| BINS.iter().any(|bin| name == *bin));
    let whole = if is_bin { folder.parent().unwrap_or(folder) } else { folder };
    if is_too_much(whole) {
        return;
    }
    let mut add = |part: &str| {
        let place = whole.join(part);
        if place.exists() {
            needs.places.insert(place);
        }
    };
    for (sign, parts) in MORE {
        if whole.join(sign).exists() {
            parts.iter().for_each(|part| add(part));
        }
    }
    // A virtual environment names the Python it was made from.
    add("pyvenv.cfg");
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if whole.parent().is_some_and(|above| name(above) == "node_modules") {
        // A package that is a program, such as npm.
        needs.places.insert(whole.to_owned());
    } else if is_bin && !name(whole).starts_with('.') {
        PARTS.iter().for_each(|part| add(part));
        needs.hidden.extend(["lib", "lib64"].into_iter().flat_map(|part| added(&whole.join(part))));
    }
}

/// The folders of packages below a tool's libraries: directly, or in that of a version (`lib/python3.12`).
fn added(libraries: &Path) -> Vec<PathBuf> {
    let versions = fs::read_dir(libraries).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_version = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("python") || name.starts_with("pypy")
    };
    let folders = versions.filter(is_version).chain([libraries.to_owned()]);
    let all = folders.flat_map(|folder| PACKAGES.map(|name| folder.join(name)));
    all.filter(|folder| folder.is_dir()).collect()
}

/// The program that a stranger's command names: a file of its own folder, a program of the system, or a tool. None for
/// anything else, whether it is there or not.
pub fn program(word: &OsStr, folder: &Path, user: &User) -> Option<PathBuf> {
    let word = word.to_str()?;
    if word.contains('/') {
        let file = plain(&folder.join(word));
        // What we have compiled from a single source, and ourselves as the engine of its script.
        let ours = file.starts_with(build::cache().join("built")) || guard::program() == Some(&*file);
        return (ours || stays(&file, folder) || is_systems(&file)).then_some(file);
    }
    let tool = tool(word, user).map(|tool| tool.file);
    let of_system = || user.find(word).find(|file| is_systems(file));
    // A name that certainly does not exist makes the system report it.
    Some(tool.or_else(of_system).unwrap_or_else(|| Path::new("/nonexistent").join(word)))
}

/// What a stranger is told of every path that it may not name.
pub fn refusal(word: &Path) -> String {
    format!(
        "`{}` is neither a file of the bot's own folder nor a program of the system, and nothing else can be run or read here",
        word.display()
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// Makes files, each with its text; what begins with `#!` may be executed.
    fn make(at: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let file = at.join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
            fs::write(&file, text).expect("a file");
            if text.starts_with("#!") {
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");
            }
        }
    }

    fn user(home: &Path, path: &[&str]) -> User {
        let path = path.iter().map(|folder| home.join(folder)).collect();
        User { path, home: Some(home.to_owned()), downloads: Vec::new() }
    }

    #[test]
    fn of_a_managers_folder_only_the_version_that_is_meant_is_shown() {
        let at = tempfile::tempdir().expect("a folder");
        let home = at.path().canonicalize().expect("a folder");
        let asked = "#!/bin/sh\n[ \"$PWD\" = / ] && [ $1 = which ] && echo HOME/versions/3.12/bin/$2";
        let asked = asked.replace("HOME", &home.join(".pyenv").display().to_string());
        make(
            &home,
            &[
                (".pyenv/secret", "secret"),
                (".pyenv/shims/python3", "#!/bin/sh\nexec pyenv exec python3"),
                (".pyenv/bin/pyenv", &asked),
                (".pyenv/versions/3.12/bin/python3", "#!/bin/sh"),
                (".pyenv/versions/3.12/lib/python3.12/os.py", ""),
                (".pyenv/versions/3.12/lib/python3.12/site-packages/private.py", "secret"),
                (".pyenv/versions/3.12/secret", "secret"),
            ],
        );
        let user = user(&home, &[".pyenv/shims"]);
        let found = tool("python3", &user).expect("a Python");
        let version = home.join(".pyenv/versions/3.12");
        assert_eq!(found.file, version.join("bin/python3"));
        assert_eq!(found.on_path, home.join(".pyenv/shims"));
        let mut needs = Needs::default();
        show(&found.file, |_| false, &mut needs);
        let shown: Vec<_> = ["bin", "bin/python3", "lib"].map(|part| version.join(part)).into();
        assert_eq!(needs.places.into_iter().collect::<Vec<_>>(), shown);
        let hidden: Vec<_> = needs.hidden.into_iter().collect();
        assert_eq!(hidden, [version.join("lib/python3.12/site-packages")]);
        assert!(tool("pyenv", &user).is_none(), "only tools that bots need");
    }

    #[test]
    fn of_where_programs_are_kept_only_the_program_is_shown() {
        let at = tempfile::tempdir().expect("a folder");
        let home = at.path().canonicalize().expect("a folder");
        make(
            &home,
            &[(".deno/bin/deno", "#!/bin/sh"), (".deno/bin/other", "#!/bin/sh"), (".deno/lib/secret", "")],
        );
        let found = tool("deno", &user(&home, &[".deno/bin"])).expect("a Deno");
        let mut needs = Needs::default();
        show(&found.file, |_| false, &mut needs);
        assert_eq!(needs.places, [home.join(".deno/bin/deno")].into());
    }

    #[test]
    fn a_program_of_nodes_packages_is_shown_and_the_others_are_not() {
        let at = tempfile::tempdir().expect("a folder");
        let home = at.path().canonicalize().expect("a folder");
        make(
            &home,
            &[
                ("node/v20/lib/node_modules/npm/bin/npm-cli.js", "#!/usr/bin/env node"),
                ("node/v20/lib/node_modules/private/index.js", "secret"),
                ("node/v20/bin/node", "#!/bin/sh"),
            ],
        );
        let mut needs = Needs::default();
        show(&home.join("node/v20/bin/node"), |_| false, &mut needs);
        show(&home.join("node/v20/lib/node_modules/npm/bin/npm-cli.js"), |_| false, &mut needs);
        assert_eq!(needs.hidden, [home.join("node/v20/lib/node_modules")].into());
        assert!(needs.places.contains(&home.join("node/v20/lib/node_modules/npm")));
    }

    #[test]
    fn a_path_elsewhere_is_the_same_whether_it_is_there_or_not() {
        let at = tempfile::tempdir().expect("a folder");
        let home = at.path().canonicalize().expect("a folder");
        make(&home, &[("bot/run", "#!/bin/sh"), ("opt/there", "#!secret"), ("bin/mine", "#!/bin/sh")]);
        let bot = home.join("bot");
        for (link, target) in [("out", "../opt/there"), ("nowhere", "../opt/not-there"), ("own", "run")] {
            symlink(target, bot.join(link)).expect("a link");
        }
        let user = user(&home, &["bin", "/usr/bin"]);
        let of = |word: &str| program(OsStr::new(word), &bot, &user);
        for word in ["../opt/there", "../opt/not-there", "./out", "./nowhere", "../bot/../opt/there"] {
            assert_eq!(of(word), None, "{word}");
        }
        for there in ["opt/there", "opt/not-there", "bin/mine"] {
            assert_eq!(of(&home.join(there).display().to_string()), None, "{there}");
        }
        assert_eq!(of("./run"), Some(bot.join("run")));
        assert_eq!(of("./own"), Some(bot.join("own")));
        assert_eq!(of("./not-built-yet"), Some(bot.join("not-built-yet")));
        assert_eq!(of("/usr/bin/env"), Some("/usr/bin/env".into()));
        assert_eq!(of("env"), Some("/usr/bin/env".into()));
        assert_eq!(of("mine"), Some("/nonexistent/mine".into()), "our own programs are nobody's business");
        assert_eq!(of("nobodys"), Some("/nonexistent/nobodys".into()));
    }
}
