//! `--on URL`: the machines of a fleet (`agon serve --fleet`) play the matches of a series. Scheduler, journal and
//! statistics stay here; each result is recomputed from its replay before it counts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_bot::advised::NextCommand;
use agon_bot::{BotName, NameKind as BotKind};
use agon_contest::scheduler::ScheduledMatch as Own;
use agon_contest::{MatchFate, MatchResult, Observed, Scheduler, SeriesEnd, SeriesSetup, Trouble};
use agon_store::Sha;
use agon_worker::fleet::{
    self, Exchange, FleetLine, FleetState, LARGEST_BACK, MOST_AT_ONCE, Open, Overview, SeriesOpened,
};
use agon_worker::wire::{LARGEST_RESULT, unframed};
use agon_worker::{BotSource, ContestTerms, Job, Nothing, Pauses, PreparedGame, Sitting, Try, verify};

use crate::common::Failure;
use crate::common::online::{Online, OnlineOptions, Trouble as Refusal};
use crate::common::packed::packed;
use crate::common::screen::harmless;

/// How long one request waits for results; ending the series takes as long.
const WAIT_MS: u64 = 500;
/// Upper limit on the bytes of an answer: a batch of results, one large result, and their lines.
const LARGEST: u64 = LARGEST_BACK as u64 + LARGEST_RESULT + (4 << 20);
/// How long a fleet may be without machines before the user is told.
const ALONE: Duration = Duration::from_secs(3);

/// A bot in the form in which machines get it.
pub(crate) struct Sent {
    program: BotSource,
    /// Unless it is built in.
    archive: Option<Vec<u8>>,
}

impl Sent {
    /// The bot of this name.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub fn new(name: &BotName) -> Result<Self, Failure> {
        match &name.kind {
            BotKind::Builtin { .. } => {
                Ok(Self { program: BotSource::Builtin(name.text.clone()), archive: None })
            }
            BotKind::Path(_) => {
                let archive = packed(name)?;
                let program = BotSource::Source(Sha::of(&archive).to_string());
                Ok(Self { program, archive: Some(archive) })
            }
            _ => Err(Failure::usage(format!(
                "bot `{name}`: the machines of a fleet are sent files; give a folder with agon.toml, or a file"
            ))),
        }
    }
}

/// A series as a fleet plays it.
pub(crate) struct Fleet {
    online: Online,
    terms: ContestTerms,
    table: PreparedGame,
    bots: Vec<Sent>,
    title: String,
    /// Messages for the waiting user.
    news: Mutex<Vec<String>>,
}

/// Reaches the fleet at an address with the author's token; also returns how many matches its machines play at once.
///
/// # Errors
/// When it cannot be reached, or nobody logged in there.
pub fn reach(url: &str) -> Result<(Online, usize), Failure> {
    let online = OnlineOptions { url: Some(url.to_owned()), ..OnlineOptions::default() }.connect()?;
    let online = online.below(fleet::ROOT);
    let overview: Overview = online.get("", &[]).map_err(|trouble| match trouble {
        Refusal::Refused(problem) if problem.status == 404 => Failure::usage(format!(
            "{url} is a contest, not a fleet: `agon serve DIR --fleet` starts one; to play under a contest's conditions here use --as"
        )),
        other => other.into(),
    })?;
    if overview.program != agon_replay::data::PROGRAM {
        return Err(Failure::usage(format!(
            "the fleet at {url} runs {}, and this is {}: use the same program everywhere",
            harmless(&overview.program),
            agon_replay::data::PROGRAM
        )));
    }
    let at_once = overview.machines.iter().map(|machine| machine.jobs as usize).sum();
    Ok((online, at_once))
}

/// The matches in progress on the fleet.
#[derive(Default)]
struct Hand {
    jobs: BTreeMap<i64, (Own, Job)>,
    /// Those not yet sent to the fleet.
    untold: Vec<i64>,
    /// Results that have arrived but were not yet acknowledged.
    got: Vec<i64>,
    last: i64,
}

impl Fleet {
    /// A series with these bots on the fleet.
    ///
    /// # Errors
    /// When its terms cannot be played.
    pub fn new(online: Online, terms: ContestTerms, bots: Vec<Sent>, title: String) -> Result<Self, Failure> {
        let table = PreparedGame::new(&terms).map_err(Failure::own)?;
        Ok(Self { online, terms, table, bots, title, news: Mutex::default() })
    }

