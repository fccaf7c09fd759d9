//! Building bots: the command of an `agon.toml`, that of an `algo.json`, or the usual compiler for a single source file.
//!
//! A bot's folder may be read-only, so a source file is compiled into the user's cache, in a folder named after its
//! content: it is built once and never stale.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Once};

use xxhash_rust::xxh3::Xxh3;

use crate::advised::Advised;
use crate::algo::{self, Algo};
use crate::manifest::{self, Manifest};
use crate::name::{BotName, Confined, NameKind};
use crate::paths::settled;
use crate::run::Run;
use crate::{java, rights, tools};

/// The compiler for single source files of a language. In its commands `SOURCE` and `PROGRAM` stand for the files, `OUT`
/// for the output folder, `FOLDER` for the source's folder, `MAIN` for Java's class.
struct Compiler {
    language: &'static str,
    /// Its file endings.
    endings: &'static [&'static str],
    command: &'static [&'static str],
    /// The command that runs the result.
    run: &'static [&'static str],
    /// The result. Its presence means success even where the compiler complained of something harmless.
    makes: &'static str,
    /// The endings of neighbouring files that count as part of the source.
    beside: &'static [&'static str],
}

const COMPILERS: &[Compiler] = &[
    Compiler {
        language: "C++",
        endings: &["cpp", "cc", "cxx"],
        command: &["g++", "-O2", "-std=gnu++20", "-pthread", "-o", "PROGRAM", "SOURCE", "-lm", "-ldl"],
        run: &["PROGRAM"],
        makes: "PROGRAM",
        beside: &["h", "hpp", "hh", "hxx", "inl"],
    },
    Compiler {
        language: "C",
        endings: &["c"],
        command: &["gcc", "-O2", "-std=gnu17", "-pthread", "-o", "PROGRAM", "SOURCE", "-lm", "-ldl"],
        run: &["PROGRAM"],
        makes: "PROGRAM",
        beside: &["h"],
    },
    Compiler {
        language: "Rust",
        endings: &["rs"],
        command: &["rustc", "-O", "--edition", "2021", "--crate-name", "bot", "-o", "PROGRAM", "SOURCE"],
        run: &["PROGRAM"],
        makes: "PROGRAM",
        beside: &["rs"],
    },
    Compiler {
        language: "Go",
        endings: &["go"],
        command: &["go", "build", "-o", "PROGRAM", "SOURCE"],
        run: &["PROGRAM"],
        makes: "PROGRAM",
        beside: &[],
    },
    Compiler {
        language: "Java",
        endings: &["java"],
        command: &["javac", "-encoding", "UTF-8", "-nowarn", "-d", "OUT", "-sourcepath", "FOLDER", "SOURCE"],
        run: &["java", "-cp", "OUT", "MAIN"],
        makes: "OUT",
        beside: &["java"],
    },
    Compiler {
        language: "Kotlin",
        endings: &["kt"],
        command: &["kotlinc", "-nowarn", "-include-runtime", "-d", "PROGRAM.jar", "SOURCE"],
        run: &["java", "-jar", "PROGRAM.jar"],
        makes: "PROGRAM.jar",
        beside: &[],
    },
    Compiler {
        language: "TypeScript",
        endings: &["ts"],
        command: &[
            "tsc",
            "--target",
            "es2022",
            "--module",
            "commonjs",
            "--esModuleInterop",
            "--outDir",
            "OUT",
            "SOURCE",
        ],
        run: &["node", "PROGRAM.js"],
        makes: "PROGRAM.js",
        beside: &["ts"],
    },
    Compiler {
        language: "C#",
        endings: &["cs"],
        command: &["mcs", "-optimize+", "-out:PROGRAM.exe", "SOURCE"],
        run: &["mono", "PROGRAM.exe"],
        makes: "PROGRAM.exe",
        beside: &[],
    },
    // CodinGame's compiler; it needs a project around the file.
    Compiler {
        language: "C#",
        endings: &["cs"],
        command: &[
            "dotnet",
            "build",
            "-c",
            "Release",
            "--nologo",
            "-v",
            "quiet",
            "-o",
            "OUT",
            "OUT/obj/bot.csproj",
        ],
        run: &["dotnet", "OUT/bot.dll"],
        makes: "OUT/bot.dll",
        beside: &[],
    },
];

