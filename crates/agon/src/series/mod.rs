//! Shared by `agon gauntlet`, `tournament` and `sprt`: from options to a scheduler with a journal, and the run.
//!
//! Longer than 500 lines: options and preparation of all series; each command has its own file.

mod bars;
pub mod contest;
pub mod counts;
pub mod cross;
pub mod formats;
pub mod gauntlet;
pub mod json;
pub mod newcomer;
pub mod on;
pub mod origin;
pub mod picture;
pub mod pin;
pub mod progress;
pub mod rate;
pub mod site;
pub mod sprt;
pub mod tournament;
pub mod why;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_bot::{BotName, Launch, NameKind as BotKind, Run};
use agon_contest::journal::{self, FORMAT};
use agon_contest::{
    BotId, Journal, JournalError, JournalHeader, Keep, MapId, RulesId, Scheduler, SeriesBot, SeriesEnd,
    SeriesKind, SeriesSetup, Shelf, TestId, content, plan,
};
use agon_desk::ratings::Anchors;
use agon_game::{AnyGame, GameInfo, MapChoice, Ready as ReadyGame, Seat, Session, Setup, Transport};
use agon_spec::MatchSpec;
use agon_stats::{RulesHash, Sprt};
use agon_worker::{ContestTerms, MatchGround};
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};

use crate::common::builds;
use crate::common::conditions::Conditions;
use crate::common::folders::{self, JOURNAL};
use crate::common::git;
use crate::common::sandbox::{Bots, SandboxOptions};
use crate::common::screen;
use crate::common::waiting::PortOptions;
use crate::common::{self, ClockOptions, Done, Failure, SetupOptions, USUAL_LIMIT};
use crate::series::progress::Show;

/// Matches of each pairing unless told otherwise.
pub const USUAL_GAMES: u64 = 100;

/// Options of all series.
#[derive(Args, Debug, Clone, Default)]
pub struct SeriesOptions {
    /// Seed of the first block; each further block takes the next one [default: a fresh one, which is printed]
    #[arg(long, short = 'd', value_name = "N", allow_hyphen_values = true, help_heading = "Match")]
    pub seed: Option<i64>,
    /// A map by name, a map file, or `generate`; if given several times, the blocks take them in turn
    #[arg(long, value_name = "NAME|FILE|generate", help_heading = "Match")]
    pub map: Vec<String>,
    /// Rules: a preset (see `agon rules GAME`) or a rules file
    #[arg(long, value_name = "PRESET|FILE", help_heading = "Match")]
    pub rules: Option<String>,
    /// Changes one rule; may be given several times
    #[arg(long, value_name = "RULE=VALUE", help_heading = "Match")]
    pub set: Vec<String>,
    /// Seats of a match, for games that allow several
    #[arg(long, value_name = "N", help_heading = "Match")]
    pub seats: Option<u8>,
    /// Renames a bot, numbered in the order of the command; may be given several times
    #[arg(long, value_name = "NUMBER=LABEL", help_heading = "Match")]
    pub name: Vec<String>,
    #[command(flatten)]
    pub clock: ClockOptions,
    #[command(flatten)]
    pub run: RunOptions,
    /// The address of the contest whose conditions these are.
    #[arg(skip)]
    pub played_as: Option<String>,
}

impl SeriesOptions {
    /// The same options under the conditions of a contest. Its rules apply, and `typed` ones are refused.
    ///
    /// # Errors
    /// When conditions were asked for that are not the contest's.
    pub fn under(mut self, there: &Conditions, typed: Option<&String>) -> Result<Self, Failure> {
        let (map, rules) = there.grounds(&self.map, typed, &self.set)?;
        let clock = there.clock(&self.clock)?;
        if there.holds_bots() {
            self.run.sandbox.hold_all(&there.contest.machine);
        }
        if !self.run.quiet {
            there.notes().into_iter().chain(there.speed()).for_each(|note| eprintln!("note: {note}"));
        }
        let (rules, seats) = (Some(rules), Some(there.contest.seats));
        Ok(Self { map, rules, seats, clock, played_as: Some(there.address.0.clone()), ..self })
    }
}

