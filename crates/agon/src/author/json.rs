//! What these commands print with `--json`.

use std::path::Path;

use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

use crate::author::doctor;

/// A starter: `agon new --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Starter {
    pub game: &'static str,
    pub language: &'static str,
    /// The program that builds or runs it.
    pub needs: &'static str,
    pub build: Option<String>,
    pub run: Option<String>,
    /// The command that runs its own test.
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
    /// With `--ci`: the file for the build server.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub workflow: Option<&'a Path>,
}

/// What `agon new --ci SERVER --json` prints for the bot in this folder.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MadeWorkflow<'a> {
    #[cfg_attr(test, ts(type = "string"))]
    pub workflow: &'a Path,
}

/// The result for one bot: `agon build --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Built<'a> {
    pub bot: &'a str,
    pub state: BuildState,
    pub error: Option<String>,
    /// How long it took, if it was built now.
    pub ms: Option<f64>,
    /// The command that builds it.
    pub command: Option<Vec<String>>,
    /// The command that runs the result, if that is not the bot's own.
    pub runs: Option<Vec<String>>,
}

/// The result of a build.
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

/// What `agon pack --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Packed<'a> {
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
    /// The hash of both suites of attacks, which results name.
    pub suites: String,
    pub attacks: Vec<Attack>,
}

/// One attack.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Attack {
    pub name: String,
    pub attempt: String,
    pub expected: String,
    pub got: AttackEnd,
    /// What happened.
    pub detail: String,
    pub enforced_by: String,
    /// With `--controls`: the same attack where it must win.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub control: Option<Control>,
}

/// An image: `agon image --json` prints a list of these, `agon image build --json` one.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct ImageShown {
    /// Its name: the hash of the list of its files.
    pub image: String,
    pub languages: Vec<String>,
    /// What it holds besides.
    pub added: Vec<String>,
    /// The name of the archive that it was made of, in place of this machine's files.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub from: Option<String>,
    /// What managers of packages brought into it.
    pub packages: Vec<PackageShown>,
    pub files: u64,
    pub bytes: u64,
    /// Whether all strangers get it whom it suffices.
    pub chosen: bool,
    /// Whether it is as this machine's programs are now.
    pub used: bool,
}

/// A package that an image holds.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct PackageShown {
    #[cfg_attr(test, ts(type = "'pip' | 'npm'"))]
    pub manager: agon_bot::image::PackageManager,
    pub name: String,
    pub version: String,
    /// As the package says it; null if it does not.
    pub licence: Option<String>,
    pub bytes: u64,
}

/// The result of an attack.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum AttackEnd {
    Won,
    Held,
}

/// The same attack where it must win; without this control it would prove nothing.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Control {
    pub place: String,
    /// Null if this machine lacks what the control needs.
    pub won: Option<bool>,
    /// What happened.
    pub detail: String,
}
