//! From a bot's name to the command that runs it.
//!
//! Longer than 500 lines: what a name leads to, and what is said where it leads nowhere, are one decision.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::advised::Advised;
use crate::algo::Algo;
use crate::build::Build;
use crate::kinds;
use crate::manifest::{self, Manifest};
use crate::name::{BotName, Confined, NameKind};
use crate::paths::{plain, settled, stays};
use crate::run::Run;
use crate::words::typed;

/// Only this much of a script's `#!` line is read; the system reads no more either.
const LONGEST_FIRST_LINE: u64 = 256;
/// Only this much of a script is searched for the functions it calls.
const LARGEST_SCRIPT: u64 = 1 << 20;
/// At most this many files of a folder are considered for suggestions.
const MOST_NAMES: usize = 400;

/// A command that runs a bot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Environment variables besides the inherited ones.
    pub environment: Vec<(String, String)>,
    /// The folder it runs in: the bot's own.
    pub folder: Option<PathBuf>,
    /// Whether it dials in over a socket. Its standard output is then no protocol and goes to its log.
    pub dials_in: bool,
    /// Assumptions that may surprise: `run.sh has no exec bit; it is started with /bin/bash`.
    pub notes: Vec<String>,
    /// Whether it runs in a sandbox.
    pub confined: Confined,
    /// What holds for all bots of its run.
    pub run: Arc<Run>,
    /// What its `agon.toml` wants shown in a sandbox; empty for strangers, who are not trusted.
    pub reads: Vec<PathBuf>,
    /// The most memory that its `agon.toml` wants it to have in a sandbox, in bytes.
    pub memory: Option<u64>,
    /// What we show it in a sandbox, such as our modules.
    pub shown: Vec<PathBuf>,
    /// The port of its own network that it dials, in a sandbox.
    pub dials_at: Option<u16>,
    /// Held no better than this, for attacks that must win then.
    pub level: Option<agon_sandbox::Level>,
}

/// Why a bot's name yields no command.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LaunchError {
    /// No such file or folder.
    #[error("bot `{bot}`: no such file or folder{hint}")]
    NotThere {
        bot: String,
        /// What may have been meant.
        hint: String,
    },
    /// A folder of no known layout.
    #[error(
        "bot `{bot}`: this folder has no agon.toml and no file that agon can start ({}, package.json); {hint}",
        KNOWN.join(", ")
    )]
    UnknownFolder {
        bot: String,
        /// What may have been meant, or what to do.
        hint: String,
    },
    /// A source file that must be compiled first.
    #[error("bot `{bot}`: {language} has to be compiled first: {}", Advised::Build(bot.clone()))]
    NeedsCompiler { bot: String, language: &'static str },
    /// The result of its `agon.toml`'s build is missing.
    #[error("bot `{bot}`: `{missing}` is not there yet; build the bot first: {}", Advised::Build(bot.clone()))]
    NotBuilt {
        bot: String,
        /// What its command needs.
        missing: String,
    },
    /// A file that is no program, and that nothing here runs.
    #[error("bot `{bot}`: {why}")]
    NoProgram {
        bot: String,
        /// What it is, and what to do.
        why: String,
    },
    /// `agon.toml` is wrong.
    #[error("{0}")]
    Manifest(String),
}

impl Launch {
    /// How to run the bot called `name`; none when it is not a program (built in, or started elsewhere).
    ///
    /// # Errors
    /// When the name leads to nothing that can run.
    pub fn of(name: &BotName) -> Result<Option<Self>, LaunchError> {
        let launch = Self::unconfined(name)?;
        Ok(launch.map(|launch| Self { confined: name.confined, run: Arc::clone(&name.run), ..launch }))
    }

