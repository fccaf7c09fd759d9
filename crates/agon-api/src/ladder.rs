//! The ladder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Moment;

/// The ladder as it was made last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Ladder {
    /// Each team once, the best first.
    pub lines: Vec<Line>,
    /// How sure it is who the best are; none while that cannot be said.
    pub best: Option<Best>,
    /// The last row of the log that it has seen.
    pub upto: i64,
    /// When it was made.
    pub made: Moment,
}

/// How sure it is who the best are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Best {
    /// How many of them.
    pub teams: u32,
    /// How sure it is that each of them is better than everybody below, 0 to 1.
    pub these: f64,
    /// How sure it is that each of them is also better than the next, 0 to 1.
    pub order: f64,
}

/// A team on the ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Line {
    /// The team.
    pub team: i64,
    /// Its name.
    pub name: String,
    /// Whether it is a bot of the contest's own.
    pub boss: bool,
    /// The version that is live.
    pub live: Option<i64>,
    /// The number, among the team's, of the version whose rating this is.
    pub n: i64,
    /// The number of a newer one that has too few matches yet.
    pub placing: Option<i64>,
    /// From 1; equal ratings share one. None where there are too few matches.
    pub rank: Option<u32>,
    /// Between which places it stands, the first and the last; none before it is placed.
    pub places: Option<[u32; 2]>,
    /// Its rating in Elo; none where no finite one fits.
    pub elo: Option<f64>,
    /// The lower end of its interval of 95 %; none where that is open.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// In how many rated matches it sat.
    pub matches: u64,
}
