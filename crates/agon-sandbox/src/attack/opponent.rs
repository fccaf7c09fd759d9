//! Attacks on an opponent, and on the referee, which runs as the same user if the machine allows no other.

use std::ffi::CString;
use std::fs;
use std::io::Read as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;

use rustix::process::{Pid, PidfdFlags};

use super::{Attack, AttackTry, Control, Target, absent, held, victim};
use crate::sys::{self, Arg};
use crate::{Level, Wall};

const PIDS: &str = "own processes (pid namespace)";
const IPC: &str = "own shared memory and queues (ipc namespace), filter";

pub fn list() -> Vec<Attack> {
    let new = Attack::new;
    vec![
        new("signal-opponent", "send a signal to the opponent", PIDS, |to| kill(to, libc::SYS_kill)),
        new("signal-opponent-thread", "send a signal to a thread of the opponent", PIDS, |to| {
            let both = &mut [Arg::Int(to.pid.into()), Arg::Int(to.pid.into()), Arg::Int(0)];
            reached(libc::SYS_tgkill, both, "its thread takes signals")
        }),
        new("signal-everybody", "send a signal to all that can be reached", PIDS, everybody).at(Level::B),
        new("signal-by-handle", "open a handle of the opponent and send a signal by it", PIDS, |to| {
            let handle = rustix::process::pidfd_open(pid(to)?, PidfdFlags::empty())?;
            let number = std::os::fd::AsRawFd::as_raw_fd(&handle);
            let send = &mut [Arg::Int(number.into()), Arg::Int(0), Arg::Int(0), Arg::Int(0)];
            reached(libc::SYS_pidfd_send_signal, send, "the handle takes signals")
        }),
        new("list-processes", "find the opponent in /proc", PIDS, |to| {
            let names = fs::read_dir("/proc")?.flatten().map(|entry| entry.file_name());
            let found = names.filter(|name| name.to_string_lossy() == to.pid.to_string()).count();
            if found > 0 { Ok(format!("process {} is listed", to.pid)) } else { held("it is not listed") }
        }),
        new("trace-opponent", "trace the opponent with ptrace", "own processes, filter", |to| {
            const SEIZE: i64 = 0x4206;
            let seize = &mut [Arg::Int(SEIZE), Arg::Int(to.pid.into()), Arg::Int(0), Arg::Int(0)];
            reached(libc::SYS_ptrace, seize, "it is traced")
        }),
        new("read-opponent-memory", "open /proc/PID/mem", PIDS, |to| {
            fs::File::open(format!("/proc/{}/mem", to.pid)).map(|_| "its memory is open".into())
        }),
        new("read-opponent-maps", "read /proc/PID/maps", PIDS, |to| {
            content(&format!("/proc/{}/maps", to.pid))
        }),
        new("read-opponent-environment", "read /proc/PID/environ", PIDS, |to| {
            content(&format!("/proc/{}/environ", to.pid))
        }),
        new("read-opponent-command", "read /proc/PID/cmdline", PIDS, |to| {
            content(&format!("/proc/{}/cmdline", to.pid))
        }),
        new("list-opponent-files", "list /proc/PID/fd", PIDS, |to| {
            fs::read_dir(format!("/proc/{}/fd", to.pid)).map(|all| format!("{} descriptors", all.count()))
        }),
        new("follow-opponent-folder", "read the link /proc/PID/cwd", PIDS, |to| {
            fs::read_link(format!("/proc/{}/cwd", to.pid)).map(|path| path.display().to_string())
        }),
        new("enter-opponent-root", "list /proc/PID/root", PIDS, |to| {
            fs::read_dir(format!("/proc/{}/root", to.pid)).map(|all| format!("{} entries", all.count()))
        }),
        new("offer-opponent-to-oom", "raise /proc/PID/oom_score_adj of the opponent", PIDS, |to| {
            fs::write(format!("/proc/{}/oom_score_adj", to.pid), "1000").map(|()| "it dies first".into())
        }),
        new("copy-from-opponent", "read its memory with process_vm_readv", "own processes, filter", |to| {
            vm(to, libc::SYS_process_vm_readv)
        }),
        new("copy-to-opponent", "write its memory with process_vm_writev", "own processes, filter", |to| {
            vm(to, libc::SYS_process_vm_writev)
        }),
        new(
            "take-opponent-descriptor",
            "take a descriptor with pidfd_getfd",
            "own processes, filter",
            |to| {
                let handle = rustix::process::pidfd_open(pid(to)?, PidfdFlags::empty())?;
                let number = std::os::fd::AsRawFd::as_raw_fd(&handle);
                let take = &mut [Arg::Int(number.into()), Arg::Int(0), Arg::Int(0)];
                sys::descriptor(libc::SYS_pidfd_getfd, take).map(|_| "its standard input".into())
            },
        ),
        new("compare-with-opponent", "compare kernel objects with kcmp", "own processes, filter", |to| {
            let own = i64::from(std::process::id());
            let ask = &mut [Arg::Int(own), Arg::Int(to.pid.into()), Arg::Int(1), Arg::Int(0), Arg::Int(0)];
            reached(libc::SYS_kcmp, ask, "compared")
        }),
        new("slow-opponent", "give the opponent a lower priority", "own processes, filter", |to| {
            let set = &mut [Arg::Int(0), Arg::Int(to.pid.into()), Arg::Int(lower())];
            reached(libc::SYS_setpriority, set, "its priority is lower")
        }),
        new("slow-user", "give the own user a lower priority", "filter", |_| {
            let user = i64::from(rustix::process::getuid().as_raw());
            // Outside, this would slow all programs of an ordinary user: only users reserved for slots try it
            // there.
            let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
            if user < i64::from(crate::slot::FIRST_USER) && parent != 1 {
                return Err(absent("all programs of this user would be slower"));
            }
            let set = &mut [Arg::Int(2), Arg::Int(user), Arg::Int(lower())];
            reached(libc::SYS_setpriority, set, "all of the user")
        }),
        new(
            "slow-opponent-disk",
            "give the opponent the last place at the disk",
            "own processes, filter",
            |to| {
                let set = &mut [Arg::Int(1), Arg::Int(to.pid.into()), Arg::Int(3 << 13)];
                reached(libc::SYS_ioprio_set, set, "it waits for the disk")
            },
        ),
        new(
            "make-opponent-idle",
            "put the opponent into another class of scheduling",
            "own processes, filter",
            |to| {
                let zero = [0_u8; 8];
                let set = &mut [Arg::Int(to.pid.into()), Arg::Int(libc::SCHED_BATCH.into()), Arg::In(&zero)];
                reached(libc::SYS_sched_setscheduler, set, "it runs in batches")
            },
        ),
        new("move-opponent", "put the opponent on a CPU of one's choice", "own processes, filter", |to| {
            affinity(to.pid)
        }),
        new("leave-own-cpu", "leave the CPU one was given", "filter", |_| affinity(0)),
        new(
            "limit-opponent",
            "read the limits of the opponent, to change them",
            "own processes, filter",
            |to| {
                let mut limit = [0_u8; 16];
                let ask = &mut [
                    Arg::Int(to.pid.into()),
                    Arg::Int(libc::RLIMIT_CPU.into()),
                    Arg::Int(0),
                    Arg::Out(&mut limit),
                ];
                reached(libc::SYS_prlimit64, ask, "its limits")
            },
        ),
        new(
            "signals-by-pipe",
            "let the kernel signal the opponent (F_SETOWN)",
            "own processes, filter",
            |to| {
                let own = &mut [Arg::Int(0), Arg::Int(libc::F_SETOWN.into()), Arg::Int(to.pid.into())];
                reached(libc::SYS_fcntl, own, "the kernel will signal it")
            },
        ),
        new("attach-shared-memory", "attach the opponent's shared memory", IPC, |to| {
            if to.ids[0] < 0 {
                return Err(absent("the victim has none"));
            }
            sys::attach(to.ids[0], 1).map(|()| "written to".into())
        }),
        new("use-semaphore", "change the opponent's semaphore", IPC, |to| {
            if to.ids[1] < 0 {
                return Err(absent("the victim has none"));
            }
            let set =
                &mut [Arg::Int(to.ids[1].into()), Arg::Int(0), Arg::Int(libc::SETVAL.into()), Arg::Int(1)];
            reached(libc::SYS_semctl, set, "set")
        }),
        new("send-message", "put a message into the opponent's queue of System V", IPC, |to| {
            if to.ids[2] < 0 {
                return Err(absent("the victim has none"));
            }
            let text = sys::bytes(&[1, 1]);
            let nowait = i64::from(libc::IPC_NOWAIT);
            let send = &mut [Arg::Int(to.ids[2].into()), Arg::In(&text), Arg::Int(8), Arg::Int(nowait)];
            reached(libc::SYS_msgsnd, send, "sent")
        }),
        new("open-message-queue", "open the opponent's POSIX message queue", IPC, |to| {
            let name = CString::new(to.name.as_str())?;
            let open = &mut [Arg::Text(&name), Arg::Int(libc::O_RDWR.into()), Arg::Int(0), Arg::Int(0)];
            sys::descriptor(libc::SYS_mq_open, open).map(|_| "open".into())
        }),
        new(
            "open-posix-memory",
            "open the opponent's file in /dev/shm",
            "own root (mount namespace)",
            |to| content(&format!("/dev/shm/{}", to.name)),
        ),
        new("connect-abstract-socket", "connect to an abstract socket", "own network, Landlock", |to| {
            let address = SocketAddr::from_abstract_name(&to.name)?;
            UnixStream::connect_addr(&address).map(|_| "connected".into())
        }),
        new("connect-path-socket", "connect to a socket in a folder", "own root (mount namespace)", |to| {
            UnixStream::connect(to.folder.join("open/socket")).map(|_| "connected".into())
        })
        .at(Level::B),
        new(
            "inherited-descriptors",
            "find something open beside input, output, errors",
            "close_range",
            |_| {
                let open = (3..1024).find(|number| {
                    sys::call(libc::SYS_fcntl, &mut [Arg::Int(*number), Arg::Int(libc::F_GETFD.into())])
                        .is_ok()
                });
                open.map(|number| format!("descriptor {number}"))
                    .map_or_else(|| held("nothing else is open"), Ok)
            },
        )
        .control(Control::Without(&[Wall::Descriptors])),
        new(
            "inherited-environment",
            "find a secret of the host in the environment",
            "own environment",
            |_| {
                let (name, _) = victim::SECRET.split_once('=').unwrap_or_default();
                std::env::var(name).map_or_else(|_| held("it is not there"), Ok)
            },
        )
        .control(Control::Without(&[Wall::Environment])),
        new("type-into-terminal", "type for somebody else (TIOCSTI)", "filter", |_| terminal(0x5412))
            .control(Control::Without(&[Wall::Filter])),
        new("type-with-high-bits", "the same with a bit above the low 32", "filter (low 32 bits)", |_| {
            terminal(0x1_0000_5412)
        })
        .control(Control::Without(&[Wall::Filter])),
        new("paste-into-terminal", "paste a selection of the console (TIOCLINUX)", "filter", |_| {
            terminal(0x541c)
        })
        .control(Control::Without(&[Wall::Filter])),
        new("widen-referee-pipe", "make the referee's pipe larger", "filter", |_| {
            const SET_PIPE_SIZE: i64 = 1031;
            let set = &mut [Arg::Int(1), Arg::Int(SET_PIPE_SIZE), Arg::Int(8192)];
            reached(libc::SYS_fcntl, set, "its size is another")
        })
        .control(Control::Without(&[Wall::Filter])),
    ]
}

