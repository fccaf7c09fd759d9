//! The desk: it hands out matches, writes each finished one to the journal, and only then counts it.
//!
//! All workers share it. What is done under its lock takes microseconds.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use agon_stats::{Decision, Sprt};

use crate::journal::{Entry, Header, Journal};
use crate::plan::{BlockPlan, Plan};
use crate::standing::Standing;
use crate::work::Trouble;

/// Hands out matches and counts them.
pub struct Desk {
    inside: Mutex<Inside>,
    ended: Condvar,
    halt: AtomicBool,
    header: Arc<Header>,
}

/// A match to be played.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its block.
    pub block: Arc<BlockPlan>,
    /// Which match of the block, from 0.
    pub game: usize,
}

/// Why a series ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// All its matches are played.
    Complete,
    /// The test is decided.
    Decided(Decision),
    /// The user stopped it.
    Stopped,
    /// It could not go on.
    Failed(Trouble),
}

/// A bot's faults of one kind, or its rejected orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Faulty {
    /// The bot, by its place in the header.
    pub bot: usize,
    /// What kind, in words.
    pub kind: String,
    /// How often.
    pub count: u64,
    /// In how many matches.
    pub matches: u64,
    /// The first of these matches by block and game.
    pub first: Entry,
}

impl Faulty {
    fn new(bot: usize, kind: &str, first: &Entry) -> Self {
        Self { bot, kind: kind.to_owned(), count: 0, matches: 0, first: first.clone() }
    }

    fn add(&mut self, count: u64, entry: &Entry) {
        self.count = self.count.saturating_add(count);
        self.matches += 1;
        if (entry.block, entry.game) < (self.first.block, self.first.game) {
            self.first = entry.clone();
        }
    }
}

/// What there is to show.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Finished matches, those of earlier runs included.
    pub games: u64,
    /// Matches of earlier runs.
    pub resumed: u64,
    /// How many matches there will be, where that is fixed.
    pub all_games: Option<u64>,
    /// Matches that had to be played again because the machine was late.
    pub late: u64,
    /// What happened in the first of them.
    pub first_late: Option<String>,
    /// What bots did wrong as programs.
    pub faults: BTreeMap<(usize, String), Faulty>,
    /// Orders that the rules did not allow, by bot: bad moves, and no faults.
    pub rejected: BTreeMap<usize, Faulty>,
    /// Replays that were kept.
    pub replays: u64,
    /// Finished matches whose block is not finished or stands behind one that is not.
    pub waiting: u64,
    /// How the finished blocks stand.
    pub standing: Standing,
    /// Why it ended.
    pub end: Option<End>,
}

struct Inside {
    header: Arc<Header>,
    plan: Plan,
    pairings: Vec<Vec<usize>>,
    journal: Journal,
    /// The next block to hand out, and what is left of the one before it.
    next: u64,
    left: VecDeque<Job>,
    /// The next block to count.
    counts: u64,
    /// Finished matches of blocks that do not count yet.
    open: BTreeMap<u64, Vec<Option<Entry>>>,
    progress: Progress,
}

impl Desk {
    /// A desk for the series of `header`, whose journal may already hold matches: `past`.
    pub fn new(
        header: Header,
        rounds: Option<u64>,
        sprt: Option<Sprt>,
        journal: Journal,
        past: Vec<Entry>,
    ) -> Self {
        let plan = header.plan(rounds);
        let progress = Progress {
            games: 0,
            resumed: past.len() as u64,
            all_games: plan.all_games(),
            late: 0,
            first_late: None,
            faults: BTreeMap::new(),
            rejected: BTreeMap::new(),
            replays: 0,
            waiting: 0,
            standing: Standing::new(&plan, sprt),
            end: None,
        };
        let header = Arc::new(header);
        let mut inside = Inside {
            header: header.clone(),
            pairings: plan.pairings(),
            plan,
            journal,
            next: 1,
            left: VecDeque::new(),
            counts: 1,
            open: BTreeMap::new(),
            progress,
        };
        for entry in past {
            inside.count(entry);
        }
        inside.complete();
        Self { inside: Mutex::new(inside), ended: Condvar::new(), halt: AtomicBool::new(false), header }
    }

    /// The header of the journal.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Becomes true when matches that are being played are not wanted any more.
    pub fn halt(&self) -> &AtomicBool {
        &self.halt
    }

    /// The next match; none when there is none, or the series has ended.
    pub fn take(&self) -> Option<Job> {
        self.lock().take()
    }