    /// The fleet's address.
    pub fn address(&self) -> &str {
        &self.online.address.0
    }

    /// What has happened since the last call, in sentences.
    pub fn news(&self) -> Vec<String> {
        std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, text: String) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Has the fleet play the matches that the scheduler hands out, until the series ends.
    pub fn play(&self, series: &SeriesSetup, scheduler: &Scheduler) {
        let (mut hand, mut number, mut standing) = (Hand::default(), None, FleetState::default());
        let (mut pauses, mut is_away, mut alone) = (Pauses::default(), false, Some(Instant::now()));
        while !scheduler.wait(Duration::ZERO) {
            let answer = match number {
                Some(series) => self.exchange(series, scheduler, &mut hand, standing.wanted),
                None => self.open().map(|opened| {
                    number = Some(opened);
                    // A new series on the fleet knows none of the matches, so all are sent again.
                    hand.untold = hand.jobs.keys().copied().collect();
                    Vec::new()
                }),
            };
            let lines = match answer {
                Ok(lines) => lines,
                Err(Refusal::Refused(problem)) if problem.status == 410 => {
                    number = None;
                    continue;
                }
                Err(trouble) if trouble.may_pass() => {
                    if !std::mem::replace(&mut is_away, true) {
                        self.tell(format!("{}; asking the fleet again", harmless(&trouble.to_string())));
                    }
                    if scheduler.wait(pauses.next().unwrap_or(ALONE)) {
                        break;
                    }
                    continue;
                }
                Err(trouble) => {
                    return scheduler.end(SeriesEnd::Failed(Trouble::Setup(harmless(&trouble.to_string()))));
                }
            };
            if std::mem::take(&mut is_away) {
                self.tell("the fleet is back".to_owned());
            }
            pauses = Pauses::default();
            for (line, replay) in lines {
                match line {
                    FleetLine::Standing(now) => self.stands(&mut standing, now, &mut alone),
                    line => self.arrived(series, scheduler, &mut hand, line, &replay),
                }
            }
        }
        if let Some(series) = number {
            // If this fails, the fleet closes the series after hearing nothing for a while.
            let _: Result<(), Refusal> = self.online.tell("/close", &of(series), &());
        }
    }

    /// Reports machines that come or go.
    fn stands(&self, before: &mut FleetState, now: FleetState, alone: &mut Option<Instant>) {
        if (now.machines, now.at_once) != (before.machines, before.at_once) && now.machines > 0 {
            let machines = if now.machines == 1 { "machine plays" } else { "machines play" };
            let matches = if now.at_once == 1 { "match" } else { "matches" };
            self.tell(format!("{} {machines}, {} {matches} at once", now.machines, now.at_once));
        }
        if now.all_machines > 0 {
            *alone = None;
        } else if before.all_machines > 0 {
            *alone = Some(Instant::now());
        }
        if alone.is_some_and(|since| since.elapsed() > ALONE) {
            // Once, until some have come.
            *alone = None;
            self.tell(format!(
                "the fleet has no machine: `{}` on each that should play",
                NextCommand::Work.about([self.online.address.0.as_str(), "machines.token"])
            ));
        }
        *before = now;
    }

    /// Opens the series there, and sends the bots it lacks.
    fn open(&self) -> Result<i64, Refusal> {
        let sources: BTreeMap<&str, &[u8]> = self
            .bots
            .iter()
            .filter_map(|bot| match (&bot.program, &bot.archive) {
                (BotSource::Source(sha), Some(archive)) => Some((sha.as_str(), &archive[..])),
                _ => None,
            })
            .collect();
        let open = Open {
            program: agon_replay::data::PROGRAM.to_owned(),
            title: self.title.clone(),
            terms: self.terms.clone(),
            sources: sources.keys().map(|sha| (*sha).to_owned()).collect(),
        };
        let opened: SeriesOpened = self.online.tell("/open", &[], &open)?;
        for archive in opened.missing.iter().filter_map(|sha| sources.get(sha.as_str())) {
            let () = self.online.send("/source", &[], archive)?;
        }
        Ok(opened.series)
    }

