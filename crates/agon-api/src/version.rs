//! Versions: what was handed in, and what became of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Moment, words};

/// The query of an upload; the body is the file as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UploadQuery {
    /// The file's name. For a single file its ending says the language: `bot.py`.
    pub name: String,
    /// Whether it replaces the version before it only if it is better.
    #[serde(default)]
    pub only_if_better: bool,
}

/// The result of an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Uploaded {
    /// The kind of result.
    pub what: UploadedWord,
    /// The version.
    pub version: Version,
}

/// The kind of result of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum UploadedWord {
    /// A new version, now being prepared.
    New,
    /// The same content was handed in before; it keeps its matches, and nothing changed.
    Same,
    /// The same content was handed in before and was live then: it is live again.
    Back,
}

/// The versions of one's team, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Versions {
    /// The versions.
    pub versions: Vec<Version>,
}

/// A version, with what only its team may know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Version {
    /// Its number, for requests about it.
    pub id: i64,
    /// Its team.
    pub team: String,
    /// Its number among those of the team, from 1.
    pub n: i64,
    /// Its current state.
    pub state: State,
    /// Why it failed.
    pub cause: Option<Cause>,
    /// The reason for its state, if there is more to say.
    pub reason: Option<String>,
    /// Whether it replaces the version before it only if it is better.
    pub only_if_better: bool,
    /// When it arrived.
    pub received: Moment,
    /// The SHA-256 of what is kept of the upload.
    pub sha256: String,
    /// When it entered each state, in order.
    pub steps: Vec<VersionStep>,
    /// Whether its build printed anything.
    pub has_log: bool,
    /// Its check match, once there is one.
    pub check: Option<i64>,
    /// How it does against the version it followed; null if it followed none, or nothing is known yet.
    pub verdict: Option<Verdict>,
}

words! {
    /// The states in the life of a version.
    #[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
    State {
        /// It waits.
        Received = "received",
        /// It is being unpacked and built.
        Building = "building",
        /// It plays its check match.
        Checking = "checking",
        /// It plays against the version before it, and replaces it only if it is better.
        Trial = "trial",
        /// It plays for its team.
        Live = "live",
        /// It was live before, or was overtaken.
        Former = "former",
        /// It cannot play.
        Failed = "failed",
        /// Not a version: bytes that were tried out, forgotten after a day.
        Draft = "draft",
    }
}

impl State {
    /// Whether its check match is still to come or under way.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Received | Self::Building | Self::Checking)
    }

    /// Whether it passed its check match, so that its team may let it play.
    pub fn can_play(self) -> bool {
        matches!(self, Self::Live | Self::Former | Self::Trial)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A step in the life of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct VersionStep {
    /// The state it entered.
    pub state: State,
    /// When.
    pub at: Moment,
}

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Cause {
    /// Whose fault it is.
    pub whose: Whose,
    /// The stage at which it happened.
    pub stage: Stage,
    /// What happened.
    pub what: String,
    /// What to do about it, if known.
    pub fix: Option<String>,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.whose.word(), self.what)?;
        match &self.fix {
            Some(fix) if self.what.ends_with('.') => write!(f, " {fix}"),
            Some(fix) => write!(f, "; {fix}"),
            None => Ok(()),
        }
    }
}

words! {
    /// Whose fault something is.
    #[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
    Whose {
        /// The author's.
        Yours = "yours",
        /// The contest's, or its machines'.
        Ours = "ours",
    }
}

words! {
    /// The stages from an upload to a bot that plays.
    #[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
    Stage {
        /// Before any of them: a newer upload took its place.
        Waiting = "waiting",
        /// The archive, and what is in it.
        Unpacking = "unpacking",
        /// Its build.
        Building = "building",
        /// Its command.
        Starting = "starting",
        /// Its check match.
        Match = "match",
    }
}

/// Whether a version is better than the one it followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Verdict {
    /// The number of the version it followed.
    pub against: i64,
    /// What is known.
    pub says: Says,
    /// The same in words, with its interval: `+48 ± 34 Elo, worse on map 3`.
    pub text: String,
    /// The maps on which it is worse, by number.
    pub worse_on: Vec<u32>,
    /// Whether this is final; otherwise matches are still being played for it.
    pub is_final: bool,
}

words! {
    /// What a verdict says.
    #[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
    Says {
        /// It is better.
        Better = "better",
        /// It is worse.
        Worse = "worse",
        /// It is not known.
        Unknown = "unknown",
    }
}

/// The output of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct BuildLog {
    /// The last 64 KiB; empty while there is none.
    pub text: String,
}
