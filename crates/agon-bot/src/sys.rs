//! Calls to the operating system: Linux. All `unsafe` code for bots is here and in [`spawn`](crate::process::spawn).

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::OnceLock;
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

/// The time since boot, in milliseconds: the machine may have slept meanwhile, and nobody can set it. Asked of the C library, as the
/// machine's clock is: whoever puts another clock under this program puts it under both.
pub fn since_boot_ms() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes the time there, and every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut time) };
    time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

/// Whether this user may execute the file.
pub fn may_execute(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    // Like `exec`, `access` says yes to root for any exec bit.
    std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
        && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Turns the calling process, which is about to become a bot, into what a bot's process must be: leader of its own
/// session, killed when the thread that started it dies, the parent of all orphans below it, without new privileges,
/// core dumps or our open files, on the given CPUs, and the first to be killed when the machine runs out of memory.
///
/// # Safety
/// To be called between the start of a process and `exec` only. It makes plain system calls with
/// constant arguments: it allocates nothing, takes no lock and is async-signal-safe.
pub unsafe fn contain(parent: libc::pid_t, cpus: Option<&CpuSet>) {
    // SAFETY: as above.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // What it starts in the background stays in its tree, where it is seen.
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        let badness = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if badness >= 0 {
            libc::write(badness, c"800".as_ptr().cast(), 3);
            libc::close(badness);
        }
        if libc::getppid() != parent {
            // Our program died before prctl: nobody waits for this bot.
            libc::_exit(1);
        }
    }
    if let Some(cpus) = cpus {
        // A CPU that went away must not prevent the match.
        let _ = rustix::thread::sched_setaffinity(None, cpus);
    }
}

pub fn start_with_umask(command: &mut std::process::Command, mask: libc::mode_t) {
    use std::os::unix::process::CommandExt as _;
    let set = move || {
        // SAFETY: it takes a number and cannot fail.
        unsafe { libc::umask(mask) };
        Ok(())
    };
    // SAFETY: between fork and exec it makes one plain system call.
    unsafe { command.pre_exec(set) };
}

/// Renames this process in process lists, so that `pkill` by our own name spares it.
pub fn rename(name: &std::ffi::CStr) {
    let _ = rustix::thread::set_name(name);
}

/// Calls `done` when this process ends by returning from `main` or by `exit`.
pub fn at_exit(done: extern "C" fn()) {
    // SAFETY: `done` is a function for the life of the program.
    unsafe { libc::atexit(done) };
}

/// Lets `install` set signal handlers, except for those of `signals` that whoever started this process had it ignore,
/// as `nohup` does.
pub fn but_for_ignored(signals: &[Signal], install: impl FnOnce()) {
    let is_ignored = |signal: &&Signal| {
        // SAFETY: all zeros are a valid action; it is only written to.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: `action` is a valid place for the answer, and nothing is set.
        let done = unsafe { libc::sigaction(signal.as_raw(), std::ptr::null(), &mut action) };
        done == 0 && action.sa_sigaction == libc::SIG_IGN
    };
    let ignored: Vec<&Signal> = signals.iter().filter(is_ignored).collect();
    install();
    for signal in ignored {
        // SAFETY: no code of ours runs by this.
        unsafe { libc::signal(signal.as_raw(), libc::SIG_IGN) };
    }
}

/// Makes this process adopt the orphans below it, so that they can be ended.
pub fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// The CPUs this process could use when first asked, before any of its threads was pinned.
pub fn cpus_at_start() -> &'static [usize] {
    static FIRST: OnceLock<Vec<usize>> = OnceLock::new();
    FIRST.get_or_init(cpus)
}

/// The CPUs from the start other than `matches`, on which matches are played.
pub fn cpus_beside(matches: &[usize]) -> Vec<usize> {
    cpus_at_start().iter().copied().filter(|cpu| !matches.contains(cpu)).collect()
}

/// The CPUs this thread may use, ascending.
pub fn cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let found: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
    if found.is_empty() { vec![0] } else { found }
}

/// Pins the calling thread to these CPUs.
pub fn stay_on(cpus: &[usize]) {
    keep_on(None, cpus);
}