/// The project for a single C# file. The program takes its name from it.
const CSPROJ: &str = "<Project Sdk=\"Microsoft.NET.Sdk\">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework>
    <AssemblyName>bot</AssemblyName>
    <Nullable>disable</Nullable>
    <AllowUnsafeBlocks>true</AllowUnsafeBlocks>
    <EnableDefaultCompileItems>false</EnableDefaultCompileItems>
    <UseAppHost>false</UseAppHost>
    <TreatWarningsAsErrors>false</TreatWarningsAsErrors>
  </PropertyGroup>
  <ItemGroup><Compile Include=\"SOURCE\" /></ItemGroup>
</Project>
";

/// The compiler for files with this ending: the first that is installed, else the last.
fn compiler(ending: &str) -> Option<&'static Compiler> {
    let mut fitting = COMPILERS.iter().filter(|compiler| compiler.endings.contains(&ending));
    let last = fitting.clone().next_back();
    fitting.find(|compiler| tools::is_installed(compiler.command[0])).or(last)
}

/// A larger file is not hashed: it is no source.
const LARGEST: u64 = 16 << 20;

/// How a bot is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The command, word by word.
    pub command: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// Environment variables beside the inherited ones.
    pub environment: Vec<(String, String)>,
    /// What asks for the command: `agon.toml`, `algo.json`, or the language of a source file.
    pub asked_by: &'static str,
    /// What holds for all bots of its run.
    pub run: Arc<Run>,
    /// The result in our cache, where we choose the place; none when it is in the bot's folder.
    pub made: Option<Compiled>,
}

/// What a source file is compiled to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    pub language: &'static str,
    pub place: PathBuf,
    /// The command that runs it, word by word.
    pub run: Vec<String>,
    /// Where it is made before it is moved into place, so that nobody sees half a program.
    pub(crate) draft: PathBuf,
    /// The file whose presence means success.
    result: PathBuf,
    /// A file that must be there first, and its content.
    before: Option<(PathBuf, Vec<u8>)>,
}

impl Build {
    /// How the bot is built; none when nothing needs to be.
    ///
    /// # Errors
    /// A sentence, when `agon.toml` is wrong or the source cannot be read.
    pub fn of(name: &BotName) -> Result<Option<Self>, String> {
        let NameKind::Path(path) = &name.kind else { return Ok(None) };
        let full = settled(path);
        if !full.is_dir() {
            let build = Self::of_source(&full)?;
            return Ok(build.map(|build| Self { run: Arc::clone(&name.run), ..build }));
        }
        if name.confined == Confined::Foreign {
            manifest::read_own(&full)?;
        }
        let Manifest { build, run, env, .. } = Manifest::read(&full)?.unwrap_or_default();
        let environment: Vec<(String, String)> = env.into_iter().collect();
        let own = Arc::clone(&name.run);
        let Some(build) = build else {
            let algo = if run.is_none() { Algo::of(&full) } else { None };
            let of_algo = |algo: Algo| Self {
                command: algo.build,
                folder: full,
                environment,
                asked_by: algo::FILE,
                run: own,
                made: None,
            };
            return Ok(algo.map(of_algo));
        };
        let place = full.join(manifest::FILE);
        let command = build.words().map_err(|why| format!("{}: build: {why}", place.display()))?;
        Ok(Some(Self { command, folder: full, environment, asked_by: manifest::FILE, run: own, made: None }))
    }

