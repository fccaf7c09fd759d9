//! Bots in a sandbox: what a bot may have, and its life behind the walls.
//!
//! `agon-sandbox` knows no bots; here a bot's command becomes the description of a confinement. A bot sees its files
//! where they are outside, so that what it was built and installed with finds itself.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use agon_sandbox::{
    Bounds, Charge, Confinement, Entry, Exit, Found, Launcher, Level, Means, Network, Order, Place, Refusal,
    Sandbox, Wall, What, probe_with, walk,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;

use crate::guard;
use crate::launch::Launch;
use crate::spawn::{self, Started};
use crate::tree::Excess;

mod needs;

pub use needs::{Needs, User};

/// Whether a bot runs in a sandbox, and as whose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Confined {
    /// It runs with the rights of who started us.
    #[default]
    No,
    /// A bot of one's own: it may change a copy of its folder, sees its user's packages, and its `agon.toml` is
    /// believed.
    Own,
    /// A stranger's: it sees its folder, and the system.
    Foreign,
}

/// The names of files that a bot wrote are told up to this many.
const MOST_NAMED: usize = 8;
/// Bots built ahead at a time.
const MOST_SPARES: usize = 64;

/// What makes sandboxes, once a run.
struct Keeper {
    launcher: Launcher,
    found: Found,
    spares: Mutex<Vec<(Confinement, Sandbox)>>,
}

static KEEPER: OnceLock<Result<Keeper, String>> = OnceLock::new();
/// Whether the next sandbox of each bot is built while this one plays.
static AHEAD: AtomicBool = AtomicBool::new(false);
/// Where files go that bots wrote.
static KEPT: OnceLock<PathBuf> = OnceLock::new();
/// The walls that a test takes away, by the variable of its name.
const WITHOUT: &str = "AGON_SANDBOX_WITHOUT";

fn keeper() -> Result<&'static Keeper, String> {
    let make = || {
        let program = guard::program().ok_or("no program makes sandboxes here")?;
        let means = Means::find();
        let launcher = Launcher::start(program, means)
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let mut found = probe_with(&launcher, program);
        found.withdraw(&std::env::var(WITHOUT).unwrap_or_default());
        Ok(Keeper { launcher, found, spares: Mutex::new(Vec::new()) })
    };
    KEEPER.get_or_init(make).as_ref().map_err(Clone::clone)
}

/// How well this machine holds a bot; found out once, by making a sandbox.
///
/// # Errors
/// A sentence, when nothing can be found out.
pub fn found() -> Result<&'static Found, String> {
    keeper().map(|keeper| &keeper.found)
}

/// From now on the next sandbox of each bot is built while this one plays: for those who play many matches.
pub fn build_ahead() {
    AHEAD.store(true, Ordering::Relaxed);
}

/// Files that bots of one's own write in their folders are put into `folder`.
pub fn keep_files(folder: PathBuf) {
    let _ = KEPT.set(folder);
}

