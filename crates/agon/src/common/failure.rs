//! Why a command failed: as a sentence with an exit code, and with `--json` as an object with a code.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_desk::DeskError;
use agon_game::SetupError;
use agon_match::SeatError;
use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

use crate::common::screen;

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was checked is not so; the details were already printed. Exit code 1.
    Check,
    /// It was stopped before it was done: by the user, or because its time was over. Exit code 1.
    Stopped,
    /// The user asked for something impossible. Exit code 2.
    Usage(String),
    /// A failure of ours or of the machine. Exit code 3.
    Own(String),
    /// A failure of a kind that programs may want to tell apart. The exit code is that of its kind.
    Told(ErrorCode, String),
    /// The answer of a command to what it was asked, other than yes; it was already printed. Its own exit code.
    Answer(u8),
    /// The reader of our output went away. Exit code 0: `agon ... | head` is no error.
    Unread,
}

/// The kind of a failure, for programs. These words stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(TS))]
pub(crate) enum ErrorCode {
    Usage,
    NotFound,
    Bot,
    Refused,
    Network,
    Damaged,
    Machine,
    Stopped,
}

impl ErrorCode {
    /// The failure of this kind with this sentence.
    pub fn of(self, message: impl Into<String>) -> Failure {
        Failure::Told(self, message.into())
    }

    /// All of them, with what they mean.
    #[cfg(test)]
    pub const MEAN: [(Self, &str); 8] = [
        (Self::Usage, "the command line is wrong, or asks for what is impossible: change it"),
        (Self::NotFound, "what was named is not there: a file, a game, a page, a rule, a match"),
        (Self::Bot, "a bot cannot be read, built or started"),
        (Self::Refused, "a contest refused: the token, a quota, a rule of the contest"),
        (
            Self::Network,
            "a contest cannot be reached, or cannot answer now: try again later, or look at the address",
        ),
        (Self::Damaged, "what agon itself has kept is damaged"),
        (Self::Machine, "agon or this machine failed"),
        (Self::Stopped, "it was stopped before it was done"),
    ];

    /// The exit code.
    pub fn exit(self) -> u8 {
        match self {
            Self::Stopped => 1,
            Self::Usage | Self::NotFound | Self::Bot | Self::Refused => 2,
            Self::Network | Self::Damaged | Self::Machine => 3,
        }
    }
}

/// What a command that failed prints with `--json`, in one line, unless it has printed a result that says the same.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct PrintedError<'a> {
    pub error: ErrorTold<'a>,
}

/// A failure: its kind, and the sentence that is also on standard error.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct ErrorTold<'a> {
    pub code: ErrorCode,
    pub message: &'a str,
}

/// Whether failures are also printed as JSON.
static AS_JSON: AtomicBool = AtomicBool::new(false);
/// Whether a result was printed as JSON that is one document: nothing may follow it.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Prints failures as JSON, too, from now on.
pub fn tell_as_json() {
    AS_JSON.store(true, Ordering::Relaxed);
}

/// Prints a failure as JSON if that is wanted.
pub fn print_error(code: ErrorCode, message: &str) {
    if AS_JSON.load(Ordering::Relaxed) && !PRINTED.load(Ordering::Relaxed) {
        // Whoever went away reads no failure either.
        let _ = print_json_line(&mut io::stdout(), &PrintedError { error: ErrorTold { code, message } });
    }
}

impl Failure {
    /// A wrong usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// A failure of ours or of the machine.
    pub fn own(message: impl Into<String>) -> Self {
        Self::Own(message.into())
    }