/// Options of how a series is run; they do not affect its results.
#[derive(Args, Debug, Clone, Default)]
pub struct RunOptions {
    /// Matches played at once [default: as many as there are CPUs for]
    #[arg(long, short, value_name = "N", help_heading = "Run")]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub port: PortOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// Plays on the machines of the fleet at this address (`agon serve --fleet`), after `agon login` there
    #[arg(long, value_name = "URL", conflicts_with = "jobs", help_heading = "Run")]
    pub on: Option<String>,
    /// Continues a series that was interrupted
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
    /// Where every finished match is recorded [default: a new folder in ./agon-series]
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().try_map(journal_file), help_heading = "Run")]
    pub journal: Option<PathBuf>,
    /// Which replays to keep
    #[arg(long, value_enum, default_value_t, help_heading = "Run")]
    pub replays: Replays,
    /// First runs the build command of every bot whose agon.toml has one
    #[arg(long, help_heading = "Run")]
    pub build: bool,
    /// Builds nothing: refuses a bot whose sources are newer than what would be run
    #[arg(long, conflicts_with = "build", help_heading = "Run")]
    pub no_build: bool,
    /// Prints events and the result as JSON, one object per line
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Shows no progress
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Which replays to keep.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Replays {
    /// All of them
    All,
    /// Those of matches that were lost, or in which something went wrong
    #[default]
    Lost,
    /// None; each match can be played again from its seed
    None,
}

impl From<Replays> for Keep {
    fn from(replays: Replays) -> Self {
        match replays {
            Replays::All => Self::All,
            Replays::Lost => Self::Lost,
            Replays::None => Self::None,
        }
    }
}

/// What a command wants played.
pub(crate) struct Wanted<'a> {
    /// The kind of series.
    pub kind: SeriesKind,
    pub game: &'a str,
    pub bots: Vec<String>,
    /// Matches of each pairing; none for as many as it takes.
    pub games: Option<u64>,
    /// Whether the user chose the number of matches.
    pub chosen: bool,
    /// The format of a tournament other than a round robin.
    pub format: Option<formats::Seeded>,
    /// A series whose games are to count together with those of this one, so the rules must be the same.
    pub like: Option<&'a JournalHeader>,
    /// How its table will be made.
    pub how: Option<&'a Anchors>,
    /// The test, if there is one.
    pub test: Option<TestId>,
    pub options: &'a SeriesOptions,
}

/// A series that is ready to run.
pub(crate) struct Ready {
    pub info: &'static GameInfo,
    /// What is played.
    pub series: SeriesSetup,
    /// Hands out matches and counts results.
    pub scheduler: Scheduler,
    /// The machines that play it, if not this one.
    pub fleet: Option<on::Fleet>,
    jobs: usize,
    usual_limit: bool,
    chosen: bool,
}

impl RunOptions {
    /// How its bots are run, in many matches.
    fn bots(&self) -> Bots {
        let Bots { run, when } = self.sandbox.bots();
        Bots { run: self.port.at(Run { ahead: true, ..run }), when }
    }
}

/// Refuses a number of matches at once that is too small or too large.
pub fn check_jobs(jobs: Option<usize>) -> Done {
    match jobs {
        Some(jobs) if !(1..=1024).contains(&jobs) => {
            Err(Failure::usage(format!("-j {jobs}: a number from 1 to 1024")))
        }
        _ => Ok(()),
    }
}

