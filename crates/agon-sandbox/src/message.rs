//! The messages between the host, the spawner and the init of a sandbox: one per packet, with descriptors.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::confinement::{Confinement, Wall};
use crate::group::Group;
use crate::record::CallRecord;

/// Longest message, in bytes.
const LONGEST: usize = 128 << 10;
/// Maximum number of descriptors with a message.
const MOST: usize = 8;

/// A sandbox to build. Sent with the init's end of its own connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// What it may have.
    pub confinement: Confinement,
    /// What holds it.
    pub walls: BTreeSet<Wall>,
    /// Its users outside: this one for the init, the next for the program. Only root can provide them.
    pub user: Option<u32>,
    pub group: Option<Group>,
    /// The folder used as `/tmp` if there is no root of its own.
    pub home: PathBuf,
    /// The CPUs that build and look after it; all when empty. The program's own CPUs are in its order.
    pub cpus: Vec<usize>,
    /// Where its calls are recorded, if they are.
    pub record: Option<CallRecord>,
}

impl Plan {
    /// Whether this wall is among those that hold it.
    pub fn has(&self, wall: Wall) -> bool {
        self.walls.contains(&wall)
    }
}

/// A host's request to a spawner. Sent with the other end of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// A sandbox, whose init gets the connection.
    Build(Box<Plan>),
    /// A keeper: a spawner that lives in this cgroup and gets the connection.
    Keep(Group),
}

/// The spawner's answer. [`Born::Yes`] is sent with a handle of the process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Born {
    /// It is being built.
    Yes {
        /// The pid of the init or keeper, as seen outside.
        pid: i32,
    },
    /// It could not be started.
    No(StepRefusal),
}

/// What to run. Sent with its input, output and errors.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Order {
    /// The program: a path as seen inside, or a name to find on its `PATH`.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Further variables.
    pub variables: BTreeMap<String, String>,
    /// The CPUs it stays on; all when empty.
    pub cpus: Vec<usize>,
}

/// A report from the init.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// Built, and waiting for an order. Sent with handles of its `/tmp`, of each copied and layered folder, and the listener,
    /// as far as they exist.
    Ready {
        /// Whether the last descriptor is a listener.
        listens: bool,
    },
    /// A step failed; the init ends.
    Refused(StepRefusal),
    /// The program runs.
    Started,
    /// The program has ended; processes it left may still run.
    Ended {
        /// Its exit code, or 128 plus the signal that killed it.
        code: i32,
        /// The signal that killed it.
        signal: Option<i32>,
        /// CPU time of it and of the children it waited for.
        cpu: Duration,
    },
}

/// A step that failed. Nothing runs then: there is no half-built sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("the sandbox could not be built: {step}: {why}")]
pub struct StepRefusal {
    pub step: String,
    /// Why it failed.
    pub why: String,
    /// The system's error number; 0 if there is none.
    pub errno: i32,
}

/// The name of the step that runs the program itself.
const RUNNING: &str = "running";

impl StepRefusal {
    /// The program could not be run, after all other steps had succeeded.
    pub fn running(program: &std::path::Path, error: io::Error) -> Self {
        Self::new(format!("{RUNNING} {}", program.display()), error)
    }

    /// Whether only running the program failed: it does not exist, or cannot be run.
    pub fn is_the_programs(&self) -> bool {
        self.step.strip_prefix(RUNNING).is_some_and(|rest| rest.starts_with(' '))
    }

    /// A step that failed with a system error.
    pub fn new(step: impl Into<String>, error: impl Into<io::Error>) -> Self {
        let error = error.into();
        Self { step: step.into(), why: error.to_string(), errno: error.raw_os_error().unwrap_or(0) }
    }
}

/// Adds the name of the failed step to an error.
pub(crate) trait Step<T> {
    /// The error with the name of the step.
    ///
    /// # Errors
    /// The same.
    fn step(self, name: &str) -> Result<T, StepRefusal>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, name: &str) -> Result<T, StepRefusal> {
        self.map_err(|error| StepRefusal::new(name, error))
    }
}

/// Sends a message and descriptors.
///
/// # Errors
/// The system's: the other side is gone. A message that is too long, or cannot be serialised because a path or name
/// is not UTF-8, is `InvalidInput`.
pub fn send(to: impl AsFd, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let wrong = |why: serde_json::Error| io::Error::new(io::ErrorKind::InvalidInput, why);
    let bytes = serde_json::to_vec(message).map_err(wrong)?;
    if bytes.len() > LONGEST || descriptors.len() > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the message is too long"));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        beside.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    rustix::net::sendmsg(to, &[IoSlice::new(&bytes)], &mut beside, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives a message and its descriptors; none when the other side is gone.
///
/// # Errors
/// The system's, or `InvalidData` if it is no message.
pub fn receive<T: DeserializeOwned>(from: impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let got = loop {
        let parts = &mut [IoSliceMut::new(&mut bytes)];
        match rustix::net::recvmsg(&from, parts, &mut beside, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CONNRESET) => return Ok(None),
            got => break got?,
        }
    };
    if got.bytes == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            descriptors.extend(more);
        }
    }
    let message = serde_json::from_slice(&bytes[..got.bytes]).map_err(io::Error::other)?;
    Ok(Some((message, descriptors)))
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    #[test]
    fn messages_carry_descriptors_and_end_with_the_other_side() {
        let (here, there) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .expect("a pair");
        let order = Order { program: "/bin/true".into(), ..Order::default() };
        send(&here, &order, &[here.as_fd(), there.as_fd()]).expect("sent");
        let (got, descriptors) = receive::<Order>(&there).expect("a packet").expect("a message");
        assert_eq!((got.program, descriptors.len()), (order.program, 2));
        drop(descriptors);
        let long = Order { arguments: vec!["x".repeat(LONGEST)], ..Order::default() };
        assert!(send(&here, &long, &[]).is_err());
        drop(here);
        assert!(receive::<Order>(&there).expect("no error").is_none());
    }

    #[test]
    fn whatever_comes_is_a_message_or_an_error() {
        let (here, there) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .expect("a pair");
        for bytes in [&b"x"[..], b"{", b"{\"confinement\":1}", b"[[[[[[[[", b"\"\xff\""] {
            rustix::net::send(&here, bytes, SendFlags::NOSIGNAL).expect("sent");
            assert!(receive::<Plan>(&there).is_err());
        }
    }
}
