//! The filter of system calls: a program for the kernel's small virtual machine.
//! Longer than 500 lines: the calls are one list, of a line each.
//!
//! A refused call answers "there is no such call" (`ENOSYS`), like a kernel without it: libraries know how to go on,
//! and an attack can tell that the kernel's code was not reached. Calls newer than this list are refused too. The
//! kernel takes arguments as `int`s, so only their low 32 bits are compared: comparing more would let through a call
//! with some high bit set. Programs of another kind (32 bits, x32), whose numbers mean other calls, are killed.

use libc::{c_long, sock_filter};

/// The answer to a refused call.
const ABSENT: u32 = libc::ENOSYS as u32;
const FORBIDDEN: u32 = libc::EPERM as u32;
/// Success is reported though nothing was done: some programs print errors on standard output.
const QUIET: u32 = 0;
/// The init answers in the kernel's place.
const ASKED: u32 = u32::MAX;

/// When a call is refused.
enum When {
    Always,
    /// When the argument with this number is one of these values.
    Is(u32, &'static [u32]),
    /// When the argument is none of these values.
    IsNot(u32, &'static [u32]),
    /// When the argument has any of these bits.
    AnyBit(u32, u32),
    /// When the argument has all of these bits.
    AllBits(u32, u32),
}

/// A call, when it is refused, and the answer.
struct Rule(c_long, When, u32);

/// What differs between sandboxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Sockets of the internet families, for a loopback of its own.
    pub sockets: bool,
    /// No cgroup counts memory, so calls that use memory not covered by a process's limits are refused.
    pub strict: bool,
    /// The init answers how much memory there is.
    pub asks: bool,
}

/// All `clone` flags that create a namespace.
const NAMESPACES: u32 = 0x7e02_0000;
/// The newest call considered (`listmount`, Linux 6.8, and those added up to 6.12).
const NEWEST: u32 = 462;

// Newer calls, whose numbers are the same on all machines.
const SET_MEMPOLICY_HOME_NODE: c_long = 450;
const CACHESTAT: c_long = 451;
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;
const LSM_GET_SELF_ATTR: c_long = 459;
const LSM_SET_SELF_ATTR: c_long = 460;
const LSM_LIST_MODULES: c_long = 461;
#[cfg(target_arch = "x86_64")]
const IO_PGETEVENTS: c_long = 333;
#[cfg(not(target_arch = "x86_64"))]
const IO_PGETEVENTS: c_long = 292;

/// Calls that no game needs, or that reach what belongs to others.
const REFUSED: &[c_long] = &[
    // Other namespaces and mounts. Landlock and `seccomp` itself are allowed.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_inotify_init1,
    // `clone3` has its flags where a filter cannot look; the library falls back on `clone`.
    libc::SYS_clone3,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Parts of the kernel with a history of flaws.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_memfd_secret,
    libc::SYS_vmsplice,
    libc::SYS_remap_file_pages,
    // Of asynchronous input and output the whole machine has a fixed number of events, which one bot could take.
    libc::SYS_io_setup,
    libc::SYS_io_destroy,
    libc::SYS_io_getevents,
    libc::SYS_io_submit,
    libc::SYS_io_cancel,
    IO_PGETEVENTS,
    // What the kernel keeps of files that others read, too, and what it tells of mounts and its modules.
    CACHESTAT,
    STATMOUNT,
    LISTMOUNT,
    LSM_GET_SELF_ATTR,
    LSM_SET_SELF_ATTR,
    LSM_LIST_MODULES,
    // System V memory and queues, which outlive a process.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
    // The machine.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_settimeofday,
    libc::SYS_delete_module,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_kexec_load,
    libc::SYS_nfsservctl,
    libc::SYS_reboot,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
    SET_MEMPOLICY_HOME_NODE,
    // Scheduling and placement are the referee's business.
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_ioprio_set,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_inotify_init,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
    libc::SYS_lookup_dcookie,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: u32 = 0;

fn rules(shape: Shape) -> Vec<Rule> {
    const UNIX: &[u32] = &[libc::AF_UNIX as u32];
    const LOOPBACK: &[u32] = &[libc::AF_UNIX as u32, libc::AF_INET as u32, libc::AF_INET6 as u32];
    let unknown_family = libc::EAFNOSUPPORT as u32;
    let families = if shape.sockets { LOOPBACK } else { UNIX };
    let mut rules = vec![
        Rule(libc::SYS_socket, When::IsNot(0, families), unknown_family),
        Rule(libc::SYS_socketpair, When::IsNot(0, UNIX), unknown_family),
        // Typing into somebody else's terminal: TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD.
        Rule(libc::SYS_ioctl, When::Is(1, &[0x5412, 0x541c, 0x541d, 0x5423]), FORBIDDEN),
        Rule(libc::SYS_clone, When::AnyBit(0, NAMESPACES), FORBIDDEN),
        // Signals and leases on what others hold, and who holds a lock; the size of the referee's pipes.
        Rule(libc::SYS_fcntl, When::Is(1, FCNTL), FORBIDDEN),
        // Two bots could talk by locking a file that both may read; Java complains when this is refused.
        Rule(libc::SYS_flock, When::Always, QUIET),
        // Which parts of a file are in memory tells who has read it, and what the kernel forgets others have to wait for.
        Rule(libc::SYS_preadv2, When::AnyBit(5, libc::RWF_NOWAIT as u32), libc::EOPNOTSUPP as u32),
        Rule(libc::SYS_fadvise64, When::Is(3, &[libc::POSIX_FADV_DONTNEED as u32]), FORBIDDEN),
        Rule(libc::SYS_personality, When::IsNot(0, &[0, u32::MAX]), FORBIDDEN),
        Rule(libc::SYS_prlimit64, When::IsNot(0, &[0]), FORBIDDEN),
        Rule(libc::SYS_setpriority, When::Always, FORBIDDEN),
        // Mono asks for what each thread already has, and complains on standard output when refused.
        Rule(libc::SYS_sched_setscheduler, When::IsNot(1, &[libc::SCHED_OTHER as u32]), ABSENT),
    ];
    if shape.strict {
        let shared = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u32;
        rules.push(Rule(libc::SYS_mmap, When::AllBits(3, shared), FORBIDDEN));
        rules.push(Rule(libc::SYS_memfd_create, When::Always, ABSENT));
        rules.push(Rule(libc::SYS_setsockopt, When::Always, FORBIDDEN));
    }
    if shape.asks {
        rules.push(Rule(libc::SYS_sysinfo, When::Always, ASKED));
    }
    let refused = REFUSED.iter().chain(REFUSED_HERE);
    rules.extend(refused.map(|call| Rule(*call, When::Always, ABSENT)));
    rules
}

/// F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ; and F_GETLK and F_OFD_GETLK: who may only read a file may
/// lock it for reading, and another one would see that.
const FCNTL: &[u32] = &[8, 10, 15, 1024, 1026, 1031, 5, 36];

// The instructions of the machine.
const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const HAS_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

const fn instruction(code: u16, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code, jt: yes, jf: no, k }
}

/// Offset of an argument's low half in what the kernel shows (`struct seccomp_data`, little-endian).
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// The filter program for a sandbox of this shape.
pub fn program(shape: Shape) -> Vec<sock_filter> {
    let mut out = vec![
        instruction(LOAD, 4, 0, 0),
        instruction(EQUAL, ARCHITECTURE, 1, 0),
        KILL,
        instruction(LOAD, 0, 0, 0),
        // x32 calls carry these numbers and otherwise look like 64-bit calls.
        instruction(AT_LEAST, 0x4000_0000, 0, 1),
        KILL,
    ];
    let mut rules = rules(shape);
    rules.sort_by_key(|Rule(call, ..)| *call);
    let Map { runs, ends } = map(&rules);
    // Decisions come first, one fewer than runs; their targets follow.
    let mut place = out.len() + runs.len() - 1;
    let mut places = Vec::new();
    for end in &ends {
        places.push(place);
        place += end.len();
    }
    decide(&runs, &places, &mut out);
    out.extend(ends.concat());
    out
}

const ALLOW: sock_filter = instruction(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0);
const KILL: sock_filter = instruction(RETURN, libc::SECCOMP_RET_KILL_PROCESS, 0, 0);

const fn answer(errno: u32) -> sock_filter {
    let what = if errno == ASKED { libc::SECCOMP_RET_USER_NOTIF } else { libc::SECCOMP_RET_ERRNO | errno };
    instruction(RETURN, what, 0, 0)
}

/// The outcome for every call number.
struct Map {
    /// The first number of each run of calls with the same outcome, from 0 on, and the index of that outcome.
    runs: Vec<(u32, usize)>,
    /// Instructions ending in an answer.
    ends: Vec<Vec<sock_filter>>,
}

/// The rules in order of call number, and what applies between and after them.
fn map(rules: &[Rule]) -> Map {
    const ALLOWED: usize = 0;
    const UNKNOWN: usize = 1;
    let mut ends = vec![vec![ALLOW], vec![answer(ABSENT)]];
    let mut runs = vec![(0, ALLOWED)];
    for Rule(call, when, errno) in rules {
        let end = match when {
            When::Always if *errno == ABSENT => UNKNOWN,
            _ => {
                ends.push(one(when, *errno));
                ends.len() - 1
            }
        };
        runs.extend([(*call as u32, end), (*call as u32 + 1, ALLOWED)]);
    }
    runs.push((NEWEST + 1, UNKNOWN));
    // Of two runs starting at the same number, the second counts; of neighbours with the same outcome, the first is
    // enough.
    let mut whole: Vec<(u32, usize)> = Vec::new();
    for run in runs {
        if whole.last().is_some_and(|last| last.0 == run.0) {
            whole.pop();
        }
        if whole.last().is_none_or(|last| last.1 != run.1) {
            whole.push(run);
        }
    }
    Map { runs: whole, ends }
}

/// A binary search. The kernel compiles a filter when it is installed, running it for every call there is: so few steps
/// cost a fraction of one rule after another.
fn decide(runs: &[(u32, usize)], places: &[usize], out: &mut Vec<sock_filter>) {
    let (low, high) = runs.split_at(runs.len() / 2);
    let here = out.len();
    out.push(ALLOW);
    let mut way = |side: &[(u32, usize)]| match side {
        [(_, end)] => places[*end],
        _ => {
            let there = out.len();
            decide(side, places, out);
            there
        }
    };
    let jump = |to: usize| {
        u8::try_from(to - here - 1).expect("all of a filter is within reach of its first decision")
    };
    let (no, yes) = (jump(way(low)), jump(way(high)));
    out[here] = instruction(AT_LEAST, high[0].0, yes, no);
}

/// The instructions for one call's rule.
fn one(when: &When, errno: u32) -> Vec<sock_filter> {
    let answer = answer(errno);
    match *when {
        When::Always => vec![answer],
        When::Is(index, values) => {
            let each = values.iter().flat_map(|value| [instruction(EQUAL, *value, 0, 1), answer]);
            [instruction(LOAD, argument(index), 0, 0)].into_iter().chain(each).chain([ALLOW]).collect()
        }
        When::IsNot(index, values) => {
            let each = values.iter().flat_map(|value| [instruction(EQUAL, *value, 0, 1), ALLOW]);
            [instruction(LOAD, argument(index), 0, 0)].into_iter().chain(each).chain([answer]).collect()
        }
        When::AnyBit(index, bits) => {
            vec![instruction(LOAD, argument(index), 0, 0), instruction(HAS_BIT, bits, 0, 1), answer, ALLOW]
        }
        When::AllBits(index, bits) => vec![
            instruction(LOAD, argument(index), 0, 0),
            instruction(AND, bits, 0, 0),
            instruction(EQUAL, bits, 0, 1),
            answer,
            ALLOW,
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel machine's answer, in its own words.
    fn run(program: &[sock_filter], architecture: u32, call: u32, arguments: [u64; 6]) -> u32 {
        let mut data = Vec::from(call.to_le_bytes());
        data.extend(architecture.to_le_bytes());
        data.extend(0_u64.to_le_bytes());
        data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let (mut at, mut a) = (0, 0_u32);
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            at += 1;
            let jump = |yes| usize::from(if yes { jt } else { jf });
            match code {
                LOAD => a = u32::from_le_bytes(data[k as usize..][..4].try_into().expect("four bytes")),
                AND => a &= k,
                EQUAL => at += jump(a == k),
                AT_LEAST => at += jump(a >= k),
                HAS_BIT => at += jump(a & k != 0),
                RETURN => return k,
                other => panic!("instruction {other}"),
            }
        }
    }

    fn ask(shape: Shape, call: c_long, arguments: &[u64]) -> u32 {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        run(&program(shape), ARCHITECTURE, call as u32, all)
    }

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

    #[test]
    fn every_number_has_the_answer_of_its_rule() {
        for (sockets, strict) in [(false, false), (false, true), (true, false), (true, true)] {
            let shape = Shape { sockets, strict, asks: strict };
            let (program, rules) = (program(shape), rules(shape));
            for call in (0..2048).chain([0x3fff_ffff]) {
                let rule = rules.iter().find(|Rule(of, ..)| *of == c_long::from(call));
                let expected = match rule {
                    Some(Rule(_, When::Always, ASKED)) => libc::SECCOMP_RET_USER_NOTIF,
                    Some(Rule(_, When::Always, errno)) => error(*errno as i32),
                    // With all arguments 0.
                    Some(Rule(_, When::IsNot(_, values), errno)) if !values.contains(&0) => {
                        error(*errno as i32)
                    }
                    Some(_) => ALLOW,
                    None if call as u32 > NEWEST => error(libc::ENOSYS),
                    None => ALLOW,
                };
                assert_eq!(
                    run(&program, ARCHITECTURE, call as u32, [0; 6]),
                    expected,
                    "call {call}, {shape:?}"
                );
            }
        }
    }

    #[test]
    fn no_call_has_two_rules() {
        let strict = Shape { sockets: true, strict: true, asks: true };
        let mut calls: Vec<c_long> = rules(strict).iter().map(|Rule(call, ..)| *call).collect();
        let all = calls.len();
        calls.sort_unstable();
        calls.dedup();
        assert_eq!(calls.len(), all);
    }

    fn error(errno: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | errno as u32
    }

    #[test]
    fn what_a_program_needs_is_allowed_and_the_rest_is_not() {
        let plain = Shape::default();
        for call in [libc::SYS_read, libc::SYS_write, libc::SYS_execve, libc::SYS_futex, libc::SYS_openat] {
            assert_eq!(ask(plain, call, &[]), ALLOW, "{call}");
        }
        for call in REFUSED.iter().chain(REFUSED_HERE) {
            assert_eq!(ask(plain, *call, &[]), error(libc::ENOSYS), "{call}");
        }
        assert_eq!(ask(plain, libc::SYS_flock, &[3, 2]), error(0));
        for (command, answer) in
            [(libc::F_SETLK, ALLOW), (libc::F_OFD_SETLKW, ALLOW), (libc::F_GETLK, error(libc::EPERM))]
        {
            assert_eq!(ask(plain, libc::SYS_fcntl, &[3, command as u64]), answer, "{command}");
        }
        let no_wait = libc::RWF_NOWAIT as u64;
        assert_eq!(ask(plain, libc::SYS_preadv2, &[3, 0, 0, 0, 0, no_wait]), error(libc::EOPNOTSUPP));
        assert_eq!(ask(plain, libc::SYS_preadv2, &[3, 0, 0, 0, 0, 0]), ALLOW);
        let forget = libc::POSIX_FADV_DONTNEED as u64;
        assert_eq!(ask(plain, libc::SYS_fadvise64, &[3, 0, 0, forget]), error(libc::EPERM));
        assert_eq!(ask(plain, libc::SYS_fadvise64, &[3, 0, 0, 0]), ALLOW);
        assert_eq!(ask(plain, 463, &[]), error(libc::ENOSYS), "a call of a later kernel");
    }

    #[test]
    fn arguments_are_compared_by_their_low_half() {
        let plain = Shape::default();
        let high = 1 << 32;
        assert_eq!(ask(plain, libc::SYS_ioctl, &[0, 0x5401]), ALLOW);
        assert_eq!(ask(plain, libc::SYS_ioctl, &[0, 0x5412]), error(libc::EPERM));
        assert_eq!(ask(plain, libc::SYS_ioctl, &[0, 0x5412 | high]), error(libc::EPERM));
        assert_eq!(ask(plain, libc::SYS_clone, &[libc::CLONE_VM as u64]), ALLOW);
        assert_eq!(ask(plain, libc::SYS_clone, &[high | libc::CLONE_NEWUSER as u64]), error(libc::EPERM));
        assert_eq!(ask(plain, libc::SYS_prlimit64, &[high]), ALLOW, "the kernel takes pid 0");
        assert_eq!(ask(plain, libc::SYS_prlimit64, &[77]), error(libc::EPERM));
        assert_eq!(ask(plain, libc::SYS_personality, &[0xffff_ffff]), ALLOW);
        assert_eq!(ask(plain, libc::SYS_personality, &[0x0040_0000]), error(libc::EPERM));
        assert_eq!(ask(plain, libc::SYS_sched_setscheduler, &[0, libc::SCHED_OTHER as u64]), ALLOW);
        for policy in [libc::SCHED_FIFO, libc::SCHED_RR, libc::SCHED_BATCH, libc::SCHED_IDLE] {
            assert_eq!(ask(plain, libc::SYS_sched_setscheduler, &[0, policy as u64]), error(libc::ENOSYS));
        }
    }

    #[test]
    fn only_the_own_sockets_are_given() {
        let refused = error(libc::EAFNOSUPPORT);
        let open = Shape { sockets: true, strict: false, asks: true };
        for family in 0..64 {
            let plain = ask(Shape::default(), libc::SYS_socket, &[family]);
            assert_eq!(plain, if family == 1 { ALLOW } else { refused }, "family {family}");
            let loopback = ask(open, libc::SYS_socket, &[family]);
            assert_eq!(
                loopback,
                if [1, 2, 10].contains(&family) { ALLOW } else { refused },
                "family {family}"
            );
        }
    }

    #[test]
    fn shared_memory_is_refused_where_nobody_counts_it() {
        let strict = Shape { sockets: false, strict: true, asks: true };
        let shared = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u64;
        assert_eq!(ask(strict, libc::SYS_mmap, &[0, 0, 0, shared]), error(libc::EPERM));
        assert_eq!(ask(strict, libc::SYS_mmap, &[0, 0, 0, 0x22]), ALLOW);
        assert_eq!(ask(strict, libc::SYS_memfd_create, &[]), error(libc::ENOSYS));
        assert_eq!(ask(Shape::default(), libc::SYS_mmap, &[0, 0, 0, shared]), ALLOW);
    }

    #[test]
    fn programs_of_another_kind_are_killed() {
        let program = program(Shape::default());
        assert_eq!(run(&program, ARCHITECTURE, 0x4000_0000 | libc::SYS_ptrace as u32, [0; 6]), KILL);
        assert_eq!(run(&program, ARCHITECTURE, 0x4000_0000, [0; 6]), KILL);
        assert_eq!(run(&program, 0x4000_0003, 20, [0; 6]), KILL, "32 bits");
    }
}
