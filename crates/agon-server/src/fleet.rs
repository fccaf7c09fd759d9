//! A fleet: an author's own machines play the matches of series that commands at home own. Here is which machine plays which match of which
//! series. Plain data; the time, in milliseconds since it began, is a parameter.
//!
//! Longer than 500 lines: series, machines, matches and leases change together, and are best read as one.
//!
//! A command has the journal, the statistics and the decision; a machine is a worker as in a contest. What is between them persists nothing:
//! if it is killed, the command hands its matches out again and the machines introduce themselves anew.
//!
//! A machine plays one series at a time, whose terms it has read. Series share the machines: one that joins, or finds nothing more to play,
//! goes to the series with the fewest. A match is handed out again when its machine has been silent for [`LEASE_MS`], and its first result
//! counts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use agon_contest::Observed;
use agon_worker::fit::Requirements;
use agon_worker::fleet::{
    Exchange, FleetLine, FleetState, LARGEST_BACK, LONGEST_TITLE, MOST_AT_ONCE, MOST_SOURCES, MachineSeen,
    Open, Overview, SeriesOpened, SeriesSeen,
};
use agon_worker::wire::{self, PlayingMachine, check};
use agon_worker::{BotSource, ContestTerms, Granted, Job, Nothing, Posted, Try};

/// How long a lease holds after its machine last called.
pub const LEASE_MS: u64 = 60_000;
/// How long a command may be silent before its series is over: it was killed.
pub const ABANDONED_MS: u64 = 120_000;
/// How long a machine must be idle before it may go to another series.
const IDLE_MS: u64 = 2_000;
/// How many machines may vanish with a match before it is given back as failed.
const TRIES: i64 = 3;
/// Upper limit on the series played at a time.
const MOST_SERIES: usize = 32;
/// Upper limit on the machines.
const MOST_MACHINES: usize = 4_096;
/// Upper limit on the matches that a series may have handed out.
const MOST_OPEN: usize = 65_536;
/// Upper limit on the bytes of all bots together.
const MOST_BYTES: usize = 1 << 30;
/// Upper limit on the bytes of a series' unfetched results; above it machines wait with theirs.
const MOST_KEPT: usize = 256 << 20;
/// How many of the last results are remembered, to answer repeats as kept.
const REMEMBERED: usize = 4_096;

pub struct Fleet {
    /// The speed band of its machines: by how many per cent they may differ from the first.
    tolerance: f64,
    series: BTreeMap<i64, Series>,
    machines: BTreeMap<String, Member>,
    matches: BTreeMap<i64, Match>,
    leases: BTreeMap<i64, Lease>,
    sources: BTreeMap<String, Arc<[u8]>>,
    posted: VecDeque<(Try, String)>,
    /// The last number given to anything.
    last: i64,
}

struct Series {
    title: String,
    terms: ContestTerms,
    sources: BTreeSet<String>,
    /// Its matches that wait for a machine.
    waiting: VecDeque<i64>,
    /// Its matches that are not over, by the command's numbers.
    open: BTreeMap<i64, i64>,
    /// Results that have not arrived yet, by the command's numbers.
    done: BTreeMap<i64, (Came, Vec<u8>)>,
    /// The bytes of all of them.
    kept: usize,
    /// When its command last called.
    heard: u64,
}

/// The outcome of a match.
enum Came {
    Whole(Box<Observed>),
    Nothing(Nothing),
}

/// A match that is not over.
struct Match {
    series: i64,
    job: Job,
    /// How often it was leased.
    tries: i64,
    lease: Option<i64>,
}

struct Lease {
    run: String,
    until: u64,
    open: BTreeSet<i64>,
}

/// A machine.
struct Member {
    name: String,
    about: PlayingMachine,
    series: Option<i64>,
    heard: u64,
    /// How many matches it last asked for.
    most: usize,
    /// Since when it has been idle.
    idle: Option<u64>,
    /// Its last request, and the answer to it.
    answered: Option<(String, Granted)>,
}

/// The fleet does not know the machine, which introduces itself again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMachine;

impl Fleet {
    /// A fleet without machines. Its numbers begin after `first`, which no earlier fleet has reached: late results from that one's machines
    /// then belong to no match of this one.
    pub fn new(tolerance: f64, first: i64) -> Self {
        Self {
            tolerance,
            series: BTreeMap::new(),
            machines: BTreeMap::new(),
            matches: BTreeMap::new(),
            leases: BTreeMap::new(),
            sources: BTreeMap::new(),
            posted: VecDeque::new(),
            last: first,
        }
    }

