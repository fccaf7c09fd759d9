//! The first process of a sandbox: trusted, and the one with whose end everything in it ends. It builds the walls,
//! waits for the order, starts the program behind the last of them, and buries what dies.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::confinement::{Confinement, Network, Wall};
use crate::filter::{self, Shape};
use crate::landlock;
use crate::message::{self, Order, Plan, Refusal, Report, Step as _};
use crate::root::{self, Trees};
use crate::sys::{self, Arg, Forked, Reaped};

/// The init's whole life, in the namespaces it was born into.
pub fn live(plan: &Plan, trees: Option<Trees>, control: OwnedFd) {
    let ready = build(plan, trees, &control).and_then(|listener| Ok((folders(plan)?, listener)));
    let said = match &ready {
        Ok((folders, listener)) => {
            let all: Vec<_> = folders.iter().chain(listener).map(|given| given.as_fd()).collect();
            message::send(&control, &Report::Ready { listens: listener.is_some() }, &all)
        }
        Err(refusal) => message::send(&control, &Report::Refused(refusal.clone()), &[]),
    };
    if ready.is_err() || said.is_err() {
        return;
    }
    // The host has them now.
    drop(ready);
    let Ok(Some((order, stdio))) = message::receive::<Order>(&control) else { return };
    match start(plan, &order, stdio) {
        Err(refusal) => {
            let _ = message::send(&control, &Report::Refused(refusal), &[]);
        }
        Ok((program, signal)) => {
            if message::send(&control, &Report::Started, &[]).is_ok() {
                bury(program, &signal, &control);
            }
        }
    }
    if !plan.has(Wall::Namespaces) && plan.has(Wall::End) {
        // Nothing dies by itself with this process: its orphans came to it, and are ended one by one.
        end_children(plan);
    }
}

/// Handles of the folders in memory that the host may look into: `/tmp`, then those that were copied.
fn folders(plan: &Plan) -> Result<Vec<OwnedFd>, Refusal> {
    if !plan.has(Wall::Namespaces) {
        return Ok(Vec::new());
    }
    let copied = plan.confinement.copied.iter().map(|place| place.inside.as_path());
    let open = |path: &Path| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).step("the folders in memory")
    };
    std::iter::once(Path::new("/tmp")).chain(copied).map(open).collect()
}

/// Builds everything that the program does not have to do itself; the listener where it dials in.
fn build(plan: &Plan, trees: Option<Trees>, control: &OwnedFd) -> Result<Option<OwnedFd>, Refusal> {
    let mut listener = None;
    // The first to go when the machine itself runs out of memory.
    let _ = std::fs::write("/proc/self/oom_score_adj", "800");
    sys::ordinary_signals();
    sys::ignore_signal(libc::SIGPIPE);
    rustix::process::setsid().step("a session of its own")?;
    if plan.has(Wall::Namespaces) {
        if plan.user.is_some() {
            become_user(0).step("the init's user")?;
        }
        if plan.has(Wall::Group) && plan.group.is_some() {
            sys::call(libc::SYS_unshare, &mut [Arg::Int(libc::CLONE_NEWCGROUP.into())])
                .step("a namespace of cgroups")?;
        }
        rustix::system::sethostname(b"bot").step("a name of the machine")?;
        if plan.confinement.network.has_sockets() {
            loopback_up().step("a loopback of its own")?;
        }
        if let Network::Port(port) = plan.confinement.network {
            listener = Some(listen(port).step("the way to the referee")?);
        }
        root::enter(&plan.confinement, trees)?;
    } else if plan.has(Wall::End) {
        let own = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(own)).step("taking in orphans")?;
    }
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).step("hiding the init")?;
    if plan.has(Wall::End) || !plan.has(Wall::Namespaces) {
        // Only now: a change of users would clear it.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .step("ending with the spawner")?;
    }
    // Nothing of the spawner's stays open but the connection with the host.
    close_all_but(&[Some(control), listener.as_ref()]).step("closing what is not needed")?;
    Ok(listener)
}

/// Listens at a port of this network, where nobody dials in but what will run here.
fn listen(port: u16) -> rustix::io::Result<OwnedFd> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, port))?;
    listen(&socket, 64)?;
    Ok(socket)
}

fn become_user(id: u32) -> rustix::io::Result<()> {
    let (user, group) = (rustix::fs::Uid::from_raw(id), rustix::fs::Gid::from_raw(id));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)
}

/// Closes everything from `3` on but these descriptors.
fn close_all_but(kept: &[Option<&OwnedFd>]) -> std::io::Result<()> {
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

/// Brings up the loopback device of this network.
fn loopback_up() -> std::io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // `struct ifreq`: sixteen bytes of name, then the flags.
    let mut request = [0_u8; 40];
    request[..2].copy_from_slice(b"lo");
    request[16..18].copy_from_slice(&(libc::IFF_UP as u16).to_ne_bytes());
    let arguments =
        &mut [Arg::Int(any.as_raw_fd().into()), Arg::Int(libc::SIOCSIFFLAGS as i64), Arg::In(&request)];
    sys::call(libc::SYS_ioctl, arguments).map(|_| ())
}

