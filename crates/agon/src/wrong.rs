//! Messages for a command line that cannot be parsed: clap's sentence, and what to type instead when the word is a
//! habit from another program.

use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use agon_bot::advised::NextCommand;
use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Options of fastchess, cutechess, cargo and other runners, and their equivalents here. They are recognised with one
/// dash or two, and with `=VALUE`.
const HABITS: &[(&str, &str)] = &[
    ("concurrency", "`-j N` (--jobs) plays N matches at once"),
    ("threads", "`-j N` (--jobs) plays N matches at once"),
    ("parallel", "`-j N` (--jobs) plays N matches at once"),
    ("workers", "`-j N` (--jobs) plays N matches at once"),
    ("rounds", "`-n N` (--games) is the number of matches against each opponent"),
    ("matches", "`-n N` (--games) is the number of matches against each opponent"),
    ("num-games", "`-n N` (--games) is the number of matches against each opponent"),
    ("count", "`-n N` (--games) is the number of matches against each opponent"),
    ("repeat", "leave it out: every seed is played in all seats"),
    ("mirror", "leave it out: every seed is played in all seats"),
    ("engine", "bots are plain words after the game: agon gauntlet GAME NEW OLD"),
    ("bot", "bots are plain words after the game: agon play GAME BOT BOT"),
    ("bots", "bots are plain words after the game: agon play GAME BOT BOT"),
    ("player", "bots are plain words after the game: agon play GAME BOT BOT"),
    ("players", "bots are plain words after the game: agon play GAME BOT BOT"),
    ("cmd", "a command line is a bot: agon play GAME 'cmd:./bot -x' BOT"),
    (
        "p1",
        "bots are plain words after the game: agon play GAME BOT BOT; only agon referee takes -p1 and -p2",
    ),
    (
        "p2",
        "bots are plain words after the game: agon play GAME BOT BOT; only agon referee takes -p1 and -p2",
    ),
    ("game", "the game is the first word: agon play GAME BOT BOT"),
    ("variant", "the game is the first word: agon play GAME BOT BOT"),
    ("sprt", "it is a command of its own: agon sprt GAME NEW OLD --elo0 0 --elo1 10"),
    ("elo", "agon sprt takes --elo0 and --elo1; agon gauntlet shows Elo by itself"),
    ("openings", "matches begin from seeds: --seed N, and --map NAME for a map"),
    ("book", "matches begin from seeds: --seed N, and --map NAME for a map"),
    ("srand", "`--seed N` sets the seed"),
    ("random-seed", "`--seed N` sets the seed"),
    ("board", "`--map NAME` chooses a map"),
    ("config", "`--rules FILE` takes a rules file, `--set RULE=VALUE` changes one rule"),
    (
        "option",
        "`--set RULE=VALUE` changes a rule; options of a built-in bot go in its name: builtin:hunter?nodes=2000",
    ),
    (
        "each",
        "limits are the rulebook's; `--time-scale X` multiplies them, `--time-limit 500ms` shortens them",
    ),
    ("tc", "limits are the rulebook's; `--time-scale X` multiplies them, `--time-limit 500ms` shortens them"),
    ("st", "limits are the rulebook's; `--time-scale X` multiplies them, `--time-limit 500ms` shortens them"),
    (
        "timeout",
        "`--time-limit 500ms` shortens the limits, `--time-scale 2` multiplies them, `--no-timeouts` lifts them",
    ),
    ("timemargin", "`--time-scale 1.1` gives a tenth more; the machine's delays never lose a match"),
    ("timescale", "`--time-scale X` multiplies all limits"),
    ("no-timeout", "`--no-timeouts` lifts all limits"),
    ("debug", "`--no-timeouts` lifts all limits, and `agon docs debugging` says how to attach a debugger"),
    ("recover", "leave it out: a crash loses its match, and the series continues"),
    ("restart", "leave it out: every match starts its bots anew"),
    ("resign", "leave it out: matches are played to their end"),
    ("draw", "leave it out: matches are played to their end"),
    ("maxmoves", "`--set RULE=VALUE` changes the number of turns (agon rules GAME lists the names)"),
    ("pgnout", "`--journal FILE` writes every match down, `--replays all` keeps every replay"),
    ("pgn", "`--journal FILE` writes every match down, `--replays all` keeps every replay"),
    ("output", "`--json` prints the result for programs"),
    ("outcome", "`--json` prints the result for programs"),
    ("format", "`--json` prints the result for programs"),
    ("log", "`--replay FILE` keeps the match with all that bots wrote to standard error"),
    ("ratinginterval", "leave it out: a series shows its ratings while it runs"),
    ("release", "leave it out: agon build runs the command of agon.toml as it is"),
    ("verbose", "leave it out: faults are always reported; `agon replay info FILE` shows more of a match"),
    ("silent", "`--quiet` prints less"),
    ("viewer", "`--live` shows the match in the browser while it is played, `--open` when it is over"),
    ("gui", "`--live` shows the match in the browser while it is played, `--open` when it is over"),
    ("web", "`--live` shows the match in the browser while it is played, `--open` when it is over"),
    ("reverse", "`--swap` seats the bots in reverse order"),
    ("noswap", "leave it out: without --swap bots sit in the order in which they are named"),
];

