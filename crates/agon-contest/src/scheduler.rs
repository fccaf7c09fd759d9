//! The scheduler: hands out matches, writes each finished one to the journal, and only then counts it.
//!
//! Longer than 500 lines: everything that happens under the one lock, to be read together.
//!
//! All workers share it. Everything done under its lock takes microseconds.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use agon_stats::{Decision, Sprt};

use crate::format::Schedule;
use crate::journal::{Entry, Journal, JournalHeader, MatchId, VoidEntry};
use crate::plan::{BlockPlan, Plan, SeriesKind};
use crate::standing::{SeriesStanding, crash};
use crate::work::{MatchFate, Output, Trouble};

/// Hands out matches and counts them.
pub struct Scheduler {
    inside: Mutex<Inside>,
    ended: Condvar,
    halt: AtomicBool,
    header: Arc<JournalHeader>,
}

/// A match to be played.
#[derive(Clone, Debug)]
pub struct ScheduledMatch {
    pub block: Arc<BlockPlan>,
    /// Which match of the block, from 0.
    pub game: usize,
    /// Which try this is, from 1.
    pub tries: u32,
    /// The identity of the match.
    pub id: MatchId,
}

impl ScheduledMatch {
    /// The bot in each seat, by index in the header.
    pub fn bots(&self) -> &[usize] {
        &self.block.games[self.game]
    }
}

/// How often an unfair match is tried before it stays void.
pub const TRIES: u32 = 3;
/// How many other matches are handed out before it is retried, unless none is left.
const LATER: u64 = 32;
/// This many unfair matches in a row, with no fair one between them, end a series: it will not get better.
pub const VOIDS_IN_A_ROW: u32 = 24;

/// Why a series ended.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesEnd {
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
    /// The bot, by index in the header.
    pub bot: usize,
    /// The kind, in words.
    pub kind: String,
    /// How often.
    pub count: u64,
    /// The number of matches affected.
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
    /// Finished matches, including those of earlier runs.
    pub games: u64,
    /// Matches of earlier runs.
    pub resumed: u64,
    /// The total number of matches, where it is fixed.
    pub all_games: Option<u64>,
    /// How often a match was unfair because the machine was late, and was put back.
    pub late: u64,
    /// What happened the first time.
    pub first_late: Option<String>,
    /// The matches that stayed void.
    pub voids: Vec<VoidEntry>,
    /// What bots did wrong as programs.
    pub faults: BTreeMap<(usize, String), Faulty>,
    /// Orders that the rules rejected, by bot: bad moves, not faults.
    pub rejected: BTreeMap<usize, Faulty>,
    /// Replays that were kept.
    pub replays: u64,
    /// The steps of the shortest match, of all together, and of the longest; none before the first.
    pub steps: Option<(u32, u64, u32)>,
    /// Finished matches whose block is unfinished, or comes after an unfinished one.
    pub waiting: u64,
    /// The standing from the finished blocks.
    pub standing: SeriesStanding,
    /// Why it ended.
    pub end: Option<SeriesEnd>,
}

struct Inside {
    header: Arc<JournalHeader>,
    plan: Plan,
    pairings: Vec<Vec<usize>>,
    journal: Journal,
    /// Unfair matches, each with the count of matches handed out at which it is retried.
    again: VecDeque<(u64, ScheduledMatch)>,
    /// Who meets, where that depends on the results.
    schedule: Option<Schedule>,
    /// The number of matches being played.
    in_play: u64,
    handed_out: u64,
    /// How many matches each bot has made void.
    disturbed: Vec<u32>,
    /// Unfair matches since the last fair one.
    voids_in_a_row: u32,
    /// The next block to hand out, and what is left of the one before it.
    next: u64,
    left: VecDeque<ScheduledMatch>,
    /// The next block to count.
    counts: u64,
    /// Finished matches of blocks that do not count yet.
    open: BTreeMap<u64, Vec<Option<Entry>>>,
    progress: Progress,
}

