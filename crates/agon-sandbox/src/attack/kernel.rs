//! Attacks on the kernel: own namespaces, and every part of it that a bot does not need.

use std::io;

use super::{Attack, AttackTry, Control};
use crate::Wall;
use crate::sys::{self, Arg, Forked};

const FILTER: &str = "filter of system calls";
const NO_FILTER: Control = Control::Without(&[Wall::Filter]);
/// In its own namespaces, with all rights in them.
const AS_ROOT: Control = Control::Without(&[Wall::Filter, Wall::Capabilities, Wall::Landlock]);

/// A program of one instruction, which keeps what was received.
static KEEP_ALL: libc::sock_filter = libc::sock_filter { code: 6, jt: 0, jf: 0, k: u32::MAX };

/// Calls whose kernel code must not be reached, with harmless arguments. Without the filter the kernel answers
/// that the call is not permitted or that the arguments are wrong; with it, that there is no such call.
macro_rules! reach {
    ($($name:literal $call:ident $what:literal [$($argument:expr),*];)*) => {
        vec![$(Attack::new($name, $what, FILTER, |_| reached(libc::$call, &mut [$(Arg::Int($argument)),*])).control(NO_FILTER)),*]
    };
}

pub fn list() -> Vec<Attack> {
    let new = Attack::new;
    let mut list = vec![
        new("namespace-by-unshare", "make a namespace of users with unshare", FILTER, |_| {
            sys::call(libc::SYS_unshare, &mut [Arg::Int(libc::CLONE_NEWUSER.into())])
                .map(|_| "root in it".into())
        })
        .control(NO_FILTER),
        new("namespace-by-clone", "make one with clone", FILTER, |_| {
            let flags = i64::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
            match sys::call(libc::SYS_clone, &mut [Arg::Int(flags)])? {
                0 => sys::leave(0),
                _ => Ok("a child that is root in it".into()),
            }
        })
        .control(NO_FILTER),
        new("namespace-by-clone3", "make one with clone3", FILTER, |_| {
            match sys::fork_into(libc::CLONE_NEWUSER as u64, None)? {
                Forked::Child => sys::leave(0),
                Forked::Parent(..) => Ok("a child that is root in it".into()),
            }
        })
        .control(NO_FILTER),
        new("all-namespaces", "make namespaces of every other kind", FILTER, |_| {
            const ALL: i64 = 0x7e02_0000 & !(libc::CLONE_NEWPID as i64);
            sys::call(libc::SYS_unshare, &mut [Arg::Int(ALL)]).map(|_| "of every kind".into())
        })
        .control(NO_FILTER),
        new("mount", "mount a file system over /tmp", FILTER, |_| {
            let mount =
                &mut [Arg::Text(c"x"), Arg::Text(c"/tmp"), Arg::Text(c"tmpfs"), Arg::Int(0), Arg::Int(0)];
            sys::call(libc::SYS_mount, mount).map(|_| "mounted".into())
        })
        .control(AS_ROOT),
        new("remount-writable", "make the root writable again", FILTER, |_| {
            let again = i64::from((libc::MS_REMOUNT | libc::MS_BIND) as u32);
            let mount =
                &mut [Arg::Text(c"x"), Arg::Text(c"/"), Arg::Text(c"x"), Arg::Int(again), Arg::Int(0)];
            sys::call(libc::SYS_mount, mount).map(|_| "writable".into())
        })
        .control(AS_ROOT),
        new("unmount-own-tmp", "unmount /tmp, to see what lies below", FILTER, |_| {
            let lazy = &mut [Arg::Text(c"/tmp"), Arg::Int(libc::MNT_DETACH.into())];
            sys::call(libc::SYS_umount2, lazy).map(|_| "it is gone".into())
        })
        .control(AS_ROOT),
        new("new-mount-api", "make a file system with fsopen", FILTER, |_| {
            sys::descriptor(libc::SYS_fsopen, &mut [Arg::Text(c"tmpfs"), Arg::Int(0)]).map(|_| "open".into())
        })
        .control(AS_ROOT),
        new("copy-mounts", "copy a tree of mounts with open_tree", FILTER, |_| {
            let copy = &mut [Arg::Int(libc::AT_FDCWD.into()), Arg::Text(c"/tmp"), Arg::Int(1)];
            sys::descriptor(libc::SYS_open_tree, copy).map(|_| "copied".into())
        })
        .control(AS_ROOT),
        new("change-root", "change the root folder", FILTER, |_| {
            sys::call(libc::SYS_chroot, &mut [Arg::Text(c"/tmp")]).map(|_| "another root".into())
        })
        .control(AS_ROOT),
        new("name-machine", "give the machine a name", FILTER, |_| {
            sys::call(libc::SYS_sethostname, &mut [Arg::Text(c"own"), Arg::Int(3)])
                .map(|_| "it is called own".into())
        })
        .control(AS_ROOT),
        new("trace-child", "let itself be traced", FILTER, |_| {
            sys::call(libc::SYS_ptrace, &mut [Arg::Int(0)]).map(|_| "traced".into())
        })
        .control(NO_FILTER),
        new("no-randomness", "switch off the randomness of addresses", FILTER, |_| {
            sys::call(libc::SYS_personality, &mut [Arg::Int(0x0040_0000)]).map(|_| "switched off".into())
        })
        .control(NO_FILTER),
        new("watch-files", "watch a folder that both bots see (inotify)", FILTER, |_| {
            let watch = sys::descriptor(libc::SYS_inotify_init1, &mut [Arg::Int(0)])?;
            let number = std::os::fd::AsRawFd::as_raw_fd(&watch);
            let add = &mut [Arg::Int(number.into()), Arg::Text(c"/usr"), Arg::Int(1)];
            sys::call(libc::SYS_inotify_add_watch, add).map(|_| "watched".into())
        })
        .control(NO_FILTER),
        new("notice-files", "watch a folder with signals (F_NOTIFY)", FILTER, |_| {
            let folder = std::fs::File::open("/usr")?;
            let number = std::os::fd::AsRawFd::as_raw_fd(&folder);
            let ask = &mut [Arg::Int(number.into()), Arg::Int(1026), Arg::Int(1)];
            sys::call(libc::SYS_fcntl, ask).map(|_| "watched".into())
        })
        .control(NO_FILTER),
        new("program-for-socket", "run a program in the kernel for what a socket receives", FILTER, |_| {
            let (one, _other) = std::os::unix::net::UnixDatagram::pair()?;
            let number = i64::from(std::os::fd::AsRawFd::as_raw_fd(&one));
            // `struct sock_fprog`: how many instructions, and where they are.
            let program = sys::bytes(&[1, (&raw const KEEP_ALL) as u64]);
            let level = Arg::Int(libc::SOL_SOCKET.into());
            let attach = Arg::Int(libc::SO_ATTACH_FILTER.into());
            let words = &mut [Arg::Int(number), level, attach, Arg::In(&program), Arg::Int(16)];
            sys::call(libc::SYS_setsockopt, words).map(|_| "it runs".into())
        })
        .control(NO_FILTER),
        new("dispatch-own-calls", "have its own calls dispatched by the kernel", FILTER, |_| {
            // Switched off, so that it can go on.
            sys::call(libc::SYS_prctl, &mut [Arg::Int(59), Arg::Int(0)])
                .map(|_| "the kernel's code answered".into())
        })
        .control(NO_FILTER),
    ];
    list.extend(calls());
    list
}

