//! `agon replay`: looks into replays.

pub mod analyse;
pub mod export;
pub mod feed;
pub mod fork;
pub mod get;
pub mod import;
pub mod json;
pub mod kept;
pub mod redact;
pub mod show;
pub mod verify;
pub mod with_bot;

use agon_desk::replays::TurnCount;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agon_desk::replays::{game_of, read};
use agon_game::{Seat, Session};
use agon_replay::{Replay, SeatInfo};
use agon_view::OtherRules;
use clap::Subcommand;

use crate::common::screen::{self, harmless, score};
use crate::common::{self, Done, Failure};
use crate::replay::export::ExportOptions;
use crate::replay::feed::FeedOptions;
use crate::replay::import::ImportOptions;

/// Commands of `agon replay`.
#[derive(Subcommand, Debug)]
pub enum ReplayCommand {
    /// Show what is in a replay: bots, rules, result, faults
    Info {
        /// The replay.
        file: PathBuf,
        /// Prints it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Recompute matches from their replays and compare; says at which turn an altered replay stops matching
    Verify {
        /// The replays.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Prints the findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a replay in another form
    #[command(after_help = "Examples:
  agon replay export FILE --format json              every turn: state, answers, events
  agon replay export FILE --format html -o match.html one page that shows the match anywhere
  agon replay export FILE --format terminal -o F     the original's own format, in the games that have one
  agon replay export FILE --format spec --turn 12 --rule CW-SHOOT-2   a turn as a test of the rules, for the game's spec/
  agon replay export FILE --input --seat 2           the exact bytes that bot read; debug with: ./bot < input
  agon replay export FILE --input --seat 1 --until 40")]
    Export(ExportOptions),
    /// Continue a recorded match from a turn with another bot: what would today's have done?
    #[command(after_help = fork::EXAMPLES)]
    Fork(fork::ForkOptions),
    /// Save a turn as a test for `agon test`: the bot must not repeat that answer, or must reach a given position later
    #[command(after_help = kept::EXAMPLES)]
    Keep(kept::KeepOptions),
    /// Remove the bots' private data; the replay can still be verified
    #[command(after_help = redact::EXAMPLES)]
    Redact(redact::RedactOptions),
    /// Fetch replays from the contest you take part in
    #[command(after_help = get::EXAMPLES)]
    Get(get::GetOptions),
    /// Convert a replay of the original to agon's format, and compare the engine with it
    #[command(
        after_help = "Reads Terminal's replay files and the recordings of Jungle Blitz's viewer. A record is recognised by its
content; it may be gzipped.
Exit code 0: every recorded fact agrees with our engine; 1: one differs (the replay is still written).

Examples:
  agon replay import p1-01-04-2025-10-00-00.replay
  agon replay import replay.json.gz -o final.replay"
    )]
    Import(ImportOptions),
    /// Show how a bot would answer each turn of a recorded match, next to the recorded answers
    #[command(
        after_help = "The bot of one seat is asked as it was then; whatever it answers, the match continues as recorded.
Exit code 1 if it committed a fault (crash, timeout, stray output).

Examples:
  agon replay feed lost.replay my/bot --seat 2             which turns it plays differently now
  agon replay feed lost.replay my/bot --seat 2 --turn 17   both answers to one turn, and its stderr"
    )]
    Feed(FeedOptions),
    /// Show the board of a replay at a turn
    #[command(after_help = show::EXAMPLES)]
    Show(show::ShowOptions),
}

/// Runs `agon replay`.
pub fn run(command: &ReplayCommand) -> Done {
    match command {
        ReplayCommand::Info { file, json } => info(file, *json),
        ReplayCommand::Verify { files, json } => verify::run(files, *json),
        ReplayCommand::Export(options) => export::export(options),
        ReplayCommand::Fork(options) => fork::run(options),
        ReplayCommand::Keep(options) => kept::keep(options),
        ReplayCommand::Redact(options) => redact::run(options),
        ReplayCommand::Get(options) => get::run(options),
        ReplayCommand::Import(options) => import::run(options),
        ReplayCommand::Feed(options) => crate::replay::feed::run(options, None),
        ReplayCommand::Show(options) => show::run(options),
    }
}

