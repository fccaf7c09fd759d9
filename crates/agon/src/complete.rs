//! Shell completion: commands and options from the parser's own description, and as their values games, presets, maps,
//! built-in bots and rules. The shell runs the program itself with the words typed so far.

use std::ffi::OsStr;
use std::io::{self, Write};

use agon_game::GameInfo;
use clap::Command;
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::{CompleteEnv, Shells};

use crate::common::here;

/// The variable by which the shell asks for completions. Its value is the shell's name.
const ASKED: &str = "COMPLETE";

/// Answers the shell if it asks for completions. Returns whether it did; then there is nothing else to do.
///
/// # Errors
/// What cannot be completed, in the parser's words.
pub fn answer(command: fn() -> Command) -> Result<bool, clap::Error> {
    if std::env::var_os(ASKED).is_none() {
        return Ok(false);
    }
    let factory = || with_values(command());
    CompleteEnv::with_factory(factory)
        .try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref())
}

/// Writes the script that makes a shell ask.
///
/// # Errors
/// When `out` cannot be written.
pub fn register(shell: Shell, out: &mut dyn Write) -> io::Result<()> {
    let shells = Shells::builtins();
    let shell = shells.completer(&shell.to_string()).ok_or_else(|| io::Error::other("an unknown shell"))?;
    shell.write_registration(ASKED, "agon", "agon", "agon", out)
}

/// Adds completers for values. Arguments of the same name mean the same in all commands.
fn with_values(command: Command) -> Command {
    let command = command.mut_args(|argument| match argument.get_id().as_str() {
        "game" => argument.add(ArgValueCompleter::new(games)),
        "bot" | "bots" | "new" | "old" | "opponents" => argument.add(ArgValueCompleter::new(bots)),
        "rules" | "preset" | "diff" => argument.add(ArgValueCompleter::new(presets)),
        "map" => argument.add(ArgValueCompleter::new(maps)),
        "rule" => argument.add(ArgValueCompleter::new(rules)),
        _ => argument,
    });
    command.mut_subcommands(with_values)
}

fn games(current: &OsStr) -> Vec<CompletionCandidate> {
    let games = agon_games::all().iter().map(|game| game.info());
    starting(current, games.map(|info| (info.name.to_owned(), Some(info.title))))
}

/// Built-in bots of the game, and files and folders.
fn bots(current: &OsStr) -> Vec<CompletionCandidate> {
    let builtins = wanted().into_iter().flat_map(|info| info.builtins);
    let mut found = starting(current, builtins.map(|bot| (format!("builtin:{}", bot.name), Some(bot.about))));
    found.extend(PathCompleter::any().complete(current));
    found
}

fn presets(current: &OsStr) -> Vec<CompletionCandidate> {
    let presets = wanted().into_iter().flat_map(|info| info.presets);
    let mut found = starting(current, presets.map(|preset| (preset.name.to_owned(), Some(preset.about))));
    found.extend(PathCompleter::file().complete(current));
    found
}

fn maps(current: &OsStr) -> Vec<CompletionCandidate> {
    let generated = wanted().into_iter().filter(|info| info.generates_maps).map(|_| "generate");
    let names = wanted().into_iter().flat_map(|info| info.maps).map(|map| map.name).chain(generated);
    let mut found = starting(current, names.map(|name| (name.to_owned(), None)));
    found.extend(PathCompleter::file().complete(current));
    found
}

fn rules(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_ascii_uppercase();
    let all = agon_games::all().iter().flat_map(|game| agon_rulebook::rules(game.info().rulebook));
    starting(&current, all.map(|rule| (rule.id, None)))
}

/// Those that start with what has been typed. `about` is shown beside each in shells that support it.
fn starting(
    current: &OsStr,
    all: impl Iterator<Item = (String, Option<&'static str>)>,
) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    all.filter(|(text, _)| text.starts_with(&*current))
        .map(|(text, about)| CompletionCandidate::new(text).help(about.map(Into::into)))
        .collect()
}

/// The game of the words typed so far, or of the `agon.toml` in this folder; all games if neither names one.
fn wanted() -> Vec<&'static GameInfo> {
    let typed = std::env::args().skip(1).find_map(|word| agon_games::find(&word));
    let here = || agon_games::find(&here::read().ok()??.defaults.game?);
    match typed.or_else(here) {
        Some(game) => vec![game.info()],
        None => agon_games::all().iter().map(|game| game.info()).collect(),
    }
}
