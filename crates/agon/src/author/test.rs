//! `agon test`: runs the tests in a bot's folder ([`Kept`]), made by `agon replay keep`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agon_bot::{BotName, Kind};
use agon_match::record::Void;
use agon_match::{Fault, Terms};
use clap::Args;
use serde_json::Value;

use crate::author::changes;
use crate::author::json::{TestStatus, Tested, TestedOne};
use crate::common::builds;
use crate::common::sandbox::SandboxOptions;
use crate::common::screen::{self, Screen, harmless, score};
use crate::common::{self, ClockOptions, Done, Failure};
use crate::replay::kept::{FOLDER, Kept, WantedAnswer, WantedLater};
use crate::replay::{self, feed, fork};

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
  turn = 17                    from 0, as in agon replay show
  [answer]
  is = [\"3 SHOOT 5\"]         one of these; or is_not = [...], none of them
  [later]
  turns = 20                   all bots play on for this many turns
  advantage = 0.5              its chance to finish first is then at least this; or score = 12";

/// Options of `agon test`.
#[derive(Args, Debug, Clone)]
pub struct TestOptions {
    /// Only tests whose names contain one of these texts
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

/// Most tests run at once.
const MOST: usize = 1_000;
/// How often a match with an unfair clock is played.
const TRIES: u32 = 3;

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
    let files = files(options)?;
    let name = common::bot(bot, &options.sandbox.bots())?;
    if options.build {
        builds::ensure(&name, true)?;
    }
    builds::warn_of_stale(std::slice::from_ref(&name));
    if let Kind::Path(_) = &name.kind {
        agon_bot::Launch::of(&name).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let screen = screen::output();
    let mut tests = Vec::new();
    for file in &files {
        let test = test(file, &name, options, stop);
        if stop.load(Ordering::Relaxed) {
            eprintln!("stopped after {} of {} tests", tests.len(), files.len());
            return Err(Failure::Check);
        }
        if !options.json {
            print(&mut io::stdout().lock(), screen, &test)?;
        }
        tests.push(test);
    }
    let count = |status| tests.iter().filter(|test| test.status == status).count();
    let [passed, failed, broken] = [TestStatus::Passed, TestStatus::Failed, TestStatus::Broken].map(count);
    let seconds = began.elapsed().as_secs_f64();
    let mut out = io::stdout().lock();
    if options.json {
        let tested = Tested { bot, passed, failed, broken, seconds, tests };
        match options.watch {
            true => common::print_json_line(&mut out, &tested)?,
            false => common::print_json(&mut out, &tested)?,
        }
    } else {
        let failures = match (failed, broken) {
            (0, 0) => "none failed".to_owned(),
            (failed, 0) => screen.bad(&format!("{failed} failed")),
            (failed, broken) => screen.bad(&format!("{failed} failed, {broken} could not be run")),
        };
        writeln!(out, "\n{passed} passed, {failures} in {seconds:.1} s")?;
    }
    if failed + broken > 0 { Err(Failure::Check) } else { Ok(()) }
}

/// The files of the selected tests, sorted by name.
fn files(options: &TestOptions) -> Result<Vec<PathBuf>, Failure> {
    let folder = options.bot.join(FOLDER);
    let found = match std::fs::read_dir(&folder) {
        Ok(found) => found.flatten().map(|file| file.path()).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Failure::usage(format!("{}: {error}", folder.display()))),
    };
    let is_test = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "toml");
    let mut files: Vec<PathBuf> = found.into_iter().filter(is_test).collect();
    files.sort();
    if files.is_empty() {
        return Err(Failure::usage(format!(
            "{}: there are no tests; agon replay keep REPLAY --seat N --turn T makes one from a turn of a match",
            folder.display()
        )));
    }
    let wanted = |file: &PathBuf| {
        options.names.is_empty() || options.names.iter().any(|name| label(file).contains(name))
    };
    files.retain(wanted);
    match files.len() {
        0 => Err(Failure::usage(format!(
            "no test in {} has `{}` in its name",
            folder.display(),
            options.names.join("` or `")
        ))),
        count if count > MOST => {
            Err(Failure::usage(format!("{}: {count} tests, but at most {MOST} can be run", folder.display())))
        }
        _ => Ok(files),
    }
}

