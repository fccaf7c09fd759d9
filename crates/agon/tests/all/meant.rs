//! What is played is what was meant: sources as they are now, another program than the old one, the files of submodules, and
//! each match once.

use std::path::Path;
use std::process::Command;

use crate::common::{agon, err, folder, good, out, write};

/// A bot of Cultist Wars that waits, or answers something else.
fn bot(answer: &str) -> String {
    format!(
        "import sys\nrd = sys.stdin.readline\nme = rd(); w, h = map(int, rd().split())\nfor _ in range(h): rd()\nwhile True:\n    \
         l = rd()\n    if not l: break\n    for _ in range(int(l)): rd()\n    print({answer}, flush=True)\n"
    )
}

/// A file that was changed this many seconds ago.
fn aged(folder: &Path, name: &str, seconds: u64) {
    let when = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
    let file = std::fs::OpenOptions::new().append(true).open(folder.join(name)).expect("a file");
    file.set_modified(when).expect("its time is set");
}

fn git(folder: &Path, arguments: &[&str]) {
    let own = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"];
    let done =
        Command::new("git").args(own).args(arguments).current_dir(folder).output().expect("git starts");
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

const SHORT: [&str; 7] = ["-n", "4", "--set", "number_of_turns=4", "-q", "--time-scale", "20"];

fn sprt(folder: &Path, new: &str, old: &str, more: &[&str]) -> std::process::Output {
    agon(folder, &[&["sprt", "cultist-wars", new, old], &SHORT[..], more].concat())
}

#[test]
fn a_source_that_is_newer_than_its_program_is_built_or_named() {
    let folder = folder();
    let place = folder.path();
    // Its "compiler" copies the source to the program.
    write(place, "new/agon.toml", "build = 'cp bot.cpp main.py'\nrun = 'python3 main.py'\n");
    write(place, "new/bot.cpp", &bot("'WAIT'"));
    write(place, "old/bot.py", &bot("'WAIT' if me else ''"));
    good(agon(place, &["build", "new"]));
    aged(place, "new/main.py", 60);
    write(place, "new/bot.cpp", &bot("'WAIT now'"));
    let refused = sprt(place, "new", "old", &["--no-build"]);
    assert_eq!(refused.status.code(), Some(2), "{}", err(&refused));
    assert!(err(&refused).contains("bot.cpp is newer than what would be run"), "{}", err(&refused));
    let tested = sprt(place, "new", "old", &[]);
    assert!(err(&tested).contains("new was built"), "{}{}", out(&tested), err(&tested));
    let now = std::fs::read_to_string(place.join("new/main.py")).expect("built");
    assert!(now.contains("WAIT now"), "{now}");
    // Where a Makefile builds it, times tell.
    write(place, "made/Makefile", "bot: bot.cpp\n\tcp bot.cpp bot\n");
    write(place, "made/agon.toml", "run = './bot'\n");
    write(place, "made/bot", &format!("#!/usr/bin/env python3\n{}", bot("'WAIT'")));
    let done =
        Command::new("chmod").args(["+x", "made/bot"]).current_dir(place).status().expect("chmod starts");
    assert!(done.success());
    aged(place, "made/bot", 60);
    write(place, "made/bot.cpp", "int main() {}\n");
    let refused = sprt(place, "made", "old", &[]);
    assert_eq!(refused.status.code(), Some(2), "{}{}", out(&refused), err(&refused));
    assert!(
        err(&refused).contains("bot.cpp is newer") && err(&refused).contains("make -C made"),
        "{}",
        err(&refused)
    );
    aged(place, "made/bot.cpp", 120);
    let tested = sprt(place, "made", "old", &[]);
    assert!(matches!(tested.status.code(), Some(10..=13)), "{}{}", out(&tested), err(&tested));
}

#[test]
fn two_names_of_one_program_are_no_test() {
    let folder = folder();
    let place = folder.path();
    write(place, "a/bot.py", &bot("'WAIT'"));
    write(place, "b/bot.py", &bot("'WAIT'"));
    write(place, "b/README.md", "The new one.\n");
    let same = sprt(place, "a", "b", &[]);
    assert_eq!(same.status.code(), Some(14), "{}{}", out(&same), err(&same));
    assert!(err(&same).contains("NEW is OLD"), "{}", err(&same));
    assert!(!place.join("agon-series").exists(), "nothing was begun");
    // Its data is part of it.
    write(place, "b/weights.txt", "1 2 3\n");
    let other = sprt(place, "a", "b", &[]);
    assert!(
        out(&other).contains("gave the same answers in 100 % of pairs"),
        "{}{}",
        out(&other),
        err(&other)
    );
}

#[test]
fn a_commit_has_the_files_of_its_submodules_or_is_refused_by_name() {
    let folder = folder();
    let place = folder.path();
    write(place, "lib/mylib.py", "ANSWER = 'WAIT'\n");
    git(&place.join("lib"), &["init", "-q"]);
    git(&place.join("lib"), &["add", "."]);
    git(&place.join("lib"), &["commit", "-qm", "one"]);
    let own = place.join("bot");
    std::fs::create_dir(&own).expect("a folder");
    git(&own, &["init", "-q"]);
    git(&own, &["submodule", "--quiet", "add", "../lib", "lib"]);
    let path = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))\n";
    write(&own, "bot.py", &format!("{path}from mylib import ANSWER\n{}", bot("ANSWER")));
    git(&own, &["add", "."]);
    git(&own, &["commit", "-qm", "two"]);
    let cache = place.join("cache");
    let run = |folder: &Path, words: &[&str]| {
        let mut command = crate::common::command(folder, words);
        command.env("XDG_CACHE_HOME", &cache).output().expect("agon starts")
    };
    let words = ["sprt", "cultist-wars", ".", "git:HEAD"];
    let tested = run(&own, &[&words[..], &SHORT[..]].concat());
    let (said, why) = (out(&tested), err(&tested));
    assert!(!said.contains("crash") && !said.starts_with("Yes"), "{said}{why}");
    assert_eq!(tested.status.code(), Some(14), "the folder is what was committed: {said}{why}");
    // A clone without them.
    git(place, &["clone", "-q", "bot", "clone"]);
    std::fs::remove_dir_all(&cache).expect("removed");
    let refused = run(&place.join("clone"), &["play", "cultist-wars", "git:HEAD", "builtin:idle"]);
    assert_eq!(refused.status.code(), Some(2), "{}{}", out(&refused), err(&refused));
    assert!(err(&refused).contains("submodule `lib` is not here"), "{}", err(&refused));
    // A file that is kept elsewhere.
    write(&own, "weights.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n");
    git(&own, &["add", "."]);
    git(&own, &["commit", "-qm", "three"]);
    let refused = run(&own, &["play", "cultist-wars", "git:HEAD", "builtin:idle"]);
    assert!(err(&refused).contains("`weights.bin` is kept by Git LFS"), "{}", err(&refused));
}

