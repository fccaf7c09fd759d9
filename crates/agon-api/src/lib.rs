//! What the server of a contest and its clients say to each other: the types of the API, version 1.
//!
//! The server makes its answers and its description (OpenAPI 3.1) of these types, and `agon submit` and the other commands
//! read the answers with them. Nothing here does anything: no HTTP, no store, no clock.
//!
//! Within a version names stay and keep their meaning. A later program may add fields, so whoever reads skips what it does
//! not know; whoever asks is told of a field that is none. Moments are milliseconds since 1970 (UTC), seats, maps and turns
//! count from 1 as people do, and seeds are texts, as they may be larger than what JavaScript can count to.

#![forbid(unsafe_code)]

// In reading order.
pub mod contest;

pub mod version;

pub mod played;

pub mod ladder;
pub mod person;
pub mod problem;

pub use contest::Contest;
pub use ladder::{Best, Ladder, Line};
pub use person::{Me, Quota, Team, Used};
pub use played::{Asked, Challenge, DraftQuery, Match, MatchQuery, Matches, Own};
pub use problem::Problem;
pub use version::{BuildLog, UploadQuery, Uploaded, Version, Versions};

/// All of the API lies below this path.
pub const ROOT: &str = "/api/v1";

/// An upload or a draft has no more bytes.
pub const LARGEST_UPLOAD: u64 = 20 << 20;
/// A body of JSON that is sent to the server has no more bytes.
pub const LARGEST_ASKED: u64 = 64 << 10;
/// An answer of JSON has no more bytes: what a seat wrote in a match is the largest, 256 KiB of it before it is escaped.
pub const LARGEST_ANSWER: u64 = 8 << 20;
/// A replay has no more bytes.
pub const LARGEST_REPLAY: u64 = 64 << 20;

/// A moment in milliseconds since 1970 (UTC).
pub type Moment = i64;