    /// Takes a finished match: writes it down, then counts it.
    pub fn finish(&self, entry: Entry) {
        let mut inside = self.lock();
        if matches!(inside.progress.end, Some(End::Failed(Trouble::Journal(_)))) {
            return;
        }
        if let Err(error) = inside.journal.write(&entry) {
            let path = inside.journal.path().display().to_string();
            inside.end(End::Failed(Trouble::Journal(format!("journal {path} cannot be written: {error}"))));
        } else {
            inside.count(entry);
            inside.complete();
        }
        if inside.progress.end.is_some() {
            self.wind_up(inside);
        }
    }

    /// Notes that a match must be played again because the machine was late: `why`.
    pub fn late(&self, why: &str) {
        let progress = &mut self.lock().progress;
        progress.late += 1;
        progress.first_late.get_or_insert_with(|| why.to_owned());
    }

    /// Ends the series early.
    pub fn end(&self, end: End) {
        let mut inside = self.lock();
        inside.end(end);
        self.wind_up(inside);
    }

    fn wind_up(&self, inside: MutexGuard<'_, Inside>) {
        self.halt.store(true, Ordering::Relaxed);
        drop(inside);
        self.ended.notify_all();
    }

    /// Shows how it stands.
    pub fn look<T>(&self, see: impl FnOnce(&Progress) -> T) -> T {
        see(&self.lock().progress)
    }

    /// Waits until the series has ended, but not longer than `patience`. Whether it has.
    pub fn wait(&self, patience: Duration) -> bool {
        let inside = self.lock();
        if inside.progress.end.is_some() {
            return true;
        }
        let waited = self.ended.wait_timeout(inside, patience);
        waited.unwrap_or_else(std::sync::PoisonError::into_inner).0.progress.end.is_some()
    }

    /// A second handle on the journal's file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn journal_file(&self) -> std::io::Result<std::fs::File> {
        self.lock().journal.handle()
    }

    /// Where the journal is.
    pub fn journal_path(&self) -> std::path::PathBuf {
        self.lock().journal.path().to_owned()
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Inside {
    fn end(&mut self, end: End) {
        self.progress.end.get_or_insert(end);
    }

    fn take(&mut self) -> Option<Job> {
        if self.progress.end.is_some() {
            return None;
        }
        loop {
            if let Some(job) = self.left.pop_front() {
                return Some(job);
            }
            let block = Arc::new(self.plan.block(self.next, &self.pairings)?);
            self.next += 1;
            if block.number < self.counts {
                continue;
            }
            let done = self.open.get(&block.number);
            let is_done = |game: usize| done.is_some_and(|games| games[game].is_some());
            let left = (0..block.games.len()).filter(|&game| !is_done(game));
            self.left = left.map(|game| Job { block: block.clone(), game }).collect();
        }
    }

    /// Counts a match that is in the journal.
    fn count(&mut self, entry: Entry) {
        self.progress.games += 1;
        self.progress.replays += u64::from(entry.replay.is_some());
        for fault in &entry.faults {
            let bot = entry.bots[usize::from(fault.seat) - 1];
            let faulty = self.progress.faults.entry((bot, fault.kind.clone()));
            faulty.or_insert_with(|| Faulty::new(bot, &fault.kind, &entry)).add(fault.count, &entry);
        }
        for (&bot, &count) in entry.bots.iter().zip(&entry.rejected).filter(|(_, count)| **count > 0) {
            let faulty = self.progress.rejected.entry(bot);
            faulty.or_insert_with(|| Faulty::new(bot, "rejected order", &entry)).add(count, &entry);
        }
        let games = self.plan.games() as usize;
        let (block, game) = (entry.block, entry.game as usize - 1);
        self.open.entry(block).or_insert_with(|| vec![None; games])[game] = Some(entry);
        self.progress.waiting += 1;
        // Blocks count in the order of their numbers, not of their finishing: short matches finish first.
        while self.progress.end.is_none()
            && self.open.get(&self.counts).is_some_and(|games| games.iter().all(Option::is_some))
        {
            let entries: Vec<Entry> =
                self.open.remove(&self.counts).into_iter().flatten().flatten().collect();
            self.progress.waiting -= entries.len() as u64;
            let Some(block) = self.plan.block(self.counts, &self.pairings) else { break };
            self.counts += 1;
            let decision = self.progress.standing.feed(&block, &self.header, &entries);
            if decision != Decision::Continue {
                self.end(End::Decided(decision));
            }
        }
    }

    /// Ends the series when nothing is left to play.
    fn complete(&mut self) {
        if self.plan.block(self.counts, &self.pairings).is_none() {
            self.end(End::Complete);
        }
    }
}
