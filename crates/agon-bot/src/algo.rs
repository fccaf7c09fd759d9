//! `algo.json`: how a bot folder of Terminal says which language it is in and what its compiler produces.
//!
//! The contest's kits for Java and Rust submit sources and have them compiled; here `agon build` does it. The
//! output is in `algo-target`, as with the kits, or where the language's own tool puts it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::java;

/// The name of the file.
pub const FILE: &str = "algo.json";

/// The folder a kit puts its compiled output in.
pub const TARGET: &str = "algo-target";

/// Only this much of a file is read.
const LARGEST: u64 = 1 << 20;
/// At most this many Java files are searched for the main class.
const MOST_FILES: usize = 2_000;

/// The commands of a folder that must be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Algo {
    /// The command that builds it, from its folder.
    pub build: Vec<String>,
    /// The command that runs what was built, from its folder.
    pub run: Vec<String>,
}

/// The keys of `algo.json`. All others are the contest's.
#[derive(Deserialize, Default)]
struct Keys {
    #[serde(default)]
    language: String,
    #[serde(default, rename = "compile-target", alias = "compile_target", alias = "compileTarget")]
    target: Option<String>,
}

impl Algo {
    /// How the algo in `folder` is compiled and run; none when `algo.json` names no compiled language, or the
    /// sources are missing.
    pub fn of(folder: &Path) -> Option<Self> {
        let keys: Keys =
            serde_json::from_str(text(&folder.join(FILE))?.trim_start_matches('\u{feff}')).ok()?;
        let target = keys.target.filter(|target| !target.is_empty() && !target.starts_with('-'));
        match keys.language.to_lowercase().as_str() {
            "rust" => Self::rust(folder, target),
            "java" => Self::java(folder, target),
            _ => None,
        }
    }

    fn rust(folder: &Path, target: Option<String>) -> Option<Self> {
        let about = text(&folder.join("Cargo.toml"))?;
        // A target directory set in the environment would put the program where nobody looks for it.
        let mut build = words(&["cargo", "build", "--release", "--target-dir", "target"]);
        if let Some(target) = &target {
            build.extend(words(&["--bin", target]));
        }
        let made = target.or_else(|| {
            let about: toml::Table = about.parse().ok()?;
            Some(about.get("package")?.get("name")?.as_str()?.to_owned())
        })?;
        Some(Self { build, run: vec![format!("target/release/{made}")] })
    }

    fn java(folder: &Path, target: Option<String>) -> Option<Self> {
        let by_kit = format!("{TARGET}/run.sh");
        // A kit's own build produces what the kit runs.
        for (file, command) in [
            ("gradlew", ["sh", "gradlew", "build"]),
            ("build.sh", ["sh", "build.sh", ""]),
            ("pom.xml", ["mvn", "-q", "package"]),
        ] {
            if folder.join(file).is_file() {
                let build = command.iter().filter(|word| !word.is_empty()).map(|word| (*word).to_owned());
                // A build without a run script produces a jar, in the usual place of its tool.
                let jar = if folder.join(&by_kit).is_file() { None } else { jar(folder) };
                let run = jar.and_then(|jar| {
                    let (_, class) = class_that_runs(&folder.join(sources(folder)?), target.as_deref())?;
                    Some(words(&["java", "-cp", &jar, &class]))
                });
                let run = run.unwrap_or_else(|| vec!["sh".to_owned(), by_kit]);
                return Some(Self { build: build.collect(), run });
            }
        }
        let sources = sources(folder)?;
        let (file, class) = class_that_runs(&folder.join(sources), target.as_deref())?;
        let file = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        let made = format!("{TARGET}/classes");
        let build = [
            "javac",
            "-encoding",
            "UTF-8",
            "-nowarn",
            "-cp",
            "lib/*",
            "-d",
            &made,
            "-sourcepath",
            sources,
            &file,
        ];
        let run = ["java", "-cp", &format!("{made}:lib/*"), &class];
        Some(Self { build: words(&build), run: words(&run) })
    }

    /// The part of it that is missing until it is built, relative to its folder.
    pub fn missing(&self, folder: &Path) -> Option<&str> {
        let made = match &self.run[..] {
            [program, _, path, _] if program == "java" => path.split(':').next().unwrap_or(path),
            [.., last] => last,
            [] => return None,
        };
        Some(made).filter(|made| !folder.join(made).exists())
    }
}

/// The folder of the Java sources.
fn sources(folder: &Path) -> Option<&'static str> {
    ["src/main/java", "src", "."].into_iter().find(|place| folder.join(place).is_dir())
}

