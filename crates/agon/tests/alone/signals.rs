//! Signals during a match: suspending the whole match costs nobody a result, and what was started in the background
//! stays there.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::common::{WAITER, err, folder, good, last_event, out, wait_until};
use agon_bot::sys;
use rustix::process::{Pid, Signal, kill_process};

/// agon, findable in process lists by what runs in `folder`.
fn start(folder: &Path, before: &[&str], words: &[&str]) -> Child {
    let program = [before, &[env!("CARGO_BIN_EXE_agon")]].concat();
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args(words).current_dir(folder).env("NO_COLOR", "1").env("SIGNALLED", folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id() as i32).expect("a process has an id");
    kill_process(pid, signal).expect("our own child, not waited for");
}

/// Suspends agon for a while, then resumes it.
fn stand_still(child: &Child, time: Duration) {
    signal(child, Signal::STOP);
    std::thread::sleep(time);
    signal(child, Signal::CONT);
}

fn ended(child: Child, folder: &Path) -> Output {
    let output = child.wait_with_output().expect("our own child");
    wait_until("nothing is left", || sys::marked(&format!("SIGNALLED={}", folder.display())).is_empty());
    output
}

/// A series whose matches take a while, with a growing journal.
fn series(folder: &Path, before: &[&str], games: &str) -> Child {
    std::fs::write(folder.join("a.sh"), WAITER).expect("a bot");
    std::fs::write(folder.join("b.sh"), format!("{WAITER}# the other\n")).expect("a bot");
    let words = ["gauntlet", "cultist-wars", "a.sh", "b.sh", "-j", "2", "--replays", "none", "--json"];
    start(folder, before, &[&words[..], &["--journal", "j.jsonl", "-n", games]].concat())
}

fn finished(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("j.jsonl")).map_or(0, |text| text.lines().count().saturating_sub(1))
}

#[test]
fn who_is_stopped_with_the_machine_loses_nothing() {
    let folder = folder();
    let running = series(folder.path(), &[], "40");
    wait_until("it plays", || finished(folder.path()) > 0);
    // In all phases of a match: far longer than the 50 ms that a bot has, and once longer than the patience of a void match.
    for ms in [300, 700, 1_500, 60, 3_000] {
        std::thread::sleep(Duration::from_millis(130));
        stand_still(&running, Duration::from_millis(ms));
    }
    let result = last_event(&good(ended(running, folder.path())));
    assert_eq!(result["games"], 40, "{result:#}");
    let journal = std::fs::read_to_string(folder.path().join("j.jsonl")).expect("a journal");
    let faults: Vec<&str> = journal.lines().filter(|line| line.contains("\"faults\"")).collect();
    assert_eq!(faults, [""; 0], "both bots only wait");
}

#[test]
fn who_did_not_come_while_the_machine_stood_still_has_not_lost() {
    let folder = folder();
    let bot = folder.path().join("bot");
    std::fs::create_dir(&bot).expect("a folder");
    std::fs::write(bot.join("agon.toml"), "run = 'sh run.sh'\ndialect = 'tcp'\n").expect("a file");
    // It would dial in, if it ever got that far.
    std::fs::write(bot.join("run.sh"), "touch started\nsleep 1000\n").expect("a file");
    // The rules give it 7 s to connect, here 2.1.
    let words = ["play", "deerhunt", "bot", "builtin:miner", "--no-replay", "--time-scale", "0.3"];
    let running = start(folder.path(), &[], &words);
    wait_until("the bot was started", || bot.join("started").exists());
    // By then it is awaited: time before that is not counted as its own.
    std::thread::sleep(Duration::from_millis(250));
    stand_still(&running, Duration::from_millis(1_500));
    // Such a match is void and played again, this time without a suspension.
    let output = ended(running, folder.path());
    let said = err(&output) + &out(&output);
    let (void, again) =
        said.split_once("playing again").unwrap_or_else(|| panic!("not played again: {said}"));
    assert!(
        void.contains("did not connect") && void.contains("this machine kept it waiting for 1."),
        "{said}"
    );
    if output.status.code() == Some(3) {
        println!("SKIPPED: the loss of a bot that never comes (this machine is too busy)");
        return;
    }
    assert!(again.contains("never started: did not connect"), "{said}");
}

/// `timeout` sends its signal to the program and then to its group: the line that goes on with the series is told all the same.
#[test]
fn a_signal_that_comes_twice_at_once_is_one() {
    let folder = folder();
    for second in [1, 40] {
        let running = series(folder.path(), &[], "100000");
        wait_until("it plays", || finished(folder.path()) > 0);
        signal(&running, Signal::TERM);
        std::thread::sleep(Duration::from_millis(second));
        signal(&running, Signal::TERM);
        let output = ended(running, folder.path());
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert!(err(&output).contains("go on with\n"), "{}", err(&output));
        std::fs::remove_file(folder.path().join("j.jsonl")).expect("its journal");
    }
}

#[test]
fn what_outlives_its_terminal_still_obeys_an_interrupt() {
    let folder = folder();
    if !Command::new("env").args(["--ignore-signal=INT", "true"]).status().is_ok_and(|done| done.success()) {
        println!("SKIPPED: signals that are ignored from the start (env has no --ignore-signal)");
        return;
    }
    // As `nohup` and a script's `&` start it.
    let before = ["env", "--ignore-signal=INT", "--ignore-signal=HUP"];
    let running = series(folder.path(), &before, "100000");
    // Before that it may still be `env`, which a signal ends.
    wait_until("it plays", || finished(folder.path()) > 0);
    let done = finished(folder.path());
    signal(&running, Signal::HUP);
    wait_until("it goes on", || finished(folder.path()) > done + 2);
    // Who sends this one means it, whatever the shell that started it had it ignore.
    signal(&running, Signal::INT);
    let output = ended(running, folder.path());
    assert!(output.status.code().is_some(), "it ended by itself: {:?}", output.status);
    assert!(err(&output).contains("go on with\n"), "{}", err(&output));
}
