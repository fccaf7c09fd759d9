//! The replays a server may show: those the user named, and those in the folder of recent matches.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use agon_game::Seat;
use agon_replay::Replay;
use serde_json::{Value, json};

use crate::film::Unshowable;

/// A file larger than this is refused.
pub const LARGEST: u64 = 256 << 20;
/// So many recent matches are listed.
const RECENT: usize = 60;

/// The replays a server may show.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// The files the user named.
    pub named: Vec<PathBuf>,
    /// The folder of recent matches.
    pub folder: PathBuf,
}

/// Why a replay cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// Not one of ours.
    #[error(
        "`{0}` is not among the replays this viewer was opened for; start `agon watch` with it, or drop it on the page"
    )]
    Unknown(String),
    /// Cannot be read.
    #[error("{0}: {1}")]
    Unreadable(String, String),
    /// Cannot be shown.
    #[error("{0}: {1}")]
    Unshowable(String, Unshowable),
}

impl Shelf {
    /// The replay called `name`.
    ///
    /// # Errors
    /// When it is not on the shelf, or cannot be read.
    pub fn read(&self, name: &str) -> Result<Replay, ShelfError> {
        let path = self.find(name).ok_or_else(|| ShelfError::Unknown(name.to_owned()))?;
        read(&path)
    }

    /// Names are compared, never joined to paths: a request reaches no other file.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let named = self.named.iter().find(|path| path.display().to_string() == name).cloned();
        named.or_else(|| {
            self.files().into_iter().map(|file| file.1).find(|path| path.display().to_string() == name)
        })
    }

    /// The files of the folder, the newest first.
    fn files(&self) -> Vec<(SystemTime, PathBuf)> {
        let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "replay"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort_by(|a, b| b.cmp(a));
        files
    }

    /// The recent matches, the newest first, for the start page.
    pub fn recent(&self) -> Vec<Value> {
        self.files().into_iter().take(RECENT).map(|(changed, path)| entry(&path, changed)).collect()
    }
}

/// Reads a replay file.
fn read(path: &Path) -> Result<Replay, ShelfError> {
    let name = path.display().to_string();
    let failed = |error: std::io::Error| ShelfError::Unreadable(name.clone(), error.to_string());
    if fs::metadata(path).map_err(failed)?.len() > LARGEST {
        return Err(ShelfError::Unreadable(name, "larger than 256 MiB, so not a replay".to_owned()));
    }
    let bytes = fs::read(path).map_err(failed)?;
    Replay::read(&bytes).map_err(|error| ShelfError::Unshowable(name, error.into()))
}

/// What the start page says of one file.
fn entry(path: &Path, changed: SystemTime) -> Value {
    let name = path.display().to_string();
    let when = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let replay = match read(path) {
        Ok(replay) => replay,
        Err(error) => return json!({ "name": name, "when": when, "error": error.to_string() }),
    };
    let header = &replay.header;
    let outcome = replay.end.as_ref().and_then(|end| end.outcome.as_ref());
    let faults = |seat: Seat| {
        let facts = replay.end.as_ref().and_then(|end| end.facts["faults"].as_array());
        let own = facts.into_iter().flatten().filter(|fault| fault["seat"] == seat.number());
        own.filter(|fault| fault["kind"] != "rejected").count()
    };
    let seats = Seat::first(Seat::MAX).zip(&header.seats).map(|(seat, bot)| {
        json!({
            "label": bot.label,
            "score": outcome.and_then(|outcome| outcome.scores.get(seat.index())),
            "rank": outcome.and_then(|outcome| outcome.ranks.get(seat.index())),
            "faults": faults(seat),
        })
    });
    json!({
        "name": name,
        "when": when,
        "game": header.game,
        "rules": header.recipe.rules_name,
        "map": header.recipe.map_name,
        "seed": header.recipe.seed.to_string(),
        "seats": seats.collect::<Vec<_>>(),
        "steps": replay.steps.len(),
        "reason": outcome.map(|outcome| outcome.reason.as_str()),
        "void": replay.end.as_ref().and_then(|end| end.facts["void"].as_str()),
        "cut": replay.end.is_none(),
    })
}