/// Commands of other programs, and their equivalents here.
const COMMANDS: &[(&str, &str)] = &[
    ("run", "agon play"),
    ("match", "agon play"),
    ("fight", "agon play"),
    ("battle", "agon play"),
    ("start", "agon play"),
    ("game", "agon games"),
    ("list", "agon games"),
    ("ls", "agon games"),
    ("init", "agon new"),
    ("create", "agon new"),
    ("template", "agon new"),
    ("compile", "agon build"),
    ("make", "agon build"),
    ("validate", "agon check"),
    ("lint", "agon check"),
    ("view", "agon watch"),
    ("open", "agon watch"),
    ("show", "agon replay show"),
    ("info", "agon replay info"),
    ("export", "agon replay export"),
    ("import", "agon replay import"),
    ("fork", "agon replay fork"),
    ("elo", "agon rate"),
    ("rating", "agon rate"),
    ("ratings", "agon rate"),
    ("ladder", "agon tournament"),
    ("league", "agon tournament"),
    ("round-robin", "agon tournament"),
    ("compare", "agon sprt"),
    ("freeze", "agon pin"),
    ("upload", "agon submit"),
    ("sign-in", "agon login"),
    ("standing", "agon status"),
    ("zip", "agon pack"),
    ("map", "agon maps"),
    ("rule", "agon explain"),
    ("help", "agon --help"),
    ("version", "agon --version"),
    ("man", "agon docs"),
    ("guide", "agon docs"),
];

/// Says what is wrong with `words`, which the parser rejected with `error`, and what to type instead.
pub fn explain(error: Error, words: &[OsString]) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let hint = match error.kind() {
        ErrorKind::UnknownArgument => words
            .iter()
            .skip(1)
            .find_map(|word| habit(word))
            .or_else(|| text(ContextKind::InvalidArg).and_then(|word| one_too_many(&word, &words))),
        ErrorKind::InvalidSubcommand => {
            text(ContextKind::InvalidSubcommand).and_then(|word| command(&word, &words))
        }
        ErrorKind::ValueValidation => return number(&error).unwrap_or_else(|| error.render().to_string()),
        _ => None,
    };
    let plain = error.render().to_string();
    let Some(hint) = hint else { return plain };
    // The tip replaces clap's own, which only compares letters.
    let mut lines: Vec<&str> = plain.lines().filter(|line| !line.trim_start().starts_with("tip:")).collect();
    lines.dedup_by(|next, before| next.is_empty() && before.is_empty());
    let hint = format!("\n  tip: {hint}");
    lines.insert(1, &hint);
    lines.dedup_by(|next, before| next.is_empty() && before.is_empty());
    lines.join("\n") + "\n"
}

