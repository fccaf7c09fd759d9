//! The loop: lease, make ready, play, post.

mod forgetting;
mod posting;

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_bot::{BotName, sys};
use agon_match::CpuShares;

use crate::play::{HeldRecord, MatchEnd, PreparedGame};
use crate::positions::tried;
use crate::protocol::{Away, BotSource, Hall, Job, Nothing, Try, Unfit};
use crate::versions::{ReadyBot, Unready, VersionShelf};
use posting::Done;

/// A worker's settings.
#[derive(Clone, Debug)]
pub struct PlaySettings {
    /// Matches played at the same time.
    pub jobs: usize,
    /// Distinguishes the requests of this run from those of any other.
    pub run: String,
    /// How often a lease is renewed.
    pub beat: Duration,
    /// How long to wait before asking again when there is nothing to play, or the server is away.
    pub idle: Duration,
    /// Whether this process's other work keeps off the CPUs that play matches, if there are others.
    pub aside: bool,
}

/// How long a lease should last.
const BATCH: Duration = Duration::from_secs(5);

/// How often a waiting thread checks whether it is time to stop.
const MOMENT: Duration = Duration::from_millis(20);

/// How often a thread waiting for a change wakes anyway: nobody is notified when it is time to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How long a result waits for others while matches are played, and how long a quick match goes on before the server is
/// told that it began: several then share a request and a transaction, and a match already over by then need not be
/// reported as begun.
const GATHER: Duration = Duration::from_millis(20);

/// Longest pause before a server that is away is asked again.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A number from 0 up to 1.
fn chance() -> f64 {
    let mut bytes = [0; 4];
    // Without randomness everybody waits equally long.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
}

/// How long to wait before asking a server that is away again: longer each time, and different for each machine, so
/// that machines it lost at the same time do not return at the same time.
pub struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Self(Duration::from_millis(200))
    }
}

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let pause = self.0.mul_f64(0.5 + 0.5 * chance());
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
        Some(pause)
    }
}

/// A match waiting here for a thread.
struct Waiting {
    lease: i64,
    job: Job,
}

/// What became of a match.
enum Ended {
    /// It is over, and the server knows.
    Told,
    /// It is over, and its result is to be posted.
    Played(Box<HeldRecord>),
    /// It is returned.
    Not,
}

/// The reason for a match in which this program itself failed.
fn panicked() -> Nothing {
    Nothing::again("ours: agon itself panicked in the match; please report it")
}

/// State shared by the threads.
struct Shared<'a> {
    hall: &'a dyn Hall,
    table: &'a PreparedGame,
    versions: &'a VersionShelf,
    settings: &'a PlaySettings,
    stop: &'a AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
    requests: AtomicU64,
    /// The memory that a match may take, in bytes.
    memory: u64,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// For each lease, how many matches are not over.
    open: BTreeMap<i64, usize>,
    playing: BTreeMap<Try, (i64, Arc<AtomicU32>)>,
    /// Matches that have begun and still have to be reported to the server, with their start times.
    begun: VecDeque<(Try, Instant)>,
    /// Matches that are over, in the order they ended.
    done: VecDeque<Done>,
    /// The bytes of all of them, including those being posted.
    kept: usize,
    /// How long matches take, in seconds: a moving average.
    usual: Option<f64>,
    /// Playing threads that are not done.
    threads: usize,
    /// How many of them wait for a match.
    idle: usize,
    /// How many of them have one.
    busy: u64,
    /// For how many matches this machine had memory when none was played.
    room: u64,
    /// Whether more matches may still come.
    asks: bool,
    /// Whether results may still be posted.
    posts: bool,
}

impl State {
    /// Whether more results are coming that could be posted together with those at hand.
    fn more_come(&self) -> bool {
        !self.playing.is_empty() || !self.waiting.is_empty()
    }

    /// How long until the next begun match must be reported; none if no such match is in play.
    fn untold(&mut self) -> Option<Duration> {
        // The result of a finished match implies that it began.
        let playing = &self.playing;
        self.begun.retain(|(attempt, _)| playing.contains_key(attempt));
        Some(GATHER.saturating_sub(self.begun.front()?.1.elapsed()))
    }

