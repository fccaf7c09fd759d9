//! Is my bot better? The statistics of series, tests and ratings.
//!
//! Plain data goes in, plain data comes out, and every result can be serialised. Nothing here reads a
//! file, a clock or a source of randomness. `docs/statistics.md` explains each number, with its formula
//! and its source.
//!
//! The unit of everything is the **block**: the same seed and map played once in every rotation of the
//! seats. The games of a block share their luck, so they are not independent of each other; blocks are.
//! Bots that play the same again from the same start give no new evidence ([`repeats`]).
//!
#![doc = "```"]
#![doc = include_str!("../examples/sprt.rs")]
#![doc = "```"]
#![forbid(unsafe_code)]

// In reading order. Two bots:
pub mod block;
pub mod elo;
pub mod repeats;
pub mod sprt;

pub mod sequential;
pub mod stopping;
pub mod trend;
pub mod twin;

// Many bots:
pub mod results;

pub mod cross_table;
pub mod cycles;
pub mod head;
pub mod newcomer;
pub mod pairs;
pub mod ratings;
pub mod scale;

// Comparing two counts:
pub mod exact;

// Within matches:
pub mod causes;
pub mod softmax;

mod band;
mod bounds;
mod empirical;
mod fit;
mod quantile;
mod spread;
mod tree;

pub use block::{Block, BlockError, Shape, Tally, WinDrawLoss};
pub use cross_table::{Cell, CrossTable};
pub use cycles::Cycle;
pub use elo::{Estimate, elo_of_score, normalized_error_even, score_of_elo};
pub use head::{TableHead, head};
pub use newcomer::{Newcomer, newcomer};
pub use pairs::{Meeting, Pairs};
pub use ratings::{Interval, METHOD, Options, Rated, RatingError, RatingTable, rate};
pub use repeats::Repeats;
pub use results::{MatchBlock, RankedMatch, Results, ResultsError, RulesHash, TableKey};
pub use scale::{Scale, ScalePlace};
pub use sequential::{Decision, Sequential, Status};
pub use sprt::{Model, Sprt, SprtError};
pub use stopping::{Corrected, Length, lengths};
pub use trend::{Drift, Trend};
pub use twin::{Twin, twin_block};

use quantile::{deviations, normal_below, student_below, student_deviations};

/// Elo per natural logarithm of strength.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
