//! [`Hall`](crate::Hall) over the wire: JSON over HTTP below [`ROOT`], with a worker's token. `docs/workers.md`
//! describes it in words.
//!
//! A process asks what is played (`GET /work/v1`), introduces itself (`hello`), and from then on identifies itself in
//! each call by `?run=`. Not everything sent is JSON: a build's log is sent as it is, and each result as a line of JSON
//! followed by the replay.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tempfile::SpooledTempFile;

use agon_contest::Observed;

use crate::protocol::{BotSource, ContestTerms, Job, Nothing, Posted, Private, Try};

/// The path above all calls.
pub const ROOT: &str = "/work/v1";

/// The longest name of a process or of a request, in bytes.
pub const LONGEST_NAME: usize = 80;
/// Upper limit on the matches of a lease.
pub const MOST_LEASED: usize = 32;
/// Upper limit on the bytes of one post: replays, and what belongs to each seat.
pub const LARGEST_RESULT: u64 = 20 << 20;
/// Upper limit on the bytes that are held in memory while the rest arrives.
const LARGEST_HELD: usize = 128 << 10;
/// How many posts of one worker may be under way. An honest one sends one at a time; the others are those whose connection broke
/// before the server noticed.
pub const MOST_POSTS: u32 = 4;
/// Upper limit on the results of one post.
pub const MOST_RESULTS: usize = 32;
/// Longest wait for work, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = 20_000;
/// Largest program to play, in bytes.
pub const LARGEST_SOURCE: u64 = crate::pack::MOST_PACKED * 2;

/// The title of a refusal (409): the organiser has changed what bots run in, or what a machine must be like. Whoever goes on asks what is
/// played ([`SeriesWelcome`]) and introduces itself again.
pub const OTHER_CONDITIONS: &str = "The conditions have changed";
/// The title of another: results were not played in the contest's image. They are played again.
pub const OTHER_IMAGE: &str = "Another image is wanted";

/// What is played, and what a machine needs for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesWelcome {
    /// The version of the program that runs the contest: a worker must have the same.
    pub program: String,
    /// The contest's title.
    pub title: String,
    /// The worker's name.
    pub worker: String,
    /// What decides results; none in a fleet, where each series has its own ([`Playing`]).
    pub terms: Option<ContestTerms>,
    /// Whether its organiser trusts all bots: a machine without a sandbox may play them, if its owner trusts them as
    /// well.
    pub trusts_bots: bool,
    /// Folders with packages that all bots find, by their last path component.
    pub packages: Vec<String>,
    /// The memory of each bot, in bytes; none: the usual.
    pub memory: Option<u64>,
    /// The image, by its hash, that bots run in; none: each machine makes its own.
    pub image: Option<String>,
    /// How often a lease is renewed, in milliseconds.
    pub beat_ms: u64,
}

/// A process's introduction, after it has attacked its own walls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Distinguishes this process from all others.
    pub run: String,
    pub program: String,
    pub machine: PlayingMachine,
}

/// A machine that plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayingMachine {
    /// How well bots are held: a level of the sandbox, or `not confined`.
    pub level: String,
    /// How many attacks on its walls were held off; none if there are no walls.
    pub attacks: Option<u32>,
    /// How often per second one of its CPUs does the fixed piece of work ([`crate::speed`]).
    pub speed: f64,
    /// Number of CPUs.
    pub cpus: u32,
    /// Matches it plays at the same time.
    pub jobs: u32,
    pub kernel: String,
    /// Folders with packages that all bots find, by their last path component.
    pub packages: Vec<String>,
    /// Compilers and interpreters, by their commands.
    pub languages: Vec<String>,
}

/// The answer to [`Hello`], if the machine is fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// The name of the worker.
    pub worker: String,
}

/// In a fleet: the series that the machine plays until told otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Playing {
    /// The series; none if there is none.
    pub series: Option<FleetSeries>,
}

/// A series played on machines of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSeries {
    pub id: i64,
    /// Its title: its bots.
    pub title: String,
    /// What decides results.
    pub terms: ContestTerms,
}

/// A request for matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRequest {
    /// The name of this request: the same name gets the same answer.
    pub request: String,
    /// Maximum number of matches.
    pub most: usize,
    /// How long the answer may wait if there is nothing to play, in milliseconds: up to [`LONGEST_WAIT_MS`].
    #[serde(default)]
    pub wait_ms: u64,
}

/// Renews a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    pub lease: i64,
    /// Its matches in play, with their steps so far.
    pub playing: Vec<(Try, u32)>,
}

/// Upper limit on the sources of one [`Unpacked`]: each has 67 bytes in JSON, and a request that is no result has 64 KiB.
pub const MOST_UNPACKED: usize = 900;