    /// Records that a match of a lease is over, and the server knows.
    fn close(&mut self, lease: i64) {
        if let Some(open) = self.open.get_mut(&lease) {
            *open -= 1;
            if *open == 0 {
                self.open.remove(&lease);
            }
        }
    }
}

/// Plays until `stop` becomes true. Then the matches in play are returned.
///
/// The caller's threads are not used: the thread that starts a bot must outlive it, so each match is played from start
/// to end by one thread of this function.
pub fn run(
    hall: &dyn Hall,
    table: &PreparedGame,
    versions: &VersionShelf,
    settings: &PlaySettings,
    stop: &AtomicBool,
) {
    let state = State { threads: settings.jobs, asks: true, posts: true, ..State::default() };
    let shared = Shared {
        hall,
        table,
        versions,
        settings,
        stop,
        state: Mutex::new(state),
        changed: Condvar::new(),
        requests: AtomicU64::new(0),
        memory: versions.memory(table.seats()),
    };
    let shares = CpuShares::claim(settings.jobs, table.cpus());
    let others = shares.others();
    if settings.aside && !others.is_empty() {
        sys::all_stay_on(&others);
    }
    std::thread::scope(|scope| {
        for own in shares.iter() {
            let shared = &shared;
            scope.spawn(move || {
                sys::stay_on(own);
                // Whatever happens in it, nobody waits for this thread for ever.
                let _ = catch_unwind(AssertUnwindSafe(|| shared.work(own)));
                shared.lock().threads -= 1;
                shared.changed.notify_all();
            });
        }
        scope.spawn(|| {
            // As above.
            let _ = catch_unwind(AssertUnwindSafe(|| shared.ask()));
            shared.lock().asks = false;
            shared.changed.notify_all();
        });
        scope.spawn(|| {
            // As above.
            let _ = catch_unwind(AssertUnwindSafe(|| shared.post()));
            shared.lock().posts = false;
            shared.changed.notify_all();
        });
        // In a thread of its own: much may have to be removed, and no lease waits for that.
        scope.spawn(|| shared.forget());
        shared.keep_alive();
    });
    // Nobody has to wait for a lease to run out.
    let open: Vec<i64> = shared.lock().open.keys().copied().collect();
    for lease in open {
        let _ = hall.abort(lease);
    }
}

