//! What a server may show: the replays and journals the user named, the folder of recent matches, and that of series. A
//! request names one of these; names are compared and never joined to paths, so no request reaches any other file.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use agon_contest::journal::{self, Entry, JournalError, JournalHeader};
use agon_game::Seat;
use agon_replay::{Replay, file};
use agon_spec::MatchSpec;
use agon_view::Unshowable;

use crate::api::{JournalMatch, Recent, RecentMatch, RecentSeat, SeriesHead, SeriesPage};

/// The largest file accepted, in bytes.
pub const LARGEST: u64 = 256 << 20;
/// How many recent matches are listed.
const RECENT: usize = 60;
/// How many recent series are listed.
const SERIES: usize = 20;
/// How many matches of a journal are sent to a page; the last ones if there are more.
const LISTED: usize = 20_000;
/// The most matches of a journal that is drawn.
const DRAWN: usize = 100_000;

/// What a server may show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf {
    /// The files the user named.
    pub named: Vec<PathBuf>,
    /// The folder of recent matches.
    pub folder: PathBuf,
    /// The folder of series: each has a folder of its own with a journal.
    pub series: PathBuf,
}

/// Why a replay is not available.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// Not one of ours.
    #[error(
        "This viewer does not have `{0}`. Open the viewer's start page and drop the file there, or start `agon watch FILE`"
    )]
    Unknown(String),
    /// Cannot be read.
    #[error("{0}: {1}")]
    Unreadable(String, String),
    /// Cannot be shown.
    #[error("{0}: {1}")]
    Unshowable(String, Unshowable),
    /// A journal that cannot be read.
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// A match that is not in its journal, or not kept.
    #[error("{0}")]
    NoMatch(String),
}

impl Shelf {
    /// The replay called `name`.
    ///
    /// # Errors
    /// When it is not on the shelf, or cannot be read.
    pub fn read(&self, name: &str) -> Result<Replay, ShelfError> {
        read(&self.find(name)?)
    }

    /// The bytes of the file called `name`, whatever it is.
    ///
    /// # Errors
    /// When it is not on the shelf, or cannot be read.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>, ShelfError> {
        bytes(&self.find(name)?)
    }

    /// The file called `name`, if it is on the shelf.
    pub(crate) fn find(&self, name: &str) -> Result<PathBuf, ShelfError> {
        let all = self.named.iter().cloned().chain(self.files().into_iter().map(|file| file.1));
        let found = all.chain(self.journals()).find(|path| path.display().to_string() == name);
        found.ok_or_else(|| ShelfError::Unknown(name.to_owned()))
    }

    /// The journals of series, the newest first.
    fn journals(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(&self.series).into_iter().flatten().flatten();
        // `LAST` leads to one of the others.
        let folders = folders.filter(|folder| folder.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut found: Vec<(SystemTime, PathBuf)> = folders
            .map(|folder| folder.path().join("journal.jsonl"))
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        found.sort_by(|a, b| b.cmp(a));
        found.into_iter().map(|file| file.1).collect()
    }

    /// The recent series, the newest first, for the start page.
    pub fn recent_series(&self) -> Vec<SeriesHead> {
        let listed = self.journals().into_iter().take(SERIES);
        listed.filter_map(|path| Some(summary(&path, &journal::read_header(&path).ok()?))).collect()
    }

    /// A journal with its matches.
    ///
    /// # Errors
    /// When it is not on the shelf, or damaged.
    pub fn journal(&self, name: &str) -> Result<SeriesPage, ShelfError> {
        let path = self.find(name)?;
        let mut entries = VecDeque::new();
        let past = journal::read(&path, |entry| {
            if entries.len() >= DRAWN {
                entries.pop_front();
            }
            entries.push_back(entry);
        })?;
        let header = &past.header;
        // Either the whole series is drawn, or nothing.
        let courses = match past.entries == entries.len() as u64 {
            true => agon_contest::courses(header, entries.make_contiguous()),
            false => Vec::new(),
        };
        entries.drain(..entries.len().saturating_sub(LISTED));
        let left_out = past.entries - entries.len() as u64;
        let matches = entries.into_iter().map(|entry| JournalMatch {
            command: header.command(&entry),
            block: entry.block,
            game: entry.game,
            seed: entry.seed.to_string(),
            map: entry.map,
            bots: entry.bots,
            scores: entry.result.proven.scores,
            ranks: entry.result.proven.ranks,
            reason: entry.result.proven.reason,
            steps: entry.result.proven.steps,
            max_ms: entry.result.observed.max_ms,
            faults: entry.result.observed.faults.counted().to_vec(),
            kept: entry.replay.is_some(),
        });
        Ok(SeriesPage {
            series: summary(&path, header),
            left_out,
            torn: past.torn,
            courses,
            matches: matches.collect(),
        })
    }

    /// The replay of a match of a journal.
    ///
    /// # Errors
    /// When it was not kept, or cannot be read.
    pub fn match_of(&self, name: &str, block: u64, game: u32) -> Result<Replay, ShelfError> {
        read(&self.kept(name, block, game)?)
    }

    /// The bytes of the replay of a match of a journal.
    ///
    /// # Errors
    /// When it was not kept, or cannot be read.
    pub fn bytes_of(&self, name: &str, block: u64, game: u32) -> Result<Vec<u8>, ShelfError> {
        bytes(&self.kept(name, block, game)?)
    }

    /// Where the replay of a match of a journal is.
    fn kept(&self, name: &str, block: u64, game: u32) -> Result<PathBuf, ShelfError> {
        let path = self.find(name)?;
        let (_, entry) = found(&path, block, game)?;
        entry.kept_beside(&path).map_err(ShelfError::NoMatch)?.ok_or_else(|| {
            ShelfError::NoMatch(format!("the replay of match {game} of block {block} was not kept"))
        })
    }

    /// A match of a journal, to be played again.
    ///
    /// # Errors
    /// When there is no such match.
    pub fn spec(&self, name: &str, block: u64, game: u32) -> Result<MatchSpec, ShelfError> {
        let (header, entry) = found(&self.find(name)?, block, game)?;
        Ok(header.spec(&entry))
    }

    /// The files of the folder, the newest first.
    fn files(&self) -> Vec<(SystemTime, PathBuf)> {
        let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "replay"))
            // `LAST.replay` leads to one of the others.
            .filter(|entry| entry.file_name() != "LAST.replay")
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort_by(|a, b| b.cmp(a));
        files
    }

    /// The recent matches, the newest first, for the start page.
    pub fn recent(&self) -> Vec<Recent> {
        self.files().into_iter().take(RECENT).map(|(changed, path)| entry(&path, changed)).collect()
    }
}

