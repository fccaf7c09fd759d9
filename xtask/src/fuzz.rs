//! `cargo xtask fuzz`: runs a fuzz target for some minutes and records it in `fuzz/README.md`.
//!
//! `cargo fuzz` does little: it builds the target with the compiler's hooks and runs it. Done here, this needs
//! nothing but a nightly compiler and a C++ compiler.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// How the compiler builds a target: with coverage counters, and with checks of memory and arithmetic.
const FLAGS: &str = "--cfg fuzzing -Zsanitizer=address -Ccodegen-units=1 -Cdebug-assertions -Cpasses=sancov-module \
                     -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                     -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Runs targets: `TARGET... --minutes N`. Returns whether none of them failed.
///
/// # Errors
/// When the arguments are wrong, or a target cannot be built.
pub fn run(root: &Path, arguments: &[String]) -> Result<bool> {
    let known = targets(root)?;
    let (mut wanted, mut minutes) = (Vec::new(), 1.0);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--minutes" => {
                let number = rest.next().and_then(|number| number.parse::<f64>().ok());
                let number = number.filter(|number| number.is_finite() && *number > 0.0);
                minutes = number.context("--minutes needs a number of minutes")?;
            }
            "all" => wanted.clone_from(&known),
            name if known.iter().any(|target| target == name) => wanted.push(name.to_owned()),
            other => bail!("no fuzz target is called {other}; there are: {}", known.join(", ")),
        }
    }
    if wanted.is_empty() {
        bail!("which target? One of {}, or all", known.join(", "));
    }
    let host = crate::host()?;
    let fuzz = root.join("fuzz");
    let mut build = Command::new("cargo");
    build.args(["+nightly", "build", "--release", "--target", &host, "--manifest-path"]);
    build.arg(fuzz.join("Cargo.toml")).arg("--target-dir").arg(fuzz.join("target"));
    for target in &wanted {
        build.args(["--bin", target]);
    }
    build.env("RUSTFLAGS", FLAGS).env_remove("CARGO_ENCODED_RUSTFLAGS");
    if !build.status().with_context(|| format!("running {build:?}"))?.success() {
        bail!(
            "the targets cannot be built; they need a nightly compiler (rustup toolchain install nightly) and g++"
        );
    }
    let mut good = true;
    for target in &wanted {
        let program = fuzz.join("target").join(&host).join("release").join(target);
        good &= fuzz_one(root, &program, target, minutes)?;
    }
    Ok(good)
}

/// Runs one target. Returns whether it found nothing.
fn fuzz_one(root: &Path, program: &Path, target: &str, minutes: f64) -> Result<bool> {
    let fuzz = root.join("fuzz");
    let (found, artifacts) = (fuzz.join("target/found").join(target), fuzz.join("artifacts").join(target));
    for folder in [&found, &artifacts] {
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    println!("== {target}: {minutes} min");
    let mut command = Command::new(program);
    command.arg(format!("-max_total_time={:.0}", (minutes * 60.0).ceil()));
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    // An input that takes ten seconds or a gigabyte counts as a finding.
    command.args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"]);
    command.arg(&found).arg(fuzz.join("corpus").join(target));
    let before = crate::cpu_of_children();
    let mut child = command.stderr(Stdio::piped()).spawn().with_context(|| format!("running {command:?}"))?;
    let (mut runs, mut last) = (0, Vec::new());
    for line in BufReader::new(child.stderr.take().context("its errors are piped")?).lines() {
        let line = line?;
        if let Some(number) = line.strip_prefix("stat::number_of_executed_units:") {
            runs = number.trim().parse().unwrap_or(0);
        }
        last.push(line);
        if last.len() > 40 {
            last.remove(0);
        }
    }
    let good = child.wait()?.success();
    // On a busy machine the target gets less than the wall clock says.
    let used = (crate::cpu_of_children() - before) / 60.0;
    if good {
        println!("{runs} runs in {used:.1} min of CPU, nothing found");
    } else {
        println!("{}\nFAILED: the input is in {}", last.join("\n"), artifacts.display());
    }
    account(&fuzz.join("README.md"), target, used, runs, &commit(root))?;
    Ok(good)
}

/// Adds minutes and runs to the line of a target: `| target | minutes of CPU | runs | commit |`.
fn account(file: &Path, target: &str, minutes: f64, runs: u64, commit: &str) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let text = counted(&text, target, minutes, runs, commit)
        .with_context(|| format!("{} has no line for {target}", file.display()))?;
    std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))
}

fn counted(text: &str, target: &str, minutes: f64, runs: u64, commit: &str) -> Option<String> {
    let start = format!("| `{target}` |");
    let line = text.lines().find(|line| line.starts_with(&start))?;
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let number = |cell: usize| cells.get(cell)?.replace(',', "").parse::<f64>().ok();
    let (minutes, runs) = (number(2)? + minutes, number(3)? + runs as f64);
    Some(text.replacen(
        line,
        &format!("{start} {} | {runs:.0} | {commit} |", (minutes * 10.0).round() / 10.0),
        1,
    ))
}

/// The targets: the files of `fuzz/fuzz_targets`.
fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut names: Vec<String> =
        files.flatten().filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

/// The short hash of the commit under test.
fn commit(root: &Path) -> String {
    let said = Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root).output();
    said.map_or_else(|_| String::new(), |said| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn runs_are_added_up_in_the_table() {
        let table = "| target | minutes | runs | commit |\n|---|---|---|---|\n| `maps` | 1.5 | 1000 | abc |\n| `bmp` | 0 | 0 | – |\n";
        let after = counted(table, "maps", 2.0, 500, "def").expect("a line");
        assert!(after.contains("| `maps` | 3.5 | 1500 | def |\n| `bmp` | 0 | 0 | – |\n"), "{after}");
        let after = counted(&after, "bmp", 0.25, 7, "def").expect("a line");
        assert!(after.contains("| `bmp` | 0.3 | 7 | def |"), "{after}");
        assert_eq!(counted(table, "other", 1.0, 1, ""), None);
    }
}
