//! `cargo xtask release`: all that a release consists of, in one folder, with the checksums of everything.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest as _, Sha256};

use crate::USAGE;
use crate::dist::{self, Form};

/// The file of checksums, as `sha256sum -c` reads it.
const SUMS: &str = "SHA256SUMS";

/// The version of all packages, this one included.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a release consists of, in the order in which it is made.
const FORMS: [(&str, Form); 3] = [
    ("archives", Form::Archive),
    ("packages for Python", Form::Wheel),
    ("the image for containers", Form::Image),
];

/// Makes a release; with `--again` twice, in two folders, and compares the bytes.
pub fn run(root: &Path, arguments: &[String]) -> Result<bool> {
    let (mut machine, mut out, mut again) = (None, None, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("{argument} needs a value\n{USAGE}"));
        match argument.as_str() {
            "--target" => machine = Some(value()?.as_str()).filter(|machine| *machine != "all"),
            "--out" => out = Some(PathBuf::from(value()?)),
            "--again" => again = true,
            other => bail!("unknown option {other}\n{USAGE}"),
        }
    }
    noted(root, VERSION)?;
    let target = crate::target(root);
    let out = out.unwrap_or_else(|| target.join(format!("agon-{VERSION}")));
    let sums = make(root, &target, machine, &out)?;
    print!("{sums}");
    if again {
        let place = tempfile::Builder::new().prefix("again-").tempdir_in(&target)?;
        let second = make(root, place.path(), machine, &place.path().join("made"))?;
        for (one, other) in sums.lines().zip(second.lines()).filter(|(one, other)| one != other) {
            println!("DIFFERS: {one}, and again {other}");
        }
        if sums != second {
            // What differs can be looked at.
            println!("made again: {}", place.keep().display());
            return Ok(false);
        }
        println!("made again in another folder: the same bytes");
    }
    println!("{}", out.display());
    Ok(true)
}

/// Makes all files for a kind of machine, or all, copies them into a folder that holds nothing else, and returns their checksums; `target`
/// is cargo's folder. Every form packs the same programs, which are built once.
fn make(root: &Path, target: &Path, machine: Option<&str>, out: &Path) -> Result<String> {
    let built = dist::build(root, target, machine)?;
    let folder = target.join(dist::FOLDER);
    let mut made: Vec<PathBuf> = Vec::new();
    for (what, form) in FORMS {
        made.extend(dist::pack_as(root, &built, &folder, form).context(what)?);
    }
    if out.exists() {
        ensure!(out.join(SUMS).is_file(), "{} is there, and no release: say --out FOLDER", out.display());
        fs::remove_dir_all(out)?;
    }
    fs::create_dir_all(out)?;
    let mut sums = BTreeMap::new();
    for path in &made {
        let name = path.file_name().context("a file has a name")?.to_string_lossy().into_owned();
        fs::copy(path, out.join(&name)).with_context(|| path.display().to_string())?;
        let sum = dist::hex(&Sha256::digest(fs::read(path)?));
        ensure!(sums.insert(name.clone(), sum).is_none(), "two files are called {name}");
    }
    let sums: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    fs::write(out.join(SUMS), &sums)?;
    Ok(sums)
}

/// Refuses a version that the changelog does not tell about, with its date, before all others, and one that the README does not install.
fn noted(root: &Path, version: &str) -> Result<()> {
    let text = fs::read_to_string(root.join("CHANGELOG.md"))?;
    let mut told = text.lines().filter_map(|line| line.strip_prefix("## ["));
    ensure!(told.next() == Some("Unreleased]"), "CHANGELOG.md begins with `## [Unreleased]`");
    let newest = told.next().unwrap_or_default();
    let date = newest.strip_prefix(&format!("{version}] - "));
    let is_date = |date: &str| date.len() == 10 && date.split('-').all(|part| part.parse::<u16>().is_ok());
    let readme = fs::read_to_string(root.join("README.md"))?;
    let archive =
        format!("tar xzf agon-{version}-x86_64-linux.tar.gz && agon-{version}-x86_64-linux/install.sh");
    ensure!(readme.contains(&archive), "README.md begins with `{archive}`");
    ensure!(
        date.is_some_and(is_date),
        "CHANGELOG.md has `## [{newest}` where `## [{version}] - DATE` belongs"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changelog_tells_about_this_version_in_the_usual_form() {
        let root = crate::root();
        noted(&root, VERSION).expect("a section");
        assert!(noted(&root, "0.0.1").is_err(), "another version");
        let text = fs::read_to_string(root.join("CHANGELOG.md")).expect("a changelog");
        let kinds = [
            "Added",
            "Changed",
            "Deprecated",
            "Removed",
            "Fixed",
            "Security",
            "Coming from a build of before",
        ];
        for kind in text.lines().filter_map(|line| line.strip_prefix("### ")) {
            assert!(kinds.contains(&kind), "`{kind}` is no kind of change: {kinds:?}");
        }
    }
}
