//! The filter of system calls: a program for the kernel's small virtual machine.
//! Longer than 500 lines: the rules, the program that is made of them, and what runs it again.
//!
//! What is not on the list of [`calls`] answers "there is no such call" (`ENOSYS`), like a kernel without it: libraries
//! know how to go on, and an attack can tell that the kernel's code was not reached. The kernel takes arguments as
//! `int`s, so only their low 32 bits are compared: comparing more would let through a call with some high bit set.
//! Programs of another kind (32 bits, x32), whose numbers mean other calls, are killed.

use std::collections::BTreeMap;

use libc::{c_long, sock_filter};

use crate::calls;

/// The answer to a refused call.
const ABSENT: u32 = libc::ENOSYS as u32;
const FORBIDDEN: u32 = libc::EPERM as u32;
const UNKNOWN: u32 = libc::EINVAL as u32;
/// Success is reported though nothing was done: some programs print errors on standard output.
const QUIET: u32 = 0;
/// The init answers in the kernel's place.
const ASKED: u32 = u32::MAX;

/// Whether an argument, or some bits of it, is among these values.
struct Test {
    argument: u32,
    mask: u32,
    is: bool,
    values: &'static [u32],
}

impl Test {
    const fn is(argument: u32, values: &'static [u32]) -> Self {
        Self { argument, mask: u32::MAX, is: true, values }
    }

    const fn is_not(argument: u32, values: &'static [u32]) -> Self {
        Self { argument, mask: u32::MAX, is: false, values }
    }

    /// These bits of it are one of the values.
    const fn bits(argument: u32, mask: u32, values: &'static [u32]) -> Self {
        Self { argument, mask, is: true, values }
    }

    /// These bits of it are none of the values.
    const fn bits_not(argument: u32, mask: u32, values: &'static [u32]) -> Self {
        Self { argument, mask, is: false, values }
    }
}

/// When all of these tests agree, the call answers this.
struct Refusal(Vec<Test>, u32);

/// What limits a call that is on the list: the first refusal that applies.
type Rules = BTreeMap<c_long, Vec<Refusal>>;

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

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: u32 = 0;

/// Typing into somebody else's terminal: TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD.
const TYPING: &[u32] = &[0x5412, 0x541c, 0x541d, 0x5423];
/// What a file, terminal or socket is asked for. The kernel says `ENOTTY` when a file does not know a request.
const IOCTL: &[u32] = &[
    // Terminals: is it one, its modes, its size, its processes, what waits in it.
    0x5401,
    0x5402,
    0x5403,
    0x5404,
    0x5405,
    0x5409,
    0x540b,
    0x540f,
    0x5410,
    0x5411,
    0x5413,
    0x5414,
    0x5429,
    0x802c_542a,
    // All descriptors: FIONREAD, FIONBIO, FIOASYNC, FIONCLEX, FIOCLEX.
    0x541b,
    0x5421,
    0x5452,
    0x5450,
    0x5451,
    // Copies of files that share blocks (FICLONE, FICLONERANGE), and the flags of a file.
    0x4004_9409,
    0x4020_940d,
    0x8008_6601,
    // The interfaces of its own network: Java, Node.
    0x8905,
    0x8910,
    0x8912,
    0x8913,
    0x8915,
    0x8917,
    0x8919,
    0x891b,
    0x891d,
    0x8921,
    0x8927,
    0x8933,
    0x8942,
];
/// Signals and leases on what others hold; the size of the referee's pipes.
const OTHERS: &[u32] = &[8, 10, 15, 1024, 1026, 1031];
/// Who holds a lock (`F_GETLK`, `F_OFD_GETLK`): whoever may only read a file may lock it for reading, and another bot would be told of
/// that. So the init says that nobody does.
const HOLDERS: &[u32] = &[5, 36];
/// Reading only what is in memory.
const NO_WAIT: u32 = libc::RWF_NOWAIT as u32;
/// Descriptors, locks of files, seals, hints.
const FCNTL: &[u32] =
    &[0, 1, 2, 3, 4, 6, 7, 9, 11, 16, 37, 38, 1025, 1027, 1030, 1032, 1033, 1034, 1035, 1036, 1037, 1038];