    fn unconfined(name: &BotName) -> Result<Option<Self>, LaunchError> {
        match &name.kind {
            NameKind::Builtin { .. } | NameKind::WebSocket | NameKind::Tcp | NameKind::Join => Ok(None),
            NameKind::Command(words) => Ok(Some(Self::command(words, None, Vec::new()))),
            NameKind::Path(path) => {
                let full = settled(path);
                if full.is_dir() {
                    Self::folder(&name.text, &full, name.confined).map(Some)
                } else if full.exists() {
                    Self::file(&name.text, &full).map(Some)
                } else {
                    Err(LaunchError::NotThere { bot: name.text.clone(), hint: near(&full) })
                }
            }
        }
    }

    /// Whether a single file with this name's ending is run or built by that. A file with another ending must itself be a
    /// program.
    pub fn knows(name: &str) -> bool {
        name.rsplit_once('.').is_some_and(|(_, ending)| ending == "class" || RUNS.contains(&ending))
    }

    /// A command of these words, run in `folder`.
    pub fn command(words: &[String], folder: Option<PathBuf>, environment: Vec<(String, String)>) -> Self {
        Self {
            program: words[0].clone().into(),
            arguments: words[1..].iter().map(OsString::from).collect(),
            environment,
            folder,
            ..Self::default()
        }
    }

    /// Whether the bot runs in a runtime that collects garbage and compiles in threads of its own, as far as the command or its
    /// script shows.
    pub fn runs_in_runtime(&self) -> bool {
        let is_runtime = |word: &str| {
            let name = word.rsplit('/').next().unwrap_or(word);
            RUNTIMES.contains(&name.trim_matches(|c: char| "\"'$(){}".contains(c)))
        };
        let mut words = std::iter::once(&self.program).chain(&self.arguments);
        words.any(|word| {
            if is_runtime(&word.to_string_lossy()) {
                return true;
            }
            let Some(file) = self.file_of(word) else { return false };
            let is_script =
                file.extension().is_some_and(|ending| ending == "sh") || first_line(&file).is_some();
            let mut text = Vec::new();
            is_script
                && file.is_file()
                && File::open(&file).and_then(|file| file.take(LARGEST_SCRIPT).read_to_end(&mut text)).is_ok()
                && String::from_utf8_lossy(&text)
                    .lines()
                    .filter(|line| !line.trim_start().starts_with('#'))
                    .any(|line| line.split_whitespace().any(is_runtime))
        })
    }

    /// The file that a word of the command may name. A stranger's words lead to nothing outside its folder.
    pub(crate) fn file_of(&self, word: &OsStr) -> Option<PathBuf> {
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        let file = folder.join(word);
        (self.confined != Confined::Foreign || stays(&file, folder)).then_some(file)
    }

    fn folder(bot: &str, folder: &Path, confined: Confined) -> Result<Self, LaunchError> {
        if confined == Confined::Foreign {
            manifest::read_own(folder).map_err(LaunchError::Manifest)?;
        }
        let own = Manifest::read(folder).map_err(LaunchError::Manifest)?;
        let reads = match &own {
            // A stranger's wishes are not even looked at.
            Some(own) if confined != Confined::Foreign => own.reads(folder).map_err(LaunchError::Manifest)?,
            _ => Vec::new(),
        };
        let memory = own.as_ref().and_then(|own| own.memory);
        let launch = Self::of_folder(bot, folder, own)?;
        Ok(Self { reads, memory, ..launch })
    }

