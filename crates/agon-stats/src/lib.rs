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
mod spread;

pub use block::{Block, BlockError, Shape, Tally, WinDrawLoss};
pub use cross_table::{Cell, CrossTable};
pub use cycles::Cycle;
pub use elo::{Estimate, elo_of_score, normalized_error_even, score_of_elo};
pub use head::{Head, head};
pub use newcomer::{Newcomer, newcomer};
pub use pairs::{Meeting, Pairs};
pub use ratings::{Interval, METHOD, Options, Rated, RatingError, RatingTable, rate};
pub use repeats::Repeats;
pub use results::{Match, MatchBlock, Results, ResultsError, RulesHash, TableKey};
pub use scale::{Place, Scale};
pub use sequential::{Decision, Sequential, Status};
pub use sprt::{Model, Sprt, SprtError};
pub use stopping::{Corrected, Length, lengths};
pub use trend::{Drift, Trend};
pub use twin::{Twin, twin_block};

use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

/// Elo per natural logarithm of strength.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// The share of the standard normal distribution below `z`, the same on every machine.
fn normal_below(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

/// The share of Student's distribution below `z`, for an estimated standard deviation. `freedom` is above 0.
fn student_below(z: f64, freedom: f64) -> f64 {
    if freedom > 1e6 {
        return normal_below(z);
    }
    StudentsT::new(0.0, 1.0, freedom).expect("some freedom").cdf(z)
}

/// How many standard deviations to each side hold `confidence` of the standard normal distribution.
fn deviations(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence))
}

/// The same for Student's distribution, where the standard deviation is estimated too. `freedom` is above 0.
fn student_deviations(confidence: f64, freedom: f64) -> f64 {
    // Beyond this many degrees of freedom the two agree to six digits, and the normal quantile is exact.
    if freedom > 1e6 {
        return deviations(confidence);
    }
    let student = StudentsT::new(0.0, 1.0, freedom).expect("some freedom");
    student.inverse_cdf(f64::midpoint(1.0, confidence))
}
