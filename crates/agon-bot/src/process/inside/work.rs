//! Tools at work in a sandbox: compilers for submitted sources, and unpackers of submitted archives.
//!
//! A tool writes to copies in memory. When all of it has ended, its results are copied out by a walk that follows no
//! link. It has no network: packages are those of this machine, read-only.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_sandbox::{
    Bounds, Confinement, Exit, Network, Order, Sandbox, ShownPath, StepRefusal, Wall, bring_out, walk,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::pipe::{PipeFlags, pipe_with};

use super::{Needs, User, keeper, let_through_shown, needs, not_shown, strangers};
use crate::build::Build;
use crate::launch::Launch;
use crate::name::Confined;
use crate::paths::is_systems;
use crate::process::{Excess, guard, spawn};
use crate::run::Run;
use crate::sys;

/// Upper limits for a tool.
pub fn limits() -> Confinement {
    Confinement {
        memory: 2 << 30,
        processes: 256,
        cpu: Some(600),
        disk: 5 << 28,
        files: 65_536,
        descriptors: 1024,
        // Gradle and others talk to their own processes.
        network: Network::Loopback,
        ..Confinement::default()
    }
}

/// Time limit of a build in a sandbox.
const LONGEST: Duration = Duration::from_secs(300);
/// A tool's job.
#[derive(Debug)]
pub struct Work<'a> {
    /// Whose files it works on: strangers' files are not trusted.
    pub confined: Confined,
    /// Folders that it may change. Changes are copied out.
    pub writes: &'a [&'a Path],
    /// What it finds besides its own files, and in which image, as the bots of its run.
    pub run: Arc<Run>,
    /// Its standard input.
    pub input: Option<OwnedFd>,
    /// It is ended after this.
    pub patience: Duration,
}

impl Build {
    /// Runs it in a sandbox without a network: it writes to copies, and the result is copied out. `hear` gets what it
    /// prints; an error from `hear` ends the build.
    ///
    /// # Errors
    /// A sentence, as [`run`](Self::run), or when it takes too long or too much of something.
    pub fn run_inside(
        &self,
        confined: Confined,
        hear: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<ExitStatus, String> {
        self.run_by(|command| {
            let own = self.made.as_ref().map_or(&*self.folder, |made| &*made.draft);
            let run_of = Arc::clone(&self.run);
            let work = Work { confined, writes: &[own], run: run_of, input: None, patience: LONGEST };
            run(command, work, hear)
        })
    }
}

/// Runs a command in a sandbox. `hear` gets what it prints; an error from `hear` ends it.
///
/// # Errors
/// `NotFound` and `PermissionDenied` as outside; otherwise a sentence: it took too much of something, or this machine
/// has no sandbox.
pub fn run(
    command: &Command,
    work: Work<'_>,
    hear: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<ExitStatus> {
    let keeper = keeper().map_err(io::Error::other)?;
    if !keeper.found.walls.contains(&Wall::Namespaces) {
        return Err(io::Error::other(super::unfit(&keeper.found, "what is built")));
    }
    let (confinement, order) = describe(command, &work)?;
    let bounds = Bounds { bytes: confinement.disk, entries: confinement.files as usize };
    let before = |folder: &&Path| {
        let found = File::open(folder).and_then(|open| walk(open, bounds, false));
        found.map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => io::Error::other(format!(
                "{} is larger than the {} MB and {} files that a build may write",
                folder.display(),
                bounds.bytes >> 20,
                bounds.entries
            )),
            kind => io::Error::new(kind, format!("{}: {error}", folder.display())),
        })
    };
    let before = work.writes.iter().map(before).collect::<io::Result<Vec<_>>>()?;
    let machine = |refusal: StepRefusal| io::Error::other(refusal.to_string());
    let sandbox = keeper.launcher.prepare(&confinement, &keeper.found.walls).map_err(machine)?;
    sandbox.ready().map_err(machine)?;
    let (said, output) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // The tool's end blocks: a compiler does not check for room.
    rustix::io::ioctl_fionbio(&output, false)?;
    let input = match work.input {
        Some(input) => input,
        // A pipe without a writer: nothing to read.
        None => pipe_with(PipeFlags::CLOEXEC)?.0,
    };
    sandbox.run(&order, [input.as_fd(), output.as_fd(), output.as_fd()]).map_err(|refusal| match refusal
        .errno
    {
        _ if !refusal.is_the_programs() => machine(refusal),
        libc::ENOENT | libc::EACCES => {
            io::Error::other(not_shown(&order.program, &confinement, &refusal.why, work.confined))
        }
        libc::ENOEXEC => io::Error::from_raw_os_error(libc::ENOEXEC),
        _ => machine(refusal),
    })?;
    drop((input, output));
    let exit = attend(&sandbox, &said.into(), work.patience, hear)?;
    let excess = super::excess_of(&sandbox, &confinement);
    let copies: Vec<OwnedFd> =
        (0..work.writes.len()).filter_map(|place| sandbox.copy(place)?.try_clone_to_owned().ok()).collect();
    // Nothing it left running writes any more.
    sandbox.end().map_err(|left| io::Error::other(left.to_string()))?;
    let ended = match exit {
        _ if excess.is_some() => match excess {
            Some(Excess::OutOfMemory(bytes)) => format!("out of memory, {} MB", bytes >> 20),
            Some(Excess::NoMoreProcesses(most)) => format!("out of processes, {most}"),
            _ => format!("out of disk, {} MB", confinement.disk >> 20),
        },
        // A single file hit the size limit; a shell reports its child's signal as its own exit code.
        Some(Exit { code, .. }) if code == 128 + libc::SIGXFSZ => {
            format!("out of disk: a file of more than {} MB", confinement.disk >> 20)
        }
        Some(exit) => {
            bring(&copies, work.writes, &before, bounds)?;
            return Ok(ExitStatus::from_raw(exit.signal.unwrap_or(exit.code << 8)));
        }
        None => "it was killed".to_owned(),
    };
    Err(io::Error::other(ended))
}

