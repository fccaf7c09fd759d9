//! What the host, the spawner and the init of a sandbox say to each other: one message a packet, with descriptors.

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

/// The longest message, in bytes.
const LONGEST: usize = 128 << 10;
/// The most descriptors with a message.
const MOST: usize = 8;

/// A sandbox to be built. With it comes the init's end of its own connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What it may have.
    pub confinement: Confinement,
    /// What holds it.
    pub walls: BTreeSet<Wall>,
    /// Users outside: of the init, and the next one of the program. Only root can give them.
    pub user: Option<u32>,
    /// Its cgroup.
    pub group: Option<Group>,
    /// The folder that takes the place of `/tmp` where there is no root of its own.
    pub home: PathBuf,
    /// The CPUs that build it and look after it; all when empty. Where the program runs stands in its order.
    pub cpus: Vec<usize>,
}

impl Plan {
    /// Whether this holds it.
    pub fn has(&self, wall: Wall) -> bool {
        self.walls.contains(&wall)
    }
}

/// What the host asks of a spawner. With it comes the other end of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// A sandbox, whose init has the connection.
    Build(Box<Plan>),
    /// A keeper, a spawner that lives in this cgroup and has the connection.
    Keep(Group),
}

/// What the spawner answers. With [`Born::Yes`] comes a handle of the process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Born {
    /// It is being built.
    Yes {
        /// The init, or the keeper, as seen from outside.
        pid: i32,
    },
    /// It could not be begun.
    No(Refusal),
}

/// What is to run. With it come its input, output and errors.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Order {
    /// The program: a path as seen inside, or a name to be found on its `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Further variables.
    pub variables: BTreeMap<String, String>,
    /// The CPUs it stays on; all when empty.
    pub cpus: Vec<usize>,
}

/// What the init reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// Built, and waiting for an order. With it come handles of its `/tmp`, of each folder that was copied, and the
    /// listener, where there are such.
    Ready {
        /// Whether the last of the descriptors is a listener.
        listens: bool,
    },
    /// A step failed; it ends.
    Refused(Refusal),
    /// The program runs.
    Started,
    /// The program has ended; what it left may still run.
    Ended {
        /// Its exit code, or 128 and the signal that ended it.
        code: i32,
        /// The signal that ended it.
        signal: Option<i32>,
        /// CPU time of it and of those it waited for.
        cpu: Duration,
    },
}

/// A step that failed. Nothing runs then: there is no half a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("the sandbox could not be built: {step}: {why}")]
pub struct Refusal {
    /// What was to be done.
    pub step: String,
    /// Why it was not.
    pub why: String,
    /// The system's number of the error; 0 without one.
    pub errno: i32,
}

/// How the step is called in which the program itself is run.
const RUNNING: &str = "running";

impl Refusal {
    /// The program could not be run, when everything else had been done.
    pub fn running(program: &std::path::Path, error: io::Error) -> Self {
        Self::new(format!("{RUNNING} {}", program.display()), error)
    }

    /// Whether everything had been done but running the program: it is not there, or not to be run.
    pub fn is_the_programs(&self) -> bool {
        self.step.strip_prefix(RUNNING).is_some_and(|rest| rest.starts_with(' '))
    }

    /// A step that failed with an error of the system.
    pub fn new(step: impl Into<String>, error: impl Into<io::Error>) -> Self {
        let error = error.into();
        Self { step: step.into(), why: error.to_string(), errno: error.raw_os_error().unwrap_or(0) }
    }
}

/// Names the step that an error stopped.
pub trait Step<T> {
    /// The error with the name of the step.
    ///
    /// # Errors
    /// The same.
    fn step(self, name: &str) -> Result<T, Refusal>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, name: &str) -> Result<T, Refusal> {
        self.map_err(|error| Refusal::new(name, error))
    }
}

/// Sends a message and descriptors.
///
/// # Errors
/// The system's: the other side is gone. A message that is too long, or cannot be written down as paths and names that
/// are no UTF-8, is `InvalidInput`.
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
/// The system's, and `InvalidData` for what is no message.
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
