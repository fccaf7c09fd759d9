//! What this room's commands print with `--json`.

use std::path::Path;

use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

use crate::author::check;
use crate::author::doctor;

/// A starter: `agon new --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Starter {
    pub game: &'static str,
    pub language: &'static str,
    /// The program that builds or runs it.
    pub needs: &'static str,
    pub build: Option<String>,
    pub run: Option<String>,
    /// The command of its own test.
    pub test: &'static str,
    pub opponents: Vec<String>,
    /// The file to change first.
    pub strategy: &'static str,
    pub files: Vec<&'static str>,
}

/// What `agon new GAME LANGUAGE DIR --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Made<'a> {
    #[cfg_attr(test, ts(type = "string"))]
    pub folder: &'a Path,
    pub starter: Starter,
    /// What this machine lacks for it, as a sentence.
    pub missing: Option<String>,
}

/// What became of one bot: `agon build --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Built<'a> {
    pub bot: &'a str,
    pub state: BuildState,
    pub error: Option<String>,
    /// How long it took, when it was built now.
    pub ms: Option<f64>,
    /// What builds it.
    pub command: Option<Vec<String>>,
    /// What runs the result, where that is not the bot's own command.
    pub runs: Option<Vec<String>>,
}

/// What a build came to.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub enum BuildState {
    #[serde(rename = "nothing to build")]
    Nothing,
    #[serde(rename = "up to date")]
    Current,
    #[serde(rename = "built")]
    Built,
    #[serde(rename = "not built")]
    Failed,
}

/// What `agon check --json` prints; with `--watch` one line for each check.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Checked<'a> {
    pub bot: &'a str,
    pub game: &'static str,
    /// How many were played.
    pub matches: usize,
    pub findings: &'a [check::Finding],
    pub passed: usize,
    pub failed: usize,
    pub warnings: usize,
    pub seconds: f64,
}

/// What `agon pack --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Packed<'a> {
    pub game: &'static str,
    #[cfg_attr(test, ts(type = "string"))]
    pub file: &'a Path,
    /// Its size.
    pub bytes: u64,
    /// What is in it.
    pub files: &'a [String],
}

/// What `agon doctor --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Doctor {
    /// This program with its version.
    pub program: &'static str,
    pub findings: Vec<doctor::Finding>,
}

/// What `agon sandbox test --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SandboxTest {
    pub attacks: Vec<Attack>,
}

/// One attack.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Attack {
    pub name: String,
    pub attempt: String,
    pub expected: String,
    pub got: AttackEnd,
    /// What happened.
    pub detail: String,
    pub enforced_by: String,
    /// With `--controls`: the same where it must win.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub control: Option<Control>,
}

/// What an attack came to.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum AttackEnd {
    Won,
    Held,
}

/// An attack where it must win, without which it would prove nothing.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Control {
    pub place: String,
    /// Null where this machine lacks what it needs.
    pub won: Option<bool>,
    /// What happened.
    pub detail: String,
}

/// What `agon test --json` prints; one line each time with `--watch`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Tested<'a> {
    /// The folder of the bot.
    pub bot: &'a str,
    pub passed: usize,
    pub failed: usize,
    /// How many could not be run.
    pub broken: usize,
    pub seconds: f64,
    pub tests: Vec<TestedOne>,
}

/// A test of a bot.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct TestedOne {
    pub name: String,
    pub status: TestStatus,
    /// From 0; null when the test cannot be read.
    pub turn: Option<u32>,
    /// In the game's words.
    pub moment: Option<String>,
    /// What the bot answered, where that is asked for.
    pub answer: Option<String>,
    /// How the bot stood later, where that is asked for.
    pub score: Option<f64>,
    pub advantage: Option<f64>,
    /// What is wrong, as a sentence.
    pub why: Option<String>,
}

/// How a test went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum TestStatus {
    Passed,
    Failed,
    /// It could not be run: its replay is gone, or of other rules, or it is no test.
    Broken,
}