fn bring(
    copies: &[OwnedFd],
    into: &[&Path],
    before: &[Vec<agon_sandbox::FileEntry>],
    bounds: Bounds,
) -> io::Result<()> {
    for ((copy, into), before) in copies.iter().zip(into).zip(before) {
        // Twice the bounds: the copy has room for the old content as well as for new data.
        let bounds = Bounds { bytes: 2 * bounds.bytes, entries: 2 * bounds.entries };
        bring_out(copy, into, before, bounds).map_err(|error| {
            let why = format!("what it made cannot be saved in {}: {error}", into.display());
            io::Error::new(error.kind(), why)
        })?;
    }
    Ok(())
}

/// Passes on its output until it has ended.
fn attend(
    sandbox: &Sandbox,
    said: &File,
    patience: Duration,
    hear: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Option<Exit>> {
    let until = Instant::now() + patience;
    let (mut exit, mut open) = (None, true);
    loop {
        let over = exit.is_some() || sandbox.is_over();
        let wait = rustix::time::Timespec { tv_sec: 0, tv_nsec: if over { 0 } else { 10_000_000 } };
        if open {
            let mut waits = [PollFd::new(said, PollFlags::IN)];
            let _ = poll(&mut waits, Some(&wait));
        } else if !over {
            exit = sandbox.wait(Duration::from_millis(10));
        }
        let mut bytes = [0; 16 << 10];
        match (&*said).read(&mut bytes) {
            Ok(0) => open = false,
            Ok(count) => {
                hear(&bytes[..count])?;
                if Instant::now() < until {
                    continue;
                }
            }
            // It has ended and there is no more output, though a leftover process may still hold the pipe.
            Err(_) if over => return Ok(exit),
            Err(_) => {}
        }
        if over && !open {
            return Ok(exit);
        }
        if Instant::now() >= until {
            return Err(io::Error::other(format!("it took longer than {} s", patience.as_secs())));
        }
        if exit.is_none() {
            exit = sandbox.wait(Duration::ZERO);
        }
    }
}

fn describe(command: &Command, work: &Work<'_>) -> io::Result<(Confinement, Order)> {
    let user = User::own();
    let path = std::env::join_paths(&user.path).unwrap_or_default();
    let folder = match command.get_current_dir() {
        Some(folder) => folder.to_owned(),
        None => std::env::current_dir()?,
    };
    if !folder.is_dir() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let foreign = work.confined == Confined::Foreign;
    let launch = Launch {
        program: command.get_program().to_owned(),
        arguments: command.get_args().map(OsStr::to_owned).collect(),
        folder: Some(folder.clone()),
        confined: work.confined,
        run: Arc::clone(&work.run),
        ..Launch::default()
    };
    let image = match foreign {
        true => Some(strangers::image(&launch, &user).map_err(io::Error::other)?),
        false => None,
    };
    let mut program = match &image {
        Some(image) => strangers::program(command.get_program(), &folder, image)
            .ok_or_else(|| io::Error::other(strangers::refusal(Path::new(command.get_program()))))?,
        None => folder.join(spawn::find(command.get_program(), Some(&folder), &path)),
    };
    if !image.as_ref().is_some_and(|image| image.runs(&program)) {
        if !program.exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        if program.is_dir() || !sys::may_execute(&program) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
    }
    let Needs { places, mut variables } = match &image {
        Some(_) => needs::of_strangers(&launch, &user),
        None => needs::of_build(&launch, &program, &user),
    };
    let mut confinement = limits();
    // A copied place is not shown a second time.
    let written = |place: &Path| work.writes.iter().any(|own| place.starts_with(own));
    let shown = places.iter().filter(|place| !written(place));
    confinement.readable = shown.map(ShownPath::same).collect();
    if guard::program() == Some(&program) {
        if !is_systems(&program) {
            confinement.readable.retain(|place| !program.starts_with(&place.outside));
            confinement.readable.push(ShownPath::same(&program));
        } else if image.is_some() {
            confinement.readable.push(ShownPath { outside: program, inside: super::OWN_PROGRAM.into() });
            program = super::OWN_PROGRAM.into();
        }
    }
    if let Some(image) = &image {
        super::show(image, &mut confinement, &mut variables);
    }
    if !foreign {
        for (place, own) in of_user(&user) {
            confinement.readable.push(ShownPath::same(place));
            variables.extend(own);
        }
    }
    super::add(&work.run.packages, &mut confinement, &mut variables);
    if is_home(&folder, &user) {
        return Err(io::Error::other(format!(
            "{} is never shown to a build as a whole; put the bot into a folder of its own",
            folder.display()
        )));
    }
    if !written(&folder) && !is_systems(&folder) {
        confinement.readable.push(ShownPath::same(&folder));
    }
    confinement.readable.sort_by_key(|place| place.outside.components().count());
    confinement.readable.dedup();
    confinement.hide_what_is_shown();
    confinement.copied = work.writes.iter().map(ShownPath::same).collect();
    work.writes.iter().for_each(|place| let_through_shown(place, &confinement.readable));
    confinement.folder = folder;
    let text = |word: &OsStr| {
        let why = || io::Error::other(format!("the word {} is not UTF-8", Path::new(word).display()));
        word.to_str().map(str::to_owned).ok_or_else(why)
    };
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            variables.insert(text(name)?, text(value)?);
        }
    }
    let arguments = command.get_args().map(text).collect::<io::Result<_>>()?;
    Ok((confinement, Order { program, arguments, variables, cpus: Vec::new() }))
}

