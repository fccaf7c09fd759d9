//! The guard: a tiny process that outlives ours and ends bots left behind.
//!
//! A bot's own process dies with the thread that started it. Its descendants do not, when our program
//! is killed outright and cannot clean up. All of them carry the mark of this run in their environment;
//! the guard sleeps on a pipe that closes when our program ends, however it ends, and then kills every
//! marked process and removes the bots' temporary folders. It runs under another name, so that
//! `pkill agon` does not end it too. (A process that clears its environment on purpose escapes when our
//! program is killed outright; only a sandbox can hold that.)

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Signal;

use super::{children, scratch};
use crate::sys;

/// The variable that marks everything a run starts.
pub const MARK: &str = "AGON_RUN";

/// The hidden subcommand by which our program becomes the guard: `agon __guard MARK`.
pub const SUBCOMMAND: &str = "__guard";

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static RUN: OnceLock<Run> = OnceLock::new();

struct Run {
    mark: String,
    /// Keeps the pipe open for as long as we live.
    _guard: Option<Child>,
    matches: AtomicU64,
}

/// Sets the program that understands [`SUBCOMMAND`] and
/// [`script::SUBCOMMAND`](crate::script::SUBCOMMAND). Without it there is no guard, and no embedded
/// engine for scripts.
pub fn use_program(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

/// The program set by [`use_program`].
pub fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}

/// The value of [`MARK`] for all bots of this run; starts the guard on the first call.
pub fn mark() -> &'static str {
    &run().mark
}

/// A number unique among the matches of this run.
pub fn next_match() -> u64 {
    run().matches.fetch_add(1, Ordering::Relaxed)
}

fn run() -> &'static Run {
    RUN.get_or_init(|| {
        sys::adopt_orphans();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let mark = format!("{:x}-{:x}", rustix::process::getpid().as_raw_nonzero(), now.as_nanos());
        let guard = PROGRAM.get().and_then(|program| {
            let mut command = Command::new(program);
            command
                .args([SUBCOMMAND, &mark])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            // It must outlive a signal to our process group.
            command.process_group(0);
            children::start(&mut command, "").ok()
        });
        sys::at_exit(leave);
        Run { mark, _guard: guard, matches: AtomicU64::new(1) }
    })
}

/// Clean-up when this program ends normally.
extern "C" fn leave() {
    if let Some(run) = RUN.get() {
        scratch::clean_up(&run.mark);
    }
}

/// The guard's whole life.
pub fn watch(mark: &str) {
    sys::rename(c"bot-guard");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let entry = format!("{MARK}={mark}");
    let own = rustix::process::getpid();
    // Repeated, because a process being killed may just have started another.
    for _ in 0..200 {
        let left: Vec<_> = sys::marked(&entry).into_iter().filter(|pid| *pid != own).collect();
        if left.is_empty() {
            break;
        }
        for pid in left {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    scratch::clean_up(mark);
}
