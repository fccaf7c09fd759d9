//! A bot as a running program.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions};

use crate::launch::Launch;
use crate::sys::RunQueue;
use crate::wire::{Lines, Wire};
use crate::{guard, scratch, sys};

/// What is kept of a bot's standard error in one turn, in bytes.
pub const STDERR_PER_TURN: usize = 64 << 10;
/// What is kept of a bot's standard error in one match, in bytes.
pub const STDERR_PER_MATCH: usize = 4 << 20;

/// A bot as a running program. It dies, with all it started, when this value is dropped.
pub struct Program {
    child: Child,
    pid: Pid,
    status: Option<ExitStatus>,
    wire: Box<dyn Wire>,
    stderr: Option<File>,
    /// What came on standard error since it was last taken.
    said: Vec<u8>,
    said_in_all: usize,
    lost: usize,
    /// The processes whose CPU time counts: the bot's own and, as far as known, its descendants.
    tree: Vec<Pid>,
    queue: Option<RunQueue>,
    stopped: bool,
    folder: Option<PathBuf>,
    mark: String,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It still runs.
    Runs,
    /// It ended by itself with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs => f.write_str("it still runs"),
            Self::Code(0) => f.write_str("it ended by itself (exit code 0)"),
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
                    _ => "",
                };
                write!(f, "signal {signal} ended it{name}")
            }
        }
    }
}

impl Program {
    /// Starts a bot that talks in lines over its standard input and output.
    ///
    /// `seat` is told to it as `AGON_SEAT`; `cpu` is where it stays; `longest` bounds its lines.
    ///
    /// # Errors
    /// A sentence that says why the system would not start it and what to do.
    pub fn start(launch: &Launch, seat: u8, cpu: Option<usize>, longest: usize) -> Result<Self, String> {
        let number = guard::next_match();
        let own_mark = format!("{number}-{seat}");
        let folder = scratch::take();
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .env("AGON_SEAT", seat.to_string())
            .env("PYTHONUNBUFFERED", "1")
            .env(guard::MARK, guard::mark())
            .env("AGON_BOT", &own_mark)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = &folder {
            command.env("TMPDIR", folder);
        }
        if let Some(folder) = &launch.folder {
            command.current_dir(folder);
        }
        sys::contain(&mut command, cpu);
        let mut child = command.spawn().map_err(|error| {
            folder.iter().cloned().for_each(scratch::give_back);
            cannot_start(launch, &error)
        })?;
        let input = child.stdin.take().map(OwnedFd::from).expect("standard input is piped");
        let output = child.stdout.take().map(OwnedFd::from).expect("standard output is piped");
        let stderr = child.stderr.take().map(OwnedFd::from).expect("standard error is piped");
        sys::never_block(&stderr).map_err(|error| error.to_string())?;
        let wire = Box::new(Lines::new(output, input, longest).map_err(|error| error.to_string())?);
        let pid = Pid::from_raw(child.id() as i32).expect("a process has an id");
        Ok(Self {
            pid,
            child,
            status: None,
            wire,
            stderr: Some(File::from(stderr)),
            said: Vec::new(),
            said_in_all: 0,
            lost: 0,
            tree: vec![pid],
            queue: RunQueue::of(pid),
            stopped: false,
            folder,
            mark: format!("AGON_BOT={own_mark}"),
        })
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

    /// Its standard error, while open.
    pub fn stderr(&self) -> Option<BorrowedFd<'_>> {
        self.stderr.as_ref().map(File::as_fd)
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Reads what is on its standard error: at most a bounded amount, so that a flood cannot hold us.
    pub fn listen_to_stderr(&mut self) {
        let mut buffer = [0; 16 << 10];
        for _ in 0..16 {
            let Some(stderr) = &mut self.stderr else { return };
            match stderr.read(&mut buffer) {
                Ok(0) => self.stderr = None,
                Ok(length) => {
                    let room = STDERR_PER_TURN
                        .saturating_sub(self.said.len())
                        .min(STDERR_PER_MATCH.saturating_sub(self.said_in_all));
                    let kept = length.min(room);
                    self.said.extend_from_slice(&buffer[..kept]);
                    self.said_in_all += kept;
                    self.lost += length - kept;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.stderr = None,
            }
        }
    }

    /// What came on standard error since the last call, and how many bytes were dropped.
    pub fn take_said(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.said), std::mem::take(&mut self.lost))
    }

