//! What a viewer asks, and what it is answered: by the engines inside its page, by those of a server, and by a seat of a match
//! being played.
//!
//! A question travels as one line of JSON. The file that it is about, if there is one, follows after the line feed.

use std::fmt::Display;

use agon_game::{Prospect, Seat};
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(test)]
use ts_rs::TS;

use crate::lesson::LessonSoFar;
use crate::line::Head;
use crate::outlook::{Outlook, WinChance};
use crate::play::{Sitter, Turn, WantedMatch};

/// The longest question without its file, in bytes.
pub const LONGEST_ASK: usize = 1 << 20;

/// A question of the viewer. Steps and seats count from 1.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Ask {
    /// Opens the replay that follows, or the record of a match of an original; returns [`Opened`].
    Open {
        /// Whether what belongs to one seat alone is shown.
        private: bool,
    },
    /// The lines of these steps, at least the first if there is such a step; returns each as JSON with a line feed.
    Lines {
        /// The replay.
        id: u32,
        /// The first step.
        from: u32,
        /// The last step.
        to: u32,
    },
    /// The message that asked a seat; returns its bytes, or nothing if the seat was not asked there.
    Message {
        /// The replay.
        id: u32,
        /// The step.
        step: u32,
        /// The seat.
        seat: u8,
    },
    /// A step as a section of a spec file; returns its text.
    Section {
        /// The replay.
        id: u32,
        /// The step.
        step: u32,
        /// The rule it is about; empty for that of the first order it rejected.
        rule: String,
    },
    /// Plays pairs of futures; returns an [`Outlook`] on a step.
    Refine {
        /// The replay.
        id: u32,
        /// The step.
        step: u32,
        /// How many at most.
        pairs: u32,
        /// Whether they are of any step, where they tell most, or only of this one.
        all: bool,
        /// The bot that plays on, as after `builtin:`; none for the game's judge. Another one than before begins anew.
        policy: Option<String>,
    },
    /// Examines another order, as a bot would write it, from now on.
    Wish {
        /// The replay.
        id: u32,
        /// The step.
        step: u32,
        /// Whose order.
        seat: u8,
        /// The order.
        text: String,
    },
    /// The recorded order of a seat, as a bot writes it there; returns its text.
    Written {
        /// The replay.
        id: u32,
        /// The step.
        step: u32,
        /// Whose order.
        seat: u8,
    },
    /// Goes on searching for the order that lost the match for a seat; returns a [`LessonSoFar`].
    Learn {
        /// The replay.
        id: u32,
        /// Whose match.
        seat: u8,
        /// The one step to look at; none for all.
        step: Option<u32>,
        /// About how many futures may be played now.
        futures: u32,
    },
    /// Judges an order, as a bot would write it, by playing on; returns a [`WinChance`] with what is known.
    Judge {
        /// The replay.
        id: u32,
        /// The bot that plays on.
        policy: String,
        /// The step.
        step: u32,
        /// Whose order.
        seat: u8,
        /// The order.
        text: String,
        /// How many futures may be played now.
        futures: u32,
    },
    /// Choices at a step, made by hand, as a bot would write them there; returns the text.
    Compose {
        /// The replay.
        id: u32,
        /// The step.
        step: u32,
        /// Whose choices.
        seat: u8,
        /// A list of choices, as the game writes them.
        #[cfg_attr(test, ts(type = "unknown[]"))]
        chosen: Value,
    },
    /// A new match by hand; returns [`Begun`].
    Begin {
        /// Which match.
        wanted: WantedMatch,
    },
    /// A match by hand that goes on from a replay; returns [`Begun`].
    Resume {
        /// The replay.
        id: u32,
        /// How many of its steps are kept.
        steps: u32,
        /// Who plays on.
        seats: Vec<Sitter>,
    },
    /// The match whose seat is asked; returns [`Begun`].
    Sit,
    /// What choices would lead to; returns a prospect.
    Prospect {
        /// The match.
        id: u32,
        /// Whose choices.
        seat: u8,
        /// A list of choices, as the game writes them.
        #[cfg_attr(test, ts(type = "unknown[]"))]
        chosen: Value,
    },
    /// An answer; returns a turn.
    Answer {
        /// The match.
        id: u32,
        /// Whose.
        seat: u8,
        /// A list of choices, as the game writes them.
        #[cfg_attr(test, ts(type = "unknown[]"))]
        chosen: Value,
    },
    /// What a built-in bot would choose; returns a list of choices.
    Hint {
        /// The match.
        id: u32,
        /// For whom.
        seat: u8,
        /// The bot.
        bot: String,
    },
    /// Lets a built-in bot answer this many times; returns a turn.
    Lend {
        /// The match.
        id: u32,
        /// For whom.
        seat: u8,
        /// The bot.
        bot: String,
        /// How often.
        times: u32,
    },
    /// The message that asks a seat, for a program that plays by messages; returns its bytes.
    Question {
        /// The match.
        id: u32,
        /// Whose.
        seat: u8,
    },
    /// The answer of such a program; returns a turn.
    Say {
        /// The match.
        id: u32,
        /// Whose.
        seat: u8,
        /// The message.
        message: String,
    },
    /// Goes on until a person must choose; returns a turn, which may have stopped early.
    Go {
        /// The match.
        id: u32,
        /// How many steps are known: a seat is told what was played since, and for a while waits for it.
        steps: u32,
    },
    /// Takes back the last answer; returns a turn.
    Back {
        /// The match.
        id: u32,
    },
    /// The match so far; returns a replay.
    Replay {
        /// The match.
        id: u32,
    },
    /// Closes a replay or a match.
    Close {
        /// Which.
        id: u32,
    },
}

