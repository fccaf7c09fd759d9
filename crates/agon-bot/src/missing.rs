//! A package that a bot's program did not find where it ran, and that this machine has.
//!
//! What is missing is read from what interpreters write, as other [advice](crate::advice) is. Where it is here, the interpreters
//! themselves say, which look where they always look; nothing of the package is run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::advice::between;
use crate::advised::{Advised, NextCommand};
use crate::process::inside::{User, tool_of};
use crate::tools;

/// How long an interpreter may look.
const PATIENCE: Duration = Duration::from_secs(10);
/// Where systems have packages of Node.
const MODULES: [&str; 3] = ["/usr/local/lib/node_modules", "/usr/lib/node_modules", "/usr/share/nodejs"];

/// Prints where a module is, and the name and the version of its package. Finding is not importing.
const PYTHON: &str = "
import sys, importlib.util
found = importlib.util.find_spec(sys.argv[1])
place = found and (found.origin or next(iter(found.submodule_search_locations or []), None))
if place:
    print(place)
    from importlib.metadata import distributions
    for package in distributions():
        if any(file.parts and file.parts[0] in (sys.argv[1], sys.argv[1] + '.py') for file in package.files or []):
            print(package.metadata['Name'])
            print(package.version)
            break
";
const RUBY: &str =
    "spec = Gem::Specification.find_by_path(ARGV[0]) and puts(spec.gem_dir, spec.name, spec.version)";

/// A package of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPackage {
    /// What the program asked for.
    asked: String,
    /// Where that is here.
    place: PathBuf,
    /// The name and the version of its package, if it belongs to one.
    package: Option<(String, String)>,
    /// How it comes into a bot's folder, with `PACKAGE` and `VERSION` for the two.
    along: &'static str,
    /// How it comes into an image, and what stands between name and version there.
    image: Option<(NextCommand, &'static str)>,
}

impl MissingPackage {
    /// What a program that ran in `folder` asked for, judging by what it wrote, if this machine has it.
    pub fn of(said: &str, folder: Option<&Path>) -> Option<Self> {
        python(said).or_else(|| node(said, folder?)).or_else(|| ruby(said)).or_else(|| java(said))
    }

    /// A sentence: what differs between here and there, and what to type.
    pub fn advice(&self) -> String {
        let Self { asked, place, package, along, image } = self;
        let version = package.as_ref().map(|(_, version)| format!(" {version}")).unwrap_or_default();
        let differs = format!(
            "`{asked}`{version} is on this machine ({}) and not in the image that it ran in, as a contest's bots do",
            place.display()
        );
        let Some((name, version)) = package else {
            let add = NextCommand::ImageAdd.at(place);
            return format!(
                "{differs}; {}; or a contest's organiser adds it: `{add}`",
                Advised::BringAlong((*along).to_owned())
            );
        };
        let along = along.replace("PACKAGE", name).replace("VERSION", version);
        let along = Advised::BringAlong(along);
        match image {
            Some((next, sign)) => {
                let add = next.about([format!("{name}{sign}{version}")]);
                format!("{differs}; {along}; or a contest's organiser adds it: `{add}`")
            }
            None => format!("{differs}; {along}"),
        }
    }
}

/// The first part of a name, if it is one and nothing else.
fn plain(name: &str, apart: char) -> Option<&str> {
    let top = name.split(apart).next().unwrap_or(name);
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./@".contains(sign);
    let fits = !top.is_empty() && top.chars().all(is_plain) && !top.starts_with(['-', '.', '/']);
    fits.then_some(top)
}

/// The three lines that an interpreter prints.
fn told(command: &mut Command) -> Option<(PathBuf, Option<(String, String)>)> {
    let told = tools::answer(command.current_dir("/"), PATIENCE)?;
    let mut lines = told.lines().map(str::to_owned);
    let place = lines.next().filter(|place| !place.is_empty())?;
    Some((place.into(), lines.next().zip(lines.next())))
}

fn python(said: &str) -> Option<MissingPackage> {
    let asked = plain(between(said, "ModuleNotFoundError: No module named '", "'")?, '.')?;
    let python = tool_of("python3", &User::own())?;
    let (place, package) = told(Command::new(python).args(["-c", PYTHON, asked]))?;
    // The file of a package stands for its folder.
    let place = match place.ends_with("__init__.py") {
        true => place.parent().unwrap_or(&place).to_owned(),
        false => place,
    };
    Some(MissingPackage {
        asked: asked.to_owned(),
        place,
        along: match package {
            Some(_) => "python3 -m pip install --target . PACKAGE==VERSION",
            None => "copy it there",
        },
        package,
        image: Some((NextCommand::ImagePip, "==")),
    })
}

