//! `agon test`: runs the tests in a bot's folder, made by `agon replay keep`.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agon_api::{LARGEST_REPLAY, TeamTest, TeamTests, WantedInPosition};
use agon_bot::NameKind;
use agon_desk::kept::FOLDER;
use agon_desk::lesson::PositionWant;
use agon_desk::test::{TestStatus, Tested, TestedOne, Tester, files};
use agon_desk::words::tidy;
use agon_game::Seat;
use agon_replay::Replay;
use clap::Args;

use crate::author::changes;
use crate::common::builds;
use crate::common::online::OnlineOptions;
use crate::common::sandbox::SandboxOptions;
use crate::common::screen::{self, Screen, harmless, score};
use crate::common::seats::tell_notes;
use crate::common::{self, ClockOptions, Done, Failure};

/// Examples for the help.
pub const EXAMPLES: &str = "Tests are the files tests/NAME.toml in the bot's folder; `agon replay keep` makes them from turns of matches. The bot is asked
every question of the recorded match up to the turn, as it was then, and its answer to that turn is tested.
Exit code 0: all passed; 1: one did not, or its replay is gone or has other rules; 2: there are none.

Examples:
  agon replay keep lost.replay --seat 2 --turn 17        anything but what it did at turn 17
  agon test                                              all tests of this folder's bot
  agon test turn17 --watch                               one of them, whenever a file changes
  agon test --bot my-bot --json
  agon test --contest                                    the positions that your team keeps in its contest

