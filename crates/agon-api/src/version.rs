//! Versions: what was handed in, and what became of it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Moment;

/// What the address of an upload says; the body is the file as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UploadQuery {
    /// What the file is called. Of a single file it says the language: `bot.py`.
    pub name: String,
    /// Whether it takes the place of the version before it only when it is better.
    #[serde(default)]
    pub only_if_better: bool,
}

/// What came of an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Uploaded {
    /// What that is.
    pub what: UploadedWord,
    /// The version.
    pub version: Version,
}

/// What came of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum UploadedWord {
    /// A new version, which is made ready now.
    New,
    /// The same was handed in before; it keeps its matches, and nothing was changed.
    Same,
    /// The same was handed in before and stood for the team then: it does so again.
    Back,
}

/// The versions of one's team, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Versions {
    /// They.
    pub versions: Vec<Version>,
}

/// A version, with what only its team may know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Version {
    /// By which it is asked for.
    pub id: i64,
    /// Its team.
    pub team: String,
    /// Its number among those of the team, from 1.
    pub n: i64,
    /// Where it is in its life.
    pub state: State,
    /// Why it failed.
    pub cause: Option<Cause>,
    /// Why it is in its state, where there is more to say.
    pub reason: Option<String>,
    /// Whether it takes the place of the one before only when it is better.
    pub only_if_better: bool,
    /// When it arrived.
    pub received: Moment,
    /// The SHA-256 of what is kept of the upload.
    pub sha256: String,
    /// When it came to be what, the first first.
    pub steps: Vec<Step>,
    /// Whether its build said anything.
    pub has_log: bool,
    /// Its check match, once there is one.
    pub check: Option<i64>,
    /// How it does against the version that it followed; none where it followed none, or nothing is known yet.
    pub verdict: Option<Verdict>,
}

/// Where a version is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It waits.
    Received,
    /// It is unpacked and built.
    Building,
    /// It plays its check match.
    Checking,
    /// It plays against the one before, whose place it takes only when it is better.
    Trial,
    /// It stands for its team.
    Live,
    /// It did, or was overtaken.
    Former,
    /// It cannot play.
    Failed,
    /// It is none: bytes that were tried out, and are forgotten after a day.
    Draft,
}

impl State {
    /// Whether its check match is not over.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Received | Self::Building | Self::Checking)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Received => "received",
            Self::Building => "building",
            Self::Checking => "checking",
            Self::Trial => "trial",
            Self::Live => "live",
            Self::Former => "former",
            Self::Failed => "failed",
            Self::Draft => "draft",
        })
    }
}

/// A step in the life of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Step {
    /// It came to be this.
    pub state: State,
    /// Then.
    pub at: Moment,
}

/// Why something came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Cause {
    /// Whose doing it is.
    pub whose: Whose,
    /// At which step.
    pub stage: Stage,
    /// What happened.
    pub what: String,
    /// What to do about it, where that is known.
    pub fix: Option<String>,
}

/// Whose doing something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Whose {
    /// Its author's.
    Yours,
    /// That of the contest and its machines.
    Ours,
}

/// The steps from what was handed in to a bot that plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The archive, and what is in it.
    Unpacking,
    /// Its build.
    Building,
    /// Its command.
    Starting,
    /// Its check match.
    Match,
}

/// Whether a version is better than the one that it followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Verdict {
    /// The number of that one.
    pub against: i64,
    /// What is known.
    pub says: Says,
    /// The same in words, with its interval: `+48 ± 34 Elo, worse on map 3`.
    pub text: String,
    /// The maps on which it is worse, by their numbers.
    pub worse_on: Vec<u32>,
    /// Whether this is the last word; else matches are still played for it.
    pub is_final: bool,
}

/// What a verdict says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Says {
    /// It is better.
    Better,
    /// It is worse.
    Worse,
    /// It is not known.
    Unknown,
}

/// What a build said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct BuildLog {
    /// The last 64 KiB of it; empty while there is none.
    pub text: String,
}
