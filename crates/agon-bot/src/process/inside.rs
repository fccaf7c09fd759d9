//! Bots in a sandbox: what a bot may have, and its life inside.
//!
//! `agon-sandbox` knows no bots; here a bot's command becomes the description of a confinement. A bot sees its files
//! at the same paths as outside, so that whatever it was built and installed with still finds its parts.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agon_sandbox::{
    Bounds, Confinement, Found, Launcher, Level, Means, Network, Order, Sandbox, ShownPath, StepRefusal,
    Wall, What, probe_with, walk,
};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::build::cache;
use crate::image::Image;
use crate::launch::Launch;
use crate::name::Confined;
use crate::paths::{is_systems, stays};
use crate::process::spawn::{self, StartedProcess};
use crate::process::{Excess, guard};
use crate::rights;
use crate::run::{Packages, Run};

mod cage;
mod ends;
mod needs;
mod spares;
mod strangers;
pub mod work;

pub use crate::paths::can_show;
pub use cage::Cage;
use cage::Changes;
pub use needs::{Needs, User};
use spares::Spares;
pub use strangers::{tell_by, tool as tool_of, unseen};

/// Folders of ours that lie where an author works, and are no part of a bot.
const OWN_FOLDERS: [&str; 3] = ["agon-replays", "agon-series", "agon-bots"];

/// How many sandboxes built ahead are kept at a time.
const MOST_SPARES: usize = 64;

/// What makes sandboxes; one per run.
struct Keeper {
    launcher: Launcher,
    found: Found,
    spares: Spares<Confinement, Sandbox>,
}

static KEEPER: OnceLock<Result<Keeper, String>> = OnceLock::new();
/// The CPUs sandboxes are built on; all of them when empty.
static BUILT_ON: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// The variable by which a test takes walls away, naming them.
const WITHOUT: &str = "AGON_SANDBOX_WITHOUT";

fn keeper() -> Result<&'static Keeper, String> {
    let make = || {
        let program = guard::program().ok_or("this process cannot make sandboxes")?;
        let means = Means::find();
        let launcher = Launcher::start(program, means)
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        launcher.build_on(BUILT_ON.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let mut found = probe_with(&launcher, program);
        found.withdraw(&std::env::var(WITHOUT).unwrap_or_default());
        Ok(Keeper { launcher, found, spares: Spares::new(MOST_SPARES) })
    };
    KEEPER.get_or_init(make).as_ref().map_err(Clone::clone)
}

/// How well this machine can hold a bot; found out once, by making a sandbox.
///
/// # Errors
/// A sentence, when it cannot be found out.
pub fn found() -> Result<&'static Found, String> {
    keeper().map(|keeper| &keeper.found)
}

/// From now on sandboxes are built on CPUs other than `matches`, on which matches are played, if there are any.
pub fn build_beside(matches: &[usize]) {
    let others = crate::sys::cpus_beside(matches);
    BUILT_ON.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&others);
    if let Some(Ok(keeper)) = KEEPER.get() {
        keeper.launcher.build_on(others);
    }
}

/// Shows a bot or a build the packages of its run.
fn add(packages: &Packages, confinement: &mut Confinement, variables: &mut BTreeMap<String, String>) {
    confinement.readable.extend(packages.places.iter().map(ShownPath::same));
    variables.extend(packages.variables.clone());
}

/// Where this program is seen beside an image, if its own place is one of the system's.
const OWN_PROGRAM: &str = "/agon";

/// Shows an image in place of this machine's system.
fn show(image: &Image, confinement: &mut Confinement, variables: &mut BTreeMap<String, String>) {
    let place = |inside: &PathBuf| Some(ShownPath { outside: image.real(inside)?, inside: inside.clone() });
    confinement.readable.extend(image.places.iter().filter_map(place));
    confinement.image = Some(image.root());
    let path: Vec<_> = image.path.iter().map(|folder| folder.to_string_lossy()).collect();
    variables.extend(image.variables.clone());
    variables.insert("PATH".to_owned(), path.join(":"));
}

/// Ends the sandboxes built ahead, and waits for those that are being ended. Any not ended here end with this program.
pub fn close() {
    ends::settle();
    if let Some(Ok(keeper)) = KEEPER.get() {
        keeper.spares.close();
    }
}

