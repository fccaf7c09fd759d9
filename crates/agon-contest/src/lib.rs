//! Series of matches: which are played, on which CPU, and how none of them is lost.
//!
//! A [`Plan`] says which matches there are: **blocks**, each the same seed and map in every rotation of the seats. A [`Scheduler`] hands
//! matches to workers, writes each finished one to the [`journal`] and only then counts it, always in the order of the seeds. [`run`] runs
//! the workers.
//!
//! What the numbers mean is the business of `agon-stats`; how a match is played, of `agon-match`.

#![forbid(unsafe_code)]

// In reading order.
pub mod order;
pub mod plan;

pub mod format;

pub mod course;
pub mod journal;
pub mod origin;
pub mod parallel;
pub mod play;
pub mod same;
pub mod scheduler;
pub mod standing;
pub mod told;
pub mod work;

pub mod config;
pub mod content;

pub mod whole;

pub use agon_api::{FaultCount, FaultsTold, MatchResult, Observed, Proven};
pub use config::{ContestFile, SandboxSection};
pub use course::{PairingCourse, courses};
pub use format::{FormatId, FormatSpec};
pub use journal::{BotId, Entry, Journal, JournalError, JournalHeader, MapId, MatchId, RulesId, TestId};
pub use origin::{Origin, OwnEnding, ScoreMean};
pub use plan::{BlockPlan, Plan, SeriesKind};
pub use play::{FinishedMatch, MatchOrder, play_match};
pub use scheduler::{Faulty, Progress, Scheduler, SeriesEnd};
pub use standing::{Pairing, SeriesStanding};
pub use told::Shelf;
pub use work::{Keep, MatchFate, SeriesBot, SeriesSetup, Trouble, attend, run};