    fn of_folder(bot: &str, folder: &Path, own: Option<Manifest>) -> Result<Self, LaunchError> {
        if let Some(Manifest { run: Some(run), build, env, .. }) = own {
            let place = folder.join(manifest::FILE);
            let words = run
                .words()
                .map_err(|why| LaunchError::Manifest(format!("{}: run: {why}", place.display())))?;
            if let Some(missing) = unbuilt(&words, folder).filter(|_| build.is_some()) {
                return Err(LaunchError::NotBuilt { bot: bot.to_owned(), missing: missing.to_owned() });
            }
            return Ok(Self::command(&words, Some(folder.to_owned()), env.into_iter().collect()));
        }
        if let Some(file) = known_file(folder) {
            return Self::file(bot, &file);
        }
        if let Some(algo) = Algo::of(folder) {
            if let Some(missing) = algo.missing(folder) {
                return Err(LaunchError::NotBuilt { bot: bot.to_owned(), missing: missing.to_owned() });
            }
            return Ok(Self::command(&algo.run, Some(folder.to_owned()), Vec::new()));
        }
        if folder.join("package.json").is_file() {
            let words = ["npm", "start", "--silent"].map(str::to_owned);
            return Ok(Self::command(&words, Some(folder.to_owned()), Vec::new()));
        }
        Err(LaunchError::UnknownFolder { bot: bot.to_owned(), hint: inside(bot, folder) })
    }

    /// A single file is run according to its ending.
    fn file(bot: &str, file: &Path) -> Result<Self, LaunchError> {
        let folder = file.parent().map(Path::to_owned);
        let own = file.as_os_str().to_owned();
        let run = |program: &str, before: &[&str]| Self {
            program: program.into(),
            arguments: before.iter().map(OsString::from).chain([own.clone()]).collect(),
            folder: folder.clone(),
            ..Self::default()
        };
        if let Some(Build { made: Some(made), .. }) = Build::of_source(file).map_err(LaunchError::Manifest)? {
            // Where the build of its present content is, if there is one.
            if !made.place.is_dir() {
                return Err(LaunchError::NeedsCompiler { bot: bot.to_owned(), language: made.language });
            }
            let mut launch = Self::command(&made.run, folder, Vec::new());
            if launch.program == "node" && reads_as_on_codingame(file) {
                launch.arguments.splice(0..0, ["--import", CODINGAME_NODE].map(OsString::from));
            }
            return Ok(launch);
        }
        match file.extension().and_then(|ending| ending.to_str()).unwrap_or("") {
            "py" => Ok(run("python3", &["-u"])),
            "js" | "mjs" | "cjs" if reads_as_on_codingame(file) => {
                Ok(run("node", &["--import", CODINGAME_NODE]))
            }
            "js" | "mjs" | "cjs" => Ok(run("node", &[])),
            "rb" => Ok(run("ruby", &[])),
            "pl" => Ok(run("perl", &[])),
            "lua" => Ok(run("lua", &[])),
            "php" => Ok(run("php", &[])),
            "jar" => Ok(run("java", &["-jar"])),
            "class" => {
                let (place, class) = (file.parent().unwrap_or(file), file.file_stem().unwrap_or_default());
                let mut launch = run("java", &["-cp"]);
                launch.arguments = vec!["-cp".into(), place.into(), class.into()];
                Ok(launch)
            }
            "sh" if !crate::sys::may_execute(file) => {
                let words = interpreter(file).unwrap_or_else(|| vec!["sh".to_owned()]);
                let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                let mut launch = run(&words[0], &arguments);
                let with = words.join(" ");
                launch.notes.push(format!("{} has no exec bit; it is started with {with}", file.display()));
                Ok(launch)
            }
            _ => match kinds::of_ending(file) {
                Some(why) => Err(LaunchError::NoProgram { bot: bot.to_owned(), why }),
                None => Ok(Self { program: own, folder, ..Self::default() }),
            },
        }
    }
}

/// Runtimes with threads of their own.
const RUNTIMES: &[&str] = &["java", "dotnet", "mono"];

/// Files that a folder's bot is started from, the first of them that is there.
const KNOWN: [&str; 7] =
    ["run.sh", "application.py", "grid_player.py", "bot.py", "bot.js", "main.py", "main.js"];

/// The file that runs in a folder of a known layout.
pub(crate) fn known_file(folder: &Path) -> Option<PathBuf> {
    KNOWN.iter().map(|known| folder.join(known)).find(|file| file.is_file())
}

