//! Everything that needs `unsafe`: system calls without a safe wrapper.
//!
//! The spawner and everything it forks are single-threaded, so a fork copies them completely.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::time::Duration;

use rustix::process::Pid;

/// An argument of a system call.
pub enum Arg<'a> {
    /// A number, a flag or a descriptor.
    Int(i64),
    /// Bytes the kernel reads.
    In(&'a [u8]),
    /// Bytes the kernel writes.
    Out(&'a mut [u8]),
    /// A string the kernel reads.
    Text(&'a CStr),
}

impl Arg<'_> {
    fn word(&mut self) -> libc::c_long {
        match self {
            Self::Int(number) => *number,
            Self::In(bytes) => bytes.as_ptr() as libc::c_long,
            Self::Out(bytes) => bytes.as_mut_ptr() as libc::c_long,
            Self::Text(text) => text.as_ptr() as libc::c_long,
        }
    }
}

/// Makes a system call by its number; missing arguments out of the six are 0.
///
/// Meant for calls that change this process's memory only through [`Arg::Out`]: none that map or unmap memory, or
/// start a process or thread that shares it.
///
/// # Errors
/// The kernel's.
pub fn call(number: libc::c_long, arguments: &mut [Arg<'_>]) -> io::Result<i64> {
    let mut words: [libc::c_long; 6] = [0; 6];
    for (word, argument) in words.iter_mut().zip(arguments.iter_mut()) {
        *word = argument.word();
    }
    let [a, b, c, d, e, f] = words;
    // SAFETY: every pointer comes from a slice or text that outlives the call, and its length is handed over beside
    // it by the caller as that of the same slice.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The same for a call that returns a new descriptor.
///
/// # Errors
/// The kernel's.
pub fn descriptor(number: libc::c_long, arguments: &mut [Arg<'_>]) -> io::Result<OwnedFd> {
    let number = call(number, arguments)?;
    // SAFETY: the kernel has just made this descriptor, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(number as i32) })
}

/// Words as the bytes of a structure for the kernel.
pub fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Which process returns from [`fork`].
pub enum Forked {
    /// The parent, with the new process.
    Parent(Pid, Option<OwnedFd>),
    /// The new process.
    Child,
}

/// Copies this process.
///
/// # Errors
/// The kernel's: too many processes.
pub fn fork() -> io::Result<Forked> {
    // SAFETY: the caller has one thread (see above), so nothing that the copy needs is held by a thread it lacks.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(Pid::from_raw(pid).ok_or(io::ErrorKind::Other)?, None)),
    }
}

/// Copies this process into new namespaces, and into a version 2 cgroup if one is given.
///
/// # Errors
/// The kernel's: `ENOSPC` if the limit on namespaces is zero, `EPERM` if they are forbidden.
pub fn fork_into(namespaces: u64, group: Option<i32>) -> io::Result<Forked> {
    let mut handle: i32 = -1;
    let into = if group.is_some() { 0x2_0000_0000 } else { 0 };
    let flags = namespaces | libc::CLONE_PIDFD as u64 | into;
    let mut words = [0_u64; 11];
    words[0] = flags;
    words[1] = (&raw mut handle) as u64;
    words[4] = libc::SIGCHLD as u64;
    words[10] = group.unwrap_or(0) as u64;
    // SAFETY: `words` is `struct clone_args`; no memory is shared and no stack is given, so that this is a fork, and
    // the caller has one thread. `handle` outlives the call.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, words.as_ptr(), size_of_val(&words)) };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => {
            // SAFETY: CLONE_PIDFD has put a new descriptor there, which nobody else knows.
            let handle = unsafe { OwnedFd::from_raw_fd(handle) };
            Ok(Forked::Parent(Pid::from_raw(pid as i32).ok_or(io::ErrorKind::Other)?, Some(handle)))
        }
    }
}

/// Starts a process that shares our memory, as `posix_spawn` does: nothing is copied, and this process stands still
/// until the other has become a program or ended. Returns its pid.
///
/// Whatever `act` allocates and does not free stays here.
///
/// # Errors
/// The kernel's: too many processes, no memory for its stack.
pub fn start_sharing(mut act: impl FnMut() -> i32) -> io::Result<Pid> {
    const STACK: usize = 256 << 10;
    extern "C" fn enter<F: FnMut() -> i32>(act: *mut libc::c_void) -> i32 {
        // SAFETY: `act` is the closure below, which outlives this process, as its parent stands still.
        let act = unsafe { &mut *act.cast::<F>() };
        leave(act())
    }
    fn entry<F: FnMut() -> i32>(_: &F) -> extern "C" fn(*mut libc::c_void) -> i32 {
        enter::<F>
    }
    let mut stack: Vec<u128> = Vec::with_capacity(STACK / size_of::<u128>());
    let entry = entry(&act);
    // SAFETY: the stack is ours and aligned, and is not used for anything else until the process is gone from this
    // memory, for which CLONE_VFORK waits. The caller has one thread, so that nobody else runs in this memory meanwhile.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(stack.capacity());
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(entry, top.cast(), flags, (&raw mut act).cast())
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        pid => Pid::from_raw(pid).ok_or_else(|| io::ErrorKind::Other.into()),
    }
}

/// Becomes a program. Returns only on failure.
pub fn execute(program: &CStr, arguments: &[CString], variables: &[CString]) -> io::Error {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, variables) = (pointers(arguments), pointers(variables));
    // SAFETY: both lists end with a null, and the texts outlive the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), variables.as_ptr()) };
    io::Error::last_os_error()
}

