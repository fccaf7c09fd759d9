//! Nobody loses because somebody else uses the CPU, be it the opponent or the machine, and nobody gains by keeping
//! itself waiting.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;

use agon_bot::{BotName, sys};
use agon_game::{AnyGame, Face, Seat, Setup};
use agon_match::record::Void;
use agon_match::{Clock, FaultKind, MatchRecord, Ponder, Terms, play_on, seat_player};
use cultist_wars::CultistWars;
use jungle_blitz::JungleBlitz;
use rustix::process::Pid;
use rustix::thread::CpuSet;

/// `bot MS [idle|twice]`: uses MS milliseconds of CPU in each turn. `idle`: also all it can get between its turns.
/// `twice`: also as much in a second process at the same time.
const BURNER: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int spins;
static char get(void) {
    char c;
    long got;
    while ((got = read(0, &c, 1)) < 0) {}
    if (got == 0) _exit(0);
    return c;
}
static int line(void) {
    int number = 0;
    for (char c; (c = get()) != '\n';) number = 10 * number + c - '0';
    return number;
}
static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void burn(double ms) {
    double until = cpu() + ms;
    while (cpu() < until) {}
}
int main(int count, char **words) {
    double ms = atof(words[1]);
    int twice = count > 2 && !strcmp(words[2], "twice");
    if (count > 2 && !strcmp(words[2], "idle")) fcntl(0, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 9; i++) line();
    for (;;) {
        for (int units = line(); units > 0; units--) line();
        pid_t child = twice ? fork() : -1;
        burn(ms);
        if (child == 0) _exit(0);
        if (child > 0) waitpid(child, 0, 0);
        if (write(1, "WAIT\n", 5) != 5) return 0;
    }
}
"#;

struct Burner {
    _folder: tempfile::TempDir,
    program: PathBuf,
}

impl Burner {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, program) = (folder.path().join("burner.c"), folder.path().join("burner"));
        std::fs::write(&source, BURNER).expect("a file");
        let built = Command::new("cc").args(["-O1", "-o"]).args([&program, &source]).status();
        assert!(built.expect("a C compiler").success());
        Self { _folder: folder, program }
    }

    fn bot(&self, arguments: &str) -> String {
        format!("cmd:{} {arguments}", self.program.display())
    }
}

/// Processes that use as much of a CPU as they can get, until dropped.
struct Load(Vec<Child>);

impl Load {
    fn on(cpu: usize, count: usize) -> Self {
        let mut set = CpuSet::new();
        set.set(cpu);
        let start = |_| {
            // Each in a session of its own, as every bot is: systems share out a CPU by sessions, and all of ours together would get no
            // more than one bot.
            let mut command = Command::new("setsid");
            command.args(["sh", "-c", "while true; do :; done"]).stdin(Stdio::null());
            let child = command.spawn().expect("a shell");
            let pid = Pid::from_raw(child.id() as i32).expect("a process has an id");
            rustix::thread::sched_setaffinity(Some(pid), &set).expect("our own child");
            child
        };
        Self((0..count).map(start).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().expect("our own child");
            child.wait().expect("our own child");
        }
    }
}

const UNLIMITED: Clock = Clock { limited: false, ..Clock::ORIGINAL };

fn match_of(bots: [&str; 2], cpu: usize, clock: Clock) -> MatchRecord {
    terms_of(bots, cpu, clock, [0, 0])
}

/// A match of bots that have already disturbed this many others.
fn terms_of(bots: [&str; 2], cpu: usize, clock: Clock, disturbed: [u32; 2]) -> MatchRecord {
    match_in(&Face::<CultistWars>::new(), bots, cpu, clock, disturbed)
}

