//! The processes of a bot: what they use, stopping them, ending them.
//!
//! Longer than 500 lines: finding, measuring and ending walk the same tree.
//!
//! A bot may start further processes. Its first process adopts those whose own parent has ended, so that
//! they all hang together while it lives, and count as the bot's. What it leaves behind when it ends becomes ours,
//! and is known by the mark in its environment or by its session. What bears neither is nobody's, and is ended
//! when it is seen.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::inside::Cage;
use crate::spawn::{self, Started};
use crate::sys::{self, Counters, ThreadTime};
use crate::usage::Usage;

/// The variable that marks the processes of one bot.
pub const MARK: &str = "AGON_BOT";

/// What we started and have not yet waited for, with the mark of bots.
static STARTED: Mutex<BTreeMap<i32, String>> = Mutex::new(BTreeMap::new());
/// Held while a process is being started, so that nobody takes it for an orphan before it is entered.
static STARTING: RwLock<()> = RwLock::new(());

/// Programs that compile and collect garbage in threads of their own, by the names of their processes.
const RUNTIMES: [&str; 5] = ["java", "dotnet", "mono", "node", "julia"];
/// So long that takes at the start.
const WARM_UP: Duration = Duration::from_secs(2);
/// So long we wait for a killed process to be gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// Starts a process that is no orphan.
///
/// # Errors
/// Those of the system.
pub fn start(command: &mut Command, mark: &str) -> io::Result<Child> {
    let _entered = STARTING.read().unwrap_or_else(|poison| poison.into_inner());
    let child = command.spawn()?;
    started().insert(child.id() as i32, mark.to_owned());
    Ok(child)
}

/// Starts a bot's process (see [`spawn`]) on `cpus`.
///
/// # Errors
/// Those of the system.
pub fn start_bot(command: &Command, cpus: &[usize], joined: bool, mark: &str) -> io::Result<Started> {
    let _entered = STARTING.read().unwrap_or_else(|poison| poison.into_inner());
    let process = spawn::spawn(command, cpus, joined)?;
    started().insert(process.pid.as_raw_nonzero().get(), mark.to_owned());
    Ok(process)
}

/// A process started with [`start`] was waited for.
pub fn forget(child: u32) {
    started().remove(&(child as i32));
}

fn started() -> MutexGuard<'static, BTreeMap<i32, String>> {
    STARTED.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// What a bot may take of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory of all its processes, in bytes.
    pub memory: u64,
    /// Processes at once.
    pub processes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // Half of the memory of a small machine.
        Self { memory: (4 << 30).min(sys::machine_memory() / 2), processes: 512 }
    }
}

/// What a bot took too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// So many bytes of memory.
    Memory(u64),
    /// So many processes.
    Processes(usize),
    /// All of so many bytes of memory, in a sandbox, where something was killed for it.
    OutOfMemory(u64),
    /// All of so many processes, in a sandbox, where a further one was refused.
    NoMoreProcesses(u32),
    /// All of so many bytes, or names, of files, in a sandbox.
    DiskFull(u64),
}

/// The processes of a bot.
pub struct ProcessTree {
    /// What they may take together.
    pub limits: Limits,
    root: Pid,
    mark: String,
    /// Those below the root that live, as last seen.
    others: Vec<Other>,
    /// Those that have ended and were not waited for, as last seen. They take nothing, and a bot may leave many.
    zombies: HashSet<Pid>,
    /// CPU time of those that were seen and are gone.
    gone: Duration,
    /// The thread that computes most, as last seen.
    busiest: Option<(Pid, Counters)>,
    /// All threads, with their processes, as last seen.
    threads: Vec<(Pid, Pid)>,
    /// On how many CPUs they may run.
    cpus: usize,
    started: Instant,
    stopped: bool,
    ended: Option<Used>,
    /// The sandbox that holds all of them.
    cage: Option<Box<Cage>>,
    /// Whether the first process of a sandboxed bot was seen to be gone: its number may be another's by now.
    root_gone: bool,
    remarks: Vec<String>,
}

