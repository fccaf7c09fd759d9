//! From the init to the program: a process that puts up the last walls around itself, then becomes the program.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::confinement::{Confinement, Wall};
use crate::filter::{self, Shape};
use crate::landlock::Rules;
use crate::machine::Questions;
use crate::message::{self, Order, Plan, Step as _, StepRefusal};
use crate::record::CallRecorder;
use crate::root;
use crate::spawner::IGNORED;
use crate::sys::{self, Arg};

/// A program that was started.
pub struct Started {
    pub program: Pid,
    /// Becomes readable when a child ends.
    pub signal: OwnedFd,
    /// What it asks us, if the kernel lets it.
    pub questions: Option<Questions>,
}

/// Starts the program.
pub fn start(
    plan: &Plan,
    order: &Order,
    stdio: Vec<OwnedFd>,
    rules: Option<&Rules>,
    record: Option<File>,
) -> Result<Started, StepRefusal> {
    let stdio: [OwnedFd; 3] = stdio
        .try_into()
        .map_err(|_| StepRefusal::new("input, output and errors", std::io::ErrorKind::InvalidInput))?;
    let signal = sys::children_signal().step("hearing of children")?;
    let flags = SocketFlags::CLOEXEC;
    let (told, tell) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).step("hearing of its start")?;
    let become_it = || {
        let refusal = become_program(plan, order, &stdio, rules, &tell);
        let _ = message::send(&tell, &Some(refusal), &[]);
        127
    };
    let program = sys::start_sharing(become_it).step("a process for the program")?;
    drop((stdio, tell));
    let mut recorder = record.map(|file| CallRecorder::new(filter::program(shape(plan)), file));
    let mut questions = None;
    // Its end of this closes by itself when it has become the program.
    while let Some((refusal, mut with)) =
        message::receive::<Option<StepRefusal>>(&told).step("the program")?
    {
        match refusal {
            Some(refusal) => return Err(refusal),
            None => {
                let memory = plan.confinement.memory;
                questions = with.pop().map(|listener| Questions::new(listener, memory, recorder.take()));
            }
        }
    }
    Ok(Started { program, signal, questions })
}

/// Puts up the last walls around this process, which has its own descriptors but shares memory, and becomes the
/// program. Returns only on failure.
fn become_program(
    plan: &Plan,
    order: &Order,
    stdio: &[OwnedFd; 3],
    rules: Option<&Rules>,
    tell: &OwnedFd,
) -> StepRefusal {
    let ready = texts(plan, order).and_then(|texts| {
        prepare(plan, order, stdio, rules, tell)?;
        Ok(texts)
    });
    match ready {
        Err(refusal) => refusal,
        Ok(Texts { programs, arguments, variables }) => {
            let error = execute(&programs, arguments, &variables);
            // For a missing loader or interpreter, the system claims that the program does not exist.
            let mut refusal = StepRefusal::running(&order.program, error);
            if refusal.errno == libc::ENOENT && std::fs::symlink_metadata(&order.program).is_ok() {
                refusal.why = "what runs it, its loader or interpreter, is not there".to_owned();
            }
            refusal
        }
    }
}

/// What a program is started with, in the kernel's form.
struct Texts {
    /// Candidate paths: one, or one for each folder of its `PATH`.
    programs: Vec<CString>,
    /// The first is its name.
    arguments: Vec<CString>,
    variables: Vec<CString>,
}

fn texts(plan: &Plan, order: &Order) -> Result<Texts, StepRefusal> {
    let text = |words: &OsStr| {
        CString::new(words.as_bytes()).map_err(|error| StepRefusal::running(&order.program, error.into()))
    };
    let home = if plan.has(Wall::Namespaces) { Path::new("/tmp") } else { &plan.home };
    let mut variables: BTreeMap<OsString, OsString> = BTreeMap::new();
    if !plan.has(Wall::Environment) {
        variables.extend(std::env::vars_os());
    }
    let own = plan.confinement.environment(home).into_iter().chain(order.variables.clone());
    variables.extend(own.map(|(name, value)| (name.into(), value.into())));
    let program = &order.program;
    let programs = match variables.get(OsStr::new("PATH")) {
        Some(path) if program.components().count() == 1 && !program.is_absolute() => {
            std::env::split_paths(path).map(|folder| text(folder.join(program).as_os_str())).collect()
        }
        _ => text(program.as_os_str()).map(|program| vec![program]),
    };
    let assigned = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        text(&name)
    };
    let arguments = order.arguments.iter().map(OsStr::new);
    Ok(Texts {
        programs: programs?,
        arguments: [program.as_os_str()].into_iter().chain(arguments).map(text).collect::<Result<_, _>>()?,
        variables: variables.into_iter().map(assigned).collect::<Result<_, _>>()?,
    })
}