fn match_in(
    game: &dyn AnyGame,
    bots: [&str; 2],
    cpu: usize,
    clock: Clock,
    disturbed: [u32; 2],
) -> MatchRecord {
    let names = bots.map(|bot| BotName::parse(bot).expect("a name"));
    let setup = Setup { seats: 2, seed: 7, ..Setup::default() };
    let mut session = game.open(&setup).expect("a game");
    sys::stay_on(&[cpu]);
    let seat = |(seat, name)| {
        seat_player(session.as_mut(), name, seat, Some(&[cpu]), clock).expect("it can be seated")
    };
    let mut players: Vec<_> = Seat::first(2).zip(&names).map(seat).collect();
    let labels = ["a".to_owned(), "b".to_owned()];
    let stop = AtomicBool::new(false);
    let terms = Terms { disturbed: &disturbed, ..Terms::new(clock, Ponder::Stop, &stop) };
    play_on(session.as_mut(), &mut players, &labels, &mut (), &terms)
}

fn last_cpu() -> usize {
    *sys::cpus().last().expect("there is one")
}

#[test]
fn a_bot_that_spins_while_idle_costs_its_opponent_next_to_nothing() {
    let burner = Burner::new();
    for seat in 0..2 {
        let (thinks, spins) = (burner.bot("20"), burner.bot("0 idle"));
        let bots = if seat == 0 { [&*thinks, &*spins] } else { [&*spins, &*thinks] };
        // On a busy machine we may stop it late once or twice.
        let cheap = (0..5).any(|_| {
            let record = match_of(bots, last_cpu(), UNLIMITED);
            let (thinker, spinner) = (record.times[seat], record.times[1 - seat]);
            assert!(record.has(Seat::new(1 - seat as u8), FaultKind::Pondering), "{:?}", record.faults);
            assert_eq!(record.faults.len(), 1, "{:?}", record.faults);
            let (stolen, thought) = (spinner.between_ms.expect("known"), thinker.cpu_ms.expect("known"));
            assert!(thought > 1_400.0, "75 turns of 20 ms: {thought}");
            eprintln!("{stolen} ms of {thought} ms");
            // 5 ms of it prove that it is not tidying up, and we look every 4 ms.
            stolen < 0.03 * thought
        });
        assert!(cheap, "it took too much each time");
    }
}

#[test]
fn the_first_two_seconds_of_a_runtime_are_not_looked_at() {
    let burner = Burner::new();
    // It spins between its turns, like a runtime that is still compiling; a program of this name counts as one.
    let java = burner.program.with_file_name("java");
    std::fs::copy(&burner.program, &java).expect("our own folder");
    let (thinks, spins) = (burner.bot("1"), format!("cmd:{} 0 idle", java.display()));
    for _ in 0..5 {
        let record = match_of([&*thinks, &*spins], last_cpu(), UNLIMITED);
        // On a busy machine it takes longer, and proves nothing.
        if record.wall_us < 1_500_000 {
            let noted = record.notes.iter().any(|note| note.contains("while its opponent was to move"));
            assert!(record.faults.is_empty() && !noted, "{:?} {:?}", record.faults, record.notes);
            let spun = record.times[1].between_ms.expect("known");
            assert!(spun > 5.0, "it would have been a fault: {spun} ms");
            return;
        }
    }
    println!("SKIPPED: the first two seconds of a runtime (this machine is too busy)");
}

#[test]
fn a_loaded_machine_costs_nobody_its_result() {
    let burner = Burner::new();
    let _load = Load::on(last_cpu(), 4);
    // It needs 30 ms of 50, but gets a fifth of the CPU: the waiting this causes is not charged.
    let good = burner.bot("30");
    let record = match_of([&good, &good], last_cpu(), Clock::ORIGINAL);
    assert!(record.void.is_none() && record.faults.is_empty(), "{:?} {:?}", record.void, record.faults);
    let time = record.times[0];
    assert!(time.wall_ms > 2.0 * time.charged_ms && time.kept_waiting_ms > time.charged_ms, "{time:?}");
    // A bot that would never have been in time is no better off than on a quiet machine.
    let slow = burner.bot("3000");
    let record = match_of([&slow, &good], last_cpu(), Clock::ORIGINAL);
    assert!(record.void.is_none() && record.has(Seat::new(0), FaultKind::Timeout), "{:?}", record.void);
    assert_eq!(record.outcome.expect("it counts").scores, [-1.0, 0.0]);
}

