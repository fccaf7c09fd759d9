//! The log: sealed results, and what organisers decided, each in its place.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{EntrantId, Kind, MatchId, Time, VersionId};
use crate::{Sha, StoreError};

/// How a match ended, as its replay says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// For each seat its rank; the least is the best.
    pub ranks: Vec<u8>,
    /// For each seat its score.
    pub scores: Vec<f64>,
    /// Why it ended, in the game's words.
    pub reason: String,
    /// How many steps were played.
    pub steps: u32,
    /// A hash of where it began.
    pub start: String,
    /// A hash of all answers.
    pub answers: String,
    /// For each seat what its program did wrong, the first of it.
    pub faults: Vec<Option<String>>,
    /// For each seat its longest answer, in milliseconds.
    pub max_ms: Vec<f64>,
    /// How far its bots were held back.
    pub level: String,
}

/// A row of the log: a sealed result. Everything a table needs stands in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sealed {
    /// Its place in the log, from 1.
    pub seq: i64,
    /// The match.
    #[serde(rename = "match")]
    pub game: MatchId,
    /// The number of the block.
    pub block: i64,
    /// Which rotation of the block, from 0; there are as many as seats.
    pub rotation: i64,
    /// What it was played for.
    pub kind: Kind,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    /// The seed.
    pub seed: i64,
    /// Who sat where.
    pub seats: Vec<VersionId>,
    /// What they are made of.
    pub sources: Vec<Sha>,
    /// How it ended.
    pub outcome: Outcome,
    /// Its replay.
    pub replay: Sha,
    /// Who played it.
    pub worker: String,
    /// When it was accepted.
    pub settled: Time,
}

words! {
    /// What an organiser decides about a team or a version.
    Ruling {
        /// It is out of the ratings and plays no more; the log keeps what it played.
        Out = "out",
        /// It is in them again.
        Back = "back",
    }
}

impl Ruling {
    /// What that is called of a team, or of one of its versions.
    pub fn verb(self, version: Option<VersionId>) -> &'static str {
        match (self, version) {
            (Self::Out, None) => "disqualify",
            (Self::Out, Some(_)) => "drop",
            (Self::Back, _) => "reinstate",
        }
    }
}

/// A row of the log: a ruling. Who made it stands in the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruled {
    /// Its place in the log, from 1.
    pub seq: i64,
    /// What.
    pub ruling: Ruling,
    /// About which team.
    pub entrant: EntrantId,
    /// About which of its versions alone; none: about all of them, those to come included.
    pub version: Option<VersionId>,
    /// Why, for all to read.
    pub reason: String,
    /// When.
    pub at: Time,
}

/// A row of the log: blocks whose results do not count, whether they are in the log already or come later. What they were to decide
/// is played again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annulled {
    /// Its place in the log, from 1.
    pub seq: i64,
    /// The numbers of the blocks.
    pub blocks: Vec<i64>,
    /// What they have in common, in words: a match, a version, a worker.
    pub what: String,
    /// Why, for all to read.
    pub reason: String,
    /// When.
    pub at: Time,
}

/// A row of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// A ruling.
    Ruling(Ruled),
    /// Results that do not count.
    Annulment(Annulled),
    /// A result.
    Result(Box<Sealed>),
}

impl Entry {
    /// Its place in the log, from 1.
    pub fn seq(&self) -> i64 {
        match self {
            Self::Ruling(row) => row.seq,
            Self::Annulment(row) => row.seq,
            Self::Result(row) => row.seq,
        }
    }
}

/// Teams, and single versions of teams, that are out after these rulings, in the order of the log.
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
    /// What it says: an [`Entry`] as JSON.
    pub body: String,
    /// The hash of this and all rows before it.
    pub sha: Sha,
}
