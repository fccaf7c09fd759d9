//! The answer when a request cannot be fulfilled.

use serde::{Deserialize, Serialize};

/// A refusal: `application/problem+json` (RFC 9457).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
pub struct Problem {
    /// `about:blank`: the status says the kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// What happened, in a few words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What it means, and what to do.
    pub detail: String,
    /// Seconds until there is room again, where waiting helps; the `Retry-After` header says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<i64>,
}
