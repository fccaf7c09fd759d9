//! Time is charged by what the kernel counted: nobody gains by hiding it, and nobody loses to a busy machine.
//!
//! Short forms; `cargo xtask long fairness`, `runtimes`, `late` and `later` run the long ones.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{agon, err, folder, json, number};
use agon_bot::{BotName, Confined, Level, guard, inside, sys};
use agon_game::{Seat, Session, Setup};
use agon_match::{Clock, Observer, Ponder, StepReport, Terms, place, play_on, seat_player};

/// Some of each kind.
const SOME: [&str; 7] = [
    "supervisors",
    "sleep",
    "before-the-beat",
    "called-java",
    "head-start",
    "crowd-of-sessions",
    "does-not-read",
];

/// The level bots are held at here, in this program as in the tested one; none if strangers' are not.
fn level() -> Option<Level> {
    static KNOWN: Once = Once::new();
    KNOWN.call_once(|| guard::use_program(env!("CARGO_BIN_EXE_agon").into()));
    let level = inside::found().ok().map(|found| found.level).filter(|level| *level <= Level::B);
    if level.is_none() {
        println!("SKIPPED: there is no sandbox of level A or B here");
    }
    level
}

/// The long form runs all controls as well.
#[test]
fn the_clock_is_attacked_and_holds() {
    let Some(level) = level() else { return };
    let folder = folder();
    let run = |more: &[&str]| {
        let output = agon(folder.path(), &[&["sandbox", "test", "--fairness", "--json"], more].concat());
        let result = json(&output);
        assert_eq!(output.status.code(), Some(0), "at level {level}: {result:#}");
        result["attacks"].as_array().expect("a list").clone()
    };
    let all = run(&[]);
    assert!(all.len() >= 25, "{}", all.len());
    let won = all.iter().filter(|attack| attack["got"] == "won" && attack["expected"] == "held").count();
    assert_eq!(won, 0, "{all:#?}");
    // An attack that nothing lets win proves nothing.
    let some: &[&str] = if std::env::var_os("AGON_CONTROLS").is_some() { &[] } else { &SOME };
    if level == Level::A {
        let controls = run(&[some, &["--controls"]].concat());
        let lost: Vec<_> = controls.iter().filter(|attack| attack["control"]["won"] == false).collect();
        assert!(lost.is_empty(), "{lost:#?}");
    }
    let wrong = agon(folder.path(), &["sandbox", "test", "--fairness", "supervisor-"]);
    assert!(err(&wrong).contains("did you mean `supervisors`?"), "{}", err(&wrong));
}

/// In each language: reads a question, makes garbage for 20 ms of CPU time, reports what the system says it used, and waits.
const PYTHON: &str = r#"
import sys, time, gc
gc.set_threshold(100)
for _ in range(9): sys.stdin.readline()
for line in sys.stdin:
    for _ in range(int(line)): sys.stdin.readline()
    begun = time.thread_time()
    while time.thread_time() - begun < 0.02:
        a = []; a.append(a)
    used = time.thread_time() - begun
    print("used", int(used * 1e6), file=sys.stderr, flush=True)
    print("WAIT", flush=True)
"#;
const NODE: &str = r#"
const fs = require("fs");
let text = "";
const chunk = Buffer.alloc(65536);
function line() {
    while (!text.includes("\n")) {
        const count = fs.readSync(0, chunk);
        if (count === 0) process.exit(0);
        text += chunk.toString("utf8", 0, count);
    }
    const at = text.indexOf("\n");
    const one = text.slice(0, at);
    text = text.slice(at + 1);
    return one;
}
const cpu = (since) => { const own = process.cpuUsage(since); return own.user + own.system; };
for (let i = 0; i < 9; i++) line();
for (;;) {
    for (let units = +line(); units > 0; units--) line();
    const begun = process.cpuUsage();
    let kept = [];
    while (cpu(begun) < 20000) { kept.push({ a: [1, 2, 3] }); if (kept.length > 10000) kept = []; }
    fs.writeSync(2, "used " + cpu(begun) + "\n");
    fs.writeSync(1, "WAIT\n");
}
"#;
const JAVA: &str = r#"
import java.io.*;
import java.lang.management.*;
import java.util.*;
class Bot {
    static final com.sun.management.OperatingSystemMXBean SYSTEM =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    public static void main(String[] words) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (int i = 0; i < 9; i++) in.readLine();
        List<Object> kept = new ArrayList<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            for (int units = Integer.parseInt(line); units > 0; units--) in.readLine();
            long begun = SYSTEM.getProcessCpuTime();
            while (SYSTEM.getProcessCpuTime() - begun < 20_000_000) {
                for (int i = 0; i < 1000; i++) kept.add(new int[16]);
                if (kept.size() > 100_000) kept.clear();
            }
            System.err.println("used " + (SYSTEM.getProcessCpuTime() - begun) / 1000);
            System.out.println("WAIT");
        }
    }
}
"#;
const GO: &str = r#"
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

func cpu() int64 {
	var own syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	return own.Utime.Nano() + own.Stime.Nano()
}

