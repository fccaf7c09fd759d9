//! Bots that do everything wrong. Whatever a bot does, its match ends as the rulebook says, its
//! opponent keeps its result, our memory does not grow, and nothing of the bot is alive afterwards.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use agon_bot::{BotName, sys};
use agon_bot::{ProcessLimits, process};
use agon_game::{AnyGame, Face, Seat, Session, Setup};
use agon_match::record::Void;
use agon_match::{Clock, FaultKind, MatchRecord, Observer, Player, Ponder, StepReport, play, seat_player};
use cultist_wars::CultistWars;

/// Reads one question; the first one has nine extra lines.
const READ: &str = "
first=9
question() {
    while [ $first -gt 0 ]; do read -r line || exit 0; first=$((first-1)); done
    read -r units || exit 0
    while [ $units -gt 0 ]; do read -r line; units=$((units-1)); done
}
";

/// A good bot.
const WAIT: &str = "while true; do question; echo WAIT; done";

/// How the bot's file is created.
enum File {
    /// A shell script; the functions it needs to read questions are prepended.
    Shell(&'static str),
    /// Exactly these bytes, with the exec bit.
    Bytes(&'static [u8]),
    /// Exactly these bytes, without the exec bit.
    Unmarked(&'static [u8]),
    /// A C program.
    C(&'static str),
}
use File::{Bytes, C, Shell, Unmarked};

/// The expected result.
enum Expect {
    /// It loses by this fault, whose message contains these words.
    Loses(FaultKind, &'static str),
    /// It plays to the end, and nothing is reported about it.
    Plays,
    /// It plays to the end. It may be seen computing or answering in its opponent's turn.
    PlaysBusily,
}
use Expect::{Loses, Plays, PlaysBusily};
use FaultKind::{Crash, Flood, Malformed, NeverStarted, Pondering, Resources, Stray, Timeout};

struct Odd {
    what: &'static str,
    file: File,
    expect: Expect,
}

const fn odd(what: &'static str, file: File, expect: Expect) -> Odd {
    Odd { what, file, expect }
}

/// A program for a machine that does not exist: an ELF header with an unknown architecture.
const FOREIGN: &[u8] =
    b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xee\xee\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

const ODD: &[Odd] = &[
    // Starting.
    odd("no exec bit", Unmarked(b"#!/bin/sh\necho WAIT\n"), Loses(NeverStarted, "chmod +x")),
    odd(
        "no interpreter",
        Bytes(b"#!/no/such/python\n"),
        Loses(NeverStarted, "interpreter `/no/such/python`"),
    ),
    odd(
        "a Windows first line",
        Bytes(b"#!/bin/sh\r\necho WAIT\r\n"),
        Loses(NeverStarted, "Windows line ending"),
    ),
    odd(
        "a Windows first line with env",
        Bytes(b"#!/usr/bin/env sh\r\necho WAIT\n"),
        Loses(Crash, "Windows line ending"),
    ),
    odd("another architecture", Bytes(FOREIGN), Loses(NeverStarted, "another architecture")),
    odd("a program for Windows", Bytes(b"MZ\x90\0"), Loses(NeverStarted, "for Windows")),
    odd("an empty file", Bytes(b""), Loses(NeverStarted, "the file is empty")),
    odd("no first line", Bytes(b"echo WAIT; exit 5\n"), Loses(Crash, "exit code 5")),
    // Ending.
    odd(
        "crashes at the start",
        Shell("echo 'no map file' >&2; exit 3"),
        Loses(Crash, "exit code 3; on stderr: `no map file`"),
    ),
    odd(
        "crashes in the middle",
        Shell("for i in 1 2 3 4 5; do question; echo WAIT; done; question; kill -SEGV $$"),
        Loses(Crash, "SIGSEGV"),
    ),
    odd("ends early with code 0", Shell("question; echo WAIT; exit 0"), Loses(Crash, "exit code 0")),
    odd(
        "ends within a line",
        Shell("question; printf WAI; exit 0"),
        Loses(Crash, "last line was not finished"),
    ),
    odd(
        "crashes after the last answer",
        Shell("i=0; while [ $i -lt 75 ]; do question; echo WAIT; i=$((i+1)); done; kill -ABRT $$"),
        Plays,
    ),
    odd("signals its group", Shell("question; kill -TERM 0; sleep 9"), Loses(Crash, "SIGTERM")),
    // Answering late or not at all.
    odd("is silent", Shell("question; sleep 1000"), Loses(Timeout, "no output at all")),
    odd(
        "becomes slow",
        Shell("question; echo WAIT; question; sleep 1000"),
        Loses(Timeout, "computed too long"),
    ),
    odd(
        "sends no newline",
        Shell("question; printf WAIT; sleep 1000"),
        Loses(Timeout, "`WAIT` without a line end"),
    ),
    odd(
        "stops within a line",
        Shell("question; echo WAIT; question; printf W; sleep 1000"),
        Loses(Timeout, "`W` without a line end"),
    ),
    odd("stops itself", Shell("question; kill -STOP $$; echo WAIT"), Loses(Timeout, "stopped by a signal")),
    odd(
        "ignores SIGTERM",
        Shell("trap '' TERM INT HUP QUIT; question; while true; do sleep 1000; done"),
        Loses(Timeout, "no output at all"),
    ),
    odd(
        "ends, but its child holds the output",
        Shell("question; sleep 1000 & exit 0"),
        Loses(Crash, "with exit code 0"),
    ),
    // Answering strangely.
    odd(
        "sends byte by byte",
        Shell("while true; do question; for c in W A I T; do printf $c; done; echo; done"),
        Plays,
    ),
    odd("sends Windows line ends", Shell("while true; do question; printf 'WAIT\\r\\n'; done"), Plays),
    odd(
        "sends a very long line",
        Shell("question; head -c 20000 /dev/zero | tr '\\0' x; echo; sleep 1000"),
        Loses(Flood, "longer than 10000 bytes"),
    ),
    odd(
        "sends a gigabyte",
        Shell("question; head -c 1000000000 /dev/zero; sleep 1000"),
        Loses(Flood, "longer than 10000 bytes"),
    ),
    odd("sends lines for ever", Shell("exec yes WAIT"), PlaysBusily),
    odd("sends garbage for ever", Shell("exec yes"), Loses(Malformed, "`y` is not an action")),
    odd(
        "sends invalid UTF-8",
        Shell("question; printf 'W\\377\\376T\\n'; sleep 1000"),
        Loses(Malformed, "is not an action"),
    ),
    odd(
        "sends NUL bytes",
        Shell("question; printf 'WA\\000IT\\n'; sleep 1000"),
        Loses(Malformed, "is not an action"),
    ),
    odd("sends an empty line", Shell("question; echo; sleep 1000"), Loses(Malformed, "the line is empty")),
    odd(
        "sends every answer twice",
        Shell("while true; do question; echo WAIT; echo WAIT; done"),
        PlaysBusily,
    ),
    odd(
        "answers before it is asked",
        Shell("echo WAIT; while true; do question; echo WAIT; done"),
        PlaysBusily,
    ),
    odd(
        "prints debug text",
        Shell("question; echo thinking...; echo WAIT; sleep 1000"),
        Loses(Malformed, "`thinking...` is not an action"),
    ),
    // Descriptors.
    odd(
        "closes its input",
        Shell("question; exec <&-; i=0; while [ $i -lt 75 ]; do echo WAIT; i=$((i+1)); done; sleep 1000"),
        PlaysBusily,
    ),
    odd("closes its output", Shell("question; exec >&-; sleep 1000"), Loses(Crash, "closed its output")),
    odd("closes its standard error", Shell("exec 2>&-; while true; do question; echo WAIT; done"), Plays),
    odd(
        "never reads",
        Shell("i=0; while [ $i -lt 75 ]; do echo WAIT; i=$((i+1)); done; sleep 1000"),
        PlaysBusily,
    ),
    odd(
        "floods its standard error",
        Shell(
            "question; head -c 50000000 /dev/zero >&2; echo WAIT; while true; do question; echo WAIT; done",
        ),
        Plays,
    ),
    odd(
        "writes to the terminal",
        Shell(
            "while true; do question; if (echo boo >/dev/tty) 2>/dev/null; then exit 7; fi; echo WAIT; done",
        ),
        Plays,
    ),
    odd(
        "looks for open files of ours",
        Shell(
            "question; ls -l /proc/self/fd | grep -q SECRET && exit 8; echo WAIT; while true; do question; echo WAIT; done",
        ),
        Plays,
    ),
    // Processes.
    odd(
        "forks and exits",
        Shell("exec 3<&0; (while true; do question; echo WAIT; done) <&3 & exit 0"),
        Plays,
    ),
    odd(
        "leaves a daemon",
        Shell("setsid sleep 1000 >/dev/null 2>&1 </dev/null & while true; do question; echo WAIT; done"),
        PlaysBusily,
    ),
    odd(
        "leaves a daemon that hides",
        Shell(
            "(setsid env -i sleep 1000 >/dev/null 2>&1 </dev/null &) ; while true; do question; echo WAIT; done",
        ),
        PlaysBusily,
    ),
    odd(
        "leaves zombies",
        Shell("for i in 1 2 3 4 5 6 7 8 9; do (true &); done; while true; do question; echo WAIT; done"),
        PlaysBusily,
    ),
    odd("leaves more zombies than it may have processes", C(ZOMBIES), PlaysBusily),
    odd(
        "changes its session",
        Shell(
            "[ \"$1\" = again ] || exec setsid -w sh \"$0\" again; while true; do question; echo WAIT; done",
        ),
        Plays,
    ),
    odd(
        "starts far too many processes",
        Shell("question; while true; do sleep 1000 & done"),
        Loses(Resources, "processes at once; a bot may run 60"),
    ),
    odd("is traced by its child", C(TRACED), Loses(Timeout, "no complete answer")),
    // Things that are not its own.
    odd("eats memory", C(EATER), Loses(Resources, "a bot may use 200 MiB")),
    odd("computes in its opponent's turn", C(PONDERER), PlaysBusily),
    odd(
        "computes there in a child",
        Shell("(while true; do :; done) & while true; do question; echo WAIT; done"),
        PlaysBusily,
    ),
    odd(
        "locks its temporary folder",
        Shell(
            "mkdir -p $TMPDIR/a/b; echo x > $TMPDIR/a/b/c; chmod 0 $TMPDIR/a/b $TMPDIR/a $TMPDIR; while true; do question; echo WAIT; done",
        ),
        Plays,
    ),
];

/// Its child traces it from another session, so the child sees its end first.
const TRACED: &str = "
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    pid_t parent = getpid();
    if (fork() == 0) {
        setsid();
        ptrace(PTRACE_SEIZE, parent, 0, 0);
        for (;;) pause();
    }
    for (;;) pause();
}";

/// Starts two processes after each answer, which end at once, and reaps none: 150 in a match, more than twice what it may have. Not more at
/// once, because those that still live count: with four there were 63 of them on a busy machine.
const ZOMBIES: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    char line[1000];
    for (int i = 0; i < 9; i++) if (!fgets(line, sizeof line, stdin)) return 0;
    for (;;) {
        if (!fgets(line, sizeof line, stdin)) return 0;
        for (int units = atoi(line); units > 0; units--) if (!fgets(line, sizeof line, stdin)) return 0;
        if (write(1, \"WAIT\\n\", 5) != 5) return 0;
        for (int i = 0; i < 2; i++) if (fork() == 0) _exit(0);
    }
}";

const EATER: &str = "
#include <stdlib.h>
#include <string.h>
int main(void) {
    for (;;) { char *more = malloc(1 << 20); if (more) memset(more, 1, 1 << 20); }
}";

/// Busy-waits for its input.
const PONDERER: &str = "
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static char get(void) {
    char c;
    long got;
    while ((got = read(0, &c, 1)) < 0) {}
    if (got == 0) _exit(0);
    return c;
}
static int line(void) {
    int number = 0;
    for (char c; (c = get()) != '\\n';) number = 10 * number + c - '0';
    return number;
}
int main(void) {
    fcntl(0, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 9; i++) line();
    for (;;) {
        for (int units = line(); units > 0; units--) line();
        if (write(1, \"WAIT\\n\", 5) != 5) return 0;
    }
}";

fn make(folder: &Path, file: &File) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join("bot");
    let (bytes, mode) = match file {
        Shell(script) => (format!("#!/bin/sh\n{READ}\n{script}\n").into_bytes(), 0o755),
        Bytes(bytes) => (bytes.to_vec(), 0o755),
        Unmarked(bytes) => (bytes.to_vec(), 0o644),
        C(text) => {
            let source = folder.join("bot.c");
            std::fs::write(&source, text).expect("a file");
            let built = std::process::Command::new("cc").args(["-O1", "-o"]).args([&path, &source]).status();
            assert!(built.expect("a C compiler").success());
            return path.to_str().expect("a name").to_owned();
        }
    };
    std::fs::write(&path, bytes).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("our own file");
    path.to_str().expect("a name").to_owned()
}

/// Plays `bots`; repeats a match that this machine was too slow for.
fn match_of(bots: [&str; 2]) -> (MatchRecord, Vec<String>) {
    let names = bots.map(|bot| BotName::parse(bot).expect("a name"));
    for _ in 0..20 {
        let setup = Setup { seats: 2, seed: 7, ..Setup::default() };
        let mut session = Face::<CultistWars>::new().open(&setup).expect("a game");
        let mut players = Vec::new();
        let mut marks = Vec::new();
        for (seat, name) in Seat::first(2).zip(&names) {
            let mut player =
                seat_player(session.as_mut(), name, seat, None, Clock::ORIGINAL).expect("it can be seated");
            if let Player::Program(program) = &mut player {
                program.tree().limits = ProcessLimits { memory: 200 << 20, processes: 60 };
                marks.push(program.tree().mark().to_owned());
            }
            players.push(player);
        }
        let labels = ["a".to_owned(), "b".to_owned()];
        let stop = AtomicBool::new(false);
        let record =
            play(session.as_mut(), &mut players, &labels, Clock::ORIGINAL, Ponder::Stop, &mut (), &stop);
        if !matches!(record.void, Some(Void::HostLate(_))) {
            return (record, marks);
        }
    }
    panic!("this machine is too busy for a match");
}

/// Why the match was not as expected; none if it was.
fn wrong(odd: &Odd, seat: u8) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let good = tempfile::tempdir().expect("a folder");
    let (bot, other) = (make(folder.path(), &odd.file), make(good.path(), &Shell(WAIT)));
    let (odd_seat, good_seat) = (Seat::new(seat), Seat::new(1 - seat));
    let (record, marks) = match_of(if seat == 0 { [&bot, &other] } else { [&other, &bot] });
    let told = || format!("{:?}\n{:?} {:?}", record.faults, record.void, record.outcome);
    let Some(outcome) = &record.outcome else { return Some(format!("no outcome: {}", told())) };
    if record.faults_of(good_seat).next().is_some() {
        return Some(format!("the good bot has a fault: {}", told()));
    }
    let own: Vec<_> = record.faults_of(odd_seat).collect();
    let fits =
        |kind, words: &str| own.iter().any(|fault| fault.kind == kind && fault.message.contains(words));
    let whole = outcome.scores[0] >= 1.0 && outcome.scores == [1.0, 1.0];
    let good = match odd.expect {
        Loses(kind, words) => {
            fits(kind, words)
                && own.len() == 1
                && outcome.scores[odd_seat.index()] == -1.0
                && outcome.scores[good_seat.index()] == 0.0
                && outcome.ranks[good_seat.index()] == 1
        }
        Plays => own.is_empty() && whole && record.steps == 150,
        PlaysBusily => {
            own.iter().all(|fault| matches!(fault.kind, Pondering | Stray)) && whole && record.steps == 150
        }
    };
    if !good {
        return Some(told());
    }
    // Nothing of it is alive, neither a process with its mark nor its own program.
    for mark in marks {
        let alive = sys::marked(&format!("{}={mark}", process::MARK));
        if !alive.is_empty() {
            return Some(format!("still alive: {alive:?}"));
        }
    }
    None
}

/// Stops the match as soon as a fault occurs.
struct StopAtFault(AtomicBool);

impl Observer for &StopAtFault {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> std::io::Result<()> {
        self.0.fetch_or(!step.faults.is_empty(), Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_crash_in_a_match_that_is_stopped_is_no_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let bot = make(folder.path(), &Shell("question; exit 3"));
    let name = BotName::parse(&bot).expect("a name");
    let setup = Setup { seats: 2, seed: 7, ..Setup::default() };
    let mut session = Face::<CultistWars>::new().open(&setup).expect("a game");
    session.seat_builtin(Seat::new(1), "idle", &[], 0).expect("a built-in");
    let player = seat_player(session.as_mut(), &name, Seat::new(0), None, Clock::ORIGINAL);
    let mut players = [player.expect("it can be seated"), Player::Builtin];
    let (labels, stop) = (["a".to_owned(), "b".to_owned()], StopAtFault(AtomicBool::new(false)));
    let mut watch = &stop;
    let (clock, ponder) = (Clock::ORIGINAL, Ponder::Stop);
    let record = play(session.as_mut(), &mut players, &labels, clock, ponder, &mut watch, &stop.0);
    assert!(record.has(Seat::new(0), FaultKind::Crash), "{:?}", record.faults);
    assert_eq!((record.void, record.outcome), (Some(Void::Stopped), None));
}

#[test]
fn no_odd_bot_breaks_or_bends_a_match() {
    // A file that every program we start might inherit.
    let secret = tempfile::Builder::new().prefix("SECRET").tempfile().expect("a file");
    rustix::io::fcntl_setfd(secret.as_file(), rustix::io::FdFlags::empty()).expect("our own file");
    let before = sys::memory(rustix::process::getpid());
    let next = AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((number, odd)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    ODD.get(number / 2).map(|odd| (number, odd))
                } {
                    if let Some(why) = wrong(odd, (number % 2) as u8) {
                        let line = format!("{} in seat {}: {why}", odd.what, number % 2 + 1);
                        failures.lock().expect("no panic").push(line);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(ODD.len() >= 25);
    let grown = sys::memory(rustix::process::getpid()).saturating_sub(before);
    assert!(grown < 64 << 20, "our memory grew by {grown} bytes");
    // The daemon that hides from its mark: only these bots sleep that long.
    let left =
        std::process::Command::new("pgrep").args(["-a", "-P", &std::process::id().to_string()]).output();
    let left = left.expect("pgrep runs").stdout;
    assert_eq!(String::from_utf8_lossy(&left).trim(), "", "children of ours are alive");
}
