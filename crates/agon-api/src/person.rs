//! Who asks, and what they may still do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Moment;

/// Whom the token belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Me {
    /// The name.
    pub name: String,
    /// Whether they run the contest.
    pub organiser: bool,
    /// The team for which they play; none yet where that is null. The first upload makes one.
    pub team: Option<Team>,
    /// What the team may still do; null without a team.
    pub quota: Option<Quota>,
}

/// A team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Team {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub name: String,
}

/// What a team may still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
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

/// How much of something was used, of how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Used {
    /// So much.
    pub used: i64,
    /// Of so much.
    pub most: i64,
    /// When there is room again; none while there is some, and where time does not help.
    pub until: Option<Moment>,
}