var kept [][]int

func main() {
	in := bufio.NewReader(os.Stdin)
	line := func() string {
		text, err := in.ReadString('\n')
		if err != nil {
			os.Exit(0)
		}
		return text[:len(text)-1]
	}
	for i := 0; i < 9; i++ {
		line()
	}
	for {
		units, _ := strconv.Atoi(line())
		for ; units > 0; units-- {
			line()
		}
		begun := cpu()
		for cpu()-begun < 20_000_000 {
			kept = append(kept, make([]int, 100))
			if len(kept) > 10_000 {
				kept = nil
			}
		}
		fmt.Fprintln(os.Stderr, "used", (cpu()-begun)/1000)
		fmt.Println("WAIT")
	}
}
"#;

/// What an answer took, in microseconds: by its bot's own word, by the charge, and by the kernel's count.
type Took = (Option<u64>, u64, Option<u64>);

/// Answers of seat 1.
#[derive(Default)]
struct Watched {
    answers: Vec<Took>,
    enough: usize,
    stop: AtomicBool,
}

impl Observer for Watched {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        for ((seat, _), take) in step.answers.iter().zip(step.takes).filter(|(_, take)| take.timed) {
            if seat.index() == 0 {
                let said = String::from_utf8_lossy(&take.stderr);
                let said =
                    said.lines().rev().find_map(|line| line.strip_prefix("used ")?.trim().parse().ok());
                let counted = take.counted.map(|counted| counted.cpu_us);
                self.answers.push((said, take.charged.as_micros() as u64, counted));
            }
        }
        self.stop.store(self.answers.len() >= self.enough, Ordering::Relaxed);
        Ok(())
    }
}

/// Plays a match inside; returns its faults and voids.
fn play(bots: [&str; 2], clock: Clock, seen: &mut Watched) -> Vec<String> {
    let names = bots.map(|bot| {
        let name = BotName::parse(bot).expect("a name");
        BotName { confined: Confined::Own, ..name }
    });
    let seed = seen.answers.len() as i64;
    let game = agon_games::find("cultist-wars").expect("a game");
    let mut session = game.open(&Setup { seats: 2, seed, ..Setup::default() }).expect("a match");
    let cpus: Vec<usize> = sys::cpus_at_start().to_vec();
    let places = place(session.as_ref(), Ponder::Stop, &cpus[cpus.len() - 1..]);
    let mut players: Vec<_> = Seat::first(2)
        .zip(names.iter().zip(&places))
        .map(|(seat, (name, cpus))| {
            seat_player(session.as_mut(), name, seat, Some(cpus), clock).expect("seated")
        })
        .collect();
    // The observer stops the match through a flag of its own.
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    struct Stops<'a>(&'a mut Watched, &'static AtomicBool);
    impl Observer for Stops<'_> {
        fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
            self.0.stepped(session, step)?;
            self.1.store(self.0.stop.load(Ordering::Relaxed), Ordering::Relaxed);
            Ok(())
        }
    }
    let labels = ["a".to_owned(), "b".to_owned()];
    let record = std::thread::scope(|scope| {
        let referee = scope.spawn(|| {
            sys::stay_on(&cpus[cpus.len() - 1..]);
            let mut stops = Stops(seen, stop);
            play_on(
                session.as_mut(),
                &mut players,
                &labels,
                &mut stops,
                &Terms::new(clock, Ponder::Stop, stop),
            )
        });
        referee.join().expect("no panic")
    });
    let void = record.void.as_ref().and_then(|void| void.unfair()).map(str::to_owned);
    record.faults.iter().map(|fault| format!("seat {}: {}", fault.seat, fault.message)).chain(void).collect()
}

/// Writes and builds a bot; its name, or none if its language is not installed.
fn bot(folder: &Path, language: &str) -> Option<String> {
    let (file, text, tool, build): (&str, &str, &str, &[&str]) = match language {
        "Python" => ("bot.py", PYTHON, "python3", &[]),
        "Node" => ("bot.js", NODE, "node", &[]),
        "Java" => ("Bot.java", JAVA, "javac", &["javac", "Bot.java"]),
        "Go" => ("bot.go", GO, "go", &["go", "build", "-o", "bot", "bot.go"]),
        _ => unreachable!(),
    };
    let runs = Command::new(tool).arg(if tool == "go" { "version" } else { "--version" }).output();
    if !runs.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: {language} ({tool} is not installed)");
        return None;
    }
    let at = folder.join(language);
    std::fs::create_dir_all(&at).expect("a folder");
    std::fs::write(at.join(file), text).expect("a file");
    if let [program, words @ ..] = build {
        let built = Command::new(program).args(words).current_dir(&at).env("GOFLAGS", "-mod=mod").output();
        let built = built.expect("it is installed");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }
    let shown = at.display();
    let run = match language {
        "Python" => format!("python3 {shown}/bot.py"),
        "Node" => format!("node {shown}/bot.js"),
        "Java" => format!("java -Xmx48m -cp {shown} Bot"),
        _ => format!("{shown}/bot"),
    };
    std::fs::write(at.join("agon.toml"), format!("run = \"{run}\"\ndialect = \"lines\"\n")).expect("a file");
    Some(at.to_str().expect("a name").to_owned())
}

