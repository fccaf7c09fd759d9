//! Ensures an answer in time, whatever the script does.

use std::borrow::Cow;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_bot::Script;
use agon_bot::script::SUBCOMMAND;
use rustix::time::{ClockId, clock_gettime};

use crate::engine::failure;

/// How much a script may print in one call, in bytes.
const MOST_PRINTED: u64 = 64 << 10;
/// A script that missed this much of its time was kept waiting by the machine.
const WAITED: Duration = Duration::from_millis(5);

/// The first call, which loads the script.
const LOADING: u64 = 1;

/// The clock of the calls, shared by the script's thread and the thread that watches it.
pub struct Watch {
    script: Script,
    budget: Option<Duration>,
    start: Instant,
    /// Number of calls so far.
    calls: AtomicU64,
    /// The current call, 0 for none. Whichever thread resets it to 0 answers.
    call: AtomicU64,
    /// When the current call began, since the start, and this process's CPU time then; in nanoseconds.
    began: AtomicU64,
    used: AtomicU64,
    printed: AtomicU64,
}

impl Watch {
    /// Starts watching. The first call, loading the script, begins now.
    pub fn start(script: Script) -> Arc<Self> {
        let zero = || AtomicU64::new(0);
        let watch = Arc::new(Self {
            budget: script.budget(),
            script,
            start: Instant::now(),
            calls: zero(),
            call: zero(),
            began: zero(),
            used: zero(),
            printed: zero(),
        });
        watch.begin();
        if let Some(budget) = watch.budget {
            let own = Arc::clone(&watch);
            let started = std::thread::Builder::new().stack_size(256 << 10).spawn(move || own.watch(budget));
            started.expect("the system gives a second thread");
        }
        watch
    }

    /// Begins a call.
    pub fn begin(&self) {
        self.began.store(self.start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.used.store(cpu_time().as_nanos() as u64, Ordering::Relaxed);
        self.printed.store(0, Ordering::Relaxed);
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        self.call.store(call, Ordering::Release);
    }

    /// Ends the call, so that the caller may answer. Does not return if it is too late.
    pub fn claim(&self) {
        let call = self.calls.load(Ordering::Relaxed);
        if self.call.compare_exchange(call, 0, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            loop {
                // The other thread ends this one with all the rest.
                std::thread::park();
            }
        }
    }

    /// Sleeps most of the time: while no call is running, none can be late before a whole budget has
    /// passed.
    fn watch(&self, budget: Duration) {
        loop {
            let call = self.call.load(Ordering::Acquire);
            let wall =
                self.start.elapsed().saturating_sub(Duration::from_nanos(self.began.load(Ordering::Relaxed)));
            // A script cannot wait: time it did not use is time this machine did not give it.
            let used = cpu_time().saturating_sub(Duration::from_nanos(self.used.load(Ordering::Relaxed)));
            let patience = match () {
                () if call == 0 => budget,
                () if wall < budget => budget - wall,
                () if used + WAITED < budget => budget - used,
                () => Duration::ZERO,
            };
            if !patience.is_zero() {
                std::thread::sleep(patience);
            } else if self.call.compare_exchange(call, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                self.give_up(call, wall);
            }
        }
    }

    fn give_up(&self, call: u64, wall: Duration) -> ! {
        let (budget, limit) = (self.budget.unwrap_or_default(), self.script.limit.unwrap_or_default());
        if call == LOADING {
            eprintln!(
                "{}: still loading after {} ms; is there an endless loop outside of its functions?",
                name(&self.script),
                budget.as_millis()
            );
            std::process::exit(1);
        }
        // If the machine kept us waiting, the referee may be about to give up too. Two verdicts would be
        // one too many: the decision is left to the referee, and the line follows afterwards.
        let owes = wall > (budget + limit) / 2;
        if !owes && crate::say(&self.failure()).is_err() {
            std::process::exit(0);
        }
        self.start_afresh(owes)
    }

    /// The line for a call that took too long.
    pub fn failure(&self) -> String {
        let budget = self.budget.unwrap_or_default().as_millis();
        failure(&format!(
            "the script was still running after {budget} ms and was stopped; it starts afresh with its last state"
        ))
    }

    /// Replaces this process by a new one that loads the script again. The `state` comes with the next
    /// question.
    pub fn start_afresh(&self, owes: bool) -> ! {
        let script = Script { restarts: self.script.restarts + 1, owes, ..self.script.clone() };
        let error = match std::env::current_exe() {
            Ok(own) => Command::new(own).arg(SUBCOMMAND).args(script.arguments()).exec(),
            Err(error) => error,
        };
        eprintln!("{}: cannot start again: {error}", name(&script));
        std::process::exit(3);
    }

    /// Prints a line of the script's console, as far as there is room.
    pub fn print(&self, text: &str) {
        let size = text.len() as u64 + 1;
        let before = self.printed.fetch_add(size, Ordering::Relaxed);
        let line = match before + size {
            after if after <= MOST_PRINTED => Cow::from(format!("{text}\n")),
            _ if before <= MOST_PRINTED => {
                Cow::from("[more than 64 KiB printed in one call; the rest is dropped]\n")
            }
            _ => return,
        };
        // Nobody may be listening.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// The script's name, as its author knows it.
pub fn name(script: &Script) -> Cow<'_, str> {
    script.file.file_name().unwrap_or_default().to_string_lossy()
}

/// The CPU time of this process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