    /// Hands out matches and fetches results.
    fn exchange(
        &self,
        series: i64,
        scheduler: &Scheduler,
        hand: &mut Hand,
        wanted: usize,
    ) -> Result<Vec<(FleetLine, Vec<u8>)>, Refusal> {
        while hand.untold.len() < MOST_AT_ONCE && hand.jobs.len() < wanted.max(1) {
            let Some(own) = scheduler.take_now() else { break };
            hand.last += 1;
            hand.jobs.insert(hand.last, (own.clone(), self.job(hand.last, scheduler, &own)));
            hand.untold.push(hand.last);
        }
        let untold: Vec<i64> = hand.untold.iter().copied().take(MOST_AT_ONCE).collect();
        let add = untold.iter().filter_map(|game| Some(hand.jobs.get(game)?.1.clone())).collect();
        let full = untold.len() == MOST_AT_ONCE;
        let exchange = Exchange { add, got: hand.got.clone(), wait_ms: if full { 0 } else { WAIT_MS } };
        let bytes = self.online.trade("/exchange", &of(series), &exchange, LARGEST)?;
        let lines = unframed::<FleetLine>(&bytes, MOST_AT_ONCE + 1).map_err(Refusal::Strange)?;
        hand.untold.retain(|game| !untold.contains(game));
        hand.got.clear();
        Ok(lines.into_iter().map(|(line, replay)| (line, replay.to_vec())).collect())
    }

    fn job(&self, game: i64, scheduler: &Scheduler, own: &Own) -> Job {
        let header = scheduler.header();
        let sit = |&bot: &usize| Sitting {
            label: header.bots[bot].label.clone(),
            program: self.bots[bot].program.clone(),
        };
        Job {
            attempt: Try { game, n: 1 },
            map: own.block.map,
            seed: own.block.seed,
            seats: own.bots().iter().map(sit).collect(),
            tried: None,
            disturbed: scheduler.disturbed(own),
            positions: Vec::new(),
        }
    }

    /// Handles a result that arrived.
    fn arrived(
        &self,
        series: &SeriesSetup,
        scheduler: &Scheduler,
        hand: &mut Hand,
        line: FleetLine,
        replay: &[u8],
    ) {
        let (game, came) = match line {
            FleetLine::Standing(_) => return,
            FleetLine::Whole { game, observed } => (game, Ok(*observed)),
            FleetLine::Nothing { game, nothing } => (game, Err(nothing)),
        };
        hand.got.push(game);
        // It was counted before, and the acknowledgement was lost.
        let Some((own, job)) = hand.jobs.remove(&game) else { return };
        let came = match came {
            Err(Nothing { unfit: Some(unfit), .. }) => {
                let fix = unfit.fix.map_or_else(String::new, |fix| format!("\n  {fix}"));
                Err(Trouble::CannotStart(format!("{}{fix}", harmless(&unfit.what))))
            }
            Err(nothing) => {
                let by = nothing.doing().and_then(|by| usize::from(by).checked_sub(1));
                let culprit = by.and_then(|by| own.bots().get(by).copied());
                Ok(MatchFate::Unfair { why: harmless(&nothing.why), culprit })
            }
            Ok(observed) => match self.result(&job, observed, replay) {
                Err(why) => {
                    let why = format!("a machine of the fleet sent a replay that is not of its match: {why}");
                    Ok(MatchFate::Unfair { why: harmless(&why), culprit: None })
                }
                Ok(result) => {
                    let kind = scheduler.header().kind;
                    let entry = series.entry(kind, &own, result, || Ok(Some(replay.to_vec())));
                    entry.map(|entry| MatchFate::Whole(Box::new(entry)))
                }
            },
        };
        scheduler.over(own, came);
    }

    /// The map and the result of a match: what its replay proves, and what its machine observed.
    fn result(&self, job: &Job, observed: Observed, replay: &[u8]) -> Result<(String, MatchResult), String> {
        let proven = verify(&self.table, job, replay)?;
        let seats = job.seats.len();
        let good = observed.max_ms.len() == seats
            && observed.faults.counted().iter().all(|fault| (1..=seats).contains(&usize::from(fault.seat)))
            && [0, seats].contains(&observed.rejected.len())
            && [0, seats].contains(&observed.sandbox.len());
        if !good {
            return Err("what is said of it has other seats".to_owned());
        }
        let map = self.table.open(job.map, job.seed)?.recipe().map_name.clone();
        Ok((map, MatchResult { proven, observed }))
    }
}

fn of(series: i64) -> [(&'static str, String); 1] {
    [("series", series.to_string())]
}
