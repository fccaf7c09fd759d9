//! The project's chores: `cargo xtask test` runs every check, `cargo xtask dist` packs the program.

mod dist;
mod fuzz;
mod lean;
mod licences;
mod lines;
mod long;
mod oci;
mod release;
mod tests;
mod tried;
mod vm;
mod web;
mod wheel;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use dist::Form;
use signal_hook::consts::SIGINT;
use signal_hook::flag::register_conditional_shutdown;

const USAGE: &str = "\
cargo xtask test [--require-golden] [--require-wasm] [--require-postgres] [--quick] [--only STEP]
    Runs every check and closes with `N passed, N failed, N skipped`.
    --require-golden   missing golden records are a failure, not a skip
    --require-wasm     missing engines for pages are a failure, not a skip
    --require-postgres a missing PostgreSQL is a failure, not a skip
    --quick            only the format, and the tests inside the crates: for use while writing
    --only STEP        one of: format, lints, tests, docs, web

cargo xtask lines
    Counts the lines of code by room and kind.

cargo xtask long NAME
    Runs a long proof; without a name it lists them.

cargo xtask fuzz TARGET... [--minutes N]
    Runs fuzz targets (or `all`), each for N minutes, and adds the runs to fuzz/README.md.

cargo xtask dist [--wheel | --image] [--target x86_64|aarch64|all]
    Packs the program into one archive for each kind of machine, with its checksum. `all`, the default, skips what cannot
    be built here, and says how to get what is missing.
    --wheel   as a package for Python, one for each kind of machine (docs/python.md)
    --image   as an image for containers, for all of them (docs/container.md)

cargo xtask release [--target x86_64|aarch64|all] [--out FOLDER] [--again]
    Makes everything that a release consists of, in one folder, with checksums (`target/agon-VERSION`). --again makes it
    twice, in two folders, and compares the bytes.

cargo xtask try-out [ARCHIVE]
    Tries the archive of this machine's kind in two roots, Debian's smallest and one of busybox and musl: install, play, a
    contest with a worker, uninstall. Needs root, and debootstrap, busybox-static and musl-tools.";

fn main() -> ExitCode {
    // What this program handles, its children take as usual, and tests send Ctrl-C to theirs. A background job of a
    // script would pass on that it is to be ignored. No other signal: `nohup` is meant.
    let always = Arc::new(AtomicBool::new(true));
    if let Err(error) = register_conditional_shutdown(SIGINT, 130, always) {
        eprintln!("error: Ctrl-C cannot be handled: {error}");
        return ExitCode::from(3);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("test") => test(&arguments[1..]),
        Some("fuzz") => fuzz::run(&root(), &arguments[1..]),
        Some("dist") => dist(&arguments[1..]),
        Some("release") => release::run(&root(), &arguments[1..]),
        Some("try-out") => tried::run(&root(), &arguments[1..]),
        Some("lines") => lines::run(&root()),
        // Parts of `long`, which says what is missing.
        Some("lean") => lean::run(&root()),
        Some("browsers") => web::browsers(),
        Some("wheel") => wheel::prove(&root()),
        Some("image") => oci::prove(&root()),
        Some("vm") => vm::run(&root(), arguments.get(1).map_or("", String::as_str)),
        Some("long") => {
            long::run(&root(), arguments.get(1).map(String::as_str), arguments.get(2..).unwrap_or(&[]))
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(3)
        }
    }
}

/// Packs the program in the form and for the machines that were asked for.
fn dist(arguments: &[String]) -> Result<bool> {
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let form = match words.first() {
        Some(&"--wheel") => Form::Wheel,
        Some(&"--image") => Form::Image,
        _ => Form::Archive,
    };
    if !matches!(form, Form::Archive) {
        words.remove(0);
    }
    let machine = match words.as_slice() {
        [] | ["--target", "all"] => None,
        ["--target", machine] => Some(*machine),
        _ => bail!("dist takes --wheel or --image, then `--target` and a kind of machine\n{USAGE}"),
    };
    Ok(!dist::run(&root(), machine, form)?.is_empty())
}