    /// How a source file is compiled; none when its language is not compiled.
    ///
    /// # Errors
    /// A sentence, when it cannot be read.
    pub fn of_source(source: &Path) -> Result<Option<Self>, String> {
        let ending = source.extension().and_then(OsStr::to_str).unwrap_or("");
        let Some(compiler) = compiler(ending) else { return Ok(None) };
        let failed = |error: io::Error| format!("{}: {error}", source.display());
        let folder = source.parent().unwrap_or(Path::new("/")).to_owned();
        let mut hash = Xxh3::new();
        hash.update(compiler.command.join(" ").as_bytes());
        hash.update(source.file_name().unwrap_or_default().as_encoded_bytes());
        add(&mut hash, source).map_err(failed)?;
        for other in beside(&folder, compiler.beside).map_err(failed)? {
            hash.update(other.as_os_str().as_encoded_bytes());
            add(&mut hash, &other).map_err(failed)?;
        }
        let place = cache().join("built").join(format!("{:016x}", hash.digest()));
        let mut draft = OsString::from(&place);
        draft.push(format!(".{}", std::process::id()));
        let draft = PathBuf::from(draft);

        let stem = source.file_stem().unwrap_or_default();
        let mut from = source.to_owned();
        let (mut main, mut before) = (String::new(), None);
        if compiler.language == "Java" {
            let text = std::fs::read(source).map_err(failed)?;
            let class = java::classes(&String::from_utf8_lossy(&text));
            main = class.main.unwrap_or_else(|| stem.to_string_lossy().into_owned());
            // A public class must be in a file of its name, which contest sites do not ask for.
            if let Some(public) = class.public.filter(|public| stem != public.as_str()) {
                from = draft.join(format!("{public}.java"));
                before = Some((from.clone(), text));
            }
        } else if compiler.command[0] == "dotnet" {
            let escaped = source.to_string_lossy().replace('&', "&amp;").replace('"', "&quot;");
            let project = CSPROJ.replace("SOURCE", &escaped);
            before = Some((draft.join("obj/bot.csproj"), project.into_bytes()));
        }
        let filled = |word: &str, out: &Path| -> String {
            let program = out.join(stem);
            match word {
                "SOURCE" => from.to_string_lossy().into_owned(),
                "FOLDER" => folder.to_string_lossy().into_owned(),
                "MAIN" => main.clone(),
                word => {
                    word.replace("PROGRAM", &program.to_string_lossy()).replace("OUT", &out.to_string_lossy())
                }
            }
        };
        let fill = |words: &[&str], out: &Path| words.iter().map(|word| filled(word, out)).collect();
        let made = Compiled {
            language: compiler.language,
            run: fill(compiler.run, &place),
            result: filled(compiler.makes, &draft).into(),
            place,
            draft: draft.clone(),
            before,
        };
        let command = fill(compiler.command, &draft);
        let asked_by = compiler.language;
        Ok(Some(Self {
            command,
            folder,
            environment: Vec::new(),
            asked_by,
            run: Arc::default(),
            made: Some(made),
        }))
    }

    /// Whether its result is in the cache already.
    pub fn is_there(&self) -> bool {
        self.made.as_ref().is_some_and(|made| made.place.is_dir())
    }

    /// Runs it. Its output goes to our standard error.
    ///
    /// # Errors
    /// A sentence, when the command cannot be started or its result cannot be kept.
    pub fn run(&self) -> Result<ExitStatus, String> {
        self.run_by(|command| command.stdout(io::stderr()).status())
    }

    /// Runs it, with the caller starting the command and waiting for it.
    ///
    /// # Errors
    /// A sentence, when the command cannot be started or its result cannot be kept.
    pub fn run_by(
        &self,
        run: impl FnOnce(&mut Command) -> io::Result<ExitStatus>,
    ) -> Result<ExitStatus, String> {
        let done = self.try_run(run);
        if let Some(made) = &self.made {
            let _ = std::fs::remove_dir_all(&made.draft);
        }
        done
    }

    fn try_run(
        &self,
        run: impl FnOnce(&mut Command) -> io::Result<ExitStatus>,
    ) -> Result<ExitStatus, String> {
        if let Some(made) = &self.made {
            rights::create_shown_folder(&made.draft).map_err(|error| uncached(&made.draft, &error))?;
            if let Some((file, content)) = &made.before {
                let folder = file.parent().unwrap_or(file);
                std::fs::create_dir_all(folder).map_err(|error| uncached(folder, &error))?;
                std::fs::write(file, content).map_err(|error| uncached(file, &error))?;
            }
        }
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).current_dir(&self.folder).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        rights::restore(&mut command);
        let status = run(&mut command).map_err(|error| self.not_started(&error))?;
        let Some(made) = &self.made else { return Ok(status) };
        // Some compilers fail on what does not stop the program from running, such as missing types.
        let complained = made.language == "TypeScript" && made.result.is_file();
        if !status.success() && !complained {
            return Ok(status);
        }
        if !made.result.exists() {
            let wanted = made.result.file_name().unwrap_or_default().to_string_lossy();
            return Err(format!("`{}` succeeded, but did not make {wanted}", self.command[0]));
        }
        let _ = std::fs::remove_dir_all(&made.place);
        match std::fs::rename(&made.draft, &made.place) {
            // Somebody else was quicker, with the same content.
            Err(_) if made.place.is_dir() => {}
            done => done.map_err(|error| uncached(&made.place, &error))?,
        }
        Ok(ExitStatus::default())
    }

    fn not_started(&self, error: &io::Error) -> String {
        let program = &self.command[0];
        match error.kind() {
            io::ErrorKind::NotFound if !self.folder.is_dir() => {
                format!("{}: no such folder", self.folder.display())
            }
            io::ErrorKind::NotFound if !program.contains('/') && self.folder.join(program).is_file() => {
                let advised = Advised::NameWithFolder(program.clone());
                format!("{}: `{program}` is no program on the PATH; {advised}", self.asked_by)
            }
            io::ErrorKind::NotFound => {
                let who = self.asked_by;
                let what = tools::advice(program, self.run.for_others)
                    .unwrap_or_else(|| "agon doctor lists what is".to_owned());
                format!("{who} needs `{program}`, which is not installed or not on the PATH; {what}")
            }
            io::ErrorKind::PermissionDenied => {
                format!("`{program}` may not be executed; {}", Advised::MakeExecutable(program.clone()))
            }
            _ => format!("`{program}`: {error}"),
        }
    }
}

