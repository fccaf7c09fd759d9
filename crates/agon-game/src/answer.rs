//! What came back from a seat that was asked.

use crate::Seat;

/// What the referee passes to [`Game::play`](crate::Game::play) for one seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<O> {
    /// An answer in the form the dialect asks for. Whether the rules allow it is for the game to decide.
    Given {
        /// What was asked for.
        order: O,
        /// Milliseconds from the end of the question to the end of the answer.
        think_ms: u32,
    },
    /// Something came, but not in the form the dialect asks for.
    Malformed {
        /// What is wrong with it, as a sentence for the bot's author.
        why: String,
        /// Milliseconds from the end of the question to the end of the answer.
        think_ms: u32,
    },
    /// Nothing came.
    Missing(Absence),
}

/// The answers of one step: one per deciding seat, ascending.
pub type Answers<O> = Vec<(Seat, Answer<O>)>;

impl<O> Answer<O> {
    /// The order, if one was given.
    pub fn order(&self) -> Option<&O> {
        match self {
            Self::Given { order, .. } => Some(order),
            Self::Malformed { .. } | Self::Missing(_) => None,
        }
    }

    /// The same answer with its order converted; `None` when that fails.
    pub fn convert<P>(&self, form: impl FnOnce(&O) -> Option<P>) -> Option<Answer<P>> {
        Some(match self {
            Self::Given { order, think_ms } => Answer::Given { order: form(order)?, think_ms: *think_ms },
            Self::Malformed { why, think_ms } => Answer::Malformed { why: why.clone(), think_ms: *think_ms },
            Self::Missing(absence) => Answer::Missing(*absence),
        })
    }

    /// Milliseconds of thinking; 0 where nothing came.
    pub fn think_ms(&self) -> u32 {
        match *self {
            Self::Given { think_ms, .. } | Self::Malformed { think_ms, .. } => think_ms,
            Self::Missing(_) => 0,
        }
    }
}

/// Why no answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Absence {
    /// The time limit passed.
    TimedOut,
    /// The bot ended, crashed, closed its connection or was put out of the match.
    Gone,
    /// The bot could not be started or never connected.
    NeverStarted,
}

/// What a dialect made of one message from a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard<O> {
    /// Part of the answer; more is to come.
    More,
    /// The whole answer.
    Answer(O),
    /// The whole answer, in a form that cannot be an answer.
    Malformed(String),
    /// The bot itself reports a failure, as a script does that threw. Any order it still gives is played; without
    /// an order this counts as [`Malformed`](Heard::Malformed).
    Failed {
        /// What it reports: a sentence that continues "it".
        why: String,
        /// The order it still gives.
        order: Option<O>,
    },
    /// Not an answer, and without effect; the sentence, if any, is recorded as a fault of the bot.
    Ignore(Option<String>),
    /// The protocol closes the connection for this; the bot is gone.
    Close(String),
}
