//! The workers: each plays whole matches, one after the other, on CPUs of its own.
//!
//! Longer than 500 lines: a worker is one loop over one state: seats, match, replay, entry.

use std::fmt;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use agon_bot::{BotName, Kind as BotKind, sys};
use agon_game::{AnyGame, Session};
use agon_match::record::Void;
use agon_match::{
    Clock, CpuShares, MatchRecord, Observer, Ponder, Recorder, SeatError, StepReport, Terms, cpus_a_match,
    play_on, seat_all,
};
use agon_replay::{Header as ReplayHeader, SeatInfo};

use crate::journal::{Entry, Header};
use crate::plan::Kind;
use crate::same::{Answers, start};
use crate::scheduler::{End, Job, Scheduler};
use crate::told::{Aftermath, Recomputed, Shelf, Told};

/// How long a worker waits before it plays an unfair match again; twice as long before the third try, and so on. What kept
/// the machine busy is often over soon.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the journal is forced to the disk.
const SYNC: Duration = Duration::from_secs(1);

/// Everything needed to play the matches of a series.
pub struct Series {
    /// The game.
    pub game: &'static dyn AnyGame,
    /// Rules and map, read once for each map.
    pub prepared: Vec<Box<dyn agon_game::Ready>>,
    /// The bots, in the order of the header.
    pub bots: Vec<Entrant>,
    /// The clock.
    pub clock: Clock,
    /// What happens to bots that compute in their opponent's time.
    pub ponder: Ponder,
    /// Which replays are kept.
    pub keep: Keep,
    /// Where they are kept.
    pub replays: Shelf,
}

/// A bot of a series.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// Its name.
    pub name: BotName,
    /// A short name.
    pub label: String,
    /// A hash of its content.
    pub hash: String,
}

/// Which replays are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// All.
    All,
    /// Those in which the bot that the series is about was not first or made a fault; in a tournament, those in which
    /// anybody lost or made a fault.
    #[default]
    Lost,
    /// None.
    None,
}

/// Why a series could not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The machine was late too often.
    Late(String),
    /// The machine has no room for another program.
    Machine(String),
    /// A bot cannot be started.
    CannotStart(String),
    /// A match cannot be set up.
    Setup(String),
    /// The journal cannot be written.
    Journal(String),
    /// Our own failure.
    Own(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late(why) => write!(
                f,
                "this machine was too busy to be fair: no match that counts could be played, however often it was tried (last: {why})\n  \
                 lower -j, or make the machine quieter"
            ),
            Self::Machine(why) | Self::CannotStart(why) | Self::Setup(why) | Self::Journal(why) => {
                f.write_str(why)
            }
            Self::Own(why) => write!(f, "agon itself failed: {why}; please report it"),
        }
    }
}

/// A file that a series writes.
#[derive(Clone, Copy)]
pub(crate) enum Output {
    Journal,
    Replay,
}

impl Trouble {
    /// The system's message about a journal or a replay that cannot be written, after this many matches in the file.
    pub(crate) fn unwritable(what: Output, path: &Path, error: &io::Error, matches: u64) -> Self {
        let shown = path.display();
        let (what, without) = match what {
            Output::Journal => ("journal", ""),
            Output::Replay => ("replay", ", or play without replays: --replays none"),
        };
        Self::Journal(match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                let size = fs::metadata(path).map_or(0, |file| file.len());
                let needed = match size.checked_div(matches) {
                    Some(each) => format!(" (a match takes about {each} bytes of it)"),
                    None => String::new(),
                };
                format!("the disk is full: the {what} {shown} cannot grow{needed}; make room{without}")
            }
            _ => format!("the {what} {shown} cannot be written: {error}{without}"),
        })
    }
}

impl Series {
    fn cpus_a_match(&self, seats: u8) -> usize {
        let programs = self.bots.iter().any(|bot| !matches!(bot.name.kind, BotKind::Builtin { .. }));
        cpus_a_match(self.game.info(), self.ponder, usize::from(seats), programs)
    }

    /// The default number of matches played at once.
    pub fn usual_jobs(&self, seats: u8) -> usize {
        (sys::cpus().len() / self.cpus_a_match(seats)).max(1)
    }
}

