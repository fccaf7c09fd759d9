//! A running attack: what it reports, and who won.

use std::io::{PipeReader, Read as _};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use crate::suite::{AFTERLIFE, CONTROL_PATIENCE, PATIENCE};
use crate::{Exit, Sandbox};

/// Reading stops here: no attack has that much to report.
const MOST_WORDS: usize = 64 << 10;

/// The result of running an attack.
pub struct Came {
    /// Whether it won; none if this machine lacks what it needs.
    pub won: Option<bool>,
    /// What happened, in words.
    pub got: String,
}

/// A running attack.
pub(crate) struct Course {
    pub sandbox: Sandbox,
    /// Its standard output.
    pub output: PipeReader,
    /// Its standard error.
    pub errors: PipeReader,
    /// Its output read so far.
    pub words: Vec<u8>,
    /// How it ended, once it has.
    pub exit: Option<Exit>,
}

impl Course {
    /// Reads until `lines` lines have come, the program has ended, or time is up.
    pub fn listen(&mut self, lines: usize, patience: Duration) {
        let until = Instant::now() + patience;
        let mut open = true;
        while Instant::now() < until && self.words.len() < MOST_WORDS {
            let ended = self.exit.is_some() || self.sandbox.is_over();
            if open && ready(&self.output, if ended { 0 } else { 20 }) {
                let mut bytes = [0; 4096];
                let count = self.output.read(&mut bytes).unwrap_or(0);
                open = count > 0;
                self.words.extend(&bytes[..count]);
            } else if ended {
                return;
            } else if !open {
                std::thread::sleep(Duration::from_millis(1));
            }
            if self.words.iter().filter(|byte| **byte == b'\n').count() >= lines {
                return;
            }
            if self.exit.is_none() {
                self.exit = self.sandbox.wait(Duration::ZERO);
            }
        }
    }

    /// The winner according to its report.
    pub fn by_word(&mut self) -> Came {
        let text = String::from_utf8_lossy(&self.words).into_owned();
        let line = text.lines().last().unwrap_or_default();
        match line.split_once(' ') {
            Some(("won", got)) => Came { won: Some(true), got: got.to_owned() },
            Some(("held", got)) => Came { won: Some(false), got: short(got) },
            Some(("absent", got)) => Came { won: None, got: short(got) },
            _ => Came { won: Some(false), got: self.silence() },
        }
    }

    /// What became of an attack that reports nothing.
    fn silence(&mut self) -> String {
        let charge = self.sandbox.charge().unwrap_or_default();
        let exit = self.exit.or_else(|| self.sandbox.wait(Duration::from_millis(200)));
        match exit {
            _ if charge.killed > 0 => "killed: out of memory".to_owned(),
            Some(exit) if exit.code > 128 => format!("killed by signal {}", exit.code - 128),
            Some(exit) => format!("ended with {}", exit.code),
            None => "stopped by the clock".to_owned(),
        }
    }

    /// The winner according to the CPU time charged in addition to the program's own, which is seen
    /// in any case.
    pub fn by_charge(&mut self) -> Came {
        let text = String::from_utf8_lossy(&self.words).into_owned();
        let spent = text.trim().strip_prefix("won ").and_then(|words| {
            let (others, own) = words.split_once(' ')?;
            Some((others.parse::<u128>().ok()?, own.parse::<u128>().ok()?))
        });
        let Some((spent, own)) = spent else { return self.by_word() };
        let exit = self.exit.or_else(|| self.sandbox.wait(PATIENCE));
        let charged = match self.sandbox.charge() {
            Some(charge) => charge.cpu.as_millis(),
            None => exit.map_or(0, |exit| exit.cpu.as_millis()),
        };
        let charged = charged.saturating_sub(own);
        let got = format!("{charged} of {spent} ms were charged");
        Came { won: Some(charged * 10 < spent * 8), got }
    }

    /// Reads no more than a referee would; in a control, everything.
    pub fn by_flood(&mut self, inside: bool) -> Came {
        let until = Instant::now() + if inside { AFTERLIFE } else { CONTROL_PATIENCE };
        let (mut count, most) = (0, if inside { 1 << 20 } else { usize::MAX });
        let mut bytes = vec![0; 64 << 10];
        while count < most && Instant::now() < until {
            let any = [ready(&self.output, 1), ready(&self.errors, 1)];
            let before = count;
            if any[0] {
                count += self.output.read(&mut bytes).unwrap_or(0);
            }
            if any[1] {
                count += self.errors.read(&mut bytes).unwrap_or(0);
            }
            if any == [true, true] && before == count {
                break;
            }
        }
        let won = count >= 8 << 20;
        Came { won: Some(won), got: format!("{} of 8 MB were taken", count >> 20) }
    }
}

/// Whether something can be read within this many milliseconds.
fn ready(from: &PipeReader, patience: i64) -> bool {
    let patience = rustix::time::Timespec { tv_sec: patience / 1000, tv_nsec: patience % 1000 * 1_000_000 };
    poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&patience)).is_ok_and(|ready| ready > 0)
}

/// Reads until nobody holds the other end. Returns whether that came in time.
pub fn drain(from: &mut PipeReader, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    let mut bytes = [0; 4096];
    while Instant::now() < until {
        if ready(from, 20) && from.read(&mut bytes).unwrap_or(0) == 0 {
            return true;
        }
    }
    false
}

/// Drops the system's error number, which tells people nothing.
fn short(text: &str) -> String {
    text.split(" (os error").next().unwrap_or(text).to_owned()
}