/// What a bot's processes used from start to end, as far as they were waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// CPU time.
    pub cpu: Duration,
    /// The most memory one of them occupied, in bytes; none where they had ended before they were asked.
    pub memory: Option<u64>,
}

/// A process that the root, or one below it, has started.
struct Other {
    pid: Pid,
    /// Its CPU time when it was first seen: nobody knows in whose turn it was used.
    before: Duration,
    /// Its CPU time when last asked.
    cpu: Duration,
}

impl ProcessTree {
    /// The processes of the process `root`, which leads a session of its own and was started with `mark`.
    pub fn new(root: Pid, mark: String) -> Self {
        let busiest = Counters::of(root, root).map(|counters| (root, counters));
        Self {
            limits: Limits::default(),
            root,
            mark,
            others: Vec::new(),
            zombies: HashSet::new(),
            gone: Duration::ZERO,
            busiest,
            threads: vec![(root, root)],
            cpus: sys::cpus_at_start().len(),
            started: Instant::now(),
            stopped: false,
            ended: None,
            cage: None,
            root_gone: false,
            remarks: Vec::new(),
        }
    }

    /// The processes of a bot in a sandbox, of which `root` is the first.
    pub fn caged(root: Pid, cage: Cage) -> Self {
        let (memory, processes) = (cage.confinement().memory, cage.confinement().processes as usize);
        let limits = Limits { memory, processes };
        Self { limits, cage: Some(Box::new(cage)), ..Self::new(root, String::new()) }
    }

    /// The sandbox, if it is in one.
    pub fn cage(&self) -> Option<&Cage> {
        self.cage.as_deref()
    }

    /// What was worth a word at its end.
    pub fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// The processes of a bot that runs elsewhere: nothing is known of it, and nothing can be done to it.
    pub fn unknown() -> Self {
        Self {
            limits: Limits::default(),
            root: rustix::process::getpid(),
            mark: String::new(),
            others: Vec::new(),
            zombies: HashSet::new(),
            gone: Duration::ZERO,
            busiest: None,
            threads: Vec::new(),
            cpus: sys::cpus_at_start().len(),
            started: Instant::now(),
            stopped: false,
            ended: Some(Used::default()),
            cage: None,
            root_gone: false,
            remarks: Vec::new(),
        }
    }

    /// Whether nothing of it is left, or nothing is known of it.
    pub fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    /// What the environment of all of them holds under [`MARK`].
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// The first process.
    pub fn root(&self) -> Pid {
        self.root
    }

    fn all(&self) -> impl Iterator<Item = Pid> {
        let root = (!self.root_gone).then_some(self.root);
        let all = root.into_iter().chain(self.others.iter().map(|other| other.pid));
        // The numbers of ended processes may be those of others by now.
        all.filter(|_| !self.is_over())
    }

    /// Looks for processes and threads that have come or gone.
    pub fn survey(&mut self) {
        if self.ended.is_some() {
            return;
        }
        let left = if self.cage.is_some() { Vec::new() } else { orphans_of_bots() };
        let zombies = std::mem::take(&mut self.zombies);
        // They have no children, and one look at each is enough.
        let tree = |root| sys::tree_without(root, |pid| zombies.contains(&pid));
        let mut found = match self.cage.as_ref().and_then(|cage| cage.init()) {
            // All that is below the trusted process is the bot's.
            Some(init) => tree(init).split_off(1),
            None => tree(self.root),
        };
        self.root_gone |= !found.iter().any(|(pid, _)| *pid == self.root);
        for (orphan, stat) in left {
            if self.has(orphan, &stat) {
                found.extend(tree(orphan));
            }
        }
        let threads: HashMap<Pid, Vec<Pid>> = found.into_iter().collect();
        let is_zombie =
            |pid: &Pid| zombies.contains(pid) || sys::stat(*pid).is_some_and(|stat| stat.state == b'Z');
        let others = threads.keys().copied().filter(|pid| *pid != self.root);
        let (ended, mut live): (HashSet<Pid>, HashSet<Pid>) = others.partition(is_zombie);
        self.zombies = ended;
        self.others.retain_mut(|other| {
            let stays = live.remove(&other.pid);
            if !stays {
                // A zombie still says what it has used.
                other.cpu = sys::cpu_time(other.pid).unwrap_or(other.cpu).max(other.cpu);
                self.gone += other.cpu.saturating_sub(other.before);
            }
            stays
        });
        for pid in live {
            let cpu = sys::cpu_time(pid).unwrap_or_default();
            self.others.push(Other { pid, before: cpu, cpu });
        }
        let of = |process| threads.get(&process).into_iter().flatten().map(move |thread| (process, *thread));
        let now: Vec<(Pid, Pid)> = self.all().flat_map(of).collect();
        let before = std::mem::replace(&mut self.threads, now);
        if self.threads.len() == 1 && self.threads == before && self.busiest.is_some() {
            return;
        }
        let busiest = self
            .threads
            .iter()
            .filter_map(|&(process, thread)| {
                let counters = Counters::of(process, thread)?;
                Some((counters.read()?.cpu, thread, counters))
            })
            .max_by_key(|(cpu, ..)| *cpu);
        self.busiest = busiest.map(|(_, thread, counters)| (thread, counters));
    }

