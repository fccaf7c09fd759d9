//! What a bot may rely on is the same inside as outside: programs of several languages ask the system, and the answers
//! are compared. What differs is listed, with the reason.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use crate::common::{command, err, folder, good, write_program as write};

/// A program of a language: what it needs, its file, and how it is built and run.
pub struct Probe {
    pub language: &'static str,
    pub needs: &'static str,
    file: &'static str,
    text: &'static str,
    build: Option<&'static str>,
    run: &'static str,
    /// The least number of checks.
    least: usize,
}

pub const PROBES: &[Probe] = &[
    Probe {
        language: "Python",
        needs: "python3",
        file: "probe.py",
        text: include_str!("../probes/probe.py"),
        build: None,
        run: "python3 probe.py",
        least: 200,
    },
    Probe {
        language: "Node",
        needs: "node",
        file: "probe.mjs",
        text: include_str!("../probes/probe.mjs"),
        build: None,
        run: "node probe.mjs",
        least: 60,
    },
    Probe {
        language: "C++",
        needs: "g++",
        file: "probe.cpp",
        text: include_str!("../probes/probe.cpp"),
        build: Some("g++ -std=c++20 -O1 -o probe probe.cpp -lpthread"),
        run: "./probe",
        least: 60,
    },
    Probe {
        language: "Java",
        needs: "javac",
        file: "Probe.java",
        text: include_str!("../probes/Probe.java"),
        build: Some("javac Probe.java"),
        run: "java -cp . Probe",
        least: 60,
    },
    Probe {
        language: "Go",
        needs: "go",
        file: "probe.go",
        text: include_str!("../probes/probe.go"),
        build: Some("GO111MODULE=off go build -o probe probe.go"),
        run: "./probe",
        least: 60,
    },
    // Mono's compiler and runtime, which Debian has; .NET itself has to be got elsewhere.
    Probe {
        language: "C#",
        needs: "mcs",
        file: "probe.cs",
        text: include_str!("../probes/probe.cs"),
        build: Some("mcs -r:System.Numerics -r:System.Core -r:Microsoft.CSharp -out:probe.exe probe.cs"),
        run: "mono probe.exe",
        least: 60,
    },
];

/// What differs, and why: `check: reason`.
const EXPLAINED: &str = include_str!("../probes/differences.txt");

/// Runs a shell line outside, in a folder.
fn outside(at: &Path, line: &str) -> String {
    let done =
        Command::new("sh").args(["-c", line]).current_dir(at).env_remove("PROBE").output().expect("a shell");
    assert!(done.status.success(), "{line}: {}{}", err(&done), crate::common::out(&done));
    crate::common::out(&done)
}

/// The answers by name, in their order.
fn answers(text: &str) -> Vec<(&str, &str)> {
    text.lines().filter_map(|line| line.split_once(": ")).collect()
}

/// Makes a bot of a probe: it answers in a file of its folder, and has nothing to say in the match. Returns its name.
pub fn prepare(at: &Path, probe: &Probe) -> String {
    let bot = format!("probe-{}", probe.needs);
    let place = at.join(&bot);
    std::fs::create_dir(&place).expect("a folder");
    std::fs::write(place.join(probe.file), probe.text).expect("a file");
    if let Some(build) = probe.build {
        outside(&place, build);
    }
    let run = format!("#!/bin/sh\n{} < /dev/null > answers 2> errors\n", probe.run);
    write(&place, "run.sh", &run);
    write(&place, "agon.toml", "run = './run.sh'\n");
    bot
}

#[test]
fn what_a_bot_may_rely_on_is_the_same_inside() {
    let found = agon_sandbox::probe(Path::new(env!("CARGO_BIN_EXE_agon")));
    if found.level > agon_sandbox::Level::A {
        println!("skipped: level {} here: {:?}", found.level, found.missing);
        return;
    }
    let explained: Vec<&str> = EXPLAINED
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .map(|(name, _)| name)
        .collect();
    assert!(explained.len() <= 10, "{} differences are too many to explain", explained.len());
    let (mut wrong, mut skipped, mut met) = (Vec::new(), 0, Vec::new());
    for probe in PROBES {
        if !agon_bot::tools::is_installed(probe.needs) {
            println!("SKIPPED: {} ({} is not installed)", probe.language, probe.needs);
            skipped += 1;
            continue;
        }
        let at = folder();
        let bot = prepare(at.path(), probe);
        let told = outside(&at.path().join(&bot), &format!("{} < /dev/null 2> errors | cat", probe.run));
        let words = ["play", "cultist-wars", &bot, "builtin:idle", "--sandbox", "on", "--no-timeouts"];
        let more = ["--no-replay", "--quiet", "--keep-files", "kept"];
        good(command(at.path(), &[&words[..], &more].concat()).output().expect("agon"));
        let kept = walk(&at.path().join("kept"), "answers").expect("the answers are kept");
        let (outside, inside) = (answers(&told), answers(&kept));
        assert!(outside.len() > probe.least, "{}: {} checks\n{told}", probe.language, outside.len());
        for (name, answer) in &outside {
            let here =
                inside.iter().find(|(other, _)| other == name).map_or("no answer", |(_, answer)| *answer);
            if here != *answer {
                if !explained.contains(name) {
                    wrong.push(format!("{} {name}: outside {answer}, inside {here}", probe.language));
                }
                met.push((*name).to_owned());
            }
        }
        // What asks for a package that is not installed says so outside as well.
        let absent = outside.iter().filter(|(_, answer)| answer.contains("ModuleNotFoundError"));
        let absent: Vec<&str> = absent.map(|(name, _)| *name).collect();
        absent
            .iter()
            .for_each(|name| println!("SKIPPED: {} {name} (its package is not installed)", probe.language));
        println!("{}: {} checks, {} skipped", probe.language, outside.len() - 1, absent.len());
    }
    println!("{skipped} languages skipped, {} differences, {} explained", met.len(), explained.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let idle: Vec<_> = explained.iter().filter(|name| !met.iter().any(|met| met == *name)).collect();
    assert!(skipped > 0 || idle.is_empty(), "these are the same now, and need no explanation: {idle:?}");
}

/// The text of the first file of this name below a folder.
pub fn walk(folder: &Path, name: &str) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let here = files.into_iter().find(|file| file.file_name().is_some_and(|own| own == name));
    here.and_then(|file| std::fs::read_to_string(file).ok())
        .or_else(|| folders.iter().find_map(|inner| walk(inner, name)))
}