/// Why a bot does not start in a sandbox.
#[derive(Debug)]
pub enum StartTrouble {
    /// The same as outside: it is no program, or does not exist.
    Start(io::Error),
    /// Something it needs is not shown inside.
    Hidden(String),
    /// The sandbox cannot be made.
    Machine(String),
}

/// A bot's confinement and command.
struct Described {
    confinement: Confinement,
    order: Order,
    image: Option<Arc<Image>>,
    /// How its own folder is shown, if it may change it.
    changes: Option<Changes>,
    remarks: Vec<String>,
}

/// The usual limits of a bot, without the files that it needs.
pub fn limits() -> Confinement {
    Confinement { memory: 768 << 20, processes: 64, disk: 64 << 20, ..Confinement::default() }
}

/// The memory of each bot of a run, in bytes.
pub fn memory_of(run: &Run) -> u64 {
    run.memory.unwrap_or(limits().memory)
}

/// A bot's memory, in bytes: what its run gives to each, or less if its `agon.toml` says so.
fn memory(launch: &Launch) -> u64 {
    let given = memory_of(&launch.run);
    launch.memory.map_or(given, |wanted| wanted.min(given))
}

/// Of so many eighths of its memory a heap is told, so that there is room for the rest of the program.
const HEAP: u64 = 5;
/// All of a Go program, not only its heap, and no hard limit.
const WHOLE: u64 = 7;

/// What a runtime of a language is told of a bot's memory; none if it takes what there is.
pub fn told(language: &str, memory: u64) -> Option<u64> {
    let eighths = match language {
        "Java" | "JavaScript" | "TypeScript" | "Deno" | "C#" => HEAP,
        "Go" => WHOLE,
        _ => return None,
    };
    Some(memory / 8 * eighths)
}

/// Tells the runtimes that do not ask the system, or make too little of the answer, how large a heap may grow. None of these
/// prints anything.
fn tell_memory(memory: u64, order: &mut Order) {
    let heap = memory / 8 * HEAP;
    let is_java = order.program.file_name().is_some_and(|name| name == "java");
    let sets_heap =
        |word: &String| ["-Xmx", "-XX:MaxRAM", "-XX:MaxHeapSize"].iter().any(|set| word.starts_with(set));
    if is_java && !order.arguments.iter().any(sets_heap) {
        order.arguments.insert(0, format!("-Xmx{}m", heap >> 20));
    }
    for (name, value) in [
        ("NODE_OPTIONS", format!("--max-old-space-size={}", heap >> 20)),
        ("DENO_V8_FLAGS", format!("--max-old-space-size={}", heap >> 20)),
        ("DOTNET_GCHeapHardLimit", format!("{heap:#x}")),
        ("GOMEMLIMIT", (memory / 8 * WHOLE).to_string()),
    ] {
        order.variables.entry(name.to_owned()).or_insert(value);
    }
}