    fn has(&self, process: Pid, stat: &sys::Stat) -> bool {
        stat.session == self.root.as_raw_nonzero().get()
            || sys::variable(process, MARK).is_some_and(|mark| mark == self.mark)
    }

    /// CPU time of all known processes since they were first seen; none when the bot is gone.
    pub fn cpu_time(&mut self) -> Option<Duration> {
        if self.ended.is_some() {
            return None;
        }
        let own = if self.root_gone { None } else { sys::cpu_time(self.root) };
        let exit = |cage: &Cage| cage.exit(Duration::ZERO).map(|exit| exit.cpu);
        let mut sum = own.or_else(|| self.cage.as_deref().and_then(exit))? + self.gone;
        for other in &mut self.others {
            // What one that ended has used stays used.
            other.cpu = sys::cpu_time(other.pid).unwrap_or(other.cpu);
            sum += other.cpu.saturating_sub(other.before);
        }
        Some(sum)
    }

    /// What is cheap to know: CPU time, and the counters of the busiest thread.
    pub fn glance(&mut self) -> Usage {
        let cpu = self.cpu_time();
        let busiest = self.busiest.as_ref().and_then(|(thread, counters)| Some((*thread, counters.read()?)));
        Usage { cpu, ended: None, threads: busiest.into_iter().collect(), whole: false }
    }

    /// The same of all threads that were there when they were last looked for.
    pub fn look_again(&mut self) -> Usage {
        match self.threads.len() {
            0 | 1 => self.glance(),
            _ => Usage { cpu: self.cpu_time(), ended: None, threads: self.counters(), whole: false },
        }
    }

    /// All that can be known, after a survey.
    pub fn look(&mut self) -> Usage {
        self.survey();
        let threads = self.counters();
        Usage { cpu: self.cpu_time(), ended: Some(self.ended_children()), threads, whole: true }
    }

    fn counters(&self) -> Vec<(Pid, ThreadTime)> {
        let known = self.threads.iter().filter(|_| !self.is_over());
        known
            .filter_map(|&(process, thread)| Some((thread, Counters::of(process, thread)?.read()?)))
            .collect()
    }

    /// How many threads there were when they were last looked for.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// On how many CPUs they may run.
    pub fn cpus(&self) -> usize {
        self.cpus
    }

    /// They may run on so many CPUs.
    #[must_use]
    pub fn on(self, cpus: usize) -> Self {
        Self { cpus, ..self }
    }

    /// CPU time of processes that the known ones started and waited for, seen or not; in steps of 10 ms.
    pub fn ended_children(&self) -> Duration {
        self.all().filter_map(sys::stat).map(|stat| stat.ended_children).sum()
    }

    /// Whether a thread of the known processes runs, or would if it got a CPU.
    pub fn could_run(&self) -> bool {
        let threads = |process| sys::threads(process).into_iter().map(move |thread| (process, thread));
        self.all().flat_map(threads).any(|(process, thread)| sys::is_runnable(process, thread))
    }

