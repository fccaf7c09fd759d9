//! `agon tournament JOURNAL --add BOT`: a newcomer plays just enough matches to be placed among bots that played
//! before.

use std::io;
use std::path::PathBuf;

use agon_contest::{BotId, FormatSpec, JournalHeader, SeriesEnd, SeriesKind};
use agon_desk::ratings::{self, Anchors};
use agon_desk::words::thousands;
use agon_pairing::Why;
use clap::{Args, Parser};

use crate::common::folders::JOURNAL;
use crate::common::screen::{self, Screen};
use crate::common::{ClockOptions, Done, Failure};
use crate::series::formats::Seeded;
use crate::series::json::Reason;
use crate::series::tournament::TournamentOptions;
use crate::series::{self, Ready, SeriesOptions, Wanted, json};

/// The most matches of a newcomer unless told otherwise.
const USUAL_BUDGET: u64 = 400;
/// Half of its interval unless told otherwise, in Elo.
const USUAL_WITHIN: u32 = 50;

/// Options for a newcomer.
#[derive(Args, Debug, Clone, Default)]
pub struct NewcomerOptions {
    /// Adds a new bot to the ranking of a journal: it plays bots of similar strength until its interval is narrow enough.
    /// Rules, maps, seats and clock are taken from the journal, whose matches count too
    #[arg(long, value_name = "BOT", help_heading = "Newcomer")]
    pub add: Option<String>,
    /// The interval to reach, in Elo to each side (95 %) [default: 50]
    #[arg(long, value_name = "ELO", help_heading = "Newcomer")]
    pub within: Option<u32>,
}

impl NewcomerOptions {
    /// Refuses these options without a newcomer.
    pub fn none(&self) -> Done {
        match self.within {
            Some(_) => Err(Failure::usage("--within is for --add")),
            None => Ok(()),
        }
    }
}

/// The bots that played before.
pub(crate) struct Past {
    pub paths: Vec<PathBuf>,
    header: JournalHeader,
    /// The best first, with their ratings in tenths of Elo.
    bots: Vec<(BotId, i32)>,
}

/// The conditions of a series, as its journal records them.
#[derive(Parser)]
struct Conditions {
    #[command(flatten)]
    series: SeriesOptions,
}

impl Past {
    /// Reads the journals and rates their bots.
    pub fn read(options: &TournamentOptions, how: &Anchors) -> Result<Self, Failure> {
        let words = std::iter::once(&options.game).chain(&options.bots).map(PathBuf::from);
        let paths: Vec<PathBuf> =
            words.map(|path| if path.is_dir() { path.join(JOURNAL) } else { path }).collect();
        if let Some(path) = paths.iter().find(|path| !path.is_file()) {
            return Err(Failure::usage(format!(
                "{}: no journal; write agon tournament JOURNAL --add BOT with the journal, or the folder, of a series",
                path.display()
            )));
        }
        let read = ratings::read(&paths)?;
        for note in &read.notes {
            eprintln!("note: {}", screen::harmless(note));
        }
        let level = how.lenient();
        let tables = ratings::tables(&read, &level)?;
        let [table] = &tables[..] else {
            return Err(Failure::usage(match tables.len() {
                0 => "these journals hold no finished block; there is nobody to compare with".to_owned(),
                more => format!(
                    "these journals make {more} tables, of different games or rules; name one of them"
                ),
            }));
        };
        let known: Vec<&BotId> = read.headers().flat_map(|header| &header.bots).collect();
        let mut bots = Vec::new();
        for rated in table.ratings.bots.iter().filter(|rated| rated.group == 1) {
            let Some(bot) = known.iter().find(|bot| bot.label == rated.bot) else {
                return Err(Failure::usage(format!(
                    "these journals hold several versions of {}; name journals with one of each",
                    screen::harmless(&rated.bot)
                )));
            };
            let bound = rated.interval.and_then(|interval| interval.low.or(interval.high));
            let elo = rated.elo.or(bound);
            bots.extend(elo.map(|elo| ((*bot).clone(), (elo * 10.0).round() as i32)));
        }
        let header = read.headers().next().cloned().expect("there is a table");
        Ok(Self { paths, header, bots })
    }

