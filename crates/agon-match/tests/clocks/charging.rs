//! A bot is charged for its own thinking, whatever its language: a C and a Java program that each use 20 ms of their
//! own thread's CPU per answer are charged alike, on a quiet machine and beside a compiler.
//!
//! This is the short form, with wide limits; `cargo xtask long charging` measures on an otherwise idle machine.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use agon_bot::{BotName, sys};
use agon_game::{AnyGame, Face, Seat, Session, Setup};
use agon_match::{Clock, Observer, Ponder, StepReport, Terms, place, play_on, seat_player};
use cultist_wars::CultistWars;
use jungle_blitz::JungleBlitz;

/// `burner GAME`: uses 20 ms of its thread's CPU per answer.
const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static char line[1 << 20];
static int next(void) { return fgets(line, sizeof line, stdin) != NULL; }
static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void burn(void) {
    double until = cpu() + 20;
    while (cpu() < until) {}
}
int main(int count, char **words) {
    if (!strcmp(words[1], "jungle-blitz")) {
        puts("{\"type\":\"REGISTER\",\"teamName\":\"C\"}");
        fflush(stdout);
        while (next()) {
            int tick = atoi(strstr(line, "\"tick\":") + 7);
            burn();
            printf("{\"type\":\"COMMAND\",\"tick\":%d,\"actions\":[]}\n", tick);
            fflush(stdout);
        }
        return 0;
    }
    for (int i = 0; i < 9; i++) next();
    while (next()) {
        for (int units = atoi(line); units > 0; units--) next();
        burn();
        puts("WAIT");
        fflush(stdout);
    }
}
"#;

/// The same in Java.
const JAVA: &str = r#"
import java.io.*;
import java.lang.management.*;
class Burner {
    static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
    static void burn() {
        long until = CPU.getCurrentThreadCpuTime() + 20_000_000;
        while (CPU.getCurrentThreadCpuTime() < until) {}
    }
    public static void main(String[] words) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        if (words[0].equals("jungle-blitz")) {
            System.out.println("{\"type\":\"REGISTER\",\"teamName\":\"Java\"}");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                int from = line.indexOf("\"tick\":") + 7;
                String tick = line.substring(from, line.indexOf(',', from));
                burn();
                System.out.println("{\"type\":\"COMMAND\",\"tick\":" + tick + ",\"actions\":[]}");
            }
            return;
        }
        for (int i = 0; i < 9; i++) in.readLine();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            for (int units = Integer.parseInt(line); units > 0; units--) in.readLine();
            burn();
            System.out.println("WAIT");
        }
    }
}
"#;

/// Keeps a compiler busy for a while.
const WORK: &str = "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n#include <regex>\n#include <string>\n\
                    int main() { std::map<std::string, std::function<int()>> m; std::regex r(\"a+\"); std::cout << m.size(); }\n";

/// Compilers, one per CPU, restarted again and again until dropped.
struct Compilers(Vec<Child>);

impl Compilers {
    fn start(folder: &Path, count: usize) -> Self {
        std::fs::write(folder.join("work.cpp"), WORK).expect("a file");
        let start = |_| {
            // They must not outlive us: the shell leads its own group, which is killed as one.
            let mut command = Command::new("setsid");
            command.args([
                "sh",
                "-c",
                "while [ -e work.cpp ]; do g++ -O2 -o /dev/null work.cpp || exit; done",
            ]);
            command.current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell")
        };
        Self((0..count).map(start).collect())
    }
}

impl Drop for Compilers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            sys::kill_group(rustix::process::Pid::from_child(child));
            let _ = child.wait();
        }
    }
}

/// The time each seat was charged for its answers, in milliseconds, without the first ones, during which a runtime
/// starts.
struct Charged {
    answers: [Vec<f64>; 2],
    wanted: usize,
    stop: &'static AtomicBool,
}

/// How many answers of each seat are skipped.
const FIRST: usize = 10;

impl Charged {
    /// The mean charge of each seat.
    fn means(&self) -> [f64; 2] {
        [0, 1].map(|seat: usize| {
            let counted = &self.answers[seat][FIRST..];
            counted.iter().sum::<f64>() / counted.len() as f64
        })
    }
}

