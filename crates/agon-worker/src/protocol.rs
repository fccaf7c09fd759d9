//! The messages between a worker and a server.

use std::time::Duration;

use agon_api::TriedInPosition;
use agon_contest::Observed;
use agon_game::{MapChoice, Recipe, RulesChoice, Setup};
use agon_replay::{Doing, SeatNote, Wait};
use agon_spec::{Ponder, RecordedClock};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What all matches of a contest have in common: everything that decides results except seeds and bots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContestTerms {
    pub game: String,
    pub rules_version: u32,
    /// The grounds to play on; blocks take them in turn.
    pub grounds: Vec<MatchGround>,
    /// How limits are applied.
    pub clock: RecordedClock,
    /// What happens to bots that compute in their opponent's time.
    pub ponder: Ponder,
    /// The version of the method by which ratings are made from results (`METHOD` of `agon-stats`); terms of before this was written had
    /// the first.
    #[serde(default = "first_method")]
    pub ratings: u32,
}

fn first_method() -> u32 {
    1
}

/// Rules and map in full: nothing is looked up elsewhere any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchGround {
    pub rules_name: String,
    /// The complete rules.
    pub rules: String,
    pub map: MapSource,
    /// The number of seats.
    pub seats: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MapSource {
    /// The game's default: from the seed, or picked by the seed.
    Default,
    /// Generated from the seed.
    Generated,
    Whole {
        name: String,
        content: String,
    },
}

impl MatchGround {
    /// The ground of this setup, some match of which has this recipe.
    pub fn new(setup: &Setup, recipe: &Recipe) -> Self {
        let map = match setup.map {
            MapChoice::Generated => MapSource::Generated,
            MapChoice::Named(_) | MapChoice::File(..) if !recipe.map.is_empty() => {
                MapSource::Whole { name: recipe.map_name.clone(), content: recipe.map.clone() }
            }
            _ => MapSource::Default,
        };
        Self { rules_name: recipe.rules_name.clone(), rules: recipe.rules.clone(), map, seats: recipe.seats }
    }

    /// The setup of a match on it.
    pub fn setup(&self) -> Setup {
        let map = match &self.map {
            MapSource::Default => MapChoice::Default,
            MapSource::Generated => MapChoice::Generated,
            MapSource::Whole { name, content } => MapChoice::File(name.clone(), content.clone().into_bytes()),
        };
        let rules = RulesChoice {
            file: Some((self.rules_name.clone(), self.rules.clone())),
            ..RulesChoice::default()
        };
        Setup { rules, map, seats: self.seats, seed: 0 }
    }
}

/// One attempt at a match. Its number distinguishes it from earlier attempts at the same match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Try {
    #[serde(rename = "match")]
    pub game: i64,
    /// The number of the attempt, from 1.
    pub n: i64,
}

/// A match to play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub attempt: Try,
    /// The index of the map in the contest, from 0.
    pub map: usize,
    pub seed: i64,
    /// The bots by seat.
    pub seats: Vec<Sitting>,
    /// The seat, from 0, of a bot being tried out: if it cannot play at all, its author is told.
    pub tried: Option<usize>,
    /// How many tries of this match the bot of each seat has made void; empty for none. In the third one it is put out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<u32>,
    /// In which positions the bot that is tried out is tried after the match. A worker that does not know them leaves them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionJob>,
}

/// A position in which a bot is tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionJob {
    /// The number of the test.
    pub id: i64,
    /// The replay of the match: the hash of an object.
    pub replay: String,
    /// The seat that it takes, from 1.
    pub seat: u8,
    /// The step at which it is asked, from 1.
    pub step: u32,
    /// What its answer must be: [`WantedInPosition`](agon_api::WantedInPosition) as JSON.
    pub wanted: String,
}

/// A bot in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sitting {
    pub label: String,
    pub program: BotSource,
}

/// A bot's program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BotSource {
    /// A bot inside the program, as `builtin:NAME`.
    Builtin(String),
    /// A submission: the hash of a tar.
    Source(String),
}

impl BotSource {
    /// What replays record for its content.
    pub fn hash(&self) -> &str {
        match self {
            Self::Builtin(text) | Self::Source(text) => text,
        }
    }
}

/// The answer to a request for matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// The lease; none if there is nothing to play.
    pub lease: Option<i64>,
    pub jobs: Vec<Job>,
}

/// What belongs to one bot's author and nobody else. It is never in the replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Private {
    /// The program's faults, in order.
    pub faults: Vec<ToldFault>,
    /// Its standard error and the like, with the step of each from 0, in order.
    pub notes: Vec<SeatNote>,
    /// How many of the first notes were left out. The last ones are kept, because they say how it ended.
    pub left_out: usize,
    /// What it did in the positions that its team keeps as tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<TriedInPosition>,
}

/// A fault as shown to its author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldFault {
    /// The step, from 0, as in the replay.
    pub step: u32,
    /// The same place in the game's words: `turn 12`.
    pub turn: String,
    /// The kind of fault, in words.
    pub kind: String,
    /// Whether the fault means that no answer came, or none that can be played.
    pub breaks: bool,
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// Upper limit on what is posted for one seat, in bytes of JSON.
pub const MOST_PRIVATE: usize = 256 << 10;