A test by hand:
  replay = \"lost.replay\"      beside the test, or a path
  seat = 2
  turn = 17                    counted as in agon replay show
  [answer]
  is = [\"3 SHOOT 5\"]         one of these; or is_not = [...], none of them; or keeps = 0.5, any that keeps this chance
  [later]
  turns = 20                   all bots play on for this many turns
  advantage = 0.5              by then its chance of finishing first is at least this; or score = 12";

/// Options of `agon test`.
#[derive(Args, Debug, Clone)]
pub(crate) struct TestOptions {
    /// Only tests whose names contain one of these words
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// The folder of the bot
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub bot: PathBuf,
    /// Builds the bot first (its agon.toml says how)
    #[arg(long)]
    pub build: bool,
    /// Runs the tests again whenever a file of the bot changes
    #[arg(long)]
    pub watch: bool,
    /// Tries the bot in the positions that your team keeps in the contest you are logged in to
    #[arg(long, conflicts_with = "watch")]
    pub contest: bool,
    /// Prints the results as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub online: OnlineOptions,
    #[command(flatten)]
    pub clock: ClockOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
}

/// Runs `agon test`.
pub fn run(options: &TestOptions) -> Done {
    let stop = common::stop_on_ctrl_c();
    let bot = options.bot.display().to_string();
    match options.watch {
        true => changes::again(&bot, options.json, stop, || tests(options, &bot, stop)),
        false => tests(options, &bot, stop),
    }
}

/// Runs all tests once.
fn tests(options: &TestOptions, bot: &str, stop: &AtomicBool) -> Done {
    let began = Instant::now();
    let wanted = match options.contest {
        true => Wanted::Positions(positions(options)?),
        false => Wanted::Files(files(&options.bot.join(FOLDER), &options.names)?),
    };
    let bots = options.sandbox.bots();
    let name = common::bot(bot, &bots)?;
    if options.build {
        builds::ensure(&name, true)?;
    }
    builds::warn_of_stale(std::slice::from_ref(&name));
    if let NameKind::Path(_) = &name.kind {
        agon_bot::Launch::of(&name).map_err(|error| Failure::usage(error.to_string()))?;
    }
    tell_notes(&name);
    let find = |names: &[String]| common::bots(names, &bots).map_err(Failure::sentence);
    let (clock, ponder) = (options.clock.clock()?, options.clock.ponder());
    let tester = Tester { bot: &name, clock, ponder, find: &find, stop };
    let screen = screen::output();
    let mut tests = Vec::new();
    let count = match &wanted {
        Wanted::Files(files) => files.len(),
        Wanted::Positions(positions) => positions.len(),
    };
    for number in 0..count {
        let test = match &wanted {
            Wanted::Files(files) => tester.run(&files[number]),
            Wanted::Positions(positions) => {
                let (test, replay) = &positions[number];
                let want = match &test.wanted {
                    WantedInPosition::Order(order) => PositionWant::Order(order),
                    WantedInPosition::Keeps { chance, policy } => PositionWant::Keeps(*chance, policy),
                };
                let seat = Seat::new(test.seat.clamp(1, Seat::MAX) - 1);
                tester.run_position(&test.name, replay, (seat, test.step), &want)
            }
        };
        if stop.load(Ordering::Relaxed) {
            eprintln!("stopped after {} of {count} tests", tests.len());
            return Err(Failure::Stopped);
        }
        if !options.json {
            print(&mut io::stdout().lock(), screen, &test)?;
        }
        tests.push(test);
    }
    let tested = Tested::new(bot, tests, began.elapsed().as_secs_f64());
    let mut out = io::stdout().lock();
    let &Tested { passed, failed, broken, seconds, .. } = &tested;
    match (options.json, options.watch) {
        (true, true) => common::print_json_line(&mut out, &tested)?,
        (true, false) => common::print_json(&mut out, &tested)?,
        (false, _) => {
            let failures = match (failed, broken) {
                (0, 0) => "none failed".to_owned(),
                (failed, 0) => screen.bad(&format!("{failed} failed")),
                (failed, broken) => screen.bad(&format!("{failed} failed, {broken} could not be run")),
            };
            writeln!(out, "\n{passed} passed, {failures} in {seconds:.1} s")?;
        }
    }
    if failed + broken > 0 { Err(Failure::Check) } else { Ok(()) }
}

/// What is tried.
enum Wanted {
    /// Tests of the bot's folder.
    Files(Vec<PathBuf>),
    /// Positions of its team, each with its match.
    Positions(Vec<(TeamTest, Replay)>),
}

/// The positions that the user's team keeps in the contest of which the names contain one of the words, with their matches.
fn positions(options: &TestOptions) -> Result<Vec<(TeamTest, Replay)>, Failure> {
    let online = options.online.connect()?;
    let mut tests = online.get::<TeamTests>("/tests", &[])?.tests;
    let names = &options.names;
    tests.retain(|test| names.is_empty() || names.iter().any(|name| test.name.contains(name)));
    if tests.is_empty() {
        return Err(Failure::usage(
            "your team keeps no such position as a test: `Keep as a test` on the page of a puzzle does",
        ));
    }
    let with_match = |test: TeamTest| {
        let path = format!("/matches/{}/replay", test.game);
        let bytes = online.fetch(&path, &[], LARGEST_REPLAY)?;
        let replay = Replay::read(&bytes)
            .map_err(|error| Failure::own(format!("the replay of match {}: {error}", test.game)))?;
        Ok((test, replay))
    };
    tests.into_iter().map(with_match).collect()
}

fn print(out: &mut impl io::Write, screen: Screen, test: &TestedOne) -> io::Result<()> {
    let sign = match test.status {
        TestStatus::Passed => screen.good("✓"),
        TestStatus::Failed => screen.bad("✗"),
        TestStatus::Broken => screen.bad("!"),
    };
    let seen = match (&test.answer, test.score, test.advantage) {
        (Some(answer), ..) => format!("`{}`", tidy(answer)),
        (None, score_now, chance) => {
            let score_now = score_now.map(|own| format!("score {}", score(own)));
            let chance = chance.map(|chance| format!("{:.0} % to finish first", 100.0 * chance));
            score_now.into_iter().chain(chance).collect::<Vec<_>>().join(", ")
        }
    };
    let moment = test.moment.as_deref().map(|moment| format!("{moment}: ")).unwrap_or_default();
    let told = match &test.why {
        None => format!("{moment}{seen}"),
        Some(why) => format!("{moment}{why}"),
    };
    writeln!(out, "{sign} {:<22} {}", harmless(&test.name), harmless(&told))
}
