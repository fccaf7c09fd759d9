//! Recorded matches: ours, and those of the originals.

use std::io;
use std::path::Path;

use agon_game::conform::ConformReport;
use agon_game::{AnyGame, MapChoice, RulesChoice, Session, Setup};
use agon_replay::{Header, Replay, ReplayError};
use agon_view::record::{self, Record};
use agon_view::{OtherRules, Unshowable};

use crate::DeskError;

/// Larger replay files are refused.
const LARGEST: u64 = 256 << 20;

/// A recorded match of an original, converted to our replay.
pub struct OriginalRecord {
    /// Its game.
    pub game: &'static dyn AnyGame,
    /// The replay, as written to a file.
    pub bytes: Vec<u8>,
    /// What the replay cannot hold of the record.
    pub notes: Vec<String>,
    /// How our engine compares with the record at each step.
    pub report: ConformReport,
}

impl OriginalRecord {
    /// Reads a match recorded by any original; none when these bytes are no such record. `name` is what the file is called.
    ///
    /// # Errors
    /// When they are a damaged one.
    pub fn read(record: &[u8], name: &str) -> Result<Option<Self>, DeskError> {
        let read = record::import(record).map_err(|why| DeskError::Impossible(format!("{name}: {why}")))?;
        let Some(Record { game, bytes, notes }) = read else { return Ok(None) };
        let mut report = ConformReport::default();
        game.conform(record, &mut report);
        Ok(Some(Self { game, bytes, notes, report }))
    }

    /// How many facts of the record were compared with our engine.
    pub fn compared(&self) -> u64 {
        self.report.kinds.values().map(|tally| tally.compared).sum()
    }

    /// Where our engine first differs from the record.
    pub fn first_difference(&self) -> Option<String> {
        let first = self.report.differences.first()?;
        Some(format!("{}, {}: expected {}, got {}", first.place, first.kind, first.expected, first.got))
    }
}

/// How the turns of a match are counted wherever one is typed or shown: as its game counts them, so that the turn that a fault names is
/// the turn to type. Games that count rounds have no number for a step; theirs are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnCount {
    /// The number of the first turn.
    first: u32,
}

impl TurnCount {
    /// How the turns of this match are counted.
    pub fn of(replay: &Replay) -> Self {
        let session =
            game_of(&replay.header).ok().and_then(|game| game.open(&replay.header.recipe.setup()).ok());
        session.map_or(Self { first: 0 }, |session| Self::at_start(session.as_ref()))
    }

    /// The same for a match that has not begun.
    pub fn at_start(session: &dyn Session) -> Self {
        let moment = session.moment();
        let number = moment.strip_prefix(session.info().step).unwrap_or_default().trim_start();
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        Self { first: digits.parse().unwrap_or(0) }
    }

    /// The same for the matches of a game, which all begin alike.
    pub fn of_game(game: &dyn AnyGame) -> Self {
        let (rules, map) = (RulesChoice::default(), MapChoice::Default);
        let setup = Setup { rules, map, seats: game.info().usual_seats(), seed: 0 };
        game.open(&setup).map_or(Self { first: 0 }, |session| Self::at_start(session.as_ref()))
    }

    /// The number of the first turn.
    pub fn first(self) -> u32 {
        self.first
    }

    /// The step that a turn is, from 0. What comes before the first turn is the start.
    pub fn step(self, turn: u32) -> u32 {
        turn.saturating_sub(self.first)
    }

    /// The turn that a step is.
    pub fn turn(self, step: u32) -> u32 {
        step.saturating_add(self.first)
    }
}

/// Reads a replay file: ours, or one of an original.
///
/// # Errors
/// When it cannot be read, or is neither.
pub fn read(file: &Path) -> Result<Replay, DeskError> {
    load(file).map(|(replay, _)| replay)
}

/// Reads a replay file; for one of an original, also returns what it was converted from.
///
/// # Errors
/// When it cannot be read, or is neither.
pub fn load(file: &Path) -> Result<(Replay, Option<OriginalRecord>), DeskError> {
    let (name, bytes) = (file.display().to_string(), bytes(file)?);
    match Replay::read(&bytes) {
        Ok(replay) => Ok((replay, None)),
        Err(ReplayError::Foreign) => {
            let original = OriginalRecord::read(&bytes, &name)?
                .ok_or_else(|| DeskError::Impossible(format!("{name}: {}", ReplayError::Foreign)))?;
            let replay = Replay::read(&original.bytes).map_err(|error| DeskError::Own(error.to_string()))?;
            Ok((replay, Some(original)))
        }
        Err(error) => Err(DeskError::Impossible(format!("{name}: {error}"))),
    }
}

/// The content of a file that may be a replay, unpacked if it is gzip.
///
/// # Errors
/// When it cannot be read, or is too large.
pub fn bytes(file: &Path) -> Result<Vec<u8>, DeskError> {
    let failed = |error: io::Error| {
        let why = format!("{}: {error}", file.display());
        match error.kind() {
            io::ErrorKind::NotFound => DeskError::Missing(why),
            _ => DeskError::Impossible(why),
        }
    };
    let packed = agon_replay::file::read(file, LARGEST).map_err(failed)?;
    agon_replay::record::unpacked(packed).map_err(failed)
}

/// The game of a replay's header.
///
/// # Errors
/// When this program does not have it.
pub fn game_of(header: &Header) -> Result<&'static dyn AnyGame, DeskError> {
    agon_games::find(&header.game).ok_or_else(|| {
        DeskError::Impossible(format!(
            "this replay is of `{}`, a game this program does not have",
            header.game
        ))
    })
}

/// Opens the match of a replay at its start.
///
/// # Errors
/// When this program does not have its game, or has other rules.
pub fn open(replay: &Replay) -> Result<Box<dyn Session>, DeskError> {
    let game = game_of(&replay.header)?;
    if let Some(other) = OtherRules::of(&replay.header, game) {
        return Err(DeskError::Impossible(Unshowable::OtherRules(other).to_string()));
    }
    Ok(game.open(&replay.header.recipe.setup())?)
}
