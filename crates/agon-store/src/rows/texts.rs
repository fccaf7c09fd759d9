//! Texts of the workbench.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AccountId, ContestId, EntrantId, MatchId, Time, VersionId};

id! {
    /// A kept text of the workbench.
    TextId;
}

/// Whose texts: those that somebody has written in a contest for the team they are in now, and those from before they had one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOwner {
    pub contest: ContestId,
    pub account: AccountId,
    pub team: Option<EntrantId>,
}

/// A kept text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRow {
    pub id: TextId,
    /// When it was last kept.
    pub kept: Time,
    /// What its author calls it.
    pub note: Option<String>,
    /// Its files as they were given; empty in a list.
    pub files: String,
    /// Lines that the text before it does not have, and lines of that which it has no more.
    pub lines: (i64, i64),
    /// The last match in which it sat, and the seat, from 0. Drafts are forgotten after a day.
    pub run: Option<(MatchId, usize)>,
    /// What came of that match, in words, once that was written down.
    pub did: Option<String>,
    /// As which version it was handed in, and that one's number among those of the team.
    pub version: Option<(VersionId, i64)>,
    /// The name of the request that handed it in.
    pub request: Option<String>,
}