/// Gives a CodinGame script the functions that only exist there.
const CODINGAME_NODE: &str = "data:text/javascript,import fs from 'node:fs';let rest=Buffer.alloc(0);\
globalThis.readline=()=>{for(;;){const end=rest.indexOf(10);if(end>=0){const line=rest.subarray(0,end).toString();\
rest=rest.subarray(end+1);return line;}const part=Buffer.alloc(65536);const got=fs.readSync(0,part);\
if(got===0){const line=rest.toString();rest=Buffer.alloc(0);return line;}\
rest=Buffer.concat([rest,part.subarray(0,got)]);}};\
globalThis.print=console.log;globalThis.printErr=console.error;";

/// Whether a script reads its input with CodinGame's function and defines none of its own.
fn reads_as_on_codingame(script: &Path) -> bool {
    let mut text = Vec::new();
    let read = File::open(script).and_then(|file| file.take(LARGEST_SCRIPT).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text).replace("declare function readline", "");
    let own = ["function readline", "readline =", "readline=", "'readline'", "\"readline\"", "node:readline"];
    read.is_ok() && text.contains("readline()") && !own.iter().any(|own| text.contains(own))
}

/// Endings of files that run as they are or are compiled, the most likely first.
const RUNS: &[&str] = &[
    "py", "java", "cpp", "js", "rs", "ts", "cs", "kt", "go", "c", "mjs", "cjs", "rb", "php", "lua", "pl",
    "jar", "sh", "cc", "cxx",
];

/// The names in a folder, the first few hundred.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_NAMES);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Suggestions for a path that leads nowhere.
fn near(path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let own = path.file_name().unwrap_or_default().to_string_lossy();
    if !folder.is_dir() {
        return format!(
            " (there is no folder {}; write cmd:... for a command line, builtin:... for a built-in bot)",
            folder.display()
        );
    }
    let names = names(folder);
    let longer = format!("{own} ");
    if let Some(whole) = names.iter().find(|name| name.starts_with(&longer)) {
        return format!("; a name with spaces needs quotes: {}", typed(whole));
    }
    let with_ending = |name: &&String| name.rsplit_once('.').is_some_and(|(stem, _)| stem == own);
    let near = names.iter().find(with_ending).cloned();
    match near.or_else(|| agon_game::setup::nearest(&own, names.iter().map(String::as_str))) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => " (write cmd:... for a command line, builtin:... for a built-in bot)".to_owned(),
    }
}

/// How deep a folder is searched for the bot that its user may have meant, and how many folders of it.
const DEEPEST: usize = 4;
const MOST_FOLDERS: usize = 64;
/// How many bots inside a folder are named.
const MOST_NAMED: usize = 4;

/// Suggestions for a folder that is no bot: a bot inside it, which of several, or a file.
fn inside(bot: &str, folder: &Path) -> String {
    let mut open = std::collections::VecDeque::from([(PathBuf::new(), 0)]);
    let mut found = Vec::new();
    for _ in 0..MOST_FOLDERS {
        let Some((place, depth)) = open.pop_front() else { break };
        let here = folder.join(&place);
        if depth > 0 && (here.join(manifest::FILE).is_file() || known_file(&here).is_some()) {
            found.push(within(bot, &place));
            continue;
        }
        let mut names = names(&here);
        names.sort();
        let folders = names.into_iter().filter(|name| !name.starts_with('.') && here.join(name).is_dir());
        open.extend(folders.take_while(|_| depth < DEEPEST).map(|name| (place.join(name), depth + 1)));
    }
    match &found[..] {
        [] => {}
        [one] => return Advised::NameInner(one.clone()).to_string(),
        several => {
            let named: Vec<String> = several.iter().take(MOST_NAMED).map(|one| typed(one)).collect();
            let more = if several.len() > MOST_NAMED { ", ..." } else { "" };
            return format!("did you mean one of its folders: {}{more}?", named.join(", "));
        }
    }
    let mut names = names(folder);
    names.sort();
    let of_ending = |ending: &&str| {
        let mut fitting =
            names.iter().filter(move |name| name.rsplit_once('.').is_some_and(|(_, own)| own == *ending));
        fitting.next().filter(|_| fitting.next().is_none())
    };
    match RUNS.iter().find_map(of_ending) {
        Some(file) => Advised::NameFile(within(bot, Path::new(file))).to_string(),
        None if names.is_empty() => "it is empty".to_owned(),
        None => "add an agon.toml with run = \"...\"".to_owned(),
    }
}

