//! Turns a match played here or on another machine into a line of the journal.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use agon_api::{FaultCount, FaultsTold, MatchResult, Observed, Proven};
use agon_game::Session;
use agon_match::record::Held;
use agon_match::{FaultKind, MatchRecord};

use crate::journal::Entry;
use crate::plan::SeriesKind;
use crate::same::AnswerHash;
use crate::scheduler::ScheduledMatch;
use crate::whole;
use crate::work::{Keep, Output, SeriesSetup, Trouble};

/// The most bytes of replays that a series keeps.
const MOST_REPLAYS: u64 = 1 << 30;

/// The most kinds of faults listed for a match.
const LISTED_FAULTS: usize = 16;

/// What the replay of a match proves that began at `start` and was given these answers; none before its end.
pub fn proven(session: &dyn Session, start: u64, mut answers: AnswerHash) -> Option<Proven> {
    let outcome = session.outcome()?.clone();
    // The same answers may end differently where time is part of play.
    answers.ended(&outcome.ranks);
    Some(Proven {
        ranks: outcome.ranks,
        scores: outcome.scores,
        reason: outcome.reason,
        steps: session.steps(),
        start: format!("{start:016x}"),
        answers: format!("{:016x}", answers.digest()),
        silent: answers.silent(usize::from(session.recipe().seats)),
    })
}

/// What was observed of a match, for whoever owns its bots.
pub fn observed(record: &MatchRecord) -> Observed {
    Observed {
        faults: FaultsTold::Counted(faults(record)),
        max_ms: record.max_ms(),
        wall_us: record.wall_us,
        images: record.images.iter().cloned().collect(),
        rejected: rejected(record),
        sandbox: sandbox(record),
        ..Observed::default()
    }
}

/// The faults of a match by seat and kind.
fn faults(record: &MatchRecord) -> Vec<FaultCount> {
    let mut counted: Vec<FaultCount> = Vec::new();
    for fault in &record.faults {
        let (seat, kind) = (fault.seat.number(), fault.kind.word());
        let is_known = counted.iter().any(|known| (known.seat, known.kind.as_str()) == (seat, kind));
        if !is_known && counted.len() < LISTED_FAULTS {
            counted.push(FaultCount {
                seat,
                kind: kind.to_owned(),
                count: record.counts[fault.seat.index()].faults.get(&fault.kind).copied().unwrap_or(1),
                turn: fault.turn.clone(),
                message: fault.message.chars().take(300).collect(),
                stderr: fault.stderr.clone(),
            });
        }
    }
    counted
}

/// The rejected orders of a match by seat; empty for none.
fn rejected(record: &MatchRecord) -> Vec<u64> {
    let counts: Vec<u64> = record.counts.iter().map(|seat| seat.rejected).collect();
    if counts.iter().all(|count| *count == 0) { Vec::new() } else { counts }
}

/// How each seat's program was confined; empty if none ran in a sandbox.
fn sandbox(record: &MatchRecord) -> Vec<String> {
    match record.held.iter().any(|held| matches!(held, Held::Inside { .. })) {
        true => record.held.iter().map(|held| held.word().unwrap_or_default()).collect(),
        false => Vec::new(),
    }
}

/// Where the replays of a series are kept.
pub struct Shelf {
    folder: PathBuf,
    /// The folder's name as the journal records it.
    name: String,
    /// The total size of the replays in bytes.
    kept: AtomicU64,
}

impl Shelf {
    /// Uses this folder beside the journal; it is created with the first replay.
    pub fn new(folder: PathBuf) -> Self {
        let files = fs::read_dir(&folder).into_iter().flatten().flatten();
        let kept = files.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { folder, name, kept: AtomicU64::new(kept) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a replay and returns its name relative to the journal.
    fn keep(&self, job: &ScheduledMatch, bytes: &[u8]) -> Result<String, Trouble> {
        let name = format!("{}-{}-seed{}.replay", job.block.number, job.game + 1, job.block.seed);
        let path = self.folder.join(&name);
        let failed = |error: io::Error| Trouble::unwritable(Output::Replay, &path, &error, 0);
        if let Err(error) = whole::write(&path, bytes) {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(failed(error));
            }
            fs::create_dir_all(&self.folder).and_then(|()| whole::write(&path, bytes)).map_err(failed)?;
        }
        self.kept.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(format!("{}/{name}", self.name))
    }

    fn has_room(&self) -> bool {
        self.kept.load(Ordering::Relaxed) < MOST_REPLAYS
    }
}

impl SeriesSetup {
    /// The journal line of a match on this map. A replay that is kept is on the disk before this returns; `replay` makes it, where there is one.
    ///
    /// # Errors
    /// When a bot could not even be started, which is the user's mistake and no result (only a tournament goes on without it: it loses, as
    /// the rulebook says); when the replay cannot be written.
    pub fn entry(
        &self,
        kind: SeriesKind,
        job: &ScheduledMatch,
        (map, result): (String, MatchResult),
        replay: impl FnOnce() -> Result<Option<Vec<u8>>, Trouble>,
    ) -> Result<Entry, Trouble> {
        let faults = result.observed.faults.counted();
        let never = faults.iter().find(|fault| fault.kind == FaultKind::NeverStarted.word());
        if let Some(fault) = never.filter(|_| kind != SeriesKind::Tournament) {
            let bot = job.bots().get(usize::from(fault.seat).saturating_sub(1));
            let label = bot.map_or("", |&bot| &self.bots[bot].label);
            return Err(Trouble::CannotStart(format!("{label}: {}", fault.message)));
        }
        let mut kept = None;
        if self.wants(kind, job.bots(), &result.proven.ranks, faults) && self.replays.has_room() {
            kept = replay()?.map(|bytes| self.replays.keep(job, &bytes)).transpose()?;
        }
        Ok(Entry {
            id: job.id,
            block: job.block.number,
            game: job.game as u32 + 1,
            seed: job.block.seed,
            map,
            bots: job.bots().to_vec(),
            result,
            tries: job.tries,
            replay: kept,
        })
    }

    /// Whether the replay of a match that ended like this is kept.
    fn wants(&self, kind: SeriesKind, bots: &[usize], ranks: &[u8], faults: &[FaultCount]) -> bool {
        let lost = |seat: usize| ranks.iter().any(|other| *other < ranks[seat]);
        let faulted = |seat: usize| faults.iter().any(|fault| usize::from(fault.seat) == seat + 1);
        let is_asked_about = |seat: &usize| kind == SeriesKind::Tournament || bots[*seat] == 0;
        match self.keep {
            Keep::All => true,
            Keep::None => false,
            Keep::Lost => (0..bots.len()).filter(is_asked_about).any(|seat| lost(seat) || faulted(seat)),
        }
    }
}
