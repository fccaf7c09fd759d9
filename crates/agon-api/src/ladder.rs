//! The ladder.

use serde::{Deserialize, Serialize};

use crate::Moment;

/// The ladder as last computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Ladder {
    /// Each team once, the best first.
    pub lines: Vec<LadderRow>,
    /// How certain it is who the best are; null while unknown.
    pub best: Option<Best>,
    /// The last row of the log that it includes.
    pub upto: i64,
    /// When it was computed.
    pub made: Moment,
}

/// How certain it is who the best are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Best {
    /// The number of teams at the top that this is about.
    pub teams: u32,
    /// The probability that each of them is better than every team below, 0 to 1.
    pub these: f64,
    /// The probability that each of them is also better than the next, 0 to 1.
    pub order: f64,
}

/// What its rated matches say of a version: a row of the table that follows from a contest's log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct VersionRating {
    /// The version.
    pub version: i64,
    /// Its rating in Elo; null if no finite one fits, as for a version that won everything.
    pub elo: Option<f64>,
    /// The lower end of its 95 % interval; null if that is open.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The number of rated matches it played.
    pub matches: u64,
    /// Its group, from 1: ratings of different groups cannot be compared. 0 before its first complete block.
    pub group: u32,
    /// The probability that it is stronger than the next: in the table, of its group; on the ladder, of those that have a rank. Null if unknown.
    pub above_next: Option<f64>,
    /// Its share of the points, 0 to 1: of the opponents that it met in rated matches, how many it beat, those it drew with by half.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<f64>,
}

/// A figure in a column of the ladder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A number of something.
    Count(u64),
    /// A share, 0 to 1; none while unknown.
    Share(Option<f64>),
}

/// A column of the ladder that holds one figure of each rating, in pages and in terminals.
#[derive(Clone, Copy, Debug)]
pub struct LadderColumn {
    /// Its title.
    pub title: &'static str,
    /// The figure.
    pub figure: fn(&VersionRating) -> Figure,
}

/// These columns, in order. A new one is a field of [`VersionRating`], a line here, and what computes it.
pub const COLUMNS: &[LadderColumn] = &[
    LadderColumn { title: "Matches", figure: |rating| Figure::Count(rating.matches) },
    LadderColumn { title: "Points", figure: |rating| Figure::Share(rating.points) },
];

/// A team on the ladder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct LadderRow {
    /// The team.
    pub team: i64,
    /// Its name.
    pub name: String,
    /// Whether it is one of the contest's own bots.
    pub boss: bool,
    /// The version that is live.
    pub live: Option<i64>,
    /// The number, among the team's, of the version that has this rating.
    pub n: i64,
    /// The number of a newer version that has too few matches so far.
    pub placing: Option<i64>,
    /// From 1; equal ratings share a rank. Null while there are too few matches.
    pub rank: Option<u32>,
    /// The first and the last place it may hold; null before it is placed.
    pub places: Option<[u32; 2]>,
    /// What its rated matches say.
    #[serde(flatten)]
    pub rating: VersionRating,
}

impl LadderRow {
    /// Its rating; none before its first complete block.
    pub fn rated(&self) -> Option<&VersionRating> {
        Some(&self.rating).filter(|rating| rating.group > 0)
    }
}