/// Looks where Node looks: in the folders above the bot's, and in the system's.
fn node(said: &str, folder: &Path) -> Option<MissingPackage> {
    let asked =
        between(said, "Cannot find module '", "'").or_else(|| between(said, "Cannot find package '", "'"))?;
    let name = match asked.strip_prefix('@') {
        Some(rest) => {
            let scope = plain(rest, '/')?;
            format!("@{scope}/{}", plain(rest[scope.len()..].strip_prefix('/')?, '/')?)
        }
        None => plain(asked, '/')?.to_owned(),
    };
    let above = folder.ancestors().map(|above| above.join("node_modules"));
    let named = std::env::var_os("NODE_PATH").unwrap_or_default();
    let named: Vec<PathBuf> = std::env::split_paths(&named).filter(|place| place.is_absolute()).collect();
    let mut all = above.chain(named).chain(MODULES.map(PathBuf::from));
    let place = all.find(|place| place.join(&name).join("package.json").is_file())?.join(&name);
    let about: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.join("package.json")).ok()?).ok()?;
    let version = about["version"].as_str()?.to_owned();
    Some(MissingPackage {
        asked: name.clone(),
        place,
        package: Some((name, version)),
        along: "npm install PACKAGE@VERSION",
        image: Some((NextCommand::ImageNpm, "@")),
    })
}

fn ruby(said: &str) -> Option<MissingPackage> {
    let asked = between(said, "cannot load such file -- ", " (LoadError)")?;
    let asked = plain(asked, ' ')?;
    let (place, package) = told(Command::new(tool_of("ruby", &User::own())?).args(["-e", RUBY, asked]))?;
    Some(MissingPackage {
        asked: asked.to_owned(),
        place,
        package: Some(package?),
        along: "gem install PACKAGE -v VERSION --install-dir gems, with GEM_HOME = \"gems\" under [env] of agon.toml",
        image: None,
    })
}

/// Java says which class it lacks, and nobody knows which jar has that; but a list of jars that is set here is not set there.
fn java(said: &str) -> Option<MissingPackage> {
    let asked = between(said, "java.lang.NoClassDefFoundError: ", "\n")
        .or_else(|| between(said, "java.lang.ClassNotFoundException: ", "\n"))?;
    let list = std::env::var_os("CLASSPATH").filter(|list| !list.is_empty())?;
    let file = Path::new(&asked.replace(['.', '/'], "/")).with_extension("class");
    let mut all = std::env::split_paths(&list);
    let place =
        all.find(|place| place.join(&file).is_file() || place.extension().is_some_and(|end| end == "jar"))?;
    Some(MissingPackage {
        asked: asked.to_owned(),
        place,
        package: None,
        along: "copy what CLASSPATH names into `lib`, with run = \"java -cp out:lib/* Player\" in agon.toml",
        image: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_on_this_machine_is_not_said_to_be() {
        let here = Path::new("/nowhere/bot");
        for said in [
            "",
            "ModuleNotFoundError: No module named 'no_such_module_of_anybody'\n",
            "ModuleNotFoundError: No module named '-c'\n",
            "Error: Cannot find module './own'\n",
            "Error: Cannot find module '../../etc'\n",
            "Error: Cannot find package 'no-such-package-of-anybody' imported from /x\n",
            "cannot load such file -- no_such_gem_of_anybody (LoadError)\n",
        ] {
            assert_eq!(MissingPackage::of(said, Some(here)), None, "{said}");
        }
    }

    #[test]
    fn a_package_above_the_bot_is_found() {
        let at = tempfile::tempdir().expect("a folder");
        let package = at.path().join("node_modules/@own/lines");
        std::fs::create_dir_all(&package).expect("folders");
        std::fs::write(package.join("package.json"), r#"{"version":"1.2.3"}"#).expect("written");
        let said =
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@own/lines/deep' imported from /bot.mjs\n";
        let found = MissingPackage::of(said, Some(&at.path().join("bot"))).expect("found");
        let told = found.advice();
        assert!(told.contains("put it into its folder: npm install @own/lines@1.2.3;"), "{told}");
        assert!(told.contains("`agon image build JavaScript --npm @own/lines@1.2.3`"), "{told}");
    }

    #[test]
    fn a_module_of_the_machine_is_found() {
        if !tools::is_installed("python3") {
            return println!("SKIPPED: python3 is not installed");
        }
        let said = "ModuleNotFoundError: No module named 'json.nothing'\n";
        let found = MissingPackage::of(said, None).expect("found");
        assert!(found.package.is_none() && found.place.ends_with("json"), "{found:?}");
        assert!(found.advice().contains("agon image build --add "), "{}", found.advice());
    }
}
