//! The types of the API, version 1: what the server of a contest and its clients say to each other.
//!
//! The server builds its answers and its description (OpenAPI 3.1) from these types; `agon submit` and the other commands parse the answers
//! with them. This crate does nothing by itself: no HTTP, no store, no clock. It also has the [`result`] of a match, for whatever is played.
//!
//! Within a version, names stay and keep their meaning. A later program may add fields, so readers skip what they do not know; a request
//! with an unknown field is refused with its name. Moments are milliseconds since 1970 (UTC). Seats, maps and turns count from 1, as people
//! do. Seeds are strings, because they may exceed what JavaScript can count to.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order.
pub mod contest;

pub mod version;

pub mod played;
pub mod result;

pub mod ladder;
pub mod lesson;
pub mod marks;
pub mod person;
pub mod problem;
mod words;

pub use contest::Contest;
pub use ladder::{Best, COLUMNS, Figure, Ladder, LadderColumn, LadderRow, VersionRating};
pub use lesson::{TeamLossCause, TeamLosses, TeamTest, TeamTests, TriedInPosition, WantedInPosition};
pub use marks::{Marks, Milestone, TeamMarks, TeamStanding};
pub use person::{Me, Quota, Team, Used};
pub use played::{Asked, Challenge, DraftQuery, Match, MatchQuery, Matches, Own};
pub use problem::Problem;
pub use result::{FaultCount, FaultsTold, MatchResult, Observed, Proven};
pub use version::{BuildLog, UploadQuery, Uploaded, Version, Versions};
pub use words::UnknownWord;

/// The path prefix of the whole API.
pub const ROOT: &str = "/api/v1";

/// The largest upload or draft, in bytes.
pub const LARGEST_UPLOAD: u64 = 20 << 20;
/// The largest JSON body of a request, in bytes.
pub const LARGEST_ASKED: u64 = 64 << 10;
/// The largest JSON answer, in bytes: the notes of a seat in a match dominate, 256 KiB before escaping.
pub const LARGEST_ANSWER: u64 = 8 << 20;
/// The largest replay, in bytes.
pub const LARGEST_REPLAY: u64 = 64 << 20;
/// Header of each answer to an account: how many requests it has in a minute.
pub const LIMIT: &str = "ratelimit-limit";
/// Header: how many of them are left.
pub const LEFT: &str = "ratelimit-remaining";
/// Header: in how many seconds it has all of them again.
pub const RESET: &str = "ratelimit-reset";

/// A moment in milliseconds since 1970 (UTC).
pub type Moment = i64;
