//! A bot's processes: starting, watching, freezing and ending them. Linux.
//!
//! What a bot is (its name, manifest, build and command) is known without any of this, and uses nothing of it. Another
//! system needs this folder and [`sys`](crate::sys) anew, and of it [`Program`](crate::Program) uses only [`start()`], which
//! gives a [`ProcessTree`] and the ends of three pipes; the referee asks the tree for [`Usage`] and [`Excess`], stops it,
//! lets it go on, and ends it.

use std::time::Duration;

use thiserror::Error;

use crate::sys;

mod children;
pub mod guard;
pub mod inside;
pub mod peer;
pub mod scratch;
pub mod spawn;
mod start;
pub mod tree;
mod usage;

pub use children::MARK;
pub use inside::{Cage, StartTrouble};
pub use spawn::StartedProcess;
pub use start::{start, troubled};
pub use tree::ProcessTree;
pub use usage::{KeptWaiting, Usage};

/// What a bot may take of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Memory of all its processes, in bytes.
    pub memory: u64,
    /// Processes at once.
    pub processes: usize,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        // Half of a small machine's memory.
        Self { memory: (4 << 30).min(sys::machine_memory() / 2), processes: 512 }
    }
}

/// What a bot took too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// This many bytes of memory.
    Memory(u64),
    /// This many processes.
    Processes(usize),
    /// All of this many bytes of memory, in a sandbox, where something was killed for it.
    OutOfMemory(u64),
    /// All of this many processes, in a sandbox, where another one was refused.
    NoMoreProcesses(u32),
    /// All of this many bytes of files, or the limit on file names, in a sandbox.
    DiskFull(u64),
}

/// What a bot's processes used from start to end, as far as they were waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUse {
    /// CPU time.
    pub cpu: Duration,
    /// Peak memory of any one of them, in bytes; none if they had ended before they were asked.
    pub memory: Option<u64>,
}

/// Why a program was not started.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StartError {
    /// The system does not accept it as a program: the bot's fault.
    #[error("{0}")]
    NoProgram(String),
    /// This machine has no room for it: nobody's fault.
    #[error("{0}")]
    NoRoom(String),
}
