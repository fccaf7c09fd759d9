//! `agon ci`: what a build server asks of a bot. Is it built, does it play by the rules, do its tests pass, and is it better than the
//! bot of the base branch?

mod base;
mod build;
mod compare;
mod json;
pub mod junit;
pub mod summary;
pub mod workflow;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_contest::TestId;
use agon_contest::journal::count;
use agon_desk::check::{BotCheck, Checker, FindingStatus};
use agon_desk::kept::FOLDER;
use agon_desk::test::{TestStatus, Tester, files};
use agon_game::AnyGame;
use agon_stats::Shape;
use clap::Args;

use crate::ci::base::FoundBase;
pub(crate) use crate::ci::json::{CiCase, CiResult, CiStatus, CiStep};
use crate::common::builds::State;
use crate::common::sandbox::Bots;
use crate::common::{self, ClockOptions, Done, Failure, SetupOptions, here, screen};
use crate::series::json::DecisionWord;
use crate::series::{self, counts, sprt};

/// Examples for the help.
pub const EXAMPLES: &str = "Builds the bot, checks it, runs its tests, and plays it against the bot of the commit where this branch left the base branch. A
finished match is never played twice: the same command goes on where it was, and knows at once what was decided.
Exit code 0: better, or all checks passed and there is nothing to compare with; 1: broken; 10 to 15 as `agon sprt`. What a
workflow looks like: agon docs ci

Examples:
  agon ci                               this folder's bot against the base branch, in 20 minutes
  agon ci bots/mine --minutes 60        another folder's, in an hour
  agon ci --base HEAD~1 --games 200     against the commit before, in 200 matches at most
  agon ci --elo0 -20 --elo1 0           is it no worse?
  agon ci --junit /tmp/agon.xml --summary /tmp/agon.md";

/// Options of `agon ci`.
#[derive(Args, Debug)]
pub struct CiOptions {
    /// The bot's folder; its agon.toml names the game
    #[arg(default_value = ".")]
    pub bot: PathBuf,
    /// The branch or commit to compare with [default: the branch that a build server names, else the main branch]
    #[arg(long, value_name = "REF", help_heading = "Comparison")]
    pub base: Option<String>,
    /// Ends after this many minutes, builds and checks included
    #[arg(long, value_name = "N", default_value_t = 20.0, help_heading = "Comparison")]
    pub minutes: f64,
    /// Ends the comparison after this many matches [default: no limit]
    #[arg(long, short = 'n', value_name = "N", help_heading = "Comparison")]
    pub games: Option<u64>,
    /// H0: a difference not worth having, in normalised Elo
    #[arg(long, value_name = "ELO", default_value_t = sprt::USUAL.elo0, allow_negative_numbers = true, help_heading = "Comparison")]
    pub elo0: f64,
    /// H1: a difference worth having
    #[arg(long, value_name = "ELO", default_value_t = sprt::USUAL.elo1, allow_negative_numbers = true, help_heading = "Comparison")]
    pub elo1: f64,
    /// Matches played at once [default: as many as there are CPUs for]
    #[arg(long, short, value_name = "N", help_heading = "Comparison")]
    pub jobs: Option<usize>,
    /// Writes the results as JUnit XML
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub junit: Option<PathBuf>,
    /// Writes the summary (Markdown) [default: added to the file that GITHUB_STEP_SUMMARY names, if it is set]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub summary: Option<PathBuf>,
    /// Prints the results as JSON, in place of the summary
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl CiOptions {
    /// The hypotheses.
    fn test(&self) -> TestId {
        TestId { elo0: self.elo0, elo1: self.elo1, ..sprt::USUAL }
    }
}

/// The longest budget, in minutes: a week.
const MOST_MINUTES: f64 = 10_080.0;

/// Runs `agon ci`.
pub fn run(options: &CiOptions) -> Done {
    let minutes = options.minutes;
    if !(0.0..=MOST_MINUTES).contains(&minutes) {
        return Err(Failure::usage(format!("--minutes {minutes}: a number from 0 to {MOST_MINUTES}")));
    }
    // The game's shape comes later and changes nothing about this: better refused now than after the build.
    counts::sprt(&options.test(), Shape::PAIR)?;
    series::check_jobs(options.jobs)?;
    if options.games == Some(0) {
        return Err(Failure::usage("--games 0: there is nothing to play"));
    }
    let place = |path: &Option<PathBuf>| path.as_ref().map(std::path::absolute).transpose();
    let (junit, summary) = (place(&options.junit)?, place(&options.summary)?);
    let folder = &options.bot;
    // What the folder's agon.toml says, and `git:REV`, hold for the current folder.
    std::env::set_current_dir(folder).map_err(|error| {
        Failure::usage(format!("{}: {error}; name the folder of a bot", folder.display()))
    })?;
    let manifest = here::read()?;
    let game = common::game(&here::game(manifest.as_ref())?)?;
    let rules = manifest.and_then(|manifest| manifest.defaults.rules);
    let found = base::find(options.base.as_deref())?;
    let ci = Ci { options, game, rules, over: budget(minutes), bots: Bots::usual() };
    let result = ci.all(found);
    if let Some(file) = junit {
        written(&file, fs::write(&file, junit::of(&result)))?;
    }
    let text = summary::of(&result);
    match (summary, std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty())) {
        (Some(file), _) => written(&file, fs::write(&file, &text))?,
        (None, Some(file)) => {
            let opened = OpenOptions::new().append(true).create(true).open(&file);
            written(Path::new(&file), opened.and_then(|mut file| file.write_all(text.as_bytes())))?;
        }
        (None, None) => {}
    }
    match options.json {
        true => common::print_json(&mut io::stdout(), &result)?,
        false => io::stdout().write_all(screen::harmless_lines(&text).as_bytes())?,
    }
    answer(&result)
}