/// Becomes the first of these that is a program. Returns only on failure.
fn execute(programs: &[CString], mut arguments: Vec<CString>, variables: &[CString]) -> std::io::Error {
    let mut reason = std::io::Error::from_raw_os_error(libc::ENOENT);
    for program in programs {
        let error = sys::execute(program, &arguments, variables);
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) => {}
            Some(libc::EACCES) => reason = error,
            // A file of commands that names no interpreter is run by the shell.
            Some(libc::ENOEXEC) => {
                arguments.splice(..1, [c"/bin/sh".to_owned(), program.clone()]);
                return sys::execute(c"/bin/sh", &arguments, variables);
            }
            _ => return error,
        }
    }
    reason
}

fn prepare(
    plan: &Plan,
    order: &Order,
    [input, output, error]: &[OwnedFd; 3],
    rules: Option<&Rules>,
    tell: &OwnedFd,
) -> Result<(), StepRefusal> {
    let confinement = &plan.confinement;
    let apart = plan.has(Wall::Namespaces);
    sys::ordinary_signals(IGNORED);
    rustix::stdio::dup2_stdin(input).step("its input")?;
    rustix::stdio::dup2_stdout(output).step("its output")?;
    rustix::stdio::dup2_stderr(error).step("its errors")?;
    rustix::process::setsid().step("a session of its own")?;
    let folder =
        if apart || confinement.folder != Path::new("/tmp") { &confinement.folder } else { &plan.home };
    rustix::process::chdir(folder).step("its folder")?;
    if plan.has(Wall::Limits) {
        limits(plan)?;
    }
    if order.cpus != plan.cpus {
        stay_on(&order.cpus);
    }
    capabilities(plan)?;
    if !apart {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).step("ending with its init")?;
    }
    rustix::thread::set_no_new_privs(true).step("no new privileges")?;
    if plan.has(Wall::Landlock) {
        // Without its own root, `/proc/self` is this process.
        let own = if apart { None } else { allowed(plan)? };
        if let Some(rules) = rules.or(own.as_ref()) {
            rules.enforce().step("Landlock")?;
        }
    }
    if plan.has(Wall::Descriptors) {
        // What reports a failure closes by itself when the program starts.
        close_all_but(&[Some(tell.as_fd())]).step("closing what is not its own")?;
    } else {
        open_up();
    }
    if plan.has(Wall::Filter) {
        let mut program = filter::program(shape(plan));
        if let Some(record) = &plan.record {
            program = filter::asking(&program, record.all);
        }
        match sys::install_asking_filter(&program) {
            Ok(listener) => message::send(tell, &None::<StepRefusal>, &[listener.as_fd()]),
            // Only one listener is possible, and what this machine itself runs in may have it: the kernel answers then.
            Err(_) => sys::install_filter(&filter::program(Shape { asks: false, ..shape(plan) })),
        }
        .step("the filter of system calls")?;
    }
    Ok(())
}

/// The filter of the program.
fn shape(plan: &Plan) -> Shape {
    let strict = !plan.has(Wall::Group) || plan.group.is_none();
    Shape { sockets: plan.confinement.network.has_sockets(), strict, asks: true }
}

/// For a control: a descriptor inherited by the program by mistake.
fn open_up() {
    if let Ok(second) = rustix::io::dup(rustix::stdio::stdin()) {
        std::mem::forget(second);
    }
}

/// What Landlock allows the program.
pub fn allowed(plan: &Plan) -> Result<Option<Rules>, StepRefusal> {
    let (confinement, apart) = (&plan.confinement, plan.has(Wall::Namespaces));
    let home = if apart { Path::new("/tmp") } else { &plan.home };
    let network = confinement.network.has_sockets();
    // All that is in a root of its own is shown to it.
    let listable = apart.then_some(Path::new("/"));
    Rules::new(readable(confinement, apart), writable(confinement, apart, home), network, listable)
        .step("Landlock")
}

/// What Landlock lets the program read.
fn readable(confinement: &Confinement, apart: bool) -> Vec<PathBuf> {
    // If the system has merged its folders, the others are links into the first.
    let is_link =
        |path: &&str| std::fs::read_link(path).is_ok_and(|to| Path::new("/").join(to).starts_with("/usr"));
    let system = root::SYSTEM.iter().filter(|path| !is_link(path)).map(PathBuf::from);
    let settings: Vec<PathBuf> = match apart {
        true => vec!["/dev".into(), "/etc".into(), "/proc".into(), "/tmp".into()],
        false => root::SETTINGS.iter().map(PathBuf::from).chain(["/proc/self".into()]).collect(),
    };
    let own = confinement.readable.iter().chain(&confinement.copied).chain(&confinement.layered);
    let own = own.map(|place| if apart { &place.inside } else { &place.outside });
    system.chain(settings).chain(own.cloned()).collect()
}