#[derive(Default)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

/// How long a step took, by the parts of the ledger in CONTRIBUTING.md.
type Took = Vec<(&'static str, Duration)>;

type Step = fn(&Options, &mut Counts) -> Result<Took>;

const BUILDING: &str = "format, lints, docs, and building";
const WEB: &str = "the web app and its browser tests";

/// The checks, cheap ones first. All use one profile, so that macros of dependencies are built once.
const STEPS: &[(&str, Step)] = &[
    ("format", |options, counts| plain(options, counts, &["fmt", "--all", "--check"])),
    ("lints", |options, counts| {
        plain(
            options,
            counts,
            &["clippy", "--quiet", "--profile=test", "--workspace", "--all-targets", "--", "-D", "warnings"],
        )
    }),
    ("tests", |options, counts| {
        golden(options, counts);
        tests::run(options, counts)
    }),
    // Without features, which tests need: so this step also compiles the libraries of the ordinary program.
    ("docs", |options, counts| {
        plain(
            options,
            counts,
            &["doc", "--quiet", "--profile=test", "--workspace", "--no-deps", "--document-private-items"],
        )
    }),
    ("web", |options, counts| {
        let began = Instant::now();
        web::run(options, counts)?;
        Ok(vec![(WEB, began.elapsed())])
    }),
];

#[derive(Default)]
struct Options {
    require_golden: bool,
    require_wasm: bool,
    require_postgres: bool,
    quick: bool,
    only: Option<String>,
    /// Whether the engines for pages are built.
    engines: bool,
}

impl Options {
    /// Cargo, for a program with the engines for pages or without: always the same, so that nothing is built twice.
    fn cargo(&self) -> Command {
        let mut command = cargo();
        command.env("AGON_WASM", if self.engines { "require" } else { "0" });
        command
    }
}

fn test(arguments: &[String]) -> Result<bool> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--require-golden" => options.require_golden = true,
            "--require-wasm" => options.require_wasm = true,
            "--require-postgres" => options.require_postgres = true,
            "--quick" => options.quick = true,
            "--only" => options.only = Some(rest.next().context("--only needs the name of a step")?.clone()),
            other => bail!("unknown option {other}\n{USAGE}"),
        }
    }
    if let Some(only) = &options.only
        && !STEPS.iter().any(|(name, _)| name == only)
    {
        bail!("no step is called {only}\n{USAGE}");
    }
    let mut counts = Counts::default();
    options.engines = engines(&options, &mut counts);
    let wanted = |name: &str| match &options.only {
        Some(only) => only == name,
        None => !options.quick || ["format", "tests"].contains(&name),
    };
    let ledger = tests::ledger()?;
    let mut took: BTreeMap<&str, Duration> = BTreeMap::new();
    for (name, step) in STEPS.iter().filter(|(name, _)| wanted(name)) {
        println!("== {name}");
        let (began, before) = (Instant::now(), cpu_of_children());
        for (part, time) in step(&options, &mut counts)? {
            *took.entry(part).or_default() += time;
        }
        let (minutes, cpu) = (began.elapsed().as_secs_f64() / 60.0, (cpu_of_children() - before) / 60.0);
        println!("== {name}: {minutes:.1} minutes, {cpu:.1} of CPU");
    }
    for (part, time) in &took {
        let allowed =
            ledger.get(*part).with_context(|| format!("CONTRIBUTING.md allows no time for {part}"))?;
        let minutes = time.as_secs_f64() / 60.0;
        let over = if minutes > *allowed { ": more than it may take" } else { "" };
        println!("== {part}: {minutes:.1} of {allowed} minutes{over}");
    }
    println!("== {:.1} minutes in all", took.values().sum::<Duration>().as_secs_f64() / 60.0);
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    Ok(counts.failed == 0)
}