fn describe(launch: &Launch, seat: u8, cpus: &[usize], keeper: &Keeper) -> Result<Described, StartTrouble> {
    let user = User::own();
    let path = std::env::join_paths(&user.path).unwrap_or_default();
    let here = std::env::current_dir().map_err(StartTrouble::Start)?;
    let folder = launch.folder.clone().unwrap_or_else(|| here.clone());
    if !folder.is_dir() {
        return Err(StartTrouble::Start(io::ErrorKind::NotFound.into()));
    }
    let foreign = launch.confined == Confined::Foreign;
    let image = match foreign {
        true => {
            Some(strangers::image(launch, &user).map_err(|error| StartTrouble::Machine(error.to_string()))?)
        }
        false => None,
    };
    let mut program = match &image {
        Some(image) => strangers::program(&launch.program, &folder, image)
            .ok_or_else(|| StartTrouble::Hidden(strangers::refusal(Path::new(&launch.program))))?,
        None => folder.join(spawn::find(&launch.program, Some(&folder), &path)),
    };
    if !image.as_ref().is_some_and(|image| image.runs(&program)) {
        if !program.exists() {
            return Err(StartTrouble::Start(io::Error::from_raw_os_error(libc::ENOENT)));
        }
        if program.is_dir() || !crate::sys::may_execute(&program) {
            return Err(StartTrouble::Start(io::Error::from_raw_os_error(libc::EACCES)));
        }
    }
    let_through(&folder, &cache());
    let_through(program.parent().unwrap_or(&program), &cache());
    let mut needs = match &image {
        Some(_) => needs::of_strangers(launch, &user),
        None => needs::of(launch, &program, &user),
    };
    let mut confinement = Confinement { memory: memory(launch), ..limits() };
    let mut remarks = Vec::new();
    confinement.readable = needs.places.iter().map(ShownPath::same).collect();
    if let Some(image) = &image {
        show(image, &mut confinement, &mut needs.variables);
    }
    // Our own program, run on behalf of a bot: as its script engine, or as the doorkeeper of its seat.
    let known = guard::program().filter(|own| *own == program && !is_systems(own));
    if let Some(own) = known {
        confinement.readable.retain(|place| !own.starts_with(&place.outside));
        confinement.readable.push(ShownPath::same(own));
    } else if image.is_some() && guard::program() == Some(&*program) {
        // Where this program is one of the system's, the image has no place for it.
        confinement.readable.push(ShownPath { outside: program, inside: OWN_PROGRAM.into() });
        program = OWN_PROGRAM.into();
    }
    for place in launch.reads.iter().filter(|_| !foreign) {
        if !confinement.readable.iter().any(|shown| place.starts_with(&shown.outside)) {
            confinement.readable.push(ShownPath::same(place));
        }
    }
    let is_shared = user.shares(&folder);
    let own = launch.confined == Confined::Own && launch.folder.is_some();
    let is_its_own = !is_shared && (own || foreign && is_closed(&folder, keeper));
    let (mut changes, mut shows) = (None, false);
    if is_shared {
        remarks.push(format!(
            "{} is never shown to a bot as a whole, only the files that its command names; put the bot into a folder of its own",
            folder.display()
        ));
        for word in std::iter::once(&launch.program).chain(&launch.arguments) {
            let file = folder.join(word);
            if file.is_file() && !is_systems(&file) {
                confinement.readable.push(ShownPath::same(file));
            }
        }
    } else if !is_its_own {
        shows = true;
    } else if keeper.layers(&folder) {
        changes = own.then(|| Changes::Above(folder.clone()));
        let apart = OWN_FOLDERS.iter().map(|name| folder.join(name)).filter(|apart| apart.is_dir());
        confinement.hidden.extend(apart);
        confinement.layered.push(ShownPath::same(&folder));
    } else if own {
        let bounds = Bounds { bytes: confinement.disk, entries: confinement.files as usize };
        match File::open(&folder).and_then(|folder| walk(folder, bounds, false)) {
            Ok(before) => {
                changes = Some(Changes::InCopy(before));
                confinement.copied.push(ShownPath::same(&folder));
            }
            Err(_) => {
                remarks.push(format!(
                    "{} is larger than the {} MB that a bot may write, so the bot can read it but not change it",
                    folder.display(),
                    confinement.disk >> 20
                ));
                shows = true;
            }
        }
    } else {
        confinement.copied.push(ShownPath::same(&folder));
    }
    if shows && !is_systems(&folder) {
        confinement.readable.push(ShownPath::same(&folder));
    }
    let mut variables: BTreeMap<String, String> = needs.variables;
    add(&launch.run.packages, &mut confinement, &mut variables);
    // Only this user can read our modules: they are copied, after the bot's own folder.
    confinement.copied.extend(launch.shown.iter().map(ShownPath::same));
    let_through_shown(program.parent().unwrap_or(&program), &confinement.readable);
    // Outer places first, so that inner ones are mounted within them.
    confinement.readable.sort_by_key(|place| place.outside.components().count());
    confinement.readable.dedup();
    confinement.hide_what_is_shown();
    confinement.folder = if is_shared && confinement.readable.is_empty() { "/tmp".into() } else { folder };
    confinement.network = launch.dials_at.map_or(Network::None, Network::Port);
    variables.insert("AGON_SEAT".to_owned(), seat.to_string());
    variables.insert("PYTHONUNBUFFERED".to_owned(), "1".to_owned());
    variables.extend(launch.environment.iter().cloned());
    let text = |word: &std::ffi::OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            StartTrouble::Hidden(format!("the argument {} is not UTF-8", Path::new(word).display()))
        })
    };
    let arguments = launch.arguments.iter().map(text).collect::<Result<_, _>>()?;
    let mut order = Order { program, arguments, variables, cpus: cpus.to_vec() };
    tell_memory(confinement.memory, &mut order);
    Ok(Described { confinement, order, image, changes, remarks })
}

