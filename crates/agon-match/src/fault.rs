//! What a bot did wrong as a program.

use agon_game::Seat;
use serde::Serialize;

/// One fault of one seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Whose.
    #[serde(serialize_with = "seat_number")]
    pub seat: Seat,
    /// The step, from 0, as in the replay.
    pub step: u32,
    /// The same place in the game's words: `turn 12`.
    pub turn: String,
    /// What kind.
    pub kind: FaultKind,
    /// The rule that says so, where it is a rule's matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// What happened, what was expected and the likely cause, for the bot's author.
    pub message: String,
}

fn seat_number<S: serde::Serializer>(seat: &Seat, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(seat.number())
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// No whole answer within the limit.
    Timeout,
    /// It ended, or closed its output.
    Crash,
    /// It could not be started.
    NeverStarted,
    /// An answer in a form that cannot be an answer.
    Malformed,
    /// An order that the rules do not allow.
    Rejected,
    /// Output that is no answer.
    Stray,
    /// More output than is allowed.
    Flood,
    /// It does not read what it is sent.
    Deaf,
    /// It took more memory or processes than a bot may.
    Resources,
    /// It computed in its opponent's time.
    Pondering,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Timeout,
        Self::Crash,
        Self::NeverStarted,
        Self::Malformed,
        Self::Rejected,
        Self::Stray,
        Self::Flood,
        Self::Deaf,
        Self::Resources,
        Self::Pondering,
    ];

    /// Whether this is a fault of the program; a rejected order is only a bad move.
    pub fn is_programs(self) -> bool {
        self != Self::Rejected
    }

    /// Whether no answer, or none that can be played, came by it.
    pub fn breaks(self) -> bool {
        !matches!(self, Self::Rejected | Self::Stray | Self::Pondering)
    }

    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::NeverStarted => "never started",
            Self::Malformed => "malformed answer",
            Self::Rejected => "rejected order",
            Self::Stray => "stray output",
            Self::Flood => "too much output",
            Self::Deaf => "input not read",
            Self::Resources => "too much memory or processes",
            Self::Pondering => "computed in the opponent's time",
        }
    }
}
