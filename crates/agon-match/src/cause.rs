//! Causes of faults, as sentences for the bot's author. `docs/faults.md` lists them all.

use std::fmt;
use std::time::Duration;

use agon_bot::{Excess, ProcessLimits, ProgramEnd, advice, advised};

use crate::FaultKind;

/// The cause of a fault found by the referee. (Malformed answers and stray output are described by
/// the game's dialect, rejected orders by its rules.)
#[derive(Clone, Debug, PartialEq)]
pub enum FaultCause {
    /// No whole answer came in time.
    Late {
        limit: Duration,
        /// What delayed it.
        why: Lateness,
    },
    /// No whole answer came within what was left of its time for the match; its program is ended.
    OutOfTime {
        /// The time charged to it in this match.
        used: Duration,
        /// Its total time.
        total: Duration,
        /// What delayed it.
        why: Lateness,
    },
    /// It ended, or closed its output.
    Gone {
        /// How it ended, or that it still runs.
        ending: ProgramEnd,
        /// Whether its last line was unfinished.
        unfinished: bool,
        /// The last line it wrote on standard error; empty for none.
        last_words: String,
        /// What its author can do, if its last words are recognised.
        advice: Option<String>,
    },
    /// It could not be started.
    NotStarted(String),
    /// One message was too long.
    LongMessage(String),
    /// Too many messages that are no answer.
    ManyMessages(u32),
    /// An answer with too many parts.
    ManyParts,
    /// The game's protocol requires closing the connection because of what it sent.
    Closed(String),
    /// It does not read.
    Deaf,
    /// It took more of this machine than a bot may.
    Greedy(Excess, ProcessLimits),
    /// How often an answer was there before its question.
    Unasked(u32),
    /// It computed while its opponent was to move.
    Pondered {
        /// CPU time used meanwhile.
        used: Duration,
        /// CPU time of its own turns until then.
        own: Duration,
    },
    /// It kept others from playing; the observation.
    Disturbed(String),
}

/// What delayed an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Lateness {
    /// It had not read the whole question.
    NotRead,
    /// This came, without a line end.
    NoLineEnd(String),
    /// It has ended, though something still holds its output open.
    Ended(ProgramEnd),
    /// It was stopped by a signal that was not ours.
    StoppedItself,
    /// This many parts of an answer came, but not the last one.
    Unfinished(u32),
    /// This many messages came, none of them an answer.
    NoAnswer(u32),
    /// It had used this much CPU time in others' turns, which counts.
    Pondered(Duration),
    /// Nothing ever came.
    Silent,
    /// It had answered before.
    Slow,
}

impl FaultCause {
    pub fn kind(&self) -> FaultKind {
        match self {
            Self::Late { .. } | Self::OutOfTime { .. } => FaultKind::Timeout,
            Self::Gone { .. } => FaultKind::Crash,
            Self::NotStarted(_) => FaultKind::NeverStarted,
            Self::LongMessage(_) | Self::ManyMessages(_) | Self::ManyParts => FaultKind::Flood,
            Self::Closed(_) => FaultKind::Malformed,
            Self::Deaf => FaultKind::Deaf,
            Self::Unasked(_) => FaultKind::Stray,
            Self::Greedy(..) => FaultKind::Resources,
            Self::Pondered { .. } => FaultKind::Pondering,
            Self::Disturbed(_) => FaultKind::Disturbing,
        }
    }

    /// What its author can do, if the bot's output says it.
    pub fn advice(&self) -> Option<&str> {
        match self {
            Self::Gone { advice, .. } => advice.as_deref(),
            _ => None,
        }
    }

