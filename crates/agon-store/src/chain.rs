//! The chains of the log and of the audit log: each row holds a hash over all rows before it.

use crate::{ContestId, Sha, Time};

/// The hash before the first row: of the terms of the contest and the hash of its secret.
pub fn root(terms: &str, secret_sha: &str) -> Sha {
    Sha::of(format!("agon log\n{secret_sha}\n{terms}"))
}

/// The hash of a row that follows one with the hash `before`.
pub fn link(before: &Sha, body: &str) -> Sha {
    Sha::of(format!("{before}\n{body}"))
}

/// The hash of an entry of the audit log that follows one with the hash `before`, or is the first. It holds nothing that a person wrote.
pub fn link_event(before: Option<&Sha>, contest: ContestId, at: Time, words: &Sha) -> Sha {
    let before = before.map_or_else(|| format!("agon audit\n{contest}"), Sha::to_string);
    Sha::of(format!("{before}\n{} {words}", at.0))
}

/// The hash of an entry's words: who can still tell them needs the salt, which goes with them.
pub fn words(salt: &str, words: [&str; 4]) -> Sha {
    Sha::of(format!("agon event\n{salt}\n{}", serde_json::json!(words)))
}