/// Pins all threads of this process to these CPUs, and with them the threads they start later, unless those move
/// themselves.
pub fn all_stay_on(cpus: &[usize]) {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let thread = |task: std::fs::DirEntry| Pid::from_raw(task.file_name().to_str()?.parse().ok()?);
    tasks.filter_map(thread).for_each(|thread| keep_on(Some(thread), cpus));
}

/// Lowers this thread's priority from now on by `steps` of the 20 steps of `nice`. Where one other thread wants the
/// same CPU, it gets a quarter of it with 5, and a tenth with 10.
pub fn stand_back(steps: i32) {
    let _ = rustix::process::setpriority_process(None, steps);
}

fn keep_on(thread: Option<Pid>, cpus: &[usize]) {
    cpus_at_start();
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    let _ = rustix::thread::sched_setaffinity(thread, &set);
}

/// CPU time used by all threads of the process. None when it is gone.
pub fn cpu_time(pid: Pid) -> Option<Duration> {
    // The kernel's encoding of "the CPU clock of that process" (`clock_getcpuclockid`).
    let clock = (!pid.as_raw_nonzero().get() << 3) | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer; an invalid clock is answered with an error.
    let failed = unsafe { libc::clock_gettime(clock, &mut time) } != 0;
    (!failed).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// CPU time of all children of this process that have ended and been waited for.
pub fn ended_children_cpu_time() -> Duration {
    // SAFETY: `rusage` is plain numbers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the answer.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// The system's counters for one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTime {
    pub cpu: Duration,
    /// Time in which it could have run but waited for a CPU.
    pub waited: Duration,
}

/// The counters of one thread, kept open because they are read every turn.
pub struct Counters(File);

impl Counters {
    /// The counters of a thread; none if the system does not keep them.
    pub fn of(process: Pid, thread: Pid) -> Option<Self> {
        let (process, thread) = (process.as_raw_nonzero(), thread.as_raw_nonzero());
        File::open(format!("/proc/{process}/task/{thread}/schedstat")).ok().map(Self)
    }

    /// The counters of the calling thread.
    pub fn own() -> Option<Self> {
        File::open("/proc/thread-self/schedstat").ok().map(Self)
    }

    /// Reads their values.
    pub fn read(&self) -> Option<ThreadTime> {
        let mut bytes = [0; 96];
        let length = self.0.read_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes[..length]).ok()?;
        let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().map(Duration::from_nanos));
        Some(ThreadTime { cpu: numbers.next()?.ok()?, waited: numbers.next()?.ok()? })
    }
}

/// At most this many threads of a process are looked at.
const MOST_THREADS: usize = 256;
/// At most this many processes of a bot are looked at.
const MOST_PROCESSES: usize = 2_000;

/// The content of a file in `/proc`; empty when its subject is gone.
///
/// These files have no size, so [`std::fs::read`] starts with 32 bytes and asks again and again.
fn proc_file(path: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(4096);
    let Ok(mut file) = File::open(path) else { return text };
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = file.read(&mut piece) {
        text.extend_from_slice(&piece[..length]);
    }
    text
}

/// The words of a `/proc` file.
fn words(text: &[u8]) -> std::str::SplitAsciiWhitespace<'_> {
    std::str::from_utf8(text).unwrap_or_default().split_ascii_whitespace()
}

/// The threads of a process.
pub fn threads(pid: Pid) -> Vec<Pid> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())) else {
        return Vec::new();
    };
    tasks.flatten().filter_map(|task| number(&task.file_name())).take(MOST_THREADS).collect()
}

fn number(name: &OsStr) -> Option<Pid> {
    Pid::from_raw(std::str::from_utf8(name.as_bytes()).ok()?.parse().ok()?)
}

