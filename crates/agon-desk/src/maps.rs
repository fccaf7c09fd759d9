//! Map files, checked: can they be played, can everything be reached, are they fair?

use std::io::Read as _;
use std::path::Path;

use agon_bot::advised::NextCommand;
use agon_game::{AnyGame, MapFindings, SetupError};
use serde::Serialize;

use crate::DeskError;

/// A larger file is not a map of any game.
const LARGEST: u64 = 1 << 20;

/// A checked map: `agon maps check --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct CheckedMap {
    pub file: String,
    pub game: &'static str,
    /// Whether it has no errors.
    pub good: bool,
    pub facts: Vec<String>,
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
}

impl CheckedMap {
    /// Checks a map called `file`, as one of `game`, or of the game that can read it.
    ///
    /// # Errors
    /// When no game can read it, or `game` has no map files.
    pub fn of(file: String, content: &[u8], game: Option<&'static dyn AnyGame>) -> Result<Self, DeskError> {
        let (game, findings) = examine(&file, content, game)?;
        let (name, good) = (game.info().name, findings.good());
        let MapFindings { facts, errors, warnings, .. } = findings;
        Ok(Self { file, game: name, good, facts, errors, warnings })
    }

    /// The same for a file.
    ///
    /// # Errors
    /// Also when it cannot be read.
    pub fn read(file: &Path, game: Option<&'static dyn AnyGame>) -> Result<Self, DeskError> {
        let shown = file.display().to_string();
        let content = content(file).map_err(|why| DeskError::Impossible(format!("{shown}: {why}")))?;
        Self::of(shown, &content, game)
    }
}

/// The findings about a map called `shown`, and the game they come from. What is not a map of its game has one error.
fn examine(
    shown: &str,
    content: &[u8],
    wanted: Option<&'static dyn AnyGame>,
) -> Result<(&'static dyn AnyGame, MapFindings), DeskError> {
    if let Some(game) = wanted {
        let checked = game.check_map(shown, content).ok_or_else(|| {
            DeskError::Impossible(format!("{} has no map files to check", game.info().title))
        })?;
        return Ok((game, checked.unwrap_or_else(|error| unreadable(&error))));
    }
    let tried = agon_games::all().iter().filter_map(|game| {
        let findings = game.check_map(shown, content)?.ok()?;
        // A game that takes unknown characters for ground can read any text as a map, so it is only a guess.
        let guess = game.info().reads_any_map;
        (!guess || findings.errors.is_empty()).then_some((guess, findings.errors.len(), *game, findings))
    });
    match tried.min_by_key(|&(guess, errors, ..)| (guess, errors)) {
        Some((_, _, game, findings)) => Ok((game, findings)),
        None => Err(DeskError::Impossible(format!(
            "{shown}: no game can read this as a map; `{}` says what is wrong with it",
            NextCommand::MapsCheck.about([shown])
        ))),
    }
}

fn unreadable(error: &SetupError) -> MapFindings {
    MapFindings { errors: vec![error.to_string()], ..MapFindings::default() }
}

/// The content of a file that may be a map.
fn content(file: &Path) -> Result<Vec<u8>, String> {
    if !file.is_file() {
        return Err("no such file".to_owned());
    }
    let open = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let mut content = Vec::new();
    open.take(LARGEST + 1).read_to_end(&mut content).map_err(|error| error.to_string())?;
    if content.len() as u64 > LARGEST {
        return Err(format!("a map has at most {LARGEST} bytes"));
    }
    Ok(content)
}
