//! `cargo xtask dist --wheel`: the program and its Python module (`python/`) as a package for pip, and `cargo xtask long wheel`,
//! which installs it for every Python here. `docs/python.md` says why nothing else makes it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::dist::{self, Built, Form, said};
use crate::licences;

/// The module's files.
const MODULE: &[&str] = &["__init__.py", "__main__.py", "py.typed"];
/// The Pythons of version 3 that the package is for.
const VERSIONS: std::ops::RangeInclusive<u8> = 9..=14;
/// How long it may take from a package at hand to a match that was played, in seconds.
const PATIENCE: f64 = 10.0;
/// The first match of somebody who tries it.
const MATCH: [&str; 6] = ["play", "cultist-wars", "builtin:greedy", "builtin:random", "--seed", "7"];

/// Packs a program and tries the package if it is for this kind of machine; returns its path.
pub fn make(root: &Path, built: &Built, folder: &Path) -> Result<PathBuf> {
    let Built { way, version, .. } = built;
    let files = files(root, built)?;
    let wheel =
        folder.join(format!("agon_contest-{version}-py3-none-{}.whl", systems(way.machine()).join(".")));
    pack(&files, version, File::create(&wheel).with_context(|| format!("creating {}", wheel.display()))?)?;
    let python = pythons().pop();
    match python {
        Some((_, python)) if way.is_here() => {
            let place = tempfile::tempdir()?;
            let programs = environment(&python, place.path())?;
            install(&programs, &wheel)?;
            examples(root, &programs, place.path())?;
        }
        _ => println!("SKIPPED: {} was not tried: no Python 3 with venv for it here", wheel.display()),
    }
    Ok(wheel)
}

/// The systems that it is for: Linux with either of the usual C libraries, as it uses none.
fn systems(machine: &str) -> [String; 3] {
    ["manylinux_2_17", "manylinux2014", "musllinux_1_1"].map(|system| format!("{system}_{machine}"))
}

/// A file of the package.
struct Packed {
    path: String,
    bytes: Vec<u8>,
    mode: u32,
}

/// All files but the list of them.
fn files(root: &Path, built: &Built) -> Result<Vec<Packed>> {
    let Built { way, program, version, licences: others } = built;
    let info = format!("agon_contest-{version}.dist-info");
    let packed = |path: String, bytes: Vec<u8>| Packed { path, bytes, mode: 0o644 };
    let read = |path: &str| fs::read(root.join(path)).with_context(|| path.to_owned());
    let mut files = Vec::new();
    for name in MODULE {
        files.push(packed(format!("agon_contest/{name}"), read(&format!("python/agon_contest/{name}"))?));
    }
    let script = format!("agon_contest-{version}.data/scripts/agon");
    files.push(Packed { path: script, bytes: fs::read(program)?, mode: 0o755 });
    for name in licences::OWN {
        files.push(packed(format!("{info}/licenses/{name}"), read(name)?));
    }
    files.push(packed(format!("{info}/licenses/THIRD-PARTY.txt"), others.clone().into_bytes()));
    let page = String::from_utf8(read("docs/python.md")?)?;
    files.push(packed(format!("{info}/METADATA"), metadata(version, &page).into_bytes()));
    let tags: String =
        systems(way.machine()).iter().map(|system| format!("Tag: py3-none-{system}\n")).collect();
    let wheel = format!("Wheel-Version: 1.0\nGenerator: agon {version}\nRoot-Is-Purelib: false\n{tags}");
    files.push(packed(format!("{info}/WHEEL"), wheel.into_bytes()));
    let points = "[console_scripts]\nagon-contest = agon_contest.__main__:main\n";
    files.push(packed(format!("{info}/entry_points.txt"), points.into()));
    Ok(files)
}

fn metadata(version: &str, page: &str) -> String {
    let names = licences::OWN.iter().chain(&["THIRD-PARTY.txt"]);
    let licences: String = names.map(|name| format!("License-File: {name}\n")).collect();
    format!(
        "Metadata-Version: 2.4\nName: agon-contest\nVersion: {version}\n\
         Summary: Bot-programming contests on your own machine: five games, any language, honest statistics\n\
         License-Expression: MIT OR Apache-2.0\n{licences}Requires-Python: >=3.{}\n\
         Classifier: Operating System :: POSIX :: Linux\nClassifier: Typing :: Typed\n\
         Description-Content-Type: text/markdown\n\n{page}",
        VERSIONS.start()
    )
}