/// Ends what was built ahead. What is not ended here ends with this program.
pub fn close() {
    if let Some(Ok(keeper)) = KEEPER.get() {
        AHEAD.store(false, Ordering::Relaxed);
        drop(std::mem::take(&mut *keeper.spares.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

/// Why a bot does not start in a sandbox.
#[derive(Debug)]
pub enum Trouble {
    /// As outside: it is no program, or not there.
    Start(io::Error),
    /// Something of it is not shown inside.
    Hidden(String),
    /// The sandbox cannot be made.
    Machine(String),
}

/// A bot's description.
struct Described {
    confinement: Confinement,
    order: Order,
    /// What lay in the bot's folder, where that is copied.
    before: Option<Vec<Entry>>,
    remarks: Vec<String>,
}

/// What a bot may have, beside the files that it needs.
pub fn limits() -> Confinement {
    Confinement { memory: 256 << 20, processes: 64, disk: 64 << 20, ..Confinement::default() }
}

fn describe(launch: &Launch, seat: u8, cpus: &[usize]) -> Result<Described, Trouble> {
    let user = User::own();
    let path = std::env::join_paths(&user.path).unwrap_or_default();
    let here = std::env::current_dir().map_err(Trouble::Start)?;
    let folder = launch.folder.clone().unwrap_or_else(|| here.clone());
    if !folder.is_dir() {
        return Err(Trouble::Start(io::ErrorKind::NotFound.into()));
    }
    let program = folder.join(spawn::find(&launch.program, Some(&folder), &path));
    if !program.exists() {
        return Err(Trouble::Start(io::Error::from_raw_os_error(libc::ENOENT)));
    }
    if program.is_dir() || !crate::sys::may_execute(&program) {
        return Err(Trouble::Start(io::Error::from_raw_os_error(libc::EACCES)));
    }
    let foreign = launch.confined == Confined::Foreign;
    let needs = needs::of(launch, &program, foreign, &user);
    let mut confinement = limits();
    let mut remarks = Vec::new();
    confinement.readable = needs.places.iter().map(Place::same).collect();
    // What we run ourselves for a bot: the engine of its script, the doorkeeper of its seat.
    let known = guard::program().filter(|own| *own == program && !needs::is_systems(own));
    if let Some(own) = known {
        confinement.readable.retain(|place| !own.starts_with(&place.outside));
        confinement.readable.push(Place::same(own));
    }
    for place in launch.reads.iter().filter(|_| !foreign) {
        if !confinement.readable.iter().any(|shown| place.starts_with(&shown.outside)) {
            confinement.readable.push(Place::same(place));
        }
    }
    let (mut before, mut copied) = (Vec::new(), false);
    let home = user.home.as_deref();
    let is_home = home.is_some_and(|home| home.starts_with(&folder)) || folder.parent().is_none();
    if is_home {
        remarks.push(format!(
            "{} is shown to no bot as a whole, only the files that its command names; put the bot into a folder of its own",
            folder.display()
        ));
        for word in std::iter::once(&launch.program).chain(&launch.arguments) {
            let file = folder.join(word);
            if file.is_file() && !needs::is_systems(&file) {
                confinement.readable.push(Place::same(file));
            }
        }
    } else if launch.confined == Confined::Own && launch.folder.is_some() {
        let bounds = Bounds { bytes: confinement.disk, entries: confinement.files as usize };
        match File::open(&folder).and_then(|folder| walk(folder, bounds, false)) {
            Ok(found) => (before, copied) = (found, true),
            Err(_) => remarks.push(format!(
                "{} is larger than the {} MB that a bot may write, so that the bot reads it and cannot change it",
                folder.display(),
                confinement.disk >> 20
            )),
        }
    }
    if copied {
        confinement.copied.push(Place::same(&folder));
    } else if !is_home && !needs::is_systems(&folder) {
        confinement.readable.push(Place::same(&folder));
    }
    // Modules of ours lie where only this user reads: they are copied, behind the bot's own folder.
    confinement.copied.extend(launch.shown.iter().map(Place::same));
    // Outer places first: an inner one is shown within.
    confinement.readable.sort_by_key(|place| place.outside.components().count());
    confinement.readable.dedup();
    confinement.folder = if is_home && confinement.readable.is_empty() { "/tmp".into() } else { folder };
    confinement.network = launch.dials_at.map_or(Network::None, Network::Port);
    let mut variables: BTreeMap<String, String> = needs.variables;
    variables.insert("AGON_SEAT".to_owned(), seat.to_string());
    variables.insert("PYTHONUNBUFFERED".to_owned(), "1".to_owned());
    variables.extend(launch.environment.iter().cloned());
    let text = |word: &std::ffi::OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            Trouble::Hidden(format!("the argument {} is not UTF-8", Path::new(word).display()))
        })
    };
    let arguments = launch.arguments.iter().map(text).collect::<Result<_, _>>()?;
    let order = Order { program, arguments, variables, cpus: cpus.to_vec() };
    Ok(Described { confinement, order, before: copied.then_some(before), remarks })
}

/// Starts a bot in a sandbox of its own; gives our ends of its pipes, its first process, and the sandbox.
///
/// # Errors
/// Why it does not start.
pub fn start(launch: &Launch, seat: u8, cpus: &[usize]) -> Result<(Started, Cage), Trouble> {
    let Described { confinement, order, before, remarks } = describe(launch, seat, cpus)?;
    let keeper = keeper().map_err(Trouble::Machine)?;
    let Found { level, walls, .. } = &keeper.found;
    if *level == Level::D || *level == Level::C && launch.confined == Confined::Foreign {
        let fix = keeper.found.missing.first().map_or_else(String::new, |missing| {
            format!("; {}: {} ({})", missing.what, missing.fix, missing.why)
        });
        return Err(Trouble::Machine(format!(
            "this machine cannot hold a stranger's bot (level {level}, {}){fix}; --sandbox off runs it with your rights",
            level.meaning()
        )));
    }
    let machine = |refusal: Refusal| Trouble::Machine(refusal.to_string());
    let spare = keeper.take(&confinement);
    let sandbox = match spare {
        Some(sandbox) => sandbox,
        None => {
            let sandbox = keeper.launcher.prepare(&confinement, walls).map_err(machine)?;
            sandbox.ready().map_err(machine)?;
            sandbox
        }
    };
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|error| Trouble::Start(error.into()));
    let (input, output, error) = (pipe()?, pipe()?, pipe()?);
    let said = if launch.dials_in { &error.1 } else { &output.1 };
    let begun = sandbox.run(&order, [input.0.as_fd(), said.as_fd(), error.1.as_fd()]);
    begun.map_err(|refusal| match refusal.errno {
        libc::ENOENT | libc::EACCES => Trouble::Hidden(not_shown(&order.program, &confinement)),
        libc::ENOEXEC => Trouble::Start(io::Error::from_raw_os_error(libc::ENOEXEC)),
        _ => machine(refusal),
    })?;
    // Of one that has ended already, the first process of its sandbox stands for it.
    let pid = sandbox.program().unwrap_or_else(|| sandbox.pid());
    if AHEAD.load(Ordering::Relaxed) {
        keeper.build_ahead(&confinement);
    }
    let own = launch.confined == Confined::Own;
    let apart = walls.contains(&Wall::Namespaces);
    let cage = Cage {
        sandbox: Some(sandbox),
        level: *level,
        apart,
        confinement,
        own,
        before,
        remarks,
        exit: Cell::new(None),
        seat,
    };
    Ok((Started { pid, input: input.1, output: output.0, error: error.0 }, cage))
}