/// The equivalent here of an option of another program.
fn habit(word: &str) -> Option<String> {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let name = name.split('=').next().unwrap_or(name).to_lowercase();
    let (_, what) = HABITS.iter().find(|(habit, _)| *habit == name)?;
    Some(format!("{word} is unknown here; {what}"))
}

/// Says that a command takes one file, where a shell made several of one word.
fn one_too_many(word: &str, words: &[String]) -> Option<String> {
    let is_file = |word: &str| std::path::Path::new(word).is_file();
    let command = words.get(1..)?.iter().take_while(|word| !is_file(word) && !word.starts_with('-'));
    let command: Vec<&str> = command.map(String::as_str).collect();
    is_file(word).then(|| format!("`agon {}` takes one file", command.join(" ")))
}

/// The equivalent here of a word in the place of a command.
fn command(word: &str, words: &[String]) -> Option<String> {
    // `agon maps` and others have commands of their own; only the first word is checked here.
    if words.get(1).map(String::as_str) != Some(word) {
        return None;
    }
    if let Some((_, own)) = COMMANDS.iter().find(|(name, _)| *name == word.to_lowercase()) {
        return Some(format!("did you mean `{own}`?"));
    }
    if agon_games::find(word).is_some() {
        return Some(format!("the command comes first, as in: {}", NextCommand::Play.about(&words[1..])));
    }
    let is_file = std::path::Path::new(word).exists();
    is_file.then(|| {
        format!(
            "{word} is a file or folder, and a command comes first: {}",
            NextCommand::CheckBot.about([word])
        )
    })
}

/// The message for an invalid number, without the parser's words.
fn number(error: &Error) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (option, value) = (context(ContextKind::InvalidArg)?, context(ContextKind::InvalidValue)?);
    let source = std::error::Error::source(error)?;
    let name = option.split(' ').next().unwrap_or(option);
    let why = if let Some(wrong) = source.downcast_ref::<ParseIntError>() {
        match wrong.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                format!("that number is too large; write a smaller one, as in {name} 7")
            }
            _ => format!("write a whole number, as in {name} 7"),
        }
    } else if source.is::<ParseFloatError>() {
        format!("write a number, as in {name} 1.5")
    } else {
        let range = source.to_string();
        let (_, range) = range.split_once(" is not in ")?;
        let (least, most) = range.split_once("..")?;
        let most = most.trim_start_matches('=');
        let most = if most.len() < 10 { format!(" to {most}") } else { String::new() };
        let from = if most.is_empty() { "a whole number from" } else { "a number from" };
        format!("write {from} {least}{most}{}", if most.is_empty() { " on" } else { "" })
    };
    Some(format!(
        "error: invalid value '{value}' for '{option}': {why}\n\nFor more information, try '--help'.\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory as _;

    /// Whether a command knows an option of this name.
    fn is_known(command: &clap::Command, name: &str) -> bool {
        command.get_arguments().any(|argument| argument.get_long() == Some(name))
            || command.get_subcommands().any(|command| is_known(command, name))
    }

    #[test]
    fn what_is_advised_exists() {
        for (habit, what) in HABITS {
            for word in
                what.split([' ', '`', '(', ')', ',', ';', ':']).filter_map(|word| word.strip_prefix("--"))
            {
                assert!(is_known(&Cli::command(), word), "{habit}: --{word}");
            }
        }
        for (habit, own) in COMMANDS {
            let cli = Cli::command();
            let known = |name: &str| cli.find_subcommand(name).is_some() || name.starts_with("--");
            assert!(known(own.split(' ').nth(1).expect("a command")), "{habit}: {own}");
            assert!(cli.find_subcommand(habit).is_none(), "{habit} is a command");
        }
    }
}
