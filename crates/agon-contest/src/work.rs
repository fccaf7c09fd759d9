//! The workers: each plays whole matches, one after the other, on CPUs of its own.

use std::fmt;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use agon_bot::{BotName, NameKind as BotKind, sys};
use agon_game::AnyGame;
use agon_match::record::Void;
use agon_match::{Clock, CpuShares, Ponder, cpus_a_match};
use agon_replay::SeatInfo;

use crate::journal::Entry;
use crate::play::{MatchOrder, play_match};
use crate::same::start;
use crate::scheduler::{ScheduledMatch, Scheduler, SeriesEnd};
use crate::told::Shelf;

/// How long a worker waits before it plays an unfair match again; twice as long before the third try, and so on. What kept
/// the machine busy is often over soon.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the journal is forced to the disk.
const SYNC: Duration = Duration::from_secs(1);

/// Everything needed to play the matches of a series.
pub struct SeriesSetup {
    pub game: &'static dyn AnyGame,
    /// Rules and map, read once for each map.
    pub prepared: Vec<Box<dyn agon_game::Ready>>,
    /// The bots, in the order of the header.
    pub bots: Vec<SeriesBot>,
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
pub struct SeriesBot {
    pub name: BotName,
    /// A short name.
    pub label: String,
    /// A hash of its content.
    pub hash: String,
}

/// Which replays are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
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
    /// A bot's program only ever ended before its first answer.
    NeverAnswered(String),
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
            Self::Machine(why)
            | Self::CannotStart(why)
            | Self::NeverAnswered(why)
            | Self::Setup(why)
            | Self::Journal(why) => f.write_str(why),
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

impl SeriesSetup {
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
    series: &SeriesSetup,
    scheduler: &Scheduler,
    jobs: usize,
    stop: &AtomicBool,
    show: impl FnMut(&Scheduler) -> io::Result<()>,
) -> io::Result<()> {
    let shares = CpuShares::claim(jobs, series.cpus_a_match(scheduler.header().seats));
    attend(scheduler, stop, show, || {
        std::thread::scope(|scope| {
            for cpus in shares.iter() {
                let worker = Worker { series, scheduler, cpus };
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
                scheduler.end(SeriesEnd::Stopped);
                break;
            }
            let games = scheduler.look(|progress| progress.games);
            if synced.0.elapsed() >= SYNC && games > synced.1 {
                if let Err(error) = file.sync_data() {
                    let failed =
                        Trouble::unwritable(Output::Journal, &scheduler.journal_path(), &error, games);
                    scheduler.end(SeriesEnd::Failed(failed));
                }
                synced = (Instant::now(), games);
            }
            shown = show(scheduler);
            if shown.is_err() {
                scheduler.end(SeriesEnd::Stopped);
                break;
            }
        }
        shown
    })?;
    file.sync_data()
}

/// What became of a match that was handed out.
pub enum MatchFate {
    /// It was played to its end.
    Whole(Box<Entry>),
    /// It does not count, because of this bot or of other load.
    Unfair {
        /// What happened.
        why: String,
        /// The bot, by index in the header.
        culprit: Option<usize>,
    },
    /// The series ended meanwhile.
    Stopped,
}

struct Worker<'a> {
    series: &'a SeriesSetup,
    scheduler: &'a Scheduler,
    cpus: &'a [usize],
}

impl Worker<'_> {
    fn work(&self) {
        sys::stay_on(self.cpus);
        while let Some(job) = self.scheduler.take() {
            if job.tries > 1 && self.scheduler.wait(PAUSE * (job.tries - 1).min(4)) {
                return;
            }
            let seed = job.block.seed;
            let came = catch_unwind(AssertUnwindSafe(|| self.play(&job)));
            let panicked = |_| Err(Trouble::Own(format!("a panic in the match with seed {seed}")));
            self.scheduler.over(job, came.unwrap_or_else(panicked));
        }
    }

    fn play(&self, job: &ScheduledMatch) -> Result<MatchFate, Trouble> {
        let (series, seed) = (self.series, job.block.seed);
        let mut session = series.prepared[job.block.map].open(seed).map_err(|error| {
            Trouble::Setup(format!("the match with seed {seed} cannot be set up: {error}"))
        })?;
        let start = start(session.as_mut());
        let bots: Vec<&SeriesBot> = job.bots().iter().map(|&bot| &series.bots[bot]).collect();
        let seats = bots.iter().map(|bot| SeatInfo {
            bot: bot.name.text.clone(),
            label: bot.label.clone(),
            hash: Some(bot.hash.clone()),
        });
        let game = MatchOrder {
            session,
            clock: series.clock,
            ponder: series.ponder,
            seats: seats.collect(),
            bots: bots.iter().map(|bot| &bot.name).collect(),
            disturbed: &self.scheduler.disturbed(job),
            id: Some(job.id.to_string()),
            is_recorded: series.keep != Keep::None,
            observer: None,
        };
        let mut recorded = play_match(game, self.cpus, self.scheduler.halt(), &AtomicU32::new(0))?;
        match recorded.record.void.take() {
            None => {}
            Some(Void::Stopped) => return Ok(MatchFate::Stopped),
            Some(Void::OwnFault(why)) => return Err(Trouble::Own(why)),
            Some(Void::HostLate(why)) => return Ok(MatchFate::Unfair { why, culprit: None }),
            Some(Void::Disturbed { by, why }) => {
                return Ok(MatchFate::Unfair { why, culprit: Some(job.bots()[by.index()]) });
            }
        }
        let result = recorded.result(start)?;
        let entry = series.entry(self.scheduler.header().kind, job, result, || recorded.replay())?;
        Ok(MatchFate::Whole(Box::new(entry)))
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