    /// Undoes [`take_said`](Program::take_said).
    pub fn give_back_said(&mut self, said: Vec<u8>, lost: usize) {
        self.said.splice(0..0, said);
        self.lost += lost;
    }

    /// CPU time of the bot and its known descendants; none when it is gone.
    pub fn cpu_time(&self) -> Option<Duration> {
        let own = sys::cpu_time(self.pid)?;
        Some(self.tree[1..].iter().filter_map(|pid| sys::cpu_time(*pid)).fold(own, |sum, time| sum + time))
    }

    /// Looks for descendants whose CPU time must count.
    pub fn survey(&mut self) {
        self.tree = sys::tree(self.pid);
    }

    /// How long it has waited for a CPU; none where the system does not say.
    pub fn waited_for_cpu(&self) -> Option<Duration> {
        self.queue.as_ref()?.waited()
    }

    /// Stops it, so that it cannot think in its opponent's time.
    pub fn stop(&mut self) {
        self.stopped = true;
        sys::signal_group(self.pid, Signal::STOP);
    }

    /// Lets it go on.
    pub fn go_on(&mut self) {
        if std::mem::take(&mut self.stopped) {
            sys::signal_group(self.pid, Signal::CONT);
        }
    }

    /// How it ended, or that it still runs. Waits at most `patience` for a program that is just ending.
    pub fn ending(&mut self, patience: Duration) -> Ending {
        if self.status.is_none()
            && let Ok(descriptor) =
                rustix::process::pidfd_open(self.pid, rustix::process::PidfdFlags::empty())
        {
            let mut waits = [rustix::event::PollFd::new(&descriptor, rustix::event::PollFlags::IN)];
            let patience = rustix::time::Timespec::try_from(patience).ok();
            let _ = rustix::event::poll(&mut waits, patience.as_ref());
        }
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        match self.status {
            None => Ending::Runs,
            Some(status) => {
                status.code().map_or_else(|| Ending::Signal(status.signal().unwrap_or(0)), Ending::Code)
            }
        }
    }

    /// Ends the bot and everything it started, and gives the CPU time of all of them together.
    fn end(&mut self) {
        if self.status.is_none() {
            sys::kill_group(self.pid);
            self.status = self.child.wait().ok();
        }
        // What it started is now ours, as the process orphans are given to.
        for _ in 0..100 {
            let orphans: Vec<Pid> =
                sys::own_children().into_iter().filter(|pid| sys::is_marked(*pid, &self.mark)).collect();
            if orphans.is_empty() {
                break;
            }
            for orphan in orphans {
                sys::kill_group(orphan);
                let _ = rustix::process::waitpid(Some(orphan), WaitOptions::empty());
            }
        }
        self.folder.take().into_iter().for_each(scratch::give_back);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// Why the system would not start a program, and what to do.
fn cannot_start(launch: &Launch, error: &io::Error) -> String {
    let shown = Path::new(&launch.program).display();
    let file = launch.folder.as_deref().unwrap_or(Path::new("")).join(&launch.program);
    let first_line = || {
        let mut start = [0; 256];
        let length = File::open(&file).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
        let line = start[..length].split(|&byte| byte == b'\n').next().unwrap_or_default();
        line.strip_prefix(b"#!").map(|line| String::from_utf8_lossy(line).into_owned())
    };
    let why = match error.raw_os_error() {
        Some(libc::ENOENT) => match first_line() {
            Some(line) if line.ends_with('\r') => {
                "its first line ends with a Windows line ending, so that its interpreter is not found; \
                 convert the file (sed -i 's/\\r$//' FILE)"
                    .to_owned()
            }
            Some(line) => format!("its interpreter `{}` is not installed", line.trim()),
            None if launch.folder.as_ref().is_some_and(|folder| !folder.is_dir()) => {
                "its folder is not there".to_owned()
            }
            None => format!("`{shown}` is not installed or not on the PATH"),
        },
        Some(libc::EACCES) if file.is_dir() => "it is a folder".to_owned(),
        Some(libc::EACCES) => format!("it may not be executed; try chmod +x {shown}"),
        Some(libc::ENOEXEC) => {
            "it is not a program for this machine (another architecture, or a script without #! line)"
                .to_owned()
        }
        Some(libc::EAGAIN | libc::ENOMEM) => {
            format!("this machine has no room for another process ({error})")
        }
        Some(libc::EMFILE | libc::ENFILE) => format!("too many open files ({error}); lower -j"),
        _ => error.to_string(),
    };
    format!("cannot start `{shown}`: {why}")
}
