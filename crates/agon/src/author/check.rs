//! `agon check`: plays a bot through scripted situations and reports like a test runner.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use agon_bot::advised::NextCommand;
use agon_bot::missing::MissingPackage;
use agon_bot::{BotName, Confined, NameKind, inside, rights};
use agon_desk::check::{BotCheck, CheckFinding, CheckStep, Checked, Checker, FindingStatus};
use agon_game::AnyGame;
use agon_sandbox::CallRecord;
use clap::Args;

use crate::author::changes;
use crate::common::bar::Bar;
use crate::common::builds;
use crate::common::conditions::{AsOptions, Conditions};
use crate::common::folders;
use crate::common::here;
use crate::common::sandbox::SandboxOptions;
use crate::common::screen::{self, Screen};
use crate::common::{self, ClockOptions, Done, Failure, SetupOptions};
use crate::replay::feed::{self, FeedOptions};

/// Examples for the help.
pub const EXAMPLES: &str =
    "Plays whole matches and scripted situations in every seat: few units left, a crowded board, the last
turn, the largest input. Each finding says what was seen, the rule, and what to change. The first answer is not waited for longer than 10 s
(times --time-scale), whatever the rules allow, and a bot that hangs ends the check.
Exit code 0: nothing failed (there may be warnings); 1: something failed.

Examples:
  agon check cultist-wars bot.py
  agon check                          in a folder whose agon.toml names the game
  agon check cultist-wars bot.py --watch
  agon check terminal my/algo --json
  agon check --as https://cup.example          under the conditions of a contest
  agon check terminal my/algo --against lost.replay --seat 2   its answers to a recorded match
  agon check terminal my/algo --against lost.replay --turn 17  both answers to one turn";

/// How many refused calls are named.
const MOST_CALLS: usize = 6;

/// Options of `agon check`.
#[derive(Args, Debug, Clone)]
pub struct CheckOptions {
    /// The game [default: the one in ./agon.toml]
    pub game: Option<String>,
    /// The bot [default: the one in this folder]
    pub bot: Option<String>,
    #[command(flatten)]
    pub setup: SetupOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    #[command(flatten)]
    pub there: AsOptions,
    /// Compares the bot's answers with those of a recorded match instead; FILE is a replay of agon or of the original contest
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "map", "rules", "set", "strict"], help_heading = "Recorded match")]
    pub against: Option<PathBuf>,
    /// The seat it takes there [default: 1]
    #[arg(long, value_name = "N", requires = "against", help_heading = "Recorded match")]
    pub seat: Option<u8>,
    /// Only this turn, with both answers in full; counted as in `replay show`
    #[arg(long, short, value_name = "T", requires = "against", help_heading = "Recorded match")]
    pub turn: Option<u32>,
    /// Multiplies all time limits: for a slow machine
    #[arg(long, value_name = "X", default_value_t = 1.0, help_heading = "Time")]
    pub time_scale: f64,
    /// Builds the bot first (its agon.toml says how)
    #[arg(long)]
    pub build: bool,
    /// Checks again whenever a file of the bot changes
    #[arg(long)]
    pub watch: bool,
    /// Prints only what did not pass
    #[arg(long, short)]
    pub quiet: bool,
    /// Prints the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon check`.
pub fn run(options: &CheckOptions) -> Done {
    let conditions = options.there.find()?;
    let own;
    let options = match &conditions {
        Some(conditions) => {
            own = as_there(options, conditions)?;
            &own
        }
        None => options,
    };
    let (game, bot, setup) = who(options)?;
    if let Some(conditions) = &conditions {
        conditions.check_game(game.info().name)?;
    }
    let stop = common::stop_on_ctrl_c();
    let scratch = tempfile::tempdir()?;
    // Only refused calls are put to anybody: the others take the time that they always take.
    let record = CallRecord { file: scratch.path().join("calls"), all: false };
    agon_sandbox::record_calls(Some(record.clone()));
    let check = || check(options, game, &bot, (&setup, conditions.as_ref()), &record.file, stop);
    match options.watch {
        true => changes::again(&bot, options.json, stop, check),
        false => check(),
    }
}

