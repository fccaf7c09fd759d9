//! The Rust tests: built once, then run part by part, with the time each takes.
//!
//! Test programs wait more than they compute, so two run at once; those named in `tests.toml` run after them, one at a time, because
//! some tests put load on the machine and bots have clocks. A failed test is run once more, alone: if it passes then it is FLAKY, which is
//! also a failure, except for the few that `tests.toml` names with their cause.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use serde::Deserialize;

use crate::{Counts, Options, root};

/// How many test programs run at once, apart from those that run alone.
const AT_ONCE: usize = 2;

/// A program that takes this long is printed: it is the one to look at first.
const LONG: Duration = Duration::from_secs(20);

/// How many lines of a failed test are printed if it then passes alone: they are not seen again.
const MOST_SAID: usize = 60;

/// Upper limit on the tests known as flaky.
const MOST_FLAKY: usize = 5;

/// `xtask/tests.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Test programs that run with nothing beside them, and how many of their tests run at once.
    alone: BTreeMap<String, usize>,
    /// For each test program, the files that run once more with their contests on PostgreSQL, if there is one.
    postgres: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    flaky: Vec<Flaky>,
}

/// A test that may pass on its second try.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flaky {
    /// The program and the test, as printed.
    test: String,
    cause: String,
    since: String,
}

impl Plan {
    /// Reads the plan.
    pub fn read() -> Result<Self> {
        let path = root().join("xtask/tests.toml");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let plan: Self = toml::from_str(&text).with_context(|| path.display().to_string())?;
        ensure!(plan.flaky.len() <= MOST_FLAKY, "{}: more than {MOST_FLAKY} flaky tests", path.display());
        for known in &plan.flaky {
            let told = !known.cause.is_empty() && known.since.len() == "2026-01-01".len();
            ensure!(told, "{}: {} needs a cause and a date", path.display(), known.test);
        }
        Ok(plan)
    }

    /// Reports that a test failed and then passed, and counts it.
    pub fn flaky(&self, counts: &mut Counts, test: &str) {
        match self.flaky.iter().find(|known| known.test == test) {
            Some(known) => {
                println!("FLAKY, known since {}: {test} ({})", known.since, known.cause);
                counts.passed += 1;
            }
            None => {
                println!("FLAKY: {test} failed, but passed alone: find out why");
                counts.failed += 1;
            }
        }
    }
}

/// Runs the tests; returns how long each part took.
pub fn run(options: &Options, counts: &mut Counts) -> Result<Vec<(&'static str, Duration)>> {
    let plan = Plan::read()?;
    let began = Instant::now();
    let Some(mut programs) = build(options)? else {
        counts.failed += 1;
        return Ok(vec![(crate::BUILDING, began.elapsed())]);
    };
    if !options.quick {
        let known = |name: &String| programs.iter().any(|program| program.name == *name);
        let strange: Vec<&String> =
            plan.alone.keys().chain(plan.postgres.keys()).filter(|name| !known(name)).collect();
        ensure!(strange.is_empty(), "xtask/tests.toml names test programs that do not exist: {strange:?}");
        postgres(options, counts, &plan, &mut programs)?;
    }
    let mut took = BTreeMap::from([(crate::BUILDING, began.elapsed())]);
    let mut failures = Vec::new();
    let parts: BTreeSet<&str> = programs.iter().map(|program| part(&program.name)).collect();
    for name in parts {
        let began = Instant::now();
        let here = programs.iter().filter(|program| part(&program.name) == name);
        let (alone, beside): (Vec<_>, Vec<_>) =
            here.partition(|program| plan.alone.contains_key(&program.name));
        for (program, run) in together(&beside, options, &plan, AT_ONCE)?
            .into_iter()
            .chain(together(&alone, options, &plan, 1)?)
        {
            counts.add(&run.counts);
            if run.good {
                continue;
            }
            println!("{}: failed: {}", program.name, run.failed.join(", "));
            if run.failed.is_empty() {
                println!("{}", run.text);
                counts.failed += 1.max(run.counts.failed);
            }
            failures.extend(run.failed.iter().map(|test| (program, test.clone(), run.said_of(test))));
        }
        *took.entry(name).or_default() += began.elapsed();
    }
    let began = Instant::now();
    for (program, test, said) in failures {
        let again = program.run(options, &["--test-threads=1", "--exact"], std::slice::from_ref(&test))?;
        let test = format!("{} {test}", program.name);
        if again.good && again.counts.passed == 1 {
            plan.flaky(counts, &test);
            println!("{said}");
        } else {
            println!("FAILED: {test}\n{}", again.text);
            counts.failed += 1;
        }
    }
    *took.entry(REST).or_default() += began.elapsed();
    Ok(took.into_iter().collect())
}

