//! The spawner: a small single-threaded process that forks the sandboxes of one run of the program.
//!
//! A program with many threads and much memory forks slowly, and the copy may do next to nothing before it starts
//! another program. The spawner does nothing else. It ends when its host does, however the host ends, and everything it
//! has started ends with it.

use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal};

use crate::confinement::Wall;
use crate::group::{Group, Hierarchies};
use crate::init;
use crate::message::{self, Born, Plan, Request, Step as _, StepRefusal};
use crate::program::stay_on;
use crate::root::{self, Prepared, Trees};
use crate::sys::{self, Arg, Forked};

/// All kinds of namespaces except cgroup namespaces, which are entered from inside the cgroup.
const NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWNET;

/// Signals the spawner ignores; the init restores all but the last.
pub const IGNORED: [i32; 4] = [libc::SIGCHLD, libc::SIGINT, libc::SIGTERM, libc::SIGPIPE];

/// The spawner's whole life. Its standard input is the connection to its host, its standard output the host's claim;
/// `prefix` begins the names of the cgroups that the host creates for it in `groups`.
pub fn serve(prefix: &str, groups: Option<&Hierarchies>) {
    // Held to the end, and by nothing that is forked: a sandbox closes everything beyond the standard descriptors.
    let _claim = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3);
    if let Ok(nothing) = rustix::fs::open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::stdio::dup2_stdout(&nothing);
    }
    // Resets whatever our starter ignores. The kernel then forgets children that end, and orphans nobody else waits
    // for.
    sys::ordinary_signals(1..=64);
    IGNORED.into_iter().for_each(sys::ignore_signal);
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    // Our starter may be pinned to one CPU; processes started here are pinned as their order says.
    stay_on(&[]);
    answer(None);
    // The host is gone. What it started dies with us, and its cgroups are removed once they are empty.
    if let Some(groups) = groups {
        groups.sweep(prefix);
    }
}

/// Where a keeper lives.
struct Home<'a> {
    group: &'a Group,
    /// The network it was born in, if it has its own empty one, which belongs to no user of a sandbox.
    outside: Option<OwnedFd>,
}

/// Serves the host's requests until it is gone.
fn answer(home: Option<&Home<'_>>) {
    let connection = std::io::stdin();
    let (mut prepared, mut cpus) = (Prepared::default(), Vec::new());
    while let Ok(Some((request, mut with))) = message::receive::<Request>(&connection) {
        let born = match (request, with.pop()) {
            (Request::Build(plan), Some(control)) => {
                if plan.cpus != cpus {
                    stay_on(&plan.cpus);
                    cpus.clone_from(&plan.cpus);
                }
                begin(&plan, control, &mut prepared, home)
            }
            (Request::Keep(group), Some(connection)) => keep(&group, &connection),
            _ => Err(StepRefusal { step: "the order".into(), why: "no connection".into(), errno: 0 }),
        };
        let answered = match born {
            Ok((pid, handle)) => {
                message::send(&connection, &Born::Yes { pid: pid.as_raw_nonzero().get() }, &[handle.as_fd()])
            }
            Err(refusal) => message::send(&connection, &Born::No(refusal), &[]),
        };
        if answered.is_err() {
            break;
        }
    }
}

/// Forks a keeper. With cgroups version 1, a process that moves to another group waits until no CPU of the machine is
/// in the middle of a fork: milliseconds, too long to wait in every match. Whatever a keeper forks is born where the
/// keeper is.
///
/// It also has an empty network for everything it forks, one after the other: creating and removing one costs the
/// machine half a millisecond each time. Programs that dial in get another.
fn keep(group: &Group, connection: &OwnedFd) -> Result<(Pid, OwnedFd), StepRefusal> {
    let parent = rustix::process::getpid();
    match sys::fork_into(0, None).step("a keeper")? {
        Forked::Child => {
            let own = rustix::stdio::dup2_stdin(connection)
                .and_then(|()| rustix::process::set_parent_process_death_signal(Some(Signal::KILL)));
            if own.is_ok() && rustix::process::getppid() == Some(parent) {
                // A bot that uses up its memory must be killed for that, not the keeper.
                let _ = fs::write("/proc/self/oom_score_adj", "-1000");
                let outside = rustix::fs::open("/proc/self/ns/net", OFlags::CLOEXEC, Mode::empty());
                let apart = || sys::call(libc::SYS_unshare, &mut [Arg::Int(libc::CLONE_NEWNET.into())]);
                answer(Some(&Home { group, outside: outside.ok().filter(|_| apart().is_ok()) }));
            }
            sys::leave(0)
        }
        Forked::Parent(pid, handle) => {
            let handle = handle.ok_or_else(|| StepRefusal::new("its handle", std::io::ErrorKind::Other))?;
            group.admit(pid).step("the cgroup")?;
            Ok((pid, handle))
        }
    }
}

