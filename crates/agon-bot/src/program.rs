//! A bot as a running program.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::excerpt::Excerpt;
use crate::launch::Launch;
use crate::name::Confined;
use crate::process::peer::Owner;
use crate::process::{self, Cage, ProcessTree, ProcessUse, StartError, StartedProcess, guard, scratch};
use crate::run::Run;
use crate::sys;
use crate::wire::{HungUp, LineWire, Wire};

/// How much of a bot's standard error is kept per turn, in bytes.
pub const STDERR_PER_TURN: usize = 64 << 10;
/// How much of a bot's standard error is kept per match, in bytes.
pub const STDERR_PER_MATCH: usize = 4 << 20;
/// How much is kept per turn after that, in bytes: the reason why a program fails comes last.
const STDERR_LEAST: usize = 4 << 10;

/// A bot as a running program. Dropping this value kills it, with everything it started.
pub struct Program {
    tree: ProcessTree,
    wire: Box<dyn Wire>,
    stderr: Option<File>,
    /// Standard error received since it was last taken.
    said: Excerpt,
    /// How much was taken, in bytes.
    said_in_all: usize,
    /// When it was first seen to have ended.
    ended: Option<Instant>,
    folder: Option<PathBuf>,
    dials_in: bool,
    elsewhere: bool,
    run: Arc<Run>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// It still runs.
    Runs,
    /// It exited with this code.
    Code(i32),
    /// A signal killed it.
    Signal(i32),
}

impl fmt::Display for ProgramEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs => f.write_str("it still runs"),
            Self::Code(code) => write!(f, "it ended with exit code {code}"),
            Self::Signal(signal) => {
                let name = match *signal {
                    libc::SIGSEGV => " (SIGSEGV: invalid memory access)",
                    libc::SIGABRT => " (SIGABRT: it aborted)",
                    libc::SIGKILL => " (SIGKILL: perhaps out of memory)",
                    libc::SIGFPE => " (SIGFPE: division by zero)",
                    libc::SIGBUS => " (SIGBUS)",
                    libc::SIGILL => " (SIGILL: an instruction this machine does not have)",
                    libc::SIGPIPE => " (SIGPIPE: it wrote where nobody reads)",
                    libc::SIGTERM => " (SIGTERM)",
                    libc::SIGXCPU => " (SIGXCPU: CPU limit)",
                    libc::SIGXFSZ => " (SIGXFSZ: a file larger than is allowed)",
                    libc::SIGSYS => " (SIGSYS: a system call that is not allowed)",
                    _ => "",
                };
                write!(f, "signal {signal} killed it{name}")
            }
        }
    }
}

impl Program {
    /// Starts a bot that talks in lines over its standard input and output.
    ///
    /// `seat` is passed to it as `AGON_SEAT`. `cpus` are the CPUs it stays on (none: those of this thread), unless it
    /// runs in a runtime with threads of its own ([`Launch::runs_in_runtime`]), which gets all CPUs. `longest` bounds
    /// its lines.
    ///
    /// # Errors
    /// A sentence that says why the system would not start it and what to do.
    pub fn start(
        launch: &Launch,
        seat: u8,
        cpus: Option<&[usize]>,
        longest: usize,
    ) -> Result<Self, StartError> {
        Self::begin(launch.clone(), seat, cpus, longest)?.settle()
    }

    /// The same up to where a sandbox takes over, so that the bots of a match need not start one after the other.
    ///
    /// # Errors
    /// Those of [`start`](Self::start), as far as they are known by then.
    pub fn begin(
        launch: Launch,
        seat: u8,
        cpus: Option<&[usize]>,
        longest: usize,
    ) -> Result<Starting, StartError> {
        // In a sandbox it has a /tmp of its own.
        let folder = if launch.confined == Confined::No { scratch::take(guard::mark()) } else { None };
        let (mut tree, process) =
            process::start(&launch, seat, cpus, folder.as_deref()).inspect_err(|_| {
                folder.iter().cloned().for_each(scratch::give_back);
            })?;
        let StartedProcess { input, output, error: stderr, .. } = process;
        let wire: io::Result<Box<dyn Wire>> = match launch.dials_in {
            true => HungUp::new().map(|wire| Box::new(wire) as _),
            false => LineWire::new(output, input, longest).map(|lines| Box::new(lines) as _),
        };
        let wire = sys::never_block(&stderr).and(wire).map_err(|error| {
            tree.end();
            StartError::NoRoom(error.to_string())
        })?;
        let run = Arc::clone(&launch.run);
        let (stderr, said, dials_in) = (Some(File::from(stderr)), Excerpt::default(), launch.dials_in);
        let program = Self {
            tree,
            wire,
            stderr,
            said,
            said_in_all: 0,
            ended: None,
            folder,
            dials_in,
            elsewhere: false,
            run,
        };
        Ok(Starting { program, launch })
    }

    /// A bot that was started elsewhere and dialled in.
    pub fn elsewhere(wire: Box<dyn Wire>) -> Self {
        Self {
            tree: ProcessTree::unknown(),
            wire,
            stderr: None,
            said: Excerpt::default(),
            said_in_all: 0,
            ended: None,
            folder: None,
            dials_in: true,
            elsewhere: true,
            run: Arc::default(),
        }
    }

    /// Whether it was started elsewhere.
    pub fn is_elsewhere(&self) -> bool {
        self.elsewhere
    }

    /// What holds for all bots of its run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Whether it dials in over a socket.
    pub fn dials_in(&self) -> bool {
        self.dials_in
    }

    /// The connection to it.
    pub fn wire(&mut self) -> &mut dyn Wire {
        &mut *self.wire
    }