fn calls() -> Vec<Attack> {
    reach! {
        "reach-io-uring" SYS_io_uring_setup "reach io_uring" [1, 0];
        "reach-bpf" SYS_bpf "reach the kernel's programs (bpf)" [0, 0, 0];
        "reach-keys" SYS_add_key "reach the kernel's keys" [0, 0, 0, 0, -1];
        "reach-key-requests" SYS_request_key "reach requests for keys" [0, 0, 0, 0];
        "reach-key-control" SYS_keyctl "reach the control of keys" [0, -3, 0];
        "reach-performance-counters" SYS_perf_event_open "reach performance counters" [0, 0, -1, -1, 0];
        "reach-page-faults" SYS_userfaultfd "handle page faults itself" [1];
        "reach-fanotify" SYS_fanotify_init "watch the whole file system" [0, 0];
        "reach-file-handles" SYS_open_by_handle_at "open files by their handle" [-100, 0, 0];
        "reach-handle-names" SYS_name_to_handle_at "get handles of files" [-100, 0, 0, 0, 0];
        "reach-namespaces-of-others" SYS_setns "enter namespaces" [-1, 0];
        "reach-pivot-root" SYS_pivot_root "exchange the root" [0, 0];
        "reach-move-mount" SYS_move_mount "move mounts" [-1, 0, -1, 0, 0];
        "reach-mount-attributes" SYS_mount_setattr "change mounts" [-1, 0, 0, 0, 0];
        "reach-modules" SYS_init_module "load a module" [0, 0, 0];
        "reach-module-files" SYS_finit_module "load a module from a file" [-1, 0, 0];
        "reach-module-removal" SYS_delete_module "remove a module" [0, 0];
        "reach-reboot" SYS_reboot "reach the switch of the machine, with a wrong key" [0, 0, 0, 0];
        "reach-swap" SYS_swapon "add swap" [0, 0];
        "reach-swap-off" SYS_swapoff "remove swap" [0];
        "reach-accounting" SYS_acct "switch on accounting" [1];
        "reach-kernel-log" SYS_syslog "clear the kernel's log, with a wrong command" [99, 0, 0];
        "reach-quotas" SYS_quotactl "change quotas" [-1, 0, 0, 0];
        "reach-clock" SYS_clock_settime "set a clock that is not there" [99, 0];
        "reach-time-of-day" SYS_settimeofday "set the time, with a wrong address" [1, 0];
        "reach-clock-speed" SYS_clock_adjtime "change the speed of a clock that is not there" [99, 0];
        "reach-domain-name" SYS_setdomainname "name the domain" [1, -1];
        "reach-hang-up" SYS_vhangup "hang up the terminal" [];
        "reach-memory-policy" SYS_set_mempolicy "choose where memory lies" [99, 0, 0];
        "reach-page-moving" SYS_move_pages "move pages of memory" [0, 0, 0, 0, 0, 99];
        "reach-page-migration" SYS_migrate_pages "move a process's memory" [0, -1, 0, 0];
        "reach-memory-advice" SYS_process_madvise "advise on another's memory" [-1, 0, 0, 0, 0];
        "reach-memory-release" SYS_process_mrelease "release another's memory" [-1, 0];
        "reach-page-gifts" SYS_vmsplice "give pages to a pipe" [-1, 0, 0, 0];
        "reach-events-of-files" SYS_io_setup "take the machine's events of asynchronous input, with a wrong address" [1, 0];
        "reach-page-copies" SYS_tee "share pages between pipes" [-1, -1, 0, 0];
        "reach-several-futexes" SYS_futex_waitv "wait for several futexes" [0, 0, 1, 0, 0];
        "reach-queue-notices" SYS_mq_notify "be told of messages in a queue" [-1, 0];
        "reach-real-time" SYS_sched_setscheduler "run before everybody else" [0, 1, 0];
        "reach-deadlines" SYS_sched_setattr "run by deadlines" [0, 0, 0];
        "reach-messages" SYS_msgget "make a queue of System V, with no rights" [0, 0];
        "reach-semaphores" SYS_semget "make semaphores of System V, with a wrong number" [0, -1, 0];
    }
}

/// Whether the kernel's own code answered.
fn reached(call: libc::c_long, arguments: &mut [Arg<'_>]) -> AttackTry {
    match sys::call(call, arguments) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => Err(error),
        Err(error) => Ok(format!("the kernel answered: {}", short(&error))),
        Ok(_) => Ok("done".into()),
    }
}

fn short(error: &io::Error) -> String {
    error.to_string().split(" (os").next().unwrap_or_default().to_owned()
}