/// The children of one thread of a process.
fn children_of(process: Pid, thread: Pid) -> Vec<Pid> {
    let (process, thread) = (process.as_raw_nonzero(), thread.as_raw_nonzero());
    let list = proc_file(&format!("/proc/{process}/task/{thread}/children"));
    words(&list).filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// Orphans adopted by this process (they go to its main thread), and children that the main thread started itself.
pub fn own_children() -> Vec<Pid> {
    let own = rustix::process::getpid();
    children_of(own, own)
}

/// `pid` and all processes below it, itself first.
pub fn tree(pid: Pid) -> Vec<Pid> {
    tree_without(pid, |_| false).into_iter().map(|(process, _)| process).collect()
}

/// The same with their threads, without looking below those known to be `barren`.
pub fn tree_without(pid: Pid, barren: impl Fn(Pid) -> bool) -> Vec<(Pid, Vec<Pid>)> {
    let mut found = vec![(pid, Vec::new())];
    let (mut next, mut looked_at) = (0, 0);
    while next < found.len() && looked_at < MOST_PROCESSES {
        let process = found[next].0;
        if !barren(process) {
            let threads = threads(process);
            let children = threads.iter().flat_map(|thread| children_of(process, *thread));
            found.extend(children.map(|child| (child, Vec::new())));
            found[next].1 = threads;
            looked_at += 1;
        }
        next += 1;
    }
    found
}

/// What `/proc/PID/stat` says about a process.
#[derive(Clone, Copy, Debug)]
pub struct Stat {
    /// `R`, `S`, `T` (stopped), `Z` (ended, not yet waited for), ...
    pub state: u8,
    /// The session it belongs to.
    pub session: i32,
    /// CPU time of its ended children, as far as it waited for them; in steps of 10 ms.
    pub ended_children: Duration,
}

/// Whether a thread is running, or waiting for a CPU.
pub fn is_runnable(process: Pid, thread: Pid) -> bool {
    let (process, thread) = (process.as_raw_nonzero(), thread.as_raw_nonzero());
    let text = proc_file(&format!("/proc/{process}/task/{thread}/stat"));
    behind_name(&text).is_some_and(|mut words| words.next() == Some("R"))
}

/// The name of a process: that of its file, or one it has chosen; at most 15 bytes.
pub fn name(process: Pid) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{}/comm", process.as_raw_nonzero())).ok()?;
    Some(name.trim_end().to_owned())
}

/// The system call a thread is in, even if the thread is stopped; none when that cannot be known.
pub fn system_call(process: Pid, thread: Pid) -> Option<libc::c_long> {
    let (process, thread) = (process.as_raw_nonzero(), thread.as_raw_nonzero());
    let text = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/syscall")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Whether a system call sends a signal. A thread outside any call (-1) may have sent one just before.
pub fn sends_signals(call: libc::c_long) -> bool {
    let calls = [
        -1,
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_pidfd_send_signal,
    ];
    calls.contains(&call)
}

/// What a `/proc` line says after the program's name. The name may contain anything; the last bracket ends it.
fn behind_name(text: &[u8]) -> Option<std::str::SplitAsciiWhitespace<'_>> {
    let rest = &text[text.iter().rposition(|&byte| byte == b')')? + 1..];
    Some(std::str::from_utf8(rest).ok()?.split_ascii_whitespace())
}

/// The state of a process; none when it is gone.
pub fn stat(pid: Pid) -> Option<Stat> {
    let text = proc_file(&format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let mut words = behind_name(&text)?;
    let state = *words.next()?.as_bytes().first()?;
    let session = words.nth(2)?.parse().ok()?;
    let mut ticks = || words.next()?.parse::<u64>().ok();
    for _ in 0..9 {
        ticks();
    }
    let ticks = ticks()? + ticks()?;
    Some(Stat { state, session, ended_children: Duration::from_millis(10 * ticks) })
}

/// The memory of a process not shared with any file, in bytes; 0 when it is gone.
pub fn memory(pid: Pid) -> u64 {
    let text = proc_file(&format!("/proc/{}/statm", pid.as_raw_nonzero()));
    let mut numbers = words(&text).map(|word| word.parse::<u64>().unwrap_or(0)).skip(1);
    let (resident, shared) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}

/// The memory of this machine, in bytes.
pub fn machine_memory() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(u64::from(info.mem_unit))
}

/// The memory of this machine that programs can still take, in bytes: all of it where the system does not say.
pub fn free_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.map_or_else(machine_memory, |kilobytes| kilobytes << 10)
}