/// The name of what lies in a bot's folder: that of a commit is written after a colon.
fn within(bot: &str, inner: &Path) -> String {
    let outer = bot.trim_end_matches('/');
    let between = match outer.strip_prefix("git:") {
        Some(commit) if !commit.contains(':') => ':',
        _ => '/',
    };
    format!("{outer}{between}{}", inner.display())
}

/// The text after `#!` in the first line of a script; none if there is no `#!`.
pub(crate) fn first_line(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(script).ok()?.take(LONGEST_FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

/// The words of a script's `#!` line, because the script may need that very shell. None if there is no such line, or the
/// program it names does not exist.
fn interpreter(script: &Path) -> Option<Vec<String>> {
    let line = first_line(script)?;
    let line = line.trim();
    // Like the system: everything after the program is one argument.
    let (program, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let argument = argument.trim_start();
    let is_there = |file: &Path| file.is_file() && crate::sys::may_execute(file);
    let mut there = is_there(Path::new(program));
    if program.ends_with("/env") && !argument.starts_with('-') {
        let path = std::env::var_os("PATH").unwrap_or_default();
        there &= std::env::split_paths(&path).any(|place| is_there(&place.join(argument)));
    }
    let words = [program, argument].into_iter().filter(|word| !word.is_empty()).map(str::to_owned);
    there.then(|| words.collect())
}

/// What a command needs in the bot's folder and does not find: its program, or Java's class path or jar.
fn unbuilt<'a>(words: &'a [String], folder: &Path) -> Option<&'a str> {
    let of_java = |word: &str| ["-cp", "-classpath", "--class-path", "-jar"].contains(&word);
    let needed = words.iter().enumerate().filter(|&(index, word)| match index.checked_sub(1) {
        None => word.contains('/'),
        Some(before) => of_java(&words[before]) && !word.contains([':', '*']),
    });
    // A build makes nothing outside its folder.
    let is_missing = |word: &&str| stays(&plain(&folder.join(word)), folder) && !folder.join(word).exists();
    needed.map(|(_, word)| word.as_str()).find(is_missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(text: &str) -> Result<Option<Launch>, LaunchError> {
        Launch::of(&BotName::parse(text).expect("a name"))
    }

    #[test]
    fn files_run_by_their_ending_in_their_own_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let bot = folder.path().join("mein böt.py");
        std::fs::write(&bot, "").expect("a file");
        let found = launch(bot.to_str().expect("a name")).expect("it runs").expect("a program");
        assert_eq!(found.program, "python3");
        assert_eq!(found.arguments, [OsString::from("-u"), bot.into_os_string()]);
        assert_eq!(found.folder.as_deref(), Some(folder.path()));
    }

    #[test]
    fn what_lies_inside_is_named_as_it_is_typed() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("a/b c/it");
        std::fs::create_dir_all(&deep).expect("a folder");
        std::fs::write(deep.join("bot.py"), "").expect("a file");
        for (bot, named) in [
            ("x.zip", "'x.zip/a/b c/it'"),
            ("x/", "'x/a/b c/it'"),
            ("git:HEAD", "'git:HEAD:a/b c/it'"),
            ("git:HEAD:bots", "'git:HEAD:bots/a/b c/it'"),
        ] {
            let said = inside(bot, folder.path());
            assert_eq!(said, format!("the bot is further inside: name {named}"));
        }
    }

    #[test]
    fn a_script_without_exec_bit_runs_in_the_shell_it_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let bot = folder.path().join("run.sh");
        let started_with = |text: &str| {
            std::fs::write(&bot, text).expect("a file");
            let found = launch(folder.path().to_str().expect("a name")).expect("it runs").expect("a program");
            let (_, with) = found.notes[0].split_once("no exec bit; it is started with ").expect("a note");
            (found.clone(), with.to_owned())
        };
        let arrays = "steps=(one two)\necho \"${steps[1]} $-\"\n";
        for first in
            ["#!/bin/bash -e", "#! /bin/bash\t-e\r", "#!/usr/bin/env -S bash -e", "#!/usr/bin/env bash"]
        {
            // A carriage return is forgiven on the first line only.
            let (found, with) = started_with(&format!("{first}\n{arrays}"));
            let words: Vec<&str> = first.trim_start_matches("#!").split_whitespace().collect();
            assert_eq!(with.split_whitespace().collect::<Vec<_>>(), words);
            let mut command = std::process::Command::new(&found.program);
            let said = command.args(&found.arguments).output().expect("a shell").stdout;
            let said = String::from_utf8_lossy(&said);
            assert!(said.starts_with("two "), "{first}: {said}");
            assert_eq!(said.contains('e'), first.contains("-e"), "{first}: {said}");
        }
        for first in ["", "#!", "#!/no/such/shell", "#!/usr/bin/env no-such-shell", "# !/bin/bash"] {
            assert_eq!(started_with(&format!("{first}\necho yes\n")).1, "sh", "{first}");
        }
    }

    #[test]
    fn what_was_never_built_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a name").to_owned();
        let write = |text: &str| std::fs::write(folder.path().join("agon.toml"), text).expect("a file");
        for (run, missing) in
            [("./bot", "./bot"), ("java -cp out Player", "out"), ("java -jar bot.jar", "bot.jar")]
        {
            write(&format!("build = 'make'\nrun = '{run}'"));
            let why = launch(&path).unwrap_err().to_string();
            assert!(
                why.contains(&format!("`{missing}` is not there yet")) && why.contains("agon build"),
                "{why}"
            );
            std::fs::write(folder.path().join(missing), "").expect("a file");
            launch(&path).expect("it is built now");
        }
        write("run = './elsewhere'");
        launch(&path).expect("without a build command the system says what is wrong");
    }

    #[test]
    fn what_cannot_run_says_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a name").to_owned();
        assert!(launch("no/such/bot").unwrap_err().to_string().contains("builtin:"));
        assert!(launch(&path).unwrap_err().to_string().contains("agon.toml"));
        std::fs::write(folder.path().join("bot.cpp"), "").expect("a file");
        assert!(launch(&format!("{path}/bot.cpp")).unwrap_err().to_string().contains("agon build "));
        std::fs::write(folder.path().join("agon.toml"), "run = 5").expect("a file");
        assert!(launch(&path).unwrap_err().to_string().contains("agon.toml:1:7"));
    }

    #[test]
    fn a_runtime_is_known_by_the_command_or_its_script() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("run.sh");
        let of = |text: &str| {
            std::fs::write(&script, text).expect("a file");
            let found = launch(folder.path().to_str().expect("a name")).expect("it runs").expect("a program");
            found.runs_in_runtime()
        };
        assert!(of("#!/bin/sh\nexec java -jar \"$own/algo.jar\"\n"));
        assert!(of("#!/bin/sh\nexec \"/opt/jdk/bin/java\" Main\n"));
        assert!(!of("#!/bin/sh\n# not java\nexec python3 javanese.py\n"));
        let command = |text: &str| launch(text).expect("it runs").expect("a program").runs_in_runtime();
        assert!(command("cmd:java -cp out Player") && command("cmd:/usr/bin/dotnet bot.dll"));
        assert!(!command("cmd:python3 java.py") && !command("cmd:./bot"));
    }
}