    /// A file that the user named cannot be read.
    pub fn of_file(file: &str, error: &io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::NotFound => ErrorCode::NotFound,
            _ => ErrorCode::Usage,
        };
        code.of(format!("{file}: {error}"))
    }

    /// The same failure, and what stands of what was done before it.
    #[must_use]
    pub fn with(self, more: &str) -> Self {
        match self {
            Self::Usage(why) => Self::Usage(why + more),
            Self::Own(why) => Self::Own(why + more),
            Self::Told(code, why) => Self::Told(code, why + more),
            other => other,
        }
    }

    /// Its sentence, if there is one that was not printed yet.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Usage(why) | Self::Own(why) | Self::Told(_, why) => Some(why),
            Self::Check | Self::Stopped | Self::Answer(_) | Self::Unread => None,
        }
    }

    /// Whether the user asked for something impossible: exit code 2.
    pub fn is_the_users(&self) -> bool {
        match self {
            Self::Usage(_) => true,
            Self::Told(code, _) => code.exit() == 2,
            Self::Check | Self::Stopped | Self::Own(_) | Self::Answer(_) | Self::Unread => false,
        }
    }

    /// It as a sentence, where it is no end of a command.
    pub fn sentence(self) -> String {
        self.message().unwrap_or("it was stopped").to_owned()
    }

    /// Its exit code, and its kind if it is a failure and no answer.
    fn ends(&self) -> (u8, Option<ErrorCode>) {
        let code = match self {
            Self::Check => return (1, None),
            Self::Answer(exit) => return (*exit, None),
            Self::Unread => return (0, None),
            Self::Stopped => ErrorCode::Stopped,
            Self::Usage(_) => ErrorCode::Usage,
            Self::Own(_) => ErrorCode::Machine,
            Self::Told(code, _) => *code,
        };
        (code.exit(), Some(code))
    }

    /// Prints it and returns the exit code.
    pub fn report(self) -> ExitCode {
        let (exit, code) = self.ends();
        let message = self.message().map(in_words);
        if let Some(message) = &message {
            // It may quote a file from somebody else.
            let line = format!("{} {}", screen::errors().bad("error:"), screen::harmless_lines(message));
            eprintln!("{}", screen::folded_message(&line));
        }
        if let Some(code) = code {
            // Only what was stopped has no sentence of its own.
            print_error(code, message.as_deref().unwrap_or("it was stopped before it was done"));
        }
        ExitCode::from(exit)
    }
}

/// A message without the numbers that the standard library writes behind the system's words.
fn in_words(message: &str) -> String {
    const NUMBER: &str = " (os error ";
    let plain = message.replace("No such file or directory (os error 2)", "no such file or folder");
    let mut parts = plain.split(NUMBER);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => text + rest,
        _ => text + NUMBER + part,
    })
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<DeskError> for Failure {
    fn from(error: DeskError) -> Self {
        match error {
            DeskError::Impossible(why) => Self::Usage(why),
            DeskError::Missing(why) => Self::Told(ErrorCode::NotFound, why),
            DeskError::Bot(why) => Self::Told(ErrorCode::Bot, why),
            DeskError::Own(why) => Self::Own(why),
            DeskError::Stopped => Self::Stopped,
        }
    }
}

impl From<SeatError> for Failure {
    fn from(error: SeatError) -> Self {
        DeskError::from(error).into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Unread,
            _ => Self::Own(error.to_string()),
        }
    }
}

/// The result of a command.
pub(crate) type Done = Result<(), Failure>;

/// Prints a value as indented JSON: the one result of a command.
pub fn print_json(out: &mut impl Write, value: &impl Serialize) -> Done {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::own(error.to_string()))?;
    PRINTED.store(true, Ordering::Relaxed);
    Ok(writeln!(out, "{}", screen::harmless_json(&text))?)
}

/// Prints a value as JSON in one line.
pub fn print_json_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    writeln!(out, "{}", screen::harmless_json(&serde_json::to_string(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_come_without_numbers() {
        assert_eq!(in_words("x: No such file or directory (os error 2)"), "x: no such file or folder");
        assert_eq!(in_words("Permission denied (os error 13); go on"), "Permission denied; go on");
        assert_eq!(in_words("it wrote (os error of its own)"), "it wrote (os error of its own)");
    }

    #[test]
    fn only_what_was_stopped_is_called_so() {
        assert_eq!(Failure::Check.ends(), (1, None), "it is not so, which its result says");
        assert_eq!(Failure::from(DeskError::Stopped).ends(), (1, Some(ErrorCode::Stopped)));
        assert_eq!(Failure::Answer(12).ends(), (12, None));
        assert_eq!(Failure::own("no room").ends(), (3, Some(ErrorCode::Machine)));
    }
}
