//! What these commands print with `--json`, besides the types of the API.

use agon_api::contest::ContestState;
use agon_api::{Asked, LadderRow, Match, Me, Own, Uploaded, Version};
use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

/// `login`. It does not contain the token.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LoggedIn<'a> {
    /// The contest's address.
    pub url: &'a str,
    pub contest: &'a str,
    pub game: &'a str,
    /// The name of the token's owner.
    pub name: &'a str,
    pub team: Option<&'a str>,
}

/// `login` at a fleet (`agon serve --fleet`).
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct FleetKnown<'a> {
    /// The fleet's address.
    pub url: &'a str,
    /// How many machines it has.
    pub machines: usize,
}

/// `logout`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LoggedOut<'a> {
    /// The contest's address; null if no token was kept.
    pub url: Option<&'a str>,
    /// Whether a token was kept for it, and is forgotten now.
    pub forgotten: bool,
}

/// `submit`: what was sent, and its result; with `--wait` the version as it was at the end.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Submitted<'a> {
    /// The size of what was sent, in bytes.
    pub bytes: u64,
    /// Its files, if it was packed here.
    pub files: &'a [String],
    #[serde(flatten)]
    pub uploaded: &'a Uploaded,
    /// The address of the version's page.
    pub page: String,
}

/// `try` and `challenge`: the match, and what belongs to the user's own seat.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Tried<'a> {
    #[serde(flatten)]
    pub asked: &'a Asked,
    pub own: &'a Own,
}

/// `status`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Standing<'a> {
    pub contest: &'a str,
    pub game: &'a str,
    /// Whether it plays matches.
    pub state: ContestState,
    pub me: &'a Me,
    /// The user's own line of the ladder.
    pub line: Option<&'a LadderRow>,
    /// How many are on the ladder.
    pub of: usize,
    /// The newest version.
    pub newest: Option<&'a Version>,
    /// The user's last matches, newest first.
    pub matches: &'a [Match],
}
