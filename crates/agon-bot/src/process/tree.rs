//! The processes of a bot: measuring, stopping and ending them.
//!
//! A bot may start further processes. Its first process adopts those whose own parent has ended, so all of them form
//! one tree while it lives, and count as the bot's. Whatever is left when it ends becomes ours, and is recognised by
//! the mark in its environment or by its session. A process with neither belongs to nobody, and is ended on sight.

use std::collections::{HashMap, HashSet};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::children::{self, MARK, is_nobodys, orphans, orphans_of_bots};
use super::inside::{Cage, StartTrouble};
use super::usage::Usage;
use super::{Excess, ProcessLimits, ProcessUse};
use crate::sys::{self, Counters, ThreadTime};

/// Process names of runtimes that compile and collect garbage in threads of their own.
const RUNTIMES: [&str; 5] = ["java", "dotnet", "mono", "node", "julia"];
/// How long a runtime keeps doing that after its start.
const WARM_UP: Duration = Duration::from_secs(2);
/// How long we wait for a killed process to disappear.
const PATIENCE: Duration = Duration::from_secs(2);

/// The processes of a bot.
pub struct ProcessTree {
    /// The limits on all of them together.
    pub limits: ProcessLimits,
    root: Pid,
    mark: String,
    /// Live processes below the root, as last seen.
    others: Vec<Other>,
    /// Ended processes not yet waited for, as last seen. They consume nothing, and a bot may leave many.
    zombies: HashSet<Pid>,
    /// CPU time of processes that were seen and are gone.
    gone: Duration,
    /// The thread that uses most CPU, as last seen.
    busiest: Option<(Pid, Counters)>,
    /// All threads, with their processes, as last seen.
    threads: Vec<(Pid, Pid)>,
    /// Number of CPUs they may run on.
    cpus: usize,
    started: Instant,
    stopped: bool,
    ended: Option<ProcessUse>,
    /// The sandbox that holds all of them.
    cage: Option<Box<Cage>>,
    /// Whether a sandboxed bot's first process was seen to be gone: its pid may be reused by now.
    root_gone: bool,
    remarks: Vec<String>,
}

/// A process started by the root or one below it.
struct Other {
    pid: Pid,
    /// Its CPU time when first seen: nobody knows in whose turn it was used.
    before: Duration,
    /// Its CPU time when last asked.
    cpu: Duration,
}

impl ProcessTree {
    /// The process tree of `root`, which leads its own session and was started with `mark`.
    pub fn new(root: Pid, mark: String) -> Self {
        let busiest = Counters::of(root, root).map(|counters| (root, counters));
        let threads = vec![(root, root)];
        Self { root, mark, busiest, threads, ended: None, ..Self::unknown() }
    }

    /// The processes of a sandboxed bot that is being started; until it runs, `init`, the first process of its sandbox, stands
    /// in for it.
    pub fn caged(init: Pid, cage: Cage) -> Self {
        let (memory, processes) = (cage.confinement().memory, cage.confinement().processes as usize);
        let limits = ProcessLimits { memory, processes };
        Self { limits, root: init, cage: Some(Box::new(cage)), ended: None, ..Self::unknown() }
    }

    /// Waits until it runs.
    ///
    /// # Errors
    /// Why it does not start.
    pub fn settle(&mut self) -> Result<(), StartTrouble> {
        if let Some(cage) = &self.cage {
            let root = cage.settle()?;
            (self.root, self.threads) = (root, vec![(root, root)]);
            self.busiest = Counters::of(root, root).map(|counters| (root, counters));
        }
        Ok(())
    }

    /// The sandbox, if there is one.
    pub fn cage(&self) -> Option<&Cage> {
        self.cage.as_deref()
    }

    /// Remarks about its end.
    pub fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// Stands for a bot that runs elsewhere: nothing is known about it, and nothing can be done to it.
    pub fn unknown() -> Self {
        Self {
            limits: ProcessLimits::default(),
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
            ended: Some(ProcessUse::default()),
            cage: None,
            root_gone: false,
            remarks: Vec::new(),
        }
    }