impl Observer for Charged {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        for ((seat, _), take) in step.answers.iter().zip(step.takes) {
            self.answers[seat.index()].push(take.charged.as_secs_f64() * 1e3);
        }
        if self.answers.iter().all(|answers| answers.len() >= self.wanted + FIRST) {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Plays the C program against the Java program; returns what each was charged.
fn charged(game: &dyn AnyGame, folder: &Path, wanted: usize) -> [f64; 2] {
    let name = game.info().name;
    let shown = folder.display();
    let names = [format!("lines:{shown}/burner {name}"), format!("lines:java -cp {shown} Burner {name}")]
        .map(|text| BotName::parse(&text).expect("a name"));
    let mut session = game.open(&Setup { seats: 2, seed: 7, ..Setup::default() }).expect("a match");
    let cpus: Vec<usize> = sys::cpus().into_iter().rev().collect();
    let places = place(session.as_ref(), Ponder::Stop, &cpus);
    // An answer may take as long as it needs: only the charge matters.
    let clock = Clock { limited: false, ..Clock::ORIGINAL };
    let mut players: Vec<_> = Seat::first(2)
        .zip(names.iter().zip(&places))
        .map(|(seat, (name, cpus))| {
            seat_player(session.as_mut(), name, seat, Some(cpus), clock).expect("seated")
        })
        .collect();
    let stop = Box::leak(Box::new(AtomicBool::new(false)));
    let mut seen = Charged { answers: [Vec::new(), Vec::new()], wanted, stop };
    let labels = ["C".to_owned(), "Java".to_owned()];
    std::thread::scope(|scope| {
        // The referee's own thread, on the match's first CPU.
        scope.spawn(|| {
            sys::stay_on(&cpus[..1]);
            play_on(
                session.as_mut(),
                &mut players,
                &labels,
                &mut seen,
                &Terms::new(clock, Ponder::Stop, stop),
            );
        });
    });
    assert!(seen.answers.iter().all(|answers| answers.len() > FIRST), "{name}: a bot did not answer");
    seen.means()
}

#[test]
fn a_c_and_a_java_program_are_charged_alike() {
    for (tool, word) in [("cc", "--version"), ("javac", "-version"), ("java", "-version")] {
        let there = Command::new(tool).arg(word).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !there.is_ok_and(|status| status.success()) {
            println!("SKIPPED: what a C and a Java program are charged ({tool} is not installed)");
            return;
        }
    }
    // `cargo xtask long charging` sets how many answers, and the tolerance in per cent.
    let number =
        |name: &str, usual: f64| std::env::var(name).map_or(usual, |text| text.parse().expect("a number"));
    let (wanted, percent) = (number("AGON_ANSWERS", 10.0) as usize, number("AGON_PERCENT", 100.0));
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("burner.c", C);
    write("Burner.java", JAVA);
    for words in [&["cc", "-O1", "-o", "burner", "burner.c"][..], &["javac", "Burner.java"]] {
        let built = Command::new(words[0]).args(&words[1..]).current_dir(folder.path()).status();
        assert!(built.is_ok_and(|status| status.success()), "{words:?}");
    }
    let games: [Box<dyn AnyGame>; 2] =
        [Box::new(Face::<CultistWars>::new()), Box::new(Face::<JungleBlitz>::new())];
    let mut wrong = Vec::new();
    for beside in [0, sys::cpus().len()] {
        let compilers = Compilers::start(folder.path(), beside);
        for game in &games {
            let [c, java] = charged(game.as_ref(), folder.path(), wanted);
            let off = 100.0 * (java / c).max(c / java) - 100.0;
            let line = format!(
                "{}, {} compilers beside: C {c:.2} ms, Java {java:.2} ms an answer, {off:.1} % apart",
                game.info().name,
                compilers.0.len()
            );
            println!("{line}");
            if off > percent {
                wrong.push(line);
            }
        }
    }
    assert_eq!(wrong, [""; 0], "more than {percent} % apart");
}
