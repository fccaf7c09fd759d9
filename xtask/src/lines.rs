//! `cargo xtask lines`: how much text the project is, and which names of public types stand more than once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// What people write and read as code: neither documentation nor records, nor what a command makes.
const KINDS: [&str; 4] = ["rs", "ts", "svelte", "sql"];

/// Begin the definition of a public type.
const TYPES: [&str; 5] = ["pub struct ", "pub enum ", "pub trait ", "pub type ", "pub union "];

/// Counts and prints; returns whether every name of a public type is unique.
///
/// # Errors
/// When git cannot be asked or a file cannot be read.
pub fn run(root: &Path) -> Result<bool> {
    let (mut lines, mut kinds, mut places) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
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
        *kinds.entry(kind.clone()).or_insert(0) += count;
        if is_shared(&path) {
            for name in text.lines().filter_map(public_type) {
                places.entry(name.to_owned()).or_insert_with(BTreeSet::new).insert(path.clone());
            }
        }
    }
    for (room, count) in &lines {
        println!("{count:8}  {room}");
    }
    for (kind, count) in &kinds {
        println!("{count:8}  .{kind}");
    }
    println!("{:8}  in all", lines.values().sum::<usize>());
    places.retain(|_, places| places.len() > 1);
    for (name, places) in &places {
        println!("{name}: {}", places.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    println!("{} names of public types stand more than once", places.len());
    Ok(places.is_empty())
}

/// Whether code elsewhere may use its types. A game is an island: nobody imports from two of them, and each has its `State` and its
/// `Rules`; and so are the programs that starters are copied from.
fn is_shared(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs")
}

/// The public type that a line defines.
fn public_type(line: &str) -> Option<&str> {
    let rest = TYPES.iter().find_map(|begins| line.trim_start().strip_prefix(begins))?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .next()
        .filter(|name| !name.is_empty())
}

fn tracked(root: &Path) -> Result<Vec<String>> {
    let output =
        Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().context("running git")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).context("names of files")?;
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}
