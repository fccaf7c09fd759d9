//! `cargo xtask long vm`: tests the sandbox on another kernel, with cgroups of version 2. An emulated virtual machine, which needs no
//! privileges and no support of the processor, runs the attacks and the containment tests (`vm/prove.sh`) as root, as an ordinary user
//! with its own cgroup, and as one without.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

const QEMU: &str = "qemu-system-x86_64";
const BUSYBOX: &str = "/bin/busybox";
const PYTHON: &str = "/usr/bin/python3";
/// How long all of it may take, on two cores that do something else too.
const PATIENCE: Duration = Duration::from_secs(90 * 60);
/// The machine's memory in MB: its files are kept in it.
const MEMORY: &str = "3072";

/// A bot that waits in every turn; compiled here, because there is no compiler inside.
const WAITER: &str = "crates/agon-contest/benches/waiter.c";

/// Programs taken from outside busybox: bots that hide use options its versions lack.
const TOOLS: [&str; 3] = ["env", "setsid", "sh"];

/// The contents of `/etc` that programs and attacks look for.
const SETTINGS: [(&str, &str); 6] = [
    (
        "passwd",
        "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    ),
    ("group", "root:x:0:\nuser:x:1000:\n"),
    ("hostname", "vm\n"),
    ("hosts", "127.0.0.1 localhost vm\n"),
    ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    ("resolv.conf", "nameserver 127.0.0.1\n"),
];

/// The kernel to run: `AGON_KERNEL`, or this machine's newest.
fn kernel() -> Option<PathBuf> {
    let named = std::env::var_os("AGON_KERNEL").map(PathBuf::from);
    let installed = fs::read_dir("/boot").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_kernel =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz-"));
    named.or_else(|| installed.filter(is_kernel).max()).filter(|path| path.is_file())
}

/// The commands that install what is missing here.
pub fn missing() -> Vec<String> {
    let mut packages = Vec::new();
    let has_qemu = Command::new(QEMU).arg("--version").output().is_ok();
    let has_busybox = fs::read(BUSYBOX).is_ok_and(|program| !crate::dist::has_interpreter(&program));
    packages.extend((!has_qemu).then_some("qemu-system-x86"));
    packages.extend((!has_busybox).then_some("busybox-static"));
    packages.extend((!Path::new(PYTHON).exists()).then_some("python3"));
    packages.extend(kernel().is_none().then_some("linux-image-cloud-amd64"));
    if packages.is_empty() {
        return Vec::new();
    }
    let or = if kernel().is_none() { " (or name a kernel in AGON_KERNEL)" } else { "" };
    vec![format!("apt-get install --no-install-recommends {}{or}", packages.join(" "))]
}

/// Builds the machine, starts it, and returns which proofs held: those with `wanted` in their names.
///
/// # Errors
/// When something cannot be built or started.
pub fn run(root: &Path, wanted: &str) -> Result<bool> {
    let missing = missing();
    let (true, Some(kernel)) = (missing.is_empty(), kernel()) else {
        bail!("first {}", missing.join(" and "));
    };
    let built = build(root)?;
    let place = std::env::temp_dir().join(format!("agon-vm-{}", std::process::id()));
    fs::create_dir_all(&place)?;
    let good = furnish(root, &place.join("root"), &built, wanted)
        .and_then(|()| pack(&place.join("root"), &place.join("files")))
        .and_then(|()| boot(&kernel, &place.join("files")));
    let _ = fs::remove_dir_all(&place);
    good
}

/// Builds the program and the tests to run; returns all executables by path.
fn build(root: &Path) -> Result<Vec<PathBuf>> {
    let tests = ["alone", "sandbox", "attacks"].into_iter().flat_map(|test| ["--test", test]);
    let output = crate::cargo()
        .args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"])
        .args(tests)
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("running cargo")?;
    ensure!(output.status.success(), "the tests cannot be built");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let programs = messages.filter_map(|message| Some(PathBuf::from(message["executable"].as_str()?)));
    Ok(programs.collect())
}

/// The built program with this name; those of tests have a hash after their name.
fn named<'a>(built: &'a [PathBuf], name: &str, is_test: bool) -> Result<&'a Path> {
    let fits = |path: &&PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match is_test {
            true => file.strip_prefix(name).is_some_and(|hash| hash.starts_with('-')),
            false => file == name,
        }
    };
    built.iter().find(fits).map(PathBuf::as_path).with_context(|| format!("cargo built no {name}"))
}

