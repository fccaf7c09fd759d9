//! One match of a contest.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32};

use agon_api::TriedInPosition;
use agon_bot::{BotName, NameKind};
use agon_contest::told::observed;
use agon_contest::{FaultsTold, MatchOrder, Observed, Trouble, play_match};
use agon_game::{AnyGame, Ready, Seat, Session};
use agon_match::record::{Held, Void};
use agon_match::{MatchRecord, Ponder, cpus_a_match};
use agon_replay::{Replay, SeatInfo, redact_named};
use agon_spec::Clock;

use crate::protocol::{BotSource, ContestTerms, Job, Nothing, Private, Stage, Unfit, Whole};
use crate::{holding, private};

/// The game under a contest's terms, with its rules and maps loaded.
pub struct PreparedGame {
    game: &'static dyn AnyGame,
    prepared: Vec<Box<dyn Ready>>,
    /// The number of seats on each of them.
    seats: Vec<usize>,
    pub(crate) clock: Clock,
    pub(crate) ponder: Ponder,
}

/// What became of a match.
#[derive(Debug)]
pub enum MatchEnd {
    /// It was played to its end.
    Whole(Box<HeldRecord>),
    /// It does not count, for this reason.
    Void(Box<Nothing>),
    /// It is a check match, and the version cannot even be seated.
    Unfit(Unfit),
    Stopped,
}

/// A match that was played to its end, with everything anybody said in it.
#[derive(Debug)]
pub struct HeldRecord {
    record: MatchRecord,
    replay: Vec<u8>,
    map: usize,
    seed: i64,
    /// For each seat, the folder with its program's files; none for a seat without an author.
    folders: Vec<Option<PathBuf>>,
    /// What the bot of a seat, from 0, did in its team's positions.
    pub(crate) tried: Option<(usize, Vec<TriedInPosition>)>,
}

/// What a replay of a contest calls a seat: a team's bot by its content, because the replay's hash is sealed, and a team may be deleted.
fn nobodys(_: usize, seat: &SeatInfo) -> String {
    match seat.bot.starts_with("builtin:") {
        true => seat.label.clone(),
        false => format!("bot {}", seat.bot.chars().take(8).collect::<String>()),
    }
}

impl HeldRecord {
    /// Size of the replay in bytes.
    pub fn size(&self) -> usize {
        self.replay.len()
    }

    /// Prepares the match for posting: what belongs to each seat's author is taken out of the
    /// replay, and so is the author's name. This takes a tenth of a quick match, and need not be done on the CPUs that run bots.
    ///
    /// # Errors
    /// A sentence: our fault.
    pub fn shared_out(self, table: &PreparedGame) -> Result<Whole, String> {
        let replay = Replay::read(&self.replay).map_err(|error| error.to_string())?;
        let seats = Seat::first(self.folders.len() as u8).zip(&self.folders);
        let own =
            seats.map(|(seat, folder)| Some(private::of(&self.record, &replay, seat, folder.as_ref()?)));
        let mut own: Vec<Option<Private>> = own.collect();
        if let Some((seat, tried)) = self.tried
            && let Some(Some(own)) = own.get_mut(seat)
        {
            own.fits_beside(tried, &self.folders[seat]);
        }
        let session = table.open(self.map, self.seed)?;
        let redacted = redact_named(&self.replay, &[], &nobodys, &|order| session.public(order));
        let (replay, _) = redacted.map_err(|error| error.to_string())?;
        Ok(Whole { observed: public(&self.record, self.folders.len()), replay, own })
    }

    /// The same when all bots belong to one person.
    pub fn whole(self) -> Whole {
        let mut observed = observed(&self.record);
        if let FaultsTold::Counted(faults) = &mut observed.faults {
            for fault in faults {
                if let Some(Some(folder)) = self.folders.get(usize::from(fault.seat).saturating_sub(1)) {
                    fault.message = private::without(&fault.message, folder);
                    fault.stderr.iter_mut().for_each(|line| *line = private::without(line, folder));
                }
            }
        }
        let own = self.folders.iter().map(|_| None).collect();
        Whole { observed, replay: self.replay, own }
    }
}

impl PreparedGame {
    /// Loads rules and maps.
    ///
    /// # Errors
    /// A sentence, when this program does not know the game or plays it by other rules.
    pub fn new(terms: &ContestTerms) -> Result<Self, String> {
        let game = agon_games::find(&terms.game)
            .ok_or_else(|| format!("this program has no game `{}`", terms.game))?;
        let own = game.info().rules_version;
        if own != terms.rules_version {
            return Err(format!(
                "the contest plays version {} of the rules of {}, but this program plays version {own}; use the program it was started with",
                terms.rules_version, terms.game
            ));
        }
        if terms.grounds.is_empty() {
            return Err("the contest has no map to play on".to_owned());
        }
        let prepared = terms.grounds.iter().map(|ground| game.prepare(&ground.setup()));
        let prepared = prepared.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        let seats = terms.grounds.iter().map(|ground| usize::from(ground.seats)).collect();
        Ok(Self { game, prepared, seats, clock: terms.clock.clock(), ponder: terms.ponder })
    }

    /// Checks that this match can be played under these terms, whoever asks for it.
    ///
    /// # Errors
    /// A sentence, when its map does not exist or it has too many or too few seats.
    pub fn check(&self, job: &Job) -> Result<(), String> {
        let seats = self.seats.get(job.map).ok_or_else(|| format!("there is no map {}", job.map))?;
        if job.seats.len() != *seats {
            return Err(format!("a match on map {} has {seats} seats, not {}", job.map, job.seats.len()));
        }
        match job.tried.filter(|tried| tried >= seats) {
            Some(tried) => Err(format!("there is no seat {tried} in which a bot could be tried")),
            None => Ok(()),
        }
    }