/// How a child ended, without reaping it; none while it lives.
pub fn peek(child: Pid) -> Option<ExitStatus> {
    use rustix::process::{WaitId, WaitIdOptions};
    use std::os::unix::process::ExitStatusExt as _;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let found = rustix::process::waitid(WaitId::Pid(child), options).ok().flatten()?;
    let raw = match (found.exit_status(), found.terminating_signal()) {
        (Some(code), _) => code << 8,
        (None, signal) => signal.unwrap_or(0),
    };
    Some(ExitStatus::from_raw(raw))
}

/// Waits at most `patience` for a process to end. Returns whether it has ended.
pub fn wait(pid: Pid, patience: Duration) -> bool {
    let Ok(descriptor) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) else {
        return true;
    };
    let mut waits = [rustix::event::PollFd::new(&descriptor, rustix::event::PollFlags::IN)];
    let patience = rustix::time::Timespec::try_from(patience).ok();
    rustix::io::retry_on_intr(|| rustix::event::poll(&mut waits, patience.as_ref()))
        .is_ok_and(|ready| ready > 0)
}

/// Peak memory of a process so far, in bytes; none when it is gone.
pub fn peak_memory(pid: Pid) -> Option<u64> {
    // Not `ru_maxrss`, which starts at our own size when we started it.
    let text = proc_file(&format!("/proc/{}/status", pid.as_raw_nonzero()));
    let line = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"VmHWM:"))?;
    words(line).next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Reaps a child that has ended; returns the CPU time of it and all it waited for. None while it lives.
pub fn reap(child: Pid) -> Option<Duration> {
    let mut status = 0;
    // SAFETY: `rusage` is plain numbers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places are valid for the answers.
    let found = unsafe { libc::wait4(child.as_raw_nonzero().get(), &mut status, libc::WNOHANG, &mut usage) };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    (found > 0).then(|| time(usage.ru_utime) + time(usage.ru_stime))
}

/// All processes with the entry `NAME=value` in their environment.
pub fn marked(entry: &str) -> Vec<Pid> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
    processes
        .flatten()
        .filter_map(|process| number(&process.file_name()))
        .filter(|pid| variable(*pid, name).is_some_and(|own| own == value))
        .collect()
}

/// A variable in the environment a process was started with; none also when the process is gone.
pub fn variable(pid: Pid, name: &str) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).ok()?;
    let entry = environment
        .split(|&byte| byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(entry.to_vec()).ok()
}

/// Kills a process and everything in the group it leads.
pub fn kill_group(pid: Pid) {
    let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    let _ = rustix::process::kill_process(pid, Signal::KILL);
}

/// Stops or continues a process and the group it leads.
pub fn signal_group(pid: Pid, signal: Signal) {
    if rustix::process::kill_process_group(pid, signal).is_err() {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// A CPU that no other run of this program uses, held until dropped.
///
/// The claim is an abstract socket name, which ends with the process, however that ends.
#[derive(Debug)]
pub struct CpuClaim {
    pub cpu: usize,
    _name: Option<OwnedFd>,
}

/// Claims up to `count` CPUs, all different while there are enough. CPUs claimed by others are shared only when no other is left.
pub fn claim_cpus(count: usize) -> Vec<CpuClaim> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};
    let claim = |cpu: usize| {
        let address = SocketAddrUnix::new_abstract_name(format!("agon-cpu-{cpu}").as_bytes()).ok()?;
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
        bind(&socket, &address).is_ok().then_some(CpuClaim { cpu, _name: Some(socket) })
    };
    let all = cpus();
    // From the last one down, because the first does much of the system's own work.
    let mut claims: Vec<CpuClaim> = all.iter().rev().filter_map(|&cpu| claim(cpu)).take(count).collect();
    let start = rustix::process::getpid().as_raw_nonzero().get() as usize;
    for number in 0.. {
        if claims.len() >= count {
            break;
        }
        let cpu = all[(start + number) % all.len()];
        if number >= all.len() || claims.iter().all(|claim| claim.cpu != cpu) {
            claims.push(CpuClaim { cpu, _name: None });
        }
    }
    claims
}