impl Ask {
    /// Reads a question; returns it with the file that follows it.
    ///
    /// # Errors
    /// When it is not one.
    pub fn read(bytes: &[u8]) -> Result<(Self, &[u8]), AskRefusal> {
        let end = bytes.iter().take(LONGEST_ASK + 1).position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        if end > LONGEST_ASK {
            return Err(format!("a question longer than {LONGEST_ASK} bytes").into());
        }
        let ask = serde_json::from_slice(&bytes[..end])?;
        Ok((ask, bytes.get(end + 1..).unwrap_or_default()))
    }
}

/// The seat with this number, from 1.
pub(crate) fn seat_of(number: u8) -> Result<Seat, String> {
    match number {
        1..=Seat::MAX => Ok(Seat::new(number - 1)),
        _ => Err(format!("no match has a seat {number}")),
    }
}

/// What is returned: JSON, or bytes as they are.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(untagged)]
pub enum Reply {
    /// Nothing.
    #[serde(skip)]
    Nothing,
    /// Lines, a text, a message or a file.
    #[serde(skip)]
    Bytes(Vec<u8>),
    /// An opened replay.
    Opened(Opened),
    /// What is known of a step.
    Outlook(Outlook),
    /// How far a search has come.
    Lesson(Box<LessonSoFar>),
    /// What is known of an order.
    Judged(WinChance),
    /// A match by hand.
    Begun(Begun),
    /// How far it has come.
    Turn(Turn),
    /// What choices lead to.
    #[cfg_attr(test, ts(skip))]
    Prospect(Box<Prospect>),
    /// A list of choices.
    #[cfg_attr(test, ts(type = "unknown[]"))]
    Chosen(Value),
}

impl Reply {
    /// As it is sent; none if there is nothing to send.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn write(self) -> Result<Option<Vec<u8>>, AskRefusal> {
        match self {
            Self::Nothing => Ok(None),
            Self::Bytes(bytes) => Ok(Some(bytes)),
            json => Ok(Some(serde_json::to_vec(&json)?)),
        }
    }
}

/// An opened replay.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Opened {
    /// The id to ask about it by.
    pub id: u32,
    /// What it is.
    pub head: Box<Head>,
}

/// A match by hand that has begun.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Begun {
    /// The id to ask about it by.
    pub id: u32,
    /// What it is.
    pub head: Box<Head>,
    /// What happened so far.
    pub turn: Turn,
}

/// Why there is nothing to return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct AskRefusal {
    /// What is wrong and what to do.
    pub error: String,
    /// Whether the file is not one of our replays: the page then tries to read it itself.
    pub foreign: bool,
    /// Whether the object asked for has been closed: it must be opened again then.
    pub gone: bool,
}

impl<E: Display> From<E> for AskRefusal {
    fn from(error: E) -> Self {
        Self { error: error.to_string(), ..Self::default() }
    }
}
