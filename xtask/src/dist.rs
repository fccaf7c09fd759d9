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

/// Where files are put, in cargo's folder.
pub const FOLDER: &str = "archives";

/// Shells, and the file name under which each looks for completions.
const SHELLS: &[(&str, &str)] = &[("bash", "agon.bash"), ("zsh", "_agon"), ("fish", "agon.fish")];

/// What a newcomer reads first.
const INSTALL: &str = "\
./install.sh            puts agon, its manual pages and completions into ~/.local (--prefix: elsewhere; --dry-run: says what it would do)
./install.sh --uninstall   takes all of that away again

Or call it as ./agon: it is one file, and needs nothing else on any Linux of this kind of machine.

./agon new cultist-wars python my-bot     a bot to begin with (./agon new lists games and languages)
./agon docs first-match                   the guide
./agon doctor                             what this machine has for bots and matches

completions/ holds the completions of bash, zsh and fish, man/ the manual pages. THIRD-PARTY.txt has the licences of what is inside.
";
/// What puts all of it in its place, and takes it away.
const INSTALLER: &str = include_str!("install.sh");

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

/// The program, built for one kind of machine.
pub struct Built {
    pub way: Way,
    pub program: PathBuf,
    /// What it says it is.
    pub version: String,
    /// Those of everything in it, as one text.
    pub licences: String,
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
    fn version(&self, program: &Path) -> Result<String> {
        let said = said(self.command(program).arg("--version"))?;
        Ok(said.split_whitespace().nth(1).context("a version")?.to_owned())
    }