fn written(file: &Path, done: io::Result<()>) -> Done {
    done.map_err(|error| Failure::own(format!("{}: {error}", file.display())))
}

/// The exit code.
fn answer(result: &CiResult) -> Done {
    let error = result.steps.iter().find(|step| step.status == CiStatus::Error);
    match (result.decision, error) {
        _ if common::stop_on_ctrl_c().load(Ordering::Relaxed) => Err(Failure::Stopped),
        _ if result.is_broken() => Err(Failure::Check),
        (_, Some(step)) => Err(Failure::own(step.seen.clone())),
        (None | Some(DecisionWord::Better), None) => Ok(()),
        (Some(word), None) => Err(Failure::Answer(word.exit_code())),
    }
}

/// Becomes true when the time is over, or when the user ends it.
fn budget(minutes: f64) -> &'static AtomicBool {
    static OVER: AtomicBool = AtomicBool::new(false);
    let stop = common::stop_on_ctrl_c();
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    OVER.store(minutes == 0.0, Ordering::Relaxed);
    std::thread::spawn(move || {
        while Instant::now() < end && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
        OVER.store(true, Ordering::Relaxed);
    });
    &OVER
}

/// A run.
struct Ci<'a> {
    options: &'a CiOptions,
    game: &'static dyn AnyGame,
    rules: Option<String>,
    over: &'static AtomicBool,
    bots: Bots,
}

/// What a step came to: what was seen, and its parts.
struct StepDone {
    status: CiStatus,
    seen: String,
    cases: Vec<CiCase>,
}

impl StepDone {
    /// A step of one part.
    fn one(name: &str, status: CiStatus, seen: impl Into<String>, message: Option<String>) -> Self {
        let case = CiCase { name: name.to_owned(), status, message, again: None };
        Self { status, seen: seen.into(), cases: vec![case] }
    }
}

