//! A record of what programs in sandboxes call: the filter puts the calls to the init, which notes each kind once and
//! gives the answer that the filter would have given.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use libc::{c_long, sock_filter};
use serde::{Deserialize, Serialize};

use crate::{calls, filter};

/// The variable by which a test has all calls recorded, in the file that it names.
const VARIABLE: &str = "AGON_SANDBOX_CALLS";
/// How many kinds of calls of a sandbox are noted: a program must not fill a disk with them.
const MOST: usize = 4096;
/// Calls that mean something else for each value of an argument, and which argument that is.
const FACES: [(c_long, usize); 9] = [
    (libc::SYS_socket, 0),
    (libc::SYS_socketpair, 0),
    (libc::SYS_ioctl, 1),
    (libc::SYS_fcntl, 1),
    (libc::SYS_prctl, 0),
    (libc::SYS_clone, 0),
    (libc::SYS_madvise, 2),
    (libc::SYS_setsockopt, 2),
    (libc::SYS_personality, 0),
];

/// Where calls are recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The file to which a line is added for each kind of call of each sandbox.
    pub file: PathBuf,
    /// Calls that are allowed as well. This makes programs slow.
    pub all: bool,
}

/// Refused calls that C libraries and runtimes make on their way, and do well without.
const USUAL: [&str; 4] = ["clone3", "set_mempolicy", "mbind", "sched_setaffinity"];

static RECORD: Mutex<Option<CallRecord>> = Mutex::new(None);

/// From now on the sandboxes of this process record their calls, or do no longer.
pub fn record_calls(record: Option<CallRecord>) {
    *RECORD.lock().unwrap_or_else(PoisonError::into_inner) = record;
}

/// Where the calls of a new sandbox are recorded, if they are.
pub(crate) fn wanted() -> Option<CallRecord> {
    let told = RECORD.lock().unwrap_or_else(PoisonError::into_inner).clone();
    told.or_else(|| Some(CallRecord { file: std::env::var_os(VARIABLE)?.into(), all: true }))
}

impl CallRecord {
    pub(crate) fn open(&self) -> io::Result<File> {
        File::options().append(true).create(true).open(&self.file)
    }
}

/// A kind of call that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordedCall {
    /// The call's name, or its number if no list has it.
    pub name: String,
    /// For a call with many meanings, the value that says which; otherwise 0.
    pub face: u32,
    /// The error it was refused with; none if it was allowed. Of 0 nothing was done, and success reported.
    pub refused: Option<u32>,
    /// Why it is refused, if it always is.
    pub why: Option<&'static str>,
}

impl RecordedCall {
    /// Whether it was allowed, or refused as runtimes expect: they try, and do as well without. The record of
    /// `cargo xtask long calls` says which these are.
    pub fn is_usual(&self) -> bool {
        // A face that the kernel's answer to an unknown one was given for, or success.
        let quiet = [0, libc::ENOTTY as u32, libc::EINVAL as u32, libc::EAFNOSUPPORT as u32];
        self.refused.is_none_or(|errno| quiet.contains(&errno)) || USUAL.contains(&&*self.name)
    }
}

impl fmt::Display for RecordedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            Some(why) => write!(f, "`{}` ({why})", self.name),
            None => write!(f, "`{}` with {:#x}", self.name, self.face),
        }
    }
}

/// What a record holds, each kind once.
pub fn recorded(text: &str) -> BTreeSet<RecordedCall> {
    let call = |line: &str| {
        let mut words = line.split(' ');
        let (number, face, refused) =
            (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?);
        let known = calls::known(number);
        let name = known.map_or_else(|| format!("call {number}"), |(name, _)| name.to_owned());
        let why = known.map_or(Some("no list has it: it is newer than this program"), |(_, why)| why);
        Some(RecordedCall { name, face, refused: refused.parse().ok(), why })
    };
    text.lines().filter_map(call).collect()
}

/// What notes the calls of one sandbox.
pub(crate) struct CallRecorder {
    /// The filter that would have answered.
    program: Vec<sock_filter>,
    file: File,
    seen: Mutex<BTreeSet<(i32, u32)>>,
}

impl CallRecorder {
    pub fn new(program: Vec<sock_filter>, file: File) -> Self {
        Self { program, file, seen: Mutex::default() }
    }

    /// Notes a call, in the kernel's words (`seccomp_data`), and returns the filter's outcome for it.
    pub fn note(&self, data: &[u8; 64]) -> u32 {
        let outcome = filter::outcome(&self.program, data);
        let word = |at: usize| u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        let call = word(0) as i32;
        let place = FACES.iter().find(|(of, _)| *of == c_long::from(call)).map(|(_, place)| 16 + 8 * place);
        let face = place.map_or(0, word);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MOST && seen.insert((call, face)) {
            let refused = filter::refusal(outcome).map_or_else(|| "-".to_owned(), |errno| errno.to_string());
            // One write, so that sandboxes can share a file.
            let _ = (&self.file).write_all(format!("{call} {face} {refused}\n").as_bytes());
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_calls_and_says_why() {
        let text = format!("{} 0 38\n{} 21505 -\n999 0 38\nnonsense\n", libc::SYS_io_setup, libc::SYS_ioctl);
        let found: Vec<_> = recorded(&text).into_iter().collect();
        let short: Vec<_> = found.iter().map(|call| (&*call.name, call.face, call.refused)).collect();
        assert_eq!(short, [("call 999", 0, Some(38)), ("io_setup", 0, Some(38)), ("ioctl", 21505, None)]);
        assert!(found[1].why.is_some_and(|why| why.contains("fixed number")), "{found:?}");
        assert_eq!(found[2].why, None);
        assert_eq!(found.iter().map(RecordedCall::is_usual).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(found[0].to_string(), "`call 999` (no list has it: it is newer than this program)");
    }
}
