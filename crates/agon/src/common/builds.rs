//! Bots that are built before they play.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use agon_bot::advised::Advised;
use agon_bot::build::{Build, SOURCES, cache};
use agon_bot::{BotName, Confined, Launch, LaunchError, NameKind};
use agon_contest::content;

use crate::common::{Done, ErrorCode, Failure, screen};

/// Compiles the bot if it is a single source file and not compiled yet: it cannot start otherwise, and its first
/// second is not meant for compilers.
///
/// # Errors
/// When it cannot be compiled.
pub fn compile(name: &BotName) -> Done {
    match &name.kind {
        NameKind::Path(path) if path.is_file() => ensure(name, true),
        _ => Ok(()),
    }
}

/// Builds the bot if it has changed; for `--build` of other commands.
///
/// # Errors
/// When it cannot be built.
pub fn ensure(name: &BotName, quiet: bool) -> Done {
    match build(name, false)? {
        State::Failed(why) => Err(ErrorCode::Bot.of(format!("bot `{name}` cannot be built: {why}"))),
        State::Built(_) if !quiet => {
            eprintln!("note: {name} was built");
            Ok(())
        }
        _ => Ok(()),
    }
}
/// The same, with what the compiler says in the error.
///
/// # Errors
/// Likewise.
pub fn ensure_told(name: &BotName) -> Done {
    let mut said = Vec::new();
    let state = build_by(name, false, |build| match name.confined {
        Confined::No => build.run_by(|command| {
            let done = command.output()?;
            said.extend([done.stdout, done.stderr].concat());
            Ok(done.status)
        }),
        own => build.run_inside(own, &mut |bytes| {
            said.extend_from_slice(bytes);
            Ok(())
        }),
    })?;
    match state {
        State::Failed(why) => {
            let (why, said) = (why.trim_end_matches(ABOVE), String::from_utf8_lossy(&said));
            let told: String = said.chars().take(LONGEST_TOLD).collect();
            Err(ErrorCode::Bot.of(format!("bot `{name}` cannot be built: {why}\n{told}")))
        }
        _ => Ok(()),
    }
}

/// So many characters of what a compiler says are passed on to a page.
const LONGEST_TOLD: usize = 20_000;

/// Notes on standard error which bots changed since `agon build` built them: an easy mistake that is hard to see.
pub fn warn_of_stale(names: &[BotName]) {
    for name in names.iter().filter(|name| is_stale(name).unwrap_or(false)) {
        let build = Advised::Build(name.text.clone());
        eprintln!("note: {name} changed since it was built; `{build}` builds it, as --build does");
    }
}
/// Whether a source is the newest file of a bot that `agon build` has built.
fn is_stale(name: &BotName) -> Option<bool> {
    let NameKind::Path(path) = &name.kind else { return None };
    let build = Build::of(name).ok()??;
    let built = std::fs::read_to_string(stamp(&build.folder)).ok()?;
    if !path.is_dir() || built == content_of(name, &build).ok()? {
        return Some(false);
    }
    // A build by hand leaves a program behind that is newer than its sources.
    let files = content::files(path).ok()?;
    let changed = |file: &PathBuf| std::fs::metadata(path.join(file)).and_then(|found| found.modified()).ok();
    let newest = files.into_iter().max_by_key(changed)?;
    let ending = newest.extension().unwrap_or_default().to_string_lossy().into_owned();
    Some(SOURCES.contains(&ending.as_str()))
}
/// The source of a bot that is newer than what would be run: with a build command the newest of its files, when they changed since
/// `agon build` built them; in a folder with a Makefile of its own the newest that is newer than the program.
pub fn newer_source(name: &BotName) -> Option<PathBuf> {
    let NameKind::Path(path) = &name.kind else { return None };
    if !path.is_dir() {
        return None;
    }
    let files = content::files(path).ok()?;
    let modified = |file: &Path| std::fs::metadata(file).and_then(|found| found.modified()).ok();
    let is_source = |file: &&PathBuf| {
        file.extension().is_some_and(|ending| SOURCES.contains(&&*ending.to_string_lossy()))
    };
    let newest = || files.iter().filter(is_source).max_by_key(|file| modified(&path.join(file)));
    if let Some(build) = Build::of(name).ok()? {
        let built = std::fs::read_to_string(stamp(&build.folder)).ok();
        let is_current = built.is_some() && built == content_of(name, &build).ok();
        let by_hand = built.is_some() && !is_stale(name).unwrap_or(false);
        return if is_current || by_hand { None } else { newest().cloned() };
    }
    let has_makefile = ["Makefile", "makefile", "GNUmakefile"].iter().any(|file| path.join(file).is_file());
    let launch = Launch::of(name).ok()??;
    let program = path.join(Path::new(&launch.program));
    let made = modified(&program).filter(|_| has_makefile && program.is_file())?;
    let source = newest().filter(|file| program != path.join(file))?;
    modified(&path.join(source)).filter(|changed| *changed > made).map(|_| source.clone())
}