    /// The connection to it, for waiting.
    pub fn wire_ref(&self) -> &dyn Wire {
        &*self.wire
    }

    /// Replaces the connection: the bot dialled in over a socket.
    pub fn set_wire(&mut self, wire: Box<dyn Wire>) {
        self.wire = wire;
    }

    /// Replaces the pipes by a connection: a bot expected to talk in lines has dialled in.
    pub fn dialled(&mut self, wire: Box<dyn Wire>) {
        self.wire = wire;
        self.dials_in = true;
    }

    /// Closes the connection and waits for it to end by itself.
    ///
    /// # Errors
    /// Those of the system.
    pub fn hang_up(&mut self, patience: Duration) -> io::Result<ProgramEnd> {
        self.wire = Box::new(HungUp::new()?);
        Ok(self.ending(patience))
    }

    /// Its standard error, while open.
    pub fn stderr(&self) -> Option<BorrowedFd<'_>> {
        self.stderr.as_ref().map(File::as_fd)
    }

    /// Its first process.
    pub fn root(&self) -> rustix::process::Pid {
        self.tree.root()
    }

    /// What identifies its processes.
    pub fn owner(&self) -> Owner {
        Owner { root: self.tree.root(), mark: self.tree.mark().to_owned() }
    }

    /// Its sandbox; none if it runs without one.
    pub fn cage(&self) -> Option<&Cage> {
        self.tree.cage()
    }

    pub fn tree(&mut self) -> &mut ProcessTree {
        &mut self.tree
    }

    /// Reads what is on its standard error: a bounded amount, so that a flood cannot hold us up.
    pub fn listen_to_stderr(&mut self) {
        let mut buffer = [0; 16 << 10];
        for _ in 0..16 {
            let Some(stderr) = &mut self.stderr else { return };
            match stderr.read(&mut buffer) {
                Ok(0) => self.stderr = None,
                Ok(length) => {
                    let left = STDERR_PER_MATCH.saturating_sub(self.said_in_all);
                    self.said.push(&buffer[..length], left.clamp(STDERR_LEAST, STDERR_PER_TURN));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.stderr = None,
            }
        }
    }

    /// What came on standard error since it was last taken; of very much the beginning and the end.
    pub fn said(&self) -> Vec<u8> {
        self.said.text()
    }

    /// The same; it counts as taken.
    pub fn take_said(&mut self) -> Vec<u8> {
        let said = std::mem::take(&mut self.said).text();
        self.said_in_all += said.len();
        said
    }

    /// For how long its first process is known to have ended; none while it runs, and for a bot that dials in, whose connection
    /// shows that it is there. Whoever else holds its output may be something that it left behind.
    pub fn has_ended(&mut self) -> Option<Duration> {
        if self.elsewhere || self.dials_in || self.ending(Duration::ZERO) == ProgramEnd::Runs {
            return None;
        }
        Some(self.ended.get_or_insert_with(Instant::now).elapsed())
    }

    /// How it ended, or that it still runs. Waits at most `patience` for a program that is just ending.
    pub fn ending(&mut self, patience: Duration) -> ProgramEnd {
        if !patience.is_zero() && !self.tree.is_over() {
            self.tree.wait(patience);
        }
        match self.tree.status() {
            None => ProgramEnd::Runs,
            Some(status) => status
                .code()
                .map_or_else(|| ProgramEnd::Signal(status.signal().unwrap_or(0)), ProgramEnd::Code),
        }
    }

    /// Starts killing it where that takes a while; [`end`](Self::end) waits for it.
    pub fn kill(&mut self) {
        self.wire.close();
        self.tree.kill();
    }

    /// Ends the bot and everything it started; returns what all of them used together.
    pub fn end(&mut self) -> ProcessUse {
        self.wire.close();
        let used = self.tree.end();
        self.folder.take().into_iter().for_each(scratch::give_back);
        used
    }
}

/// A program that is being started. Dropping it kills it.
pub struct Starting {
    program: Program,
    launch: Launch,
}

impl Starting {
    /// Waits until it runs.
    ///
    /// # Errors
    /// Those of [`Program::start`].
    pub fn settle(mut self) -> Result<Program, StartError> {
        match self.program.tree.settle() {
            Ok(()) => Ok(self.program),
            Err(trouble) => Err(process::troubled(&self.launch, trouble)),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Received;

    /// The CPUs that a program of this name says it may use when it was put on one.
    fn cpus_of(name: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(name);
        std::fs::write(&file, "#!/bin/sh\ngrep Cpus_allowed_list /proc/self/status\n").expect("a file");
        let words = ["sh", file.to_str().expect("a name")].map(str::to_owned);
        let launch = Launch::command(&words, None, Vec::new());
        let first = sys::cpus_at_start()[0];
        let mut program = Program::start(&launch, 1, Some(&[first]), 1_000).expect("a shell");
        let (mut line, began) = (Vec::new(), std::time::Instant::now());
        while program.wire().receive(&mut line) != Received::Message {
            assert!(began.elapsed() < Duration::from_secs(60), "it said nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        String::from_utf8_lossy(&line).trim_start_matches("Cpus_allowed_list:").trim().to_owned()
    }

    #[test]
    fn a_runtime_is_not_kept_on_one_cpu() {
        let first = sys::cpus_at_start()[0].to_string();
        assert_eq!(cpus_of("bot"), first);
        if sys::cpus_at_start().len() < 2 {
            println!("skipped: there is one CPU here");
            return;
        }
        assert_ne!(cpus_of("java"), first, "its collector may run elsewhere");
    }
}