/// Prepares everything, so that errors surface before the first match.
pub fn prepare(wanted: &Wanted<'_>) -> Result<Ready, Failure> {
    let bots = wanted.options.run.bots();
    let game = common::game(wanted.game)?;
    let info = game.info();
    let mut options = wanted.options.clone();
    let usual_limit = info.transport == Transport::Script
        && !options.clock.no_timeouts
        && options.clock.time_limit.is_none();
    if usual_limit {
        options.clock.time_limit = Some(USUAL_LIMIT);
    }
    let options = &options;
    check_jobs(options.run.jobs)?;
    let seats = options.seats.unwrap_or(info.usual_seats());
    let reached = options.run.on.as_deref().map(on::reach).transpose()?;
    let prepared = prepared(game, options, seats)?;
    let first = &prepared[0].0;
    let (mut entrants, mut ids) = (Vec::new(), Vec::new());
    for text in &wanted.bots {
        let (entrant, id) = entrant(text, &options.run, &bots, wanted.kind != SeriesKind::Tournament)?;
        entrants.push(entrant);
        ids.push(id);
    }
    label(&mut entrants, &mut ids, &options.name)?;
    let mut session = prepared[0].1.open(first.seed)?;
    check_builtins(session.as_mut(), &entrants)?;
    let recipe = session.recipe();
    // Only remote machines need the terms in full.
    let terms = reached.as_ref().map(|_| terms(info, options, &prepared)).transpose()?;
    let rules = format!("{} {}\n{}", info.name, info.rules_version, recipe.rules);
    let header = JournalHeader {
        agon_journal: FORMAT,
        plan: plan::VERSION,
        program: agon_replay::data::PROGRAM.to_owned(),
        started: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        format: wanted.format.as_ref().map(|format| {
            let labels: Vec<String> = ids.iter().map(|id| id.label.clone()).collect();
            format.of(&labels)
        }),
        kind: wanted.kind,
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        rules: RulesId {
            name: recipe.rules_name.clone(),
            hash: RulesHash(content::of_text(rules.as_bytes())),
            text: recipe.rules.clone(),
        },
        maps: prepared
            .iter()
            .zip(map_names(options))
            .map(|((setup, _), name)| map(info, setup, name))
            .collect(),
        seats,
        bots: ids,
        seed: first.seed,
        clock: options.clock.clock()?.into(),
        ponder: options.clock.ponder(),
        test: wanted.test.clone(),
        options: conditions(info, options)?,
    };
    let plan = header.plan(None);
    plan.check().map_err(Failure::Usage)?;
    if let Some(format) = &header.format {
        agon_contest::format::Schedule::new(format, header.bots.len(), seats)
            .map_err(|error| Failure::usage(error.to_string()))?;
    }
    let sprt = wanted.test.as_ref().map(|test| sprt(test, &header)).transpose()?;
    if wanted.kind == SeriesKind::Sprt {
        let run = |bot: &SeriesBot| builds::what_is_run(&bot.name).map_err(Failure::Usage);
        let is_same = header.bots[0].hash == header.bots[1].hash
            || reached.is_none()
                && run(&entrants[0])?.is_some_and(|new| run(&entrants[1]).is_ok_and(|old| old == Some(new)));
        if is_same {
            let [new, old] = [0, 1].map(|bot| screen::harmless(&header.bots[bot].bot));
            let message = format!(
                "NEW is OLD: {new} and {old} are the same bot, byte for byte (program, arguments, data); there is no difference to find"
            );
            if options.run.json {
                let said = json::Same { event: "result", decision: json::DecisionWord::Equal, why: message };
                common::print_json_line(&mut io::stdout(), &said)?;
            } else {
                eprintln!("{message}");
            }
            return Err(Failure::Answer(json::DecisionWord::Equal.exit_code()));
        }
    }
    if let Some(how) = wanted.how {
        how.check(&header.bots.iter().map(|bot| bot.label.as_str()).collect::<Vec<_>>())?;
    }
    if let Some(like) = wanted.like {
        newcomer::check_conditions(like, &header)?;
    }
    let (journal, header, past) = open_journal(header, options)?;
    let rounds = wanted.games.map(|games| header.plan(None).rounds_for(games));
    let series = SeriesSetup {
        game,
        prepared: prepared.into_iter().map(|(_, ready)| ready).collect(),
        bots: entrants,
        clock: options.clock.clock()?,
        ponder: options.clock.ponder(),
        keep: options.run.replays.into(),
        replays: Shelf::new(journal.path().with_file_name(replays_name(journal.path()))),
    };
    let jobs = match &reached {
        Some((_, at_once)) => *at_once,
        None => options.run.jobs.unwrap_or_else(|| series.usual_jobs(seats)),
    };
    let fleet = reached.zip(terms).map(|((online, _), terms)| {
        let sent = series.bots.iter().map(|bot| on::Sent::new(&bot.name)).collect::<Result<_, _>>()?;
        let labels: Vec<&str> = series.bots.iter().map(|bot| bot.label.as_str()).collect();
        on::Fleet::new(online, terms, sent, format!("{} {}", header.kind.word(), labels.join(", ")))
    });
    Ok(Ready {
        info,
        series,
        fleet: fleet.transpose()?,
        scheduler: Scheduler::new(header, rounds, sprt, journal, past),
        jobs,
        usual_limit,
        chosen: wanted.chosen,
    })
}