/// Lays out the machine's files.
fn furnish(project: &Path, root: &Path, built: &[PathBuf], wanted: &str) -> Result<()> {
    for folder in ["usr/bin", "usr/lib", "usr/lib64", "etc", "dev", "proc", "sys", "tmp", "root", "vm"] {
        fs::create_dir_all(root.join(folder))?;
    }
    for (link, target) in
        [("bin", "usr/bin"), ("sbin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")]
    {
        symlink(target, root.join(link))?;
    }
    for (name, text) in SETTINGS {
        fs::write(root.join("etc").join(name), text)?;
    }
    copy(root, Path::new(BUSYBOX), Path::new("/usr/bin/busybox"))?;
    // Tests know the program's path, so each program goes to the same place as here.
    for program in built {
        copy(root, program, program)?;
    }
    let target = named(built, "agon", false)?.ancestors().nth(2).context("a target folder")?;
    let scratch = root.join(target.strip_prefix("/")?).join("tmp");
    fs::create_dir_all(&scratch)?;
    // The proofs run as several users.
    fs::set_permissions(&scratch, fs::Permissions::from_mode(0o1777))?;
    let mut programs = built.to_vec();
    for tool in TOOLS {
        let from = fs::canonicalize(Path::new("/usr/bin").join(tool)).with_context(|| tool.to_owned())?;
        copy(root, &from, &Path::new("/usr/bin").join(tool))?;
        programs.push(from);
    }
    let python = fs::canonicalize(PYTHON)?;
    copy(root, &python, Path::new(PYTHON))?;
    let library = Path::new("/usr/lib").join(python.file_name().context("a name")?);
    let copied = Command::new("cp").arg("-a").arg(&library).arg(root.join("usr/lib")).status()?;
    ensure!(copied.success(), "{} cannot be copied", library.display());
    programs.push(python);
    programs.extend(files_of(&library.join("lib-dynload")));
    let needed: BTreeSet<PathBuf> = programs
        .iter()
        .map(|program| libraries(program))
        .collect::<Result<Vec<_>>>()?
        .concat()
        .into_iter()
        .collect();
    for library in needed {
        copy(root, &library, &library)?;
    }
    let waiter = root.join("vm/waiter");
    let compiled =
        Command::new("cc").args(["-O1", "-static", "-o"]).arg(waiter).arg(project.join(WAITER)).status();
    ensure!(compiled.context("running cc")?.success(), "the native bot cannot be built");
    let number = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.to_owned());
    let tests = Path::new("/vm/tests");
    fs::create_dir_all(root.join("vm/tests"))?;
    for test in ["alone", "sandbox"] {
        symlink(named(built, test, true)?, root.join("vm/tests").join(test))?;
    }
    let settings = format!(
        "AGON={}\nTESTS={}\nBOT=/vm/waiter\nBREEDERS={}\nKILLS={}\nMATCHES={}\nMOMENTS={}\nWANTED='{wanted}'\n",
        named(built, "agon", false)?.display(),
        tests.display(),
        number("AGON_BREEDERS", "8"),
        number("AGON_KILLS", "1"),
        number("AGON_MATCHES", "100"),
        number("AGON_MOMENTS", "5"),
    );
    fs::write(root.join("vm/settings"), settings)?;
    fs::write(root.join("vm/prove.sh"), include_str!("vm/prove.sh"))?;
    fs::write(root.join("init"), include_str!("vm/init.sh"))?;
    Ok(fs::set_permissions(root.join("init"), fs::Permissions::from_mode(0o755))?)
}

/// Copies a file of this machine to a place in the other one.
fn copy(root: &Path, from: &Path, to: &Path) -> Result<()> {
    let to = root.join(to.strip_prefix("/").unwrap_or(to));
    fs::create_dir_all(to.parent().context("a folder")?)?;
    fs::copy(from, &to).with_context(|| format!("copying {}", from.display()))?;
    Ok(())
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The shared libraries of a program, and its loader.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let said = Command::new("ldd").arg(program).output().context("running ldd")?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    Ok(said.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect())
}

/// Packs a folder as the initial file system of a kernel.
fn pack(folder: &Path, to: &Path) -> Result<()> {
    let line = format!("{BUSYBOX} find . | {BUSYBOX} cpio -o -H newc > '{}'", to.display());
    let packed = Command::new("sh").args(["-c", &line]).current_dir(folder).status().context("running sh")?;
    ensure!(packed.success(), "the machine's files cannot be packed");
    Ok(())
}

/// Starts the machine, prints its output, and returns whether all proofs held.
fn boot(kernel: &Path, files: &Path) -> Result<bool> {
    let mut machine = Command::new(QEMU)
        .args(["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", MEMORY])
        .args([
            "-display",
            "none",
            "-serial",
            "stdio",
            "-monitor",
            "none",
            "-no-reboot",
            "-append",
            "console=ttyS0 quiet panic=-1 no_timer_check",
        ])
        .arg("-kernel")
        .arg(kernel)
        .arg("-initrd")
        .arg(files)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("running {QEMU}"))?;
    let lines = BufReader::new(machine.stdout.take().context("its output is piped")?);
    let (says, said) = channel();
    std::thread::spawn(move || lines.split(b'\n').map_while(Result::ok).try_for_each(|line| says.send(line)));
    let until = Instant::now() + PATIENCE;
    let (mut held, mut failed, mut done) = (0, 0, false);
    let ended = loop {
        match said.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                println!("{line}");
                let of_ours = line.starts_with("vm: ");
                held += usize::from(of_ours && line.ends_with(": held"));
                failed += usize::from(of_ours && line.contains(": FAILED"));
                done |= line == "vm: everything was run";
            }
            Err(RecvTimeoutError::Disconnected) => break true,
            Err(RecvTimeoutError::Timeout) => break false,
        }
    };
    let _ = machine.kill();
    machine.wait()?;
    if !ended {
        bail!("the machine did not end within {} minutes", PATIENCE.as_secs() / 60);
    }
    println!(
        "vm: {held} held, {failed} failed{}",
        if done { "" } else { "; it ended before everything was run" }
    );
    Ok(done && failed == 0 && held > 0)
}
