//! `cargo xtask dist`: an archive of the program for each kind of machine, with its checksum, tried out before it counts as done.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::{oci, wheel};

/// The files packed beside the program.
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "NOTICE"];

/// Shells, and the file name under which each looks for completions.
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

/// A kind of machine that the program is packed for.
struct Machine {
    /// As in `--target`: the beginning of the compiler's name for such a machine.
    name: &'static str,
    /// The compiler's name for it, used if this machine is of another kind.
    triple: &'static str,
    /// The C compiler, which also links. Debian's cross compilers bring a static C library, the same as on the machine itself.
    compiler: &'static str,
    /// What runs its programs here.
    emulator: &'static str,
    /// The Debian packages of both.
    packages: &'static str,
}

const MACHINES: &[Machine] = &[
    Machine {
        name: "x86_64",
        triple: "x86_64-unknown-linux-gnu",
        compiler: "x86_64-linux-gnu-gcc",
        emulator: "qemu-x86_64",
        packages: "gcc-x86-64-linux-gnu libc6-dev-amd64-cross qemu-user",
    },
    Machine {
        name: "aarch64",
        triple: "aarch64-unknown-linux-gnu",
        compiler: "aarch64-linux-gnu-gcc",
        emulator: "qemu-aarch64",
        packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
    },
];

/// What the program is packed as.
#[derive(Clone, Copy)]
pub enum Form {
    /// An archive with its checksum.
    Archive,
    /// A package for Python.
    Wheel,
    /// An image for containers.
    Image,
}

/// How a machine's program is built and started on this one.
pub struct Way {
    pub triple: String,
    /// `None` if this machine is of that kind.
    foreign: Option<&'static Machine>,
}

impl Machine {
    fn way(&'static self, host: &str) -> Way {
        if host.split('-').next() == Some(self.name) {
            Way { triple: host.to_owned(), foreign: None }
        } else {
            Way { triple: self.triple.to_owned(), foreign: Some(self) }
        }
    }
}

impl Way {
    /// The commands that install what is missing.
    fn missing(&self) -> Vec<String> {
        let Some(machine) = self.foreign else { return Vec::new() };
        let target = (!crate::has_target(&self.triple)).then(|| format!("rustup target add {}", self.triple));
        let lacks = |program| Command::new(program).arg("--version").output().is_err();
        let packages = (lacks(machine.compiler) || lacks(machine.emulator))
            .then(|| format!("apt-get install {}", machine.packages));
        target.into_iter().chain(packages).collect()
    }

    /// The kind of machine, as the kernel calls it.
    pub fn machine(&self) -> &str {
        self.triple.split('-').next().unwrap_or_default()
    }

    /// Whether this machine is of that kind.
    pub fn is_here(&self) -> bool {
        self.foreign.is_none()
    }

    /// The version that a program of that kind says it is.
    pub fn version(&self, program: &Path) -> Result<String> {
        let said = said(self.command(program).arg("--version"))?;
        Ok(said.split_whitespace().nth(1).context("a version")?.to_owned())
    }

    /// Builds the program. Linked statically with the C library it runs on every Linux, and starts in two thirds of the time.
    /// `AGON_PROGRAM` names one for this machine that is built already.
    fn build(&self, root: &Path, target: &Path) -> Result<Option<PathBuf>> {
        if let (true, Some(built)) = (self.is_here(), std::env::var_os("AGON_PROGRAM")) {
            return Ok(Some(root.join(built)));
        }
        let mut cargo = crate::cargo();
        cargo.args([
            "rustc",
            "--locked",
            "--profile",
            "dist",
            "--package",
            "agon",
            "--bin",
            "agon",
            "--features",
            "scale,tls",
        ]);
        let mut program = target.to_owned();
        if let Some(machine) = self.foreign {
            let name = self.triple.replace('-', "_");
            cargo
                .args(["--target", &self.triple])
                .env(format!("CARGO_TARGET_{}_LINKER", name.to_uppercase()), machine.compiler)
                .env(format!("CC_{name}"), machine.compiler);
            program.push(&self.triple);
        }
        let built = cargo
            .args(["--", "-C", "target-feature=+crt-static"])
            .env("AGON_WASM", "small")
            .current_dir(root)
            .status()
            .context("running cargo")?;
        Ok(built.success().then(|| program.join("dist/agon")))
    }

    pub fn command(&self, program: &Path) -> Command {
        match self.foreign {
            None => Command::new(program),
            Some(machine) => {
                let mut command = Command::new(machine.emulator);
                command.arg(program);
                command
            }
        }
    }
}

