//! What these commands print with `--json`, where it is more than a file's own header.

use std::path::Path;

use agon_desk::conformance::RecordDifference;
use agon_game::Outcome;
use agon_match::PrintedMatch;
use agon_replay::{EndInfo, Header};
use serde::Serialize;
use serde_json::Value;
#[cfg(test)]
use ts_rs::TS;

/// What `agon replay info --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Info<'a> {
    /// As in the file (docs/replay-format.md).
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub header: &'a Header,
    /// The number of steps.
    pub steps: usize,
    /// As in the file; null when the recording was cut off.
    #[cfg_attr(test, ts(type = "Record<string, unknown> | null"))]
    pub end: Option<&'a EndInfo>,
}

/// What `agon replay keep --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct KeptTest<'a> {
    /// The test that was written.
    #[cfg_attr(test, ts(type = "string"))]
    pub file: &'a Path,
}

/// What `agon replay redact --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct RedactedReplay<'a> {
    /// The replay that was written.
    #[cfg_attr(test, ts(type = "string"))]
    pub file: &'a Path,
    /// How many private notes were removed.
    pub notes: usize,
    /// How many sentences about faults.
    pub sentences: usize,
}

/// The finding for one file: `agon replay verify --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Verified<'a> {
    #[cfg_attr(test, ts(type = "string"))]
    pub file: &'a Path,
    pub finding: Word,
    pub text: String,
    /// The number of steps read.
    pub steps: usize,
}

/// The finding, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub enum Word {
    #[serde(rename = "verified")]
    Verified,
    #[serde(rename = "cut off")]
    CutOff,
    #[serde(rename = "differs from the original")]
    Differs,
    #[serde(rename = "altered")]
    Altered,
    #[serde(rename = "unreadable")]
    Unreadable,
}

impl Word {
    /// The word for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::CutOff => "cut off",
            Self::Differs => "differs from the original",
            Self::Altered => "altered",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What `agon replay import --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Imported<'a> {
    pub game: &'static str,
    /// The new file.
    #[cfg_attr(test, ts(type = "string"))]
    pub replay: &'a Path,
    pub rules: &'a str,
    pub steps: usize,
    #[cfg_attr(test, ts(type = "{ scores: number[]; ranks: number[]; reason: string } | null"))]
    pub outcome: Option<&'a Outcome>,
    /// What the record does not say, or says twice.
    pub notes: &'a [String],
    /// How many values were compared with the record, and how many differ.
    pub compared: u64,
    pub differ: u64,
    /// The first differences.
    pub differences: Vec<RecordDifference>,
}

/// A step in `agon replay export --format json`, one per line.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Step {
    /// From 0.
    pub step: usize,
    /// In the game's words: `turn 3`.
    pub moment: String,
    pub answers: Vec<Answer>,
    pub rejected: Vec<Rejected>,
    /// In the game's own form.
    #[cfg_attr(test, ts(type = "unknown[]"))]
    pub events: Vec<Value>,
    /// After the step, in the game's own form.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub state: Value,
}

/// An answer of a seat.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Answer {
    pub seat: u8,
    /// As a tidy bot would have sent it.
    pub answer: Option<String>,
    /// Why there is none.
    pub missing: Option<String>,
    /// The bytes that were not an answer, if kept.
    pub raw: Option<String>,
    pub stderr: String,
    pub wall_us: Option<u64>,
    pub cpu_us: Option<u64>,
}

/// An order that the rules did not allow.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Rejected {
    pub seat: u8,
    /// Which of its orders, from 0.
    pub order: usize,
    pub rule: &'static str,
    pub why: String,
}

/// What `agon replay fork --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Fork<'a> {
    /// The turn from which the match continues, counted as `agon replay show` does.
    pub turn: usize,
    /// How many recorded answers the bot was asked for on the way, and how many of them it repeated.
    pub asked: u32,
    pub same: u32,
    /// The first answer it did not repeat.
    pub first_difference: Option<&'a OtherAnswer>,
    /// Its first answer after `turn` that differs from the recorded one.
    pub first_choice: Option<&'a OtherAnswer>,
    /// How the recorded match ended.
    #[cfg_attr(test, ts(type = "{ scores: number[]; ranks: number[]; reason: string } | null"))]
    pub recorded: Option<&'a Outcome>,
    /// How this one ended.
    pub result: PrintedMatch,
}

/// An answer that differs from the recorded one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OtherAnswer {
    /// From 0.
    pub step: u32,
    pub recorded: String,
    pub now: String,
}

/// What `agon replay show --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Board {
    /// The turn before which the board stands so, as the game counts.
    pub turn: usize,
    /// The next decision, in the game's words; null when the match is over.
    pub before: Option<String>,
    /// How the match ended, if it has.
    #[cfg_attr(test, ts(type = "{ scores: number[]; ranks: number[]; reason: string } | null"))]
    pub outcome: Option<Outcome>,
    /// The seats that decide next, from 1.
    pub deciding: Vec<u8>,
    /// The drawing, line by line, as the seat of `--view` sees it.
    pub lines: Vec<String>,
    /// The state as the viewer gets it. Null with `--view`, because it contains what a seat does not see.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub state: Option<Value>,
}

/// A frame within a turn: `agon replay show --frame --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Frame {
    /// Its number within the turn, from 0.
    pub frame: usize,
    /// The drawing, line by line.
    pub lines: Vec<String>,
}

/// What a bot wrote at one turn: `agon replay show --stderr --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Written<'a> {
    /// From 0.
    pub turn: u32,
    /// As the bot wrote it.
    pub text: &'a str,
}

/// `replay get`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS), ts(rename = "FetchedReplays"))]
pub struct Fetched<'a> {
    /// The files that were written.
    pub written: &'a [String],
    /// How many existed already.
    pub there: usize,
}