impl Scheduler {
    /// A scheduler for the series of `header`, whose journal may already hold matches: `past`.
    pub fn new(
        header: JournalHeader,
        rounds: Option<u64>,
        sprt: Option<Sprt>,
        journal: Journal,
        past: Vec<Entry>,
    ) -> Self {
        let plan = header.plan(rounds);
        let schedule = header.format.as_ref().map(|format| {
            Schedule::new(format, header.bots.len(), header.seats).expect("the header was checked")
        });
        let free_games = schedule
            .as_ref()
            .map(|schedule| schedule.blocks().map(|blocks| blocks * u64::from(plan.games())));
        let progress = Progress {
            games: 0,
            resumed: past.len() as u64,
            all_games: free_games.unwrap_or_else(|| plan.all_games()),
            late: 0,
            first_late: None,
            voids: Vec::new(),
            faults: BTreeMap::new(),
            rejected: BTreeMap::new(),
            replays: 0,
            steps: None,
            waiting: 0,
            standing: SeriesStanding::new(&plan, sprt),
            end: None,
        };
        let header = Arc::new(header);
        let mut inside = Inside {
            header: header.clone(),
            pairings: plan.pairings(),
            plan,
            journal,
            again: VecDeque::new(),
            schedule,
            in_play: 0,
            handed_out: 0,
            disturbed: vec![0; header.bots.len()],
            voids_in_a_row: 0,
            next: 1,
            left: VecDeque::new(),
            counts: 1,
            open: BTreeMap::new(),
            progress,
        };
        for entry in past {
            inside.count(entry);
        }
        if inside.schedule.as_ref().is_some_and(|schedule| !schedule.knows_its_results()) {
            let why = "the journal holds matches that this agon would not have played in this format; continue with the \
                       agon that began it";
            inside.end(SeriesEnd::Failed(Trouble::Setup(why.to_owned())));
        }
        inside.complete();
        Self { inside: Mutex::new(inside), ended: Condvar::new(), halt: AtomicBool::new(false), header }
    }

    /// The header of the journal.
    pub fn header(&self) -> &JournalHeader {
        &self.header
    }

    /// Becomes true when matches being played are no longer wanted.
    pub fn halt(&self) -> &AtomicBool {
        &self.halt
    }