/// The same under the conditions of a contest.
fn as_there(options: &CheckOptions, conditions: &Conditions) -> Result<CheckOptions, Failure> {
    if options.against.is_some() || options.time_scale != 1.0 {
        return Err(Failure::usage(
            "--as takes the contest's rules and clock: leave out --against and --time-scale",
        ));
    }
    let mut sandbox = options.sandbox.clone();
    if conditions.holds_bots() {
        sandbox.hold_all(&conditions.contest.machine);
    }
    let time_scale = conditions.clock(&ClockOptions::default())?.time_scale.unwrap_or(1.0);
    Ok(CheckOptions { setup: conditions.setup(&options.setup)?, time_scale, sandbox, ..options.clone() })
}

/// What to check: from the command line, else from the `agon.toml` of this folder.
fn who(options: &CheckOptions) -> Result<(&'static dyn AnyGame, String, SetupOptions), Failure> {
    let mut setup = options.setup.clone();
    let here = here::read()?;
    let (game, bot) = match (&options.game, &options.bot) {
        (Some(game), Some(bot)) => (game.clone(), bot.clone()),
        // A single word is the game if a game has that name.
        (Some(game), None) if agon_games::find(game).is_some() => (game.clone(), ".".to_owned()),
        (Some(bot), None) => (here::game(here.as_ref())?, bot.clone()),
        (None, _) => (here::game(here.as_ref())?, ".".to_owned()),
    };
    if setup.rules.is_none() && here::game(here.as_ref()).is_ok_and(|own| own == game) {
        setup.rules = here.and_then(|here| here.defaults.rules);
    }
    Ok((common::game(&game)?, bot, setup))
}

/// Runs one check.
fn check(
    options: &CheckOptions,
    game: &dyn AnyGame,
    bot: &str,
    (setup, conditions): (&SetupOptions, Option<&Conditions>),
    calls: &Path,
    stop: &AtomicBool,
) -> Done {
    let began = Instant::now();
    // What an earlier check of this run has noted.
    let _ = fs::remove_file(calls);
    let name = common::bot(bot, &options.sandbox.bots())?;
    if options.build {
        builds::ensure(&name, true)?;
    }
    builds::warn_of_stale(std::slice::from_ref(&name));
    if let Some(file) = &options.against {
        let feed = FeedOptions {
            file: file.clone(),
            bot: bot.to_owned(),
            seat: options.seat.unwrap_or(1),
            turn: options.turn,
            clock: ClockOptions { time_scale: Some(options.time_scale), ..ClockOptions::default() },
            json: options.json,
            sandbox: options.sandbox.clone(),
        };
        return feed::run(&feed, Some(game));
    }
    let unseen = match &name.kind {
        NameKind::Path(_) => {
            let launch = agon_bot::Launch::of(&name).map_err(|error| Failure::usage(error.to_string()))?;
            launch.as_ref().map_or_else(Vec::new, inside::unseen)
        }
        _ => Vec::new(),
    };
    let clock = ClockOptions { time_scale: Some(options.time_scale), ..ClockOptions::default() }.clock()?;
    let setup = SetupOptions { seed: Some(setup.seed.unwrap_or(1)), ..setup.clone() };
    let found = BotCheck::new(game, &setup.setup(game, usize::from(game.info().usual_seats()))?)?;
    let keep = |name: &str, replay: &[u8]| {
        let file = Path::new(folders::REPLAYS).join(name);
        fs::create_dir_all(folders::REPLAYS).and_then(|()| rights::write_private(&file, replay)).ok()?;
        Some(file)
    };
    let checker = Checker { bot: &name, called: bot, clock, keep: &keep, stop };
    let mut checked = watched(&found, &checker, options.json)?;
    if let Some(conditions) = conditions {
        let slowest = checked.slowest.and_then(|worst| conditions.scaled(worst));
        conditions.notes().into_iter().chain(slowest).for_each(|note| checked.note("there", note));
    }
    for program in unseen {
        let add = NextCommand::ImageAdd.at(&program);
        let program = program.display();
        checked
            .note("in a contest", format!("its image has no {program} unless the organiser adds it: {add}"));
    }
    if name.confined == Confined::Foreign
        && let Some(missing) = missing(&name, &checked)
    {
        checked.note("packages", missing.advice());
    }
    if let Some(refused) = refused_calls(calls) {
        checked.note("system calls", refused);
    }
    checked.seconds = began.elapsed().as_secs_f64();
    report(options, game, &name, &checked)
}