/// What Landlock lets it change.
fn writable(confinement: &Confinement, apart: bool, home: &Path) -> Vec<PathBuf> {
    let copied = confinement.copied.iter().chain(&confinement.layered).filter(|_| apart);
    let own = confinement.writable.iter().chain(copied);
    let own = own.map(|place| if apart { &place.inside } else { &place.outside });
    root::DEVICES.iter().map(PathBuf::from).chain(own.cloned()).chain([home.to_owned()]).collect()
}

fn limits(plan: &Plan) -> Result<(), StepRefusal> {
    let confinement = &plan.confinement;
    let counted = plan.has(Wall::Group) && plan.group.is_some();
    let mut limits = vec![
        (Resource::Nofile, confinement.descriptors),
        (Resource::Fsize, confinement.disk),
        (Resource::Core, 0),
        (Resource::Memlock, 64 << 10),
        (Resource::Sigpending, 256),
        (Resource::Msgqueue, 0),
        (Resource::Rtprio, 0),
        (Resource::Nice, 0),
        // Applies to every thread, too.
        (Resource::Stack, 8 << 20),
    ];
    limits.extend(confinement.cpu.map(|seconds| (Resource::Cpu, seconds)));
    if plan.user.is_some() || plan.has(Wall::Namespaces) {
        // Counted per user in its namespace. Elsewhere all of the user's other programs would count.
        limits.push((Resource::Nproc, u64::from(confinement.processes) + 1));
    }
    if !counted {
        limits.push((Resource::Data, confinement.memory));
        limits.push((Resource::As, 64 << 30));
    }
    for (resource, most) in limits {
        let own = rustix::process::getrlimit(resource).maximum;
        let most = Some(own.map_or(most, |own| own.min(most)));
        rustix::process::setrlimit(resource, Rlimit { current: most, maximum: most }).step("limits")?;
    }
    Ok(())
}

/// Gives up all rights over the machine and becomes the program's user.
fn capabilities(plan: &Plan) -> Result<(), StepRefusal> {
    let kept = !plan.has(Wall::Capabilities);
    let apart = plan.has(Wall::Namespaces);
    if kept && apart {
        // For a control: all rights in its own namespaces, even if they have no user 0.
        return keep_capabilities().step("keeping capabilities");
    }
    match plan.user {
        Some(_) if apart => become_user(root::INSIDE).step("the program's user")?,
        Some(user) => become_user(user + 1).step("the program's user")?,
        None => {}
    }
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, none).step("no capabilities")
}

/// Lets the program inherit this process's rights in its namespaces.
fn keep_capabilities() -> rustix::io::Result<()> {
    let own = rustix::thread::capabilities(None)?;
    rustix::thread::set_capabilities(None, CapabilitySets { inheritable: own.permitted, ..own })?;
    for number in 0..64 {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if own.permitted.contains(one)
            && rustix::thread::configure_capability_in_ambient_set(one, true).is_err()
        {
            break;
        }
    }
    Ok(())
}

/// Pins this process to some CPUs; to all if the list is empty.
pub fn stay_on(cpus: &[usize]) {
    let mut set = rustix::thread::CpuSet::new();
    let all = 0..rustix::thread::CpuSet::MAX_CPU;
    all.filter(|cpu| cpus.is_empty() || cpus.contains(cpu)).for_each(|cpu| set.set(cpu));
    // A CPU that went away must not prevent the run.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

/// Becomes a user, with the group of the same number.
pub fn become_user(id: u32) -> rustix::io::Result<()> {
    let (user, group) = (rustix::fs::Uid::from_raw(id), rustix::fs::Gid::from_raw(id));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)
}

/// Closes all descriptors from `3` on, except these.
pub fn close_all_but(kept: &[Option<BorrowedFd<'_>>]) -> std::io::Result<()> {
    let range = |from: u32, to: u32| {
        if from > to {
            return Ok(());
        }
        let arguments = &mut [Arg::Int(from.into()), Arg::Int(to.into()), Arg::Int(0)];
        sys::call(libc::SYS_close_range, arguments).map(|_| ())
    };
    let mut kept: Vec<u32> = kept.iter().flatten().map(|kept| kept.as_raw_fd() as u32).collect();
    kept.sort_unstable();
    let mut from = 3;
    for kept in kept {
        range(from, kept.saturating_sub(1))?;
        from = kept + 1;
    }
    range(from, u32::MAX)
}
