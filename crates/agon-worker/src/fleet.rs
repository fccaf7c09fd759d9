//! The protocol between a fleet and the command that owns a series: JSON over HTTP below [`ROOT`], with the author's token.
//!
//! The command opens a series with its terms, sends the bots that the fleet lacks, and exchanges from then on: it hands matches out, says
//! which results have arrived, and waits for others. Repeating any of this does no harm.

use agon_contest::Observed;
use serde::{Deserialize, Serialize};

use crate::protocol::{ContestTerms, Job, Nothing};

/// The path of all routes.
pub const ROOT: &str = "/fleet/v1";

/// Upper limit on the matches handed out in one exchange, and on the results returned.
pub const MOST_AT_ONCE: usize = 256;
/// Upper limit on the bytes returned in one exchange, unless a single result is larger.
pub const LARGEST_BACK: usize = 16 << 20;
/// Upper limit on the title of a series, in characters.
pub const LONGEST_TITLE: usize = 200;
/// Upper limit on the bots of a series that are not built in.
pub const MOST_SOURCES: usize = 64;

/// Opens a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// The command's program: machines must be of the same version.
    pub program: String,
    /// The title of the series: its bots.
    pub title: String,
    /// What decides results.
    pub terms: ContestTerms,
    /// The bots that are not built in, by the SHA-256 of their archives.
    pub sources: Vec<String>,
}

/// The answer to [`Open`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesOpened {
    pub series: i64,
    /// The bots that the fleet lacks.
    pub missing: Vec<String>,
}

/// What the command sends and asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Matches to be played. Their numbers are the command's; those known already are not taken twice.
    pub add: Vec<Job>,
    /// The numbers of matches whose results have arrived.
    pub got: Vec<i64>,
    /// How long the answer may wait for a result if there is none, in milliseconds: up to [`LONGEST_WAIT_MS`](crate::wire::LONGEST_WAIT_MS).
    pub wait_ms: u64,
}

/// A line of the answer: first [`FleetLine::Standing`], then results, each followed by its replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FleetLine {
    /// The state of the fleet.
    Standing(FleetState),
    /// A match was played to its end.
    Whole {
        game: i64,
        /// What was observed.
        observed: Box<Observed>,
    },
    /// A match gave no result.
    Nothing {
        game: i64,
        /// Why.
        nothing: Nothing,
    },
}

/// The state of the fleet, as a series sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetState {
    /// Machines that play this series.
    pub machines: usize,
    /// Matches that they can play at once.
    pub at_once: usize,
    /// Machines of the fleet.
    pub all_machines: usize,
    /// How many matches should be handed out, including those being played.
    pub wanted: usize,
}

/// The fleet, as its author sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The fleet's program.
    pub program: String,
    /// Its machines, in order of arrival.
    pub machines: Vec<MachineSeen>,
    /// The series that it plays, oldest first.
    pub series: Vec<SeriesSeen>,
}

/// A machine of the fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineSeen {
    pub name: String,
    /// How strictly it confines bots.
    pub level: String,
    pub speed: f64,
    /// Matches that it can play at once.
    pub jobs: u32,
    /// The series that it plays.
    pub series: Option<i64>,
}

/// A series that the fleet plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesSeen {
    pub id: i64,
    pub title: String,
    /// Matches handed out.
    pub open: usize,
}