impl Shared<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits until something has changed, or for a moment.
    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.wait_for(state, LOOK)
    }

    /// The same, for at most `most`.
    fn wait_for<'s>(&self, state: MutexGuard<'s, State>, most: Duration) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_timeout(state, most);
        waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Renews leases until all threads are done.
    fn keep_alive(&self) {
        let mut last = Instant::now();
        let mut state = self.lock();
        while state.threads > 0 || state.posts {
            let (next, _) = self
                .changed
                .wait_timeout(state, Duration::from_millis(100))
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            state = next;
            if last.elapsed() < self.settings.beat {
                continue;
            }
            last = Instant::now();
            let leases: Vec<(i64, Vec<(Try, u32)>)> = state
                .open
                .keys()
                .map(|lease| {
                    let its = state.playing.iter().filter(|(_, (own, _))| own == lease);
                    (
                        *lease,
                        its.map(|(attempt, (_, turn))| (*attempt, turn.load(Ordering::Relaxed))).collect(),
                    )
                })
                .collect();
            drop(state);
            let gone: Vec<i64> = leases
                .into_iter()
                .filter(|(lease, playing)| self.hall.beat(*lease, playing) == Ok(false))
                .map(|(lease, _)| lease)
                .collect();
            state = self.lock();
            // Matches not begun are somebody else's now; those in play may still finish first.
            state.open.retain(|lease, _| !gone.contains(lease));
            state.waiting.retain(|waiting| !gone.contains(&waiting.lease));
        }
    }

    fn work(&self, cpus: &[usize]) {
        while let Some(Waiting { lease, job }) = self.take() {
            let attempt = job.attempt;
            let turn = Arc::new(AtomicU32::new(0));
            self.lock().playing.insert(attempt, (lease, Arc::clone(&turn)));
            let finished = catch_unwind(AssertUnwindSafe(|| self.one(&job, cpus, &turn)));
            self.lock().busy -= 1;
            let ended = finished.unwrap_or_else(|_| self.told(attempt, &panicked()));
            if let Ended::Played(recorded) = ended {
                self.leave(Done::new(lease, &job, recorded));
                continue;
            }
            let mut state = self.lock();
            state.playing.remove(&attempt);
            if matches!(ended, Ended::Told) {
                state.close(lease);
            }
        }
    }

    /// The next match; none when it is time to stop.
    fn take(&self) -> Option<Waiting> {
        let mut state = self.lock();
        state.idle += 1;
        self.changed.notify_all();
        let next = loop {
            if self.stopped() {
                break None;
            }
            let is_next = !state.waiting.is_empty() && self.has_room(&mut state);
            let next = if is_next { state.waiting.pop_front() } else { None };
            match next {
                None if state.asks || !state.waiting.is_empty() => {
                    state = self.wait(state);
                }
                next => break next,
            }
        };
        state.idle -= 1;
        state.busy += u64::from(next.is_some());
        next
    }

    /// Whether there is memory for another match. What bots have not used yet may be theirs any moment, so the matches are
    /// counted; and what other programs have taken meanwhile is gone.
    fn has_room(&self, state: &mut State) -> bool {
        if self.memory == 0 {
            return true;
        }
        let free = sys::free_memory();
        if state.busy == 0 {
            state.room = free / self.memory;
        }
        state.busy < state.room && free >= self.memory
    }

    /// Requests more matches until it is time to stop: quick ones before the last has begun, so that no thread waits
    /// for the answer; slow ones when a thread is free, as others may be free sooner. Also reports which have begun.
    fn ask(&self) {
        let mut state = self.lock();
        while !self.stopped() {
            let untold = state.untold();
            if untold == Some(Duration::ZERO)
                && let Some((attempt, _)) = state.begun.pop_front()
            {
                drop(state);
                // If a match is somebody else's by now, that shows when it is posted.
                let _ = self.persist(|| self.hall.start(attempt));
                state = self.lock();
                continue;
            }
            let most = self.batch(&state);
            let ahead = if most > 1 { self.settings.jobs } else { 0 };
            if state.waiting.len() >= state.idle + ahead || !self.has_room(&mut state) {
                state = self.wait_for(state, untold.unwrap_or(LOOK));
                continue;
            }
            drop(state);
            let request = format!("{}-{}", self.settings.run, self.requests.fetch_add(1, Ordering::Relaxed));
            let granted = self.persist(|| self.hall.lease(&request, most)).unwrap_or_default();
            let Some(lease) = granted.lease else {
                let until = Instant::now() + self.settings.idle;
                while !self.stopped() && Instant::now() < until && !self.hall.rest(MOMENT) {}
                state = self.lock();
                continue;
            };
            state = self.lock();
            state.open.insert(lease, granted.jobs.len());
            state.waiting.extend(granted.jobs.into_iter().map(|job| Waiting { lease, job }));
            self.changed.notify_all();
        }
    }

    /// How many matches fill a batch: 1, 8 or 32.
    fn batch(&self, state: &State) -> usize {
        let usual = state.usual.unwrap_or(BATCH.as_secs_f64());
        let fits = BATCH.as_secs_f64() * self.settings.jobs as f64 / usual.max(1e-3);
        match fits {
            fits if fits >= 32.0 => 32,
            fits if fits >= 8.0 => 8,
            _ => 1,
        }
    }

    fn rest(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.stopped() && Instant::now() < until {
            std::thread::sleep(MOMENT.min(time));
        }
    }

    /// Repeats a call while the server is away; none when it is time to stop.
    fn persist<T>(&self, mut call: impl FnMut() -> Result<T, Away>) -> Option<T> {
        for pause in Pauses::default() {
            match call() {
                Ok(answer) => return Some(answer),
                Err(_) if self.stopped() => return None,
                Err(_) => self.rest(pause),
            }
        }
        None
    }

    /// Tells the server that a match begins: if this worker vanishes with it, the attempt counts. A quick match does
    /// not wait for the answer. `false` if the match is somebody else's by now; none when it is time to stop.
    fn begin(&self, attempt: Try) -> Option<bool> {
        let mut state = self.lock();
        if self.batch(&state) == 1 {
            drop(state);
            return self.persist(|| self.hall.start(attempt));
        }
        state.begun.push_back((attempt, Instant::now()));
        self.changed.notify_all();
        Some(true)
    }

    /// Tells the server that a match came to nothing.
    fn told(&self, attempt: Try, nothing: &Nothing) -> Ended {
        match self.persist(|| self.hall.void(attempt, nothing)) {
            Some(()) => Ended::Told,
            None => Ended::Not,
        }
    }

    /// Plays one match.
    fn one(&self, job: &Job, cpus: &[usize], turn: &AtomicU32) -> Ended {
        let attempt = job.attempt;
        let void = |nothing: Nothing| self.told(attempt, &nothing);
        // Held until the match is over, which keeps their files.
        let held: Vec<ReadyBot> = match self.ready(job) {
            // Returned if we were stopped; otherwise it is somebody else's by now.
            None if self.stopped() => return Ended::Not,
            None => return Ended::Told,
            Some(Ok(held)) => held,
            Some(Err(Unready::Unfit(unfit))) => {
                return void(Nothing::hopeless(unfit));
            }
            Some(Err(Unready::Ours(why))) => return void(Nothing::again(format!("ours: {why}"))),
        };
        match self.begin(attempt) {
            Some(true) => {}
            Some(false) => return Ended::Told,
            None => return Ended::Not,
        }
        let bots: Vec<BotName> = held.iter().map(|standing| standing.bot.clone()).collect();
        let began = Instant::now();
        let played = self.table.play(job, &bots, cpus, self.stop, turn);
        match played {
            Ok(MatchEnd::Stopped) => Ended::Not,
            Ok(MatchEnd::Whole(mut recorded)) => {
                let took = began.elapsed().as_secs_f64();
                if let Some(seat) = job.tried.filter(|_| !job.positions.is_empty()) {
                    let tried = tried(self.hall, self.table, &job.positions, &bots[seat], self.stop, turn);
                    recorded.tried = Some((seat, tried));
                }
                let mut state = self.lock();
                state.usual = Some(state.usual.map_or(took, |usual| 0.9 * usual + 0.1 * took));
                Ended::Played(recorded)
            }
            Ok(MatchEnd::Unfit(unfit)) => void(Nothing::hopeless(unfit)),
            Ok(MatchEnd::Void(nothing)) => void(*nothing),
            Err(why) => void(Nothing::again(format!("ours: {why}"))),
        }
    }

    /// The bots of a match, made ready; none if the match is somebody else's, or it is time to stop.
    fn ready(&self, job: &Job) -> Option<Result<Vec<ReadyBot>, Unready>> {
        let mut bots = Vec::new();
        for (seat, sitting) in job.seats.iter().enumerate() {
            // The author trying out a bot is not told what is wrong with others.
            let checked = match &sitting.program {
                BotSource::Source(sha) if job.tried == Some(seat) => Some(sha),
                _ => None,
            };
            if checked.is_some() && !self.persist(|| self.hall.building(job.attempt))? {
                return None;
            }
            let ready = self.versions.ready(self.hall, &sitting.program);
            if let Some(sha) = checked {
                let log = self.versions.log(sha);
                self.persist(|| self.hall.built(job.attempt, &log))?;
            }
            match ready {
                Ok(bot) => bots.push(bot),
                Err(Unready::Unfit(unfit)) if checked.is_none() => {
                    let what = format!("{}: {}", sitting.label, unfit.what);
                    return Some(Err(match self.hall.is_one_persons() {
                        true => Unready::Unfit(Unfit { what, ..unfit }),
                        false => Unready::Ours(what),
                    }));
                }
                Err(unready) => return Some(Err(unready)),
            }
        }
        Some(Ok(bots))
    }
}