/// A match of a journal, with the journal's header.
fn found(path: &Path, block: u64, game: u32) -> Result<(JournalHeader, Entry), ShelfError> {
    let mut wanted = None;
    let past = journal::read(path, |entry| {
        if entry.block == block && entry.game == game {
            wanted = Some(entry);
        }
    })?;
    let missing = || ShelfError::NoMatch(format!("this journal has no match {game} of block {block}"));
    Ok((past.header, wanted.ok_or_else(missing)?))
}

/// What the start page says about a journal.
fn summary(path: &Path, header: &JournalHeader) -> SeriesHead {
    let game = agon_games::find(&header.game);
    SeriesHead {
        name: path.display().to_string(),
        kind: header.kind.word(),
        game: header.game.clone(),
        title: game.map_or(header.game.as_str(), |game| game.info().title).to_owned(),
        rules: header.rules.name.clone(),
        started: header.started,
        seats: header.seats,
        bots: header.bots.iter().map(|bot| bot.label.clone()).collect(),
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, ShelfError> {
    file::read(path, LARGEST)
        .map_err(|error| ShelfError::Unreadable(path.display().to_string(), error.to_string()))
}

/// Reads a replay file.
fn read(path: &Path) -> Result<Replay, ShelfError> {
    Replay::read(&bytes(path)?)
        .map_err(|error| ShelfError::Unshowable(path.display().to_string(), error.into()))
}

/// What the start page says about one file.
fn entry(path: &Path, changed: SystemTime) -> Recent {
    let name = path.display().to_string();
    let when = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let replay = match read(path) {
        Ok(replay) => replay,
        Err(error) => return Recent::Unreadable { name, when, error: error.to_string() },
    };
    let end = replay.end.as_ref();
    let outcome = end.and_then(|end| end.outcome.as_ref());
    let faults = |seat: Seat| {
        let facts = end.and_then(|end| end.facts["faults"].as_array());
        let own = facts.into_iter().flatten().filter(|fault| fault["seat"] == seat.number());
        own.filter(|fault| fault["kind"] != "rejected").count()
    };
    let seats = Seat::first(Seat::MAX).zip(&replay.header.seats).map(|(seat, bot)| RecentSeat {
        label: bot.label.clone(),
        score: outcome.and_then(|outcome| outcome.scores.get(seat.index()).copied()),
        rank: outcome.and_then(|outcome| outcome.ranks.get(seat.index()).copied()),
        faults: faults(seat),
    });
    Recent::Match(Box::new(RecentMatch {
        name,
        when,
        seats: seats.collect(),
        steps: replay.steps.len(),
        reason: outcome.map(|outcome| outcome.reason.clone()),
        void: end.and_then(|end| end.facts["void"].as_str()).map(str::to_owned),
        cut: end.is_none(),
        game: replay.header.game,
        rules: replay.header.recipe.rules_name,
        map: replay.header.recipe.map_name,
        seed: replay.header.recipe.seed.to_string(),
    }))
}
