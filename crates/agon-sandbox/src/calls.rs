//! The system calls that a program in a sandbox may make, who needs them, and why the others are refused.
//!
//! What is on no list here is refused like what is on the second, so that a newer kernel opens nothing. The lists were
//! checked against what starters, compilers and runtimes call (`cargo xtask long calls`, and `calls.txt` beside this
//! file says who calls what); calls whose arguments decide are limited further in the filter.

use libc::c_long;

/// Calls that belong together.
pub struct CallFamily {
    /// Who needs them, or why nobody gets them.
    pub why: &'static str,
    /// Their numbers here, and their names.
    pub calls: &'static [(c_long, &'static str)],
}

macro_rules! family {
    ($why:literal: $($call:ident)*) => {
        CallFamily { why: $why, calls: &[$((libc::$call, stringify!($call))),*] }
    };
}

/// The calls that a program may make.
pub const ALLOWED: &[CallFamily] = &[
    family!("reading and writing: every program":
        SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev SYS_preadv2
        SYS_pwritev2 SYS_lseek SYS_close SYS_close_range SYS_dup SYS_dup3 SYS_fcntl SYS_ioctl SYS_pipe2 SYS_flock),
    family!("files, of which it sees its own: every program, compilers and package managers most of all":
        SYS_openat SYS_openat2 SYS_newfstatat SYS_fstat SYS_statx SYS_statfs SYS_fstatfs SYS_faccessat SYS_faccessat2
        SYS_readlinkat SYS_getdents64 SYS_getcwd SYS_chdir SYS_fchdir SYS_mkdirat SYS_unlinkat SYS_renameat2
        SYS_linkat SYS_symlinkat SYS_mknodat SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_truncate
        SYS_ftruncate SYS_fallocate SYS_utimensat SYS_umask SYS_fsync SYS_fdatasync SYS_sync SYS_syncfs
        SYS_copy_file_range SYS_splice SYS_readahead),
    family!("attributes of files: cp, tar, ls, Java's Files":
        SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_listxattr SYS_llistxattr SYS_flistxattr SYS_setxattr
        SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr),
    family!("its own memory: every program; seals, guards and protection keys: JavaScript engines and new libraries":
        SYS_mmap SYS_munmap SYS_mremap SYS_mprotect SYS_madvise SYS_brk SYS_msync SYS_mincore SYS_mlock SYS_mlock2
        SYS_munlock SYS_mlockall SYS_munlockall SYS_memfd_create SYS_membarrier SYS_get_mempolicy SYS_pkey_alloc
        SYS_pkey_free SYS_pkey_mprotect SYS_mseal),
    family!("processes and threads of its own: every runtime, shells, `make`":
        SYS_clone SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_getpid SYS_getppid
        SYS_gettid SYS_getpgid SYS_setpgid SYS_getsid SYS_setsid SYS_set_tid_address SYS_futex SYS_set_robust_list
        SYS_get_robust_list SYS_rseq SYS_prctl SYS_personality SYS_pidfd_open SYS_prlimit64 SYS_getrusage
        SYS_times SYS_getcpu SYS_restart_syscall),
    family!("signals to its own: every runtime":
        SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigpending
        SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_sigaltstack
        SYS_signalfd4 SYS_pidfd_send_signal),
    family!("asking how it is scheduled, and giving way: Java, Go, Mono; what would change it is limited or refused":
        SYS_sched_yield SYS_sched_getaffinity SYS_sched_getparam SYS_sched_getscheduler SYS_sched_getattr
        SYS_sched_get_priority_max SYS_sched_get_priority_min SYS_sched_rr_get_interval SYS_sched_setscheduler
        SYS_getpriority SYS_setpriority SYS_ioprio_get),
    family!("time: every program":
        SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday SYS_getitimer
        SYS_setitimer SYS_timer_create SYS_timer_settime SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete
        SYS_timerfd_create SYS_timerfd_settime SYS_timerfd_gettime),
    family!("waiting for several things: Node, Go, Java, Python's asyncio":
        SYS_ppoll SYS_pselect6 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2),
    family!("sockets between its own processes, or of its own loopback: bots that dial in, multiprocessing, Java":
        SYS_socket SYS_socketpair SYS_bind SYS_listen SYS_accept SYS_accept4 SYS_connect SYS_shutdown
        SYS_getsockname SYS_getpeername SYS_getsockopt SYS_setsockopt SYS_sendto SYS_recvfrom SYS_sendmsg
        SYS_recvmsg SYS_sendmmsg SYS_recvmmsg),
    family!("asking who it is, and giving up rights, of which it has none to gain: shells, tar, xz":
        SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getresuid SYS_getresgid SYS_getgroups SYS_setuid
        SYS_setgid SYS_setreuid SYS_setregid SYS_setresuid SYS_setresgid SYS_setfsuid SYS_setfsgid SYS_setgroups
        SYS_capget SYS_capset SYS_seccomp SYS_landlock_create_ruleset SYS_landlock_add_rule
        SYS_landlock_restrict_self),
    family!("the machine's name and memory, and chance: every runtime": SYS_uname SYS_sysinfo SYS_getrandom),
    ALLOWED_HERE,
    CallFamily {
        why: "new forms of old calls, whose numbers are the same on all machines: new C libraries",
        calls: &[(452, "SYS_fchmodat2"), (453, "SYS_map_shadow_stack")],
    },
];