/// Reads one question; the first one has nine extra lines.
const READ: &str = "first=9
question() {
    while [ $first -gt 0 ]; do read -r line || exit 0; first=$((first-1)); done
    read -r units || exit 0
    while [ $units -gt 0 ]; do read -r line; units=$((units-1)); done
}
";
/// Writes down its pid, and plays.
const PREY: &str = "echo $$ > pid; while true; do question; echo WAIT; done";
/// Stops the other bot with a signal, and plays.
const HUNTER: &str = "question; kill -STOP $(cat pid); echo WAIT; while true; do question; echo WAIT; done";

#[test]
fn who_stops_another_bot_is_named_and_put_out_the_third_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let bot = |name: &str, script: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{READ}{script}\n")).expect("a file");
        path.to_str().expect("a name").to_owned()
    };
    let bots = [bot("prey.sh", PREY), bot("hunter.sh", HUNTER)];
    let again = |disturbed| terms_of([&bots[0], &bots[1]], last_cpu(), Clock::ORIGINAL, disturbed);
    let hunter = Seat::new(1);
    for before in 0..2 {
        let record = again([0, before]);
        assert_eq!(record.void.as_ref().and_then(Void::culprit), Some(hunter), "{:?}", record.void);
        assert!(record.faults.is_empty(), "{:?}", record.faults);
    }
    let record = again([0, 2]);
    assert!(record.void.is_none() && record.has(hunter, FaultKind::Disturbing), "{:?}", record.void);
    assert_eq!(record.faults.len(), 1, "{:?}", record.faults);
    assert_eq!(record.outcome.expect("it counts").scores, [0.0, -1.0]);
}

/// Plays Jungle Blitz: runs `work`, and then does nothing.
const TICKS: &str = r#"echo '{"type":"REGISTER","teamName":"T"}'
while read -r line; do
    tick=${line#*'"tick":'}
    work
    echo '{"type":"COMMAND","tick":'"${tick%%,*}"',"actions":[]}'
done"#;

#[test]
fn who_computes_when_it_has_answered_is_named_where_all_think_at_the_same_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let bot = |name: &str, before: &str, script: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{before}\n{TICKS}\n")).expect("a file");
        format!("lines:{script} {}", path.display())
    };
    // It thinks for ever. Each spinning process has its own session, because systems share out a CPU by sessions.
    let prey = bot("prey.sh", "work() { while :; do :; done; }", "sh");
    let spin = "i=0; while [ $i -lt 60 ]; do setsid sh -c 'while :; do :; done' </dev/null >/dev/null & i=$((i+1)); done
        work() { :; }";
    let hunter = bot("hunter.sh", spin, "sh");
    let clock = Clock { cap: Some(std::time::Duration::from_millis(300)), ..Clock::ORIGINAL };
    // The other tests are busy on the last CPU. An even busier machine may have taken most of the time itself, and more
    // than once if it is slow.
    let named = (0..8).any(|_| {
        let game = Face::<JungleBlitz>::new();
        let record = match_in(&game, [&prey, &hunter], sys::cpus_at_start()[0], clock, [0, 0]);
        // What it did may have kept it from answering in time, too.
        assert_eq!(record.faults_of(Seat::new(0)).count(), 0, "{:?}", record.faults.first());
        assert!(record.void.is_some(), "{:?}", record.times);
        record.void.as_ref().and_then(Void::culprit) == Some(Seat::new(1))
    });
    assert!(named);
}

/// Leaves a process that has cleared its environment, is outside the bot's session, and burns CPU.
const HIDER: &str = "(setsid env -i sh -c 'while :; do :; done' >/dev/null 2>&1 </dev/null &)
    while true; do question; echo WAIT; done";

#[test]
fn a_process_that_hides_is_charged_to_its_bot() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hider.sh");
    std::fs::write(&path, format!("{READ}{HIDER}\n")).expect("a file");
    let burner = Burner::new();
    let (thinker, hider) = (burner.bot("20"), path.to_str().expect("a name").to_owned());
    let record = match_of([&thinker, &hider], last_cpu(), Clock::ORIGINAL);
    assert!(record.void.is_none(), "{:?}", record.void);
    assert!(record.has(Seat::new(1), FaultKind::Pondering), "{:?}", record.faults);
    assert!(record.faults_of(Seat::new(0)).next().is_none(), "{:?}", record.faults);
}