fn is_home(folder: &Path, user: &User) -> bool {
    folder.parent().is_none() || user.home.as_ref().is_some_and(|home| home.starts_with(folder))
}

/// Package caches that a build of the user's own bot may use, and the variables that point to them.
fn of_user(user: &User) -> Vec<(PathBuf, Vec<(String, String)>)> {
    let Some(home) = &user.home else { return Vec::new() };
    let set = |name: &str, usual: &str| std::env::var_os(name).map_or(home.join(usual), PathBuf::from);
    let found = [
        (set("CARGO_HOME", ".cargo"), "CARGO_HOME", &[("CARGO_NET_OFFLINE", "true")][..]),
        (set("RUSTUP_HOME", ".rustup"), "RUSTUP_HOME", &[]),
        (set("GOMODCACHE", "go/pkg/mod"), "GOMODCACHE", &[("GOPROXY", "off"), ("GOFLAGS", "-mod=mod")]),
        (set("NUGET_PACKAGES", ".nuget/packages"), "NUGET_PACKAGES", &[]),
    ];
    let mut all = Vec::new();
    for (place, variable, more) in found {
        if place.is_dir() {
            let own = [(variable.to_owned(), place.to_string_lossy().into_owned())];
            let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            all.push((place, own.into_iter().chain(more).collect()));
        }
    }
    let maven = home.join(".m2/repository");
    if maven.is_dir() {
        // Maven before 3.9 ignores MAVEN_ARGS; there each attempt to reach the network fails by itself.
        let found = ("MAVEN_OPTS".to_owned(), format!("-Dmaven.repo.local={}", maven.display()));
        all.push((maven, vec![found, ("MAVEN_ARGS".to_owned(), "-o".to_owned())]));
    }
    all
}

/// Bytes as a file that nobody can change any more, least of all its reader.
///
/// # Errors
/// The system's: no memory, or `bytes` cannot be read.
pub fn sealed(mut bytes: impl Read) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(rustix::fs::memfd_create("agon", flags)?);
    io::copy(&mut bytes, &mut file)?;
    file.flush()?;
    io::Seek::rewind(&mut file)?;
    rustix::fs::fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL,
    )?;
    Ok(file.into())
}