/// Plays the matches that the scheduler hands out, `jobs` at once, until the series ends or `stop` becomes
/// true. `show` is called ten times a second.
///
/// # Errors
/// Those of `show`; they end the series.
pub fn run(
    series: &Series,
    scheduler: &Scheduler,
    jobs: usize,
    stop: &AtomicBool,
    show: impl FnMut(&Scheduler) -> io::Result<()>,
) -> io::Result<()> {
    let disturbed: Vec<AtomicU32> = series.bots.iter().map(|_| AtomicU32::new(0)).collect();
    let shares = CpuShares::claim(jobs, series.cpus_a_match(scheduler.header().seats));
    attend(scheduler, stop, show, || {
        std::thread::scope(|scope| {
            for cpus in shares.iter() {
                let worker = Worker { series, scheduler, cpus, disturbed: &disturbed };
                // The thread that starts a bot must outlive it: this one plays whole matches.
                scope.spawn(move || worker.work());
            }
        });
    })
}

/// Looks after a series while `play`, in a thread of its own, takes matches from the scheduler and finishes them, until the
/// series ends, or `stop` becomes true and ends it. `show` is called ten times a second.
///
/// # Errors
/// Those of `show`; they end the series.
pub fn attend(
    scheduler: &Scheduler,
    stop: &AtomicBool,
    mut show: impl FnMut(&Scheduler) -> io::Result<()>,
    play: impl FnOnce() + Send,
) -> io::Result<()> {
    let file = scheduler.journal_file()?;
    std::thread::scope(|scope| {
        scope.spawn(play);
        let mut synced = (Instant::now(), 0);
        let mut shown = Ok(());
        while !scheduler.wait(Duration::from_millis(100)) {
            if stop.load(Ordering::Relaxed) {
                scheduler.end(End::Stopped);
                break;
            }
            let games = scheduler.look(|progress| progress.games);
            if synced.0.elapsed() >= SYNC && games > synced.1 {
                if let Err(error) = file.sync_data() {
                    let failed =
                        Trouble::unwritable(Output::Journal, &scheduler.journal_path(), &error, games);
                    scheduler.end(End::Failed(failed));
                }
                synced = (Instant::now(), games);
            }
            shown = show(scheduler);
            if shown.is_err() {
                scheduler.end(End::Stopped);
                break;
            }
        }
        shown
    })?;
    file.sync_data()
}

/// The outcome of playing a match.
enum Played {
    /// It was played to its end.
    Whole(Box<Entry>),
    /// The machine was late, because of this bot or of other load.
    Unfair { why: String, culprit: Option<usize> },
    /// The series ended meanwhile.
    Stopped,
}

struct Worker<'a> {
    series: &'a Series,
    scheduler: &'a Scheduler,
    cpus: &'a [usize],
    /// How many matches each bot has made void.
    disturbed: &'a [AtomicU32],
}

impl Worker<'_> {
    fn work(&self) {
        sys::stay_on(self.cpus);
        while let Some(job) = self.scheduler.take() {
            if job.tries > 1 && self.scheduler.wait(PAUSE * (job.tries - 1).min(4)) {
                return;
            }
            let played = catch_unwind(AssertUnwindSafe(|| self.play(&job)));
            match played {
                Ok(Ok(Played::Whole(entry))) => self.scheduler.finish(*entry),
                Ok(Ok(Played::Unfair { why, culprit })) => self.scheduler.void(job, why, culprit),
                Ok(Ok(Played::Stopped)) => return,
                Ok(Err(trouble)) => return self.scheduler.end(End::Failed(trouble)),
                Err(_) => {
                    let why = format!("a panic in the match with seed {}", job.block.seed);
                    return self.scheduler.end(End::Failed(Trouble::Own(why)));
                }
            }
        }
    }

    fn play(&self, job: &Job) -> Result<Played, Trouble> {
        let mut table = Table::new(self.series, self.scheduler.header(), job)?;
        let disturbed: Vec<u32> =
            job.bots().iter().map(|&bot| self.disturbed[bot].load(Ordering::Relaxed)).collect();
        let record = table.play(self.cpus, self.scheduler.halt(), &disturbed)?;
        match record.void.clone() {
            None => {}
            Some(Void::Stopped) => return Ok(Played::Stopped),
            Some(Void::OwnFault(why)) => return Err(Trouble::Own(why)),
            Some(Void::HostLate(why)) => return Ok(Played::Unfair { why, culprit: None }),
            Some(Void::Disturbed { by, why }) => {
                let culprit = job.bots()[by.index()];
                self.disturbed[culprit].fetch_add(1, Ordering::Relaxed);
                return Ok(Played::Unfair { why, culprit: Some(culprit) });
            }
        }
        table.entry(&record, job).map(|entry| Played::Whole(Box::new(entry)))
    }
}

/// One match being played.
struct Table<'a> {
    series: &'a Series,
    job: &'a Job,
    kind: Kind,
    session: Box<dyn Session>,
    /// A hash of where the match begins.
    start: u64,
    watch: Watch,
}