fn begin(
    plan: &Plan,
    control: OwnedFd,
    prepared: &mut Prepared,
    home: Option<&Home<'_>>,
) -> Result<(Pid, OwnedFd), StepRefusal> {
    if let Err(wrong) = plan.confinement.check() {
        return Err(StepRefusal {
            step: "the description".into(),
            why: wrong.to_string(),
            errno: libc::EINVAL,
        });
    }
    let apart = plan.has(Wall::Namespaces);
    // Root's own files are out of reach for the sandbox's users, so what is shown is taken hold of now. Without
    // privileges that can only be done inside, where the user is still the same.
    let trees = match plan.user {
        Some(user) if apart => Some(Trees::hold(&plan.confinement, Some((prepared, user + 1)))?),
        _ => None,
    };
    let group = plan.group.as_ref().filter(|_| plan.has(Wall::Group));
    let birthplace = group.and_then(|group| group.birthplace());
    let birthplace = birthplace
        .map(|path| rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()))
        .transpose()
        .step("the cgroup")?;
    let record = plan.record.as_ref().map(|record| record.open()).transpose().step("the record of calls")?;
    let (wait, go) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).step("a pipe")?;
    let outside = home.and_then(|home| home.outside.as_ref());
    let shares = outside.is_some() && !plan.confinement.network.has_sockets();
    let namespaces = match apart {
        true if shares => NAMESPACES & !libc::CLONE_NEWNET,
        true => NAMESPACES,
        false => 0,
    };
    let forked = sys::fork_into(namespaces as u64, birthplace.as_ref().map(|place| place.as_raw_fd()));
    match forked.step("namespaces") {
        Err(refusal) => Err(refusal),
        Ok(Forked::Child) => {
            drop(go);
            if outside.filter(|_| !apart).is_some_and(|outside| enter(outside).is_err()) {
                sys::leave(1)
            }
            // Without the byte, the parent has given up.
            if rustix::io::read(&wait, &mut [0_u8; 1]) == Ok(1) {
                drop(wait);
                init::live(plan, trees, control, record);
            }
            sys::leave(1)
        }
        Ok(Forked::Parent(pid, handle)) => {
            let handle = handle.ok_or_else(|| StepRefusal::new("its handle", std::io::ErrorKind::Other))?;
            // The process waits, so its pid cannot mean another one.
            if apart {
                users(pid, plan.user)?;
            }
            if let Some(group) = group.filter(|group| home.is_none_or(|home| home.group != *group)) {
                group.admit(pid).step("the cgroup")?;
            }
            rustix::io::write(&go, b"!").step("its beginning")?;
            Ok((pid, handle))
        }
    }
}

/// Moves this process into a network namespace.
fn enter(network: &OwnedFd) -> std::io::Result<()> {
    let arguments = &mut [Arg::Int(network.as_raw_fd().into()), Arg::Int(libc::CLONE_NEWNET.into())];
    sys::call(libc::SYS_setns, arguments).map(|_| ())
}

/// Maps the users of a new namespace to users outside.
fn users(pid: Pid, user: Option<u32>) -> Result<(), StepRefusal> {
    let write = |file: &str, text: &str| {
        let path = format!("/proc/{}/{file}", pid.as_raw_nonzero());
        fs::write(Path::new(&path), text).step(file)
    };
    match user {
        Some(user) => {
            let map = format!("0 {user} 1\n{} {} 1\n", root::INSIDE, user + 1);
            write("gid_map", &map)?;
            write("uid_map", &map)
        }
        None => {
            let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
            write("setgroups", "deny")?;
            write("gid_map", &format!("{} {group} 1", root::INSIDE))?;
            write("uid_map", &format!("{} {user} 1", root::INSIDE))
        }
    }
}