    /// What the known processes take too much of.
    pub fn excess(&self) -> Option<Excess> {
        if let Some(excess) = self.cage.as_ref().and_then(|cage| cage.excess()) {
            return Some(excess);
        }
        // First, because too many processes take too much memory, too, and say more.
        let processes = 1 + self.others.len();
        if processes > self.limits.processes {
            return Some(Excess::Processes(processes));
        }
        let memory = self.all().map(sys::memory).sum();
        (memory > self.limits.memory).then_some(Excess::Memory(memory))
    }

    /// Whether it has just been started and runs in a runtime that goes on compiling and collecting in threads of
    /// its own for a while.
    pub fn is_warming_up(&self) -> bool {
        let is_runtime = |pid| sys::name(pid).is_some_and(|name| RUNTIMES.contains(&name.as_str()));
        self.started.elapsed() < WARM_UP && self.all().any(is_runtime)
    }

    /// Whether the first process was stopped, and certainly by none of its own: it runs alone, and was doing
    /// something else than sending a signal.
    pub fn was_stopped_by_others(&mut self) -> bool {
        if self.cage.is_some() {
            // Nobody else reaches it.
            return false;
        }
        self.survey();
        let signals = |thread| sys::system_call(self.root, thread).is_none_or(sys::sends_signals);
        self.others.is_empty() && !self.is_over() && !sys::threads(self.root).into_iter().any(signals)
    }

    /// Lets the known processes go on that somebody else has stopped.
    pub fn wake(&self) {
        self.signal(Signal::CONT);
    }

    /// Whether the first process was stopped, and not by us.
    pub fn stopped_itself(&self) -> bool {
        !self.stopped && !self.is_over() && sys::stat(self.root).is_some_and(|stat| stat.state == b'T')
    }

    /// Stops all known processes, so that they cannot think in the opponent's time.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.signal(Signal::STOP);
    }

    /// Lets them go on.
    pub fn go_on(&mut self) {
        if std::mem::take(&mut self.stopped) {
            self.signal(Signal::CONT);
        }
    }

    fn signal(&self, signal: Signal) {
        if self.is_over() {
            return;
        }
        if let Some(cage) = &self.cage {
            // Without a freezer one by one, as they are at this moment.
            if !cage.freeze(signal == Signal::STOP)
                && let Some(init) = cage.init()
            {
                for process in sys::tree(init).split_off(1) {
                    let _ = rustix::process::kill_process(process, signal);
                }
            }
            return;
        }
        sys::signal_group(self.root, signal);
        for other in &self.others {
            let _ = rustix::process::kill_process(other.pid, signal);
        }
    }

    /// How the first process ended; none while it runs.
    pub fn status(&self) -> Option<ExitStatus> {
        match &self.cage {
            _ if self.ended.is_some() => None,
            Some(cage) => cage.status(),
            None => sys::peek(self.root),
        }
    }

    /// Waits until the first process has ended, or for `patience`.
    pub fn wait(&self, patience: Duration) {
        match &self.cage {
            _ if self.ended.is_some() => {}
            Some(cage) => drop(cage.exit(patience)),
            None => drop(sys::wait(self.root, patience)),
        }
    }

    /// Begins to end a bot in a sandbox, which [`end`](Self::end) waits for: who ends several does so at once.
    pub fn kill(&mut self) {
        if self.ended.is_none()
            && let Some(cage) = &mut self.cage
        {
            // How it ended by itself is heard of now.
            let _ = cage.exit(Duration::ZERO);
            cage.kill();
        }
    }

    /// Ends all of them, and says what they used together.
    pub fn end(&mut self) -> Used {
        if let Some(used) = self.ended {
            return used;
        }
        if let Some(cage) = &mut self.cage {
            let seen = cage.exit(Duration::ZERO).map(|exit| exit.cpu);
            let (charge, remarks) = cage.end();
            self.remarks.extend(remarks);
            started().remove(&self.root.as_raw_nonzero().get());
            let cpu = charge.map(|charge| charge.cpu).or(seen).unwrap_or_default();
            let used = Used { cpu, memory: charge.map(|charge| charge.peak).filter(|peak| *peak > 0) };
            self.ended = Some(used);
            return used;
        }
        let until = Instant::now() + PATIENCE;
        let mut used = Used::default();
        let mut below = Vec::new();
        loop {
            // Again and again, because what is being killed may just have started something.
            let tree = sys::tree(self.root);
            used.memory = used.memory.max(tree.iter().filter_map(|process| sys::peak_memory(*process)).max());
            below.extend(&tree[1..]);
            sys::kill_group(self.root);
            for process in &below {
                let _ = rustix::process::kill_process(*process, Signal::KILL);
            }
            sys::wait(self.root, Duration::from_millis(20));
            if let Some(cpu) = sys::reap(self.root) {
                used.cpu = cpu;
                break;
            }
            if Instant::now() > until {
                // Stuck in the kernel; whoever ends a bot after this reaps it.
                break;
            }
        }
        // Each becomes ours when the one above it is gone.
        for process in below {
            sys::wait(process, Duration::from_millis(200));
        }
        self.ended = Some(used);
        started().remove(&self.root.as_raw_nonzero().get());
        while let Some(more) = self.end_orphans() {
            used.cpu += more;
            if Instant::now() > until {
                break;
            }
        }
        self.ended = Some(used);
        used
    }

    /// Ends what the bot left behind, and gives its CPU time; none when there was nothing.
    fn end_orphans(&self) -> Option<Duration> {
        if orphans().is_empty() {
            return None;
        }
        // Nothing is just being started, so that every unknown child is an orphan.
        let _nobody_starts = STARTING.write().unwrap_or_else(|poison| poison.into_inner());
        let mut used = None;
        for (orphan, stat) in orphans() {
            if stat.state == b'Z' {
                // Whose it was is not known any more; its CPU time is nobody's.
                sys::reap(orphan);
            } else if self.has(orphan, &stat) || is_nobodys(orphan, &stat) {
                sys::kill_group(orphan);
                sys::wait(orphan, Duration::from_millis(200));
                if let Some(cpu) = sys::reap(orphan) {
                    used = Some(used.unwrap_or_default() + cpu);
                }
            }
        }
        used
    }
}