/// A process's own name, end, children, rights to give up, and the state of its processor. Not among them: merging its
/// memory with others' (67), its map of memory (35), counters (31, 32), dispatching its calls (59), sharing cores (62).
const PRCTL: &[u32] = &[
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    21,
    22,
    23,
    25,
    27,
    29,
    30,
    34,
    36,
    37,
    38,
    39,
    40,
    41,
    42,
    45,
    46,
    47,
    50,
    51,
    52,
    53,
    54,
    55,
    56,
    60,
    61,
    63,
    64,
    65,
    66,
    0x4155_5856,
    0x5356_4d41,
    0x5961_6d61,
];
/// How its own memory will be used. Not among them: merging it with others' (12), breaking pages (100, 101), and
/// rearranging those of files that others use as well (25).
const ADVICE: &[u32] =
    &[0, 1, 2, 3, 4, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 102, 103];
/// The registers that hold a thread's own data, large registers, and shadow stacks.
#[cfg(target_arch = "x86_64")]
const ARCH: &[u32] = &[
    0x1001, 0x1002, 0x1003, 0x1004, 0x1011, 0x1021, 0x1022, 0x1023, 0x3001, 0x5001, 0x5002, 0x5003, 0x5004,
    0x5005,
];
/// Programs that filter what a socket receives run in the kernel.
const PROGRAMS: &[u32] = &[26, 50, 51, 52];
const FILES: &[u32] = &[0, libc::S_IFREG, libc::S_IFIFO, libc::S_IFSOCK];

fn rules(shape: Shape) -> Rules {
    const UNIX: &[u32] = &[libc::AF_UNIX as u32];
    const LOOPBACK: &[u32] = &[libc::AF_UNIX as u32, libc::AF_INET as u32, libc::AF_INET6 as u32];
    let huge = libc::MAP_HUGETLB as u32;
    let unknown_family = libc::EAFNOSUPPORT as u32;
    let families = if shape.sockets { LOOPBACK } else { UNIX };
    let mut rules = Rules::new();
    let mut add = |call, tests: Vec<Test>, answer| {
        rules.entry(call).or_default().push(Refusal(tests, answer));
    };
    add(libc::SYS_socket, vec![Test::is_not(0, families)], unknown_family);
    // Of the internet families only TCP and UDP; asking for another protocol would load a module of the kernel.
    let others = || Test::is_not(0, UNIX);
    add(libc::SYS_socket, vec![others(), Test::bits_not(1, 0xf, &[1, 2])], libc::ESOCKTNOSUPPORT as u32);
    add(libc::SYS_socket, vec![others(), Test::is_not(2, &[0, 6, 17])], libc::EPROTONOSUPPORT as u32);
    add(libc::SYS_socketpair, vec![Test::is_not(0, UNIX)], unknown_family);
    add(
        libc::SYS_setsockopt,
        vec![Test::is(1, &[libc::SOL_SOCKET as u32]), Test::is(2, PROGRAMS)],
        FORBIDDEN,
    );
    add(libc::SYS_ioctl, vec![Test::is(1, TYPING)], FORBIDDEN);
    add(libc::SYS_ioctl, vec![Test::is_not(1, IOCTL)], libc::ENOTTY as u32);
    add(libc::SYS_clone, vec![Test::bits_not(0, NAMESPACES, &[0])], FORBIDDEN);
    add(libc::SYS_fcntl, vec![Test::is(1, HOLDERS)], if shape.asks { ASKED } else { FORBIDDEN });
    add(libc::SYS_fcntl, vec![Test::is(1, OTHERS)], FORBIDDEN);
    add(libc::SYS_fcntl, vec![Test::is_not(1, FCNTL)], UNKNOWN);
    add(libc::SYS_prctl, vec![Test::is_not(0, PRCTL)], UNKNOWN);
    add(libc::SYS_madvise, vec![Test::is_not(2, ADVICE)], UNKNOWN);
    // Two bots could talk by locking a file that both may read; Java complains when this is refused.
    add(libc::SYS_flock, vec![], QUIET);
    // Which parts of a file are in memory tells who has read it, and what the kernel forgets others have to wait for.
    add(libc::SYS_preadv2, vec![Test::bits_not(5, NO_WAIT, &[0])], libc::EOPNOTSUPP as u32);
    add(libc::SYS_fadvise64, vec![Test::is(3, &[libc::POSIX_FADV_DONTNEED as u32])], FORBIDDEN);
    // Whatever it wrote is in memory; the disks are others'.
    add(libc::SYS_sync, vec![], QUIET);
    add(libc::SYS_syncfs, vec![], QUIET);
    add(libc::SYS_personality, vec![Test::is_not(0, &[0, u32::MAX])], FORBIDDEN);
    add(libc::SYS_prlimit64, vec![Test::is_not(0, &[0])], FORBIDDEN);
    add(libc::SYS_setpriority, vec![], FORBIDDEN);
    // Mono asks for what each thread already has, and complains on standard output when refused.
    add(libc::SYS_sched_setscheduler, vec![Test::is_not(1, &[libc::SCHED_OTHER as u32])], ABSENT);
    // Devices. Pipes and sockets are its own.
    add(libc::SYS_mknodat, vec![Test::bits_not(2, libc::S_IFMT, FILES)], FORBIDDEN);
    // Huge pages that were set aside are the machine's, and no cgroup of memory counts them.
    add(libc::SYS_mmap, vec![Test::bits_not(3, huge, &[0])], libc::ENOMEM as u32);
    add(libc::SYS_memfd_create, vec![Test::bits_not(1, libc::MFD_HUGETLB, &[0])], UNKNOWN);
    #[cfg(target_arch = "x86_64")]
    {
        add(libc::SYS_mknod, vec![Test::bits_not(1, libc::S_IFMT, FILES)], FORBIDDEN);
        add(libc::SYS_arch_prctl, vec![Test::is_not(0, ARCH)], UNKNOWN);
    }
    if shape.strict {
        const SHARED: u32 = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u32;
        add(libc::SYS_mmap, vec![Test::bits(3, SHARED, &[SHARED])], FORBIDDEN);
        add(libc::SYS_memfd_create, vec![], ABSENT);
        add(libc::SYS_setsockopt, vec![], FORBIDDEN);
    }
    if shape.asks {
        add(libc::SYS_sysinfo, vec![], ASKED);
    }
    rules
}