    /// Builds the program. Linked statically with the C library it runs on every Linux, and starts in two thirds of the time. No path of this
    /// machine is in it: built elsewhere from the same sources by the same compilers, it is the same to the byte. `AGON_PROGRAM` names one for this machine that is built
    /// already.
    fn build(&self, root: &Path, target: &Path) -> Result<Option<PathBuf>> {
        if let (true, Some(built)) = (self.is_here(), std::env::var_os("AGON_PROGRAM")) {
            return Ok(Some(root.join(built)));
        }
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
        let home = home.context("neither CARGO_HOME nor HOME is set")?;
        // The last that fits counts, and the folder of what is built is mostly within that of the sources.
        let places = [(root, "/agon"), (home.as_path(), "/cargo"), (target, "/target")];
        let of = |option: &str, between: &str| {
            let each = places.map(|(place, name)| format!("{option}{}={name}", place.display()));
            each.join(between)
        };
        let mut cargo = crate::cargo();
        // Cargo takes several flags with this sign between them. C compilers are called by build scripts.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", of("--remap-path-prefix=", "\x1f"));
        cargo.env("CFLAGS", of("-ffile-prefix-map=", " ")).env("CXXFLAGS", of("-ffile-prefix-map=", " "));
        cargo.env_remove("RUSTFLAGS").arg("rustc").arg("--target-dir").arg(target);
        cargo.args([
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

/// `cargo xtask dist`: the files of a form, archives with their checksums beside them, for all kinds of machine (`None`) or for one.
///
/// # Errors
/// When one cannot be made, or none.
pub fn run(root: &Path, wanted: Option<&str>, form: Form) -> Result<Vec<PathBuf>> {
    let target = crate::target(root);
    let built = build(root, &target, wanted)?;
    let files = pack_as(root, &built, &target.join(FOLDER), form)?;
    for file in &files {
        if let Form::Archive = form {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let sum = format!("{}  {name}\n", hex(&Sha256::digest(fs::read(file)?)));
            fs::write(file.with_file_name(name.replace(".tar.gz", ".sha256")), sum)?;
        }
        println!("{}", file.display());
    }
    Ok(files)
}

/// Builds the program for all kinds of machine (`None`), or for one; `target` is cargo's folder.
///
/// # Errors
/// When one cannot be built, or none.
pub fn build(root: &Path, target: &Path, wanted: Option<&str>) -> Result<Vec<Built>> {
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
    let mut all = Vec::new();
    for machine in machines {
        let way = machine.way(&host);
        let missing = way.missing();
        if missing.is_empty() {
            let program =
                way.build(root, target)?.with_context(|| format!("{} is not built", machine.name))?;
            let bytes = fs::read(&program).with_context(|| format!("reading {}", program.display()))?;
            ensure!(!has_interpreter(&bytes), "{} depends on libraries of this machine", program.display());
            let version = way.version(&program)?;
            let licences = crate::licences::text(root, &way.triple)?;
            all.push(Built { way, program, version, licences });
        } else if wanted.is_some() {
            bail!("{} needs what this machine lacks: {}", machine.name, missing.join(" && "));
        } else {
            println!("SKIPPED: nothing for {}; first {}", machine.name, missing.join(" && "));
        }
    }
    ensure!(!all.is_empty(), "nothing can be made here");
    Ok(all)
}

/// Packs what was built in this form and tries it; returns the files, which are in this folder.
///
/// # Errors
/// When one cannot be made, or fails.
pub fn pack_as(root: &Path, built: &[Built], folder: &Path, form: Form) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    match form {
        Form::Archive => built.iter().map(|built| archive(root, built, folder)).collect(),
        Form::Wheel => built.iter().map(|built| wheel::make(root, built, folder)).collect(),
        Form::Image => Ok(vec![oci::make(root, built, folder)?]),
    }
}

/// Packs a program and tries the archive; returns its path.
fn archive(root: &Path, built: &Built, folder: &Path) -> Result<PathBuf> {
    let way = &built.way;
    let name = format!("agon-{}-{}-linux", built.version, way.machine());
    let archive = folder.join(format!("{name}.tar.gz"));
    pack(root, built, &name, &archive).with_context(|| name.clone())?;
    let bytes = fs::metadata(&archive)?.len();
    ensure!(bytes <= MOST, "{name}.tar.gz has {bytes} bytes, more than the {MOST} that it may have");
    try_out(way, &archive, &name).with_context(|| name.clone())?;
    Ok(archive)
}

/// The most that an archive may have, in bytes.
const MOST: u64 = 25_000_000;

/// Packs reproducibly: the same program and documents give the same bytes.
fn pack(root: &Path, built: &Built, name: &str, archive: &Path) -> Result<()> {
    let Built { way, program, licences, .. } = built;
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
    add("install.sh", INSTALLER.as_bytes(), 0o755)?;
    for document in DOCUMENTS {
        add(document, &fs::read(root.join(document)).with_context(|| (*document).to_owned())?, 0o644)?;
    }
    add("THIRD-PARTY.txt", licences.as_bytes(), 0o644)?;
    for (shell, file) in SHELLS {
        let text = said(way.command(program).args(["completions", shell]))?;
        add(&format!("completions/{file}"), text.as_bytes(), 0o644)?;
    }
    let manual = tempfile::tempdir()?;
    said(way.command(program).args(["docs", "--man"]).arg(manual.path()))?;
    let mut pages: Vec<PathBuf> = fs::read_dir(&manual)?.flatten().map(|entry| entry.path()).collect();
    pages.sort();
    ensure!(!pages.is_empty(), "the program has no manual pages");
    for page in pages {
        let file = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        add(&format!("man/{file}"), &fs::read(&page)?, 0o644)?;
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
    if way.foreign.is_none() {
        install_and_undo(place, &place.join(name))?;
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

/// Installs what was unpacked and takes it away, with each shell that is here: nothing is written that was not said before, nothing of
/// others is written over, and nothing is left.
fn install_and_undo(place: &Path, unpacked: &Path) -> Result<()> {
    for shell in [&["dash"][..], &["busybox", "sh"], &["sh"]] {
        if Command::new(shell[0]).args(["-c", "true"]).output().is_err() {
            println!("SKIPPED: the installer under {}, which is not installed", shell.join(" "));
            continue;
        }
        let home = place.join(format!("home-{}", shell[0]));
        let prefix = home.join("my tools");
        fs::create_dir_all(&home)?;
        let run = |script: &Path, more: &[&str]| -> Result<(bool, String)> {
            let mut command = Command::new(shell[0]);
            command.args(&shell[1..]).arg(script).args(more).env("HOME", &home).current_dir(&home);
            let output = command.output()?;
            let said = [output.stdout, output.stderr].concat();
            Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
        };
        let script = unpacked.join("install.sh");
        let told = prefix.display().to_string();
        let to = ["--prefix", told.as_str()];
        let files = || files_below(&prefix);
        let (done, planned) = run(&script, &[&to[..], &["--dry-run"]].concat())?;
        ensure!(done && !prefix.exists(), "a dry run of the installer writes: {planned}");
        let (done, said) = run(&script, &to)?;
        ensure!(done, "the installer fails: {said}");
        let installed = files()?;
        ensure!(installed.len() > 60, "the installer wrote {installed:?}");
        for file in &installed {
            let line = format!("writes   {}", file.display());
            ensure!(said.lines().any(|own| own == line), "the installer writes {} unsaid", file.display());
            ensure!(planned.lines().any(|own| own == line), "a dry run does not say {}", file.display());
        }
        let (again, said) = run(&script, &to)?;
        ensure!(again && files()? == installed, "installing again fails: {said}");
        let (gone, said) = run(&prefix.join("share/agon/uninstall.sh"), &[])?;
        ensure!(gone && !prefix.exists(), "uninstalling leaves {:?}: {said}", files()?);
        // What somebody else wrote stays, whatever else there was to write.
        fs::create_dir_all(prefix.join("bin"))?;
        fs::write(prefix.join("bin/agon"), "another one")?;
        let (done, said) = run(&script, &to)?;
        ensure!(
            !done && said.contains("was not written by this") && files()?.len() == 1,
            "the installer writes over what is another's: {said}"
        );
    }
    Ok(())
}

/// All files below a folder; none if it is not there.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut open, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path)?.flatten().map(|entry| entry.path()));
        } else if path.exists() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
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