/// Writes the package with the list of its files: the same files give the same bytes.
fn pack(files: &[Packed], version: &str, to: impl std::io::Write + std::io::Seek) -> Result<()> {
    let mut zip = ZipWriter::new(to);
    let record = format!("agon_contest-{version}.dist-info/RECORD");
    let mut list = String::new();
    for file in files {
        let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(&file.bytes));
        list.push_str(&format!("{},sha256={sum},{}\n", file.path, file.bytes.len()));
    }
    list.push_str(&format!("{record},,\n"));
    let list = Packed { path: record, bytes: list.into_bytes(), mode: 0o644 };
    for file in files.iter().chain([&list]) {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(DateTime::default())
            .unix_permissions(file.mode);
        zip.start_file(&file.path, options)?;
        zip.write_all(&file.bytes)?;
    }
    zip.finish()?.flush()?;
    Ok(())
}

/// The Pythons here that can make an environment, the newest last: those on the PATH, and pyenv's.
fn pythons() -> Vec<(String, PathBuf)> {
    let mut folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let pyenv = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| std::env::home_dir().map(|home| home.join(".pyenv"))).unwrap_or_default();
    let versions = fs::read_dir(pyenv.join("versions")).into_iter().flatten().flatten();
    folders.extend(versions.map(|version| version.path().join("bin")));
    let found = |minor: u8| {
        folders.iter().find_map(|folder| {
            let python = folder.join(format!("python3.{minor}"));
            let version = "import ensurepip, venv, sys; print(*sys.version_info[:3], sep='.')";
            let said = Command::new(&python).args(["-c", version]).output().ok()?;
            // pyenv's stand-ins fail for versions that are not chosen.
            said.status.success().then(|| (String::from_utf8_lossy(&said.stdout).trim().to_owned(), python))
        })
    };
    VERSIONS.filter_map(found).collect()
}

/// Makes an empty environment, and returns where its programs are.
fn environment(python: &Path, place: &Path) -> Result<PathBuf> {
    let environment = place.join("environment");
    said(Command::new(python).args(["-m", "venv"]).arg(&environment))?;
    Ok(environment.join("bin"))
}

/// Installs the package, and nothing else, which it does not need.
fn install(programs: &Path, wheel: &Path) -> Result<String> {
    said(pip(programs).args(["install", "--no-index", "--no-cache-dir"]).arg(wheel))
}

fn pip(programs: &Path) -> Command {
    let mut pip = Command::new(programs.join("python"));
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
    pip
}

/// Runs the page's examples and the module's tests with what was installed.
fn examples(root: &Path, programs: &Path, place: &Path) -> Result<()> {
    let folder = place.join("examples");
    fs::create_dir_all(&folder)?;
    let python = |arguments: &[&str], file: &str| {
        let mut command = Command::new(programs.join("python"));
        command.args(arguments).arg(root.join(file)).current_dir(&folder);
        // Not another program or module than the package's.
        said(command.env_remove("AGON").env_remove("PYTHONPATH").env("PYTHONSAFEPATH", "1"))
    };
    python(&["-m", "doctest", "-o", "ELLIPSIS"], "docs/python.md")?;
    // A copy, because Python looks for modules beside a script first.
    let tests = folder.join("tests.py");
    fs::copy(root.join("python/test_agon_contest.py"), &tests)?;
    python(&["-X", "dev"], &tests.display().to_string())?;
    said(Command::new(programs.join("agon-contest")).arg("games"))?;
    Ok(())
}