/// The first answers of a match are the runtime's start.
const STARTING: usize = 5;

/// What a runtime with its collector says it used is what it is charged.
#[test]
fn runtimes_are_charged_what_they_use() {
    let Some(level) = level() else { return };
    let (wanted, percent) = (number("AGON_ANSWERS", 20), number("AGON_PERCENT", 100) as f64);
    let folder = folder();
    let mut wrong = Vec::new();
    for language in ["Python", "Node", "Java", "Go"] {
        let Some(name) = bot(folder.path(), language) else { continue };
        let mut seen = Watched { enough: wanted + STARTING, ..Watched::default() };
        let unlimited = Clock { limited: false, ..Clock::ORIGINAL };
        while seen.answers.len() < wanted {
            let before = seen.answers.len();
            let faults = play([&name, "builtin:idle"], unlimited, &mut seen);
            assert!(faults.is_empty() && seen.answers.len() > before + STARTING, "{language}: {faults:?}");
            seen.answers.drain(before..before + STARTING);
        }
        let answers: Vec<_> = seen.answers.iter().filter(|(said, ..)| said.is_some()).collect();
        let mean = |what: fn(&Took) -> u64| {
            answers.iter().map(|answer| what(answer)).sum::<u64>() as f64 / answers.len().max(1) as f64 / 1e3
        };
        let used = mean(|(said, ..)| said.unwrap_or_default());
        let (charged, counted) =
            (mean(|(_, charged, _)| *charged), mean(|(.., counted)| counted.unwrap_or_default()));
        let off = 100.0 * (charged / used - 1.0);
        let line = format!(
            "{language} at level {level}: {} answers, by getrusage {used:.2} ms, counted {counted:.2} ms, charged {charged:.2} ms: {off:+.1} %",
            answers.len()
        );
        println!("{line}");
        if answers.is_empty() || off.abs() > percent {
            wrong.push(line);
        }
    }
    assert_eq!(wrong, [""; 0], "more than {percent} % off");
}

/// Busy loops in sessions of their own, on all CPUs, until dropped.
struct Load(Vec<Child>);

impl Load {
    fn start(count: usize) -> Self {
        let start = |_| {
            let mut command = Command::new("setsid");
            command
                .args(["sh", "-c", "while true; do :; done"])
                .stdin(Stdio::null())
                .spawn()
                .expect("a shell")
        };
        Self((0..count).map(start).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// `bot MS`: uses so much CPU time in each turn.
const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static char line[4096];
static int next(void) { return fgets(line, sizeof line, stdin) != NULL; }
static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
int main(int count, char **words) {
    for (int i = 0; i < 9; i++) next();
    while (next()) {
        for (int units = atoi(line); units > 0; units--) next();
        for (double until = cpu() + atof(words[1]); cpu() < until;) {}
        puts("WAIT");
        fflush(stdout);
    }
}
"#;

/// Two bots that once were called late by mistake: 21 ms of a limit of 150, and 267 of 1,000, on a loaded machine.
#[test]
fn nobody_who_is_in_time_is_called_late() {
    let Some(level) = level() else { return };
    let (wanted, load) = (number("AGON_ANSWERS", 30), number("AGON_LOAD", 4));
    let folder = folder();
    std::fs::create_dir(folder.path().join("bot")).expect("a folder");
    std::fs::write(folder.path().join("bot/bot.c"), C).expect("a file");
    let built = Command::new("cc")
        .args(["-O1", "-o", "bot", "bot.c"])
        .current_dir(folder.path().join("bot"))
        .status();
    if !built.is_ok_and(|status| status.success()) {
        println!("SKIPPED: who is in time is not late (cc is not installed)");
        return;
    }
    let _load = Load::start(load);
    for (ms, scale, share) in [(21, 3.0, 10), (267, 20.0, 1)] {
        let at = folder.path().join(format!("bot-{ms}"));
        std::fs::create_dir(&at).expect("a folder");
        std::fs::copy(folder.path().join("bot/bot"), at.join("bot")).expect("a file");
        std::fs::write(at.join("agon.toml"), format!("run = \"./bot {ms}\"\n")).expect("a file");
        let name = at.to_str().expect("a name");
        // Nine in ten answers are those of the quick one.
        let wanted = (wanted * share / 11).max(3);
        let mut seen = Watched { enough: wanted, ..Watched::default() };
        let clock = Clock { scale, ..Clock::ORIGINAL };
        let (mut faults, mut matches) = (Vec::new(), 0);
        while seen.answers.len() < wanted && matches <= wanted {
            faults.extend(play([name, "builtin:idle"], clock, &mut seen));
            matches += 1;
        }
        println!(
            "{ms} ms at level {level}, {load} busy loops: {} answers in {matches} matches, {} faults or voids",
            seen.answers.len(),
            faults.len()
        );
        assert!(faults.is_empty() && seen.answers.len() >= wanted, "{faults:?}");
    }
}
