//! What is said when something cannot be done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A refusal: `application/problem+json` (RFC 9457).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// `about:blank`: the status says the kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// What happened, in a few words.
    pub title: String,
    /// The status of HTTP.
    pub status: u16,
    /// What it means, and what to do.
    pub detail: String,
    /// In how many seconds there is room again, where time helps; the header `Retry-After` says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<i64>,
}
