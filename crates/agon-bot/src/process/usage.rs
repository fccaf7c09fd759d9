//! What a bot's processes used, and for how long the machine kept them from running while they worked on an answer.
//!
//! For every thread the system counts its CPU time, and the time in which it could have run but did not. A bot with one
//! thread was kept waiting for exactly that time. With several threads it is less clear: they wait one after the other,
//! as when a garbage collector stops the others; or at the same time, as compilers do beside the thread that thinks; or
//! for each other. So we look at a bot every few milliseconds, and
//!
//! - between two looks, all waits of its threads count, minus what the bot's own threads may have caused of each:
//!   on `n` CPUs a thread waits for its own kind only while `n` others of them run;
//! - the total is never more than the time in which the bot made no progress. Its progress is the time its busiest
//!   thread ran since the question, or all its CPU time spread over its CPUs, whichever is more.
//!
//! So a bot is charged for at least the time its busiest thread ran, and, with one CPU, for everything it used. Threads
//! that wait beside the thinking one do not change that; what is counted twice when several wait at once is time in
//! which the bot stood still.
//!
//! In a sandbox of level A the CPU time is the kernel's count of everything that ran there, so that processes which come
//! and go between two looks gain nothing: however many wait, a bot that used all of its CPUs was not kept waiting.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::sys::ThreadTime;

/// How many looks are remembered, to know what ran during a wait.
const LOOKS: usize = 64;
/// Two counters with steps of 10 ms may hide nearly this much more.
const COARSE: Duration = Duration::from_millis(20);

/// What a bot's processes have used up to a moment.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// CPU time of all known processes since they were first seen; none when it cannot be known.
    pub cpu: Option<Duration>,
    /// CPU time of ended processes, as far as they were waited for; in steps of 10 ms. None if not asked.
    pub(crate) ended: Option<Duration>,
    /// The counters of threads.
    pub(crate) threads: Vec<(Pid, ThreadTime)>,
    /// Whether `threads` is complete.
    pub(crate) whole: bool,
}

impl Usage {
    fn of(&self, thread: Pid) -> Option<ThreadTime> {
        self.threads.iter().find(|(other, _)| *other == thread).map(|(_, time)| *time)
    }
}

/// A look at a bot.
struct Look {
    at: Instant,
    usage: Usage,
    /// CPU time since the first look, ended processes included.
    all: Duration,
}

/// A thread that was seen.
struct Seen {
    time: ThreadTime,
    /// How long it ran since the bot was asked.
    ran: Duration,
    /// The look that first found these counters.
    since: Arc<Look>,
}

/// How long the machine has kept a bot waiting since it was asked.
pub struct KeptWaiting {
    /// Number of CPUs the bot may run on.
    cpus: u32,
    asked: Instant,
    /// The most recent looks; never empty.
    looks: VecDeque<Arc<Look>>,
    seen: HashMap<Pid, Seen>,
    /// The last look that saw all threads: threads that appear later began with counters at zero.
    whole: Option<Arc<Look>>,
    /// CPU time of ended processes: at the first look that asked, and since then.
    ended: Option<(Duration, Duration)>,
    /// The waits of all threads, added up.
    waits: Duration,
    /// How long the busiest thread ran.
    busiest: Duration,
}

impl KeptWaiting {
    /// Starts when a bot that may run on this many CPUs is asked.
    pub fn new(asked: Instant, usage: Usage, cpus: usize) -> Self {
        let whole = usage.whole;
        let first = Arc::new(Look { at: asked, usage, all: Duration::ZERO });
        let seen = |&(thread, time): &(Pid, ThreadTime)| {
            (thread, Seen { time, ran: Duration::ZERO, since: first.clone() })
        };
        Self {
            cpus: u32::try_from(cpus.max(1)).unwrap_or(u32::MAX),
            asked,
            seen: first.usage.threads.iter().map(seen).collect(),
            whole: whole.then(|| first.clone()),
            ended: first.usage.ended.map(|ended| (ended, Duration::ZERO)),
            looks: VecDeque::from([first]),
            waits: Duration::ZERO,
            busiest: Duration::ZERO,
        }
    }