// The instructions of the machine.
const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
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
    let (runs, ends) = map(&rules(shape));
    let mut jumps = Vec::new();
    decide(&runs, &mut out, &mut jumps);
    let mut places = Vec::new();
    for end in ends {
        places.push(out.len());
        out.extend(end);
    }
    for (at, end) in jumps {
        out[at].k = (places[end] - at - 1) as u32;
    }
    out
}

/// Calls between the installation of the filter and the start of the program, while the init stands still and so can
/// answer nothing; and those that a program makes most.
const OWN: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_sendmsg,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_close,
    // Debug builds of ours make sure that what they close is open.
    libc::SYS_fcntl,
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_futex,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
];

/// The same program, but the init is asked instead of refusing a call; and with `all` also for calls that are allowed,
/// except for [`OWN`].
pub fn asking(program: &[sock_filter], all: bool) -> Vec<sock_filter> {
    let asked = answer(ASKED).k;
    let ask = |step: &sock_filter| match *step {
        sock_filter { code: RETURN, k, .. } if refusal(k).is_some() => sock_filter { k: asked, ..*step },
        sock_filter { code: RETURN, k: libc::SECCOMP_RET_ALLOW, .. } if all => {
            sock_filter { k: asked, ..*step }
        }
        step => step,
    };
    let (kind, rest) = program.split_at(6);
    let own = OWN.iter().filter(|_| all).flat_map(|call| [instruction(EQUAL, *call as u32, 0, 1), ALLOW]);
    kind.iter().copied().chain(own).chain(rest.iter().map(ask)).collect()
}

/// The error that an outcome reports; none if the outcome is another one.
pub fn refusal(outcome: u32) -> Option<u32> {
    (outcome & libc::SECCOMP_RET_ACTION_FULL == libc::SECCOMP_RET_ERRNO).then_some(outcome & 0xffff)
}