/// Runs a series to its end and shows its progress. Returns how it ended, unless it failed.
pub fn run(ready: &Ready, options: &RunOptions) -> Result<SeriesEnd, Failure> {
    run_until(ready, options, common::stop_on_ctrl_c())
}

/// The same, until `stop` becomes true.
pub fn run_until(ready: &Ready, options: &RunOptions, stop: &AtomicBool) -> Result<SeriesEnd, Failure> {
    let mut show = Show::new(ready, options)?;
    let (series, scheduler) = (&ready.series, &ready.scheduler);
    match &ready.fleet {
        _ if scheduler.wait(Duration::ZERO) => {}
        Some(fleet) => {
            let tick = |scheduler: &Scheduler| {
                fleet.news().iter().try_for_each(|news| show.say(news))?;
                show.tick(scheduler)
            };
            agon_contest::attend(scheduler, stop, tick, || fleet.play(series, scheduler))?;
        }
        None => {
            agon_contest::run(series, scheduler, ready.jobs, stop, |scheduler| show.tick(scheduler))?;
        }
    }
    show.close();
    let end = ready.scheduler.look(|progress| progress.end.clone()).unwrap_or(SeriesEnd::Stopped);
    match end {
        // To go on with the same bot would end the same way.
        SeriesEnd::Failed(trouble @ agon_contest::Trouble::NeverAnswered(_)) => {
            Err(Failure::usage(trouble.to_string()))
        }
        SeriesEnd::Failed(trouble) => {
            let message = format!("{trouble}\n  {}", go_on(ready));
            Err(match trouble {
                agon_contest::Trouble::CannotStart(_) | agon_contest::Trouble::Setup(_) => {
                    Failure::Usage(message)
                }
                _ => Failure::Own(message),
            })
        }
        end => Ok(end),
    }
}

impl Ready {
    /// How many matches are played at once.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// What to vary where bots play the same again: maps that the seed makes, if the game has them and they are not played yet.
    pub fn more_starts(&self) -> &'static str {
        let is_made = |name: &str| name == "generate" || name.is_empty() && self.info.maps.is_empty();
        let made = self.scheduler.header().maps.iter().any(|map| is_made(&map.name));
        match self.info.generates_maps && !made {
            true => "vary maps (--map generate makes one of each seed), seeds or opponents",
            false => "vary maps, seeds or opponents",
        }
    }

    /// Whether the user chose the number of matches.
    pub fn length_was_chosen(&self) -> bool {
        self.chosen
    }

    /// The limit on an answer, if the user chose none and the rules allow very long ones.
    pub fn usual_limit(&self) -> Option<Duration> {
        self.usual_limit.then_some(USUAL_LIMIT)
    }
}

/// Says how to continue a series that did not reach its end.
pub fn go_on(ready: &Ready) -> String {
    let games = ready.scheduler.look(|progress| progress.games);
    let again = std::env::args().filter(|word| word != "--resume").chain(["--resume".to_owned()]);
    let words: Vec<String> = again.collect();
    let line = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "));
    let path = ready.scheduler.journal_path();
    let path = path.display();
    match games {
        0 => "no match was finished".to_owned(),
        1 => format!("1 finished match is in {path}; go on with\n  {line}"),
        _ => format!("{games} finished matches are in {path}; go on with\n  {line}"),
    }
}

