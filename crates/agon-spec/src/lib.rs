//! A match described once: what is to be played, by whom, and under which clock.
//!
//! A [`MatchSpec`] comes from the command line, a journal, a replay's header or the viewer's form, and is passed
//! on unchanged. Its text form is the command that plays it ([`MatchSpec::command`]).

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order.
pub mod clock;
pub mod spec;

pub use clock::{Clock, Ponder, RecordedClock};
pub use spec::{MapSpec, MatchSpec, RulesSpec, SeatSpec};