/// Sources that a worker has unpacked; the answer lists those that belong to nobody any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unpacked {
    pub sources: Vec<String>,
}

/// A match that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voided {
    pub attempt: Try,
    /// Why.
    pub nothing: Nothing,
}

/// A lease that is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Back {
    pub lease: i64,
}

/// Whether what was asked about is still the worker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Yours {
    pub yours: bool,
}

/// The fate of results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedAll {
    /// What became of each, in order.
    pub posted: Vec<Posted>,
}

/// The line before a replay, when several follow each other.
#[derive(Serialize, Deserialize)]
struct Line<R> {
    /// Length of the replay in bytes.
    bytes: usize,
    /// The result itself.
    result: R,
}

/// The line before a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PostedResult {
    pub attempt: Try,
    /// What was observed ([`Whole`](crate::Whole)).
    pub observed: Observed,
    /// For each seat, what belongs to its author.
    pub own: Vec<Option<Private>>,
}

/// JSON documents, each followed by bytes, for sending several at once. Each is a line that contains the number of its
/// bytes, then the bytes.
///
/// # Errors
/// When a number in one of them cannot be written as JSON.
pub fn framed<'a, R: Serialize + 'a>(
    all: impl Iterator<Item = (&'a R, &'a [u8])>,
) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (result, replay) in all {
        serde_json::to_writer(&mut bytes, &Line { bytes: replay.len(), result })?;
        bytes.push(b'\n');
        bytes.extend_from_slice(replay);
    }
    Ok(bytes)
}

/// Parses what [`framed`] wrote: at least one document, at most `most`.
///
/// # Errors
/// What is wrong with it; none of them is used then.
pub fn unframed<R: DeserializeOwned>(mut bytes: &[u8], most: usize) -> Result<Vec<(R, &[u8])>, String> {
    let mut all = Vec::new();
    loop {
        let number = all.len() + 1;
        if number > most {
            return Err(format!("more than {most} results came at once"));
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let end = end.ok_or_else(|| format!("result {number}: no line of JSON"))?;
        let line: Line<R> =
            serde_json::from_slice(&bytes[..end]).map_err(|error| format!("result {number}: {error}"))?;
        let rest = &bytes[end + 1..];
        let replay = rest.get(..line.bytes).ok_or_else(|| {
            format!("result {number}: its replay has {} bytes, but {} arrived", line.bytes, rest.len())
        })?;
        all.push((line.result, replay));
        bytes = &rest[line.bytes..];
        if bytes.is_empty() {
            return Ok(all);
        }
    }
}

impl PostedResult {
    /// Several results in the form in which they are sent together ([`framed`]).
    ///
    /// # Errors
    /// When a number in one of them cannot be written as JSON.
    pub fn with_all<'a>(all: impl Iterator<Item = (&'a Self, &'a [u8])>) -> serde_json::Result<Vec<u8>> {
        framed(all)
    }

    /// Parses results sent together: at least one, at most [`MOST_RESULTS`].
    ///
    /// # Errors
    /// What is wrong with it; none of them is used then.
    pub fn read_all(bytes: &[u8]) -> Result<Vec<(Self, &[u8])>, String> {
        unframed(bytes, MOST_RESULTS)
    }
}

/// Something large that is arriving: in memory while it is small, then on disk, so that slow ones cost next to nothing. Its file
/// has no name, so that nothing of it is left, whatever happens.
pub struct Arriving {
    file: SpooledTempFile,
    size: u64,
    most: u64,
}

impl Arriving {
    /// Nothing yet, of at most this many bytes; what becomes large goes to the disk of this folder.
    pub fn new(folder: &Path, most: u64) -> Self {
        Self { file: tempfile::spooled_tempfile_in(LARGEST_HELD, folder), size: 0, most }
    }

    /// Adds a piece; false if that would be too much.
    ///
    /// # Errors
    /// Disk errors.
    pub fn add(&mut self, piece: &[u8]) -> io::Result<bool> {
        self.size += piece.len() as u64;
        if self.size > self.most {
            return Ok(false);
        }
        self.file.write_all(piece)?;
        Ok(true)
    }

