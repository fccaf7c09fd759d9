//! What a worker and a server say to each other.

use std::time::Duration;

use agon_contest::Aftermath;
use agon_game::{MapChoice, Recipe, RulesChoice, Setup};
use agon_replay::Note;
use agon_spec::{Ponder, RecordedClock};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What all matches of a contest have in common: everything that decides results but seeds and bots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// The game.
    pub game: String,
    /// The version of its rules.
    pub rules_version: u32,
    /// What is played on; blocks take them in turn.
    pub grounds: Vec<Ground>,
    /// How limits are applied.
    pub clock: RecordedClock,
    /// What happens to bots that compute in their opponent's time.
    pub ponder: Ponder,
}

/// Rules and map, whole: nothing of them is looked up any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// The name of the rules.
    pub rules_name: String,
    /// The complete rules.
    pub rules: String,
    /// The map.
    pub map: Map,
    /// The number of seats.
    pub seats: u8,
}

/// A map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Map {
    /// The game's default: from the seed, or picked by the seed.
    Default,
    /// Made from the seed.
    Generated,
    /// This one.
    Whole {
        /// Its name.
        name: String,
        /// Its content.
        content: String,
    },
}

impl Ground {
    /// What this setup is, of which some match has this recipe.
    pub fn new(setup: &Setup, recipe: &Recipe) -> Self {
        let map = match setup.map {
            MapChoice::Generated => Map::Generated,
            MapChoice::Named(_) | MapChoice::File(..) if !recipe.map.is_empty() => {
                Map::Whole { name: recipe.map_name.clone(), content: recipe.map.clone() }
            }
            _ => Map::Default,
        };
        Self { rules_name: recipe.rules_name.clone(), rules: recipe.rules.clone(), map, seats: recipe.seats }
    }

    /// The setup of a match on it.
    pub fn setup(&self) -> Setup {
        let map = match &self.map {
            Map::Default => MapChoice::Default,
            Map::Generated => MapChoice::Generated,
            Map::Whole { name, content } => MapChoice::File(name.clone(), content.clone().into_bytes()),
        };
        let rules = RulesChoice {
            file: Some((self.rules_name.clone(), self.rules.clone())),
            ..RulesChoice::default()
        };
        Setup { rules, map, seats: self.seats, seed: 0 }
    }
}

/// One try of a match: an older one of the same match is known by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Try {
    /// The match.
    #[serde(rename = "match")]
    pub game: i64,
    /// Which try of it, from 1.
    pub n: i64,
}

/// A match to be played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Which.
    pub attempt: Try,
    /// Which of the contest's maps, from 0.
    pub map: usize,
    /// Its seed.
    pub seed: i64,
    /// Who sits where.
    pub seats: Vec<Sitting>,
    /// The seat, from 0, of a bot that is tried out here: that it cannot play at all is its author's to hear.
    pub tried: Option<usize>,
}

/// Who sits in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sitting {
    /// How it is called.
    pub label: String,
    /// What plays.
    pub program: Program,
}

/// What plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Program {
    /// A bot inside the program, as `builtin:NAME`.
    Builtin(String),
    /// What somebody handed in: the hash of a tar.
    Source(String),
}

impl Program {
    /// What stands in replays for its content.
    pub fn hash(&self) -> &str {
        match self {
            Self::Builtin(text) | Self::Source(text) => text,
        }
    }
}

/// What a request for matches is answered with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// The lease; none when there is nothing to play.
    pub lease: Option<i64>,
    /// Its matches.
    pub jobs: Vec<Job>,
}

/// What was seen of a match that its replay cannot prove. The rest is in the replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// For each seat the kind of fault by which its program broke first, where it did. Everybody may know it; what was
    /// said about it belongs to the seat ([`Private`]).
    pub faults: Vec<Option<String>>,
    /// For each seat its longest answer, in milliseconds.
    pub max_ms: Vec<f64>,
    /// The whole match, in microseconds.
    pub wall_us: u64,
    /// How far its bots were held back.
    pub level: String,
}

/// What of a match belongs to the author of one bot and to nobody else. It never stands in the replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Private {
    /// What the program did wrong, in order.
    pub faults: Vec<Told>,
    /// What it wrote on standard error and the like, with the step of each from 0, in order.
    pub notes: Vec<Note>,
    /// So many of the first notes were left out: the last ones say how it ended.
    pub left_out: usize,
}