    /// Whether nothing is left of it, or nothing is known of it.
    pub fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    /// The value of [`MARK`] in the environment of all of them.
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
        // The pids of ended processes may be reused by now.
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
            // Everything below the trusted process is the bot's.
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
                // A zombie still reports what it has used.
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

    /// The CPU time of everything that ever ran in its sandbox, where the kernel counts it; none when the bot is gone.
    pub fn counted(&self) -> Option<Duration> {
        self.cage.as_ref().filter(|_| !self.is_over())?.cpu()
    }

    /// Whether its CPU time is counted by the kernel, whatever processes come and go, and not added up from samples.
    pub fn is_counted(&self) -> bool {
        !self.is_over() && self.cage.as_ref().is_some_and(|cage| cage.is_counted())
    }

    /// CPU time: of all of it where it is counted, otherwise of all known processes since they were first seen. None when
    /// the bot is gone.
    pub fn cpu_time(&mut self) -> Option<Duration> {
        if self.ended.is_some() {
            return None;
        }
        if let Some(counted) = self.counted() {
            return Some(counted);
        }
        let own = if self.root_gone { None } else { sys::cpu_time(self.root) };
        let exit = |cage: &Cage| cage.exit(Duration::ZERO).map(|exit| exit.cpu);
        let mut sum = own.or_else(|| self.cage.as_deref().and_then(exit))? + self.gone;
        for other in &mut self.others {
            // CPU time of an ended process still counts.
            other.cpu = sys::cpu_time(other.pid).unwrap_or(other.cpu);
            sum += other.cpu.saturating_sub(other.before);
        }
        Some(sum)
    }

    /// CPU time alone.
    pub fn spent(&mut self) -> Usage {
        Usage { cpu: self.cpu_time(), ..Usage::default() }
    }

    /// What is cheap to read: CPU time, and the counters of the busiest thread.
    fn glance(&mut self) -> Usage {
        let cpu = self.cpu_time();
        let busiest = self.busiest.as_ref().and_then(|(thread, counters)| Some((*thread, counters.read()?)));
        Usage { cpu, ended: None, threads: busiest.into_iter().collect(), whole: false }
    }

    /// The same with the counters of all threads known from the last survey.
    pub fn look_again(&mut self) -> Usage {
        match self.threads.len() {
            0 | 1 => self.glance(),
            _ => Usage { cpu: self.cpu_time(), ended: None, threads: self.counters(), whole: false },
        }
    }

    /// Everything that can be known, after a survey.
    pub fn look(&mut self) -> Usage {
        self.survey();
        let threads = self.counters();
        // What is counted includes them.
        let ended = (!self.is_counted()).then(|| self.ended_children());
        Usage { cpu: self.cpu_time(), ended, threads, whole: true }
    }

    fn counters(&self) -> Vec<(Pid, ThreadTime)> {
        let known = self.threads.iter().filter(|_| !self.is_over());
        known
            .filter_map(|&(process, thread)| Some((thread, Counters::of(process, thread)?.read()?)))
            .collect()
    }

    /// Number of threads at the last survey.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Number of CPUs they may run on.
    pub fn cpus(&self) -> usize {
        self.cpus
    }

    /// Sets the number of CPUs they may run on.
    #[must_use]
    pub fn on(self, cpus: usize) -> Self {
        Self { cpus, ..self }
    }

    /// CPU time of processes that came and went before the first answer and that no sample saw; in steps of 10 ms.
    pub fn launching(&self) -> Duration {
        if self.is_counted() { Duration::ZERO } else { self.ended_children() }
    }

    /// CPU time of processes that the known ones started and waited for, whether we saw them or not; in steps of 10
    /// ms.
    fn ended_children(&self) -> Duration {
        self.all().filter_map(sys::stat).map(|stat| stat.ended_children).sum()
    }

    /// Whether a thread of the known processes runs, or would run if it got a CPU.
    pub fn could_run(&self) -> bool {
        let threads = |process| sys::threads(process).into_iter().map(move |thread| (process, thread));
        self.all().flat_map(threads).any(|(process, thread)| sys::is_runnable(process, thread))
    }