/// Warns about bots whose files changed while they played.
pub fn changed_meanwhile(ready: &Ready) -> Vec<String> {
    let bots = ready.series.bots.iter();
    bots.filter(|bot| !bot.name.text.starts_with(git::PREFIX))
        .filter(|bot| content::of_bot(&bot.name).is_ok_and(|hash| hex(hash) != bot.hash))
        .map(|bot| {
            format!(
                "{} was changed while it played: this result mixes versions; play again, or freeze it first with agon pin",
                screen::harmless(&bot.label)
            )
        })
        .collect()
}

fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The folder of a journal's replays, beside it.
fn replays_name(journal: &Path) -> String {
    match journal.file_name() {
        Some(name) if name == JOURNAL => "replays".to_owned(),
        name => format!("{}.replays", name.unwrap_or_default().to_string_lossy()),
    }
}

fn map_names(options: &SeriesOptions) -> Vec<String> {
    if options.map.is_empty() { vec![String::new()] } else { options.map.clone() }
}

/// A setup, and the game made ready for it.
type Prepared = (Setup, Box<dyn ReadyGame>);

/// Each map with the game prepared for it, so that a match needs only a seed. Each is opened once with the first seed.
fn prepared(game: &dyn AnyGame, options: &SeriesOptions, seats: u8) -> Result<Vec<Prepared>, Failure> {
    let seed = options.seed.unwrap_or_else(common::fresh_seed);
    let each = map_names(options).into_iter().map(|map| {
        let setup = setup_options(options, map, seed).setup(game, usize::from(seats))?;
        let ready = game.prepare(&setup)?;
        ready.open(setup.seed)?;
        Ok((setup, ready))
    });
    each.collect()
}

/// Everything that decides the results of a series.
fn terms(info: &GameInfo, options: &SeriesOptions, prepared: &[Prepared]) -> Result<ContestTerms, Failure> {
    let grounds = prepared
        .iter()
        .map(|(setup, ready)| Ok::<_, Failure>(MatchGround::new(setup, ready.open(setup.seed)?.recipe())))
        .collect::<Result<_, _>>()?;
    Ok(ContestTerms {
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        grounds,
        clock: options.clock.clock()?.into(),
        ponder: options.clock.ponder(),
        ratings: agon_stats::METHOD,
    })
}

/// Makes sure that what is played is what was meant: the sources as they are now.
fn built(name: &agon_bot::BotName, run: &RunOptions, is_asked_about: bool) -> Result<(), Failure> {
    let newer = if run.no_build || is_asked_about { builds::newer_source(name) } else { None };
    let Some(newer) = newer else {
        if run.build {
            builds::ensure(name, false)?;
        }
        builds::warn_of_stale(std::slice::from_ref(name));
        return Ok(());
    };
    if run.no_build {
        return Err(Failure::usage(format!(
            "bot `{name}`: {} is newer than what would be run; build it: {} (or leave out --no-build)",
            newer.display(),
            agon_bot::advised::Advised::Build(name.text.clone())
        )));
    }
    if agon_bot::Build::of(name).map_err(Failure::Usage)?.is_some() {
        return builds::ensure(name, false);
    }
    Err(Failure::usage(format!(
        "bot `{name}`: {} is newer than the program that would be run; build it: make -C {name}",
        newer.display()
    )))
}