/// The outcome of a program for a call, as the kernel's machine would compute it. `data` is the kernel's `seccomp_data`.
pub fn outcome(program: &[sock_filter], data: &[u8]) -> u32 {
    let (mut at, mut a) = (0, 0_u32);
    while let Some(&sock_filter { code, jt, jf, k }) = program.get(at) {
        at += 1;
        let jump = |yes| usize::from(if yes { jt } else { jf });
        match code {
            LOAD => {
                let word = data.get(k as usize..).and_then(|rest| rest.first_chunk());
                a = word.map_or(0, |word| u32::from_le_bytes(*word));
            }
            AND => a &= k,
            EQUAL => at += jump(a == k),
            AT_LEAST => at += jump(a >= k),
            JUMP => at += k as usize,
            RETURN => return k,
            _ => break,
        }
    }
    libc::SECCOMP_RET_KILL_PROCESS
}

const ALLOW: sock_filter = instruction(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0);
const KILL: sock_filter = instruction(RETURN, libc::SECCOMP_RET_KILL_PROCESS, 0, 0);

const fn answer(errno: u32) -> sock_filter {
    let what = if errno == ASKED { libc::SECCOMP_RET_USER_NOTIF } else { libc::SECCOMP_RET_ERRNO | errno };
    instruction(RETURN, what, 0, 0)
}

/// The outcome of a run of call numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunEnd {
    Allowed,
    Absent,
    /// Instructions that end in an answer, by their index.
    Asks(usize),
}

/// The outcome for every call number: the first number of each run of calls with the same outcome, from 0 on; and the
/// instructions for calls that are limited.
fn map(rules: &Rules) -> (Vec<(u32, RunEnd)>, Vec<Vec<sock_filter>>) {
    let mut listed: Vec<u32> = calls::all(calls::ALLOWED).map(|(call, _)| call as u32).collect();
    listed.sort_unstable();
    let (mut runs, mut ends): (Vec<(u32, RunEnd)>, _) = (vec![(0, RunEnd::Absent)], Vec::new());
    for call in listed {
        let end = match rules.get(&c_long::from(call)) {
            None => RunEnd::Allowed,
            Some(refusals) => {
                ends.push(limited(refusals));
                RunEnd::Asks(ends.len() - 1)
            }
        };
        // Of two runs that start at the same number, the second counts; of neighbours with the same outcome, the first
        // is enough.
        runs.pop_if(|last| last.0 == call);
        if runs.last().is_none_or(|last| last.1 != end) {
            runs.push((call, end));
        }
        runs.push((call + 1, RunEnd::Absent));
    }
    (runs, ends)
}

/// A binary search. The kernel compiles a filter when it is installed, running it for every call there is: so few steps
/// cost a fraction of one rule after another. `jumps` gets the places of jumps to ends, which are not yet known.
fn decide(runs: &[(u32, RunEnd)], out: &mut Vec<sock_filter>, jumps: &mut Vec<(usize, usize)>) {
    if let [(_, end)] = runs {
        out.push(match *end {
            RunEnd::Allowed => ALLOW,
            RunEnd::Absent => answer(ABSENT),
            RunEnd::Asks(index) => {
                jumps.push((out.len(), index));
                instruction(JUMP, 0, 0, 0)
            }
        });
        return;
    }
    let (low, high) = runs.split_at(runs.len() / 2);
    let here = out.len();
    out.push(ALLOW);
    decide(low, out, jumps);
    let far = u8::try_from(out.len() - here - 1).expect("half of the runs are within reach of a decision");
    decide(high, out, jumps);
    out[here] = instruction(AT_LEAST, high[0].0, far, 0);
}

