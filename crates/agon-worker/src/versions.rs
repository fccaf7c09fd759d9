//! What was handed in, made ready to play: fetched, unpacked and built once a machine.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use agon_bot::build::Build;
use agon_bot::{BotName, Confined, Launch};

use crate::protocol::{Away, Hall, Program};
use crate::unpack::{Form, unpack, unpack_inside};

/// A build may take so long.
const LONGEST_BUILD: Duration = Duration::from_secs(300);
/// Of what a build says the last so many bytes are kept.
const MOST_LOG: u64 = 64 << 10;

const TOO_MUCH: &str = "it said too much";

/// Why a version cannot play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unready {
    /// It is its author's: the archive, the manifest, the build.
    Unfit(String),
    /// It is ours, or the server is away.
    Ours(String),
}

impl From<Away> for Unready {
    fn from(away: Away) -> Self {
        Self::Ours(away.to_string())
    }
}

/// The folder of versions that are ready.
pub struct Versions {
    folder: PathBuf,
    /// How they are held, when they are unpacked, built and played.
    confined: Confined,
    /// One is made ready at a time: a build takes the machine.
    making: Mutex<()>,
}

impl Versions {
    /// Those in this folder; it may be removed while nobody plays.
    pub fn new(folder: PathBuf, confined: Confined) -> Self {
        Self { folder, confined, making: Mutex::new(()) }
    }

    /// The bot to start for a program.
    ///
    /// # Errors
    /// When it cannot be made ready, with whose fault that is.
    pub fn ready(&self, hall: &dyn Hall, program: &Program) -> Result<BotName, Unready> {
        let sha = match program {
            Program::Builtin(name) => return BotName::parse(name).map_err(Unready::Ours),
            Program::Source(sha) => sha,
        };
        let place = self.folder.join(sha);
        let making = self.making.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !place.join(READY).is_file() {
            self.make(hall, sha, &place)?;
        }
        drop(making);
        self.name_of(&place.join(BOT)).map_err(Unready::Unfit)
    }

    fn make(&self, hall: &dyn Hall, sha: &str, place: &Path) -> Result<(), Unready> {
        let ours = |error: io::Error| Unready::Ours(format!("{}: {error}", place.display()));
        // What is there is from a process that was killed meanwhile.
        match fs::remove_dir_all(place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(ours(error)),
            _ => {}
        }
        let archive = hall.fetch(sha)?;
        let bot = place.join(BOT);
        fs::create_dir_all(&bot).map_err(ours)?;
        // Whatever the mask of new files is, a bot with a user of its own reads its folder.
        fs::set_permissions(&bot, fs::Permissions::from_mode(0o755)).map_err(ours)?;
        let unpacked = match self.confined {
            Confined::Foreign => unpack_inside(&bot, Form::Tar, &archive[..]),
            _ => unpack(&bot, Form::Tar, io::Cursor::new(archive)),
        };
        unpacked.map_err(Unready::Unfit)?;
        let name = self.name_of(&bot).map_err(Unready::Unfit)?;
        if let Some(build) = Build::of(&name).map_err(Unready::Unfit)?
            && !build.is_there()
        {
            self::build(&build, self.confined, &place.join("build.log")).map_err(Unready::Unfit)?;
        }
        Launch::of(&name).map_err(|error| Unready::Unfit(error.to_string()))?;
        fs::write(place.join(READY), "").map_err(ours)
    }

    /// A single file is the bot, as on the command line; else the folder is.
    fn name_of(&self, folder: &Path) -> Result<BotName, String> {
        let mut entries = fs::read_dir(folder).map_err(|error| error.to_string())?.flatten();
        let only = entries
            .next()
            .map(|entry| entry.path())
            .filter(|path| path.is_file() && entries.next().is_none());
        let path = only.unwrap_or_else(|| folder.to_owned());
        Ok(BotName { confined: self.confined, ..BotName::parse(&path.to_string_lossy())? })
    }
}

/// Where the bot lies in the folder of a version.
const BOT: &str = "bot";
/// Says that a version is ready.
const READY: &str = "ready";

/// Builds, and says what went wrong with the end of what the build said.
fn build(build: &Build, confined: Confined, log: &Path) -> Result<(), String> {
    let done = match confined {
        Confined::No => build.run_by(|command| supervised(command, log)),
        _ => build_inside(build, confined, log),
    };
    let why = match done {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("its build ended with {status}"),
        Err(why) => format!("its build failed: {why}"),
    };
    let said = tail(log).unwrap_or_default();
    let said: Vec<&str> = said.lines().rev().take(20).collect();
    let said: Vec<&str> = said.into_iter().rev().collect();
    Err(if said.is_empty() { why } else { format!("{why}; it said:\n{}", said.join("\n")) })
}

fn build_inside(build: &Build, confined: Confined, log: &Path) -> Result<ExitStatus, String> {
    let mut file = fs::File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let mut room = MOST_LOG * 64;
    build.run_inside(confined, &mut |bytes| {
        room = room.checked_sub(bytes.len() as u64).ok_or_else(|| io::Error::other(TOO_MUCH))?;
        file.write_all(bytes)
    })
}

/// The end of a file.
fn tail(file: &Path) -> io::Result<String> {
    use std::io::Seek as _;
    let mut open = fs::File::open(file)?;
    let length = open.metadata()?.len();
    open.seek(io::SeekFrom::Start(length.saturating_sub(MOST_LOG)))?;
    let mut bytes = Vec::new();
    open.take(MOST_LOG).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs a command in a group of its own, and ends that group when it takes too long or says too much.
fn supervised(command: &mut Command, log: &Path) -> io::Result<ExitStatus> {
    use std::os::unix::process::CommandExt as _;
    let file = fs::File::create(log)?;
    command.stdout(Stdio::from(file.try_clone()?)).stderr(Stdio::from(file)).process_group(0);
    let mut child = command.spawn()?;
    let until = Instant::now() + LONGEST_BUILD;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let too_much = fs::metadata(log).is_ok_and(|about| about.len() > MOST_LOG * 64);
        if Instant::now() >= until || too_much {
            let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
            if let Some(group) = group {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            child.wait()?;
            let why = if too_much { TOO_MUCH } else { "it took longer than 300 s" };
            return Err(io::Error::other(why));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
