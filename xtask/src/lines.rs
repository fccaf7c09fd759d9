//! `cargo xtask lines`: how much text the project is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// What people write and read as code: neither documentation nor records, nor what a command makes.
const KINDS: [&str; 4] = ["rs", "ts", "svelte", "sql"];

/// Counts and prints.
///
/// # Errors
/// When git cannot be asked or a file cannot be read.
pub fn run(root: &Path) -> Result<bool> {
    let (mut lines, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    for path in tracked(root)? {
        let kind = path.rsplit('.').next().unwrap_or_default().to_owned();
        // The tests' consoles lie beside them; what the guide shows is documentation.
        let is_console = path.contains("/tests/") && (kind == "md" || kind == "console");
        let is_made = path.ends_with("/generated.ts") || path.contains("/generated/");
        if is_made || !(KINDS.contains(&kind.as_str()) || is_console) {
            continue;
        }
        let text = fs::read_to_string(root.join(&path)).with_context(|| path.clone())?;
        let count = text.lines().count();
        let room = path.split('/').take(2).collect::<Vec<_>>().join("/");
        *lines.entry(room).or_insert(0) += count;
        *kinds.entry(kind).or_insert(0) += count;
    }
    for (room, count) in &lines {
        println!("{count:8}  {room}");
    }
    for (kind, count) in &kinds {
        println!("{count:8}  .{kind}");
    }
    println!("{:8}  in all", lines.values().sum::<usize>());
    Ok(true)
}

fn tracked(root: &Path) -> Result<Vec<String>> {
    let output =
        Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().context("running git")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).context("names of files")?;
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}
