//! `algo.json`: how a bot folder of Terminal says which language it is in and what its compiler produces.
//!
//! The contest's kits for Java and Rust submit sources and have them compiled; here `agon build` does it. The
//! output is in `algo-target`, as with the kits, or where the language's own tool puts it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use crate::java;
use crate::paths::stays;

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
    #[serde(flatten)]
    plain: Specific,
    #[serde(default, rename = "rust-specific")]
    rust: Specific,
    #[serde(default, rename = "java-specific")]
    java: Specific,
}

/// What is said for one language, in a table of its own or beside the language.
#[derive(Deserialize, Default)]
struct Specific {
    /// What is compiled: a program, a class, or the folder of a project in the algo's.
    #[serde(default, rename = "compile-target", alias = "compile_target", alias = "compileTarget")]
    target: Option<String>,
}

impl Algo {
    /// How the algo in `folder` is compiled and run; none when `algo.json` names no compiled language, or the
    /// sources are missing.
    pub fn of(folder: &Path) -> Option<Self> {
        let keys: Keys =
            serde_json::from_str(text(&folder.join(FILE))?.trim_start_matches('\u{feff}')).ok()?;
        let target = |own: Specific| {
            let target = own.target.or(keys.plain.target);
            let within = |target: &str| {
                Path::new(target).components().all(|part| matches!(part, Component::Normal(_)))
            };
            target.filter(|target| !target.is_empty() && !target.starts_with('-') && within(target))
        };
        match keys.language.to_lowercase().as_str() {
            "rust" => Self::rust(folder, target(keys.rust)),
            "java" => Self::java(folder, target(keys.java)),
            _ => None,
        }
    }

    fn rust(folder: &Path, target: Option<String>) -> Option<Self> {
        if let Some(project) = target.as_deref().and_then(|target| project(folder, target, "Cargo.toml")) {
            let about: toml::Table = text(&folder.join(&project))?.parse().ok()?;
            let name = |table: &toml::Value| Some(table.get("name")?.as_str()?.to_owned());
            let first = about.get("bin").and_then(|all| name(all.get(0)?));
            let made = first.or_else(|| name(about.get("package")?))?;
            let build = words(&[
                "cargo",
                "build",
                "--release",
                "--target-dir",
                "target",
                "--manifest-path",
                &project,
            ]);
            return Some(Self { build, run: vec![format!("target/release/{made}")] });
        }
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
        if let Some(target) = target.as_deref().map(|target| target.trim_end_matches('/'))
            && let Some(found) = target_project(folder, target)
        {
            return Some(found);
        }
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

/// The file that describes the project in the folder `target` of an algo, if there is one.
fn project(folder: &Path, target: &str, file: &str) -> Option<String> {
    let target = target.trim_end_matches('/');
    let found = format!("{target}/{file}");
    // A link may lead out of the algo.
    (folder.join(&found).is_file() && stays(&folder.join(&found), folder)).then_some(found)
}

/// How the Java project in the folder `target` of an algo is built and run: from the algo's own folder.
fn target_project(folder: &Path, target: &str) -> Option<Algo> {
    let own = folder.join(target);
    let build = [
        ("gradlew", &["sh", "FILE", "-p", "TARGET", "build"][..]),
        ("pom.xml", &["mvn", "-q", "-f", "FILE", "package"]),
    ];
    let (file, command) =
        build.into_iter().find_map(|(file, command)| Some((project(folder, target, file)?, command)))?;
    let filled = command.iter().map(|word| match *word {
        "FILE" => file.clone(),
        "TARGET" => target.to_owned(),
        word => word.to_owned(),
    });
    let by_kit = format!("{TARGET}/run.sh");
    let of_project = format!("{target}/{TARGET}/run.sh");
    let run =
        match jar(&own).filter(|_| !folder.join(&by_kit).is_file() && !folder.join(&of_project).is_file()) {
            Some(jar) => {
                let (_, class) = class_that_runs(&own.join(sources(&own)?), None)?;
                words(&["java", "-cp", &format!("{target}/{jar}"), &class])
            }
            None if folder.join(&of_project).is_file() => words(&["sh", &of_project]),
            None => words(&["sh", &by_kit]),
        };
    Some(Algo { build: filled.collect(), run })
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
        // In later kits the target is a folder, named in the language's own table.
        let about = "{\"language\": \"rust\", \"rust-specific\": {\"compile-target\": \"my-algo\"}}";
        let kit = folder(&[
            ("algo.json", about),
            ("Cargo.toml", "[workspace]\nmembers = [\"my-algo\", \"api\"]\n"),
            (
                "my-algo/Cargo.toml",
                "[package]\nname = \"starter\"\n[[bin]]\nname = \"plays\"\npath = \"src/main.rs\"\n",
            ),
        ]);
        let algo = Algo::of(kit.path()).expect("Rust is compiled");
        assert_eq!(algo.build.join(" "), format!("{cargo} --manifest-path my-algo/Cargo.toml"));
        assert_eq!(algo.run, ["target/release/plays"]);
        for out in ["../my-algo", "/my-algo", "my-algo/../.."] {
            std::fs::write(kit.path().join("algo.json"), about.replace("my-algo", out)).expect("a file");
            assert_eq!(Algo::of(kit.path()), None, "{out}");
        }
        let about = "{\"language\": \"java\", \"java-specific\": {\"compile-target\": \"my-algo/\"}}";
        let main = "class Start { public static void main(String[] a) {} }";
        let kit = folder(&[
            ("algo.json", about),
            ("my-algo/pom.xml", ""),
            ("my-algo/src/main/java/Start.java", main),
            ("my-algo/target/algo-1.jar", ""),
        ]);
        let algo = Algo::of(kit.path()).expect("Java is compiled");
        assert_eq!(algo.build.join(" "), "mvn -q -f my-algo/pom.xml package");
        assert_eq!(algo.run.join(" "), "java -cp my-algo/target/algo-1.jar Start");
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