/// Forks the program; gives it and what tells of ended children.
fn start(plan: &Plan, order: &Order, stdio: Vec<OwnedFd>) -> Result<(Pid, OwnedFd), Refusal> {
    let [input, output, error]: [OwnedFd; 3] = stdio
        .try_into()
        .map_err(|_| Refusal::new("input, output and errors", std::io::ErrorKind::InvalidInput))?;
    let signal = sys::children_signal().step("hearing of children")?;
    let (failed, fail) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).step("a pipe")?;
    match sys::fork().step("a process for the program")? {
        Forked::Child => {
            drop(failed);
            let refusal = become_program(plan, order, [input, output, error], &fail);
            let text = serde_json::to_vec(&refusal).unwrap_or_default();
            let _ = rustix::io::write(&fail, &text);
            sys::leave(127)
        }
        Forked::Parent(program, _) => {
            drop(fail);
            let mut text = [0; 4096];
            match rustix::io::read(&failed, &mut text) {
                Ok(0) => Ok((program, signal)),
                Ok(length) => Err(serde_json::from_slice(&text[..length])
                    .unwrap_or_else(|_| Refusal::new("the program", std::io::ErrorKind::Other))),
                Err(error) => Err(Refusal::new("the program", error)),
            }
        }
    }
}

/// Puts up the last walls around this process and becomes the program. Comes back only with a reason.
fn become_program(plan: &Plan, order: &Order, stdio: [OwnedFd; 3], fail: &OwnedFd) -> Refusal {
    match prepare(plan, order, stdio, fail) {
        Err(refusal) => refusal,
        Ok(mut command) => {
            let error = command.exec();
            // The system says of a missing loader or interpreter that the program is not there.
            let mut refusal = Refusal::running(&order.program, error);
            if refusal.errno == libc::ENOENT && std::fs::symlink_metadata(&order.program).is_ok() {
                refusal.why = "what runs it, its loader or interpreter, is not there".to_owned();
            }
            refusal
        }
    }
}

fn prepare(plan: &Plan, order: &Order, stdio: [OwnedFd; 3], fail: &OwnedFd) -> Result<Command, Refusal> {
    let confinement = &plan.confinement;
    let apart = plan.has(Wall::Namespaces);
    sys::ordinary_signals();
    let [input, output, error] = stdio;
    rustix::stdio::dup2_stdin(&input).step("its input")?;
    rustix::stdio::dup2_stdout(&output).step("its output")?;
    rustix::stdio::dup2_stderr(&error).step("its errors")?;
    drop((input, output, error));
    rustix::process::setsid().step("a session of its own")?;
    let home = if apart { Path::new("/tmp") } else { &plan.home };
    let folder =
        if apart || confinement.folder != Path::new("/tmp") { &confinement.folder } else { &plan.home };
    rustix::process::chdir(folder).step("its folder")?;
    if plan.has(Wall::Limits) {
        limits(plan)?;
    }
    if !order.cpus.is_empty() {
        let mut set = rustix::thread::CpuSet::new();
        order.cpus.iter().filter(|cpu| **cpu < rustix::thread::CpuSet::MAX_CPU).for_each(|cpu| set.set(*cpu));
        // A CPU that went away is no reason not to run.
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
    capabilities(plan)?;
    if !apart {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).step("ending with its init")?;
    }
    rustix::thread::set_no_new_privs(true).step("no new privileges")?;
    if plan.has(Wall::Landlock) {
        let readable = readable(confinement, apart);
        let writable = writable(confinement, apart, home);
        let network = confinement.network.has_sockets();
        landlock::restrict(
            readable.iter().map(PathBuf::as_path),
            writable.iter().map(PathBuf::as_path),
            network,
        )
        .step("Landlock")?;
    }
    let mut variables: BTreeMap<String, String> = confinement.environment(home);
    variables.extend(order.variables.clone());
    let mut command = Command::new(&order.program);
    command.args(&order.arguments).envs(variables);
    if plan.has(Wall::Environment) {
        // What `env_clear` forgets is named again.
        let kept: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command.env_clear();
        for (name, value) in kept {
            command.env(name, value.unwrap_or_default());
        }
    }
    if plan.has(Wall::Descriptors) {
        // The way to tell of a failure closes by itself when the program begins.
        close_all_but(&[Some(fail)]).step("closing what is not its own")?;
    } else {
        open_up();
    }
    if plan.has(Wall::Filter) {
        let strict = !plan.has(Wall::Group) || plan.group.is_none();
        let shape = Shape { sockets: confinement.network.has_sockets(), strict };
        sys::install_filter(&filter::program(shape)).step("the filter of system calls")?;
    }
    Ok(command)
}