/// A bot, and its entry in the journal. `is_asked_about` says whether the series is about single bots.
fn entrant(
    text: &str,
    run: &RunOptions,
    bots: &Bots,
    is_asked_about: bool,
) -> Result<(SeriesBot, BotId), Failure> {
    let frozen =
        text.starts_with(git::PREFIX).then(|| git::find(text)).transpose().map_err(Failure::Usage)?;
    let (name, label, play) = match frozen {
        Some(found) => (bots.take(found.name.clone(), false), found.label, Some(found.name.text)),
        None => {
            let name = if run.on.is_some() { common::named(text, bots)? } else { common::bot(text, bots)? };
            (name.clone(), name.label(), None)
        }
    };
    match &name.kind {
        BotKind::WebSocket | BotKind::Tcp | BotKind::Join => {
            return Err(Failure::usage(format!(
                "`{text}`: a series starts its bots itself, anew for each match; give a file, a folder or cmd:..."
            )));
        }
        // It is built on the machine that plays it.
        BotKind::Path(_) if run.on.is_some() => builds::can_be_handed_in(&name)?,
        BotKind::Path(path) => {
            builds::compile(&name)?;
            if path.is_dir() {
                built(&name, run, is_asked_about)?;
            }
        }
        _ => {}
    }
    if run.on.is_none() {
        Launch::of(&name).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let hash = hex(match &play {
        // A commit never changes.
        Some(play) => content::of_text(play.as_bytes()),
        None => content::of_bot(&name).map_err(|why| Failure::usage(format!("bot `{text}`: {why}")))?,
    });
    let id = BotId { bot: text.to_owned(), play, label: label.clone(), hash: hash.clone() };
    Ok((SeriesBot { name, label, hash }, id))
}

/// Labels that tell the bots apart.
fn label(entrants: &mut [SeriesBot], ids: &mut [BotId], renames: &[String]) -> Result<(), Failure> {
    let chosen = common::chosen(ids.len(), renames)?;
    let names: Vec<BotName> = entrants.iter().map(|entrant| entrant.name.clone()).collect();
    // A commit's label names its revision.
    let called = agon_desk::seats::called(&names).into_iter().zip(ids.iter());
    let called = called.map(|(called, id)| if id.play.is_some() { id.label.clone() } else { called });
    let labels = agon_desk::seats::apart(called.collect(), &chosen);
    for ((entrant, id), label) in entrants.iter_mut().zip(ids).zip(labels) {
        entrant.label.clone_from(&label);
        id.label = label;
    }
    Ok(())
}

/// Seats every built-in once, so that a wrong name or option is found now.
fn check_builtins(session: &mut dyn Session, entrants: &[SeriesBot]) -> Result<(), Failure> {
    for entrant in entrants {
        if let BotKind::Builtin { name, options } = &entrant.name.kind {
            session.seat_builtin(Seat::new(0), name, options, 0).map_err(Failure::Usage)?;
        }
    }
    Ok(())
}

fn map(info: &GameInfo, setup: &Setup, name: String) -> MapId {
    let content = match &setup.map {
        MapChoice::File(_, bytes) => content::of_text(bytes),
        MapChoice::Named(name) => {
            let map = info.maps.iter().find(|map| map.name == *name);
            content::of_text(map.map_or("", |map| map.text).as_bytes())
        }
        // The seed picks the map, so all maps are hashed.
        MapChoice::Default | MapChoice::Generated => {
            let all: Vec<&str> = info.maps.iter().flat_map(|map| [map.name, map.text]).collect();
            content::of_text(all.join("\n").as_bytes())
        }
    };
    MapId { name, hash: hex(content) }
}

/// The options of `agon play` that give the same conditions.
fn conditions(info: &GameInfo, options: &SeriesOptions) -> Result<Vec<String>, Failure> {
    if let Some(url) = &options.played_as {
        return Ok(vec!["--as".to_owned(), url.clone()]);
    }
    let typed = setup_options(options, String::new(), 0).spec(info)?;
    let spec = MatchSpec { clock: options.clock.clock()?, ponder: options.clock.ponder(), ..typed };
    Ok(spec.conditions().unwrap_or_default())
}

/// The setup options of one map of a series.
fn setup_options(options: &SeriesOptions, map: String, seed: i64) -> SetupOptions {
    SetupOptions {
        seed: Some(seed),
        map: Some(map).filter(|map| !map.is_empty()),
        rules: options.rules.clone(),
        set: options.set.clone(),
        strict: false,
    }
}

fn sprt(test: &TestId, header: &JournalHeader) -> Result<Sprt, Failure> {
    counts::sprt(test, agon_contest::standing::shape(&header.plan(None)))
}

/// Elsewhere `-` is standard output.
fn journal_file(name: OsString) -> Result<PathBuf, &'static str> {
    let says = "a journal is a file, from which an interrupted series resumes; --json writes the result to standard output";
    if name == "-" { Err(says) } else { Ok(name.into()) }
}

