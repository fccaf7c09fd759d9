//! A test of two versions is interrupted at any moment, in every way, and continued: no result is false, lost or
//! doubled, no process is left behind, no file is empty.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{WAITER, wait_until};
use agon_bot::sys;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

/// A match of a journal: what decides, and its faults.
#[derive(Debug, PartialEq)]
struct Played {
    decides: String,
    faults: Value,
}

/// The matches of a journal by block and game. `kill -9` may leave an incomplete last line.
fn matches(journal: &Path) -> BTreeMap<(u64, u64), Played> {
    let text = std::fs::read_to_string(journal).expect("a journal");
    let mut found = BTreeMap::new();
    for line in text.split_inclusive('\n').skip(1).filter(|line| line.ends_with('\n')) {
        let entry: Value = serde_json::from_str(line).expect("every whole line is JSON");
        let number = |key: &str| entry[key].as_u64().expect("a number");
        let decides = ["seed", "bots", "scores", "ranks", "reason", "steps", "start", "answers"];
        let played = Played {
            decides: decides.map(|key| entry[key].to_string()).join(" "),
            faults: entry["faults"].clone(),
        };
        let key = (number("block"), number("game"));
        assert!(found.insert(key, played).is_none(), "match {key:?} stands there twice");
    }
    found
}

/// All empty files below a folder.
fn empty_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let below = entries.flat_map(|entry| match entry.metadata().ok() {
        Some(about) if about.is_dir() => empty_files(&entry.path()),
        Some(about) if about.len() == 0 => vec![entry.path()],
        _ => Vec::new(),
    });
    below.collect()
}

/// A test that is never decided: both bots only wait, so that every match is drawn.
fn sprt(folder: &Path, more: &[&str]) -> Command {
    // A shell that runs the tests in the background has them ignore an interrupt, which would be inherited.
    let mut command = Command::new("env");
    command
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_agon")])
        .args([
            "sprt",
            "cultist-wars",
            "a.sh",
            "b.sh",
            "--elo0",
            "-50",
            "--elo1",
            "50",
            "--seed",
            "5",
            "-j",
            "2",
        ])
        .args(["--set", "number_of_turns=6", "--time-scale", "30", "--replays", "all", "--json"])
        .args(more)
        .current_dir(folder)
        .env("INTERRUPTED", folder)
        .env("NO_COLOR", "1");
    command
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn interrupt(times: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::write(path.join("a.sh"), WAITER).expect("a bot");
    std::fs::write(path.join("b.sh"), format!("{WAITER}# the other\n")).expect("a bot");
    let journal = path.join("x.jsonl");
    let mark = format!("INTERRUPTED={}", path.display());
    // A generator of moments; their exact values do not matter.
    let mut state = u64::from(std::process::id());
    let mut before = BTreeMap::new();
    for number in 0..times {
        let mut arguments = vec!["--journal", "x.jsonl"];
        arguments.extend(journal.exists().then_some("--resume"));
        let mut command = sprt(path, &arguments);
        // Its own process group: signals reach the bots as those of a terminal do.
        command.process_group(0).stdout(Stdio::null()).stderr(Stdio::piped());
        let running = command.spawn().expect("agon starts");
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((state >> 33) % 300_000));
        let agon = Pid::from_raw(running.id() as i32).expect("a process has an id");
        match number % 3 {
            0 => kill_process_group(agon, Signal::INT),
            1 => kill_process_group(agon, Signal::TERM),
            _ => kill_process(agon, Signal::KILL),
        }
        .expect("our own child, not waited for");
        let ended = running.wait_with_output().expect("our own child");
        wait_until("nothing is left", || sys::marked(&mark).is_empty());
        assert_eq!(empty_files(path), Vec::<PathBuf>::new(), "after {number}: {}", text(&ended));
        if journal.exists() {
            let now = matches(&journal);
            for (key, played) in &before {
                assert_eq!(now.get(key), Some(played), "a finished match was lost or changed");
            }
            for (key, played) in &now {
                assert_eq!(played.faults, Value::Null, "match {key:?} has a false fault: {}", text(&ended));
            }
            before = now;
        }
    }
    // An uninterrupted run gives the same.
    let blocks = before.keys().map(|(block, _)| *block).max().expect("some match was finished");
    let games = (blocks * 2).to_string();
    let last = sprt(path, &["--journal", "x.jsonl", "--resume", "-n", &games]).output().expect("agon starts");
    let decided = |output: &Output| matches!(output.status.code(), Some(0 | 10..=13));
    assert!(decided(&last), "{}", text(&last));
    let quiet = sprt(path, &["--journal", "quiet.jsonl", "-n", &games]).output().expect("agon starts");
    assert!(decided(&quiet), "{}", text(&quiet));
    let (whole, undisturbed) = (matches(&journal), matches(&path.join("quiet.jsonl")));
    assert_eq!(whole.len().to_string(), games);
    assert_eq!(whole, undisturbed);
    println!(
        "{times} interruptions, {games} matches: 0 false, 0 lost, 0 twice, 0 processes and 0 empty files left"
    );
}

#[test]
fn twelve_interruptions_leave_no_trace() {
    interrupt(12);
}

/// `cargo xtask long interruptions`.
#[test]
#[ignore = "takes minutes"]
fn two_hundred_interruptions_leave_no_trace() {
    interrupt(200);
}
