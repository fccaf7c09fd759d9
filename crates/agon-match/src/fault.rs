//! What a bot did wrong as a program.

use agon_game::Seat;
use serde::Serialize;

/// One fault of one seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Fault {
    /// The seat that made it.
    #[serde(serialize_with = "seat_number")]
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub seat: Seat,
    /// The step, from 0, as in the replay.
    pub step: u32,
    /// The same place in the game's words: `turn 12`.
    pub turn: String,
    /// Its kind.
    pub kind: FaultKind,
    /// What happened, what was expected and the likely cause, for the bot's author.
    pub message: String,
    /// The most telling lines of the bot's standard error in this step. Only the first faults of each kind have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
    /// What to do, if the bot's output shows it. The message ends with it too.
    #[serde(skip)]
    pub advice: Option<String>,
}

impl Fault {
    /// Its turn, its kind, and what was wrong.
    pub fn in_a_line(&self) -> String {
        format!("{}: {}: {}", self.turn, self.kind.word(), self.message)
    }

    /// What happened, without the advice.
    pub fn happened(&self) -> &str {
        let advice = self.advice.as_deref().unwrap_or("");
        let told = self.message.strip_suffix(advice).and_then(|told| told.strip_suffix("; "));
        told.filter(|_| !advice.is_empty()).unwrap_or(&self.message)
    }

    /// What to do: the advice from its output, else what helps with faults of its kind.
    pub fn fix(&self) -> Option<&str> {
        self.advice.as_deref().or_else(|| self.kind.change())
    }
}

/// An order that the rules do not allow: a bad move, not a fault of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct RejectedOrder {
    /// The seat that gave it.
    #[serde(serialize_with = "seat_number")]
    #[cfg_attr(feature = "described", ts(type = "number"))]
    pub seat: Seat,
    /// The step, from 0, as in the replay.
    pub step: u32,
    /// The same place in the game's words: `turn 12`.
    pub turn: String,
    /// The rule it breaks.
    pub rule: &'static str,
    /// What is wrong with it.
    pub message: String,
    /// Whether it asked for what is already the case, so that nothing needs fixing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub harmless: bool,
    /// The file and line that the bot named on standard error in this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

fn seat_number<S: serde::Serializer>(seat: &Seat, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(seat.number())
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// No complete answer within the limit.
    Timeout,
    /// It ended, or closed its output.
    Crash,
    /// It could not be started.
    NeverStarted,
    /// An answer in a form that cannot be an answer.
    Malformed,
    /// Output that is not an answer.
    Stray,
    /// More output than is allowed.
    Flood,
    /// It does not read what it is sent.
    Deaf,
    /// It used more memory or processes than a bot may.
    Resources,
    /// It computed in its opponent's time.
    Pondering,
    /// It reported its own failure, as a script does when it throws.
    Exception,
    /// It kept others from playing.
    Disturbing,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Timeout,
        Self::Crash,
        Self::NeverStarted,
        Self::Malformed,
        Self::Stray,
        Self::Flood,
        Self::Deaf,
        Self::Resources,
        Self::Pondering,
        Self::Exception,
        Self::Disturbing,
    ];

    /// Whether the fault means that no answer came, or none that can be played. (An exception may come with an
    /// answer, but not one that its author meant.)
    pub fn breaks(self) -> bool {
        !matches!(self, Self::Stray | Self::Pondering)
    }

    /// What to change, unless the fault's message already says so.
    pub fn change(self) -> Option<&'static str> {
        match self {
            Self::Timeout => Some("answer sooner, flush after every answer, and read all of the input"),
            Self::Crash => {
                Some("start the bot by hand with the same input, and read what it writes to standard error")
            }
            Self::Malformed => {
                Some("print exactly the form the rulebook gives; debug text belongs on standard error")
            }
            Self::Exception => Some(
                "catch it where it is thrown, or fix what it reports; its trace is kept with its standard error",
            ),
            Self::Stray => Some("print one answer for each question; debug text belongs on standard error"),
            Self::Pondering => {
                Some("wait for input without spinning, and stop threads when you have answered")
            }
            _ => None,
        }
    }

    /// The word used in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::NeverStarted => "never started",
            Self::Malformed => "malformed answer",
            Self::Stray => "stray output",
            Self::Flood => "too much output",
            Self::Deaf => "input not read",
            Self::Resources => "too much memory or processes",
            Self::Pondering => "computed in the opponent's time",
            Self::Exception => "exception",
            Self::Disturbing => "disturbed others",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_change_is_said_where_there_is_no_command_line_too() {
        for change in FaultKind::ALL.into_iter().filter_map(FaultKind::change) {
            assert!(
                !change.contains("agon ") && !change.contains(".md"),
                "pages of a site show it: {change}"
            );
        }
    }
}
