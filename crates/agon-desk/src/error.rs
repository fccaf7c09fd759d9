//! Why something was not done.

use agon_game::SetupError;
use agon_match::SeatError;
use thiserror::Error;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeskError {
    /// What was asked for is impossible: why, and what to do.
    #[error("{0}")]
    Impossible(String),
    /// A file that was named is not there.
    #[error("{0}")]
    Missing(String),
    /// A bot cannot be started.
    #[error("{0}")]
    Bot(String),
    /// A failure of ours or of the machine.
    #[error("{0}")]
    Own(String),
    /// Whoever asked for it stopped it.
    #[error("it was stopped")]
    Stopped,
}

impl From<SetupError> for DeskError {
    fn from(error: SetupError) -> Self {
        Self::Impossible(error.to_string())
    }
}

impl From<SeatError> for DeskError {
    fn from(error: SeatError) -> Self {
        match error {
            SeatError::Name(why) => Self::Bot(why),
            SeatError::Machine(why) => Self::Own(why),
        }
    }
}

impl From<std::io::Error> for DeskError {
    fn from(error: std::io::Error) -> Self {
        Self::Own(error.to_string())
    }
}
