//! What this room's commands print with `--json`, beside the types of the API.

use agon_api::{Asked, Line, Match, Me, Own, Uploaded, Version};
use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

/// `login`. The token is not in it.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LoggedIn<'a> {
    /// The contest's address.
    pub url: &'a str,
    pub contest: &'a str,
    pub game: &'a str,
    /// Whose the token is.
    pub name: &'a str,
    pub team: Option<&'a str>,
}

/// `login` at a fleet (`agon serve --fleet`).
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct FleetKnown<'a> {
    /// The fleet's address.
    pub url: &'a str,
    /// So many machines it has.
    pub machines: usize,
}

/// `submit`: what was sent, and what came of it; with `--wait` the version as it was at the end.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Submitted<'a> {
    /// What was sent, in bytes.
    pub bytes: u64,
    /// Its files, where it was packed here.
    pub files: &'a [String],
    #[serde(flatten)]
    pub uploaded: &'a Uploaded,
    /// The address of the version's page.
    pub page: String,
}

/// `try` and `challenge`: the match, and what belongs to one's own seat.
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
pub struct Standing<'a> {
    pub contest: &'a str,
    pub game: &'a str,
    pub me: &'a Me,
    /// One's own line of the ladder.
    pub line: Option<&'a Line>,
    /// How many are on the ladder.
    pub of: usize,
    /// The newest version.
    pub newest: Option<&'a Version>,
    /// One's last matches, the newest first.
    pub matches: &'a [Match],
}
