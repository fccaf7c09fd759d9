//! Servers whose clocks are in doubt.

use serde::Serialize;

use super::Time;

/// A server whose clock is in doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct ClockDoubt {
    pub server: String,
    /// Since when, by the time that held until then, which goes on meanwhile.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub since: Time,
    /// How far the clock is ahead of that time, in milliseconds; behind it if negative.
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub ahead_ms: i64,
    /// How far it is ahead of the database's; null where they agree, or are one.
    #[cfg_attr(feature = "described", ts(type = "number | null"))]
    pub apart_ms: Option<i64>,
    /// Whether an organiser has confirmed what it shows.
    pub confirmed: bool,
}