    /// All of it, in memory: for few at once.
    ///
    /// # Errors
    /// Disk errors.
    pub fn whole(mut self) -> io::Result<Vec<u8>> {
        self.file.rewind()?;
        let mut bytes = Vec::with_capacity(usize::try_from(self.size).unwrap_or(0));
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Checks that this can be the name of a process or a request.
///
/// # Errors
/// The form of a name.
pub fn check_name(name: &str) -> Result<(), String> {
    let good = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
    if good {
        Ok(())
    } else {
        Err(format!("A name has 1 to {LONGEST_NAME} ASCII characters, without blanks."))
    }
}

/// Checks that a server may ask for this match: it names only objects and built-in bots, nothing that a machine would
/// run as its owner's.
///
/// # Errors
/// What it asks for instead.
pub fn check(job: &Job) -> Result<(), String> {
    for seat in &job.seats {
        let good = match &seat.program {
            BotSource::Builtin(name) => name.starts_with("builtin:"),
            BotSource::Source(sha) => {
                sha.len() == 64 && sha.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            }
        };
        if !good {
            let named: String =
                seat.program.hash().chars().filter(|sign| !sign.is_control()).take(80).collect();
            return Err(format!(
                "it asks for `{named}`, which is neither a built-in bot nor one that was submitted"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use agon_contest::FaultsTold;

    use super::*;
    use crate::protocol::Sitting;

    #[test]
    fn results_sent_at_once_are_read_as_they_were_and_else_none_of_them() {
        let observed = Observed {
            faults: FaultsTold::Public(vec![None]),
            max_ms: vec![0.1],
            wall_us: 7,
            level: "A".into(),
            ..Observed::default()
        };
        let result =
            |game| PostedResult { attempt: Try { game, n: 1 }, observed: observed.clone(), own: vec![None] };
        let all: Vec<(PostedResult, Vec<u8>)> =
            (0..MOST_RESULTS).map(|n| (result(n as i64), b"a\n{}".repeat(n))).collect();
        let send = |all: &[(PostedResult, Vec<u8>)]| {
            PostedResult::with_all(all.iter().map(|(result, replay)| (result, &replay[..])))
                .expect("plain data")
        };
        for count in [1, 2, MOST_RESULTS] {
            let sent = send(&all[..count]);
            let read = PostedResult::read_all(&sent).expect("as it was sent");
            let read: Vec<_> = read.into_iter().map(|(result, replay)| (result, replay.to_vec())).collect();
            assert_eq!(read, all[..count]);
        }
        let wrong = |bytes: &[u8], why: &str| {
            let error = PostedResult::read_all(bytes).expect_err("not read");
            assert!(error.contains(why), "{error}");
        };
        let two = send(&all[3..5]);
        wrong(b"", "no line");
        wrong(&two[..two.len() - 1], "result 2: its replay has");
        wrong(&[&two[..], b"x"].concat(), "result 3: no line");
        wrong(&[&send(&all)[..], &two].concat(), "more than 32");
        wrong(b"{\"bytes\":-1,\"result\":{}}\n", "result 1");
        wrong(b"{\"bytes\":18446744073709551615,\"result\":{}}\n", "result 1");
        let huge = String::from_utf8(send(&all[..1]))
            .expect("text")
            .replace("\"bytes\":0", "\"bytes\":18446744073709551615");
        wrong(huge.as_bytes(), "but 0 arrived");
    }

    #[test]
    fn a_post_that_arrives_in_pieces_is_the_same_whatever_its_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let piece: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).take(100_000).collect();
        for pieces in [0, 1, 2, 7] {
            let mut arriving = Arriving::new(folder.path(), 1_000_000);
            for _ in 0..pieces {
                assert!(arriving.add(&piece).expect("room"));
            }
            assert_eq!(arriving.whole().expect("there"), piece.repeat(pieces));
        }
        let mut arriving = Arriving::new(folder.path(), 1_000_000);
        assert!((0..10).all(|_| arriving.add(&piece).expect("room")));
        assert!(!arriving.add(&piece).expect("not written"), "that would be too large");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "it has no name");
    }

    #[test]
    fn a_server_names_no_program_of_the_machine() {
        let job = |program| {
            let seats = vec![Sitting { label: "x".into(), program }];
            Job {
                attempt: Try { game: 1, n: 1 },
                map: 0,
                seed: 0,
                seats,
                tried: None,
                disturbed: Vec::new(),
                positions: Vec::new(),
            }
        };
        assert_eq!(check(&job(BotSource::Builtin("builtin:greedy".into()))), Ok(()));
        assert_eq!(check(&job(BotSource::Source("0a".repeat(32)))), Ok(()));
        for wrong in ["rm -r ~", "./bot", "", "builtin"] {
            assert!(check(&job(BotSource::Builtin(wrong.into()))).is_err(), "{wrong}");
        }
        for wrong in ["../../home", "0A", &"0A".repeat(32), &format!("{}/", "0a".repeat(32))] {
            assert!(check(&job(BotSource::Source(wrong.to_owned()))).is_err(), "{wrong}");
        }
    }
}
