//! `cargo xtask long lean`: what the ordinary program costs to build, and what it says of parts that are left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The most packages that an ordinary build may take.
const PACKAGES: usize = 270;
/// The most bytes that it may make.
const BYTES: u64 = 60_000_000;

/// What needs a part that is left out, and the feature that it has to name.
const ABSENT: &[(&str, &str)] = &[
    ("serve cup --new cultist-wars --database postgres://agon@127.0.0.1/cup", "--features scale"),
    ("serve cup --new cultist-wars --objects s3://cup/autumn", "--features scale"),
    ("serve cup --new cultist-wars --tls-self-signed", "--features tls"),
];

/// Builds it into an empty folder and tries it; returns whether it is as small as it may be, and says what it lacks.
///
/// # Errors
/// When something cannot be started.
pub fn run(root: &Path) -> Result<bool> {
    let place = std::env::temp_dir().join(format!("agon-lean-{}", std::process::id()));
    let tried = fs::create_dir_all(&place).map_err(Into::into).and_then(|()| run_in(root, &place));
    let _ = fs::remove_dir_all(&place);
    tried
}

fn run_in(root: &Path, place: &Path) -> Result<bool> {
    let (before, target) = (crate::cpu_of_children(), place.join("target"));
    let mut build = crate::cargo();
    build.args(["build", "--release", "--locked", "--target-dir"]).arg(&target);
    let built = build.current_dir(root).status().context("running cargo")?;
    ensure!(built.success(), "the program cannot be built");
    let cpu = crate::cpu_of_children() - before;
    let program = target.join("release/agon");
    let (bytes, packages) = (fs::metadata(&program)?.len(), packages(root)?);
    println!("lean: {cpu:.0} s of CPU, {packages} packages, {:.1} MB", bytes as f64 / 1e6);
    let mut good = packages <= PACKAGES && bytes <= BYTES;
    for (line, feature) in ABSENT {
        let mut command = Command::new(&program);
        let output = command.args(line.split(' ')).args(["--port", "0"]).current_dir(place).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let says = output.status.code() == Some(2) && said.contains(feature);
        println!("{} `agon {line}`: {}", if says { "held:  " } else { "FAILED:" }, said.trim());
        good &= says;
    }
    Ok(good)
}

/// How many packages an ordinary build takes.
fn packages(root: &Path) -> Result<usize> {
    let mut tree = crate::cargo();
    tree.args(["tree", "--locked", "-e", "normal,build", "-p", "agon", "--prefix", "none"]);
    let output = tree.current_dir(root).output().context("running cargo tree")?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let names: BTreeSet<&str> = text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    Ok(names.len())
}
