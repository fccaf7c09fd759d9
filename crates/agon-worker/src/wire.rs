//! What [`Hall`](crate::Hall) says over a wire: JSON over HTTP below [`ROOT`], with a worker's token. `docs/workers.md` has it in
//! words.
//!
//! A process asks what is played (`GET /work/v1`), introduces itself (`hello`), and from then on names itself in each call by
//! `?run=`. Two things are sent that are no JSON: the log of a build, as it is, and a result, a line of JSON with the replay
//! behind it.

use serde::{Deserialize, Serialize};

use crate::protocol::{Job, Nothing, Posted, Private, Program, Report, Terms, Try};

/// All of it lies below this path.
pub const ROOT: &str = "/work/v1";

/// The longest name of a process or of a request, in bytes.
pub const LONGEST_NAME: usize = 80;
/// A lease has no more matches.
pub const MOST_LEASED: usize = 32;
/// What is posted of a match has no more bytes: a replay, and what belongs to each seat.
pub const LARGEST_RESULT: u64 = 20 << 20;
/// What plays has no more bytes.
pub const LARGEST_SOURCE: u64 = crate::pack::MOST_PACKED * 2;

/// What is played, and what a machine needs for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The program that runs the contest: a worker is of the same version.
    pub program: String,
    /// What the contest is called.
    pub title: String,
    /// What the worker is called.
    pub worker: String,
    /// What decides results.
    pub terms: Terms,
    /// Its organiser trusts all bots: a machine without a sandbox may play them, if its owner does as well.
    pub trusts_bots: bool,
    /// Folders with packages that all bots find, by their last names.
    pub packages: Vec<String>,
    /// A lease is renewed this often, in milliseconds.
    pub beat_ms: u64,
}

/// A process introduces itself, after it has attacked its own walls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// What tells this process from all others.
    pub run: String,
    /// Its program.
    pub program: String,
    /// Its machine.
    pub machine: Machine,
}

/// A machine that plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// How far bots are held back: a level of the sandbox, or `not confined`.
    pub level: String,
    /// The attacks on its walls that were held off; none where there are no walls.
    pub attacks: Option<u32>,
    /// How often in a second one of its CPUs does the fixed piece of work ([`crate::speed`]).
    pub speed: f64,
    /// CPUs.
    pub cpus: u32,
    /// Matches that it plays at once.
    pub jobs: u32,
    /// Its kernel.
    pub kernel: String,
    /// Folders with packages that all bots find, by their last names.
    pub packages: Vec<String>,
    /// Compilers and interpreters, by their commands.
    pub languages: Vec<String>,
}

/// What came of [`Hello`], where the machine is fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// The name of the worker.
    pub worker: String,
}

/// Matches are wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The name of this request: the same gets the same answer.
    pub request: String,
    /// How many at most.
    pub most: usize,
}

/// A lease is renewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// Which.
    pub lease: i64,
    /// The matches of it that are played, with their steps so far.
    pub playing: Vec<(Try, u32)>,
}

/// A match came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voided {
    /// Which try.
    pub attempt: Try,
    /// Why.
    pub nothing: Nothing,
}

/// Something is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Back {
    /// Which lease.
    pub lease: i64,
}

/// Whether what was asked about is still the worker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Yours {
    /// Whether it is.
    pub yours: bool,
}

/// What becomes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// What.
    pub posted: Posted,
}

/// The line before a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Result {
    /// Which try.
    pub attempt: Try,
    /// What was seen of it.
    pub report: Report,
    /// For each seat what belongs to its author.
    pub own: Vec<Option<Private>>,
}

impl Result {
    /// As it is sent: a line, and the replay.
    ///
    /// # Errors
    /// When a figure in it is none that JSON has.
    pub fn with(&self, replay: &[u8]) -> serde_json::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(self)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(replay);
        Ok(bytes)
    }

    /// Reads what was sent.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(bytes: &[u8]) -> std::result::Result<(Self, &[u8]), String> {
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("no replay follows the line of JSON")?;
        let line = serde_json::from_slice(&bytes[..end]).map_err(|error| error.to_string())?;
        Ok((line, &bytes[end + 1..]))
    }
}

/// Whether a server may ask for this match: what it names is an object or a built-in bot, and nothing that a machine would run
/// as its owner's.
///
/// # Errors
/// What it asks for instead.
pub fn check(job: &Job) -> std::result::Result<(), String> {
    for seat in &job.seats {
        let good = match &seat.program {
            Program::Builtin(name) => name.starts_with("builtin:"),
            Program::Source(sha) => {
                sha.len() == 64 && sha.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            }
        };
        if !good {
            let named: String =
                seat.program.hash().chars().filter(|sign| !sign.is_control()).take(80).collect();
            return Err(format!(
                "it asks for `{named}`, which is neither a built-in bot nor something handed in"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Sitting;

    #[test]
    fn a_result_is_read_as_it_was_sent_and_what_is_none_is_refused() {
        let report = Report {
            faults: vec![None, Some("crash".into())],
            max_ms: vec![0.5, 1.0],
            wall_us: 7,
            level: "A".into(),
        };
        let result =
            Result { attempt: Try { game: 3, n: 1 }, report, own: vec![None, Some(Private::default())] };
        let replay = b"bytes\nwith a line".to_vec();
        let sent = result.with(&replay).expect("plain data");
        assert_eq!(Result::read(&sent), Ok((result, &replay[..])));
        for wrong in [&b""[..], b"{}", b"{}\n", b"\n\n", b"[1]\nreplay"] {
            assert!(Result::read(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
        }
    }

    #[test]
    fn a_server_names_no_program_of_the_machine() {
        let job = |program| {
            let seats = vec![Sitting { label: "x".into(), program }];
            Job { attempt: Try { game: 1, n: 1 }, map: 0, seed: 0, seats, tried: None }
        };
        assert_eq!(check(&job(Program::Builtin("builtin:greedy".into()))), Ok(()));
        assert_eq!(check(&job(Program::Source("0a".repeat(32)))), Ok(()));
        for wrong in ["rm -r ~", "./bot", "", "builtin"] {
            assert!(check(&job(Program::Builtin(wrong.into()))).is_err(), "{wrong}");
        }
        for wrong in ["../../home", "0A", &"0A".repeat(32), &format!("{}/", "0a".repeat(32))] {
            assert!(check(&job(Program::Source(wrong.to_owned()))).is_err(), "{wrong}");
        }
    }
}
