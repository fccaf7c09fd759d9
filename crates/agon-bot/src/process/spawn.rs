//! Starting a bot without copying ourselves: Linux.
//!
//! `fork`, which [`Command::spawn`] uses for anything unusual, copies this program's page tables and makes all its
//! memory read-only. After each start every thread then pays for its next write to each page, and with several
//! threads each such payment interrupts the other CPUs: two workers were only 1.6 times as fast as one. Here the
//! child borrows our memory for the few microseconds until it becomes the bot, while the thread that starts it
//! sleeps. That is what `posix_spawn` does, which however cannot express what a bot must not do.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use rustix::thread::CpuSet;

use crate::{rights, sys};

/// A started process, with our ends of its pipes.
#[derive(Debug)]
pub struct StartedProcess {
    pub pid: Pid,
    /// Writes to its standard input.
    pub input: OwnedFd,
    /// Reads its standard output.
    pub output: OwnedFd,
    /// Reads its standard error.
    pub error: OwnedFd,
}

/// The child's stack until it becomes the bot; it makes no deep calls.
const STACK: usize = 32 << 10;

/// Everything the child needs, prepared beforehand because it must not allocate.
struct Plan {
    program: CString,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// The shell's arguments, for running what the system does not accept as a program.
    shell: Vec<*const c_char>,
    folder: Option<CString>,
    pipes: [c_int; 3],
    cpus: Option<CpuSet>,
    /// Its umask, where ours is not our user's.
    umask: Option<libc::mode_t>,
    parent: c_int,
    /// The error for which it could not become the bot.
    failed: AtomicI32,
}

/// Starts a process with three pipes, contained as [`sys::contain`] says, on `cpus` (those of this thread if there
/// are none). It takes program, arguments, environment and folder from `command`.
///
/// The calling thread must live as long as the process. The standard output of a `joined` process goes to its
/// standard error.
///
/// # Errors
/// Those of the system, as [`Command::spawn`] gives them.
pub fn spawn(command: &Command, cpus: &[usize], joined: bool) -> io::Result<StartedProcess> {
    let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
    let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => environment.insert(name.to_owned(), value.to_owned()),
            None => environment.remove(name),
        };
    }
    let folder = command.get_current_dir();
    let path =
        environment.get(OsStr::new("PATH")).map_or(OsStr::new("/bin:/usr/bin"), |path| path.as_os_str());
    let program = text(find(command.get_program(), folder, path).as_os_str())?;
    let arguments: Vec<CString> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(text)
        .collect::<io::Result<_>>()?;
    let environment: Vec<CString> = environment
        .into_iter()
        .map(|(mut entry, value)| {
            entry.push("=");
            entry.push(value);
            text(&entry)
        })
        .collect::<io::Result<_>>()?;
    let (input, output, error) =
        (pipe_with(PipeFlags::CLOEXEC)?, pipe_with(PipeFlags::CLOEXEC)?, pipe_with(PipeFlags::CLOEXEC)?);
    let pointers =
        |list: &[CString]| list.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
    let shell = [c"/bin/sh".as_ptr(), program.as_ptr()];
    let rest = arguments[1..].iter().map(|argument| argument.as_ptr());
    let cpus = (!cpus.is_empty()).then(|| {
        let mut set = CpuSet::new();
        cpus.iter().for_each(|&cpu| set.set(cpu));
        set
    });
    let said = if joined { &error.1 } else { &output.1 };
    let plan = Plan {
        arguments: pointers(&arguments),
        environment: pointers(&environment),
        shell: shell.into_iter().chain(rest).chain([std::ptr::null()]).collect(),
        program,
        folder: folder.map(|folder| text(folder.as_os_str())).transpose()?,
        pipes: [input.0.as_raw_fd(), said.as_raw_fd(), error.1.as_raw_fd()],
        cpus,
        umask: rights::users(),
        parent: rustix::process::getpid().as_raw_nonzero().get(),
        failed: AtomicI32::new(0),
    };
    let pid = start(&plan)?;
    Ok(StartedProcess { pid, input: input.1, output: output.0, error: error.0 })
}

