//! The `agon.toml` of the current folder: its `[defaults]`, so that commands need no arguments there.

use std::path::Path;

use agon_bot::BotName;
use agon_bot::manifest::{FILE, Manifest};

use crate::common::Failure;

/// The `agon.toml` of this folder, if there is one.
pub fn read() -> Result<Option<Manifest>, Failure> {
    Manifest::read(Path::new(".")).map_err(Failure::Usage)
}

/// The game it names.
pub fn game(here: Option<&Manifest>) -> Result<String, Failure> {
    let Some(here) = here else {
        return Err(Failure::usage(format!(
            "which game? Name it after the command, as in `agon play GAME BOT BOT` (`agon games` lists the games), or run this in the folder of a bot whose {FILE} names it"
        )));
    };
    here.defaults.game.clone().ok_or_else(|| {
        Failure::usage(format!(
            "which game? Name it after the command, or add [defaults] with game = \"...\" to ./{FILE}"
        ))
    })
}

/// What a command is about: as typed, else from `agon.toml`.
#[derive(Debug)]
pub struct About {
    pub game: String,
    /// The bots that were typed. A single one typed without a game plays against the bot of this folder.
    pub bots: Vec<String>,
    /// The rules; those of `agon.toml` only with its own game.
    pub rules: Option<String>,
    /// The usual opponents, only with the game of `agon.toml`.
    pub opponents: Vec<String>,
}

impl About {
    /// Reads `[GAME] [BOT]...`. The game may be left out if `agon.toml` names one.
    pub fn read(words: &[&String], rules: Option<&String>) -> Result<Self, Failure> {
        Self::of(read()?, words, rules)
    }

    fn of(here: Option<Manifest>, words: &[&String], rules: Option<&String>) -> Result<Self, Failure> {
        let own_bot = ".".to_owned();
        let own = here.as_ref().and_then(|here| here.defaults.game.as_deref());
        let is_game = |word: &str| agon_games::find(word).is_some() || own.is_none() || !is_bot(word);
        let (game, bots) = match words {
            [first, bots @ ..] if is_game(first) => ((*first).clone(), bots.to_vec()),
            [one] if *one == "." => (game(here.as_ref())?, Vec::new()),
            [one] => (game(here.as_ref())?, vec![&own_bot, *one]),
            bots => (game(here.as_ref())?, bots.to_vec()),
        };
        let bots: Vec<String> = bots.into_iter().cloned().collect();
        let defaults = match here {
            Some(here) if here.defaults.game.as_deref() == Some(&game) => here.defaults,
            _ if bots.is_empty() => {
                return Err(Failure::usage(format!(
                    "no bots are named; write them after `{game}`; builtin:NAME is one of ours (agon games {game})"
                )));
            }
            _ => Default::default(),
        };
        let rules = rules.cloned().or(defaults.rules);
        Ok(Self { game, bots, rules, opponents: defaults.opponents })
    }

    /// The usual opponents, at least one.
    pub fn opponents(&self) -> Result<&[String], Failure> {
        if self.opponents.is_empty() {
            return Err(Failure::usage(format!(
                "name an opponent on the command line, or add opponents = [\"builtin:...\"] to [defaults] in ./{FILE}"
            )));
        }
        Ok(&self.opponents)
    }
}

/// Whether a word names an existing bot, rather than a mistyped game.
fn is_bot(word: &str) -> bool {
    Path::new(word).exists() || word.contains(':') && BotName::parse(word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "[defaults]\ngame = 'terminal'\nrules = 'document'\nopponents = ['builtin:rush']";

    fn about(here: Option<&str>, words: &[&str]) -> Result<(String, String, Option<String>), String> {
        let here = here.map(|text| Manifest::parse(text).expect("a good file"));
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let about = About::of(here, &words.iter().collect::<Vec<_>>(), None);
        about.map(|about| (about.game, about.bots.join(" "), about.rules)).map_err(|failure| match failure {
            Failure::Usage(why) => why,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn what_is_not_typed_is_as_agon_toml_says() {
        let terminal = |bots: &str| Ok(("terminal".to_owned(), bots.to_owned(), Some("document".to_owned())));
        assert_eq!(about(Some(HERE), &[]), terminal(""));
        assert_eq!(about(Some(HERE), &["terminal"]), terminal(""));
        assert_eq!(about(Some(HERE), &["."]), terminal(""));
        assert_eq!(about(Some(HERE), &["builtin:rush"]), terminal(". builtin:rush"));
        assert_eq!(about(Some(HERE), &[".", "builtin:rush"]), terminal(". builtin:rush"));
        assert_eq!(about(Some(HERE), &["terminal", ".", "x"]), terminal(". x"));
    }

    #[test]
    fn another_game_takes_nothing_from_it() {
        let other = ("deerhunt".to_owned(), "a b".to_owned(), None);
        assert_eq!(about(Some(HERE), &["deerhunt", "a", "b"]), Ok(other.clone()));
        assert_eq!(about(None, &["deerhunt", "a", "b"]), Ok(other));
        assert!(about(Some(HERE), &["deerhunt"]).expect_err("no bots").contains("no bots are named"));
    }

    #[test]
    fn a_mistyped_game_stays_a_game() {
        assert_eq!(about(Some(HERE), &["terminl", "."]).expect("read").0, "terminl");
        assert!(about(None, &[]).expect_err("nothing").contains("which game?"));
        assert!(about(Some("name = 'x'"), &[]).expect_err("nothing").contains("add [defaults]"));
    }
}