/// Builds, packs and tries the program for all kinds of machine (`None`), or for one; returns the files, or `None` if it cannot be built.
pub fn run(root: &Path, wanted: Option<&str>, form: Form) -> Result<Option<Vec<PathBuf>>> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let target = root.join(target);
    let host = crate::host()?;
    if !crate::has_wasm() {
        bail!(
            "the archives include engines for pages; install the Rust target for them: rustup target add {}",
            crate::WASM
        );
    }
    let machines: Vec<&Machine> =
        MACHINES.iter().filter(|machine| wanted.is_none_or(|wanted| wanted == machine.name)).collect();
    if machines.is_empty() {
        let names: Vec<&str> = MACHINES.iter().map(|machine| machine.name).collect();
        bail!("--target takes {} or all", names.join(", "));
    }
    let mut programs = Vec::new();
    for machine in machines {
        let way = machine.way(&host);
        let missing = way.missing();
        if missing.is_empty() {
            let Some(program) = way.build(root, &target)? else { return Ok(None) };
            let bytes = fs::read(&program).with_context(|| format!("reading {}", program.display()))?;
            ensure!(!has_interpreter(&bytes), "{} depends on libraries of this machine", program.display());
            programs.push((way, program));
        } else if wanted.is_some() {
            bail!("{} needs what this machine lacks: {}", machine.name, missing.join(" && "));
        } else {
            println!("SKIPPED: nothing for {}; first {}", machine.name, missing.join(" && "));
        }
    }
    let folder = target.join("archives");
    fs::create_dir_all(&folder)?;
    let mut files = Vec::new();
    for (way, program) in &programs {
        let packed = match form {
            Form::Archive => archive(root, way, program, &folder).map(Vec::from),
            Form::Wheel => wheel::make(root, way, program, &folder).map(|wheel| vec![wheel]),
            Form::Image => Ok(Vec::new()),
        };
        files.extend(packed.with_context(|| way.triple.clone())?);
    }
    if matches!(form, Form::Image) && !programs.is_empty() {
        files.push(oci::make(root, &programs, &folder)?);
    }
    for path in &files {
        println!("{}", path.display());
    }
    Ok((!files.is_empty()).then_some(files))
}

/// Packs a program and tries the archive; returns its path and that of its checksum.
fn archive(root: &Path, way: &Way, program: &Path, folder: &Path) -> Result<[PathBuf; 2]> {
    let name = format!("agon-{}-{}", way.version(program)?, way.triple);
    let archive = folder.join(format!("{name}.tar.gz"));
    pack(root, way, program, &name, &archive)?;
    let sum = hex(&Sha256::digest(fs::read(&archive)?));
    let sums = folder.join(format!("{name}.sha256"));
    fs::write(&sums, format!("{sum}  {name}.tar.gz\n"))?;
    try_out(way, &archive, &name)?;
    Ok([archive, sums])
}

/// Packs reproducibly: the same program and documents give the same bytes.
fn pack(root: &Path, way: &Way, program: &Path, name: &str, archive: &Path) -> Result<()> {
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
    add("agon", &fs::read(program)?, 0o755)?;
    add("INSTALL.txt", INSTALL.as_bytes(), 0o644)?;
    for document in DOCUMENTS {
        add(document, &fs::read(root.join(document)).with_context(|| (*document).to_owned())?, 0o644)?;
    }
    add("THIRD-PARTY.txt", crate::licences::text(root, &way.triple)?.as_bytes(), 0o644)?;
    for (shell, file) in SHELLS {
        let text = said(way.command(program).args(["completions", shell]))?;
        add(&format!("completions/{file}"), text.as_bytes(), 0o644)?;
    }
    tar.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// Unpacks the archive elsewhere and runs a newcomer's first commands, without Rust on the PATH.
fn try_out(way: &Way, archive: &Path, name: &str) -> Result<()> {
    let place = std::env::temp_dir().join(format!("agon-dist-{}", std::process::id()));
    let tried = try_out_in(way, &place, archive, name);
    let _ = fs::remove_dir_all(&place);
    tried
}

fn try_out_in(way: &Way, place: &Path, archive: &Path, name: &str) -> Result<()> {
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
        let mut command = way.command(&program);
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
        // The time limits are generous: this tests whether the commands work, not how fast this machine is now.
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
    // The viewer prints its address and keeps running.
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

/// Whether a program (ELF, 64 bits) needs the machine's own loader and libraries to start.
pub fn has_interpreter(program: &[u8]) -> bool {
    const INTERPRETER: u64 = 3;
    let number = |at: usize, length: usize| {
        program[at..at + length].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let (first, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    (0..count).any(|header| number((first + header * size) as usize, 4) == INTERPRETER)
}

/// What a command prints.
pub fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("running {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} fails: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