/// A package that the bot did not find in its image, and that this machine has.
fn missing(name: &BotName, checked: &Checked) -> Option<MissingPackage> {
    let NameKind::Path(path) = &name.kind else { return None };
    let folder = path.canonicalize().ok();
    let mut failed = checked.findings.iter().filter(|finding| finding.status == FindingStatus::Failed);
    failed.find_map(|finding| {
        let said = finding.stderr.join("\n") + "\n" + &finding.seen + "\n";
        MissingPackage::of(&said, folder.as_deref())
    })
}

/// What the sandbox refused a bot, besides what runtimes try and do well without.
fn refused_calls(record: &Path) -> Option<String> {
    let text = fs::read_to_string(record).ok()?;
    let mut told: Vec<String> = agon_sandbox::recorded(&text)
        .into_iter()
        .filter(|call| !call.is_usual())
        .map(|call| call.to_string())
        .collect();
    let more = told.len().saturating_sub(MOST_CALLS);
    told.truncate(MOST_CALLS);
    told.extend((more > 0).then(|| format!("and {more} more")));
    (!told.is_empty()).then(|| format!("the sandbox refuses {}; see `agon docs security`", told.join("; ")))
}

/// Runs a check beside a bar that shows how far it is.
fn watched(check: &BotCheck<'_>, checker: &Checker<'_>, quiet: bool) -> Result<Checked, Failure> {
    let (bar, all) = (Bar::new(!quiet), check.parts());
    let mut told = Vec::new();
    let checked = check.run(checker, &mut |step| match step {
        CheckStep::Begins { done, what } => {
            bar.show(done as u64, Some(all as u64), format!("{done}/{all} · {what}"));
        }
        CheckStep::Fault { what, fault } => {
            // One sentence for each kind: it would be the same every time.
            let new = !told.contains(&fault.kind);
            told.push(fault.kind);
            let why = if new { format!(": {}", screen::harmless(&fault.message)) } else { String::new() };
            let kind = screen::errors().bad(fault.kind.word());
            if bar.is_seen() {
                bar.above(|| eprintln!("{what}, {}: {kind}{why}", fault.turn));
            }
        }
    })?;
    Ok(checked)
}

fn report(options: &CheckOptions, game: &dyn AnyGame, name: &BotName, checked: &Checked) -> Done {
    let &Checked { passed, failed, warnings, matches, seconds, .. } = checked;
    let mut out = io::stdout().lock();
    if options.json {
        // One line each when there will be more.
        match options.watch {
            true => common::print_json_line(&mut out, checked)?,
            false => common::print_json(&mut out, checked)?,
        }
    } else {
        let screen = screen::output();
        let title = format!("{} · {}", game.info().title, screen::harmless(&name.label()));
        writeln!(out, "{}\n", screen.strong(&title))?;
        let shown = |finding: &&CheckFinding| !options.quiet || finding.status != FindingStatus::Passed;
        checked.findings.iter().filter(shown).try_for_each(|finding| print(&mut out, screen, finding))?;
        let word = |count: usize, word: &str| match count {
            1 => format!("1 {word}"),
            _ => format!("{count} {word}s"),
        };
        let failures = match failed {
            0 => "none failed".to_owned(),
            _ => screen.bad(&format!("{failed} failed")),
        };
        let sum = format!(
            "\n{passed} passed, {failures}, {} · {} in {:.1} s",
            word(warnings, "warning"),
            if matches == 1 { "1 match".to_owned() } else { format!("{matches} matches") },
            seconds
        );
        writeln!(out, "{sum}")?;
    }
    if failed > 0 { Err(Failure::Check) } else { Ok(()) }
}

fn print(out: &mut impl io::Write, screen: Screen, finding: &CheckFinding) -> io::Result<()> {
    let sign = match finding.status {
        FindingStatus::Passed => screen.good("✓"),
        FindingStatus::Failed => screen.bad("✗"),
        FindingStatus::Warning => screen.strong("!"),
        FindingStatus::Note => screen.dim("·"),
    };
    let rule = finding.rule.as_ref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
    writeln!(out, "{sign} {:<22} {}{rule}", finding.what, screen::harmless(&finding.seen))?;
    screen::quote(out, screen, &finding.stderr)?;
    let again = finding.again.as_deref().unwrap_or_default();
    let again = if again.starts_with("agon play") { "again" } else { "look" };
    for (word, text) in [("where", &finding.place), ("change", &finding.change), (again, &finding.again)] {
        if let Some(text) = text {
            writeln!(out, "    {} {}", screen.dim(&format!("{word:<7}")), screen::harmless(text))?;
        }
    }
    Ok(())
}
