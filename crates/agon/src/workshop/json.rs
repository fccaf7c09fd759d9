//! What these commands print with `--json`.

use std::collections::BTreeMap;

use agon_game::GameInfo;
use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

/// A game: `agon games --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Game {
    pub name: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub seats: Seats,
    pub presets: Vec<&'static str>,
    /// The CPUs a bot may use, for each of the presets.
    pub cpus: Vec<&'static str>,
    pub maps: Vec<&'static str>,
    pub builtins: Vec<&'static str>,
}

impl From<&GameInfo> for Game {
    fn from(info: &GameInfo) -> Self {
        Self {
            name: info.name,
            title: info.title,
            summary: info.summary,
            seats: Seats::from(info.seats),
            presets: info.presets.iter().map(|preset| preset.name).collect(),
            cpus: info.presets.iter().map(|preset| preset.cpus.word()).collect(),
            maps: info.maps.iter().map(|map| map.name).collect(),
            builtins: info.builtins.iter().map(|bot| bot.name).collect(),
        }
    }
}

/// The possible numbers of seats.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Seats {
    pub least: u8,
    pub most: u8,
}

impl From<(u8, u8)> for Seats {
    fn from((least, most): (u8, u8)) -> Self {
        Self { least, most }
    }
}

/// What `agon rules --json` prints: the rulebook, every number of a preset or file, or the differences of two.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(TS))]
pub(crate) enum Rules {
    /// The rulebook.
    Rulebook { game: &'static str, rules: Vec<Rule> },
    /// `--preset`: every number by its name.
    Preset { game: &'static str, preset: String, rules: BTreeMap<String, String> },
    /// `--diff A B`: the numbers that differ.
    Differences { game: &'static str, differences: Vec<RuleDiffers> },
}

/// A rule of a rulebook.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Rule {
    pub id: String,
    /// The heading of its section in the rulebook.
    pub heading: String,
    /// In Markdown.
    pub text: String,
}

/// A number that differs between two presets or files.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RuleDiffers {
    pub rule: String,
    /// By the names of the two presets or files; null if one lacks the rule.
    #[serde(flatten)]
    pub values: BTreeMap<String, Option<String>>,
}

/// What `agon maps GAME --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Maps {
    pub game: &'static str,
    /// Whether the game can make maps from seeds.
    pub generates: bool,
    pub maps: Vec<KnownMap>,
}

/// A map that comes with its game.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct KnownMap {
    pub name: &'static str,
    pub seats: Seats,
    /// The whole map, as in its file.
    pub text: &'static str,
}

/// What `agon maps GAME NAME --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Map<'a> {
    pub game: &'a str,
    pub name: &'a str,
    /// The whole map, as in its file.
    pub text: &'a str,
}

/// What `agon explain RULE-ID --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Explained {
    pub game: &'static str,
    #[serde(flatten)]
    pub rule: Rule,
    /// Where the code decides it.
    pub decided: Vec<Place>,
    /// The sections of the spec that prove it.
    pub tested: Vec<Place>,
}

/// A place in the project's files.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Place {
    pub file: String,
    /// From 1.
    pub line: usize,
    /// The function or the heading.
    pub item: String,
}

/// What `agon bench GAME --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Bench {
    pub game: &'static str,
    pub seats: u8,
    /// Size of a state in memory, without what it points to.
    pub state_bytes: usize,
    pub figures: Figures,
}

/// The costs of the parts of a game.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Figures {
    #[serde(flatten)]
    pub workloads: BTreeMap<&'static str, Measured>,
    /// Play-outs a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub games_per_second: Option<f64>,
    /// Mean number of steps of such a play-out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub steps_per_game: Option<f64>,
}

/// The cost of something.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Measured {
    /// Nanoseconds.
    pub ns: Figure,
    pub about: &'static str,
}

/// A figure with its spread over samples.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Figure {
    pub least: f64,
    pub median: f64,
    pub most: f64,
}

/// What `agon bench referee --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RefereeBench {
    pub matches: u32,
    pub matches_per_second: f64,
    pub matches_per_second_spread: Figure,
    /// Microseconds from a question to its answer.
    pub answer_us: Answer,
    pub referee_cpu_us_per_turn: f64,
    pub bots_cpu_us_per_turn: f64,
    /// What recording a replay adds to the CPU time of a match.
    pub recording_cpu_percent: f64,
}

/// Upper bounds for half of the answers, and for all but one in a hundred.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Answer {
    pub median: f64,
    pub p99: f64,
}

/// A page of the guide: `agon docs --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PageName {
    pub page: &'static str,
    pub title: &'static str,
}

/// What `agon docs PAGE --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Page {
    #[serde(flatten)]
    pub page: PageName,
    pub markdown: String,
}