#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: CallFamily = family!("forms that only x86-64 has: programs of every kind":
    SYS_open SYS_creat SYS_stat SYS_lstat SYS_access SYS_readlink SYS_getdents SYS_mkdir SYS_rmdir SYS_unlink
    SYS_rename SYS_renameat SYS_link SYS_symlink SYS_mknod SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes
    SYS_futimesat SYS_dup2 SYS_pipe SYS_fork SYS_vfork SYS_getpgrp SYS_poll SYS_select SYS_epoll_create
    SYS_epoll_wait SYS_eventfd SYS_signalfd SYS_pause SYS_alarm SYS_time SYS_arch_prctl SYS_getrlimit
    SYS_setrlimit SYS_sendfile SYS_sync_file_range SYS_fadvise64);

#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: CallFamily = CallFamily {
    why: "the same calls as on x86-64, which the library does not number here",
    calls: &[
        (38, "SYS_renameat"),
        (71, "SYS_sendfile"),
        (84, "SYS_sync_file_range"),
        (163, "SYS_getrlimit"),
        (164, "SYS_setrlimit"),
        (223, "SYS_fadvise64"),
    ],
};

/// The calls that are refused, so that a refusal can be named and argued.
pub const REFUSED: &[CallFamily] = &[
    family!("its flags are where no filter can look; libraries fall back on clone": SYS_clone3),
    family!("other namespaces, roots and mounts":
        SYS_unshare SYS_setns SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_fsopen SYS_fsconfig SYS_fsmount
        SYS_fspick SYS_open_tree SYS_move_mount SYS_mount_setattr),
    family!("files by handles, past the names that it sees": SYS_name_to_handle_at SYS_open_by_handle_at),
    family!("quotas and mounts of the machine": SYS_quotactl SYS_quotactl_fd),
    family!("watching files that others use as well":
        SYS_fanotify_init SYS_fanotify_mark SYS_inotify_init1 SYS_inotify_add_watch SYS_inotify_rm_watch),
    family!("the memory, descriptors and secrets of other processes":
        SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_process_mrelease
        SYS_pidfd_getfd SYS_kcmp SYS_migrate_pages SYS_move_pages),
    family!("programs in the kernel, counters of its events": SYS_bpf SYS_perf_event_open),
    family!("handling page faults: it stops the kernel where an attacker likes": SYS_userfaultfd),
    family!("io_uring: a second way to most calls, past any filter":
        SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register),
    family!("asynchronous input and output, of which the whole machine has a fixed number of events":
        SYS_io_setup SYS_io_destroy SYS_io_getevents SYS_io_submit SYS_io_cancel),
    family!("keys, which the kernel keeps for a user and not for a sandbox":
        SYS_add_key SYS_request_key SYS_keyctl),
    family!("memory and pipes in forms that nobody uses, with a history of flaws":
        SYS_memfd_secret SYS_vmsplice SYS_tee SYS_remap_file_pages),
    family!("System V and POSIX queues, memory and semaphores, which outlive a process":
        SYS_shmget SYS_shmat SYS_shmdt SYS_shmctl SYS_msgget SYS_msgsnd SYS_msgrcv SYS_msgctl SYS_semget SYS_semop
        SYS_semtimedop SYS_semctl SYS_mq_open SYS_mq_unlink SYS_mq_timedsend SYS_mq_timedreceive SYS_mq_notify
        SYS_mq_getsetattr),
    family!("the machine: its clock, modules, kernel, names, swap, log and accounts":
        SYS_acct SYS_adjtimex SYS_clock_adjtime SYS_clock_settime SYS_settimeofday SYS_delete_module
        SYS_init_module SYS_finit_module SYS_kexec_load SYS_kexec_file_load SYS_lookup_dcookie SYS_nfsservctl
        SYS_reboot SYS_sethostname SYS_setdomainname SYS_swapon SYS_swapoff SYS_syslog SYS_vhangup),
    family!("where memory lies, and when and where a program runs: the referee's business":
        SYS_mbind SYS_set_mempolicy SYS_sched_setaffinity SYS_sched_setattr SYS_sched_setparam SYS_ioprio_set),
    family!("waiting for several futexes, which no runtime does": SYS_futex_waitv),
    REFUSED_HERE,
    CallFamily {
        why: "new calls that tell of mounts, modules and the page cache, which are others' as well",
        calls: &[
            (450, "SYS_set_mempolicy_home_node"),
            (451, "SYS_cachestat"),
            (457, "SYS_statmount"),
            (458, "SYS_listmount"),
            (459, "SYS_lsm_get_self_attr"),
            (460, "SYS_lsm_set_self_attr"),
            (461, "SYS_lsm_list_modules"),
        ],
    },
    CallFamily {
        why: "new forms of futexes, for which libraries have the old one",
        calls: &[(454, "SYS_futex_wake"), (455, "SYS_futex_wait"), (456, "SYS_futex_requeue")],
    },
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: CallFamily = CallFamily {
    why: "forms that only x86-64 has: ports, segments of 32 bits, and calls of the first kernels",
    calls: &[
        (libc::SYS_inotify_init, "SYS_inotify_init"),
        (libc::SYS_iopl, "SYS_iopl"),
        (libc::SYS_ioperm, "SYS_ioperm"),
        (libc::SYS_modify_ldt, "SYS_modify_ldt"),
        (libc::SYS_uselib, "SYS_uselib"),
        (libc::SYS_ustat, "SYS_ustat"),
        (libc::SYS_sysfs, "SYS_sysfs"),
        (libc::SYS__sysctl, "SYS__sysctl"),
        (libc::SYS_set_thread_area, "SYS_set_thread_area"),
        (libc::SYS_get_thread_area, "SYS_get_thread_area"),
        (174, "SYS_create_module"),
        (177, "SYS_get_kernel_syms"),
        (178, "SYS_query_module"),
        (libc::SYS_getpmsg, "SYS_getpmsg"),
        (libc::SYS_putpmsg, "SYS_putpmsg"),
        (libc::SYS_afs_syscall, "SYS_afs_syscall"),
        (libc::SYS_tuxcall, "SYS_tuxcall"),
        (libc::SYS_security, "SYS_security"),
        (libc::SYS_vserver, "SYS_vserver"),
        (libc::SYS_epoll_ctl_old, "SYS_epoll_ctl_old"),
        (libc::SYS_epoll_wait_old, "SYS_epoll_wait_old"),
        (333, "SYS_io_pgetevents"),
    ],
};

#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: CallFamily = CallFamily {
    why: "asynchronous input and output, of which the whole machine has a fixed number of events",
    calls: &[(292, "SYS_io_pgetevents")],
};

/// All calls of these families.
pub fn all(families: &'static [CallFamily]) -> impl Iterator<Item = (c_long, &'static str)> {
    families.iter().flat_map(|family| family.calls).copied()
}

/// The name of a call, and why it is refused if it always is.
pub fn known(call: c_long) -> Option<(&'static str, Option<&'static str>)> {
    let named = |families: &'static [CallFamily]| {
        families.iter().find_map(|family| {
            let (_, name) = family.calls.iter().find(|(number, _)| *number == call)?;
            Some((name.strip_prefix("SYS_").unwrap_or(name), family.why))
        })
    };
    named(ALLOWED)
        .map(|(name, _)| (name, None))
        .or_else(|| named(REFUSED).map(|(name, why)| (name, Some(why))))
}
