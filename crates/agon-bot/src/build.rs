//! Building bots: the command of an `agon.toml`, or the usual compiler for a single source file.
//!
//! A bot's folder may be read-only; what a source file is compiled to lies in the user's cache,
//! under a name made of its content, so that it is built once and never stale.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use xxhash_rust::xxh3::Xxh3;

use crate::manifest::{self, Manifest};
use crate::name::{BotName, Kind};

/// The compiler of single source files of a language.
struct Compiler {
    language: &'static str,
    /// The endings of its files.
    endings: &'static [&'static str],
    /// The command; `SOURCE` and `PROGRAM` stand for the files.
    command: &'static [&'static str],
    /// The endings of files beside the source that count as its content.
    beside: &'static [&'static str],
}

const COMPILERS: &[Compiler] = &[
    Compiler {
        language: "C++",
        endings: &["cpp", "cc", "cxx"],
        command: &["g++", "-O2", "-std=c++20", "-pthread", "-o", "PROGRAM", "SOURCE"],
        beside: &["h", "hpp", "hh", "hxx", "inl"],
    },
    Compiler {
        language: "C",
        endings: &["c"],
        command: &["gcc", "-O2", "-pthread", "-o", "PROGRAM", "SOURCE", "-lm"],
        beside: &["h"],
    },
    Compiler {
        language: "Rust",
        endings: &["rs"],
        command: &["rustc", "-O", "--edition", "2024", "-o", "PROGRAM", "SOURCE"],
        beside: &["rs"],
    },
    Compiler {
        language: "Go",
        endings: &["go"],
        command: &["go", "build", "-o", "PROGRAM", "SOURCE"],
        beside: &[],
    },
];

/// The compiler for files with this ending.
fn compiler(ending: &str) -> Option<&'static Compiler> {
    COMPILERS.iter().find(|compiler| compiler.endings.contains(&ending))
}

/// More content than this is not hashed: such a file is no source.
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
    /// The program it makes, where we choose its place; else the bot's folder holds it.
    pub program: Option<PathBuf>,
}

impl Build {
    /// How the bot is built; none when nothing needs to be.
    ///
    /// # Errors
    /// A sentence, when `agon.toml` is wrong or the source cannot be read.
    pub fn of(name: &BotName) -> Result<Option<Self>, String> {
        let Kind::Path(path) = &name.kind else { return Ok(None) };
        let full = std::path::absolute(path).map_err(|error| format!("bot `{name}`: {error}"))?;
        if !full.is_dir() {
            return Self::of_source(&full);
        }
        let Some(Manifest { build: Some(build), env, .. }) = Manifest::read(&full)? else { return Ok(None) };
        let place = full.join(manifest::FILE);
        let command = build.words().map_err(|why| format!("{}: build: {why}", place.display()))?;
        Ok(Some(Self { command, folder: full, environment: env.into_iter().collect(), program: None }))
    }

    /// How a source file is compiled; none when it is not in a language that has to be.
    ///
    /// # Errors
    /// A sentence, when it cannot be read.
    pub fn of_source(source: &Path) -> Result<Option<Self>, String> {
        let ending = source.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        let Some(Compiler { command, beside, .. }) = compiler(ending) else {
            return Ok(None);
        };
        let failed = |error: io::Error| format!("{}: {error}", source.display());
        let folder = source.parent().unwrap_or(Path::new("/")).to_owned();
        let mut hash = Xxh3::new();
        hash.update(command.join(" ").as_bytes());
        add(&mut hash, source).map_err(failed)?;
        let mut others: Vec<PathBuf> = std::fs::read_dir(&folder)
            .map_err(failed)?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|own| beside.iter().any(|ending| own == *ending)))
            .take(1_000)
            .collect();
        others.sort();
        for other in others {
            hash.update(other.as_os_str().as_encoded_bytes());
            add(&mut hash, &other).map_err(failed)?;
        }
        let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let program = cache().join("built").join(format!("{:016x}", hash.digest())).join(stem);
        let word = |word: &&str| match *word {
            "SOURCE" => source.to_string_lossy().into_owned(),
            "PROGRAM" => partial(&program).to_string_lossy().into_owned(),
            word => word.to_owned(),
        };
        let command = command.iter().map(word).collect();
        Ok(Some(Self { command, folder, environment: Vec::new(), program: Some(program) }))
    }

    /// The language of a source file that has to be compiled.
    pub fn language(source: &Path) -> Option<&'static str> {
        compiler(source.extension()?.to_str()?).map(|compiler| compiler.language)
    }

    /// Whether what it makes in the cache is there already.
    pub fn is_there(&self) -> bool {
        self.program.as_ref().is_some_and(|program| program.is_file())
    }

    /// Runs it. What it prints goes where ours goes.
    ///
    /// # Errors
    /// A sentence, when the command cannot be started.
    pub fn run(&self) -> Result<ExitStatus, String> {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).current_dir(&self.folder);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let failed = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        if let Some(program) = &self.program {
            let place = program.parent().unwrap_or(program);
            std::fs::create_dir_all(place).map_err(|error| failed(place, error))?;
        }
        let status = command.status().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                format!(
                    "`{}` is not installed or not on the PATH (agon doctor lists what is)",
                    self.command[0]
                )
            }
            _ => format!("`{}`: {error}", self.command[0]),
        })?;
        // Under its own name only when it is whole: an interrupted compiler leaves no half program.
        if let Some(program) = self.program.as_ref().filter(|_| status.success()) {
            std::fs::rename(partial(program), program).map_err(|error| failed(program, error))?;
        }
        Ok(status)
    }
}

fn partial(program: &Path) -> PathBuf {
    let mut name: OsString = program.into();
    name.push(format!(".{}", std::process::id()));
    name.into()
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

/// The folder of this program in the user's cache.
pub fn cache() -> PathBuf {
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
            Build::of_source(&source).expect("it is read").expect("C").program.expect("our place")
        };
        let first = place("int main(void) { return 0; }");
        assert_ne!(first, place("int main(void) { return 1; }"));
        assert_eq!(first, place("int main(void) { return 0; }"));
        std::fs::write(folder.path().join("rules.h"), "#define X 1").expect("a file");
        assert_ne!(first, place("int main(void) { return 0; }"), "what it includes counts");
        assert_eq!(Build::of_source(&folder.path().join("bot.py")), Ok(None));
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
        assert_eq!((build.environment.len(), build.program), (1, None));
        std::fs::write(folder.path().join("agon.toml"), "build = \"'\"").expect("a file");
        assert!(Build::of(&name).unwrap_err().contains("agon.toml: build:"));
    }
}