impl Keeper {
    fn spares(&self) -> std::sync::MutexGuard<'_, Vec<(Confinement, Sandbox)>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A sandbox that was built ahead for this; one that could not be built is forgotten.
    fn take(&self, confinement: &Confinement) -> Option<Sandbox> {
        let place = self.spares().iter().position(|(own, _)| own == confinement)?;
        let (_, sandbox) = self.spares().swap_remove(place);
        sandbox.ready().is_ok().then_some(sandbox)
    }

    fn build_ahead(&self, confinement: &Confinement) {
        if self.spares().len() < MOST_SPARES
            && let Ok(sandbox) = self.launcher.prepare(confinement, &self.found.walls)
        {
            self.spares().push((confinement.clone(), sandbox));
        }
    }
}

/// What keeps a program from starting that is there outside.
fn not_shown(program: &Path, confinement: &Confinement) -> String {
    let mut file = program.to_owned();
    for _ in 0..16 {
        let sees = needs::is_systems(&file) || confinement.seen(&file, true).is_some();
        if !sees || !file.exists() {
            return format!("`{}` is not shown in the sandbox; {}", file.display(), what_to_do(&file));
        }
        let line = crate::launch::first_line(&file);
        let next = line.and_then(|line| Some(PathBuf::from(line.split_whitespace().next()?)));
        match next.or_else(|| std::fs::read_link(&file).ok()) {
            Some(next) => file = file.parent().unwrap_or(Path::new("/")).join(next),
            None => break,
        }
    }
    format!(
        "`{}` may not be read by the user that it runs as inside; chmod o+rX it and its folder",
        program.display()
    )
}

fn what_to_do(path: &Path) -> String {
    let place = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    format!("show it: [sandbox] read = [\"{}\"] in agon.toml, or play with --sandbox off", place.display())
}

/// A bot's sandbox, while it lives.
pub struct Cage {
    sandbox: Option<Sandbox>,
    level: Level,
    apart: bool,
    confinement: Confinement,
    own: bool,
    /// What lay in its folder, where it has a copy of that.
    before: Option<Vec<Entry>>,
    remarks: Vec<String>,
    exit: Cell<Option<Exit>>,
    seat: u8,
}

impl Cage {
    /// How well it holds.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The trusted process above the bot's.
    pub fn init(&self) -> Option<Pid> {
        self.sandbox.as_ref().map(Sandbox::pid)
    }

    /// What it may have.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Where the bot dials in.
    pub fn listener(&self) -> Option<OwnedFd> {
        self.sandbox.as_ref()?.listener()
    }

    /// How the first process ended; none while it runs.
    pub fn exit(&self, patience: Duration) -> Option<Exit> {
        if let Some(exit) = self.exit.get() {
            return Some(exit);
        }
        let sandbox = self.sandbox.as_ref()?;
        let killed = Exit { code: 128 + libc::SIGKILL, signal: Some(libc::SIGKILL), cpu: Duration::ZERO };
        let exit = sandbox.wait(patience).or_else(|| sandbox.is_over().then_some(killed));
        self.exit.set(exit);
        exit
    }

    /// The same as the system writes it.
    pub fn status(&self) -> Option<ExitStatus> {
        let exit = self.exit(Duration::ZERO)?;
        Some(ExitStatus::from_raw(exit.signal.unwrap_or(exit.code << 8)))
    }

    /// What all its processes had.
    pub fn charge(&self) -> Option<Charge> {
        self.sandbox.as_ref()?.charge()
    }

    /// What it ran out of, as the counters say.
    pub fn excess(&self) -> Option<Excess> {
        let sandbox = self.sandbox.as_ref()?;
        let charge = sandbox.charge().unwrap_or_default();
        if charge.killed > 0 {
            return Some(Excess::OutOfMemory(self.confinement.memory));
        }
        if charge.refused > 0 {
            return Some(Excess::NoMoreProcesses(self.confinement.processes));
        }
        sandbox.is_full().then_some(Excess::DiskFull(self.confinement.disk))
    }

