//! What `agon referee` prints with `--json` and writes with `--log`. (`agon play` prints a `PrintedMatch`.)

use agon_match::PrintedMatch;
use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

use crate::replay::json::Board;

/// A question of `agon play --step --json`, one line each; the last line is the result, as a `PrintedMatch` in one line.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct AskedHere<'a> {
    pub event: &'static str,
    /// The seat that is asked, from 1.
    pub seat: u8,
    #[serde(flatten)]
    pub board: Board,
    /// What its bot would read. The answer is expected on standard input, as its bot would write it.
    pub question: &'a str,
}

/// The line that psyleague reads.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RefereeLine<'a> {
    /// One for each player.
    pub scores: &'a [f64],
    /// One for each player: 1 when it crashed, was late or gave an invalid answer, else 0.
    pub errors: Vec<u8>,
    pub seed: i64,
    pub turns: u32,
    pub reason: &'a str,
}

/// The file of `--log`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RefereeLog {
    pub result: PrintedMatch,
    pub answers: Vec<LoggedAnswer>,
}

/// One answer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LoggedAnswer {
    /// From 0.
    pub turn: u32,
    /// From 0, as brutaltester counts.
    pub player: usize,
    /// As a tidy bot would have sent it; null when there was none.
    pub answer: Option<String>,
    /// How long it took.
    pub ms: f64,
    pub stderr: String,
}
