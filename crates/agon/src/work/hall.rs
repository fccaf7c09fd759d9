//! The server of a contest, as seen by a worker on another machine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agon_store::Sha;
use agon_worker::wire::{
    Back, Beat, LARGEST_SOURCE, LeaseRequest, MOST_LEASED, MOST_UNPACKED, NextPiece, OTHER_CONDITIONS,
    OTHER_IMAGE, PostedResult as Sent, ReceivedAll, Unpacked, Voided, Yours, check,
};
use agon_worker::{Away, Granted, Hall, Nothing, Posted, PreparedGame, Try, Whole};

use crate::common::online::{Online, Trouble};
use crate::common::screen::harmless;

/// How long to keep waiting for files to play when the server goes away meanwhile.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long the server may hold a request when there is nothing to play. Ending this process takes as long.
const WAIT_MS: u64 = 1_000;
/// Longer reasons are cut to this many characters: the server stores no more.
const LONGEST_WHY: usize = 4_000;

/// Why a server no longer accepts this machine.
#[derive(Clone, Debug)]
pub struct RefusedMachine {
    pub why: String,
    /// Whether it would under the conditions that its organiser has set meanwhile.
    pub may_join_again: bool,
}

/// The server, over HTTP.
pub struct Far<'a> {
    online: &'a Online,
    run: String,
    stop: &'a AtomicBool,
    over: &'a OnceLock<RefusedMachine>,
    /// Whether it is a fleet, where all bots belong to one person.
    fleet: bool,
    played: Arc<Played>,
    /// What is played: the server may ask for nothing else.
    table: &'a PreparedGame,
}

/// Counts of what was played so far.
#[derive(Default)]
pub struct Played {
    kept: AtomicU64,
    void: AtomicU64,
    refused: AtomicU64,
    away: AtomicBool,
}

impl Played {
    /// Records whether the server is away.
    pub fn away(&self, away: bool) {
        self.away.store(away, Ordering::Relaxed);
    }

    /// The status, as a sentence.
    pub fn told(&self) -> String {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut text = format!("{} results have reached the contest", load(&self.kept));
        for (count, what) in [(load(&self.void), "failed"), (load(&self.refused), "were not wanted any more")]
        {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        if self.away.load(Ordering::Relaxed) {
            text += "; the contest is away; asking again";
        }
        text
    }
}

/// The outcome of a call.
enum Came<T> {
    Answer(T),
    /// The server rejects this request: repeating it is useless.
    Unwanted(String),
}

impl<'a> Far<'a> {
    /// The server that admitted the process `run`. When it refuses for good, `over` gets the reason and `stop` is set.
    pub fn new(
        online: &'a Online,
        run: String,
        stop: &'a AtomicBool,
        over: &'a OnceLock<RefusedMachine>,
        played: Arc<Played>,
        table: &'a PreparedGame,
    ) -> Self {
        Self { online, run, stop, over, fleet: false, played, table }
    }

    /// The same for a fleet: `stop` is also set when the machine is to play something else.
    pub fn of_fleet(self) -> Self {
        Self { fleet: true, ..self }
    }

    fn query(&self) -> [(&'static str, String); 1] {
        [("run", self.run.clone())]
    }

    /// Tells apart: the server is away, refuses for good, or refuses this request.
    fn sort<T>(&self, answer: Result<T, Trouble>) -> Result<Came<T>, Away> {
        self.played.away.store(matches!(answer, Err(Trouble::Away(_))), Ordering::Relaxed);
        match answer {
            Ok(answer) => Ok(Came::Answer(answer)),
            Err(Trouble::Away(why) | Trouble::Strange(why)) => Err(Away(why)),
            Err(Trouble::Refused(problem)) => {
                let why = match problem.status {
                    401 => "the contest no longer knows this machine's token".to_owned(),
                    _ => harmless(&format!("{}: {}", problem.title, problem.detail))
                        .chars()
                        .take(1000)
                        .collect(),
                };
                match problem.status {
                    // It does not know the token, has revoked it, or has admitted another process with it.
                    401 | 403 | 409 => {
                        let may_join_again =
                            [OTHER_CONDITIONS, OTHER_IMAGE].contains(&problem.title.as_str());
                        let _ = self.over.set(RefusedMachine { why, may_join_again });
                        self.stop.store(true, Ordering::SeqCst);
                        Err(Away(problem.title))
                    }
                    410 if self.fleet => {
                        self.stop.store(true, Ordering::SeqCst);
                        Err(Away(problem.title))
                    }
                    429 | 500.. => Err(Away(why)),
                    _ => Ok(Came::Unwanted(why)),
                }
            }
        }
    }

    /// Sends results, and returns what became of each.
    fn send(&self, over: &[(Try, Whole)]) -> Result<Vec<Posted>, Away> {
        let line = |(attempt, whole): &(Try, Whole)| Sent {
            attempt: *attempt,
            observed: whole.observed.clone(),
            own: whole.own.clone(),
        };
        let lines: Vec<Sent> = over.iter().map(line).collect();
        let parts = lines.iter().zip(over).map(|(line, (_, whole))| (line, &whole.replay[..]));
        // Serialising fails only for numbers that JSON lacks, and nothing that is observed has any.
        let Ok(bytes) = Sent::with_all(parts) else { return Ok(vec![Posted::Refused; over.len()]) };
        match self.sort(self.online.send::<ReceivedAll>("/results", &self.query(), &bytes))? {
            Came::Answer(received) if received.posted.len() == over.len() => Ok(received.posted),
            Came::Answer(_) => Err(Away("it answers about results that were not sent".to_owned())),
            Came::Unwanted(_) if over.len() == 1 => Ok(vec![Posted::Refused]),
            // One bad result makes the whole batch fail: send each alone.
            Came::Unwanted(_) => {
                let each = over.iter().map(|one| self.send(std::slice::from_ref(one)));
                Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
            }
        }
    }

    /// Whether the match still belongs to this worker.
    fn yours(&self, path: &str, what: &impl serde::Serialize) -> Result<bool, Away> {
        let answer = self.sort(self.online.tell::<Yours>(path, &self.query(), what))?;
        Ok(matches!(answer, Came::Answer(Yours { yours: true })))
    }
}

impl Hall for Far<'_> {
    fn is_one_persons(&self) -> bool {
        self.fleet
    }