/// CPU seconds of all children of this process that have ended: fields 16 and 17 of `/proc/self/stat`, in ticks of 10 ms.
fn cpu_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// Cargo as a person starts it. The variables that `cargo run` sets about this package are removed: build scripts watch
/// such variables, and when they come and go much is rebuilt.
fn cargo() -> Command {
    let mut command = Command::new("cargo");
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let own = names.filter(|name| name.starts_with("CARGO_PKG") || name.starts_with("CARGO_MANIFEST"));
    own.for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// A check that is a single cargo command.
fn plain(options: &Options, counts: &mut Counts, arguments: &[&str]) -> Result<Took> {
    let began = Instant::now();
    let mut command = options.cargo();
    command.args(arguments).env(
        "RUSTDOCFLAGS",
        "-D warnings -A rustdoc::private_intra_doc_links -A rustdoc::redundant_explicit_links",
    );
    count(counts, &mut command)?;
    Ok(vec![(BUILDING, began.elapsed())])
}

/// Reports missing golden records.
fn golden(options: &Options, counts: &mut Counts) {
    let golden =
        std::env::var_os("AGON_GOLDEN").map_or_else(|| root().join("../shared/golden"), PathBuf::from);
    match (golden.is_dir(), options.require_golden) {
        (true, _) => {}
        (false, true) => {
            println!("FAILED: golden records are required, but {} is not there", golden.display());
            counts.failed += 1;
        }
        (false, false) => {
            println!("SKIPPED: golden records ({} is not there; set AGON_GOLDEN)", golden.display());
            counts.skipped += 1;
        }
    }
}

fn count(counts: &mut Counts, command: &mut Command) -> Result<()> {
    let good =
        command.current_dir(root()).status().with_context(|| format!("running {command:?}"))?.success();
    *(if good { &mut counts.passed } else { &mut counts.failed }) += 1;
    Ok(())
}

/// The target of the engines for pages.
const WASM: &str = "wasm32-unknown-unknown";

/// Whether the engines for pages can be built here; counts and says it if not.
fn engines(options: &Options, counts: &mut Counts) -> bool {
    let how = format!("rustup target add {WASM}");
    let found = has_wasm();
    match (found, options.require_wasm) {
        (true, _) => {}
        (false, true) => {
            println!(
                "FAILED: engines for pages are required, but Rust for {WASM} cannot be installed ({how})"
            );
            counts.failed += 1;
        }
        (false, false) => {
            println!("SKIPPED: engines for pages (Rust for {WASM} cannot be installed: {how})");
            counts.skipped += 1;
        }
    }
    found
}

/// Whether Rust can build them, after trying to install what is missing.
fn has_wasm() -> bool {
    let mut rustup = Command::new("rustup");
    has_target(WASM)
        || rustup.args(["target", "add", WASM]).current_dir(root()).status().is_ok_and(|done| done.success())
            && has_target(WASM)
}

/// Whether Rust can build for this kind of machine.
fn has_target(triple: &str) -> bool {
    let library = Command::new("rustc").args(["--print", "target-libdir", "--target", triple]).output();
    library.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_dir())
}

/// This machine's target triple.
fn host() -> Result<String> {
    let said = Command::new("rustc").arg("-vV").output().context("running rustc")?.stdout;
    let said = String::from_utf8_lossy(&said).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what machine this is")?.to_owned())
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Adds a sum as vitest (`Tests  12 passed (12)`) or Node (`ℹ pass 12`) prints it.
    fn add_line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let pairs = match words.as_slice() {
            ["Tests", rest @ ..] => rest.windows(2).map(|pair| (pair[1], pair[0])).collect(),
            ["ℹ", what, number] => vec![(*what, *number)],
            _ => Vec::new(),
        };
        for (what, number) in pairs {
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" | "pass" => self.passed += number,
                "failed" | "fail" => self.failed += number,
                "skipped" => self.skipped += number,
                _ => {}
            }
        }
    }
}

/// Cargo's folder.
fn target(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    root.join(target)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the project").to_owned()
}