/// A child that has ended.
pub struct Ended {
    pub pid: Pid,
    /// Its exit code, or 128 plus the signal that killed it.
    pub code: i32,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// CPU time of it and of all it waited for.
    pub cpu: Duration,
}

/// The result of [`reap`].
pub enum Reaped {
    One(Ended),
    /// There are children, and all live.
    NoneYet,
    /// There are no children.
    NoChildren,
}

/// Reaps a child that has ended.
pub fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: `rusage` is plain numbers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places are valid for the answers.
    let pid = unsafe { libc::wait4(-1, &mut status, libc::WNOHANG, &mut usage) };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    let signal = (!libc::WIFEXITED(status)).then(|| libc::WTERMSIG(status));
    let code = signal.map_or(libc::WEXITSTATUS(status), |signal| 128 + signal);
    match Pid::from_raw(pid.max(0)) {
        Some(pid) => {
            Reaped::One(Ended { pid, code, signal, cpu: time(usage.ru_utime) + time(usage.ru_stime) })
        }
        None if pid == 0 => Reaped::NoneYet,
        None => Reaped::NoChildren,
    }
}

/// Blocks SIGCHLD and returns a descriptor that becomes readable when a child ends.
///
/// # Errors
/// The kernel's.
pub fn children_signal() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by `sigemptyset` before it is used, and the descriptor is new.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        match libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            new => Ok(OwnedFd::from_raw_fd(new)),
        }
    }
}

/// Restores the default action of these signals, and unblocks all signals.
pub fn ordinary_signals(signals: impl IntoIterator<Item = i32>) {
    // SAFETY: setting a default action runs no code of ours; the set is initialised before it is used.
    unsafe {
        for signal in signals {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
    }
}

pub fn ignore_signal(signal: i32) {
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Ends this process at once; no destructor runs.
pub fn leave(code: i32) -> ! {
    // SAFETY: it does not return, and touches nothing.
    unsafe { libc::_exit(code) }
}

/// Hands a compiled filter of system calls to the kernel, for good.
///
/// # Errors
/// The kernel's: `EINVAL` for a wrong program, `ENOSYS` without seccomp.
pub fn install_filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let whole = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program, which outlives the call, and checks every instruction of it.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const whole) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The same for a filter that puts some calls to whoever holds the descriptor that it returns.
///
/// # Errors
/// The kernel's; `EBUSY` if somebody already answers for this process.
pub fn install_asking_filter(program: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let whole = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // SAFETY: as above; the descriptor is new, and closes when this process becomes a program.
    unsafe {
        match libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const whole) {
            -1 => Err(io::Error::last_os_error()),
            new => Ok(OwnedFd::from_raw_fd(new as i32)),
        }
    }
}

/// Maps anonymous memory, or `file` shared, and touches every `step`th byte of it, up to `length`; never unmaps it.
///
/// # Errors
/// The kernel's, when it refuses the mapping.
pub fn occupy(length: usize, step: usize, flags: i32, file: Option<i32>) -> io::Result<()> {
    let flags = if file.is_some() { libc::MAP_SHARED } else { flags | libc::MAP_ANONYMOUS };
    // SAFETY: a new mapping at a place of the kernel's choice overlaps nothing.
    let place = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            file.unwrap_or(-1),
            0,
        )
    };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // Huge pages for each touched byte would be another attack; kernels without them refuse this.
    // SAFETY: the mapping above, whole; advice changes nothing in it.
    unsafe { libc::madvise(place, length, libc::MADV_NOHUGEPAGE) };
    for at in (0..length).step_by(step) {
        // SAFETY: inside of the mapping, which nobody else uses.
        unsafe { place.cast::<u8>().add(at).write_volatile(1) };
    }
    Ok(())
}

/// Attaches a System V shared memory segment and fills the first `fill` bytes.
///
/// # Errors
/// The kernel's.
pub fn attach(id: i32, fill: usize) -> io::Result<()> {
    // SAFETY: a new mapping at a place of the kernel's choice overlaps nothing.
    let place = unsafe { libc::shmat(id, std::ptr::null(), 0) };
    if place as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    for at in (0..fill).step_by(4096) {
        // SAFETY: inside of the segment, whose size the caller has made `fill` at least.
        unsafe { place.cast::<u8>().add(at).write_volatile(1) };
    }
    Ok(())
}

/// Starts a thread with a small stack, which sleeps for `patience` and ends.
///
/// # Errors
/// When the system refuses a thread.
pub fn sleeping_thread(patience: Duration) -> io::Result<()> {
    std::thread::Builder::new().stack_size(16 << 10).spawn(move || std::thread::sleep(patience)).map(|_| ())
}

/// A system call through the gate for 32-bit programs (`int 0x80`), without arguments.
#[cfg(target_arch = "x86_64")]
pub fn call_of_32_bits(number: u32) -> i32 {
    let result: i32;
    // SAFETY: the calls made here (getpid) touch no memory; rbx, which the gate reads, is kept as it was.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("eax") number as i32 => result, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
    }
    result
}

/// The processor's counter of time.
#[cfg(target_arch = "x86_64")]
pub fn time_stamp() -> u64 {
    // SAFETY: it reads a register.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The processor's counter of time.
#[cfg(target_arch = "aarch64")]
pub fn time_stamp() -> u64 {
    let count: u64;
    // SAFETY: it reads a register that the kernel leaves open for the library's clocks.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
    count
}

/// Blocks a signal, so that it stays pending.
pub fn block_signal(signal: i32) {
    // SAFETY: the set is initialised by `sigemptyset` before it is used.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}