/// A hash of what is run, byte for byte: the program, its arguments, and the files beside them. The sources of a bot that is built are
/// not run, and neither is what says how to build it.
///
/// # Errors
/// A sentence for the user.
pub fn what_is_run(name: &BotName) -> Result<Option<u64>, String> {
    let NameKind::Path(path) = &name.kind else { return Ok(None) };
    let Some(launch) = Launch::of(name).map_err(|error| error.to_string())? else { return Ok(None) };
    let folder = if path.is_dir() { path.clone() } else { path.parent().unwrap_or(Path::new("")).to_owned() };
    let mut parts: Vec<u8> = Vec::new();
    let mut add = |what: &[u8]| {
        parts.extend_from_slice(&(what.len() as u64).to_le_bytes());
        parts.extend_from_slice(what);
    };
    let mut is_native = false;
    for (place, word) in std::iter::once(&launch.program).chain(&launch.arguments).enumerate() {
        let file = folder.join(Path::new(word));
        // A file is what it holds, wherever it lies.
        match std::fs::read(&file).ok().filter(|_| file.is_file()) {
            Some(bytes) => {
                is_native |= place == 0 && bytes.starts_with(b"\x7fELF");
                add(&content::of_text(&bytes).to_le_bytes());
            }
            None => add(word.as_encoded_bytes()),
        }
    }
    for (key, value) in &launch.environment {
        add(key.as_bytes());
        add(value.as_bytes());
    }
    if path.is_dir() {
        let ending = |file: &Path| file.extension().unwrap_or_default().to_string_lossy().into_owned();
        for file in content::files(path)? {
            let about_building = file.extension().is_some_and(|ending| ending == "md")
                || ["agon.toml", "Makefile", "makefile", "GNUmakefile"]
                    .iter()
                    .any(|own| file == Path::new(own));
            // What git leaves in the folder of a submodule.
            let is_git = file.components().any(|part| part.as_os_str() == ".git");
            if is_git || about_building || is_native && SOURCES.contains(&&*ending(&file)) {
                continue;
            }
            let bytes =
                std::fs::read(path.join(&file)).map_err(|error| format!("{}: {error}", file.display()))?;
            add(file.as_os_str().as_encoded_bytes());
            add(&content::of_text(&bytes).to_le_bytes());
        }
    }
    Ok(Some(content::of_text(&parts)))
}

/// What follows where somebody reads the output of a build first.
pub const ABOVE: &str = "; its output is above";

/// The result of a build.
pub(crate) enum State {
    /// There is nothing to build.
    Nothing,
    /// Nothing has changed since it was built.
    Current,
    /// It was built in this time.
    Built(Duration),
    /// It could not be built, and why.
    Failed(String),
}
/// Builds the bot if it has changed, or unconditionally with `force`.
///
/// # Errors
/// When there is no such bot, or its `agon.toml` is wrong.
pub fn build(name: &BotName, force: bool) -> Result<State, Failure> {
    build_by(name, force, |build| match name.confined {
        // The compiler's messages go where ours go, unchanged.
        Confined::No => build.run(),
        own => build.run_inside(own, &mut |bytes| io::stderr().write_all(bytes)),
    })
}

/// The same, with the caller running the command; its error is a sentence.
///
/// # Errors
/// Likewise.
pub fn build_by(
    name: &BotName,
    force: bool,
    run: impl FnOnce(&Build) -> Result<ExitStatus, String>,
) -> Result<State, Failure> {
    if let NameKind::Path(path) = &name.kind
        && !path.exists()
    {
        return Err(Failure::usage(format!("bot `{name}`: no such file or folder")));
    }
    let Some(build) = Build::of(name).map_err(Failure::Usage)? else { return Ok(State::Nothing) };
    let stamp = stamp(&build.folder);
    let current = match &build.made {
        Some(_) => build.is_there(),
        None => std::fs::read_to_string(&stamp).ok() == Some(content_of(name, &build)?),
    };
    if current && !force {
        return Ok(State::Current);
    }
    let began = Instant::now();
    let command = screen::harmless(&command_line(&build));
    let place = if name.confined == Confined::No { "" } else { " in a sandbox" };
    eprintln!("building {}{place}: {command}", screen::harmless(&name.text));
    let status = match run(&build) {
        Ok(status) => status,
        Err(why) => return Ok(State::Failed(why)),
    };
    if !status.success() {
        return Ok(State::Failed(format!("`{command}` ended with {status}{ABOVE}")));
    }
    if build.made.is_none() {
        let content = content_of(name, &build)?;
        let written = stamp.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = written.and_then(|()| std::fs::write(&stamp, content)) {
            eprintln!("note: {}: {error}; the bot will be built again next time", stamp.display());
        }
    }
    Ok(State::Built(began.elapsed()))
}
/// The command as one could type it, without the paths of our cache.
pub fn command_line(build: &Build) -> String {
    let cache = format!("{}/", cache().display());
    let short = |word: &String| match word.find(&cache) {
        Some(start) => {
            let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
            format!("{}{name}", &word[..start])
        }
        None => word.clone(),
    };
    let words: Vec<String> = build.command.iter().map(short).collect();
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
/// A fingerprint of the build command and the bot's files, the built ones included.
fn content_of(name: &BotName, build: &Build) -> Result<String, Failure> {
    let files = content::of_bot(name).map_err(Failure::Usage)?;
    let command = content::of_text(format!("{:?} {:?}", build.command, build.environment).as_bytes());
    Ok(format!("{files:016x}{command:016x}\n"))
}
/// Where the fingerprint of the last build is kept: not in the bot's folder, which may be read-only.
fn stamp(folder: &Path) -> PathBuf {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = content::of_text(folder.as_os_str().as_encoded_bytes());
    cache().join("stamps").join(format!("{name:016x}"))
}

/// Checks that a bot can be handed in to a contest, which builds it itself: a fresh clone or a commit holds its sources
/// and no more.
///
/// # Errors
/// When the name leads to nothing that can run.
pub fn can_be_handed_in(name: &BotName) -> Result<(), Failure> {
    match Launch::of(name) {
        Ok(_) | Err(LaunchError::NotBuilt { .. } | LaunchError::NeedsCompiler { .. }) => Ok(()),
        Err(error) => Err(Failure::usage(error.to_string())),
    }
}
