//! What the command that owns a series and a fleet say to each other: JSON over HTTP below [`ROOT`], with the author's token.
//!
//! The command opens a series with its terms, sends what the fleet lacks of its bots, and exchanges from then on: it hands matches out,
//! says which results have arrived, and waits for others. Whatever is repeated does no harm.

use agon_worker::{Job, Nothing, Report, Terms};
use serde::{Deserialize, Serialize};

use agon_contest::Aftermath;

/// All of it lies below this path.
pub const ROOT: &str = "/fleet/v1";

/// At once no more matches are handed out, and no more results come back.
pub const MOST_AT_ONCE: usize = 256;
/// What comes back at once has no more bytes, but for a single larger result.
pub const LARGEST_BACK: usize = 16 << 20;
/// Results are not waited for longer, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = 20_000;
/// What a series is called has no more characters.
pub const LONGEST_TITLE: usize = 200;
/// A series has no more bots that are not built in.
pub const MOST_SOURCES: usize = 64;

/// A series begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// The command's program: machines are of the same version.
    pub program: String,
    /// What it is called: its bots.
    pub title: String,
    /// What decides results.
    pub terms: Terms,
    /// The bots that are not built in, by the SHA-256 of their archives.
    pub sources: Vec<String>,
}

/// A series has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Its number.
    pub series: i64,
    /// What the fleet lacks of its bots.
    pub missing: Vec<String>,
}

/// What the command says and asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Matches to be played. Their numbers are the command's; what is known already is not taken twice.
    pub add: Vec<Job>,
    /// The numbers of matches whose results have arrived.
    pub got: Vec<i64>,
    /// Where there is no result, the answer may wait so long for one, in milliseconds: up to [`LONGEST_WAIT_MS`].
    pub wait_ms: u64,
}

/// What it is answered with: the first is [`Line::Standing`], and then results, each with its replay behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// How the fleet stands.
    Standing(Standing),
    /// A match was played to its end.
    Whole {
        /// Its number.
        game: i64,
        /// What was seen of it.
        report: Box<Report>,
        /// And of its programs.
        all: Aftermath,
    },
    /// A match came to nothing.
    Nothing {
        /// Its number.
        game: i64,
        /// Why.
        nothing: Nothing,
    },
}

/// How the fleet stands, as a series sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Machines that play it.
    pub machines: usize,
    /// Matches that they play at once.
    pub at_once: usize,
    /// Machines of the fleet.
    pub all_machines: usize,
    /// So many matches should be handed out, those that are played among them.
    pub wanted: usize,
}

/// The fleet, as its author is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The program of the fleet.
    pub program: String,
    /// Its machines, in the order of their coming.
    pub machines: Vec<MachineSeen>,
    /// The series that it plays, the oldest first.
    pub series: Vec<SeriesSeen>,
}

/// A machine of the fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineSeen {
    /// What it is called.
    pub name: String,
    /// How far bots are held back there.
    pub level: String,
    /// Its speed.
    pub speed: f64,
    /// Matches that it plays at once.
    pub jobs: u32,
    /// The series that it plays.
    pub series: Option<i64>,
}

/// A series that the fleet plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesSeen {
    /// Its number.
    pub id: i64,
    /// What it is called.
    pub title: String,
    /// Matches that are handed out.
    pub open: usize,
}