/// Runs programs, `at_once` at a time.
fn together<'a>(
    programs: &[&'a Program],
    options: &Options,
    plan: &Plan,
    at_once: usize,
) -> Result<Vec<(&'a Program, TestRun)>> {
    let next = AtomicUsize::new(0);
    let runs = |_| {
        let mut runs = Vec::new();
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let began = Instant::now();
            let threads = plan.alone.get(&program.name).map(|threads| format!("--test-threads={threads}"));
            let arguments: Vec<&str> = threads.as_deref().into_iter().collect();
            runs.push((*program, program.run(options, &arguments, &program.only)?));
            if began.elapsed() >= LONG {
                println!("{}: {:.0} s", program.name, began.elapsed().as_secs_f64());
            }
        }
        Ok(runs)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once).map(|n| scope.spawn(move || runs(n))).collect();
        let mut all = Vec::new();
        for thread in threads {
            let runs: Result<Vec<_>> =
                thread.join().map_err(|_| anyhow!("a thread that runs tests panicked"))?;
            all.extend(runs?);
        }
        Ok(all)
    })
}

/// Adds the programs that also run on PostgreSQL, or says that there is none.
fn postgres(options: &Options, counts: &mut Counts, plan: &Plan, programs: &mut Vec<Program>) -> Result<()> {
    let named = std::env::var_os("AGON_PG_BIN").is_some();
    let debian = std::fs::read_dir("/usr/lib/postgresql").is_ok_and(|mut versions| versions.next().is_some());
    let is_there = |folder: PathBuf| folder.join("initdb").is_file() && folder.join("psql").is_file();
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !(named || debian || std::env::split_paths(&path).any(is_there)) {
        let how = "apt-get install postgresql, or AGON_PG_BIN names the folder of initdb, postgres and psql";
        match options.require_postgres {
            true => println!("FAILED: PostgreSQL is required, but not here ({how})"),
            false => println!("SKIPPED: contests on PostgreSQL ({how})"),
        }
        *(if options.require_postgres { &mut counts.failed } else { &mut counts.skipped }) += 1;
        return Ok(());
    }
    let mut again = Vec::new();
    for program in programs.iter() {
        let Some(files) = plan.postgres.get(&program.name) else { continue };
        let only: Vec<String> = files.iter().map(|file| format!("{file}::")).collect();
        let list = Command::new(&program.executable).arg("--list").output().context("listing tests")?;
        let list = String::from_utf8_lossy(&list.stdout);
        for file in &only {
            let is_there = list.lines().any(|line| line.starts_with(file.as_str()));
            ensure!(is_there, "xtask/tests.toml names {file}, but {} has no such file", program.name);
        }
        again.push(Program {
            name: format!("{} on PostgreSQL", program.name),
            executable: program.executable.clone(),
            folder: program.folder.clone(),
            only,
            on_postgres: true,
        });
    }
    programs.extend(again);
    Ok(())
}

const REST: &str = "tests in Rust";

/// The part of the ledger in CONTRIBUTING.md that a test program belongs to.
fn part(program: &str) -> &'static str {
    match program.split('/').next().unwrap_or_default() {
        "agon-sandbox" => "the sandbox",
        "agon-store" | "agon-ladder" | "agon-worker" | "agon-server" => "the contest",
        _ => REST,
    }
}

/// A test program.
struct Program {
    /// Its package, and its file in `tests/` unless it holds the unit tests.
    name: String,
    executable: PathBuf,
    /// The folder of its package, where its tests are run.
    folder: PathBuf,
    /// Prefixes of the names of the tests to run; if empty, all are run.
    only: Vec<String>,
    /// Whether its contests keep their databases on a server.
    on_postgres: bool,
}

