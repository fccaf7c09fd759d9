//! `agon test`: runs the tests in a bot's folder, made by `agon replay keep`.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agon_bot::NameKind;
use agon_desk::kept::FOLDER;
use agon_desk::test::{TestStatus, Tested, TestedOne, Tester, files};
use agon_desk::words::tidy;
use clap::Args;

use crate::author::changes;
use crate::common::builds;
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
    /// Prints the results as JSON
    #[arg(long)]
    pub json: bool,
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
    let files = files(&options.bot.join(FOLDER), &options.names)?;
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
    for file in &files {
        let test = tester.run(file);
        if stop.load(Ordering::Relaxed) {
            eprintln!("stopped after {} of {} tests", tests.len(), files.len());
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
