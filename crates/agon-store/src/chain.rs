//! The chain of the log: each row holds a hash over all rows before it.

use crate::Sha;

/// The hash before the first row: of the terms of the contest and the hash of its secret.
pub fn root(terms: &str, secret_sha: &str) -> Sha {
    Sha::of(format!("agon log\n{secret_sha}\n{terms}"))
}

/// The hash of a row that follows one with the hash `before`.
pub fn link(before: &Sha, body: &str) -> Sha {
    Sha::of(format!("{before}\n{body}"))
}