fn pid(to: &Target) -> std::io::Result<Pid> {
    Pid::from_raw(to.pid).ok_or_else(|| absent("no victim"))
}

fn reached(call: libc::c_long, arguments: &mut [Arg<'_>], what: &str) -> AttackTry {
    sys::call(call, arguments).map(|_| what.to_owned())
}

fn kill(to: &Target, call: libc::c_long) -> AttackTry {
    reached(call, &mut [Arg::Int(to.pid.into()), Arg::Int(0)], "it takes signals")
}

/// `kill(-1, 0)`: succeeds if there is any process to signal.
fn everybody(_: &Target) -> AttackTry {
    reached(libc::SYS_kill, &mut [Arg::Int(-1), Arg::Int(0)], "somebody takes signals")
}

fn content(path: &str) -> AttackTry {
    let mut bytes = [0; 64];
    let count = fs::File::open(Path::new(path))?.read(&mut bytes)?;
    if count == 0 { held("it is empty") } else { Ok(format!("{count} bytes read")) }
}

fn vm(to: &Target, call: libc::c_long) -> AttackTry {
    // No bytes at all: the kernel only checks permission.
    let calls =
        &mut [Arg::Int(to.pid.into()), Arg::Int(0), Arg::Int(0), Arg::Int(0), Arg::Int(0), Arg::Int(0)];
    reached(call, calls, "its memory may be used").and_then(|won| {
        // That answer also comes for processes that do not exist.
        kill(to, libc::SYS_kill).map(|_| won)
    })
}

fn affinity(pid: i32) -> AttackTry {
    let mut set = [0_u8; 128];
    let get = &mut [Arg::Int(pid.into()), Arg::Int(128), Arg::Out(&mut set)];
    sys::call(libc::SYS_sched_getaffinity, get)?;
    reached(
        libc::SYS_sched_setaffinity,
        &mut [Arg::Int(pid.into()), Arg::Int(128), Arg::In(&set)],
        "its CPUs are set",
    )
}

/// Wins if the command reached the device (which is no terminal here): the filter must not allow that.
fn terminal(command: i64) -> AttackTry {
    match sys::call(libc::SYS_ioctl, &mut [Arg::Int(0), Arg::Int(command), Arg::Int(0)]) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
        Err(error) => Ok(format!("the device answered: {error}")),
        Ok(_) => Ok("typed".into()),
    }
}

/// A priority one step lower than ours, as a nice value: whoever was started with `nice` may not ask for a higher one.
fn lower() -> i64 {
    let own = rustix::process::getpriority_process(None).unwrap_or(0);
    i64::from((own + 1).min(19))
}