    /// One of each, for the documentation.
    pub fn examples() -> Vec<Self> {
        let late = |why| Self::Late { limit: Duration::from_millis(50), why };
        let gone = |ending, unfinished, last_words: &str| Self::Gone {
            ending,
            unfinished,
            last_words: last_words.to_owned(),
            advice: advice::of_end(last_words.as_bytes(), ending, false),
        };
        vec![
            late(Lateness::Silent),
            late(Lateness::Slow),
            late(Lateness::NoLineEnd("WAIT".to_owned())),
            late(Lateness::Unfinished(1)),
            late(Lateness::NoAnswer(3)),
            late(Lateness::NotRead),
            late(Lateness::StoppedItself),
            late(Lateness::Ended(ProgramEnd::Code(0))),
            late(Lateness::Pondered(Duration::from_micros(31_400))),
            Self::OutOfTime {
                used: Duration::from_secs(60),
                total: Duration::from_secs(60),
                why: Lateness::Slow,
            },
            gone(ProgramEnd::Code(1), false, "IndexError: list index out of range"),
            gone(ProgramEnd::Code(1), false, "ModuleNotFoundError: No module named 'numpy'"),
            gone(ProgramEnd::Code(127), false, "env: 'python3\\r': No such file or directory"),
            gone(ProgramEnd::Code(0), true, ""),
            gone(ProgramEnd::Signal(11), false, ""),
            gone(ProgramEnd::Signal(9), false, ""),
            gone(ProgramEnd::Runs, false, ""),
            Self::NotStarted(format!(
                "cannot start `bot`: it may not be executed; {}",
                advised::Advised::MakeExecutable("bot".to_owned())
            )),
            Self::NotStarted("nobody connected to ws://127.0.0.1:8765 within 500 s".to_owned()),
            Self::NotStarted(
                "did not connect to ws://127.0.0.1:8765 within 30 s. A bot that reads and writes lines instead says so in its \
                 agon.toml (dialect = \"lines\"), or is named lines:COMMAND"
                    .to_owned(),
            ),
            Self::NotStarted(
                "it ended with exit code 1 before it had connected to ws://127.0.0.1:8765; it last wrote: `ModuleNotFoundError: \
                 No module named 'websockets'`; install it: python3 -m pip install --target . websockets, in the bot's \
                 folder, where your own modules belong, too"
                    .to_owned(),
            ),
            Self::LongMessage("a line longer than 10000 bytes".to_owned()),
            Self::LongMessage("a message of 2000000 bytes; at most 1048576 are allowed".to_owned()),
            Self::Closed("the message is JSON but not an object".to_owned()),
            Self::Closed("it sent a text that is not UTF-8".to_owned()),
            Self::ManyMessages(1_000),
            Self::ManyParts,
            Self::Deaf,
            Self::Greedy(Excess::Memory(5 << 30), ProcessLimits { memory: 4 << 30, processes: 512 }),
            Self::Greedy(Excess::Processes(513), ProcessLimits { memory: 4 << 30, processes: 512 }),
            Self::Greedy(Excess::OutOfMemory(256 << 20), ProcessLimits { memory: 256 << 20, processes: 64 }),
            Self::Greedy(Excess::NoMoreProcesses(64), ProcessLimits { memory: 256 << 20, processes: 64 }),
            Self::Greedy(Excess::DiskFull(64 << 20), ProcessLimits { memory: 256 << 20, processes: 64 }),
            Self::Unasked(12),
            Self::Pondered { used: Duration::from_micros(12_300), own: Duration::from_micros(20_100) },
            Self::Disturbed("at turn 12 a signal of seat 2 stopped seat 1".to_owned()),
        ]
    }
}