#[test]
fn a_match_counts_once_wherever_its_line_turns_up() {
    let folder = folder();
    let place = folder.path();
    let play = |journal: &str, games: &str, more: &[&str]| {
        let words =
            ["gauntlet", "cultist-wars", "builtin:random", "builtin:greedy", "--seed", "3", "-n", games];
        let own = ["--journal", journal, "--set", "number_of_turns=8", "-q"];
        good(agon(place, &[&words[..], &own, more].concat()));
    };
    play("one.jsonl", "4", &[]);
    std::fs::copy(place.join("one.jsonl"), place.join("copy.jsonl")).expect("copied");
    play("two.jsonl", "4", &[]);
    let rated = agon(place, &["rate", "one.jsonl", "two.jsonl", "copy.jsonl"]);
    assert!(out(&rated).contains("· 8 matches"), "{}", out(&rated));
    assert!(
        err(&rated).contains("copy.jsonl: 4 matches stand in a journal before it too"),
        "{}",
        err(&rated)
    );
    // A copy that went on adds what is new in it.
    play("copy.jsonl", "8", &["--resume"]);
    let rated = agon(place, &["rate", "one.jsonl", "copy.jsonl"]);
    assert!(out(&rated).contains("· 8 matches"), "{}{}", out(&rated), err(&rated));
}