/// `cargo xtask long wheel`: the package for each Python here, its types, and how soon somebody who tries it sees a match.
///
/// # Errors
/// When the package cannot be made, or fails.
pub fn prove(root: &Path) -> Result<bool> {
    let host = crate::host()?;
    let made = dist::run(root, host.split('-').next(), Form::Wheel)?;
    let wheel = made.first().context("a package")?;
    let found = pythons();
    for (version, python) in &found {
        let place = tempfile::tempdir()?;
        let programs = environment(python, place.path())?;
        let began = Instant::now();
        install(&programs, wheel)?;
        said(Command::new(programs.join("agon")).args(MATCH).current_dir(place.path()))?;
        let seconds = began.elapsed().as_secs_f64();
        examples(root, &programs, place.path()).with_context(|| format!("Python {version}"))?;
        println!(
            "held: Python {version}: {seconds:.1} s from no environment to a match, the examples, the tests"
        );
    }
    ensure!(found.len() > 1, "only {} of the Pythons from 3.9 to 3.14 are here: two are needed", found.len());

    // Elsewhere than in an environment, where pip moves the program.
    let (place, (_, python)) = (tempfile::tempdir()?, found.last().context("a Python")?);
    let (folder, tools) = (place.path().join("folder"), place.path().join("tools"));
    let programs = environment(python, &tools)?;
    said(pip(&programs).args(["install", "--no-index", "--target"]).arg(&folder).arg(wheel))?;
    let module = ["-m", "agon_contest", "--version"];
    said(Command::new(python).args(module).env_remove("AGON").env("PYTHONPATH", &folder))?;
    println!("held: pip install --target");

    let got = pip(&programs).args(["install", "mypy", "uv"]).status()?;
    if !got.success() {
        println!("SKIPPED: mypy and uvx cannot be had here (pip install mypy uv)");
        return Ok(true);
    }
    said(Command::new(programs.join("mypy")).arg("--strict").arg(root.join("python/agon_contest")))?;
    println!("held: mypy --strict");
    let mut soon = true;
    for first in ["agon", "agon-contest"] {
        let (cache, began) = (place.path().join(format!("cache-{first}")), Instant::now());
        let mut uvx = Command::new(programs.join("uvx"));
        uvx.args(["--offline", "--python"]).arg(python).arg("--from").arg(wheel).arg(first).args(MATCH);
        let drawn = said(uvx.current_dir(place.path()).env("UV_CACHE_DIR", cache))?;
        ensure!(drawn.contains("player 2 has no unit left"), "uvx shows no match: {drawn}");
        let seconds = began.elapsed().as_secs_f64();
        soon &= seconds <= PATIENCE;
        println!(
            "{}: {seconds:.1} s from uvx {first} to a match",
            if seconds <= PATIENCE { "held" } else { "FAILED" }
        );
    }
    Ok(soon)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _};

    use super::{Packed, metadata, pack};

    fn packed() -> Vec<u8> {
        let file = |path: &str, text: &str, mode| Packed { path: path.into(), bytes: text.into(), mode };
        let files =
            [file("agon_contest/__init__.py", "x = 1\n", 0o644), file("a.data/scripts/agon", "ELF", 0o755)];
        let mut bytes = Cursor::new(Vec::new());
        pack(&files, "1.2.3", &mut bytes).expect("a package");
        bytes.into_inner()
    }

    #[test]
    fn the_same_files_are_the_same_bytes_and_each_is_in_the_list() {
        let bytes = packed();
        assert_eq!(bytes, packed());
        let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip");
        let mut list = String::new();
        let mut record = zip.by_name("agon_contest-1.2.3.dist-info/RECORD").expect("a list");
        record.read_to_string(&mut list).expect("text");
        drop(record);
        assert_eq!(
            list,
            "agon_contest/__init__.py,sha256=nia_NpkRxFwkPGhBR7I_yeHc_PJX0pmhxjIBam_NM_Q,6\n\
             a.data/scripts/agon,sha256=cGq-PJAVIHXmVrZhB5cw-s8yPz68zadUfuGTXJCEWgk,3\n\
             agon_contest-1.2.3.dist-info/RECORD,,\n"
        );
        let script = zip.by_name("a.data/scripts/agon").expect("the program");
        assert_eq!(script.unix_mode().map(|mode| mode & 0o777), Some(0o755));
    }

    #[test]
    fn its_description_says_what_it_is_and_shows_the_page() {
        let text = metadata("1.2.3", "# Page\n");
        for line in ["Name: agon-contest", "Version: 1.2.3", "Requires-Python: >=3.9", "License-File: NOTICE"]
        {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
        assert!(text.ends_with("\n\n# Page\n"), "{text}");
    }
}