impl<'a> Table<'a> {
    fn new(series: &'a Series, header: &Header, job: &'a Job) -> Result<Self, Trouble> {
        let seed = job.block.seed;
        let mut session = series.prepared[job.block.map].open(seed).map_err(|error| {
            Trouble::Setup(format!("the match with seed {seed} cannot be set up: {error}"))
        })?;
        let watch = Watch { answers: Answers::default(), recorder: None };
        Ok(Self { series, job, kind: header.kind, start: start(session.as_mut()), session, watch })
    }

    fn bots(&self) -> impl Iterator<Item = &'a Entrant> + use<'a> {
        let series = self.series;
        self.job.bots().iter().map(move |&bot| &series.bots[bot])
    }

    fn play(&mut self, cpus: &[usize], halt: &AtomicBool, disturbed: &[u32]) -> Result<MatchRecord, Trouble> {
        let failed = |error: io::Error| Trouble::Own(format!("a replay cannot be kept in memory: {error}"));
        if self.series.keep != Keep::None {
            let header = self.replay_header();
            self.watch.recorder = Some(Recorder::new(Vec::new(), &header).map_err(failed)?);
        }
        let labels: Vec<String> = self.bots().map(|bot| bot.label.clone()).collect();
        let (clock, ponder) = (self.series.clock, self.series.ponder);
        let names = self.bots().map(|bot| &bot.name);
        let mut players =
            seat_all(self.session.as_mut(), names, clock, ponder, cpus).map_err(|error| match error {
                SeatError::Name(why) => Trouble::CannotStart(why),
                SeatError::Machine(why) => Trouble::Machine(why),
            })?;
        let terms = Terms { disturbed, ..Terms::new(clock, ponder, halt) };
        Ok(play_on(self.session.as_mut(), &mut players, &labels, &mut self.watch, &terms))
    }

    fn replay_header(&self) -> ReplayHeader {
        let seats = self.bots().map(|bot| SeatInfo {
            bot: bot.name.text.clone(),
            label: bot.label.clone(),
            hash: Some(bot.hash.clone()),
        });
        let id = Some(self.job.id.to_string());
        ReplayHeader { id, ..ReplayHeader::new(self.session.as_ref(), seats.collect(), self.series.clock) }
    }

    /// The journal entry after the match; its replay is already on the disk.
    fn entry(mut self, record: &MatchRecord, job: &Job) -> Result<Entry, Trouble> {
        let Some(outcome) = record.outcome.clone() else {
            return Err(Trouble::Own("a match that is not void has no outcome".to_owned()));
        };
        // The same answers may end differently where time is part of play.
        self.watch.answers.ended(&outcome.ranks);
        let proven = Recomputed {
            map: self.session.recipe().map_name.clone(),
            ranks: outcome.ranks,
            scores: outcome.scores,
            reason: outcome.reason,
            steps: record.steps,
            start: format!("{:016x}", self.start),
            answers: format!("{:016x}", self.watch.answers.digest()),
            silent: self.watch.answers.silent(job.bots().len()),
        };
        let aftermath = Aftermath::of(record);
        let told = Told { proven, max_ms: record.max_ms(), wall_us: record.wall_us, aftermath };
        let (recorder, session) = (self.watch.recorder.take(), self.session.as_mut());
        self.series.entry(self.kind, job, told, || {
            recorder.map(|recorder| recorder.finish(session, record)).transpose()
        })
    }
}

/// Sees every answer: for the fingerprint, and for the replay if one is kept.
struct Watch {
    answers: Answers,
    recorder: Option<Recorder<Vec<u8>>>,
}

impl Observer for Watch {
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        for (seat, answer) in step.answers {
            self.answers.add(*seat, answer);
        }
        match &mut self.recorder {
            Some(recorder) => recorder.stepped(session, step),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_with_the_file_and_what_is_needed() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), [b'x'; 1000]).expect("room");
        let said = |what, kind: io::ErrorKind, matches| {
            Trouble::unwritable(what, file.path(), &kind.into(), matches).to_string()
        };
        let full = said(Output::Journal, io::ErrorKind::StorageFull, 4);
        assert!(full.contains("disk is full") && full.contains("about 250 bytes"), "{full}");
        assert!(full.contains(&file.path().display().to_string()), "{full}");
        assert!(said(Output::Journal, io::ErrorKind::StorageFull, 0).ends_with("make room"));
        assert!(said(Output::Replay, io::ErrorKind::PermissionDenied, 0).contains("--replays none"));
    }
}