/// The instructions for one call's refusals.
fn limited(refusals: &[Refusal]) -> Vec<sock_filter> {
    let mut out = Vec::new();
    for Refusal(tests, errno) in refusals {
        // From its last test to its first, as each that fails jumps behind the answer.
        let mut whole = vec![answer(*errno)];
        for test in tests.iter().rev() {
            let rest = whole.len();
            let mut one = vec![instruction(LOAD, argument(test.argument), 0, 0)];
            if test.mask != u32::MAX {
                one.push(instruction(AND, test.mask, 0, 0));
            }
            let last = test.values.len() - 1;
            for (index, value) in test.values.iter().enumerate() {
                let reach = |steps: usize| u8::try_from(steps).expect("a test is within reach of itself");
                // A match goes to the next test or behind the answer; no match to the next value, or the other way.
                let behind = last - index;
                let (yes, no) = match test.is {
                    true => (behind, if index == last { rest } else { 0 }),
                    false => (behind + rest, 0),
                };
                one.push(instruction(EQUAL, *value, reach(yes), reach(no)));
            }
            whole.splice(..0, one);
        }
        out.extend(whole);
    }
    out.push(ALLOW);
    out
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
        outcome(program, &data)
    }

    fn ask(shape: Shape, call: c_long, arguments: &[u64]) -> u32 {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        run(&program(shape), ARCHITECTURE, call as u32, all)
    }

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

    fn error(errno: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | errno as u32
    }

    fn shapes() -> impl Iterator<Item = Shape> {
        let all = [(false, false), (false, true), (true, false), (true, true)].into_iter();
        all.map(|(sockets, strict)| Shape { sockets, strict, asks: strict })
    }

    #[test]
    fn every_number_has_the_answer_of_its_list() {
        let listed: Vec<u32> = calls::all(calls::ALLOWED).map(|(call, _)| call as u32).collect();
        for shape in shapes() {
            let (program, rules) = (program(shape), rules(shape));
            for call in (0..2048).chain([0x3fff_ffff]) {
                let came = run(&program, ARCHITECTURE, call, [0; 6]);
                // The first refusal whose tests agree when all arguments are 0.
                let refusals = rules.get(&c_long::from(call)).into_iter().flatten();
                let agrees = |test: &Test| test.values.contains(&0) == test.is;
                let first = refusals.into_iter().find(|Refusal(tests, _)| tests.iter().all(agrees));
                let expected = match first {
                    _ if !listed.contains(&call) => error(libc::ENOSYS),
                    Some(Refusal(_, errno)) => answer(*errno).k,
                    None => ALLOW,
                };
                assert_eq!(came, expected, "call {call}, {shape:?}");
            }
        }
    }

    #[test]
    fn every_call_is_on_one_list() {
        let mut lists: Vec<c_long> =
            calls::all(calls::ALLOWED).chain(calls::all(calls::REFUSED)).map(|(call, _)| call).collect();
        let all = lists.len();
        lists.sort_unstable();
        lists.dedup();
        assert_eq!(lists.len(), all, "a call is on two lists");
        // Numbers that no kernel of this architecture has given to a call.
        let none = if cfg!(target_arch = "x86_64") { 335..424 } else { 295..424 };
        let missing: Vec<c_long> = (0..463)
            .filter(|call| !none.contains(call) && lists.binary_search(call).is_err())
            .filter(|call| cfg!(target_arch = "x86_64") || !(244..260).contains(call))
            .collect();
        assert!(missing.is_empty(), "nobody has decided about {missing:?}");
        for shape in shapes() {
            for call in rules(shape).into_keys() {
                assert!(
                    calls::known(call).is_some_and(|(_, why)| why.is_none()),
                    "{call} is limited, but not allowed"
                );
            }
        }
    }

    #[test]
    fn what_a_program_needs_is_allowed_and_the_rest_is_not() {
        let plain = Shape::default();
        for call in [libc::SYS_read, libc::SYS_write, libc::SYS_execve, libc::SYS_futex, libc::SYS_openat] {
            assert_eq!(ask(plain, call, &[]), ALLOW, "{call}");
        }
        for (call, name) in calls::all(calls::REFUSED) {
            assert_eq!(ask(plain, call, &[]), error(libc::ENOSYS), "{name}");
        }
        for call in [libc::SYS_flock, libc::SYS_sync, libc::SYS_syncfs] {
            assert_eq!(ask(plain, call, &[3, 2]), error(0));
        }
        for later in 463..600 {
            assert_eq!(ask(plain, later, &[]), error(libc::ENOSYS), "a call of a later kernel");
        }
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
    fn calls_with_many_faces_show_the_harmless_ones() {
        let plain = Shape::default();
        // A call, the argument that decides, what is allowed, and what is not and the answer.
        let check = |call: c_long, place: usize, good: &[u64], bad: &[(u64, i32)]| {
            let with = |value: u64| {
                let mut arguments = [0; 6];
                arguments[place] = value;
                ask(plain, call, &arguments)
            };
            good.iter().for_each(|value| assert_eq!(with(*value), ALLOW, "{call} {value:#x}"));
            bad.iter()
                .for_each(|(value, errno)| assert_eq!(with(*value), error(*errno), "{call} {value:#x}"));
        };
        let (forbidden, unknown) = (libc::EPERM, libc::EINVAL);
        let typing = [(0x5423, forbidden), (0xc018_2101, libc::ENOTTY)];
        check(libc::SYS_ioctl, 1, &[0x541b, 0x5413, 0x8912], &typing);
        let others = [(1031, forbidden), (10, forbidden), (99, unknown)];
        check(libc::SYS_fcntl, 1, &[1, 3, 6, 1030, 1033], &others);
        check(libc::SYS_prctl, 0, &[15, 38, 0x5356_4d41], &[(67, unknown), (35, unknown), (59, unknown)]);
        check(libc::SYS_madvise, 2, &[4, 8, 14], &[(12, unknown), (25, unknown), (100, unknown)]);
        check(libc::SYS_mknodat, 2, &[0o600, 0o1_0600], &[(0o2_0600, forbidden), (0o6_0600, forbidden)]);
        check(libc::SYS_mmap, 3, &[0x22, 0x1], &[(0x4_0022, libc::ENOMEM)]);
        check(libc::SYS_memfd_create, 1, &[0, 3], &[(4, unknown)]);
        // Programs for sockets are refused at the level of sockets only: elsewhere these numbers are other options.
        let option = |level: u64, option: u64| ask(plain, libc::SYS_setsockopt, &[0, level, option]);
        assert_eq!((option(1, 26), option(1, 2), option(41, 26)), (error(libc::EPERM), ALLOW, ALLOW));
    }

    #[test]
    fn only_the_own_sockets_are_given() {
        let refused = error(libc::EAFNOSUPPORT);
        let open = Shape { sockets: true, strict: false, asks: true };
        for family in 0..64 {
            let plain = ask(Shape::default(), libc::SYS_socket, &[family, 1]);
            assert_eq!(plain, if family == 1 { ALLOW } else { refused }, "family {family}");
            let loopback = ask(open, libc::SYS_socket, &[family, 1]);
            assert_eq!(
                loopback,
                if [1, 2, 10].contains(&family) { ALLOW } else { refused },
                "family {family}"
            );
        }
        let socket =
            |family: u64, kind: u64, protocol: u64| ask(open, libc::SYS_socket, &[family, kind, protocol]);
        assert_eq!(socket(2, 1 | 0o2_004_000, 6), ALLOW, "TCP, as it is opened nowadays");
        assert_eq!(socket(1, 5, 0), ALLOW, "packets between own processes");
        for (kind, protocol) in [(3, 1), (5, 0), (6, 0), (10, 0)] {
            assert_eq!(socket(2, kind, protocol), error(libc::ESOCKTNOSUPPORT), "{kind} {protocol}");
        }
        for (kind, protocol) in [(1, 132), (1, 262), (2, 136), (2, 1)] {
            assert_eq!(socket(10, kind, protocol), error(libc::EPROTONOSUPPORT), "{kind} {protocol}");
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
    fn a_recorded_program_asks_where_it_would_be_refused() {
        let asked = libc::SECCOMP_RET_USER_NOTIF;
        for shape in shapes() {
            let plain = program(shape);
            let (refused, all) = (asking(&plain, false), asking(&plain, true));
            for call in 0..600 {
                let of = |program: &[sock_filter]| run(program, ARCHITECTURE, call, [0; 6]);
                let own = OWN.contains(&c_long::from(call));
                match of(&plain) {
                    ALLOW => assert_eq!(
                        (of(&refused), of(&all)),
                        (ALLOW, if own { ALLOW } else { asked }),
                        "{call}"
                    ),
                    _ => assert_eq!(
                        (of(&refused), of(&all)),
                        (asked, if own { ALLOW } else { asked }),
                        "{call}"
                    ),
                }
            }
            assert_eq!(run(&all, 0x4000_0003, 20, [0; 6]), KILL, "32 bits");
        }
    }

    #[test]
    fn programs_of_another_kind_are_killed() {
        let program = program(Shape::default());
        assert_eq!(run(&program, ARCHITECTURE, 0x4000_0000 | libc::SYS_ptrace as u32, [0; 6]), KILL);
        assert_eq!(run(&program, ARCHITECTURE, 0x4000_0000, [0; 6]), KILL);
        assert_eq!(run(&program, 0x4000_0003, 20, [0; 6]), KILL, "32 bits");
    }
}
