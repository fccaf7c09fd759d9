//! `agon tournament`: every bot against every other.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use agon_contest::{SeriesEnd, SeriesKind};
use agon_desk::ratings::{self, Anchors, RatedGame};
use clap::Args;

use crate::common::screen;
use crate::common::{self, Done, Failure};
use crate::series::contest::{self, Asked};
use crate::series::formats::{self, FormatOptions};
use crate::series::gauntlet::conclude;
use crate::series::newcomer::{self, NewcomerOptions};
use crate::series::progress;
use crate::series::rate;
use crate::series::site;
use crate::series::{self, Ready, SeriesOptions, USUAL_GAMES, Wanted, json};

/// Examples for the help.
pub const EXAMPLES: &str = "Every pairing plays the same seeds, each in every rotation of the seats; with --seats N, every N bots meet.
The table can be made again at any time from the journal alone: agon rate JOURNAL

A contest.toml fixes what decides results; paths in it are relative to it:
  game = \"cultist-wars\"
  rules = \"standard\"              # a preset or a file; set = { number_of_turns = 60 } changes single rules
  maps = [\"generate\"]             # names or files, taken in turn
  seed = 1000                     # of the first block
  games = 100                     # for each pairing
  # format = \"swiss\"            # instead of games; with rounds = 7, or best_of, advance, decide_top, seeding
  clock = \"original\"              # also: time_scale = 1.0, ponder = \"stop\", seats = 2
  bots = [\"bots/alice\", { bot = \"bots/b\", label = \"Bob\" }, \"builtin:greedy\"]

Examples:
  agon tournament cultist-wars bots/alice bots/bob builtin:greedy -n 200
  agon tournament contest.toml -j 4
  agon tournament contest.toml -j 4 --resume
  agon tournament cultist-wars bots/* --format swiss --rounds 7
  agon tournament cultist-wars bots/* --format double-elimination --best-of 5 --seeding agon-series/cultist-wars-tournament-1
  agon tournament ostibot bots/* --seats 9 --format knockout --advance 3     heats of nine, the best three advance
  agon tournament cultist-wars bots/* --format ladder -n 40 --decide-top 5   who are the best five?
  agon tournament contest.toml --anchor greedy=1500          a table that keeps its level from week to week
  agon tournament agon-series/cultist-wars-tournament-1 --add bots/carol     where does a newcomer stand?
  agon tournament agon-series/cultist-wars-tournament-1 --add bots/carol --within 30     to 30 Elo
  agon tournament contest.toml --replays all --html site";

/// Options of `agon tournament`.
#[derive(Args, Debug)]
pub struct TournamentOptions {
    /// The game (see `agon games`), or a contest.toml; with --add a journal or the folder of a series
    #[arg(value_name = "GAME|FILE.toml|JOURNAL")]
    pub game: String,
    /// The bots; with --add further journals
    #[arg(value_name = "BOT")]
    pub bots: Vec<String>,
    /// Matches of each pairing (in a ladder, of each bot), rounded up so that every seed is played in all seats [default:
    /// 100]; with --add the most matches of the newcomer [default: 400]
    #[arg(long, short = 'n', value_name = "N", help_heading = "Run")]
    pub games: Option<u64>,
    /// Writes a site into this folder: tables, and every match whose replay was kept (`--replays all`
    /// also keeps those of drawn matches)
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub html: Option<PathBuf>,
    /// Fixes the rating of a bot, so that tables stay comparable from week to week; may be repeated
    #[arg(long, value_name = "BOT=ELO", help_heading = "Output")]
    pub anchor: Vec<String>,
    #[command(flatten)]
    pub newcomer: NewcomerOptions,
    #[command(flatten)]
    pub format: FormatOptions,
    #[command(flatten)]
    pub series: SeriesOptions,
}

/// Runs `agon tournament`.
pub fn run(options: &TournamentOptions) -> Done {
    if options.games == Some(0) {
        return Err(Failure::usage("-n 0: there is nothing to play"));
    }
    let began = Instant::now();
    let html = &options.html;
    if html.is_some() {
        site::check()?;
    }
    let how = Anchors::new(&options.anchor)?;
    let mut journals = Vec::new();
    let ready = match &options.newcomer.add {
        Some(bot) => {
            let past = newcomer::Past::read(options, &how)?;
            let ready = past.prepare(options, bot, &how)?;
            journals = past.paths;
            ready
        }
        None => prepare(options, &how)?,
    };
    journals.push(ready.scheduler.journal_path());
    // In an interrupted series an anchor may not have played yet.
    let how = how.lenient();
    let run = &options.series.run;
    let end = series::run(&ready, run)?;
    let rated = ratings::read(&journals)?;
    let tables = ratings::tables(&rated, &how)?;
    if let Some(folder) = html.as_deref().filter(|_| !rated.is_empty()) {
        site::write(folder, &tables, &journals)?;
    }
    if run.json {
        let header = ready.scheduler.header();
        let mut result = json::TournamentResult {
            state: ready.scheduler.look(|state| progress::state("result", state, header, began)),
            complete: end == SeriesEnd::Complete,
            format: None,
            places: None,
            certainty: None,
            placed: None,
            tables: &tables,
        };
        formats::complete(&mut result, &ready);
        common::print_json_line(&mut io::stdout(), &result)?;
    } else {
        report(&ready, &tables)?;
    }
    conclude(&ready, &end)
}

/// Prepares a tournament from a game and bots, or from a file.
fn prepare(options: &TournamentOptions, how: &Anchors) -> Result<Ready, Failure> {
    options.newcomer.none()?;
    let asked = match options.game.ends_with(".toml") {
        true => contest::read(options)?,
        false => Asked {
            game: options.game.clone(),
            bots: options.bots.clone(),
            games: options.games,
            series: options.series.clone(),
            format: options.format.clone(),
            file: None,
        },
    };
    let Asked { game, bots, games, series, format, file } = asked;
    let seats = match series.seats {
        Some(seats) => seats,
        None => common::game(&game)?.info().usual_seats(),
    };
    let form = format.form(bots.len(), seats, games).map_err(|wrong| match &file {
        Some(file) => Failure::usage(file.wrong(wrong.key, &wrong.written())),
        None => wrong.typed(),
    })?;
    let seeded =
        |form| Ok::<_, Failure>(formats::Seeded { form, ranking: format.ranking()?, ratings: Vec::new() });
    series::prepare(&Wanted {
        kind: SeriesKind::Tournament,
        game: &game,
        bots,
        games: Some(games.unwrap_or(USUAL_GAMES)),
        chosen: options.games.is_some() || file.is_some() || form.is_some(),
        format: form.map(seeded).transpose()?,
        like: None,
        how: Some(how),
        test: None,
        options: &series,
    })
}

fn report(ready: &Ready, tables: &[RatedGame]) -> Done {
    let screen = screen::output();
    let mut out = Vec::new();
    formats::show(&mut out, screen, ready)?;
    if tables.is_empty() {
        writeln!(out, "No block was finished; there is nothing to rate.\n")?;
    }
    for table in tables {
        rate::show(&mut out, screen, table)?;
    }
    let state = ready.scheduler.look(Clone::clone);
    progress::faults(&mut out, screen, &state, ready)?;
    progress::notes(&mut out, screen, ready)?;
    io::stdout().lock().write_all(screen::folded(&String::from_utf8_lossy(&out)).as_bytes())?;
    Ok(())
}
