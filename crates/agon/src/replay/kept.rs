//! Tests in a bot's folder, `tests/NAME.toml`, and `agon replay keep`, which turns a turn of a match into one.
//!
//! The replay is beside it as `tests/NAME.replay`, so that a test does not depend on files that get cleared away.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_bot::rights;
use agon_game::{PackedAnswer, Seat};
use agon_replay::Replay;
use agon_replay::asked::Asked;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::common::screen::harmless;
use crate::common::{Done, Failure};
use crate::replay::feed;
use crate::replay::{load, open};

/// The folder of a bot's tests.
pub const FOLDER: &str = "tests";
/// A larger file is not one of our tests.
const LARGEST: u64 = 64 << 10;

/// A test of a bot. Unknown keys are errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The replay, relative to the test's folder.
    pub replay: PathBuf,
    /// The seat that the bot takes, from 1.
    pub seat: u8,
    /// The turn from which the bot plays, from 0 as in `agon replay show`.
    pub turn: u32,
    /// What it should or should not answer there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<WantedAnswer>,
    /// The standing it should reach later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later: Option<WantedLater>,
}

/// What a bot should answer, written as by `agon replay feed`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedAnswer {
    /// One of these; empty for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub is: Vec<String>,
    /// None of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub is_not: Vec<String>,
}

/// The standing a bot should reach after playing on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedLater {
    /// After this many turns of the match, its own and others', or at its end.
    pub turns: u32,
    /// Its score is at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Its chance to finish first, from 0 to 1, is at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advantage: Option<f64>,
    /// The bots of the other seats, in order; empty for those of the replay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<String>,
}

impl Kept {
    /// Reads a test.
    ///
    /// # Errors
    /// A sentence that says where and what is wrong.
    pub fn read(path: &Path) -> Result<Self, String> {
        let named = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let bytes = agon_replay::file::read(path, LARGEST).map_err(|error| named(&error))?;
        let text = String::from_utf8(bytes).map_err(|_| named(&"it is not text"))?;
        let own: Self = toml::from_str(&text).map_err(|error| named(&error))?;
        own.check().map_err(|why| named(&why))?;
        Ok(own)
    }

    fn check(&self) -> Result<(), &'static str> {
        let answer = self.answer.as_ref().is_some_and(|one| one.is.len() + one.is_not.len() > 0);
        let later = self.later.as_ref().is_some_and(|one| one.score.is_some() || one.advantage.is_some());
        match (&self.answer, &self.later) {
            (None, None) => Err("nothing is expected: add [answer] or [later]"),
            (Some(_), _) if !answer => Err("[answer] expects nothing: add is = [...] or is_not = [...]"),
            (_, Some(_)) if !later => Err("[later] expects nothing: add score = ... or advantage = ..."),
            (_, Some(later)) if later.turns == 0 => {
                Err("[later] turns = 0: at least one more turn is played")
            }
            _ => Ok(()),
        }
    }
}

/// Examples for the help.
pub const EXAMPLES: &str = "The test goes to tests/NAME.toml in the bot's folder, with a copy of the replay beside it; `agon test` runs it. Without an
expectation, any answer passes except the one that was given then.

Examples:
  agon replay keep lost.replay --seat 2 --turn 17                            anything but what it did at turn 17
  agon replay keep lost.replay --seat 2 --turn 17 --is '3 SHOOT 5'           this, and nothing else
  agon replay keep lost.replay --seat 2 --turn 17 --later 20 --advantage 0.5 ahead again after 20 turns
  agon test";

/// Options of `agon replay keep`.
#[derive(Args, Debug)]
pub struct KeepOptions {
    /// The replay
    pub file: PathBuf,
    /// The seat that the bot takes
    #[arg(long, value_name = "N")]
    pub seat: u8,
    /// The turn, from 0 as in `agon replay show`
    #[arg(long, short, value_name = "T")]
    pub turn: u32,
    /// The bot must answer this; may be repeated: one of these
    #[arg(long, value_name = "ANSWER", allow_hyphen_values = true)]
    pub is: Vec<String>,
    /// The bot must not answer this; may be repeated: none of these
    #[arg(long, value_name = "ANSWER", allow_hyphen_values = true)]
    pub is_not: Vec<String>,
    /// Plays on for this many turns; with --score or --advantage
    #[arg(long, value_name = "TURNS")]
    pub later: Option<u32>,
    /// The score that the bot must then have at least
    #[arg(long, value_name = "X", requires = "later", allow_hyphen_values = true)]
    pub score: Option<f64>,
    /// The chance to finish first that the bot must then have at least, from 0 to 1
    #[arg(long, value_name = "P", requires = "later")]
    pub advantage: Option<f64>,
    /// The bots of the other seats from then on, in order [default: those of the replay]
    #[arg(long, value_name = "BOT", requires = "later")]
    pub against: Vec<String>,
    /// The name of the test [default: that of the replay, with the turn]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The folder of the bot
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub bot: PathBuf,
}