    /// Adds a look. What cannot be known is not held against the machine.
    pub fn note(&mut self, at: Instant, usage: Usage) {
        let last = self.looks.back().expect("never empty").clone();
        let (Some(before), Some(now)) = (last.usage.cpu, usage.cpu) else { return };
        let ended_before = self.ended.map_or(Duration::ZERO, |(_, since)| since);
        match (&mut self.ended, usage.ended) {
            (Some((first, since)), Some(ended)) => {
                let more = ended.saturating_sub(*first);
                *since = if more.is_zero() { more } else { more + COARSE };
            }
            (none, ended) => *none = none.take().or(ended.map(|ended| (ended, Duration::ZERO))),
        }
        let ended = self.ended.map_or(Duration::ZERO, |(_, since)| since).saturating_sub(ended_before);
        let used = now.saturating_sub(before) + ended;
        let look = Arc::new(Look { at, all: last.all + used, usage });
        for &(thread, time) in &look.usage.threads {
            let (earlier, ran, since) = match (self.seen.get(&thread), &self.whole) {
                (Some(seen), _) => (seen.time, seen.ran, seen.since.clone()),
                (None, Some(whole)) => (ThreadTime::default(), Duration::ZERO, whole.clone()),
                (None, None) => (time, Duration::ZERO, look.clone()),
            };
            let own = time.cpu.saturating_sub(earlier.cpu);
            let wait = time.waited.saturating_sub(earlier.waited);
            let ran = ran + own;
            self.busiest = self.busiest.max(ran);
            if !wait.is_zero() {
                let since = self.began(wait, &last, since);
                self.waits += wait.saturating_sub(self.own_doing(thread, own, &since, &look));
            }
            if !own.is_zero() || !wait.is_zero() || !self.seen.contains_key(&thread) {
                self.seen.insert(thread, Seen { time, ran, since: look.clone() });
            }
        }
        if look.usage.whole {
            self.whole = Some(look.clone());
            self.seen.retain(|thread, _| look.usage.of(*thread).is_some());
        }
        if self.looks.len() == LOOKS {
            self.looks.pop_front();
        }
        self.looks.push_back(look);
    }

    /// The last look at which a wait certainly had not begun: it ended after `last`, and began after the thread's
    /// counters were last seen to change.
    fn began(&self, wait: Duration, last: &Look, changed: Arc<Look>) -> Arc<Look> {
        let surely = |look: &&Arc<Look>| look.at + wait <= last.at;
        match self.looks.iter().rev().find(surely) {
            Some(look) if look.at > changed.at => look.clone(),
            _ => changed,
        }
    }

    /// How much of a thread's wait the bot's other threads may have caused. At each such moment as many of them ran as
    /// there are CPUs, and at most `j` of those can be the `j` busiest, for each `j`.
    fn own_doing(&self, thread: Pid, own: Duration, since: &Look, now: &Look) -> Duration {
        let mut rest = now.all.saturating_sub(since.all).saturating_sub(own);
        let others = now.usage.threads.iter().filter(|(other, _)| *other != thread);
        let mut ran: Vec<Duration> = others
            .filter_map(|(other, time)| Some(time.cpu.saturating_sub(since.usage.of(*other)?.cpu)))
            .collect();
        ran.sort_unstable_by(|a, b| b.cmp(a));
        let mut least = rest / self.cpus;
        for (cpus, ran) in (1..self.cpus).rev().zip(ran) {
            rest = rest.saturating_sub(ran);
            least = least.min(rest / cpus);
        }
        least
    }

    /// How long it was kept waiting up to the last look.
    pub fn total(&self) -> Duration {
        self.at_most(self.waits)
    }