/// The jar a build has made, relative to its folder.
fn jar(folder: &Path) -> Option<String> {
    [TARGET, "build/libs", "target"].into_iter().find_map(|place| {
        let entries = std::fs::read_dir(folder.join(place)).into_iter().flatten().flatten().take(MOST_FILES);
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let is_program = |name: &String| {
            let beside = ["-sources.jar", "-javadoc.jar", "-tests.jar"].iter().any(|end| name.ends_with(end));
            name.ends_with(".jar") && !beside && !name.starts_with("original-")
        };
        names.filter(is_program).min().map(|name| format!("{place}/{name}"))
    })
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// The text of a regular file that is not too large.
fn text(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The file and full name of the class to run: the target where it is a class, else the first with a `main`.
fn class_that_runs(sources: &Path, target: Option<&str>) -> Option<(PathBuf, String)> {
    let wanted = target.map(|target| target.trim_end_matches(".java").replace('/', "."));
    let (mut open, mut found, mut seen) = (vec![sources.to_owned()], Vec::new(), 0);
    while let Some(folder) = open.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(&folder).into_iter().flatten().flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let kind = entry.file_type().ok()?;
            seen += 1;
            if seen > MOST_FILES {
                break;
            }
            if kind.is_dir() && entry.file_name() != "test" && entry.file_name() != TARGET {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "java")
                && let Some(main) = text(&path).and_then(|text| java::classes(&text).main)
            {
                found.push((path, main));
            }
        }
    }
    let is_wanted = |class: &str| {
        wanted.as_deref().is_some_and(|wanted| class == wanted || class.rsplit('.').next() == Some(wanted))
    };
    let place = found.iter().position(|(_, class)| is_wanted(class)).unwrap_or(0);
    (place < found.len()).then(|| found.swap_remove(place))
}

/// The bot that a kit's `algo-target` belongs to: the folder around it, which gives the bot its name.
pub fn owner(path: &Path) -> &Path {
    match path.parent() {
        Some(parent)
            if path.file_name().is_some_and(|name| name == TARGET) && parent.file_name().is_some() =>
        {
            parent
        }
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        folder
    }

    #[test]
    fn the_language_says_how_an_algo_is_compiled_and_run() {
        let main = "public class Start { public static void main(String[] a) {} }";
        let other = "package a.b; class Other { static void main(String[] a) {} }";
        let java = |target: &str| {
            let about = format!("{{\"language\": \"java\", \"compile-target\": \"{target}\"}}");
            let files = [
                ("algo.json", about.as_str()),
                ("src/main/java/Start.java", main),
                ("src/main/java/a/b/Other.java", other),
            ];
            let folder = folder(&files);
            let algo = Algo::of(folder.path()).expect("Java is compiled");
            assert_eq!(algo.missing(folder.path()), Some("algo-target/classes"));
            algo.run.last().expect("a class").clone()
        };
        assert_eq!(
            [java(""), java("a.b.Other"), java("Other"), java("my-algo")],
            ["Start", "a.b.Other", "a.b.Other", "Start"]
        );

        let rust = |about: &str| {
            let folder = folder(&[("algo.json", about), ("Cargo.toml", "[package]\nname = \"starter\"\n")]);
            Algo::of(folder.path()).map(|algo| (algo.build.join(" "), algo.run.join(" ")))
        };
        let cargo = "cargo build --release --target-dir target";
        let pair = |build: &str, run: &str| Some((build.to_owned(), run.to_owned()));
        assert_eq!(rust("{\"language\": \"Rust\"}"), pair(cargo, "target/release/starter"));
        assert_eq!(
            rust("{\"language\": \"rust\", \"compile-target\": \"my-bin\"}"),
            pair(&format!("{cargo} --bin my-bin"), "target/release/my-bin")
        );
        for about in ["{\"language\": \"python\"}", "{}", "[]", "no JSON", ""] {
            assert_eq!(rust(about), None, "{about}");
        }
        let kit = folder(&[("algo.json", "{\"language\": \"java\"}"), ("gradlew", "")]);
        let algo = Algo::of(kit.path()).expect("Java is compiled");
        assert_eq!(
            (algo.build.join(" "), algo.run.join(" ")),
            ("sh gradlew build".to_owned(), "sh algo-target/run.sh".to_owned())
        );
    }

    #[test]
    fn what_a_build_puts_into_a_jar_runs_unless_it_makes_a_script() {
        let main = "class Start { public static void main(String[] a) {} }";
        let files = [("algo.json", "{\"language\": \"java\"}"), ("pom.xml", ""), ("src/Start.java", main)];
        let kit = folder(&files);
        let run = || Algo::of(kit.path()).expect("Java is compiled").run.join(" ");
        let make = |name: &str| {
            let path = kit.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, "").expect("a file");
        };
        make("target/algo-1-sources.jar");
        assert_eq!(run(), "sh algo-target/run.sh");
        make("target/algo-1.jar");
        assert_eq!(run(), "java -cp target/algo-1.jar Start");
        make("build/libs/algo.jar");
        assert_eq!(run(), "java -cp build/libs/algo.jar Start");
        make("algo-target/run.sh");
        assert_eq!(run(), "sh algo-target/run.sh");
    }

    #[test]
    fn a_target_folder_belongs_to_the_one_around_it() {
        for (path, belongs) in [
            ("/a/my-algo/algo-target", "/a/my-algo"),
            ("/a/my-algo", "/a/my-algo"),
            ("/algo-target", "/algo-target"),
        ] {
            assert_eq!(owner(Path::new(path)), Path::new(belongs));
        }
    }
}
