//! `cargo xtask dist`: one archive of the program for this machine's kind, with checksums, tried out before it is called done.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

/// What lies beside the program.
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "NOTICE"];

/// Shells, and the name under which each looks for completions.
const SHELLS: &[(&str, &str)] = &[("bash", "agon.bash"), ("zsh", "_agon"), ("fish", "agon.fish")];

/// What a newcomer reads first.
const INSTALL: &str = "\
agon is one file: put it where your PATH finds it, or call it as ./agon.
It needs nothing else, on any Linux of this kind of machine.

./agon new cultist-wars python my-bot     a bot to begin with (./agon new lists games and languages)
./agon docs first-match                   the guide
./agon doctor                             what this machine has for bots and matches

completions/ holds the completions of bash, zsh and fish.
";

/// Builds, packs and tries the archive.
pub fn run(root: &Path) -> Result<bool> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let target = root.join(target);
    let host = host()?;
    if !crate::has_wasm() {
        bail!(
            "what is shipped has engines for its pages; install Rust for them: rustup target add {}",
            crate::WASM
        );
    }
    // With the C library inside it runs on every Linux, and it starts in two thirds of the time.
    let built = crate::cargo()
        .args(["rustc", "--locked", "--profile", "dist", "--package", "agon", "--bin", "agon"])
        .args(["--", "-C", "target-feature=+crt-static"])
        .env("AGON_WASM", "require")
        .current_dir(root)
        .status()
        .context("running cargo")?;
    if !built.success() {
        return Ok(false);
    }
    let program = target.join("dist/agon");
    let version = said(&program, &["--version"])?;
    let version = version.split_whitespace().last().context("a version")?;
    let name = format!("agon-{version}-{host}");
    let folder = target.join("archives");
    fs::create_dir_all(&folder)?;
    let archive = folder.join(format!("{name}.tar.gz"));
    pack(root, &program, &name, &archive)?;
    let sum = hex(&Sha256::digest(fs::read(&archive)?));
    let sums = folder.join(format!("{name}.sha256"));
    fs::write(&sums, format!("{sum}  {name}.tar.gz\n"))?;
    try_out(&archive, &name)?;
    println!("{}\n{}", archive.display(), sums.display());
    Ok(true)
}

/// The kind of this machine, as the compiler calls it.
pub fn host() -> Result<String> {
    let about = said(Path::new("rustc"), &["-vV"])?;
    Ok(about.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names its host")?.to_owned())
}

/// The same program and documents give the same bytes.
fn pack(root: &Path, program: &Path, name: &str, archive: &Path) -> Result<()> {
    let file = File::create(archive).with_context(|| format!("creating {}", archive.display()))?;
    let mut tar = tar::Builder::new(GzEncoder::new(file, Compression::best()));
    let mut add = |path: &str, bytes: &[u8], mode| -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(mode);
        header.set_mtime(0);
        header.set_cksum();
        tar.append_data(&mut header, format!("{name}/{path}"), bytes)
    };
    let bytes = fs::read(program)?;
    ensure!(!has_interpreter(&bytes), "{} asks for libraries of this machine", program.display());
    add("agon", &bytes, 0o755)?;
    add("INSTALL.txt", INSTALL.as_bytes(), 0o644)?;
    for document in DOCUMENTS {
        add(document, &fs::read(root.join(document)).with_context(|| (*document).to_owned())?, 0o644)?;
    }
    add("THIRD-PARTY.txt", crate::licences::text(root)?.as_bytes(), 0o644)?;
    for (shell, file) in SHELLS {
        let text = said(program, &["completions", shell])?;
        add(&format!("completions/{file}"), text.as_bytes(), 0o644)?;
    }
    tar.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// Unpacks the archive elsewhere and lets a newcomer's first commands run, without Rust on the PATH.
fn try_out(archive: &Path, name: &str) -> Result<()> {
    let place = std::env::temp_dir().join(format!("agon-dist-{}", std::process::id()));
    let tried = try_out_in(&place, archive, name);
    let _ = fs::remove_dir_all(&place);
    tried
}

fn try_out_in(place: &Path, archive: &Path, name: &str) -> Result<()> {
    fs::create_dir_all(place)?;
    tar::Archive::new(flate2::read::GzDecoder::new(File::open(archive)?)).unpack(place)?;
    let program = place.join(name).join("agon");
    let home = place.join("home");
    fs::create_dir_all(&home)?;
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let without_rust: Vec<PathBuf> =
        std::env::split_paths(&paths).filter(|path| !path.join("cargo").exists()).collect();
    let has_python = without_rust.iter().any(|path| path.join("python3").exists());
    let path = std::env::join_paths(without_rust)?;
    let agon = |line: &str| {
        let mut command = Command::new(&program);
        command.args(line.split(' ')).current_dir(place).env("PATH", &path).env("HOME", &home);
        command
    };
    let mut lines = vec![
        "games",
        "docs first-match",
        "explain CW-SHOOT-3",
        "new cultist-wars python my-bot",
        "play cultist-wars builtin:greedy builtin:random --seed 7 --quiet --replay r",
        "replay verify r",
        "replay export r --format html -o r.html",
    ];
    if has_python {
        // The clock is wide: this asks whether they work, not how fast this machine is now.
        lines.push(
            "play cultist-wars my-bot builtin:greedy --quiet --no-replay --time-scale 20 --fail-on-fault",
        );
        lines.push("check cultist-wars my-bot --time-scale 20");
    } else {
        println!(
            "SKIPPED: no python3 beside cargo's folder, so a starter of the packed program was not played"
        );
    }
    for line in lines {
        let output = agon(line).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "the packed program fails at `agon {line}`: {said}");
    }
    // The viewer says where it is, and stays.
    let mut viewer = agon("watch r --no-open").stdout(Stdio::piped()).spawn()?;
    let mut address = String::new();
    let heard = BufReader::new(viewer.stdout.take().context("its output is piped")?).read_line(&mut address);
    let stays = viewer.try_wait()?.is_none();
    viewer.kill()?;
    viewer.wait()?;
    heard?;
    ensure!(
        stays && address.starts_with("http://127.0.0.1:"),
        "the packed program fails at `agon watch`: {address}"
    );
    Ok(())
}

/// Whether a program (ELF, 64 bits) is completed by the machine's own loader and libraries when it starts.
fn has_interpreter(program: &[u8]) -> bool {
    const INTERPRETER: u64 = 3;
    let number = |at: usize, length: usize| {
        program[at..at + length].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let (first, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    (0..count).any(|header| number((first + header * size) as usize, 4) == INTERPRETER)
}

/// What a program prints.
fn said(program: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("running {}", program.display()))?;
    if !output.status.success() {
        bail!("{} {} fails", program.display(), arguments.join(" "));
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