/// Children of ours that some bot must have left behind: we did not start them, and they are not in
/// our session, which no bot can come into.
fn orphans() -> Vec<(Pid, sys::Stat)> {
    let children = sys::own_children();
    let strangers: Vec<Pid> = {
        let started = started();
        children.into_iter().filter(|pid| !started.contains_key(&pid.as_raw_nonzero().get())).collect()
    };
    if strangers.is_empty() {
        return Vec::new();
    }
    // Read like the others': a session that began outside our container is 0, which getsid() of rustix panics on.
    let own = sys::stat(rustix::process::getpid()).map_or(0, |stat| stat.session);
    let stats = strangers.into_iter().filter_map(|pid| Some((pid, sys::stat(pid)?)));
    stats.filter(|(_, stat)| stat.session != own).collect()
}

/// Orphans that a bot which still plays has left behind. Those that hide from the bot they belong to are ended, since
/// nobody can be charged for what they use.
fn orphans_of_bots() -> Vec<(Pid, sys::Stat)> {
    let is_hidden = |(orphan, stat): &(Pid, sys::Stat)| stat.state != b'Z' && is_nobodys(*orphan, stat);
    let mut found = orphans();
    if found.iter().any(is_hidden) {
        // Nothing is just being started, which would look the same.
        let _nobody_starts = STARTING.write().unwrap_or_else(|poison| poison.into_inner());
        let (hidden, others) = orphans().into_iter().partition(is_hidden);
        found = others;
        hidden.into_iter().for_each(|(orphan, _)| sys::kill_group(orphan));
    }
    found
}

/// Whether an orphan belongs to no bot that still plays: it was missed when its bot was ended, or it hides.
fn is_nobodys(orphan: Pid, stat: &sys::Stat) -> bool {
    let mark = sys::variable(orphan, MARK);
    let started = started();
    match mark {
        Some(mark) => !started.values().any(|own| *own == mark),
        None => !started.contains_key(&stat.session),
    }
}
