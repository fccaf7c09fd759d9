//! [`Import`]: a match recorded by the original, as a match of ours.

use std::fmt;

use crate::{Answers, Setup};

/// A match recorded by the original, as answers that play it again.
#[derive(Clone, Debug)]
pub struct Import<O> {
    /// How to set it up.
    pub setup: Setup,
    /// The answers of the deciding seats for each step, ascending.
    pub steps: Vec<Answers<O>>,
    /// The names of the bots by seat; empty where the record does not say.
    pub names: Vec<String>,
    /// Whether the record goes to the end of the match.
    pub whole: bool,
    /// What the record holds but these answers cannot express, as sentences.
    pub notes: Vec<String>,
}

/// Why bytes cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// They are something else.
    Foreign,
    /// They are a record, but not up to its end, or of a match that cannot be set up.
    Damaged(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("this is not a recorded match"),
            Self::Damaged(why) => write!(f, "this recorded match is damaged: {why}"),
        }
    }
}