type Opened = (Journal, JournalHeader, Vec<agon_contest::Entry>);

/// Starts a journal, or opens the one to continue.
fn open_journal(now: JournalHeader, options: &SeriesOptions) -> Result<Opened, Failure> {
    if !options.run.resume {
        let path = match &options.run.journal {
            Some(path) => {
                if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                    fs::create_dir_all(folder)
                        .map_err(|error| Failure::own(format!("{}: {error}", folder.display())))?;
                }
                path.clone()
            }
            None => new_folder(&now)?.join(JOURNAL),
        };
        let journal = Journal::create(&path, &now).map_err(journal_failure)?;
        return Ok((journal, now, Vec::new()));
    }
    let path = match &options.run.journal {
        Some(path) => path.clone(),
        None => last_journal(&now)?,
    };
    let mut past = Vec::new();
    let (journal, found) = Journal::reopen(&path, |entry| past.push(entry)).map_err(journal_failure)?;
    let was = found.header;
    let mut wanted = now;
    if options.seed.is_none() {
        wanted.seed = was.seed;
    }
    let changes = was.changes(&wanted);
    if !changes.is_empty() {
        return Err(Failure::usage(format!(
            "cannot resume {}: the settings have changed, and results would be mixed:\n  {}\n\
             start again without --resume, or undo the change (agon pin freezes a bot)",
            path.display(),
            changes.join("\n  ")
        )));
    }
    if was.program != wanted.program {
        let begun = screen::harmless(&was.program);
        eprintln!("note: this series was begun by {begun}, this is {}", wanted.program);
    }
    if found.torn {
        eprintln!("note: the last line of {} was incomplete; its match is played again", path.display());
    }
    Ok((journal, was, past))
}

fn journal_failure(error: JournalError) -> Failure {
    match error {
        JournalError::Io(_, ref inner) if inner.kind() != io::ErrorKind::NotFound => {
            Failure::own(error.to_string())
        }
        error => Failure::usage(error.to_string()),
    }
}

/// A new folder for a series: `agon-series/cultist-wars-sprt-3`.
fn new_folder(header: &JournalHeader) -> Result<PathBuf, Failure> {
    let root = Path::new(folders::SERIES);
    let failed = |path: &Path, error: io::Error| {
        Failure::own(format!("{}: {error} (--journal FILE writes elsewhere)", path.display()))
    };
    fs::create_dir_all(root).map_err(|error| failed(root, error))?;
    for number in 1u64.. {
        let path = root.join(format!("{}-{}-{number}", header.game, header.kind.word()));
        match fs::create_dir(&path) {
            Ok(()) => {
                folders::remember(&path);
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path, error)),
        }
    }
    unreachable!("some number is free")
}

/// The last journal written by the same command.
fn last_journal(now: &JournalHeader) -> Result<PathBuf, Failure> {
    let names = |header: &JournalHeader| header.bots.iter().map(|bot| bot.bot.clone()).collect::<Vec<_>>();
    let folders = fs::read_dir(folders::SERIES).into_iter().flatten().flatten();
    let same = folders
        .map(|folder| folder.path().join(JOURNAL))
        .filter_map(|path| Some((journal::read_header(&path).ok()?, path)))
        .filter(|(was, _)| (was.kind, &was.game) == (now.kind, &now.game) && names(was) == names(now));
    let last = same.max_by_key(|(was, path)| (was.started, number_of(path)));
    last.map(|(_, path)| path).ok_or_else(|| {
        Failure::usage(format!(
            "{} holds no {} of {} with these bots to resume; begin without --resume, or name it with --journal FILE",
            folders::SERIES,
            now.kind.word(),
            now.game
        ))
    })
}

fn number_of(path: &Path) -> u64 {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    folder.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