/// Why something in [`cache`] cannot be written, and what to do.
pub fn uncached(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("{path}: {error}; {}", Advised::MoveCache)
        }
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::AlreadyExists => {
            format!("{path}: {error}; agon keeps what it builds and unpacks there: {}", Advised::SetCache)
        }
        _ => format!("{path}: {error}"),
    }
}

/// The files of a folder with these endings, sorted.
fn beside(folder: &Path, endings: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|own| endings.iter().any(|ending| own == *ending)))
        .take(1_000)
        .collect();
    found.sort();
    Ok(found)
}

fn add(hash: &mut Xxh3, file: &Path) -> io::Result<()> {
    if std::fs::metadata(file)?.len() > LARGEST {
        return Err(io::Error::other("larger than 16 MiB, so not a source file"));
    }
    let text = std::fs::read(file)?;
    hash.update(&(text.len() as u64).to_le_bytes());
    hash.update(&text);
    Ok(())
}

/// Extensions of source files.
pub const SOURCES: &[&str] = &[
    "py", "js", "mjs", "cjs", "ts", "cpp", "cc", "cxx", "c", "rs", "java", "go", "cs", "kt", "rb", "pl",
    "lua", "php",
];

/// This program's folder in the user's cache: programs of theirs and of others, so nobody else's to read.
pub fn cache() -> PathBuf {
    // One of earlier times let others in.
    static CLOSED: Once = Once::new();
    let folder = place_of_cache();
    CLOSED.call_once(|| drop(rights::close(&folder)));
    folder
}

fn place_of_cache() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    set("AGON_CACHE")
        .or_else(|| Some(user()?.join("agon")))
        .unwrap_or_else(|| std::env::temp_dir().join("agon-cache"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_file_is_built_under_a_name_made_of_its_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("mein böt.c");
        let place = |text: &str| {
            std::fs::write(&source, text).expect("a file");
            Build::of_source(&source).expect("it is read").expect("C").made.expect("our place").place
        };
        let first = place("int main(void) { return 0; }");
        assert_ne!(first, place("int main(void) { return 1; }"));
        assert_eq!(first, place("int main(void) { return 0; }"));
        std::fs::write(folder.path().join("rules.h"), "#define X 1").expect("a file");
        assert_ne!(first, place("int main(void) { return 0; }"), "what it includes counts");
        assert_eq!(Build::of_source(&folder.path().join("bot.py")), Ok(None));
    }

    #[test]
    fn java_runs_the_class_that_has_a_main() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("my bot.java");
        std::fs::write(&source, "class A {} public class Player { public static void main(String[] a) {} }")
            .expect("a file");
        let build = Build::of_source(&source).expect("it is read").expect("Java");
        let made = build.made.expect("our place");
        assert_eq!(made.run.last().map(String::as_str), Some("Player"));
        assert!(build.command.last().is_some_and(|source| source.ends_with("/Player.java")), "javac insists");
    }

    #[test]
    fn a_folder_says_how_it_is_built() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = BotName::parse(folder.path().to_str().expect("a name")).expect("a name");
        assert_eq!(Build::of(&name), Ok(None));
        std::fs::write(
            folder.path().join("agon.toml"),
            "build = 'make -j2'\nrun = './bot'\nenv = { A = 'b' }",
        )
        .expect("a file");
        let build = Build::of(&name).expect("it is read").expect("it is built");
        assert_eq!(build.command, ["make", "-j2"]);
        assert_eq!((build.environment.len(), build.made), (1, None));
        std::fs::write(folder.path().join("agon.toml"), "build = \"'\"").expect("a file");
        assert!(Build::of(&name).unwrap_err().contains("agon.toml:1:9: build:"));
    }
}
