//! The log: sealed results and organisers' decisions, each in its place.

use std::collections::BTreeSet;

use agon_api::{MatchResult, words};
use serde::{Deserialize, Serialize};

use super::settings::ChangedSettings;
use super::{EntrantId, Kind, MatchId, Time, VersionId};
use crate::Sha;

/// A row of the log: a sealed result. It holds everything a table needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sealed {
    /// Its place in the log, from 1.
    pub seq: i64,
    #[serde(rename = "match")]
    pub game: MatchId,
    /// The number of the block.
    pub block: i64,
    /// Which rotation of the block, from 0; there are as many rotations as seats.
    pub rotation: i64,
    /// What it was played for.
    pub kind: Kind,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    pub seed: i64,
    pub seats: Vec<VersionId>,
    /// The hash of each version's source.
    pub sources: Vec<Sha>,
    /// How it ended. The log does not hold how long it took.
    pub outcome: MatchResult,
    pub replay: Sha,
    /// The worker that played it.
    pub worker: String,
    /// When it was accepted.
    pub settled: Time,
    /// The hash of the last entry of the audit log, where there were new ones: it proves all entries up to that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Sha>,
}

words! {
    /// An organiser's decision about a team or a version.
    Ruling {
        /// Removed from the ratings, and plays no more; the log keeps its matches.
        Out = "out",
        /// Restored to the ratings.
        Back = "back",
    }
}

impl Ruling {
    /// Its verb for a team, or for one of its versions.
    pub fn verb(self, version: Option<VersionId>) -> &'static str {
        match (self, version) {
            (Self::Out, None) => "disqualify",
            (Self::Out, Some(_)) => "drop",
            (Self::Back, _) => "reinstate",
        }
    }
}

/// A row of the log: a ruling. The audit log says who made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruled {
    /// Its place in the log, from 1.
    pub seq: i64,
    pub ruling: Ruling,
    pub entrant: EntrantId,
    /// The one version it is about; none: all of the team's versions, future ones included.
    pub version: Option<VersionId>,
    /// The public reason.
    pub reason: String,
    /// When.
    pub at: Time,
}

/// A row of the log: blocks whose results do not count, whether they are in the log already or come later. What they were to decide is
/// played again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annulled {
    /// Its place in the log, from 1.
    pub seq: i64,
    /// The numbers of the blocks.
    pub blocks: Vec<i64>,
    /// What they have in common, in words: a match, a version, a worker.
    pub what: String,
    /// The public reason.
    pub reason: String,
    /// When.
    pub at: Time,
}

/// A row of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LogEntry {
    Ruling(Ruled),
    /// Results that do not count.
    Annulment(Annulled),
    Settings(ChangedSettings),
    Result(Box<Sealed>),
}

impl LogEntry {
    /// Its place in the log, from 1.
    pub fn seq(&self) -> i64 {
        match self {
            Self::Ruling(row) => row.seq,
            Self::Annulment(row) => row.seq,
            Self::Settings(row) => row.seq,
            Self::Result(row) => row.seq,
        }
    }
}

/// Teams, and single versions of teams, that are out after these rulings, which are in the order of the log.
pub fn out(rulings: &[Ruled]) -> BTreeSet<(EntrantId, Option<VersionId>)> {
    let mut out = BTreeSet::new();
    for ruled in rulings {
        match ruled.ruling {
            Ruling::Out => out.insert((ruled.entrant, ruled.version)),
            Ruling::Back => out.remove(&(ruled.entrant, ruled.version)),
        };
    }
    out
}

/// A row of the log with its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// Its place, from 1.
    pub seq: i64,
    /// Its content: a [`LogEntry`] as JSON.
    pub body: String,
    /// The hash of this row and all before it.
    pub sha: Sha,
}