/// The file that `program` names: as written if it names a folder, else the first match on the path.
pub fn find(program: &OsStr, folder: Option<&Path>, path: &OsStr) -> PathBuf {
    let plain = PathBuf::from(program);
    if program.as_bytes().contains(&b'/') {
        return plain;
    }
    let seen_from = folder.unwrap_or(Path::new(""));
    let mut found = std::env::split_paths(path).map(|place| place.join(program));
    // If it is not found, a name that certainly does not exist makes the system report it.
    found
        .find(|file| {
            let seen = seen_from.join(file);
            seen.is_file() && sys::may_execute(&seen)
        })
        .unwrap_or_else(|| Path::new("/nonexistent").join(plain))
}

fn start(plan: &Plan) -> io::Result<Pid> {
    let mut stack: Vec<MaybeUninit<u128>> = Vec::with_capacity(STACK / size_of::<u128>());
    // SAFETY: the child runs `become_bot` on a stack of its own that lives until it has become the bot or
    // ended: CLONE_VFORK keeps this thread asleep until then, so that nothing it was given moves or is
    // freed. All signals are blocked meanwhile, so that no handler of ours runs in the child. It has a
    // copy of descriptors, signal handlers and working folder, as none of them is shared by a flag.
    unsafe {
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let top = stack.as_mut_ptr().add(stack.capacity()).cast::<c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let given: *const Plan = plan;
        let pid = libc::clone(become_bot, top, flags, given.cast_mut().cast());
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        let Some(pid) = Pid::from_raw(pid).filter(|_| pid > 0) else { return Err(error) };
        match plan.failed.load(Ordering::Relaxed) {
            0 => Ok(pid),
            failed => {
                libc::waitpid(pid.as_raw_nonzero().get(), std::ptr::null_mut(), 0);
                Err(io::Error::from_raw_os_error(failed))
            }
        }
    }
}

/// The child, until it becomes the bot.
extern "C" fn become_bot(plan: *mut c_void) -> c_int {
    // SAFETY: `start` gives a plan and sleeps until we are done with it; nothing here allocates, locks
    // or panics.
    unsafe {
        let plan = &*plan.cast::<Plan>();
        try_become(plan);
        plan.failed.store(*libc::__errno_location(), Ordering::Relaxed);
        libc::_exit(127)
    }
}