    /// Stops all of it, and waits until it stands, or lets it go on. Whether there is something to do it with.
    pub fn freeze(&self, stop: bool) -> bool {
        self.sandbox.as_ref().is_some_and(|sandbox| sandbox.freeze(stop).is_ok())
    }

    /// A path that a bot wrote of when it ended and that is there outside but not inside. Strangers are told nothing.
    pub fn hidden(&self, said: &[u8]) -> Option<String> {
        if !self.own {
            return None;
        }
        let text = String::from_utf8_lossy(&said[said.len().saturating_sub(8 << 10)..]).into_owned();
        let between = |letter: char| letter.is_whitespace() || "\"'`:,()[]".contains(letter);
        let paths = text.split(between).filter(|word| word.starts_with('/')).map(Path::new);
        let missing = paths.take(64).find(|path| {
            let apart = ["/tmp", "/proc", "/dev"].iter().any(|own| path.starts_with(own));
            let seen = needs::is_systems(path) || self.confinement.seen(path, self.apart).is_some();
            !apart && !seen && path.exists()
        })?;
        Some(format!("`{}` is not shown in the sandbox; {}", missing.display(), what_to_do(missing)))
    }

    /// Ends all of it. What it used, and what is worth a word.
    pub fn end(&mut self) -> (Option<Charge>, Vec<String>) {
        let mut remarks = std::mem::take(&mut self.remarks);
        let Some(sandbox) = self.sandbox.take() else { return (None, remarks) };
        let charge = sandbox.charge();
        if let Some(before) = &self.before {
            remarks.extend(self.what_it_wrote(before, &sandbox));
        }
        if let Err(left) = sandbox.end() {
            LEFT.fetch_add(left.left, Ordering::Relaxed);
            let alarm = format!("seat {}: {left}", self.seat);
            eprintln!("alarm: {alarm}");
            remarks.push(alarm);
        }
        (charge, remarks)
    }

    /// The files that are new or different in the copy of its folder; they are kept where that is wanted.
    fn what_it_wrote(&self, before: &[Entry], sandbox: &Sandbox) -> Option<String> {
        let wanted = KEPT.get();
        let room = 2 * self.confinement.disk + (64 << 20);
        let bounds = Bounds { bytes: room, entries: 2 * self.confinement.files as usize + 64 };
        let found = walk(sandbox.copy(0)?, bounds, wanted.is_some()).ok()?;
        let known: BTreeMap<&Path, &Entry> = before.iter().map(|entry| (&*entry.path, entry)).collect();
        let is_new = |entry: &&Entry| {
            let before = known.get(&*entry.path);
            // What Python compiles for itself is nobody's work.
            let compiled = entry.path.extension().is_some_and(|ending| ending == "pyc");
            let is_file = matches!(entry.what, What::File(_)) && !compiled;
            is_file && before.is_none_or(|old| (old.size, old.changed) != (entry.size, entry.changed))
        };
        let new: Vec<&Entry> = found.iter().filter(is_new).collect();
        if new.is_empty() {
            return None;
        }
        let named = new.iter().take(MOST_NAMED).map(|entry| entry.path.display().to_string());
        let mut list = named.collect::<Vec<_>>().join(", ");
        if new.len() > MOST_NAMED {
            list.push_str(&format!(" and {} more", new.len() - MOST_NAMED));
        }
        let files = if new.len() == 1 { "a file" } else { "files" };
        let done = match wanted {
            None => "gone, as it was a copy; --keep-files FOLDER keeps them".to_owned(),
            Some(folder) => match self.keep(folder, &new) {
                Ok(place) => format!("kept in {}", place.display()),
                Err(error) => format!("they could not be kept in {}: {error}", folder.display()),
            },
        };
        Some(format!("seat {} wrote {files} in its folder: {list} ({done})", self.seat))
    }

    /// Puts files into a new folder. Their names are paths below it: the walk made them of names.
    fn keep(&self, folder: &Path, files: &[&Entry]) -> io::Result<PathBuf> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        std::fs::create_dir_all(folder)?;
        let place = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let place = folder.join(format!("{number}-seat-{}", self.seat));
            match std::fs::create_dir(&place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => break done.map(|()| place)?,
            }
        };
        for file in files {
            if let Some(parent) = file.path.parent() {
                std::fs::create_dir_all(place.join(parent))?;
            }
            file.write(&place, None)?;
        }
        Ok(place)
    }
}

/// Processes that outlived their sandboxes, in this run.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// How many processes have outlived their sandboxes in this run: none, unless a wall is broken.
pub fn left_behind() -> usize {
    LEFT.load(Ordering::Relaxed)
}
