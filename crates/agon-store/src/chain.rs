//! The chain of the log: each row holds the hash of all before it.

use crate::Sha;

/// What the first row is chained to: the terms of the contest, and the hash of its secret.
pub fn root(terms: &str, secret_sha: &str) -> Sha {
    Sha::of(format!("agon log\n{secret_sha}\n{terms}"))
}

/// The hash of a row behind one with the hash `before`.
pub fn link(before: &Sha, body: &str) -> Sha {
    Sha::of(format!("{before}\n{body}"))
}
