//! The workbench: texts that are kept as they are typed, run as drafts, and handed in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Moment, Used};

/// A file of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct CodeFile {
    /// Its path, as in an archive: `lib/search.py`.
    pub path: String,
    /// Its text; none for a file that is no text. Such a one stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Of a file that is no text: how many bytes it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// A kept text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct KeptText {
    /// Its number. It changes whenever another text takes its place.
    pub id: i64,
    /// When it was kept.
    pub kept_at: Moment,
    /// What its author calls it.
    pub note: Option<String>,
    /// Its files.
    pub files: Vec<CodeFile>,
}

/// A text to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TextToKeep {
    /// The text that it was made from; null where none was kept.
    #[serde(default)]
    pub base: Option<i64>,
    /// Its files: at most 64, and 512 KiB together.
    pub files: Vec<CodeFile>,
    /// What its author calls it.
    #[serde(default)]
    pub note: Option<String>,
}

/// The name of a text that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct KeptAs {
    /// Its number.
    pub id: i64,
    /// When it was kept.
    pub kept_at: Moment,
}

/// A kept text in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TextEntry {
    /// Its number.
    pub id: i64,
    /// When it was kept.
    pub kept_at: Moment,
    /// What its author calls it.
    pub note: Option<String>,
    /// How it differs from the text before it.
    pub lines: ChangedLines,
    /// What came of it: `lost to hunter, turn 78`, `handed in as v2`.
    pub did: Option<String>,
}

/// A difference of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ChangedLines {
    /// Lines that the earlier one does not have.
    pub more: i64,
    /// Lines that only the earlier one has.
    pub fewer: i64,
}

/// A text to run: it plays one match that is not rated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TextToRun {
    /// The text.
    pub text: i64,
    /// Whom it meets, in the order of the other seats; one alone takes all of them.
    pub against: Vec<RunOpponent>,
    /// The seat it takes, from 1; by default the first.
    #[serde(default)]
    pub seat: Option<u32>,
    /// The map, from 1 or by its name; by default the first.
    #[serde(default)]
    pub map: Option<NumberOrWord>,
    /// The seed, a 64-bit integer; by default a fresh one.
    #[serde(default)]
    pub seed: Option<String>,
    /// Other rules than the contest's.
    #[serde(default)]
    pub rules: Option<RunRules>,
}

/// Somebody to meet: one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunOpponent {
    /// A version: one that is live, or one's own.
    #[serde(default)]
    pub version: Option<i64>,
    /// Another text of one's own.
    #[serde(default)]
    pub text: Option<i64>,
}

/// Rules of one's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunRules {
    /// A preset of the game; by default, or empty, the contest's rules.
    #[serde(default)]
    pub preset: Option<String>,
    /// Numbers on top of it, by their names.
    #[serde(default)]
    pub set: BTreeMap<String, NumberOrWord>,
}

/// A number, or a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum NumberOrWord {
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A word, or a number in words.
    Word(String),
}

impl std::fmt::Display for NumberOrWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// A text that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TextRuns {
    /// The match that it plays. It may be the last one, if that was the same.
    #[serde(rename = "match")]
    pub game: i64,
}

/// A text to hand in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TextToHandIn {
    /// The text.
    pub text: i64,
    /// A name for this request, such as a UUID: sent twice it makes one version.
    pub request: String,
}

/// A text that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TextHandedIn {
    /// The version that it is, for requests about it.
    pub version: i64,
    /// That one's number among those of the team, from 1.
    pub n: i64,
}

/// What the workbench begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Workbench {
    /// The newest text; null where none was kept.
    pub text: Option<KeptText>,
    /// What one can begin with, the easiest language first.
    pub starters: Vec<CodeStarter>,
    /// What may be kept, run and handed in.
    pub limits: CodeLimits,
    /// Live bots, the best first.
    pub opponents: Vec<CodeOpponent>,
    /// Versions of one's own that can play, the newest first.
    pub versions: Vec<CodeOpponent>,
    /// The maps, by name.
    pub maps: Vec<String>,
    /// Seats in a match.
    pub seats: u32,
    /// Presets of the rules.
    pub presets: Vec<CodePreset>,
    /// The numbers of the contest's rules.
    pub numbers: Vec<CodeNumber>,
    /// The game.
    pub game: String,
    /// The contest's name.
    pub title: String,
}

/// A bot to begin with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct CodeStarter {
    /// Its language, as in `agon new`: `python`.
    pub language: String,
    /// Its language, for people.
    pub title: String,
    /// The file that decides.
    pub strategy: String,
    /// All of its files.
    pub files: Vec<CodeFile>,
}

/// What may be kept, run and handed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct CodeLimits {
    /// Files of a text.
    pub files: u64,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Texts that stay.
    pub texts: i64,
    /// Runs within an hour: drafts and challenges of the team.
    pub runs: Used,
    /// Versions within an hour.
    pub uploads_an_hour: Used,
    /// Versions within a day.
    pub uploads_a_day: Used,
    /// Why nothing can be handed in now; null if it can.
    pub closed: Option<String>,
}

/// A bot to meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct CodeOpponent {
    /// The version.
    pub version: i64,
    /// What it is called: `hunter`, `Ann v3`.
    pub name: String,
    /// Whether it is one of the contest's own bots.
    pub boss: bool,
}

/// A preset of the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct CodePreset {
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
}

/// A number of the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct CodeNumber {
    /// Its name.
    pub key: String,
    /// The same in words.
    pub title: String,
    /// What it is in the contest's rules.
    pub usual: String,
}
