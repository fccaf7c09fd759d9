//! The caller, and what they may still do.

use serde::{Deserialize, Serialize};

use crate::Moment;

/// The person the token belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Me {
    /// The name.
    pub name: String,
    /// Whether they run the contest.
    pub organiser: bool,
    /// The team they play for; null while there is none. The first upload creates one.
    pub team: Option<Team>,
    /// What the team may still do; null without a team.
    pub quota: Option<Quota>,
}

/// A team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Team {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub name: String,
}

/// What a team may still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Quota {
    /// Uploads within an hour.
    pub uploads_an_hour: Used,
    /// Uploads within a day.
    pub uploads_a_day: Used,
    /// Bytes of all versions.
    pub bytes: Used,
    /// Challenges and drafts within an hour.
    pub asked_an_hour: Used,
}

/// How much of an allowance is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Used {
    /// The amount used.
    pub used: i64,
    /// The limit.
    pub most: i64,
    /// When there is room again; null while there is some, and where waiting does not help.
    pub until: Option<Moment>,
}
