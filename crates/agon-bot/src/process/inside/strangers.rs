//! What strangers' commands may name, and which image they run in.
//!
//! They see an image of the system and the packages that an organiser declares, and nothing else of this machine: no folder
//! of a manager of versions, which may hold tokens, and no packages that somebody added.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::needs::{self, User};
use crate::image::{Image, ImageError, ImageLanguage, ImageSet, Images};
use crate::launch::Launch;
use crate::name::Confined;
use crate::paths::{is_systems, plain, stays};
use crate::process::guard;
use crate::{build, tools};

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

/// Finds a tool by its name; none if it is not installed.
pub fn tool(name: &str, user: &User) -> Option<PathBuf> {
    let mut all = user.find(name);
    all.find_map(|found| match managed(found.parent()?, user) {
        Some((manager, folder)) => told_by(manager, &folder, name, user),
        None => Some(found),
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

/// The image that a stranger's command runs in: that of its run, or one that has the languages of all programs that the command names, in its
/// words and in the scripts that these lead to.
///
/// # Errors
/// Why there is none.
pub fn image(launch: &Launch, user: &User) -> Result<Arc<Image>, ImageError> {
    if let Some(own) = &launch.run.image {
        return Images::own().named(own);
    }
    let mut say = |line: &str| {
        if let Some(teller) = TELLER.get() {
            teller(line);
        }
    };
    if guard::program().is_some_and(|own| own == Path::new(&launch.program)) {
        return Images::own().take_own(&mut say);
    }
    let names = needs::programs(launch, user);
    let mut wanted = ImageSet::of_programs(names.iter().map(String::as_str));
    // What is only mentioned need not be there. An archive may hold what this machine does not have.
    let chosen = Images::own().chosen();
    wanted.languages.retain(|name| {
        let language = ImageLanguage::named(name);
        language.is_some_and(|language| tool(language.programs[0], user).is_some())
            || chosen.iter().any(|chosen| chosen.languages.contains(name))
    });
    Images::own().take(&wanted, &mut say)
}

/// The programs of this machine that a bot calls, as far as its command and scripts say, and that it would not find as a
/// stranger's: no image holds them unless they are added.
pub fn unseen(launch: &Launch) -> Vec<PathBuf> {
    let user = User::own();
    let as_stranger = Launch { confined: Confined::Foreign, ..launch.clone() };
    let added: Vec<PathBuf> = Images::own().chosen().into_iter().flat_map(|chosen| chosen.added).collect();
    let names = needs::programs(&as_stranger, &user).into_iter().filter(|name| !ImageLanguage::holds(name));
    let there = names.filter_map(|name| tool(&name, &user));
    there.filter(|file| !added.iter().any(|added| file.starts_with(added))).collect()
}

static TELLER: OnceLock<fn(&str)> = OnceLock::new();

/// Says who tells the user that an image is being made, which takes seconds.
pub fn tell_by(teller: fn(&str)) {
    let _ = TELLER.set(teller);
}

/// The program that a stranger's command names, as it sees it: a file of its own folder, or a program of its image. None for
/// anything else, whether it is there or not.
pub fn program(word: &OsStr, folder: &Path, image: &Image) -> Option<PathBuf> {
    let word = word.to_str()?;
    if word.contains('/') {
        let file = plain(&folder.join(word));
        // What we have compiled from a single source, and ourselves as the engine of its script.
        let ours = file.starts_with(build::cache().join("built")) || guard::program() == Some(&*file);
        return (ours || stays(&file, folder) || is_systems(&file)).then_some(file);
    }
    // A name that certainly does not exist makes the system report it.
    Some(image.find(word).unwrap_or_else(|| Path::new("/nonexistent").join(word)))
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
    use std::fs;
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
    fn a_manager_is_asked_for_the_version_that_is_meant() {
        let at = tempfile::tempdir().expect("a folder");
        let home = at.path().canonicalize().expect("a folder");
        let asked = "#!/bin/sh\n[ \"$PWD\" = / ] && [ $1 = which ] && echo HOME/versions/3.12/bin/$2";
        let asked = asked.replace("HOME", &home.join(".pyenv").display().to_string());
        make(
            &home,
            &[
                (".pyenv/shims/python3", "#!/bin/sh\nexec pyenv exec python3"),
                (".pyenv/bin/pyenv", &asked),
                (".pyenv/versions/3.12/bin/python3", "#!/bin/sh"),
            ],
        );
        let user = user(&home, &[".pyenv/shims"]);
        assert_eq!(tool("python3", &user), Some(home.join(".pyenv/versions/3.12/bin/python3")));
        assert_eq!(tool("python4", &user), None);
    }

    #[test]
    fn programs_that_an_image_lacks_are_named() {
        let at = tempfile::tempdir().expect("a folder");
        let script = "#!/bin/sh\n# no su\n[ -e x ] || cd \"$0\"\nfind . | xargs sed p | passwd\nexec python3 ./bot.py nobodys\n";
        make(at.path(), &[("run.sh", script), ("bot.py", "")]);
        let launch = Launch {
            program: "./run.sh".into(),
            folder: Some(at.path().canonicalize().expect("a folder")),
            ..Launch::default()
        };
        let passwd = User::own().find("passwd").next();
        assert_eq!(unseen(&launch), passwd.into_iter().collect::<Vec<_>>());
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
        let images = Images::within(home.join("images"));
        let image = images.make(&ImageSet::default()).expect("an image").image;
        let of = |word: &str| program(OsStr::new(word), &bot, &image);
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