impl fmt::Display for FaultCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late { limit, why } => {
                write!(f, "no complete answer within {} ms: {why}", limit.as_millis())
            }
            Self::OutOfTime { used, total, why } => write!(
                f,
                "used {:.1} s of {} s in all, and has no time left for this match: {why}",
                used.as_secs_f64(),
                total.as_secs_f64()
            ),
            Self::Gone { ending, unfinished, last_words, advice } => {
                match ending {
                    ProgramEnd::Runs => f.write_str("closed its output while an answer was expected")?,
                    ProgramEnd::Code(code) => {
                        write!(f, "exited while an answer was expected, with exit code {code}")?;
                    }
                    ProgramEnd::Signal(_) => write!(f, "{ending} while an answer was expected")?,
                }
                if *unfinished {
                    f.write_str("; its last line was not finished")?;
                }
                if !last_words.is_empty() {
                    write!(f, "; on stderr: `{last_words}`")?;
                }
                advice.iter().try_for_each(|advice| write!(f, "; {advice}"))
            }
            Self::NotStarted(why) => f.write_str(why),
            Self::Closed(why) => write!(f, "{why}; its connection is closed"),
            Self::LongMessage(what) => write!(f, "sent {what}"),
            Self::ManyMessages(most) => {
                write!(f, "sent more than {most} messages that are not answers in one turn")
            }
            Self::ManyParts => f.write_str("sent an answer that does not come to an end"),
            Self::Deaf => {
                f.write_str("has more than 8 MiB of unread input; it does not read what it is sent")
            }
            Self::Greedy(Excess::Memory(used), limits) => {
                write!(f, "used {} MiB of memory; a bot may use {} MiB", used >> 20, limits.memory >> 20)
            }
            Self::Greedy(Excess::Processes(count), limits) => {
                write!(f, "ran {count} processes at once; a bot may run {}", limits.processes)
            }
            Self::Greedy(Excess::OutOfMemory(most), _) => write!(
                f,
                "out of memory, {} MB: all its processes and its files in /tmp may use that much together in the sandbox",
                most >> 20
            ),
            Self::Greedy(Excess::NoMoreProcesses(most), _) => {
                write!(
                    f,
                    "out of processes, {most}: that many processes and threads may run at once in the sandbox"
                )
            }
            Self::Greedy(Excess::DiskFull(most), _) => {
                write!(
                    f,
                    "out of disk, {} MB: it may write that much, in a limited number of files, in the sandbox",
                    most >> 20
                )
            }
            Self::Unasked(times) => write!(
                f,
                "in {times} {} the answer arrived before the question: it came too late for an earlier question, or the bot \
                 sends more than one answer to each",
                if *times == 1 { "turn" } else { "turns" }
            ),
            Self::Pondered { used, own } => write!(
                f,
                "used {:.1} ms of CPU while its opponent was to move, and {:.1} ms in its own turns; from now on it is stopped \
                 between its turns (--ponder allow lets it)",
                used.as_secs_f64() * 1e3,
                own.as_secs_f64() * 1e3
            ),
            Self::Disturbed(what) => write!(
                f,
                "kept others from playing and is removed: this is the third match that it disturbed: {what}"
            ),
        }
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRead => f.write_str("it did not read its input to the end"),
            Self::NoLineEnd(sent) => {
                write!(f, "it sent `{sent}` without a line end; end every answer with a newline")
            }
            Self::Ended(ending) => {
                write!(f, "{ending}, but another process holds its output open")
            }
            Self::StoppedItself => f.write_str("it is stopped by a signal (SIGSTOP, SIGTSTP or SIGTTIN)"),
            Self::Unfinished(parts) => {
                let came = if *parts == 1 { "line came" } else { "lines came" };
                write!(f, "{parts} {came}, and an answer has more")
            }
            Self::NoAnswer(count) => {
                let came = if *count == 1 { "message that is not an answer" } else { "messages that are not answers" };
                write!(f, "only {count} {came}")
            }
            Self::Pondered(used) => write!(
                f,
                "it had used {:.1} ms of CPU in its opponent's turn, which count as its own",
                used.as_secs_f64() * 1e3
            ),
            Self::Silent => f.write_str(
                "no output at all; check that output is flushed after each answer (Python: flush=True, C++: std::endl, Java: \
                 System.out.flush()) and that all input is read",
            ),
            Self::Slow => f.write_str("it computed too long, or did not flush its output"),
        }
    }
}