    fn lease(&self, request: &str, most: usize) -> Result<Granted, Away> {
        let wanted = LeaseRequest { request: request.to_owned(), most, wait_ms: WAIT_MS };
        match self.sort(self.online.tell::<Granted>("/lease", &self.query(), &wanted))? {
            Came::Unwanted(why) => Err(Away(why)),
            Came::Answer(granted) => {
                // Before anything is fetched or started for it.
                let check = |job| check(job).and_then(|()| self.table.check(job)).err();
                let wrong = granted.jobs.iter().find_map(check);
                if let Some(why) = wrong.or_else(|| {
                    (granted.jobs.len() > MOST_LEASED).then(|| "it gives more than was asked for".to_owned())
                }) {
                    let told = format!(
                        "{}: {}; nothing of that is played here",
                        self.online.address,
                        harmless(&why)
                    );
                    let _ = self.over.set(RefusedMachine { why: told, may_join_again: false });
                    self.stop.store(true, Ordering::SeqCst);
                    return Err(Away(why));
                }
                Ok(granted)
            }
        }
    }

    fn start(&self, attempt: Try) -> Result<bool, Away> {
        self.yours("/start", &attempt)
    }

    fn tell(&self, attempt: Try, piece: u64, chunks: &[u8]) -> Result<Option<u64>, Away> {
        let (game, n) = (attempt.game.to_string(), attempt.n.to_string());
        let query = [("run", self.run.clone()), ("game", game), ("n", n), ("piece", piece.to_string())];
        match self.sort(self.online.send::<NextPiece>("/told", &query, chunks))? {
            Came::Answer(NextPiece { next }) => Ok(next),
            // It can do without.
            Came::Unwanted(_) => Ok(None),
        }
    }

    fn beat(&self, lease: i64, playing: &[(Try, u32)]) -> Result<bool, Away> {
        self.yours("/beat", &Beat { lease, playing: playing.to_vec() })
    }

    fn building(&self, attempt: Try) -> Result<bool, Away> {
        self.yours("/building", &attempt)
    }

    fn built(&self, attempt: Try, log: &[u8]) -> Result<(), Away> {
        let query =
            [("run", self.run.clone()), ("game", attempt.game.to_string()), ("n", attempt.n.to_string())];
        self.sort(self.online.send::<()>("/built", &query, log)).map(drop)
    }

    fn post(&self, over: &[(Try, Whole)]) -> Result<Vec<Posted>, Away> {
        let posted = self.send(over)?;
        for posted in &posted {
            let count = if *posted == Posted::Kept { &self.played.kept } else { &self.played.refused };
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(posted)
    }

    fn void(&self, attempt: Try, nothing: &Nothing) -> Result<(), Away> {
        let why = nothing.why.chars().take(LONGEST_WHY).collect();
        let unfit = nothing.unfit.as_ref().map(|unfit| unfit.bounded(LONGEST_WHY));
        let voided = Voided { attempt, nothing: Nothing { why, unfit, ..nothing.clone() } };
        self.sort(self.online.tell::<()>("/void", &self.query(), &voided))?;
        self.played.void.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn abort(&self, lease: i64) -> Result<(), Away> {
        self.sort(self.online.tell::<()>("/abort", &self.query(), &Back { lease })).map(drop)
    }

    fn unneeded(&self, unpacked: &[String]) -> Result<Vec<String>, Away> {
        let mut gone = Vec::new();
        for sources in unpacked.chunks(MOST_UNPACKED) {
            let unpacked = Unpacked { sources: sources.to_vec() };
            if let Came::Answer(Unpacked { sources: named }) =
                self.sort(self.online.tell::<Unpacked>("/unpacked", &self.query(), &unpacked))?
            {
                gone.extend(named.into_iter().filter(|source| sources.contains(source)));
            }
        }
        Ok(gone)
    }

    fn fetch(&self, sha: &str) -> Result<Vec<u8>, Away> {
        let query = [("run", self.run.clone()), ("sha", sha.to_owned())];
        let began = Instant::now();
        loop {
            let why = match self.sort(self.online.fetch("/source", &query, LARGEST_SOURCE)) {
                Ok(Came::Answer(bytes)) if Sha::of(&bytes).to_string() == sha => return Ok(bytes),
                Ok(Came::Answer(_)) => Away("what came is not what was asked for".to_owned()),
                Ok(Came::Unwanted(why)) => return Err(Away(why)),
                Err(away) => away,
            };
            if self.stop.load(Ordering::Relaxed) || began.elapsed() > PATIENCE {
                return Err(why);
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}