/// Opens the match of a replay for viewing, and plays it up to a step, as far as the recording agrees. If its rules
/// differ from this program's, a note on standard error says so.
fn open_at(file: &Path, replay: &Replay, steps: usize, events: bool) -> Result<Box<dyn Session>, Failure> {
    let game = game_of(&replay.header)?;
    let other = OtherRules::of(&replay.header, game);
    if let Some(other) = &other {
        eprintln!("note: {}", harmless(&other.to_string()));
    }
    let mut session = game.open(&replay.header.recipe.setup())?;
    let count = TurnCount::at_start(session.as_ref());
    for step in 0..steps {
        if events && step + 1 == steps {
            session.keep_events();
        }
        let played = match other {
            None => session.play(&replay.steps[step].answers),
            Some(_) => replay.play_step(step, session.as_mut()),
        };
        played.map_err(|why| match other {
            None => Failure::usage(format!("{}: {why}", file.display())),
            Some(_) => Failure::usage(format!(
                "{}: {why}; from there on the rules of this program make another match of it. --turn {} is the last that \
                 can be shown",
                file.display(),
                count.turn(step as u32)
            )),
        })?;
    }
    Ok(session)
}

fn info(file: &Path, as_json: bool) -> Done {
    let replay = read(file)?;
    let header = &replay.header;
    let mut out = io::stdout().lock();
    if as_json {
        let info = json::Info { header, steps: replay.steps.len(), end: replay.end.as_ref() };
        return common::print_json(&mut out, &info);
    }
    let steps = |number| agon_contest::journal::count(number, "step", "steps");
    let screen = screen::output();
    let title = game_of(header).map_or(header.game.as_str(), |game| game.info().title);
    writeln!(out, "{}", screen.strong(&harmless(title)))?;
    let recipe = &header.recipe;
    writeln!(out, "  rules    {} (version {})", harmless(&recipe.rules_name), header.rules_version)?;
    writeln!(out, "  map      {}", harmless(&recipe.map_name))?;
    writeln!(out, "  seed     {}", recipe.seed)?;
    writeln!(out, "  clock    {}", harmless(&header.clock.to_string()))?;
    writeln!(out, "  written  by {}", harmless(&header.program))?;
    for (seat, bot) in Seat::first(Seat::MAX).zip(&header.seats) {
        let registered = replay.end.as_ref().and_then(|end| end.facts["registered"][seat.index()].as_str());
        let called = SeatInfo::called(&bot.label, registered);
        let label = screen.seat(seat, &harmless(called));
        let result = replay.end.as_ref().and_then(|end| end.outcome.as_ref()).map(|outcome| {
            format!("  score {}, rank {}", score(outcome.scores[seat.index()]), outcome.ranks[seat.index()])
        });
        let named = match bot.bot == called {
            true => String::new(),
            false => format!(" {}", screen.dim(&harmless(&bot.bot))),
        };
        writeln!(out, "  seat {seat}   {label}{named}{}", result.unwrap_or_default())?;
    }
    match &replay.end {
        None => writeln!(out, "  {}  cut off after {}", screen.bad("unfinished"), steps(replay.steps.len()))?,
        Some(end) => {
            let reason = end.outcome.as_ref().map_or("it does not count", |outcome| outcome.reason.as_str());
            writeln!(out, "  end      after {}: {}", steps(end.steps as usize), harmless(reason))?;
            for fault in end.facts["faults"].as_array().into_iter().flatten().take(20) {
                let text = |key: &str| harmless(fault[key].as_str().unwrap_or(""));
                let rule =
                    fault["rule"].as_str().map(|rule| format!(" [{}]", harmless(rule))).unwrap_or_default();
                writeln!(
                    out,
                    "  fault    seat {}, {}: {}{rule}: {}",
                    harmless(&fault["seat"].to_string()),
                    text("turn"),
                    text("kind"),
                    text("message")
                )?;
                let stderr = fault["stderr"].as_array().into_iter().flatten().take(10);
                let stderr: Vec<String> = stderr.filter_map(|line| Some(line.as_str()?.to_owned())).collect();
                screen::quote(&mut out, screen, &stderr)?;
            }
        }
    }
    let private = replay.notes.values().map(Vec::len).sum::<usize>();
    let private = match private {
        0 => "none".to_owned(),
        1 => "1 (stderr and raw answers of the bots)".to_owned(),
        many => format!("{many} (stderr and raw answers of the bots)"),
    };
    writeln!(out, "  private notes  {private}")?;
    Ok(())
}