/// For a control: a descriptor that the program inherits by mistake.
fn open_up() {
    if let Ok(second) = rustix::io::dup(rustix::stdio::stdin()) {
        std::mem::forget(second);
    }
}

/// What Landlock lets the program read.
fn readable(confinement: &Confinement, apart: bool) -> Vec<PathBuf> {
    let system = root::SYSTEM.iter().map(PathBuf::from);
    let settings: Vec<PathBuf> = match apart {
        true => vec!["/etc".into(), "/proc".into(), "/tmp".into()],
        false => root::SETTINGS.iter().map(PathBuf::from).chain(["/proc/self".into()]).collect(),
    };
    let own = confinement.readable.iter().chain(&confinement.copied);
    let own = own.map(|place| if apart { &place.inside } else { &place.outside });
    system.chain(settings).chain(own.cloned()).collect()
}

/// What Landlock lets it change.
fn writable(confinement: &Confinement, apart: bool, home: &Path) -> Vec<PathBuf> {
    let copied = confinement.copied.iter().filter(|_| apart);
    let own = confinement.writable.iter().chain(copied);
    let own = own.map(|place| if apart { &place.inside } else { &place.outside });
    root::DEVICES.iter().map(PathBuf::from).chain(own.cloned()).chain([home.to_owned()]).collect()
}

fn limits(plan: &Plan) -> Result<(), Refusal> {
    let confinement = &plan.confinement;
    let counted = plan.has(Wall::Group) && plan.group.is_some();
    let mut limits = vec![
        (Resource::Nofile, confinement.descriptors),
        (Resource::Fsize, confinement.disk),
        (Resource::Cpu, confinement.cpu),
        (Resource::Core, 0),
        (Resource::Memlock, 64 << 10),
        (Resource::Sigpending, 256),
        (Resource::Msgqueue, 0),
        (Resource::Rtprio, 0),
        (Resource::Nice, 0),
        // Of every thread, too.
        (Resource::Stack, 8 << 20),
    ];
    if plan.user.is_some() || plan.has(Wall::Namespaces) {
        // Of a user in its namespace. Elsewhere all of the user's other programs would count.
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
fn capabilities(plan: &Plan) -> Result<(), Refusal> {
    let kept = !plan.has(Wall::Capabilities);
    let apart = plan.has(Wall::Namespaces);
    if kept && apart {
        // For a control: all rights in its own namespaces, also where there is no user 0 in them.
        return keep_capabilities().step("keeping capabilities");
    }
    if apart || plan.user.is_some() {
        for number in 0..64 {
            let one = CapabilitySet::from_bits_retain(1 << number);
            if rustix::thread::remove_capability_from_bounding_set(one).is_err() {
                break;
            }
        }
        let _ = rustix::thread::clear_ambient_capability_set();
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

/// Lets the program inherit what this process may do in its namespaces.
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

/// Waits until the host is gone, and meanwhile for all that dies here.
fn bury(program: Pid, signal: &OwnedFd, control: &OwnedFd) {
    loop {
        let mut waits = [PollFd::new(signal, PollFlags::IN), PollFd::new(control, PollFlags::IN)];
        if poll(&mut waits, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
            return;
        }
        if !waits[1].revents().is_empty() {
            return;
        }
        let _ = rustix::io::read(signal, &mut [0_u8; 128]);
        while let Reaped::One(ended) = sys::reap() {
            if ended.pid == program {
                let report = Report::Ended { code: ended.code, signal: ended.signal, cpu: ended.cpu };
                if message::send(control.as_fd(), &report, &[]).is_err() {
                    return;
                }
            }
        }
    }
}

/// Kills all that this process has taken in, where it is not the first of a namespace.
fn end_children(plan: &Plan) {
    for _ in 0..10_000 {
        match sys::reap() {
            Reaped::NoChildren => return,
            Reaped::One(_) => {}
            Reaped::NoneYet => {
                if let Some(user) = plan.user {
                    kill_user(user + 1);
                } else {
                    for child in children(rustix::process::getpid()) {
                        let _ = rustix::process::kill_process(child, Signal::KILL);
                    }
                }
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
        }
    }
}

/// Kills every process of a user that belongs to one slot.
fn kill_user(user: u32) {
    if let Ok(Forked::Child) = sys::fork() {
        if become_user(user).is_ok() {
            // To everybody whom this user may signal, at once: nobody can fork away.
            let _ = sys::call(libc::SYS_kill, &mut [Arg::Int(-1), Arg::Int(libc::SIGKILL.into())]);
        }
        sys::leave(0)
    }
}

/// The descendants of a process.
fn children(of: Pid) -> Vec<Pid> {
    let mut found = vec![of];
    let mut next = 0;
    while next < found.len() && found.len() < 10_000 {
        let pid = found[next].as_raw_nonzero();
        next += 1;
        for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(list.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
        }
    }
    found.split_off(1)
}
