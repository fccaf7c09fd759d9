//! What is played, and under which conditions: enough to reproduce it at home.

use serde::{Deserialize, Serialize};

use crate::{Moment, words};

/// The contest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Contest {
    /// Its name.
    pub title: String,
    /// The program that runs it: `agon 0.9.0`.
    pub program: String,
    /// The game.
    pub game: String,
    /// The version of the game's rules.
    pub rules_version: u32,
    /// The seats in a match.
    pub seats: u8,
    /// The rules and maps; blocks take these in turn.
    pub maps: Vec<Ground>,
    /// How the limits of the rules are applied, in the words of `agon play`: `original`, `at most 500ms, original`.
    pub clock: String,
    /// What happens to a bot that computes in its opponent's time: `stop` or `allow`.
    pub ponder: String,
    /// The resources of a bot.
    pub machine: Machine,
    /// When uploads open; null: from the start.
    pub opens: Option<Moment>,
    /// When uploads close; null: not before the contest ends.
    pub closes: Option<Moment>,
    /// Whether matches are played.
    pub state: ContestState,
    /// The time zone in which the contest gives times, such as `Europe/Vienna`.
    pub time_zone: String,
    /// The most people in one team.
    pub team_size: u8,
    /// The approximate number of rated matches each version plays.
    pub rated_matches: u32,
    /// The hash of the secret that seeds are derived from.
    pub seeds_sha256: String,
    /// What may be handed in.
    pub limits: Limits,
    /// The current time at the server.
    pub now: Moment,
}

words! {
    /// Whether a contest plays matches.
    #[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
    ContestState {
        /// It does.
        Running = "running",
        /// What was planned is still played, nothing more is planned, and then it is paused.
        Draining = "draining",
        /// No match starts until the organiser goes on.
        Paused = "paused",
    }
}

impl ContestState {
    /// What that means for whoever waits for a match, in a sentence; none while matches are played.
    pub fn means(self) -> Option<&'static str> {
        match self {
            Self::Running => None,
            Self::Draining => Some(
                "The contest will be paused: matches that have begun are finished, nothing new starts. Uploads and match requests are kept until it resumes.",
            ),
            Self::Paused => Some(
                "The contest is paused. Uploads and match requests are kept and will be played when it resumes.",
            ),
        }
    }
}

words! {
    /// Who may sign up.
    SignUpWord {
        /// Everybody.
        Open = "open",
        /// Those who have the code of the contest.
        Invite = "invite",
        /// Nobody.
        Closed = "closed",
    }
}

impl SignUpWord {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Open, Self::Invite, Self::Closed];
}

/// Rules and map of a match, in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Ground {
    /// Its number, for requests about it, from 1.
    pub number: u32,
    /// Its display name.
    pub name: String,
    /// The name of its rules.
    pub rules_name: String,
    /// Its full rules, in the form that `agon play --rules FILE` reads.
    pub rules: String,
    /// The map.
    pub map: Map,
}

/// Where the map of a match comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Map {
    /// The game's default: made from the seed, or picked by it.
    Default,
    /// Made from the seed.
    Generated,
    /// This one.
    Whole {
        /// Its name.
        name: String,
        /// Its content, in the form that `agon play --map FILE` reads.
        content: String,
    },
}

/// The resources of a bot where it plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Machine {
    /// How bots are confined: the level of the sandbox, `A` to `D`, or `not confined`; null while nobody plays.
    pub sandbox: Option<String>,
    /// CPUs that a match takes.
    pub cpus: u32,
    /// Memory of a bot, in bytes; null if unlimited.
    pub memory: Option<u64>,
    /// Processes and threads of a bot; null if unlimited.
    pub processes: Option<u32>,
    /// Bytes of files that a bot may write; null if unlimited.
    pub disk: Option<u64>,
    /// How many times a second one of its CPUs does a fixed piece of work; `agon play --as` does the same work at home to
    /// compare. Null if not measured.
    pub speed: Option<f64>,
    /// Folders of packages that all bots can read, by their last path component.
    pub packages: Vec<String>,
    /// The compilers and interpreters installed, with their versions.
    pub languages: Vec<Language>,
    /// The image that bots run in, by the hash of its list; null: one of what each bot needs, made by each machine.
    #[serde(default)]
    pub image: Option<String>,
}

/// What of the contest's image is wanted: its list, or part of a file of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ImageQuery {
    /// The file, by the SHA-256 of its content; without it, the list of all files.
    pub file: Option<String>,
    /// Where the part begins, in bytes: at most 8 MiB follow.
    #[serde(default)]
    pub from: u64,
}

/// A compiler or interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Language {
    /// Its command.
    pub name: String,
    /// What it prints as its version.
    pub version: String,
}

/// What may be handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Limits {
    /// Bytes of an upload.
    pub upload_bytes: u64,
    /// Uploads of a team within an hour.
    pub uploads_an_hour: i64,
    /// Uploads of a team within a day.
    pub uploads_a_day: i64,
    /// Challenges and drafts of a team within an hour.
    pub asked_an_hour: i64,
    /// Bytes of all versions of a team.
    pub team_bytes: i64,
}