#[test]
fn a_bot_cannot_keep_itself_waiting() {
    let burner = Burner::new();
    let (twice, good) = (burner.bot("40 twice"), burner.bot("0"));
    // Together its two processes need 80 ms of one CPU. In some matches something else may really have kept it waiting,
    // but not in all.
    let lost = (0..20).any(|_| {
        let record = match_of([&twice, &good], last_cpu(), Clock::ORIGINAL);
        record.has(Seat::new(0), FaultKind::Timeout)
    });
    assert!(lost, "every match was void");
}

#[test]
fn what_was_not_measured_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let bot = folder.path().join("bot.sh");
    let script = "i=0; while [ $i -lt 9 ]; do read -r line; i=$((i+1)); done
        while read -r n; do
            while [ $n -gt 0 ]; do read -r line; env true; n=$((n-1)); done
            echo WAIT
        done";
    std::fs::write(&bot, script).expect("a file");
    let bot = bot.to_str().expect("a name");
    let record = match_of([bot, "builtin:random"], last_cpu(), UNLIMITED);
    let note = "ms of CPU of seat 1 were used by processes that came and went unseen";
    assert!(record.notes.iter().any(|told| told.contains(note)), "{:?} {:?}", record.notes, record.times);
    // A bot's launcher, such as a Python version manager, belongs to no turn, and is not reported.
    let launcher = folder.path().join("launcher.sh");
    let started = "i=0; while [ $i -lt 300 ]; do env true; i=$((i+1)); done; exec sh bot.sh";
    let quiet = script.replace("env true; ", "");
    std::fs::write(&launcher, format!("{started}\n")).expect("a file");
    std::fs::write(bot, quiet).expect("a file");
    let launched = match_of([launcher.to_str().expect("a name"), "builtin:random"], last_cpu(), UNLIMITED);
    assert!(launched.times[0].total_cpu_ms > Some(60.0), "it took time: {:?}", launched.times);
    assert!(launched.notes.iter().all(|told| !told.contains("came and went")), "{:?}", launched.notes);
    // Built-in bots are not timed, and not reported.
    assert!(record.notes.iter().all(|told| !told.contains("seat 2")), "{:?}", record.notes);
}

/// Plays, and in one turn is held for 200 ms, four times its limit, as `held` says.
fn held_bot(folder: &Path, name: &str, held: &str) -> String {
    let path = folder.join(name);
    let at = folder.display();
    let script = format!(
        "cd {at}; mkfifo {name}.fifo; turn=0
        while true; do question; turn=$((turn+1)); if [ $turn -eq 3 ]; then {held}; fi; echo WAIT; done"
    );
    std::fs::write(&path, format!("{READ}{script}\n")).expect("a file");
    path.to_str().expect("a name").to_owned()
}

#[test]
fn who_waits_for_itself_or_is_stopped_is_late_and_the_machine_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, held, said) in [
        ("stopped.sh", "(kill -STOP $$; sleep 0.2; kill -CONT $$) & kill -0 $$; wait", ""),
        ("disk.sh", "(sleep 0.2; echo x > disk.sh.fifo) & read -r x < disk.sh.fifo", "computed too long"),
        (
            "pipe.sh",
            "(sleep 0.2; cat pipe.sh.fifo > /dev/null) & head -c 200000 /dev/zero > pipe.sh.fifo",
            "computed too long",
        ),
    ] {
        let bot = held_bot(folder.path(), name, held);
        let record = match_of([&bot, "builtin:random"], last_cpu(), Clock::ORIGINAL);
        assert!(record.void.is_none(), "{name}: {:?}", record.void);
        let late = record.faults_of(Seat::new(0)).find(|fault| fault.kind == FaultKind::Timeout);
        let late = late.unwrap_or_else(|| panic!("{name}: {:?}", record.faults));
        assert!(late.message.contains(said), "{name}: {}", late.message);
    }
}