    /// Which limit the known processes exceed.
    pub fn excess(&self) -> Option<Excess> {
        if let Some(excess) = self.cage.as_ref().and_then(|cage| cage.excess()) {
            return Some(excess);
        }
        // Checked first: too many processes also take too much memory, and their number says more.
        let processes = 1 + self.others.len();
        if processes > self.limits.processes {
            return Some(Excess::Processes(processes));
        }
        let memory = self.all().map(sys::memory).sum();
        (memory > self.limits.memory).then_some(Excess::Memory(memory))
    }

    /// Whether it has just been started in a runtime that keeps compiling and collecting garbage in its own threads
    /// for a while.
    pub fn is_warming_up(&self) -> bool {
        let is_runtime = |pid| sys::name(pid).is_some_and(|name| RUNTIMES.contains(&name.as_str()));
        self.started.elapsed() < WARM_UP && self.all().any(is_runtime)
    }

    /// Whether the first process was certainly stopped from outside: it runs alone, and was not sending a signal.
    pub fn was_stopped_by_others(&mut self) -> bool {
        if self.cage.is_some() {
            // Nobody else can reach it.
            return false;
        }
        self.survey();
        let signals = |thread| sys::system_call(self.root, thread).is_none_or(sys::sends_signals);
        self.others.is_empty() && !self.is_over() && !sys::threads(self.root).into_iter().any(signals)
    }

    /// Resumes the known processes after somebody else stopped them.
    pub fn wake(&self) {
        self.signal(Signal::CONT);
    }

    /// Whether the first process was stopped, and not by us.
    pub fn stopped_itself(&self) -> bool {
        !self.stopped && !self.is_over() && sys::stat(self.root).is_some_and(|stat| stat.state == b'T')
    }

    /// Stops all known processes, so that they cannot think in the opponent's time.
    pub fn stop(&mut self) {
        if !std::mem::replace(&mut self.stopped, true) {
            self.signal(Signal::STOP);
        }
    }

    /// Whether we have stopped them.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Resumes them.
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
            // Without a freezer, one by one, as the tree is at this moment.
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

    /// Starts killing a sandboxed bot; [`end`](Self::end) waits for it. So several bots can be ended at the same
    /// time.
    pub fn kill(&mut self) {
        if self.ended.is_none()
            && let Some(cage) = &mut self.cage
        {
            // Its own exit status, if any, must be read first.
            let _ = cage.exit(Duration::ZERO);
            cage.kill();
        }
    }

    /// Ends all of them; returns what they used together.
    pub fn end(&mut self) -> ProcessUse {
        if let Some(used) = self.ended {
            return used;
        }
        if let Some(cage) = &mut self.cage {
            let seen = cage.exit(Duration::ZERO).map(|exit| exit.cpu);
            let (charge, remarks) = cage.end();
            self.remarks.extend(remarks);
            children::forget(self.root);
            let cpu = charge.map(|charge| charge.cpu).or(seen).unwrap_or_default();
            let used = ProcessUse { cpu, memory: charge.map(|charge| charge.peak).filter(|peak| *peak > 0) };
            self.ended = Some(used);
            return used;
        }
        let until = Instant::now() + PATIENCE;
        let mut used = ProcessUse::default();
        let mut below = Vec::new();
        loop {
            // Repeated, because a process being killed may just have started another.
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
                // Stuck in the kernel; the next end of a bot reaps it.
                break;
            }
        }
        // Each becomes ours when the one above it is gone.
        for process in below {
            sys::wait(process, Duration::from_millis(200));
        }
        self.ended = Some(used);
        children::forget(self.root);
        while let Some(more) = self.end_orphans() {
            used.cpu += more;
            if Instant::now() > until {
                break;
            }
        }
        self.ended = Some(used);
        used
    }

    /// Ends what the bot left behind and returns its CPU time; none if there was nothing.
    fn end_orphans(&self) -> Option<Duration> {
        if orphans().is_empty() {
            return None;
        }
        // Nothing can be starting now, so every unknown child is an orphan.
        let _nobody_starts = children::nobody_starts();
        let mut used = None;
        for (orphan, stat) in orphans() {
            if stat.state == b'Z' {
                // Its owner is no longer known; its CPU time is charged to nobody.
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
