//! The types of rows that go in and come out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Sha;

use agon_api::contest::ContestState;
pub use agon_api::played::MatchState;
pub use agon_api::version::{Cause, Stage, State as VersionState, Whose};
use agon_api::words;
pub use agon_api::{FaultsTold, MatchResult, Observed, Proven};

/// A moment, in milliseconds since 1970. Nothing in this crate reads a clock for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// This many milliseconds later.
    pub fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Whether this many milliseconds have passed since then, or the clock was set back by as many meanwhile.
    pub fn is_past(self, ms: i64, now: Self) -> bool {
        (now.0 - self.0).abs() >= ms
    }
}

macro_rules! id {
    ($($(#[$about:meta])? $name:ident;)*) => {$(
        $(#[$about])?
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

id! {
    ContestId;
    /// A version: what plays.
    VersionId;
    MatchId;
    LeaseId;
    WorkerId;
}

words! {
    /// What a block is played for.
    Kind {
        /// May this version go live?
        Check = "check",
        /// A team tries out a bot that makes no version.
        Draft = "draft",
        /// A team requested it.
        Challenge = "challenge",
        /// Is this version better than the one before?
        Promotion = "promotion",
        Ladder = "ladder",
        /// A ladder match that another worker repeats, for comparison. It is shown to nobody, and later forgotten.
        Again = "again",
    }
}

impl Kind {
    /// The order in which they are leased: the least first.
    pub fn lane(self) -> i64 {
        match self {
            Self::Check => 0,
            Self::Draft | Self::Challenge => 1,
            // After the ladder it would never be played while matches are planned ahead.
            Self::Promotion | Self::Ladder | Self::Again => 2,
        }
    }

    /// Whether its results count in the table.
    pub fn is_rated(self) -> bool {
        self == Self::Ladder
    }
}

mod clocks;
mod log;
mod people;
mod settings;
mod texts;

pub use clocks::*;
pub use log::*;
pub use people::*;
pub use settings::*;
pub use texts::*;

/// How often a match is tried.
pub const TRIES: i64 = 3;
/// How long the next try waits after a void match, in milliseconds; the third waits twice as long. What kept the machine busy is often over
/// soon.
pub const PAUSE_MS: i64 = 1_000;

#[derive(Clone, Debug, PartialEq)]
pub struct ContestRow {
    pub id: ContestId,
    /// Its name when it was founded, by which it is found.
    pub name: String,
    pub game: String,
    /// What decides results, as JSON.
    pub terms: String,
    /// The secret from which seeds are derived.
    pub secret: String,
    /// The hash of the secret, which is public.
    pub secret_sha: String,
    /// Whether leasing is stopped.
    pub paused: bool,
    /// Whether planning has stopped; the contest is paused once every planned match is over.
    pub draining: bool,
    /// The number of blocks planned.
    pub blocks: i64,
    /// When it was created.
    pub made: Time,
    /// What the organiser decides and may change; none until a start took it from the contest's file.
    pub settings: Option<ContestSettings>,
}

impl ContestRow {
    /// What the contest is called now.
    pub fn title(&self) -> &str {
        self.settings.as_ref().map_or(&self.name, |settings| &settings.title)
    }

    /// Whether it plays matches.
    pub fn state(&self) -> ContestState {
        match (self.paused, self.draining) {
            (true, _) => ContestState::Paused,
            (false, true) => ContestState::Draining,
            (false, false) => ContestState::Running,
        }
    }
}

/// A version, with its entrant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct EntrantVersion {
    /// Its number.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub id: VersionId,
    /// The entrant.
    pub entrant: String,
    /// Whether the entrant is a boss: one of the contest's own bots on the ladder.
    pub boss: bool,
    /// Its number among the versions of its bot, from 1.
    pub n: i64,
    /// The built-in bot, as `builtin:NAME`; none if it was handed in.
    pub builtin: Option<String>,
    /// The hash of what was handed in.
    #[cfg_attr(feature = "described", ts(type = "string"))]
    pub source: Sha,
    /// When it arrived, in milliseconds since 1970.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub received: Time,
    /// Its state.
    pub state: VersionState,
    /// The reason for its state, if there is more to say.
    pub reason: Option<String>,
    /// Why it failed, in parts.
    pub cause: Option<Cause>,
    /// Whether it replaces the version before it only if it is better.
    pub only_if_better: bool,
}

/// A version, with what only its entrant may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnVersion {
    pub version: EntrantVersion,
    /// When it entered each state, oldest first.
    pub steps: Vec<(VersionState, Time)>,
    /// The output of its build: an object.
    pub log: Option<Sha>,
    /// Its check match, once there is one.
    pub check: Option<MatchId>,
}

/// A machine that plays matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    pub id: WorkerId,
    pub name: String,
    /// How strictly it confines bots.
    pub level: String,
    /// When it last called.
    pub seen: Time,
}

/// One try of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Attempt {
    pub game: MatchId,
    /// Which try of it, from 1: an older try of the same match is recognised by it.
    pub n: i64,
}

/// A match as a worker gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leased {
    /// The match and try.
    pub attempt: Attempt,
    /// What it is played for.
    pub kind: Kind,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    pub seed: i64,
    /// Rules of its own, as JSON: only a draft's.
    pub rules: Option<String>,
    pub seats: Vec<VersionId>,
    /// For each earlier try that a bot has made void, the seat of that bot, from 0.
    pub void_by: Vec<i64>,
}

/// A posted result, with everything it must agree with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedMatch {
    /// The match and try.
    pub attempt: Attempt,
    /// Who played it.
    pub worker: String,
    /// What it is played for.
    pub kind: Kind,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    pub seed: i64,
    /// Rules of its own, as JSON: only a draft's.
    pub rules: Option<String>,
    pub seats: Vec<VersionId>,
    pub result: String,
    pub replay: Sha,
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Event {
    /// Its number.
    pub id: i64,
    /// When it happened, in milliseconds since 1970.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub at: Time,
    /// Who did it.
    pub actor: String,
    /// What they did.
    pub verb: String,
    /// What they did it to.
    pub object: String,
    /// More about it, in words.
    pub detail: String,
}

/// A table that was computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatingRun {
    /// The last row of the log that it covers.
    pub upto: i64,
    /// The version of the program that computed it.
    pub program: String,
    /// The table as JSON.
    pub board: String,
}
