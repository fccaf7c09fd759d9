//! Marks: what a contest says of each team, for whoever has to grade them. They are for organisers; no route of the API has them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{LadderRow, Moment, words};

/// The marks of a contest.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Marks {
    /// The contest's name.
    pub contest: String,
    /// The game.
    pub game: String,
    /// The last row of the log that they include.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub upto: i64,
    /// The built-in bots on the ladder, the milestones of all others.
    pub bosses: Vec<String>,
    /// With `--points`: the most points that a team can have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_score: Option<f64>,
    /// Each team once: the ladder, best first, then those that are not on it, by name.
    pub teams: Vec<TeamMarks>,
}

/// The marks of a team. What is measured is about the version of its row of the ladder, in the blocks that count there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct TeamMarks {
    /// Its row of the ladder; where it has none, `n` is 0.
    #[serde(flatten)]
    pub row: LadderRow,
    /// How it stands.
    pub standing: TeamStanding,
    /// The names of its members.
    pub members: Vec<String>,
    /// Matches in which it alone was first.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub won: u64,
    /// Matches in which it was first, tied with others.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub drawn: u64,
    /// Matches in which somebody else was first.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub lost: u64,
    /// In how many matches its program committed a fault, by the kind of the first one.
    #[cfg_attr(feature = "described", ts(type = "{ [kind: string]: number }"))]
    pub faults: BTreeMap<String, u64>,
    /// How many versions the team has handed in.
    pub versions: u32,
    /// When the version of this row was handed in, in milliseconds since 1970; null if there is none.
    #[cfg_attr(feature = "described", ts(type = "number | null"))]
    pub handed_in: Option<Moment>,
    /// How it does against each built-in bot.
    pub milestones: Vec<Milestone>,
    /// With `--points`: its points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// How a team does against a built-in bot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Milestone {
    /// The bot.
    pub boss: String,
    /// Matches in which it was ahead of that bot.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub won: u64,
    /// Matches in which they were level.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub drawn: u64,
    /// Matches in which it was behind.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub lost: u64,
    /// Its share of the points in these matches, 0 to 1, level counting half; null if they never met.
    pub share: Option<f64>,
    /// The lower end of the 95 % interval of that share.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The share that their ratings predict, at the least where one of them is open; null while it is unknown.
    pub expected: Option<f64>,
}

impl Milestone {
    /// The share that decides: what was measured, or what the ratings predict where they never met.
    pub fn decides(&self) -> Option<f64> {
        self.share.or(self.expected)
    }
}

words! {
    /// How a team stands.
    #[derive(Default)]
    #[cfg_attr(feature = "described", derive(ts_rs::TS))]
    TeamStanding {
        /// It has a place.
        Placed = "placed",
        /// It is on the ladder and has too few matches for a place.
        Placing = "placing",
        /// Its version has not passed its check match yet.
        Waiting = "waiting",
        /// None of its versions passed its check match.
        Failed = "failed",
        /// A ruling took it, or the version that played for it, out of the ratings.
        Out = "out",
        /// It has handed in nothing.
        #[default]
        Nothing = "nothing",
    }
}