/// Cargo's message about something it has built.
#[derive(Deserialize)]
struct Artifact {
    executable: Option<PathBuf>,
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// All test programs, in order; none if they cannot be built.
fn build(options: &Options) -> Result<Option<Vec<Program>>> {
    let mut command = options.cargo();
    command.args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    if options.quick {
        command.args(["--lib", "--bins"]);
    }
    let built = command.current_dir(root()).stderr(Stdio::inherit()).output().context("running cargo")?;
    if !built.status.success() {
        return Ok(None);
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(built.stdout)?.lines().filter(|line| line.contains("\"compiler-artifact\""))
    {
        let artifact: Artifact = serde_json::from_str(line).context("what cargo says of a test program")?;
        let (true, Some(executable)) = (artifact.profile.test, artifact.executable) else { continue };
        let folder = artifact.manifest_path.parent().context("a package has a folder")?.to_owned();
        let package = folder.file_name().context("a package has a name")?.to_string_lossy().into_owned();
        let name = match artifact.target.kind.iter().any(|kind| kind == "test") {
            true => format!("{package}/{}", artifact.target.name),
            false => package,
        };
        programs.push(Program { name, executable, folder, only: Vec::new(), on_postgres: false });
    }
    ensure!(!programs.is_empty(), "cargo names no test program");
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Some(programs))
}

/// The result of running a test program.
struct TestRun {
    good: bool,
    /// Without the failures: each is counted after its second run.
    counts: Counts,
    text: String,
    failed: Vec<String>,
}

impl TestRun {
    /// What a test printed before it failed.
    fn said_of(&self, test: &str) -> String {
        let head = format!("---- {test} stdout ----");
        let lines = self.text.lines().skip_while(|line| *line != head);
        let said =
            lines.take_while(|line| *line == head || !(line.starts_with("---- ") || *line == "failures:"));
        said.take(MOST_SAID).collect::<Vec<_>>().join("\n")
    }
}

impl Program {
    /// Runs those of its tests whose names contain one of these, or all if there are none.
    fn run(&self, options: &Options, arguments: &[&str], names: &[String]) -> Result<TestRun> {
        let mut command = Command::new(&self.executable);
        // A test that passes because something is not installed says so, and its output is shown.
        command.arg("--show-output").args(arguments).args(names).current_dir(&self.folder);
        command.env("CARGO_MANIFEST_DIR", &self.folder);
        if self.on_postgres {
            command.env("AGON_TEST_DATABASE", "postgres");
        }
        if options.require_golden {
            command.env("AGON_REQUIRE_GOLDEN", "1");
        }
        let output =
            command.stdin(Stdio::null()).output().with_context(|| format!("running {}", self.name))?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        let failed = text.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        let failed: Vec<String> = failed.map(str::to_owned).collect();
        let mut counts = Counts::default();
        for line in text.lines() {
            if let Some(sum) = line.strip_prefix("test result: ") {
                let words = sum.split(|c: char| !c.is_ascii_digit());
                let mut numbers = words.filter_map(|word| word.parse::<u64>().ok());
                counts.passed += numbers.next().unwrap_or(0);
                counts.skipped += numbers.nth(1).unwrap_or(0);
            } else if line.contains("SKIPPED") {
                println!("{line}");
            }
        }
        Ok(TestRun { good: output.status.success(), counts, text, failed })
    }
}

/// The minutes CONTRIBUTING.md allows for each part.
pub fn ledger() -> Result<BTreeMap<String, f64>> {
    let text = std::fs::read_to_string(Path::new(&root()).join("CONTRIBUTING.md"))?;
    let rows = text.lines().skip_while(|line| *line != "| part | minutes |").skip(2);
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        Some((cells.next()?.to_owned(), cells.next()?.parse().ok()?))
    };
    let ledger: BTreeMap<String, f64> = rows.map_while(row).collect();
    ensure!(!ledger.is_empty(), "CONTRIBUTING.md has no table of parts and minutes");
    Ok(ledger)
}