    /// Opens a match before its first step.
    ///
    /// # Errors
    /// A sentence, when there is no such map or the seed yields none.
    pub fn open(&self, map: usize, seed: i64) -> Result<Box<dyn Session>, String> {
        let ready = self.prepared.get(map).ok_or_else(|| format!("there is no map {map}"))?;
        ready.open(seed).map_err(|error| error.to_string())
    }

    pub fn game(&self) -> &'static dyn AnyGame {
        self.game
    }

    /// Number of seats in a match on the first map.
    pub fn seats(&self) -> usize {
        self.seats[0]
    }

    /// Number of maps in the contest.
    pub fn maps(&self) -> usize {
        self.prepared.len()
    }

    /// Number of CPUs taken by a match of programs.
    pub fn cpus(&self) -> usize {
        cpus_a_match(self.game.info(), self.ponder, self.seats(), true)
    }

    /// Plays a match on the CPUs of this thread. `turn` counts its steps.
    ///
    /// # Errors
    /// A sentence, when the match cannot be started: our fault.
    pub fn play(
        &self,
        job: &Job,
        bots: &[BotName],
        cpus: &[usize],
        halt: &AtomicBool,
        turn: &AtomicU32,
    ) -> Result<MatchEnd, String> {
        self.check(job)?;
        let seats = job.seats.iter().map(|seat| SeatInfo {
            bot: seat.program.hash().to_owned(),
            label: seat.label.clone(),
            hash: Some(seat.program.hash().to_owned()),
        });
        let game = MatchOrder {
            session: self.open(job.map, job.seed)?,
            clock: self.clock,
            ponder: self.ponder,
            seats: seats.collect(),
            bots: bots.iter().collect(),
            disturbed: &job.disturbed,
            id: None,
            is_recorded: true,
        };
        let mut recorded = match play_match(game, cpus, halt, turn) {
            Ok(recorded) => recorded,
            // Only the bot being tried out is seated for the first time.
            Err(Trouble::CannotStart(why)) if job.tried.is_some() => {
                let tried = job.tried.and_then(|seat| bots.get(seat));
                let what = tried.map_or(why.clone(), |bot| private::without(&why, &folder(bot)));
                return Ok(MatchEnd::Unfit(Unfit { stage: Stage::Starting, what, fix: None }));
            }
            Err(trouble) => return Err(trouble.to_string()),
        };
        match &recorded.record.void {
            None => {}
            Some(Void::Stopped) => return Ok(MatchEnd::Stopped),
            Some(void) => {
                let by = void.culprit().map(Seat::number);
                let nothing = Nothing { by, wait: recorded.record.wait, ..Nothing::again(void.to_string()) };
                return Ok(MatchEnd::Void(Box::new(nothing)));
            }
        }
        let replay = recorded.replay().map_err(|trouble| trouble.to_string())?.unwrap_or_default();
        let record = recorded.record;
        let folders = job
            .seats
            .iter()
            .zip(bots)
            .map(|(sitting, bot)| matches!(sitting.program, BotSource::Source(_)).then(|| folder(bot)));
        let (map, seed, folders) = (job.map, job.seed, folders.collect());
        Ok(MatchEnd::Whole(Box::new(HeldRecord { record, replay, map, seed, folders, tried: None })))
    }
}

/// The folder with a bot's files.
fn folder(bot: &BotName) -> PathBuf {
    match &bot.kind {
        NameKind::Path(path) if path.is_dir() => path.clone(),
        NameKind::Path(path) => path.parent().map(Path::to_owned).unwrap_or_default(),
        _ => PathBuf::new(),
    }
}

/// What everybody may know of what was observed.
fn public(record: &MatchRecord, seats: usize) -> Observed {
    let fault = |seat: Seat| {
        let mut broke = record.faults_of(seat).filter(|fault| fault.kind.breaks());
        broke.next().map(|fault| fault.kind.word().to_owned())
    };
    let held = record.held.iter().any(|held| matches!(held, Held::Inside { .. }));
    Observed {
        faults: FaultsTold::Public(Seat::first(seats as u8).map(fault).collect()),
        max_ms: record.max_ms(),
        wall_us: record.wall_us,
        level: level(&record.held),
        suites: held.then(holding::suites),
        images: record.images.iter().cloned().collect(),
        ..Observed::default()
    }
}

/// How well the programs of a match were held: the worst of them.
fn level(held: &[Held]) -> String {
    let worst = held.iter().max_by_key(|held| match held {
        Held::NoProgram => (0, None),
        Held::Inside { level, shares } => (1, Some((*level, !shares))),
        // No level at all is worse than any level.
        Held::Free => (2, None),
    });
    match worst {
        None | Some(Held::NoProgram) => "no program".to_owned(),
        Some(Held::Free) => holding::word(None),
        Some(held) => held.word().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use agon_bot::Level;

    use super::*;

    #[test]
    fn a_match_is_held_as_well_as_its_worst_program() {
        let (free, none) = (Held::Free, Held::NoProgram);
        let [a, b, c] = [Level::A, Level::B, Level::C].map(|level| Held::Inside { level, shares: true });
        assert_eq!(level(&[none, none]), "no program");
        let words = |held: &[&[Held]]| held.iter().map(|held| level(held)).collect::<Vec<_>>();
        assert_eq!(words(&[&[a, none], &[a, b, a]]), ["A", "B, CPU sampled"]);
        assert_eq!(words(&[&[c, a], &[c, free]]), ["C, CPU sampled", "not confined"]);
        let unequal = Held::Inside { level: Level::A, shares: false };
        assert_eq!(words(&[&[a, unequal], &[unequal, b]]), ["A, shares not equal", "B, CPU sampled"]);
    }
}