    /// At most the time in which it made no progress, up to the last look: no wait is longer.
    pub fn at_most(&self, wait: Duration) -> Duration {
        let Some(last) = self.looks.back() else { return Duration::ZERO };
        let got_on = self.busiest.max(last.all / self.cpus);
        wait.min(last.at.duration_since(self.asked).saturating_sub(got_on))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Milliseconds a bot was kept waiting that is looked at every 4 ms; of each thread, the milliseconds it ran and
    /// waited between two looks.
    fn kept(cpus: usize, looks: &[&[(u64, u64)]]) -> u128 {
        let began = Instant::now();
        let mut times: Vec<ThreadTime> = Vec::new();
        let usage = |times: &[ThreadTime]| {
            let threads =
                (1..).zip(times).map(|(number, time)| (Pid::from_raw(number).expect("not 0"), *time));
            let cpu = times.iter().map(|time| time.cpu).sum();
            Usage { cpu: Some(cpu), ended: Some(Duration::ZERO), threads: threads.collect(), whole: true }
        };
        let most = looks.iter().map(|look| look.len()).max().unwrap_or_default();
        times.resize(most, ThreadTime::default());
        let mut kept = KeptWaiting::new(began, usage(&times), cpus);
        for (number, look) in (1..).zip(looks) {
            for (time, &(ran, waited)) in times.iter_mut().zip(*look) {
                time.cpu += MS(ran);
                time.waited += MS(waited);
            }
            kept.note(began + number * MS(4), usage(&times));
        }
        kept.total().as_millis()
    }

    #[test]
    fn a_thread_alone_is_not_charged_for_its_waits() {
        assert_eq!(kept(1, &[&[(4, 0)], &[(1, 3)], &[(4, 0)]]), 3);
        assert_eq!(kept(2, &[&[(4, 0)], &[(1, 3)], &[(4, 0)]]), 3);
        // The system counts a wait when it ends.
        assert_eq!(kept(1, &[&[(0, 0)], &[(0, 0)], &[(2, 10)]]), 10);
    }

    #[test]
    fn threads_that_share_a_cpu_do_not_keep_each_other_waiting() {
        let turns: &[&[(u64, u64)]] = &[&[(2, 2), (2, 2)], &[(4, 0), (0, 4)], &[(0, 4), (4, 0)]];
        assert_eq!(kept(1, turns), 0);
        // Eight threads that each want all of two CPUs, and get them.
        assert_eq!(kept(2, &[&[(1, 3); 8], &[(1, 3); 8]]), 0);
        // The same with another program on one of them: half of the time is lost.
        let half: &[(u64, u64)] = &[(1, 3), (1, 3), (1, 3), (1, 3), (0, 4), (0, 4), (0, 4), (0, 4)];
        assert!((2..=4).contains(&kept(2, &[half])), "{}", kept(2, &[half]));
    }

    #[test]
    fn waits_one_after_the_other_are_added_up() {
        // The thread that thinks waits, then the collector that stops it, then the thread again.
        let turns: &[&[(u64, u64)]] = &[&[(1, 3), (0, 0)], &[(0, 0), (1, 3)], &[(1, 3), (0, 0)]];
        assert_eq!(kept(2, turns), 9);
    }

    #[test]
    fn a_compiler_of_its_own_on_the_other_cpu_is_no_reason_to_wait() {
        // Only two of its own threads on both CPUs could keep the first from running.
        let looks: &[&[(u64, u64)]] =
            &[&[(4, 0), (4, 0)], &[(1, 3), (4, 0)], &[(1, 3), (0, 0)], &[(4, 0), (0, 0)]];
        assert_eq!(kept(2, looks), 6);
        // On one CPU it is.
        assert_eq!(kept(1, &[&[(1, 3), (3, 0)][..]; 2]), 0);
    }

    #[test]
    fn who_gets_on_was_not_kept_waiting() {
        // A second thread waits all the time while the first thinks.
        assert_eq!(kept(2, &[&[(4, 0), (0, 4)][..]; 10]), 0);
        // Nor does a long wait count that is reported later.
        assert_eq!(kept(2, &[&[(4, 0), (0, 0)], &[(4, 0), (0, 0)], &[(4, 0), (0, 12)]]), 0);
        // When they take turns thinking, nothing is gained beyond the CPUs they have.
        let turns: &[&[(u64, u64)]] = &[&[(2, 0), (2, 0), (0, 4)][..]; 10];
        assert!(kept(2, turns) <= 20, "{}", kept(2, turns));
        assert_eq!(kept(1, turns), 0);
    }

    #[test]
    fn what_is_unknown_is_not_held_against_the_machine() {
        let began = Instant::now();
        let mut none = KeptWaiting::new(began, Usage::default(), 2);
        none.note(began + MS(50), Usage::default());
        assert_eq!(none.total(), Duration::ZERO);
        // A new thread, when not all threads were seen before.
        let thread = |waited| {
            let time = ThreadTime { cpu: Duration::ZERO, waited: MS(waited) };
            let threads = vec![(Pid::from_raw(1).expect("not 0"), time)];
            Usage { cpu: Some(Duration::ZERO), ended: None, threads, whole: false }
        };
        let some = || Usage { threads: Vec::new(), ..thread(0) };
        let mut late = KeptWaiting::new(began, some(), 1);
        late.note(began + MS(50), thread(30));
        assert_eq!(late.total(), Duration::ZERO);
        late.note(began + MS(60), thread(37));
        assert_eq!(late.total(), MS(7));
    }

    #[test]
    fn a_child_that_came_and_went_counts_as_far_as_the_system_says() {
        let began = Instant::now();
        let usage = |waited, ended| {
            let time = ThreadTime { cpu: Duration::ZERO, waited: MS(waited) };
            let threads = vec![(Pid::from_raw(1).expect("not 0"), time)];
            Usage { cpu: Some(Duration::ZERO), ended: Some(MS(ended)), threads, whole: true }
        };
        let mut kept = KeptWaiting::new(began, usage(7, 0), 1);
        kept.note(began + MS(40), usage(37, 10));
        assert_eq!(kept.total(), Duration::ZERO);
    }
}