/// Begins to start a bot in a sandbox of its own; returns our ends of its pipes, the sandbox's first process, and the sandbox.
/// [`Cage::settle`] says whether it started.
///
/// # Errors
/// Why it does not start.
pub fn begin(launch: &Launch, seat: u8, cpus: &[usize]) -> Result<(StartedProcess, Cage), StartTrouble> {
    let keeper = keeper().map_err(StartTrouble::Machine)?;
    let Described { confinement, order, image, changes, remarks } = describe(launch, seat, cpus, keeper)?;
    let (level, walls) = &keeper.found.at_most(launch.level.unwrap_or(Level::A));
    if *level == Level::D || *level == Level::C && launch.confined == Confined::Foreign {
        return Err(StartTrouble::Machine(unfit(&keeper.found, "a stranger's bot")));
    }
    let machine = |refusal: StepRefusal| StartTrouble::Machine(refusal.to_string());
    let spare = if launch.level.is_some() { None } else { keeper.take(&confinement) };
    let sandbox = match spare {
        Some(sandbox) => sandbox,
        None => {
            let sandbox = keeper.launcher.prepare(&confinement, walls).map_err(machine)?;
            sandbox.ready().map_err(machine)?;
            sandbox
        }
    };
    let pid =
        sandbox.pid().ok_or_else(|| StartTrouble::Machine("the sandbox has no first process".to_owned()))?;
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|error| StartTrouble::Start(error.into()));
    let (input, output, error) = (pipe()?, pipe()?, pipe()?);
    let said = if launch.dials_in { &error.1 } else { &output.1 };
    sandbox.order(&order, [input.0.as_fd(), said.as_fd(), error.1.as_fd()]).map_err(machine)?;
    let cage = Cage {
        sandbox: Some(sandbox),
        level: *level,
        shares: keeper.found.shares && walls.contains(&Wall::Group),
        apart: walls.contains(&Wall::Namespaces),
        program: order.program,
        confinement,
        confined: launch.confined,
        image,
        run: Arc::clone(&launch.run),
        changes,
        remarks,
        exit: Cell::new(None),
        last: None,
        seat,
    };
    Ok((StartedProcess { pid, input: input.1, output: output.0, error: error.0 }, cage))
}

