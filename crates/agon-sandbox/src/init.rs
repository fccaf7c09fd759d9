//! The first process of a sandbox: trusted, and everything in the sandbox ends with it. It builds the walls, waits
//! for the order, starts the program behind the last of them, and reaps the dead.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{DumpableBehavior, Pid, Signal};
use rustix::thread::CapabilitySet;

use crate::confinement::{Network, Wall};
use crate::landlock::Rules;
use crate::machine::Questions;
use crate::message::{self, Order, Plan, Report, Step as _, StepRefusal};
use crate::program::{Started, allowed, become_user, close_all_but, start};
use crate::root::{self, Trees};
use crate::spawner::IGNORED;
use crate::sys::{self, Arg, Forked, Reaped};

/// The init's whole life, in the namespaces it was born into.
pub fn live(plan: &Plan, trees: Option<Trees>, control: OwnedFd, record: Option<File>) {
    let ready = build(plan, trees, &control, record.as_ref()).and_then(|built| Ok((folders(plan)?, built)));
    let Built { listener, rules, layers } = match ready {
        Ok((folders, built)) => {
            let all = folders.iter().chain(&built.layers).chain(&built.listener);
            let all: Vec<_> = all.map(|given| given.as_fd()).collect();
            let ready = Report::Ready { listens: built.listener.is_some() };
            if message::send(&control, &ready, &all).is_err() {
                return;
            }
            built
        }
        Err(refusal) => {
            let _ = message::send(&control, &Report::Refused(refusal), &[]);
            return;
        }
    };
    // The host now holds them, like the folders.
    drop((listener, layers));
    let Ok(Some((order, stdio))) = message::receive::<Order>(&control) else { return };
    match start(plan, &order, stdio, rules.as_ref(), record) {
        Err(refusal) => {
            let _ = message::send(&control, &Report::Refused(refusal), &[]);
        }
        Ok(started) => {
            if message::send(&control, &Report::Started, &[]).is_ok() {
                attend(started, &control);
            }
        }
    }
    if !plan.has(Wall::Namespaces) && plan.has(Wall::End) {
        // Nothing dies along with this process: its orphans came to it, and are killed one by one.
        end_children(plan);
    }
}

/// Handles of the in-memory folders that the host may look into: `/tmp`, then the copied ones.
fn folders(plan: &Plan) -> Result<Vec<OwnedFd>, StepRefusal> {
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

/// What is ready before the order comes.
struct Built {
    /// The socket the program dials in to, if it does.
    listener: Option<OwnedFd>,
    /// The Landlock rules, if everything is already in place.
    rules: Option<Rules>,
    /// What holds the program's changes of layered folders.
    layers: Vec<OwnedFd>,
}

/// Builds everything that the program need not do itself.
fn build(
    plan: &Plan,
    trees: Option<Trees>,
    control: &OwnedFd,
    record: Option<&File>,
) -> Result<Built, StepRefusal> {
    let (mut listener, mut rules, mut layers) = (None, None, Vec::new());
    // The first to be killed when the machine itself runs out of memory.
    let _ = std::fs::write("/proc/self/oom_score_adj", "800");
    sys::ordinary_signals(IGNORED.into_iter().filter(|signal| *signal != libc::SIGPIPE));
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
        layers = root::enter(&plan.confinement, trees)?;
        if plan.has(Wall::Landlock) {
            rules = allowed(plan)?;
        }
    } else if plan.has(Wall::End) {
        let own = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(own)).step("taking in orphans")?;
    }
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).step("hiding the init")?;
    if plan.has(Wall::Capabilities) && (plan.has(Wall::Namespaces) || plan.user.is_some()) {
        bound_capabilities();
    }
    if plan.has(Wall::End) || !plan.has(Wall::Namespaces) {
        // Only now: changing users would clear it.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .step("ending with the spawner")?;
    }
    // Nothing of the spawner's stays open except the connection to the host and the record.
    let mut kept =
        vec![Some(control.as_fd()), listener.as_ref().map(AsFd::as_fd), rules.as_ref().map(AsFd::as_fd)];
    kept.push(record.map(AsFd::as_fd));
    kept.extend(layers.iter().map(|layer| Some(layer.as_fd())));
    close_all_but(&kept).step("closing what is not needed")?;
    Ok(Built { listener, rules, layers })
}

/// Prevents this process, and all it starts, from gaining further capabilities.
fn bound_capabilities() {
    for number in 0..64 {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if rustix::thread::remove_capability_from_bounding_set(one).is_err() {
            break;
        }
    }
    let _ = rustix::thread::clear_ambient_capability_set();
}

/// Listens at a port of this network, where only programs of this sandbox can dial in.
fn listen(port: u16) -> rustix::io::Result<OwnedFd> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, port))?;
    listen(&socket, 64)?;
    Ok(socket)
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

/// Waits until the host is gone, reaping everything that dies here and answering what is asked.
fn attend(started: Started, control: &OwnedFd) {
    let Started { program, signal, mut questions } = started;
    loop {
        let mut waits = vec![PollFd::new(control, PollFlags::IN), PollFd::new(&signal, PollFlags::IN)];
        waits.extend(questions.as_ref().map(|questions| PollFd::new(questions, PollFlags::IN)));
        if poll(&mut waits, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
            return;
        }
        if !waits[0].revents().is_empty() {
            return;
        }
        let asked = waits.get(2).map_or(PollFlags::empty(), PollFd::revents);
        if asked.contains(PollFlags::IN) {
            questions.iter().for_each(Questions::answer);
        } else if !asked.is_empty() {
            // Nobody is left who could ask.
            questions = None;
        }
        let _ = rustix::io::read(&signal, &mut [0_u8; 128]);
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

/// Kills everything this process has adopted, if it is not the first of a namespace.
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
            // Signals every process of this user at once: none can fork away.
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