/// Returns only when a call has failed, and leaves its error.
///
/// # Safety
/// To be called in the child only.
unsafe fn try_become(plan: &Plan) {
    // SAFETY: plain system calls with pointers that the plan keeps alive.
    unsafe {
        for (place, &pipe) in (0..).zip(&plan.pipes) {
            if libc::dup2(pipe, place) < 0 {
                return;
            }
        }
        if let Some(folder) = &plan.folder
            && libc::chdir(folder.as_ptr()) < 0
        {
            return;
        }
        if let Some(mask) = plan.umask {
            libc::umask(mask);
        }
        // From here on it is in its own session, where a Ctrl-C in our terminal does not reach it.
        sys::contain(plan.parent, plan.cpus.as_ref());
        // Which signals we ignore or handle must not affect the bot. A signal sent while it was still in our process
        // group is pending; ignoring it once discards it. It was meant for us, and would kill the bot instead, which
        // looks like a crash.
        let mut action: libc::sigaction = std::mem::zeroed();
        for signal in 1..32 {
            for handler in [libc::SIG_IGN, libc::SIG_DFL] {
                action.sa_sigaction = handler;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
        let mut none = MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        libc::execve(plan.program.as_ptr(), plan.arguments.as_ptr(), plan.environment.as_ptr());
        if *libc::__errno_location() == libc::ENOEXEC {
            libc::execve(c"/bin/sh".as_ptr(), plan.shell.as_ptr(), plan.environment.as_ptr());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read as _, Write as _};

    use super::*;

    fn said(command: &Command) -> (String, i32) {
        let started = spawn(command, &[], false).expect("it starts");
        File::from(started.input).write_all(b"hello\n").expect("it reads");
        let mut text = String::new();
        File::from(started.output).read_to_string(&mut text).expect("it writes");
        let mut status = 0;
        // SAFETY: a child of ours, waited for once.
        unsafe { libc::waitpid(started.pid.as_raw_nonzero().get(), &mut status, 0) };
        (text, status)
    }

    #[test]
    fn a_program_gets_its_words_its_environment_and_its_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a folder");
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "read line; echo \"$line $1 $OWN $HOME\"; pwd; cat /proc/self/status",
            "x",
            "two words",
        ]);
        command.env("OWN", "mine").env_remove("HOME").current_dir(&folder);
        let (text, status) = said(&command);
        assert!(text.starts_with(&format!("hello two words mine \n{}\n", folder.display())), "{text}");
        assert!(text.contains("NoNewPrivs:\t1"), "{text}");
        let blocked = text.lines().find(|line| line.starts_with("SigBlk:") || line.starts_with("SigIgn:"));
        assert!(blocked.is_some_and(|line| line.ends_with("0000000000000000")), "{text}");
        assert_eq!(status, 0);
    }

    #[test]
    fn what_cannot_start_says_why() {
        let error = |program: &str| spawn(&Command::new(program), &[], false).unwrap_err().raw_os_error();
        assert_eq!(error("no-such-program-anywhere"), Some(libc::ENOENT));
        assert_eq!(error("/etc/passwd"), Some(libc::EACCES));
        let mut elsewhere = Command::new("true");
        elsewhere.current_dir("/no/such/folder");
        assert_eq!(spawn(&elsewhere, &[], false).unwrap_err().raw_os_error(), Some(libc::ENOENT));
    }

    #[test]
    fn a_script_without_a_first_line_is_run_by_the_shell() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("bot");
        std::fs::write(&script, "read line; echo \"got $line and $1\"\n").expect("written");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("executable");
        let mut command = Command::new("./bot");
        command.arg("more").current_dir(folder.path());
        assert_eq!(said(&command).0, "got hello and more\n");
    }

    /// Runs in a process group of its own, which it floods with interrupts while it starts programs.
    #[test]
    #[ignore = "run by the next test"]
    fn starts_programs_under_fire() {
        if std::env::var_os("AGON_UNDER_FIRE").is_none() {
            return;
        }
        // SAFETY: this process ignores the signal; that concerns no other.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
        // Ends with this process, even if the assertion fails.
        std::thread::spawn(|| {
            loop {
                // SAFETY: a plain system call; the group is ours alone.
                unsafe { libc::kill(0, libc::SIGINT) };
            }
        });
        for _ in 0..300 {
            let started = spawn(&Command::new("true"), &[], false).expect("it starts");
            let mut status = 0;
            // SAFETY: a child of ours, waited for once.
            unsafe { libc::waitpid(started.pid.as_raw_nonzero().get(), &mut status, 0) };
            assert_eq!(status, 0, "an interrupt ended it");
        }
    }

    #[test]
    fn an_interrupt_of_our_process_group_reaches_no_bot() {
        use std::os::unix::process::CommandExt as _;
        let mut own = Command::new(std::env::current_exe().expect("this test"));
        own.args(["--exact", "process::spawn::tests::starts_programs_under_fire", "--include-ignored"]);
        let output = own.env("AGON_UNDER_FIRE", "1").process_group(0).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[test]
    fn many_threads_start_programs_at_once() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let (text, status) = said(Command::new("cat").arg("-"));
                        assert_eq!((text.as_str(), status), ("hello\n", 0));
                    }
                });
            }
        });
    }
}