/// Whether a folder holds something only its owner can read: a bot that runs as a user of its own cannot. Such a
/// folder is shown as a copy, if it is small enough.
fn is_closed(folder: &Path, keeper: &Keeper) -> bool {
    static KNOWN: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
    if !keeper.found.own_users || !keeper.found.walls.contains(&Wall::Namespaces) {
        return false;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(folder) {
        return *known;
    }
    let own = limits();
    let bounds = Bounds { bytes: own.disk, entries: own.files as usize };
    let open = |mode: u32, is_folder: bool| mode & 0o004 != 0 && (!is_folder || mode & 0o001 != 0);
    let mode = |path: &Path| Some(std::os::unix::fs::MetadataExt::mode(&path.symlink_metadata().ok()?));
    let found = File::open(folder).and_then(|open| walk(open, bounds, false)).unwrap_or_default();
    let all = found.iter().filter(|entry| !matches!(entry.what, What::Link(_)));
    let closed = all.map(|entry| (folder.join(&entry.path), entry.what == What::Folder));
    let closed = !found.is_empty()
        && closed
            .chain([(folder.to_owned(), true)])
            .any(|(path, is_folder)| mode(&path).is_some_and(|mode| !open(mode, is_folder)));
    known.insert(folder.to_owned(), closed);
    closed
}

/// Makes sure that bots can reach their files in `inner`, below our private folder `top`. Where they have a root of their
/// own, these are shown to them. Without one (level C) they go the way that everybody goes: if they run as users of their
/// own, the folders on it must let others through.
pub fn let_through(inner: &Path, top: &Path) {
    open_way(inner, top, |keeper| !keeper.found.walls.contains(&Wall::Namespaces));
}

/// The same for our cache where it lies within a folder that is shown: what is in it is then shown, or copied, at the end of
/// the same way.
fn let_through_shown(inner: &Path, shown: &[ShownPath]) {
    let cache = cache();
    open_way(inner, &cache, |_| shown.iter().any(|place| cache.starts_with(&place.outside)));
}

fn open_way(inner: &Path, top: &Path, needed: impl Fn(&Keeper) -> bool) {
    if keeper().is_ok_and(|keeper| keeper.found.own_users && needed(keeper)) {
        for folder in inner.ancestors().take_while(|folder| folder.starts_with(top)) {
            // If that fails, the bot's own message says which file it could not read.
            let _ = rights::let_through(folder);
        }
    }
}

/// Why this machine cannot hold something well enough, and what to do.
fn unfit(found: &Found, what: &str) -> String {
    let fix = found
        .missing
        .first()
        .map_or_else(String::new, |missing| format!("; {}: {} ({})", missing.what, missing.fix, missing.why));
    format!(
        "this machine cannot contain {what} (level {}, {}){fix}; --sandbox off runs it with your rights",
        found.level,
        found.level.meaning()
    )
}

/// What a sandbox as a whole ran out of, by its counters.
fn excess_of(sandbox: &Sandbox, confinement: &Confinement) -> Option<Excess> {
    let charge = sandbox.charge().unwrap_or_default();
    if charge.killed > 0 {
        return Some(Excess::OutOfMemory(confinement.memory));
    }
    if charge.refused > 0 {
        return Some(Excess::NoMoreProcesses(confinement.processes));
    }
    sandbox.is_full().then_some(Excess::DiskFull(confinement.disk))
}

impl Keeper {
    /// Whether a folder can be shown below a layer that takes what a bot writes. Each file system is tried once.
    fn layers(&self, folder: &Path) -> bool {
        static KNOWN: Mutex<BTreeMap<u64, bool>> = Mutex::new(BTreeMap::new());
        let Ok(found) = std::fs::metadata(folder) else { return false };
        if !self.found.walls.contains(&Wall::Namespaces) {
            return false;
        }
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(std::os::unix::fs::MetadataExt::dev(&found)).or_insert_with(|| {
            let with = Confinement { layered: vec![ShownPath::same(folder)], ..limits() };
            let made = self.launcher.prepare(&with, &self.found.walls);
            made.and_then(|sandbox| sandbox.ready()).is_ok()
        })
    }

    /// A sandbox built ahead for this confinement; one that failed to build is dropped.
    fn take(&self, confinement: &Confinement) -> Option<Sandbox> {
        self.spares.take(confinement).filter(|sandbox| sandbox.ready().is_ok())
    }

    fn build_ahead(&self, confinement: &Confinement) {
        if !self.spares.is_closed()
            && let Ok(sandbox) = self.launcher.prepare(confinement, &self.found.walls)
        {
            self.spares.put(confinement.clone(), sandbox);
        }
    }
}

/// Why a program that exists outside does not start inside.
fn not_shown(program: &Path, confinement: &Confinement, why: &str, confined: Confined) -> String {
    let mut file = program.to_owned();
    for _ in 0..16 {
        let sees = is_systems(&file) || confinement.seen(&file, true).is_some();
        let leads_out = || !is_systems(&file) && !stays(&file, &confinement.folder);
        if confined == Confined::Foreign && (!sees || leads_out()) {
            return strangers::refusal(&file);
        }
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
        "`{}` cannot be run by the user that it runs as inside ({why}); chmod o+rX it and its folder",
        program.display()
    )
}

fn what_to_do(path: &Path) -> String {
    let place = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    format!("show it: [sandbox] read = [\"{}\"] in agon.toml, or play with --sandbox off", place.display())
}