/// Why a version cannot play: its author's fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfit {
    /// The stage at which this was found.
    pub stage: Stage,
    /// What is wrong with it: a sentence.
    pub what: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Unfit {
    /// The same with sentences of at most `most` characters.
    pub fn bounded(&self, most: usize) -> Self {
        let cut = |text: &String| text.chars().take(most).collect();
        Self { stage: self.stage, what: cut(&self.what), fix: self.fix.as_ref().map(cut) }
    }
}

/// The stages from a submission to a bot that plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The archive, and its content.
    Unpacking,
    Building,
    Starting,
}

/// Why a match came to nothing that could count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing {
    /// A sentence that says whose fault it was.
    pub why: String,
    /// In a check match: the version cannot play at all, and trying again is no use.
    pub unfit: Option<Unfit>,
    /// The seat, from 1, of the bot that disturbed another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<u8>,
    /// What was counted when a seat was kept waiting for too long: it shows whose doing that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
}

impl Nothing {
    /// A failure that may go well when played again.
    pub fn again(why: impl Into<String>) -> Self {
        Self { why: why.into(), unfit: None, by: None, wait: None }
    }

    /// A version that cannot play.
    pub fn hopeless(unfit: Unfit) -> Self {
        Self { unfit: Some(unfit.clone()), ..Self::again(unfit.what) }
    }

    /// The seat, from 1, whose doing it was: as what was counted says, where that was posted, and the worker elsewhere.
    pub fn doing(&self) -> Option<u8> {
        match self.wait.as_ref().map(Wait::doing) {
            None => self.by,
            Some(Doing::Seat(by)) => Some(by),
            Some(Doing::Machine | Doing::Nobody) => None,
        }
    }
}

/// A match that was played to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// What was observed: what everybody may know, or all of it if all bots belong to one person.
    pub observed: Observed,
    /// Its replay, with nothing private except what its recipient owns.
    pub replay: Vec<u8>,
    /// For each seat, what belongs to its author alone; none if nobody's program played there.
    pub own: Vec<Option<Private>>,
}

/// The fate of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Posted {
    /// It is kept, from now or from before.
    Kept,
    /// Somebody else was first, or it was given up.
    Settled,
    /// It differs from what this worker posted before, or the match was never given to it.
    Refused,
    /// It was not played in the image that the contest has now; the match is played again.
    OtherImage,
}

/// The server cannot be reached, or refuses everything for now.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Away(pub String);

/// What a worker asks of a server. Every call may be repeated.
pub trait Hall: Sync {
    /// Whether all bots and all results belong to one person. Then nothing is taken out of replays for their authors,
    /// and what is wrong with any bot is told.
    fn is_one_persons(&self) -> bool {
        false
    }
    /// Leases matches to play, at most `most`. The same request gets the same answer.
    ///
    /// # Errors
    /// When the server is away.
    fn lease(&self, request: &str, most: usize) -> Result<Granted, Away>;
    /// Called when there was nothing to play: waits at most `longest` until there may be something. Returns whether
    /// it was notified.
    fn rest(&self, longest: Duration) -> bool {
        std::thread::sleep(longest);
        false
    }
    /// Reports that a match begins. `false` if the match is somebody else's by now.
    ///
    /// # Errors
    /// When the server is away.
    fn start(&self, attempt: Try) -> Result<bool, Away>;
    /// Reports that the worker is alive, which renews its lease. `playing` lists the matches in play with their steps
    /// so far, so that a hung match is noticed. `false` if the lease is gone.
    ///
    /// # Errors
    /// When the server is away.
    fn beat(&self, lease: i64, playing: &[(Try, u32)]) -> Result<bool, Away>;
    /// Reports that the version a check match is about is being unpacked and built. `false` if the match is somebody
    /// else's by now.
    ///
    /// # Errors
    /// When the server is away.
    fn building(&self, attempt: Try) -> Result<bool, Away>;
    /// Reports that this is over, whatever the result; `log` is the end of the build's output.
    ///
    /// # Errors
    /// When the server is away.
    fn built(&self, attempt: Try, log: &[u8]) -> Result<(), Away>;
    /// Posts matches that are over; returns the fate of each, in order. At most
    /// [`MOST_RESULTS`](crate::wire::MOST_RESULTS).
    ///
    /// # Errors
    /// When the server is away. Some results may be kept in that case; all are posted again.
    fn post(&self, over: &[(Try, Whole)]) -> Result<Vec<Posted>, Away>;
    /// Reports that a match came to nothing that could count: the machine was late, or a bot cannot be made ready.
    ///
    /// # Errors
    /// When the server is away.
    fn void(&self, attempt: Try, nothing: &Nothing) -> Result<(), Away>;
    /// Returns the matches of a lease that are not over.
    ///
    /// # Errors
    /// When the server is away.
    fn abort(&self, lease: i64) -> Result<(), Away>;
    /// Fetches a submission.
    ///
    /// # Errors
    /// When the server is away, or has no such object.
    fn fetch(&self, sha: &str) -> Result<Vec<u8>, Away>;
    /// Which of the sources unpacked here may not stay, because they belong to nobody any more. A worker that was away asks
    /// when it is back.
    ///
    /// # Errors
    /// When the server is away.
    fn unneeded(&self, unpacked: &[String]) -> Result<Vec<String>, Away> {
        let _ = unpacked;
        Ok(Vec::new())
    }
}