    fn number(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    // Requests of commands.

    /// Opens a series.
    ///
    /// # Errors
    /// A sentence saying why it cannot.
    pub fn open(&mut self, open: Open, now: u64) -> Result<SeriesOpened, String> {
        self.tidy(now);
        if self.series.len() >= MOST_SERIES {
            return Err(format!(
                "The fleet is already playing {MOST_SERIES} series; wait until one is over."
            ));
        }
        if open.sources.len() > MOST_SOURCES || !open.sources.iter().all(|sha| is_sha(sha)) {
            return Err(format!("A series has at most {MOST_SOURCES} bots that are not built in."));
        }
        let series = self.number();
        let sources: BTreeSet<String> = open.sources.into_iter().collect();
        let missing = sources.iter().filter(|sha| !self.sources.contains_key(*sha)).cloned().collect();
        let begun = Series {
            title: open.title.chars().filter(|sign| !sign.is_control()).take(LONGEST_TITLE).collect(),
            terms: open.terms,
            sources,
            waiting: VecDeque::new(),
            open: BTreeMap::new(),
            done: BTreeMap::new(),
            kept: 0,
            heard: now,
        };
        self.series.insert(series, begun);
        Ok(SeriesOpened { series, missing })
    }

    /// Takes in a bot, whose bytes have this hash.
    ///
    /// # Errors
    /// A sentence: no series needs it, or there is no room.
    pub fn supply(&mut self, sha: &str, bytes: Vec<u8>) -> Result<(), String> {
        if !self.series.values().any(|series| series.sources.contains(sha)) {
            return Err("No series needs this bot: none of them named it, or the series is over.".to_owned());
        }
        let held: usize = self.sources.values().map(|bytes| bytes.len()).sum();
        if held + bytes.len() > MOST_BYTES {
            return Err("The fleet has no room for another bot: end other series first.".to_owned());
        }
        self.sources.insert(sha.to_owned(), bytes.into());
        Ok(())
    }

    /// Exchanges with a command, which hands matches out and fetches results. Returns the lines of the answer, each with the bytes that
    /// follow it, the standing first.
    ///
    /// # Errors
    /// When the series is not known (any more), or a match handed out could not be played.
    pub fn exchange(
        &mut self,
        series: i64,
        exchange: &Exchange,
        now: u64,
    ) -> Result<Vec<(FleetLine, Vec<u8>)>, FleetRefusal> {
        self.tidy(now);
        let own = self.series.get_mut(&series).ok_or(FleetRefusal::Unknown)?;
        own.heard = now;
        for game in &exchange.got {
            if let Some((_, bytes)) = own.done.remove(game) {
                own.kept -= bytes.len();
            }
        }
        let lacks = own.sources.iter().any(|sha| !self.sources.contains_key(sha));
        if lacks && !exchange.add.is_empty() {
            return Err(FleetRefusal::Wrong("Not all bots have arrived yet.".to_owned()));
        }
        if exchange.add.len() > MOST_AT_ONCE || own.open.len() + exchange.add.len() > MOST_OPEN {
            return Err(FleetRefusal::Wrong("Too many matches were handed out.".to_owned()));
        }
        for job in &exchange.add {
            own.check(job).map_err(FleetRefusal::Wrong)?;
        }
        for job in &exchange.add {
            let number = self.last + 1;
            let game = job.attempt.game;
            let Some(own) = self.series.get_mut(&series) else { break };
            if own.open.contains_key(&game) || own.done.contains_key(&game) {
                continue;
            }
            self.last = number;
            own.open.insert(game, number);
            own.waiting.push_back(number);
            self.matches.insert(number, Match { series, job: job.clone(), tries: 0, lease: None });
        }
        Ok(self.back(series))
    }

    /// The standing and the results of a series that have not arrived yet.
    fn back(&self, series: i64) -> Vec<(FleetLine, Vec<u8>)> {
        let mut lines = vec![(FleetLine::Standing(self.standing(series)), Vec::new())];
        let mut bytes = 0;
        for (&game, (came, replay)) in self.series.get(&series).into_iter().flat_map(|own| &own.done) {
            bytes += replay.len();
            if lines.len() > MOST_AT_ONCE || bytes > LARGEST_BACK && lines.len() > 1 {
                break;
            }
            let line = match came {
                Came::Whole(observed) => FleetLine::Whole { game, observed: observed.clone() },
                Came::Nothing(nothing) => FleetLine::Nothing { game, nothing: nothing.clone() },
            };
            lines.push((line, replay.clone()));
        }
        lines
    }

    fn standing(&self, series: i64) -> FleetState {
        let mut standing =
            FleetState { all_machines: self.machines.len(), wanted: 2, ..FleetState::default() };
        for member in self.machines.values().filter(|member| member.series == Some(series)) {
            let jobs = usize::try_from(member.about.jobs).unwrap_or(usize::MAX).min(1_024);
            standing.machines += 1;
            standing.at_once += jobs;
            // Its next matches should be there when it asks.
            standing.wanted += jobs + 2 * member.most;
        }
        standing.wanted = standing.wanted.min(MOST_OPEN);
        standing
    }

    /// Closes a series: its open matches are pointless from now on.
    pub fn close(&mut self, series: i64) {
        let Some(own) = self.series.remove(&series) else { return };
        for number in own.open.into_values() {
            self.forget(number);
        }
        let needed: BTreeSet<&String> = self.series.values().flat_map(|series| &series.sources).collect();
        self.sources.retain(|sha, _| needed.contains(sha));
    }

    /// Removes a match that is over or pointless, also from its lease.
    fn forget(&mut self, number: i64) -> Option<Match> {
        let gone = self.matches.remove(&number)?;
        if let Some(lease) = gone.lease {
            self.release(lease, number);
        }
        Some(gone)
    }

    fn release(&mut self, lease: i64, number: i64) {
        if let Some(held) = self.leases.get_mut(&lease) {
            held.open.remove(&number);
            if held.open.is_empty() {
                self.leases.remove(&lease);
            }
        }
    }

    // Requests of machines.

    /// Registers a process that introduces itself, and returns the name of its machine.
    ///
    /// # Errors
    /// Why its machine cannot play here, with the figures.
    pub fn hello(&mut self, run: &str, about: PlayingMachine, now: u64) -> Result<String, String> {
        self.tidy(now);
        let others = self.machines.iter().filter(|(other, _)| *other != run).map(|(_, member)| member);
        let first = others.min_by_key(|member| number_of(&member.name));
        let needs = Requirements {
            trusts_bots: true,
            level: None,
            speed: first.map(|first| (first.about.speed, "the first machine that joined".to_owned())),
            tolerance: self.tolerance,
            set_by: "`agon serve --fleet --tolerance PERCENT` sets the band",
            packages: Vec::new(),
            languages: Vec::new(),
        };
        if let Some(why) = needs.unmet_by(&about) {
            return Err(why);
        }
        if let Some(known) = self.machines.get_mut(run) {
            (known.about, known.heard) = (about, now);
            return Ok(known.name.clone());
        }
        if self.machines.len() >= MOST_MACHINES {
            return Err(format!("The fleet already has {MOST_MACHINES} machines."));
        }
        let free = |number: &usize| self.machines.values().all(|other| number_of(&other.name) != *number);
        let name = format!("machine {}", (1..).find(free).unwrap_or_default());
        let (series, most, idle, answered) = (None, 1, None, None);
        let member = Member { name: name.clone(), about, series, heard: now, most, idle, answered };
        self.machines.insert(run.to_owned(), member);
        Ok(name)
    }

    /// Chooses the series that the process plays from now on; none while there is nothing to play.
    ///
    /// # Errors
    /// When it has not introduced itself.
    pub fn playing(&mut self, run: &str, now: u64) -> Result<Option<wire::FleetSeries>, UnknownMachine> {
        self.tidy(now);
        self.member(run, now)?;
        let there = |series: &i64| {
            self.machines
                .iter()
                .filter(|(other, member)| *other != run && member.series == Some(*series))
                .count()
        };
        let wants = self.series.iter().filter(|(_, own)| !own.waiting.is_empty());
        let chosen = wants.map(|(&id, _)| id).min_by_key(|id| (there(id), *id));
        let member = self.member(run, now)?;
        (member.series, member.idle) = (chosen, None);
        Ok(chosen.and_then(|id| {
            let own = self.series.get(&id)?;
            Some(wire::FleetSeries { id, title: own.title.clone(), terms: own.terms.clone() })
        }))
    }

    fn member(&mut self, run: &str, now: u64) -> Result<&mut Member, UnknownMachine> {
        let member = self.machines.get_mut(run).ok_or(UnknownMachine)?;
        member.heard = now;
        Ok(member)
    }

    /// Leases matches of its series to a machine, at most `most`. The same request gets the same answer. None if it must ask what to play: it
    /// has not introduced itself, its series is over, or others need it more.
    pub fn lease(&mut self, run: &str, request: &str, most: usize, now: u64) -> Option<Granted> {
        self.tidy(now);
        let member = self.member(run, now).ok()?;
        if let Some((_, granted)) = member.answered.as_ref().filter(|(known, _)| known == request) {
            return Some(granted.clone());
        }
        member.most = most.clamp(1, wire::MOST_LEASED);
        let (most, series, idle) = (member.most, member.series, member.idle);
        let id = series.filter(|id| self.series.contains_key(id))?;
        if self.is_wanted_elsewhere(run, id, idle, now) {
            return None;
        }
        let mut granted = Granted::default();
        let numbers: Vec<i64> = match self.series.get_mut(&id) {
            Some(own) if own.kept < MOST_KEPT => {
                let most = most.min(own.waiting.len());
                own.waiting.drain(..most).collect()
            }
            _ => Vec::new(),
        };
        if numbers.is_empty() {
            self.member(run, now).ok()?.idle.get_or_insert(now);
            return Some(granted);
        }
        let lease = self.number();
        for &number in &numbers {
            let Some(game) = self.matches.get_mut(&number) else { continue };
            game.tries += 1;
            game.lease = Some(lease);
            granted.jobs.push(Job { attempt: Try { game: number, n: game.tries }, ..game.job.clone() });
        }
        granted.lease = Some(lease);
        let (run, open) = (run.to_owned(), numbers.into_iter().collect());
        let member = self.member(&run, now).ok()?;
        (member.idle, member.answered) = (None, Some((request.to_owned(), granted.clone())));
        self.leases.insert(lease, Lease { run, until: now + LEASE_MS, open });
        Some(granted)
    }

    /// Whether another series with waiting matches has at least two machines fewer than this one, or this machine has been idle for a
    /// while.
    fn is_wanted_elsewhere(&self, run: &str, own: i64, idle: Option<u64>, now: u64) -> bool {
        let machines = |id: i64| self.machines.values().filter(|member| member.series == Some(id)).count();
        let here = machines(own);
        let plays = self.leases.values().any(|lease| lease.run == run);
        let rests = idle.is_some_and(|since| now.saturating_sub(since) >= IDLE_MS) && !plays;
        let mut others = self.series.iter().filter(|(id, series)| **id != own && !series.waiting.is_empty());
        others.any(|(&id, _)| rests || machines(id) + 2 <= here)
    }

    /// Whether a machine still holds a match.
    pub fn holds(&self, run: &str, attempt: Try) -> bool {
        self.matches.get(&attempt.game).is_some_and(|game| {
            let lease = game.lease.and_then(|lease| self.leases.get(&lease));
            game.tries == attempt.n && lease.is_some_and(|lease| lease.run == run)
        })
    }

    /// Renews a lease. Returns whether it still exists.
    pub fn beat(&mut self, run: &str, lease: i64, now: u64) -> bool {
        self.tidy(now);
        if self.member(run, now).is_err() {
            return false;
        }
        match self.leases.get_mut(&lease).filter(|lease| lease.run == run) {
            Some(lease) => {
                lease.until = now + LEASE_MS;
                true
            }
            None => false,
        }
    }

    /// Gives back the unfinished matches of a lease.
    pub fn abort(&mut self, run: &str, lease: i64) {
        if self.leases.get(&lease).is_some_and(|lease| lease.run == run) {
            self.give_back(lease, false);
        }
    }

    /// Lets others play the unfinished matches of a lease; one with which too many machines have vanished fails.
    fn give_back(&mut self, lease: i64, has_vanished: bool) {
        let Some(lease) = self.leases.remove(&lease) else { return };
        for number in lease.open {
            let Some(game) = self.matches.get_mut(&number) else { continue };
            game.lease = None;
            if has_vanished && game.tries >= TRIES {
                let why = format!("ours: {TRIES} machines vanished while they had this match");
                self.end(number, Came::Nothing(Nothing::again(why)), Vec::new());
            } else if let Some(series) = self.series.get_mut(&game.series) {
                // In front, because it has waited before.
                series.waiting.push_front(number);
            }
        }
    }

    /// Takes in the result of a match, and returns what becomes of it. The first result counts, whoever holds the match by now.
    pub fn post(&mut self, run: &str, attempt: Try, observed: Observed, replay: &[u8]) -> Posted {
        if self.posted.iter().any(|(known, by)| *known == attempt && by == run) {
            return Posted::Kept;
        }
        let was_leased = self.matches.get(&attempt.game).is_some_and(|game| attempt.n <= game.tries);
        if !was_leased {
            return Posted::Settled;
        }
        self.end(attempt.game, Came::Whole(Box::new(observed)), replay.to_vec());
        if self.posted.len() == REMEMBERED {
            self.posted.pop_front();
        }
        self.posted.push_back((attempt, run.to_owned()));
        Posted::Kept
    }

    /// Records that a match failed at a machine that holds it.
    pub fn void(&mut self, run: &str, attempt: Try, nothing: Nothing) {
        if self.holds(run, attempt) {
            self.end(attempt.game, Came::Nothing(nothing), Vec::new());
        }
    }

    fn end(&mut self, number: i64, came: Came, replay: Vec<u8>) {
        let Some(over) = self.forget(number) else { return };
        let Some(series) = self.series.get_mut(&over.series) else { return };
        if over.lease.is_none() {
            series.waiting.retain(|other| *other != number);
        }
        let game = over.job.attempt.game;
        series.open.remove(&game);
        series.kept += replay.len();
        series.done.insert(game, (came, replay));
    }

    /// A bot, for a machine that plays a series with it.
    pub fn source(&self, run: &str, sha: &str) -> Option<Arc<[u8]>> {
        let series = self.machines.get(run)?.series?;
        let is_its = self.series.get(&series)?.sources.contains(sha);
        self.sources.get(sha).filter(|_| is_its).cloned()
    }

    /// Applies the time: leases expire, and silent machines and commands are removed.
    pub fn tidy(&mut self, now: u64) {
        let out: Vec<i64> =
            self.leases.iter().filter(|(_, lease)| lease.until <= now).map(|(id, _)| *id).collect();
        out.into_iter().for_each(|lease| self.give_back(lease, true));
        self.machines.retain(|_, member| member.heard + LEASE_MS > now);
        let silent = self.series.iter().filter(|(_, series)| series.heard + ABANDONED_MS <= now);
        let silent: Vec<i64> = silent.map(|(id, _)| *id).collect();
        silent.into_iter().for_each(|series| self.close(series));
    }

    /// The whole state, as shown to the author.
    pub fn overview(&mut self, now: u64) -> Overview {
        self.tidy(now);
        let mut machines: Vec<MachineSeen> = self
            .machines
            .values()
            .map(|member| MachineSeen {
                name: member.name.clone(),
                level: member.about.level.clone(),
                speed: member.about.speed,
                jobs: member.about.jobs,
                series: member.series.filter(|id| self.series.contains_key(id)),
            })
            .collect();
        machines.sort_by_key(|machine| number_of(&machine.name));
        let seen = |(&id, series): (&i64, &Series)| SeriesSeen {
            id,
            title: series.title.clone(),
            open: series.open.len(),
        };
        let program = agon_replay::data::PROGRAM.to_owned();
        Overview { program, machines, series: self.series.iter().map(seen).collect() }
    }
}

/// Why an exchange was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetRefusal {
    /// The series is not known (any more).
    Unknown,
    /// What is wrong: a sentence.
    Wrong(String),
}

impl Series {
    /// Checks that a machine can be asked to play this match.
    fn check(&self, job: &Job) -> Result<(), String> {
        check(job)?;
        let Some(ground) = self.terms.grounds.get(job.map) else {
            return Err(format!("The series has no map {}.", job.map));
        };
        if job.seats.len() != usize::from(ground.seats) {
            return Err(format!("A match has {} seats, but this one has {}.", ground.seats, job.seats.len()));
        }
        let strange = job.seats.iter().find_map(|seat| match &seat.program {
            BotSource::Source(sha) if !self.sources.contains(sha) => Some(sha),
            _ => None,
        });
        match strange {
            Some(sha) => Err(format!("The series has no bot {sha}.")),
            None => Ok(()),
        }
    }
}

fn is_sha(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The number in `machine 3`.
fn number_of(name: &str) -> usize {
    name.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