/// The name of a test.
fn label(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Runs a test.
fn test(file: &Path, bot: &BotName, options: &TestOptions, stop: &AtomicBool) -> TestedOne {
    let mut tested = TestedOne {
        name: label(file),
        status: TestStatus::Broken,
        turn: None,
        moment: None,
        answer: None,
        score: None,
        advantage: None,
        why: None,
    };
    match try_test(file, bot, options, stop, &mut tested) {
        Ok(wrong) if wrong.is_empty() => tested.status = TestStatus::Passed,
        Ok(wrong) => {
            tested.status = TestStatus::Failed;
            tested.why = Some(wrong.join("; "));
        }
        Err(why) => tested.why = Some(why),
    }
    tested
}

/// What is not as it should be; an error with a sentence when the test cannot be run.
fn try_test(
    file: &Path,
    bot: &BotName,
    options: &TestOptions,
    stop: &AtomicBool,
    tested: &mut TestedOne,
) -> Result<Vec<String>, String> {
    let said = |failure: Failure| match failure {
        Failure::Usage(why) | Failure::Own(why) => why,
        Failure::Check | Failure::Answer(_) | Failure::Unread => "it was stopped".to_owned(),
    };
    let kept = Kept::read(file)?;
    tested.turn = Some(kept.turn);
    let path = file.parent().unwrap_or(Path::new(".")).join(&kept.replay);
    if !path.exists() {
        return Err(format!(
            "{} is not there: it was moved or deleted; `replay` in {} names it",
            path.display(),
            file.display()
        ));
    }
    let shown = |why: String| format!("{}: {why}", path.display());
    let replay = replay::read(&path).map_err(said)?;
    let seat = feed::seat_of(&replay, kept.seat).map_err(said).map_err(shown)?;
    feed::check_turn(&replay, seat, kept.turn).map_err(said).map_err(shown)?;
    let mut wrong = Vec::new();
    if let Some(wanted) = &kept.answer {
        let (ponder, clock) = (options.clock.ponder(), options.clock.clock().map_err(said)?);
        let terms = Terms::new(clock, ponder, stop);
        let answered = fairly(|| {
            let answered =
                feed::answer(&replay, bot, seat, kept.turn, &terms).map_err(said).map_err(shown)?;
            Ok((answered.void.clone(), answered))
        })?;
        tested.moment = Some(answered.moment);
        wrong.extend(is_wrong(wanted, answered.now.as_deref()));
        wrong.extend(answered.faults.first().map(fault));
        tested.answer = answered.now;
    }
    if let Some(wanted) = &kept.later {
        let names = fork::names(&bot.text, &wanted.against, &replay, seat).map_err(said)?;
        let names = common::bots(&names, &options.sandbox.bots()).map_err(said)?;
        let later = fairly(|| {
            let span = (kept.turn, wanted.turns);
            let later =
                fork::later(&replay, &names, seat, span, &options.clock).map_err(said).map_err(shown)?;
            Ok((later.void.clone(), later))
        })?;
        wrong.extend(stands_wrong(wanted, later.score, later.advantage));
        wrong.extend(later.faults.first().map(fault));
        tested.moment.get_or_insert(later.moment);
        (tested.score, tested.advantage) = (later.score, later.advantage);
    }
    Ok(wrong)
}

/// Plays until the clock was fair; an error says why the match does not count.
fn fairly<T>(mut play: impl FnMut() -> Result<(Option<Void>, T), String>) -> Result<T, String> {
    for attempt in 1.. {
        match play()? {
            (None, played) => return Ok(played),
            (Some(void), _) if void.unfair().is_some() && attempt < TRIES => {}
            (Some(void), _) => return Err(void.to_string()),
        }
    }
    unreachable!("the last try returns")
}

fn fault(fault: &Fault) -> String {
    format!("{}: {}: {}", fault.turn, fault.kind.word(), fault.message)
}

fn is_wrong(wanted: &WantedAnswer, now: Option<&str>) -> Option<String> {
    let Some(now) = now else { return Some("it answered nothing".to_owned()) };
    let is = |other: &String| tidy(other) == tidy(now);
    let among = |answers: &[String]| {
        let answers: Vec<String> = answers.iter().map(|answer| format!("`{}`", tidy(answer))).collect();
        answers.join(" or ")
    };
    if !wanted.is.is_empty() && !wanted.is.iter().any(is) {
        return Some(format!("it answered `{}`, not {}", tidy(now), among(&wanted.is)));
    }
    wanted.is_not.iter().any(is).then(|| format!("it answered `{}` again", tidy(now)))
}

/// An answer without meaningless white space: around its lines, and in JSON anywhere.
fn tidy(answer: &str) -> String {
    let line = |line: &str| {
        serde_json::from_str::<Value>(line).map_or_else(|_| line.trim().to_owned(), |value| value.to_string())
    };
    answer.trim().lines().map(line).collect::<Vec<_>>().join("\\n")
}

fn stands_wrong(wanted: &WantedLater, own: Option<f64>, chance: Option<f64>) -> Vec<String> {
    let less = |what: &str, wanted: Option<f64>, own: Option<f64>, told: &dyn Fn(f64) -> String| {
        let wanted = wanted?;
        match own {
            None => Some(format!("this game does not tell its {what} before the end")),
            Some(own) if own >= wanted => None,
            Some(own) => {
                Some(format!("after {{turns}} turns its {what} is {}, not {}", told(own), told(wanted)))
            }
        }
    };
    let percent = |chance: f64| format!("{:.0} %", 100.0 * chance);
    [
        less("score", wanted.score, own, &score),
        less("chance to finish first", wanted.advantage, chance, &percent),
    ]
    .into_iter()
    .flatten()
    .map(|why| why.replace("{turns}", &wanted.turns.to_string()))
    .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compared_by_what_they_mean() {
        let wanted = |is: &[&str], is_not: &[&str]| WantedAnswer {
            is: is.iter().map(|one| (*one).to_owned()).collect(),
            is_not: is_not.iter().map(|one| (*one).to_owned()).collect(),
        };
        assert_eq!(is_wrong(&wanted(&["3 SHOOT 5"], &[]), Some("3 SHOOT 5 ")), None);
        assert_eq!(is_wrong(&wanted(&["[[1, 2]]\n[]"], &[]), Some("[[1,2]]\n[ ]")), None);
        assert!(is_wrong(&wanted(&["A", "B"], &[]), Some("C")).is_some_and(|why| why.contains("`A` or `B`")));
        assert!(is_wrong(&wanted(&[], &["WAIT"]), Some("WAIT")).is_some_and(|why| why.contains("again")));
        assert_eq!(is_wrong(&wanted(&[], &["WAIT"]), Some("3 MOVE 1 1")), None);
        assert!(is_wrong(&wanted(&[], &["WAIT"]), None).is_some());
    }

    #[test]
    fn less_than_was_wanted_is_told_with_both_figures() {
        let wanted = WantedLater { turns: 20, score: Some(3.0), advantage: Some(0.5), against: Vec::new() };
        assert_eq!(stands_wrong(&wanted, Some(3.0), Some(0.5)), Vec::<String>::new());
        let said = stands_wrong(&wanted, Some(2.0), Some(0.25)).join("; ");
        assert!(said.contains("after 20 turns its score is 2, not 3"), "{said}");
        assert!(said.contains("is 25 %, not 50 %"), "{said}");
    }
}