impl Ci<'_> {
    /// Whether nothing more may be begun.
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// All steps. What is broken ends it: nobody wants to know how strong it is.
    fn all(&self, found: FoundBase) -> CiResult {
        let (base, mut why) = match found {
            FoundBase::Base(base) => (Some(base), None),
            FoundBase::Nothing(why) => (None, Some(why)),
        };
        let mut steps = vec![self.step("build", || self.build())];
        if steps[0].status == CiStatus::Passed {
            steps.push(self.step("check", || self.check()));
            steps.push(self.step("tests", || self.tests()));
        }
        let (mut decision, mut series) = (None, None);
        let is_well = |step: &CiStep| matches!(step.status, CiStatus::Passed | CiStatus::Skipped);
        if let Some(base) = base.as_ref().filter(|_| steps.iter().all(is_well)) {
            steps.push(self.step("sprt", || {
                let compared = self.compare(base)?;
                (decision, series) = (compared.decision, compared.series);
                why.clone_from(&compared.why);
                let (status, seen) = compare::told(decision, series.as_ref());
                Ok(StepDone::one("sprt", status, seen, compared.why))
            }));
        }
        let has = |status| steps.iter().any(|step: &CiStep| step.status == status);
        if has(CiStatus::Stopped) && !has(CiStatus::Failed) {
            (decision, why) = (Some(DecisionWord::Undecided), Some(self.what_ended_it()));
        }
        let test = self.options.test();
        let base = base.map(|base| (base.name, base.commit, base.folder));
        let (base, commit, folder) =
            base.map_or_else(Default::default, |(name, commit, folder)| (Some(name), Some(commit), folder));
        let mut result =
            CiResult { verdict: String::new(), decision, why, base, commit, folder, test, steps, series };
        result.verdict = summary::verdict(&result);
        result
    }

    /// Runs a step, unless the time is over.
    fn step(&self, name: &'static str, work: impl FnOnce() -> Result<StepDone, Failure>) -> CiStep {
        let began = Instant::now();
        let done = if self.is_over() { Err(Failure::Stopped) } else { work() };
        let done = done.unwrap_or_else(|failure| match failure {
            failure if failure.is_the_users() => {
                StepDone::one(name, CiStatus::Failed, "failed", Some(failure.sentence()))
            }
            Failure::Own(why) | Failure::Usage(why) | Failure::Told(_, why) => {
                StepDone::one(name, CiStatus::Error, why.clone(), Some(why))
            }
            Failure::Check | Failure::Stopped | Failure::Answer(_) | Failure::Unread => {
                StepDone::one(name, CiStatus::Stopped, self.what_ended_it(), None)
            }
        });
        let StepDone { status, seen, cases } = done;
        eprintln!("{name}: {}", screen::harmless(&seen));
        CiStep { step: name, status, seen, seconds: began.elapsed().as_secs_f64(), cases }
    }

    /// Why no more was begun, as a sentence.
    fn what_ended_it(&self) -> String {
        match (common::stop_on_ctrl_c().load(Ordering::Relaxed), self.options.minutes) {
            (true, _) => "it was stopped".to_owned(),
            (false, 1.0) => "the minute is over".to_owned(),
            (false, minutes) => format!("the {minutes} minutes are over"),
        }
    }

    fn build(&self) -> Result<StepDone, Failure> {
        let name = common::named(".", &self.bots)?;
        Ok(match build::build(&name, self.over)? {
            State::Nothing => StepDone::one("build", CiStatus::Passed, "nothing to build", None),
            State::Current => StepDone::one("build", CiStatus::Passed, "up to date", None),
            State::Built(_) => StepDone::one("build", CiStatus::Passed, "built", None),
            State::Failed(_) if self.is_over() => return Err(Failure::Stopped),
            State::Failed(why) => {
                let mut done = StepDone::one("build", CiStatus::Failed, "not built", Some(why));
                done.cases[0].again = Some("agon build".to_owned());
                done
            }
        })
    }

    fn check(&self) -> Result<StepDone, Failure> {
        let name = common::bot(".", &self.bots)?;
        agon_bot::Launch::of(&name).map_err(|error| Failure::usage(error.to_string()))?;
        let clock = ClockOptions::default().clock()?;
        let setup = SetupOptions { seed: Some(1), rules: self.rules.clone(), ..SetupOptions::default() };
        let setup = setup.setup(self.game, usize::from(self.game.info().usual_seats()))?;
        // Nothing is put into the bot's folder: the commands play the matches again.
        let keep = |_: &str, _: &[u8]| None;
        let checker = Checker { bot: &name, called: ".", clock, keep: &keep, stop: self.over };
        let checked = BotCheck::new(self.game, &setup)?.run(&checker, &mut |_| {})?;
        let cases = checked.findings.iter().map(|finding| {
            let mut lines = vec![match &finding.rule {
                Some(rule) => format!("{} [{rule}]", finding.seen),
                None => finding.seen.clone(),
            }];
            lines.extend(finding.place.iter().map(|place| format!("where: {place}")));
            lines.extend(finding.stderr.iter().map(|line| format!("| {line}")));
            lines.extend(finding.change.iter().map(|change| format!("change: {change}")));
            let status = match finding.status {
                FindingStatus::Failed => CiStatus::Failed,
                _ => CiStatus::Passed,
            };
            let again = (status == CiStatus::Failed)
                .then(|| finding.again.clone().unwrap_or_else(|| "agon check".to_owned()));
            let message = (finding.status != FindingStatus::Passed).then(|| lines.join("\n"));
            CiCase { name: finding.what.to_owned(), status, message, again }
        });
        let cases = cases.collect();
        let warnings = match checked.warnings {
            0 => String::new(),
            warnings => format!(", {}", count(warnings, "warning", "warnings")),
        };
        Ok(counted(checked.passed, checked.failed, &warnings, cases))
    }

    /// The tests in the bot's folder, if there are any.
    fn tests(&self) -> Result<StepDone, Failure> {
        let folder = Path::new(FOLDER);
        let is_test = |file: io::Result<fs::DirEntry>| {
            file.is_ok_and(|file| file.path().extension().is_some_and(|ending| ending == "toml"))
        };
        if !fs::read_dir(folder).is_ok_and(|mut files| files.any(is_test)) {
            return Ok(StepDone {
                status: CiStatus::Skipped,
                seen: "there are none".to_owned(),
                cases: Vec::new(),
            });
        }
        let name = common::bot(".", &self.bots)?;
        let find = |names: &[String]| common::bots(names, &self.bots).map_err(Failure::sentence);
        let usual = ClockOptions::default();
        let (clock, ponder) = (usual.clock()?, usual.ponder());
        let tester = Tester { bot: &name, clock, ponder, find: &find, stop: self.over };
        let mut cases = Vec::new();
        for file in files(folder, &[])? {
            let tested = tester.run(&file);
            if self.is_over() {
                return Err(Failure::Stopped);
            }
            let status = match tested.status {
                TestStatus::Passed => CiStatus::Passed,
                TestStatus::Failed | TestStatus::Broken => CiStatus::Failed,
            };
            let again = ["agon", "test", &tested.name].map(agon_bot::words::typed).join(" ");
            let again = (status == CiStatus::Failed).then_some(again);
            cases.push(CiCase { name: tested.name, status, message: tested.why, again });
        }
        let failed = cases.iter().filter(|case| case.status == CiStatus::Failed).count();
        Ok(counted(cases.len() - failed, failed, "", cases))
    }
}

/// A step of several parts.
fn counted(passed: usize, failed: usize, more: &str, cases: Vec<CiCase>) -> StepDone {
    let status = if failed > 0 { CiStatus::Failed } else { CiStatus::Passed };
    let failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    StepDone { status, seen: format!("{passed} passed{failures}{more}"), cases }
}