    /// The next match; none when none is left or the series has ended. Waits where the next matches depend on those being
    /// played.
    pub fn take(&self) -> Option<ScheduledMatch> {
        let mut inside = self.lock();
        loop {
            let job = inside.take();
            if job.is_some() || inside.progress.end.is_some() || !inside.may_have_more() {
                inside.in_play += u64::from(job.is_some());
                return job;
            }
            let waited = self.ended.wait_timeout(inside, Duration::from_millis(100));
            inside = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    /// The next match, as in [`take`](Self::take), but also none where that would wait.
    pub fn take_now(&self) -> Option<ScheduledMatch> {
        let mut inside = self.lock();
        let job = inside.take();
        inside.in_play += u64::from(job.is_some());
        job
    }

    /// How many matches the bot of each seat of a match has made void.
    pub fn disturbed(&self, job: &ScheduledMatch) -> Vec<u32> {
        let inside = self.lock();
        job.bots().iter().map(|&bot| inside.disturbed[bot]).collect()
    }

    /// The current table of a format, best first.
    pub fn table(&self) -> Option<Vec<agon_pairing::Standing>> {
        self.lock().schedule.as_ref().map(Schedule::standing)
    }

    /// In a ladder, how certain it is that the best `top` bots are the best, in their order.
    pub fn certainty(&self, top: usize) -> Option<f64> {
        self.lock().schedule.as_ref().and_then(|schedule| schedule.certainty(top))
    }

    /// In a placement, where the newcomer stands.
    pub fn placed(&self) -> Option<agon_pairing::Placed> {
        self.lock().schedule.as_ref().and_then(Schedule::placed)
    }

    /// Takes back a match that was handed out, with what became of it.
    pub fn over(&self, job: ScheduledMatch, came: Result<MatchFate, Trouble>) {
        match came {
            Ok(MatchFate::Whole(entry)) => self.finish(*entry),
            Ok(MatchFate::Unfair { why, culprit }) => self.void(job, why, culprit),
            Ok(MatchFate::Stopped) => {}
            Err(trouble) => self.end(SeriesEnd::Failed(trouble)),
        }
    }

    /// Takes a finished match: writes it to the journal, then counts it.
    pub fn finish(&self, entry: Entry) {
        let mut inside = self.lock();
        inside.voids_in_a_row = 0;
        inside.in_play = inside.in_play.saturating_sub(1);
        if matches!(inside.progress.end, Some(SeriesEnd::Failed(Trouble::Journal(_)))) {
            return;
        }
        let written = inside.journal.write(&entry);
        if inside.is_written(written) {
            inside.count(entry);
            inside.complete();
        }
        if inside.progress.end.is_some() {
            self.wind_up(inside);
        } else if inside.schedule.is_some() {
            self.ended.notify_all();
        }
    }

    /// Takes back a match that was unfair because of `why`, caused by this bot or, with none, by other load. It is retried
    /// later; after enough tries it stays void and its block does not count.
    pub fn void(&self, mut job: ScheduledMatch, why: String, culprit: Option<usize>) {
        let mut inside = self.lock();
        inside.voids_in_a_row += 1;
        inside.in_play = inside.in_play.saturating_sub(1);
        inside.progress.first_late.get_or_insert_with(|| why.clone());
        if let Some(culprit) = culprit {
            inside.disturbed[culprit] += 1;
        }
        if inside.progress.end.is_some() {
            return;
        }
        if inside.voids_in_a_row >= VOIDS_IN_A_ROW {
            inside.end(SeriesEnd::Failed(Trouble::Late(why)));
        } else if job.tries < TRIES || inside.plan.free {
            // A format cannot go on without a result.
            inside.progress.late += 1;
            job.tries += 1;
            let when = inside.handed_out + LATER;
            inside.again.push_back((when, job));
        } else {
            let void = VoidEntry {
                block: job.block.number,
                game: job.game as u32 + 1,
                seed: job.block.seed,
                bots: job.block.games[job.game].clone(),
                why,
                culprit,
                tries: job.tries,
            };
            let written = inside.journal.write_void(void.clone());
            if inside.is_written(written) {
                inside.progress.voids.push(void);
                inside.advance();
                inside.complete();
            }
        }
        if inside.progress.end.is_some() {
            self.wind_up(inside);
        } else if inside.schedule.is_some() {
            self.ended.notify_all();
        }
    }

    /// Ends the series early.
    pub fn end(&self, end: SeriesEnd) {
        let mut inside = self.lock();
        inside.end(end);
        self.wind_up(inside);
    }

    fn wind_up(&self, inside: MutexGuard<'_, Inside>) {
        self.halt.store(true, Ordering::Relaxed);
        drop(inside);
        self.ended.notify_all();
    }

    /// Reads the progress.
    pub fn look<T>(&self, see: impl FnOnce(&Progress) -> T) -> T {
        see(&self.lock().progress)
    }

    /// Waits until the series has ended, at most for `patience`. Returns whether it has.
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

    pub fn journal_path(&self) -> std::path::PathBuf {
        self.lock().journal.path().to_owned()
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Inside {
    /// Whether a line was written to the journal; if not, the series ends.
    fn is_written(&mut self, written: std::io::Result<()>) -> bool {
        if let Err(error) = &written {
            let (path, games) = (self.journal.path().to_owned(), self.progress.games);
            self.end(SeriesEnd::Failed(Trouble::unwritable(Output::Journal, &path, error, games)));
        }
        written.is_ok()
    }

    fn end(&mut self, end: SeriesEnd) {
        self.progress.end.get_or_insert(end);
    }

    fn take(&mut self) -> Option<ScheduledMatch> {
        if self.progress.end.is_some() {
            return None;
        }
        self.handed_out += 1;
        if self.again.front().is_some_and(|(when, _)| *when <= self.handed_out) {
            return self.again.pop_front().map(|(_, job)| job);
        }
        self.name_blocks();
        loop {
            if let Some(job) = self.left.pop_front() {
                return Some(job);
            }
            let Some(block) = self.plan.block(self.next, &self.pairings) else {
                return self.again.pop_front().map(|(_, job)| job);
            };
            let block = Arc::new(block);
            self.next += 1;
            if block.number < self.counts {
                continue;
            }
            let done = self.open.get(&block.number);
            let is_done = |game: usize| done.is_some_and(|games| games[game].is_some());
            let left = (0..block.games.len()).filter(|&game| !is_done(game));
            self.left = left
                .map(|game| ScheduledMatch { block: block.clone(), game, tries: 1, id: MatchId::fresh() })
                .collect();
        }
    }

    /// Whether more matches may follow from those being played.
    fn may_have_more(&self) -> bool {
        self.schedule.is_some() && self.in_play > 0
    }

    /// Queues the blocks that a format can play now.
    fn name_blocks(&mut self) {
        let Some(schedule) = &mut self.schedule else { return };
        for block in schedule.name(&self.plan) {
            let block = Arc::new(block);
            let done = self.open.get(&block.number);
            let is_done = |game: usize| done.is_some_and(|games| games[game].is_some());
            let left = (0..block.games.len()).filter(|&game| !is_done(game));
            self.left.extend(left.map(|game| ScheduledMatch {
                block: block.clone(),
                game,
                tries: 1,
                id: MatchId::fresh(),
            }));
        }
    }

    /// Counts a match that is in the journal.
    fn count(&mut self, entry: Entry) {
        self.progress.games += 1;
        self.progress.replays += u64::from(entry.replay.is_some());
        let steps = entry.result.proven.steps;
        let (least, all, most) = self.progress.steps.unwrap_or((steps, 0, steps));
        self.progress.steps = Some((least.min(steps), all + u64::from(steps), most.max(steps)));
        for fault in entry.result.observed.faults.counted() {
            let bot = entry.bots[usize::from(fault.seat) - 1];
            let faulty = self.progress.faults.entry((bot, fault.kind.clone()));
            faulty.or_insert_with(|| Faulty::new(bot, &fault.kind, &entry)).add(fault.count, &entry);
        }
        for (&bot, &count) in
            entry.bots.iter().zip(&entry.result.observed.rejected).filter(|(_, count)| **count > 0)
        {
            let faulty = self.progress.rejected.entry(bot);
            faulty.or_insert_with(|| Faulty::new(bot, "rejected order", &entry)).add(count, &entry);
        }
        let games = self.plan.games() as usize;
        let (block, game) = (entry.block, entry.game as usize - 1);
        self.open.entry(block).or_insert_with(|| vec![None; games])[game] = Some(entry);
        self.progress.waiting += 1;
        match self.plan.free {
            true => self.count_free(block),
            false => self.advance(),
        }
    }

    /// Counts a block of a format once it is whole. Its results do not depend on what else is being played.
    fn count_free(&mut self, number: u64) {
        if !self.open.get(&number).is_some_and(|games| games.iter().all(Option::is_some)) {
            return;
        }
        let entries: Vec<Entry> = self.open.remove(&number).into_iter().flatten().flatten().collect();
        self.progress.waiting -= entries.len() as u64;
        let block = self.plan.block_with(number, 1, &entries[0].bots, &self.pairings);
        if let (Some(block), Some(schedule)) = (block, &mut self.schedule) {
            schedule.add(&block, &entries);
            self.progress.standing.feed(&block, &self.header, &entries);
        }
    }

    /// Counts the blocks that are whole, in the order of their numbers and not of their finishing, because short matches
    /// finish first. A block with a match that stays void is skipped.
    fn advance(&mut self) {
        while self.progress.end.is_none() {
            let whole = self.open.get(&self.counts).is_some_and(|games| games.iter().all(Option::is_some));
            if !whole && self.progress.voids.iter().any(|void| void.block == self.counts) {
                self.counts += 1;
                continue;
            }
            if !whole {
                break;
            }
            let entries: Vec<Entry> =
                self.open.remove(&self.counts).into_iter().flatten().flatten().collect();
            self.progress.waiting -= entries.len() as u64;
            let Some(block) = self.plan.block(self.counts, &self.pairings) else { break };
            self.counts += 1;
            let decision = self.progress.standing.feed(&block, &self.header, &entries);
            if decision != Decision::Continue {
                self.end(SeriesEnd::Decided(decision));
            } else if self.header.kind == SeriesKind::Gauntlet
                && self.plan.block(self.counts, &self.pairings).is_some()
                && let Some(bot) = self.progress.standing.stillborn()
            {
                // Surely a mistake, and nothing that could be measured. A test says so as its answer.
                self.end(SeriesEnd::Failed(Trouble::NeverAnswered(self.stillborn(bot, &entries))));
            }
        }
    }

    /// What to say of a bot that only crashes, in a block of these matches.
    fn stillborn(&self, bot: usize, entries: &[Entry]) -> String {
        let crashed = entries.iter().find_map(|entry| {
            let seat = (1..).zip(&entry.bots).find(|(_, one)| **one == bot)?.0;
            Some((entry, crash(entry, seat)?))
        });
        let (message, again) = match crashed {
            Some((entry, fault)) => (fault.message.as_str(), self.header.command(entry)),
            None => ("it crashed", String::new()),
        };
        let label = &self.header.bots[bot].label;
        let matches = self.progress.standing.points[bot].1;
        format!("{label} never answered: in each of its {matches} matches it {message}\n  {again}")
    }

    /// Ends the series when nothing is left to play.
    fn complete(&mut self) {
        let more = match &self.schedule {
            Some(schedule) => !schedule.is_over(),
            None => self.plan.block(self.counts, &self.pairings).is_some(),
        };
        if more {
            return;
        }
        match self.progress.voids.first() {
            // Not one fair match: there is no result.
            Some(void) if self.progress.games == 0 => {
                let why = void.why.clone();
                self.end(SeriesEnd::Failed(Trouble::Late(why)));
            }
            _ => self.end(SeriesEnd::Complete),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::{entry, header};
    use crate::plan::SeriesKind;

    fn scheduler(folder: &std::path::Path, rounds: Option<u64>) -> Scheduler {
        let header = header(SeriesKind::Gauntlet);
        let journal = Journal::create(&folder.join("journal.jsonl"), &header).expect("a journal");
        Scheduler::new(header, rounds, None, journal, Vec::new())
    }

    fn finish(scheduler: &Scheduler, job: &ScheduledMatch) {
        let mut played =
            Entry { id: job.id, tries: job.tries, ..entry(job.block.number, job.game as u32 + 1) };
        played.result.proven.steps += job.block.number as u32;
        scheduler.finish(Entry { bots: job.block.games[job.game].clone(), ..played });
    }

    #[test]
    fn a_void_match_is_put_back_and_the_rest_is_a_result() {
        let folder = tempfile::tempdir().expect("a folder");
        let scheduler = scheduler(folder.path(), Some(3));
        let mut order = Vec::new();
        while let Some(job) = scheduler.take() {
            order.push((job.block.number, job.game, job.tries));
            match (job.block.number, job.game, job.tries) {
                (1, 1, _) | (2, 0, 1) => scheduler.void(job, "a compiler".to_owned(), None),
                _ => finish(&scheduler, &job),
            }
        }
        let first = [(1, 0, 1), (1, 1, 1), (2, 0, 1), (2, 1, 1), (3, 0, 1), (3, 1, 1)];
        assert_eq!(order[..6], first);
        assert_eq!(order[6..], [(1, 1, 2), (2, 0, 2), (1, 1, 3)], "at the end, in the order of their going");
        scheduler.look(|progress| {
            assert_eq!(progress.end, Some(SeriesEnd::Complete));
            assert_eq!((progress.games, progress.late, progress.waiting), (5, 3, 1));
            assert_eq!(progress.steps, Some((101, 101 + 2 * 102 + 2 * 103, 103)));
            assert_eq!(progress.standing.pairings[0].blocks, 2, "the other two blocks count");
            let void = &progress.voids[0];
            assert_eq!((void.block, void.game, void.tries, void.why.as_str()), (1, 2, 3, "a compiler"));
        });
        // The journal records it, and resuming tries it again.
        let path = folder.path().join("journal.jsonl");
        drop(scheduler);
        let mut past = Vec::new();
        let (journal, found) = Journal::reopen(&path, |entry| past.push(entry)).expect("a journal");
        assert_eq!((found.entries, found.voids.len()), (5, 1));
        let scheduler = Scheduler::new(header(SeriesKind::Gauntlet), Some(3), None, journal, past);
        let job = scheduler.take().expect("the void match");
        assert_eq!((job.block.number, job.game, job.tries), (1, 1, 1));
        finish(&scheduler, &job);
        scheduler.look(|progress| {
            assert_eq!((progress.standing.pairings[0].blocks, progress.voids.len()), (3, 0))
        });
        assert_eq!(crate::journal::read(&path, |_| {}).expect("a journal").voids, []);
    }

    #[test]
    fn who_made_matches_void_is_known_in_each_that_follows() {
        let folder = tempfile::tempdir().expect("a folder");
        let scheduler = scheduler(folder.path(), None);
        for voids in 0..3 {
            let job = scheduler.take().expect("a match");
            let counted: Vec<u32> = job.bots().iter().map(|&bot| if bot == 1 { voids } else { 0 }).collect();
            assert_eq!(scheduler.disturbed(&job), counted);
            scheduler.void(job, "it took the CPU".to_owned(), Some(1));
            let other = scheduler.take().expect("a match");
            scheduler.void(other, "a compiler".to_owned(), None);
        }
    }

    #[test]
    fn a_series_without_end_comes_back_to_a_void_match() {
        let folder = tempfile::tempdir().expect("a folder");
        let scheduler = scheduler(folder.path(), None);
        let first = scheduler.take().expect("a match");
        scheduler.void(first, "a compiler".to_owned(), None);
        for _ in 0..100 {
            let job = scheduler.take().expect("a match");
            finish(&scheduler, &job);
        }
        scheduler
            .look(|progress| assert!(progress.standing.pairings[0].blocks > 45 && progress.voids.is_empty()));
    }

    #[test]
    fn many_voids_in_a_row_end_the_series() {
        let folder = tempfile::tempdir().expect("a folder");
        let scheduler = scheduler(folder.path(), None);
        let mut voids = 0;
        while let Some(job) = scheduler.take() {
            scheduler.void(job, "a compiler".to_owned(), None);
            voids += 1;
        }
        assert_eq!(voids, VOIDS_IN_A_ROW);
        let end = scheduler.look(|progress| progress.end.clone());
        assert_eq!(end, Some(SeriesEnd::Failed(Trouble::Late("a compiler".to_owned()))));
    }
}
