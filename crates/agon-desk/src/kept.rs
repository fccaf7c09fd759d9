//! Tests of a bot, made from turns of its matches: `tests/NAME.toml` in its folder.
//!
//! The replay is beside it as `tests/NAME.replay`, so that a test does not depend on files that get cleared away.

use std::io;
use std::path::{Path, PathBuf};

use agon_bot::rights;
use agon_game::{PackedAnswer, Seat};
use agon_replay::Replay;
use agon_replay::asked::AskedAgain;
use serde::{Deserialize, Serialize};

use crate::DeskError;
use crate::feed::{check_turn, text};
use crate::replays::TurnCount;
use crate::replays::{bytes, load, open};
use crate::seats::seat_of;
use crate::words::harmless;

/// The folder of a bot's tests.
pub const FOLDER: &str = "tests";
/// A larger file is not one of our tests.
const LARGEST: u64 = 64 << 10;

/// A test of a bot. Unknown keys are errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotTest {
    /// The replay, relative to the test's folder.
    pub replay: PathBuf,
    /// The seat that the bot takes, from 1.
    pub seat: u8,
    /// The turn from which the bot plays, counted as in `agon replay show`.
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
    /// One that keeps at least this chance to finish first, from 0 to 1, as the game's judge plays on from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps: Option<f64>,
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

impl BotTest {
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

    /// Writes it into the folder of a bot's tests, with a copy of the replay in `file` beside it; returns the test's file. A test that
    /// expects nothing becomes one that takes any answer except the recorded one.
    ///
    /// # Errors
    /// When the match has no such turn, nothing can be expected there, the name is taken, or the files cannot be written.
    pub fn write(mut self, file: &Path, folder: &Path, name: &str) -> Result<PathBuf, DeskError> {
        let (replay, original) = load(file)?;
        let bytes = match original {
            Some(original) => original.bytes,
            None => bytes(file)?,
        };
        let seat = seat_of(&replay, self.seat)?;
        let step = TurnCount::of(&replay).step(self.turn);
        check_turn(&replay, seat, step)?;
        let then = answer_then(&replay, seat, step)
            .map_err(|why| DeskError::Impossible(format!("{}: altered: {why}", file.display())))?;
        if self.answer.is_none() && self.later.is_none() {
            self.answer = Some(WantedAnswer { is_not: vec![then], ..WantedAnswer::default() });
        }
        self.check().map_err(|why| DeskError::Impossible(why.to_owned()))?;
        self.replay = format!("{name}.replay").into();
        let (test, copy) = (folder.join(format!("{name}.toml")), folder.join(&self.replay));
        for path in [&test, &copy] {
            if path.exists() {
                let path = path.display();
                return Err(DeskError::Impossible(format!("{path} is there already: choose another --name")));
            }
        }
        let text = toml::to_string(&self).map_err(|error| DeskError::Own(error.to_string()))?;
        let from = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = format!("# From {}. Run with: agon test\n{text}", harmless(&from));
        let failed = |error: io::Error| DeskError::Own(format!("{}: {error}", folder.display()));
        // The test is a file of the bot like any other; the replay holds what the bot said to its author.
        rights::create_public_folder(folder)
            .and_then(|()| rights::write_private(&copy, bytes))
            .and_then(|()| rights::write_public(&test, text))
            .map_err(failed)?;
        Ok(test)
    }

    fn check(&self) -> Result<(), &'static str> {
        let answer = self
            .answer
            .as_ref()
            .is_some_and(|one| one.is.len() + one.is_not.len() > 0 || one.keeps.is_some());
        let later = self.later.as_ref().is_some_and(|one| one.score.is_some() || one.advantage.is_some());
        match (&self.answer, &self.later) {
            (None, None) => Err("nothing is expected: add [answer] or [later]"),
            (Some(_), _) if !answer => {
                Err("[answer] expects nothing: add is = [...], is_not = [...] or keeps = ...")
            }
            (_, Some(_)) if !later => Err("[later] expects nothing: add score = ... or advantage = ..."),
            (_, Some(later)) if later.turns == 0 => {
                Err("[later] turns = 0: at least one more turn is played")
            }
            _ => Ok(()),
        }
    }
}

/// What a seat answered at a turn, as its protocol writes it.
fn answer_then(replay: &Replay, seat: Seat, turn: u32) -> Result<String, String> {
    let mut again = AskedAgain::new(open(replay).map_err(|error| error.to_string())?, replay);
    for _ in 0..=turn {
        again.ask(|_, _| ());
        again.play()?;
    }
    let answers: &[(Seat, PackedAnswer)] = &replay.steps[turn as usize].answers;
    let own = answers.iter().find(|(other, _)| *other == seat).map(|(_, answer)| answer);
    Ok(own.map_or_else(String::new, |answer| text(again.view(), seat, answer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<BotTest, String> {
        let kept: BotTest = toml::from_str(text).map_err(|error| error.to_string())?;
        kept.check().map(|()| kept).map_err(str::to_owned)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let kept = BotTest {
            replay: "a.replay".into(),
            seat: 2,
            turn: 17,
            answer: Some(WantedAnswer {
                is: vec!["[]\n[]".to_owned()],
                is_not: Vec::new(),
                keeps: Some(0.5),
            }),
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