/// Runs `agon replay keep`.
pub fn keep(options: &KeepOptions) -> Done {
    let (replay, imported) = load(&options.file)?;
    let bytes = match imported {
        Some(imported) => imported.bytes,
        None => super::bytes(&options.file)?,
    };
    let shown = options.file.display();
    let seat = feed::seat_of(&replay, options.seat)?;
    feed::check_turn(&replay, seat, options.turn)?;
    let then = answer_then(&replay, seat, options.turn)
        .map_err(|why| Failure::usage(format!("{shown}: altered: {why}")))?;
    let mut answer = WantedAnswer { is: options.is.clone(), is_not: options.is_not.clone() };
    if answer == WantedAnswer::default() && options.later.is_none() {
        answer.is_not.push(then);
    }
    let later = options.later.map(|turns| WantedLater {
        turns,
        score: options.score,
        advantage: options.advantage,
        against: options.against.clone(),
    });
    let name = name(options)?;
    let kept = Kept {
        replay: format!("{name}.replay").into(),
        seat: options.seat,
        turn: options.turn,
        answer: Some(answer).filter(|answer| *answer != WantedAnswer::default()),
        later,
    };
    kept.check().map_err(Failure::usage)?;
    let folder = options.bot.join(FOLDER);
    let (test, copy) = (folder.join(format!("{name}.toml")), folder.join(&kept.replay));
    for path in [&test, &copy] {
        if path.exists() {
            return Err(Failure::usage(format!(
                "{} is there already: choose another --name",
                path.display()
            )));
        }
    }
    let text = toml::to_string(&kept).map_err(|error| Failure::own(error.to_string()))?;
    let from = options.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let text = format!("# From {}. Run with: agon test\n{text}", harmless(&from));
    let failed = |error: io::Error| Failure::own(format!("{}: {error}", folder.display()));
    // The test is a file of the bot like any other; the replay holds what the bot said to its author.
    rights::create_public_folder(&folder)
        .and_then(|()| rights::write_private(&copy, bytes))
        .and_then(|()| rights::write_public(&test, text))
        .map_err(failed)?;
    writeln!(io::stdout(), "{}", test.display())?;
    Ok(())
}

/// What a seat answered at a turn, as its protocol writes it.
fn answer_then(replay: &Replay, seat: Seat, turn: u32) -> Result<String, String> {
    let session = open(replay).map_err(|failure| match failure {
        Failure::Usage(why) | Failure::Own(why) => why,
        Failure::Check | Failure::Answer(_) | Failure::Unread => String::new(),
    })?;
    let mut again = Asked::new(session, replay);
    for _ in 0..=turn {
        again.ask(|_, _| ());
        again.play()?;
    }
    let answers: &[(Seat, PackedAnswer)] = &replay.steps[turn as usize].answers;
    let own = answers.iter().find(|(other, _)| *other == seat).map(|(_, answer)| answer);
    Ok(own.map_or_else(String::new, |answer| feed::text(again.view(), seat, answer)))
}

/// The name of a test, made safe as a file name on any system.
fn name(options: &KeepOptions) -> Result<String, Failure> {
    let stem =
        || options.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let usual = || format!("{}-turn{}", stem(), options.turn);
    let is_good = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
    match &options.name {
        None => Ok(usual().chars().map(|sign| if is_good(sign) { sign } else { '-' }).take(100).collect()),
        Some(name)
            if name.is_empty() || name.len() > 100 || !name.chars().all(is_good) || name.starts_with('.') =>
        {
            Err(Failure::usage(format!(
                "--name {}: a name has up to 100 letters, digits and - _ .",
                harmless(name)
            )))
        }
        Some(name) => Ok(name.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Kept, String> {
        let kept: Kept = toml::from_str(text).map_err(|error| error.to_string())?;
        kept.check().map(|()| kept).map_err(str::to_owned)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let kept = Kept {
            replay: "a.replay".into(),
            seat: 2,
            turn: 17,
            answer: Some(WantedAnswer { is: vec!["[]\n[]".to_owned()], is_not: Vec::new() }),
            later: Some(WantedLater { turns: 3, score: Some(-1.0), advantage: None, against: Vec::new() }),
        };
        let text = toml::to_string(&kept).expect("written");
        assert_eq!(parse(&text), Ok(kept), "{text}");
    }

    #[test]
    fn a_test_that_expects_nothing_is_refused() {
        let head = "replay = 'a'\nseat = 1\nturn = 0\n";
        let refused = |rest: &str, why: &str| {
            let said = parse(&format!("{head}{rest}")).expect_err("refused");
            assert!(said.contains(why), "{said}");
        };
        refused("", "add [answer] or [later]");
        refused("[answer]", "is = [...]");
        refused("[later]\nturns = 3", "score = ...");
        refused("[later]\nturns = 0\nscore = 1", "at least one more turn");
        refused("[answer]\nis = ['x']\nnever = 1", "never");
    }
}