    /// Prepares the newcomer's matches.
    pub fn prepare(&self, options: &TournamentOptions, bot: &str, how: &Anchors) -> Result<Ready, Failure> {
        let SeriesOptions { seed, map, rules, set, seats, name, clock, run, played_as: _ } = &options.series;
        let given = [
            (!map.is_empty(), "--map"),
            (rules.is_some(), "--rules"),
            (!set.is_empty(), "--set"),
            (seats.is_some(), "--seats"),
            (!name.is_empty(), "--name"),
            (*clock != ClockOptions::default(), "options of the clock"),
        ];
        if let Some((_, what)) = given.iter().find(|(given, _)| *given) {
            return Err(Failure::usage(format!("{what} cannot be given with --add: the journal fixes it")));
        }
        if options.format.is_given() {
            return Err(Failure::usage(
                "options of the format cannot be given with --add: a newcomer's opponents depend on its place",
            ));
        }
        let mut words = vec!["agon".to_owned(), "--seats".to_owned(), self.header.seats.to_string()];
        words.extend(self.header.options.iter().cloned());
        for map in self.header.maps.iter().filter(|map| !map.name.is_empty()) {
            words.extend(["--map".to_owned(), map.name.clone()]);
        }
        let conditions = Conditions::try_parse_from(words)
            .map_err(|error| Failure::usage(format!("the options of the journal: {error}")))?;
        let names = self.bots.iter().zip(2..).map(|((bot, _), number)| format!("{number}={}", bot.label));
        let wanted =
            SeriesOptions { seed: *seed, name: names.collect(), run: run.clone(), ..conditions.series };
        let seats = u64::from(self.header.seats);
        let blocks = options.games.unwrap_or(USUAL_BUDGET).div_ceil(seats);
        let form = FormatSpec::Placement {
            blocks: blocks.try_into().unwrap_or(u32::MAX),
            within: options.newcomer.within.unwrap_or(USUAL_WITHIN),
        };
        let ratings = self.bots.iter().map(|(_, rating)| *rating).collect();
        series::prepare(&Wanted {
            kind: SeriesKind::Tournament,
            game: &self.header.game,
            bots: std::iter::once(bot.to_owned())
                .chain(self.bots.iter().map(|(bot, _)| bot.bot.clone()))
                .collect(),
            games: Some(blocks.saturating_mul(seats)),
            chosen: true,
            format: Some(Seeded { form, ranking: Vec::new(), ratings }),
            like: Some(&self.header),
            how: Some(how),
            test: None,
            options: &wanted,
        })
    }
}

/// Refuses a series whose conditions differ from those of the series it is to be counted with, or in which a bot
/// has changed since.
pub fn check_conditions(was: &JournalHeader, now: &JournalHeader) -> Done {
    let same = |bot: &BotId| now.bots.iter().find(|now| now.label == bot.label);
    let (mut was, mut like) = (was.clone(), now.clone());
    was.bots.retain(|bot| same(bot).is_some());
    like.bots = was.bots.iter().filter_map(same).cloned().collect();
    (like.kind, like.seed, like.format, like.test) =
        (was.kind, was.seed, was.format.clone(), was.test.clone());
    let changes = was.changes(&like);
    if changes.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "the matches of that journal and new ones do not belong in one table:\n  {}",
        changes.join("\n  ")
    )))
}

/// Prints the newcomer's standing as a sentence.
pub fn show(out: &mut impl io::Write, screen: Screen, ready: &Ready, within: u32) -> io::Result<()> {
    let Some(placed) = ready.scheduler.placed() else { return Ok(()) };
    let label = screen::harmless(&ready.scheduler.header().bots[0].label);
    let matches = thousands(u64::from(placed.blocks) * u64::from(ready.scheduler.header().seats));
    let stands = match (placed.elo, placed.half) {
        (Some(elo), Some(half)) => format!("{elo:.1} ± {half:.1}"),
        _ => "no finite rating".to_owned(),
    };
    let why = match reason(ready, placed.why) {
        Reason::Narrow => format!("its interval is narrow enough (± {within})"),
        Reason::Above => {
            "it won everything and is above all others; more matches would not say how far".to_owned()
        }
        Reason::Below => {
            "it won nothing and is below all others; more matches would not say how far".to_owned()
        }
        Reason::Budget => format!("its matches are used up, but ± {within} was wanted (-n N allows more)"),
        Reason::Stopped => format!("it is not placed yet (± {within} is wanted)"),
    };
    writeln!(out, "{}\n", screen.strong(&format!("{label} after {matches} matches: {stands}; {why}.")))
}

fn reason(ready: &Ready, why: Option<Why>) -> Reason {
    match (why, ready.scheduler.look(|progress| progress.end.clone())) {
        (Some(Why::Narrow), _) => Reason::Narrow,
        (Some(Why::Above), _) => Reason::Above,
        (Some(Why::Below), _) => Reason::Below,
        (None, Some(SeriesEnd::Complete)) => Reason::Budget,
        (None, _) => Reason::Stopped,
    }
}

/// The same as JSON.
pub fn json(ready: &Ready, within: u32) -> Option<json::Newcomer<'_>> {
    let placed = ready.scheduler.placed()?;
    Some(json::Newcomer {
        bot: &ready.scheduler.header().bots[0].label,
        elo: placed.elo,
        half: placed.half,
        blocks: placed.blocks,
        within,
        reason: reason(ready, placed.why),
    })
}
