//! From a command to a bot's first process, and why there is none.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::inside::{self, StartTrouble};
use super::spawn::StartedProcess;
use super::tree::ProcessTree;
use super::{StartError, children, guard};
use crate::advised::Advised;
use crate::launch::{Launch, first_line};
use crate::name::Confined;
use crate::{kinds, sys, tools};

/// Starts a bot's processes, or begins to in a sandbox; returns our ends of its pipes.
///
/// # Errors
/// A sentence that says why the system would not start it and what to do.
pub fn start(
    launch: &Launch,
    seat: u8,
    cpus: Option<&[usize]>,
    temporary: Option<&Path>,
) -> Result<(ProcessTree, StartedProcess), StartError> {
    if let Some(why) = launch.file_of(&launch.program).and_then(|file| foreign(&file)) {
        let shown = Path::new(&launch.program).display();
        return Err(StartError::NoProgram(format!("cannot start `{shown}`: {why}")));
    }
    // A runtime's collector and compilers would otherwise take time from the thread that answers.
    let cpus = match cpus {
        Some(_) if launch.runs_in_runtime() => sys::cpus_at_start(),
        _ => cpus.unwrap_or_default(),
    };
    // With no CPUs given, it runs on those of this thread.
    let count = if cpus.is_empty() { sys::cpus().len() } else { cpus.len() };
    if launch.confined != Confined::No {
        let (process, cage) =
            inside::begin(launch, seat, cpus).map_err(|trouble| troubled(launch, trouble))?;
        return Ok((ProcessTree::caged(process.pid, cage).on(count), process));
    }
    let mark = format!("{}.{}.{seat}", guard::mark(), guard::next_match());
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.arguments)
        .env("AGON_SEAT", seat.to_string())
        .env("PYTHONUNBUFFERED", "1")
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .env(guard::MARK, guard::mark())
        .env(children::MARK, &mark);
    if let Some(folder) = temporary {
        command.env("TMPDIR", folder);
    }
    if let Some(folder) = &launch.folder {
        command.current_dir(folder);
    }
    let process = start_patiently(&command, cpus, launch.dials_in, &mark)
        .map_err(|error| cannot_start(launch, &error))?;
    Ok((ProcessTree::new(process.pid, mark).on(count), process))
}

/// What a sandbox says of a program that it did not start.
pub fn troubled(launch: &Launch, trouble: StartTrouble) -> StartError {
    let shown = Path::new(&launch.program).display();
    match trouble {
        StartTrouble::Start(error) => cannot_start(launch, &error),
        StartTrouble::Hidden(why) => StartError::NoProgram(format!("cannot start `{shown}`: {why}")),
        StartTrouble::Machine(why) => StartError::NoRoom(format!("cannot start `{shown}`: {why}")),
    }
}

/// Starts a program, even one written a moment ago, which a process that is just being started elsewhere may still hold
/// open for writing.
fn start_patiently(
    command: &Command,
    cpus: &[usize],
    joined: bool,
    mark: &str,
) -> io::Result<StartedProcess> {
    for _ in 0..100 {
        match children::start_bot(command, cpus, joined, mark) {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
    children::start_bot(command, cpus, joined, mark)
}

/// Why a file certainly is no program for this machine. Checked because the system hands unknown files to the shell,
/// whose complaints help nobody.
fn foreign(file: &Path) -> Option<&'static str> {
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return None;
    }
    let mut start = [0; 20];
    let length = File::open(file).and_then(|mut file| file.read(&mut start)).ok()?;
    let ours: &[u8] = match std::env::consts::ARCH {
        // 64 and 32 bits.
        "x86_64" => &[62, 3],
        "aarch64" => &[183, 40],
        _ => return None,
    };
    match &start[..length] {
        [] => Some("the file is empty"),
        [0x7f, b'E', b'L', b'F', rest @ ..]
            if rest.len() == 16 && !(ours.contains(&start[18]) && start[19] == 0) =>
        {
            Some("it is a program for another architecture; build it on this machine")
        }
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] => Some("it is a program for macOS; build it on this machine"),
        [b'M', b'Z', ..] => Some("it is a program for Windows; build it on this machine"),
        _ => None,
    }
}

/// Why the system would not start a program, and what to do.
fn cannot_start(launch: &Launch, error: &io::Error) -> StartError {
    let shown = Path::new(&launch.program).display();
    // (A name without a folder is searched for by the system, not here.)
    let file = launch.file_of(&launch.program);
    let is_bare = launch.folder.is_some() && !launch.program.to_string_lossy().contains('/');
    let why = match error.raw_os_error() {
        Some(libc::ENOENT) => match file.as_deref().and_then(first_line) {
            Some(line) if line.ends_with('\r') => {
                let convert = Advised::Convert(launch.program.to_string_lossy().into_owned());
                format!(
                    "its first line ends with a Windows line ending, so that its interpreter is not found; {convert}"
                )
            }
            // A name without a folder is searched for on the PATH, and nowhere else.
            _ if is_bare && file.as_deref().is_some_and(Path::is_file) => format!(
                "there is no such program on the PATH; {}",
                Advised::NameWithFolder(launch.program.to_string_lossy().into_owned())
            ),
            Some(line) => {
                let wanted = line.trim();
                let name = wanted.rsplit(['/', ' ']).next().unwrap_or(wanted);
                let what = tools::advice(name, launch.run.for_others)
                    .map_or_else(String::new, |what| format!("; {what}"));
                format!("its interpreter `{wanted}` is not installed{what}")
            }
            None if launch.folder.as_ref().is_some_and(|folder| !folder.is_dir()) => {
                "its folder is not there".to_owned()
            }
            None if launch.program.to_string_lossy().contains('/') => {
                "there is no such file in the bot's folder, where its command runs".to_owned()
            }
            None => {
                let what = tools::advice(&launch.program.to_string_lossy(), launch.run.for_others);
                format!(
                    "`{shown}` is not installed or not on the PATH; {}",
                    what.as_deref().unwrap_or("agon doctor lists what is there")
                )
            }
        },
        Some(libc::EACCES) if file.as_deref().is_some_and(Path::is_dir) => "it is a folder".to_owned(),
        Some(libc::EACCES) => match file.as_deref().and_then(kinds::no_program) {
            Some(why) => why,
            None => {
                let file = file.map_or_else(
                    || launch.program.to_string_lossy().into_owned(),
                    |file| file.display().to_string(),
                );
                format!("it may not be executed; {}", Advised::MakeExecutable(file))
            }
        },
        Some(libc::ENOEXEC) => "it is not a program for this machine".to_owned(),
        Some(libc::EAGAIN | libc::ENOMEM) => {
            let why = format!("this machine has no room for another process ({error}); lower -j");
            return StartError::NoRoom(format!("cannot start `{shown}`: {why}"));
        }
        Some(libc::EMFILE | libc::ENFILE) => {
            let why = format!("too many open files ({error}); lower -j or raise `ulimit -n`");
            return StartError::NoRoom(format!("cannot start `{shown}`: {why}"));
        }
        Some(libc::ETXTBSY) => "it is still being written".to_owned(),
        _ => error.to_string(),
    };
    StartError::NoProgram(format!("cannot start `{shown}`: {why}"))
}
