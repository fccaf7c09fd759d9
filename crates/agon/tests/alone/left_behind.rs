//! No process of a bot outlives agon, however agon ends, and nothing finished is lost.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::wait;
use agon_bot::sys;
use rustix::process::{Pid, Signal, kill_process};

const MINUTE: Duration = Duration::from_secs(60);

/// A bot that has children of every kind and reports that all of them run. The first answers once, so that there is a
/// match; after that neither ever answers. The second is asked once that answer was played.
const BOT: &str = "#!/bin/sh
trap '' TERM INT HUP
sleep 1000 &
setsid sleep 1000 </dev/null >/dev/null 2>&1 &
(setsid sh -c 'trap \"\" TERM INT HUP; while true; do sleep 1000; done' </dev/null >/dev/null 2>&1 &)
echo x > $TMPDIR/litter
read first
[ $AGON_SEAT = 1 ] && echo WAIT
echo ready > ready.$AGON_SEAT
while true; do sleep 1000; done
";

struct Match {
    agon: Child,
    folder: tempfile::TempDir,
    temporary: tempfile::TempDir,
}

impl Match {
    /// A match that would never end, returned once all its bots and their children run.
    fn start() -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let (folder, temporary) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let bot = folder.path().join("bot");
        std::fs::write(&bot, BOT).expect("a file");
        std::fs::set_permissions(&bot, std::fs::Permissions::from_mode(0o755)).expect("our own file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command
            .args(["play", "cultist-wars", "./bot", "./bot", "--no-timeouts", "--seed", "1"])
            .current_dir(folder.path())
            .env("TMPDIR", temporary.path())
            // Marks everything that belongs to this match.
            .env("LEFT_BEHIND", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let agon = command.spawn().expect("agon starts");
        let started = Self { agon, folder, temporary };
        wait(MINUTE, "the bots run", || [1, 2].iter().all(|seat| started.file(&format!("ready.{seat}"))));
        // Per bot: itself, its sleep, and two daemons, one with a sleep of its own; then agon and its guard.
        wait(MINUTE, "their children run", || started.alive().len() >= 12);
        started
    }

    fn file(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }

    /// Everything alive that the match started, agon included.
    fn alive(&self) -> Vec<Pid> {
        sys::marked(&format!("LEFT_BEHIND={}", self.folder.path().display()))
    }

    /// What `pkill agon` would find.
    fn called_agon(&self) -> Vec<Pid> {
        let name = |pid: &Pid| std::fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero()));
        self.alive().into_iter().filter(|pid| name(pid).is_ok_and(|name| name.contains("agon"))).collect()
    }

    fn signal(&self, signal: Signal) {
        let agon = Pid::from_raw(self.agon.id() as i32).expect("a process has an id");
        kill_process(agon, signal).expect("our own child");
    }

    /// Waits for agon, then until nothing is left. Returns its exit code.
    fn end(mut self) -> Option<i32> {
        let status = self.agon.wait().expect("our own child");
        wait(MINUTE, "nothing is alive", || self.alive().is_empty());
        let litter = || std::fs::read_dir(self.temporary.path()).expect("a folder").count();
        wait(MINUTE, "no temporary folder is left", || litter() == 0);
        status.code()
    }
}

/// Whether this process, and so every program it starts, ignores a signal.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("Linux");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("bits");
    ignored >> (signal.as_raw() - 1) & 1 == 1
}

fn verify(folder: &Path) -> String {
    let replay = "agon-replays/cultist-wars-1.replay";
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    let output = command.args(["replay", "info", replay]).current_dir(folder).output().expect("agon starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn nothing_outlives_ctrl_c() {
    let started = Match::start();
    started.signal(Signal::INT);
    let folder = started.folder.path().to_owned();
    wait(MINUTE, "the replay is ended", || verify(&folder).contains("it does not count"));
    assert_eq!(started.end(), Some(1), "a match that was stopped is no success");
}

#[test]
fn nothing_outlives_a_second_ctrl_c() {
    let started = Match::start();
    started.signal(Signal::INT);
    // Sooner it would be the same one, sent twice.
    std::thread::sleep(Duration::from_millis(600));
    started.signal(Signal::INT);
    started.end();
}

#[test]
fn nothing_outlives_a_closed_terminal_or_a_polite_end() {
    for signal in [Signal::TERM, Signal::HUP] {
        // What was started by `nohup` outlives its terminal, and so does everything it starts.
        if is_ignored(signal) {
            println!("SKIPPED: a match that gets signal {} (it is ignored here)", signal.as_raw());
            continue;
        }
        let started = Match::start();
        started.signal(signal);
        started.end();
    }
}

#[test]
fn nothing_outlives_kill_9() {
    let started = Match::start();
    started.signal(Signal::KILL);
    assert_eq!(started.end(), None, "it was killed");
}

#[test]
fn nothing_outlives_pkill_9_by_name() {
    let started = Match::start();
    let victims = started.called_agon();
    assert_eq!(victims.len(), 1, "the guard goes by another name");
    for victim in victims {
        kill_process(victim, Signal::KILL).expect("our own child");
    }
    started.end();
}
