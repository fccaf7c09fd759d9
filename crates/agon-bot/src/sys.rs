//! What the operating system is asked for: Linux. Everything `unsafe` of the bot's side is here.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use rustix::thread::CpuSet;

/// Makes reads and writes of a descriptor return at once.
///
/// # Errors
/// Those of the system.
pub fn never_block(descriptor: impl AsFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(&descriptor)?;
    Ok(rustix::fs::fcntl_setfl(descriptor, flags | rustix::fs::OFlags::NONBLOCK)?)
}

/// Whether this user may execute the file.
pub fn may_execute(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    // `access` says yes to root for any exit bit, as `exec` does.
    std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
        && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Prepares a bot's process: a session of its own, killed when the thread that starts it dies,
/// no new privileges, no core dumps, on the given CPU.
///
/// The thread that calls `spawn` must live as long as the bot.
pub fn contain(command: &mut Command, cpu: Option<usize>) {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let prepare = move || {
        // SAFETY: plain system calls with constant arguments; `prctl` and `setrlimit` are
        // async-signal-safe, which is all that may be called between fork and exec.
        unsafe {
            libc::setsid();
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            if libc::getppid() != own {
                // Our program died between fork and prctl: nobody waits for this bot.
                libc::_exit(1);
            }
        }
        if let Some(cpu) = cpu {
            let mut set = CpuSet::new();
            set.set(cpu);
            // A CPU that went away is no reason not to play.
            let _ = rustix::thread::sched_setaffinity(None, &set);
        }
        Ok(())
    };
    // SAFETY: `prepare` allocates nothing, takes no lock and makes only async-signal-safe calls.
    unsafe { command.pre_exec(prepare) };
}

/// Makes this process the one to which orphans below it are given, so that they can be ended.
pub fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// The CPUs this process may use, ascending.
pub fn cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let found: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
    if found.is_empty() { vec![0] } else { found }
}

/// Keeps the calling thread on these CPUs.
pub fn stay_on(cpus: &[usize]) {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

/// CPU time the process has used, all its threads together. None when it is gone.
pub fn cpu_time(pid: Pid) -> Option<Duration> {
    // The kernel's encoding of "the CPU clock of that process" (`clock_getcpuclockid`).
    let clock = (!pid.as_raw_nonzero().get() << 3) | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer; an invalid clock is answered with an error.
    let failed = unsafe { libc::clock_gettime(clock, &mut time) } != 0;
    (!failed).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// CPU time of all children of this process that have ended and were waited for.
pub fn ended_children_cpu_time() -> Duration {
    // SAFETY: `rusage` is plain numbers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the answer.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// How long the main thread of a process has waited for a CPU. Kept open, because it is asked every turn.
pub struct RunQueue(File);

impl RunQueue {
    /// Opens the counter of `pid`; none where the system does not count.
    pub fn of(pid: Pid) -> Option<Self> {
        File::open(format!("/proc/{}/schedstat", pid.as_raw_nonzero())).ok().map(Self)
    }

    /// The time waited so far.
    pub fn waited(&self) -> Option<Duration> {
        let mut bytes = [0; 96];
        let length = self.0.read_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes[..length]).ok()?;
        text.split(' ').nth(1)?.parse().ok().map(Duration::from_nanos)
    }
}

/// The children that the main thread of a process started. (What other threads start is not
/// found: looking at every thread of a large runtime costs more than a turn.)
pub fn children(pid: Pid) -> Vec<Pid> {
    let pid = pid.as_raw_nonzero();
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// Orphans that were given to this process, and its other children of the main thread.
pub fn own_children() -> Vec<Pid> {
    children(rustix::process::getpid())
}

/// All processes below `pid`, itself first.
pub fn tree(pid: Pid) -> Vec<Pid> {
    let mut found = vec![pid];
    let mut next = 0;
    while next < found.len() && found.len() < 10_000 {
        found.extend(children(found[next]));
        next += 1;
    }
    found
}

/// All processes whose environment holds the entry `NAME=value`.
pub fn marked(entry: &str) -> Vec<Pid> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let number = |name: &OsStr| std::str::from_utf8(name.as_bytes()).ok()?.parse().ok();
    processes
        .flatten()
        .filter_map(|process| Pid::from_raw(number(&process.file_name())?))
        .filter(|pid| is_marked(*pid, entry))
        .collect()
}

/// Whether the environment a process was started with holds the entry `NAME=value`.
pub fn is_marked(pid: Pid, entry: &str) -> bool {
    std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()))
        .is_ok_and(|environment| environment.split(|&byte| byte == 0).any(|own| own == entry.as_bytes()))
}

/// Kills a process and everything in the session it leads.
pub fn kill_group(pid: Pid) {
    let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    let _ = rustix::process::kill_process(pid, Signal::KILL);
}

/// Stops or continues a process with its group.
pub fn signal_group(pid: Pid, signal: Signal) {
    let _ = rustix::process::kill_process_group(pid, signal);
}
