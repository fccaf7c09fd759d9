//! What a team learns from its losses: why it loses, and the positions that its bots are tried in.

use serde::{Deserialize, Serialize};

/// What goes with the losses of a team on the ladder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TeamLosses {
    /// `Ann lost 11 of 24 matches of Deerhunt`.
    pub heading: String,
    /// What is significantly more common in the lost matches, the most certain first.
    pub causes: Vec<TeamLossCause>,
    /// Where nothing stands out: how matches usually stood at a few moments, by how they ended; each a line.
    pub course: Vec<String>,
    /// What could not be compared, in sentences.
    pub notes: Vec<String>,
}

/// A group of lost matches that have something in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TeamLossCause {
    /// What sort of cause it is: `Where it lost`, `How it lost`.
    pub heading: String,
    /// What they have in common, with its figures.
    pub sentence: String,
    /// The matches, those with the largest single drop first.
    pub matches: Vec<i64>,
}

/// The positions that a team's bots are tried in, on every upload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
pub struct TeamTests {
    /// In the order in which they were kept.
    pub tests: Vec<TeamTest>,
}

/// A position that a team's bots are tried in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
pub struct TeamTest {
    /// Its number.
    pub id: i64,
    /// The match.
    #[serde(rename = "match")]
    pub game: i64,
    /// The seat that the bot takes, from 1.
    pub seat: u8,
    /// The step at which it is asked, from 1.
    pub step: u32,
    /// What it is called: `turn 42 against Kestrel v3`.
    pub name: String,
    /// What its answer must be.
    pub wanted: WantedInPosition,
}

/// What is wanted of an answer in a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WantedInPosition {
    /// This order.
    Order(String),
    /// Any order that keeps a chance.
    Keeps {
        /// The least chance to finish first, from 0 to 1.
        chance: f64,
        /// The built-in bot that judges, with its options.
        policy: String,
    },
}

/// What a version did in one of its team's positions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedInPosition {
    /// The number of the test.
    pub id: i64,
    /// Whether it did what is wanted; none where time ran out before that was known.
    pub passed: Option<bool>,
    /// Its answer, if it gave one.
    pub answer: Option<String>,
    /// The chance after it in percent, where that counts.
    pub percent: Option<u8>,
    /// What is wrong, in a sentence.
    pub why: Option<String>,
}