/// A fault as its author is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The step, from 0, as in the replay.
    pub step: u32,
    /// The same place in the game's words: `turn 12`.
    pub turn: String,
    /// The kind of fault, in words.
    pub kind: String,
    /// Whether no answer came by it, or none that can be played.
    pub breaks: bool,
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// The most that is posted of one seat, in bytes of JSON.
pub const MOST_PRIVATE: usize = 256 << 10;

/// Why a version cannot play: its author's doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfit {
    /// At which step that was found.
    pub stage: Stage,
    /// What is wrong with it: a sentence.
    pub what: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Unfit {
    /// The same, its sentences no longer than so many characters.
    pub fn bounded(&self, most: usize) -> Self {
        let cut = |text: &String| text.chars().take(most).collect();
        Self { stage: self.stage, what: cut(&self.what), fix: self.fix.as_ref().map(cut) }
    }
}

/// The steps from what was handed in to a bot that plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The archive, and what is in it.
    Unpacking,
    /// Its build.
    Building,
    /// Its command.
    Starting,
}

/// Why a match came to nothing that could count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing {
    /// A sentence that says whose fault it was.
    pub why: String,
    /// In a check match: the version cannot play at all, and trying again is of no use.
    pub unfit: Option<Unfit>,
}

impl Nothing {
    /// One that may go well when it is played again.
    pub fn again(why: impl Into<String>) -> Self {
        Self { why: why.into(), unfit: None }
    }
}

/// A match that was played to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// What was seen of it.
    pub report: Report,
    /// Its replay, in which nothing is private that is not of whoever gets it.
    pub replay: Vec<u8>,
    /// For each seat what belongs to its author alone; none where nobody's program played.
    pub own: Vec<Option<Private>>,
    /// What was seen of all programs, where all of them are one person's. Then nothing was taken out of the replay.
    pub all: Option<Aftermath>,
}

/// What becomes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Posted {
    /// It is kept, now or before.
    Kept,
    /// Somebody else was first, or it was given up.
    Settled,
    /// It is not what this worker posted before, or was never given to it.
    Refused,
}

/// The server is not there, or says no to everything for now.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Away(pub String);

/// What a worker asks of a server. Every call may be repeated.
pub trait Hall: Sync {
    /// Whether all bots and all results are one person's: what belongs to their authors is not taken out of replays then, and what is
    /// wrong with any of them is told.
    fn is_one_persons(&self) -> bool {
        false
    }
    /// Matches to play, `most` at the utmost. The same request gets the same answer.
    ///
    /// # Errors
    /// When the server is away.
    fn lease(&self, request: &str, most: usize) -> Result<Granted, Away>;
    /// There was nothing to play: waits until there may be something, or so long. Whether it was told of something.
    fn rest(&self, longest: Duration) -> bool {
        std::thread::sleep(longest);
        false
    }
    /// A match begins. `false` when it is somebody else's by now.
    ///
    /// # Errors
    /// When the server is away.
    fn start(&self, attempt: Try) -> Result<bool, Away>;
    /// The worker lives: its lease is renewed. `playing` names the matches that are played with their steps so far, so
    /// that one that hangs is seen. `false` when the lease is gone.
    ///
    /// # Errors
    /// When the server is away.
    fn beat(&self, lease: i64, playing: &[(Try, u32)]) -> Result<bool, Away>;
    /// The version that a check match is about is being unpacked and built. `false` when the match is somebody else's
    /// by now.
    ///
    /// # Errors
    /// When the server is away.
    fn building(&self, attempt: Try) -> Result<bool, Away>;
    /// That is over, whatever came of it; `log` is what the build said, its end.
    ///
    /// # Errors
    /// When the server is away.
    fn built(&self, attempt: Try, log: &[u8]) -> Result<(), Away>;
    /// Matches are over: what becomes of each, in their order. At most [`MOST_RESULTS`](crate::wire::MOST_RESULTS).
    ///
    /// # Errors
    /// When the server is away. Some may be kept then; all are posted again.
    fn post(&self, over: &[(Try, Whole)]) -> Result<Vec<Posted>, Away>;
    /// A match came to nothing that could count: the machine was late, or a bot cannot be made ready.
    ///
    /// # Errors
    /// When the server is away.
    fn void(&self, attempt: Try, nothing: &Nothing) -> Result<(), Away>;
    /// What of a lease is not over is given back.
    ///
    /// # Errors
    /// When the server is away.
    fn abort(&self, lease: i64) -> Result<(), Away>;
    /// What somebody handed in.
    ///
    /// # Errors
    /// When the server is away, or has no such object.
    fn fetch(&self, sha: &str) -> Result<Vec<u8>, Away>;
}
