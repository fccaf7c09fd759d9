//! The series against the bot of the base: played under the cache's own journal, so that the next run goes on where this one was.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_bot::Launch;
use agon_contest::journal::{FORMAT, count};
use agon_contest::{Journal, JournalError, SeriesEnd, SeriesKind, TestId, content, plan};
use agon_stats::Decision;

use crate::ci::base::Base;
use crate::ci::{Ci, CiStatus, build};
use crate::common::builds::State;
use crate::common::folders::JOURNAL;
use crate::common::{self, Failure, git};
use crate::series::json::{self, DecisionWord};
use crate::series::{self, Replays, RunOptions, SeriesOptions, Wanted, progress, sprt};

/// Journals that were not written to for this long are removed.
const KEPT: Duration = Duration::from_secs(30 * 86_400);

/// What the comparison came to.
pub struct BranchComparison {
    /// None if there is nothing to compare with.
    pub decision: Option<DecisionWord>,
    /// Why nothing was decided.
    pub why: Option<String>,
    pub series: Option<json::State>,
}

impl BranchComparison {
    /// Nothing was compared.
    fn nothing(why: String) -> Self {
        Self { decision: None, why: Some(why), series: None }
    }
}

/// The step of a comparison: its status, and its words.
pub fn told(decision: Option<DecisionWord>, series: Option<&json::State>) -> (CiStatus, String) {
    let matches = series.map_or_else(String::new, |series| {
        format!(" after {}", count(series.games as usize, "match", "matches"))
    });
    let (status, word) = match decision {
        None => (CiStatus::Skipped, "not compared"),
        Some(DecisionWord::Better) => (CiStatus::Passed, "better"),
        Some(DecisionWord::NotBetter) => (CiStatus::Passed, "not better"),
        Some(DecisionWord::Worse) => (CiStatus::Failed, "worse"),
        Some(DecisionWord::Undecided) => (CiStatus::Passed, "not decided"),
        Some(DecisionWord::Repeated) => (CiStatus::Passed, "the same matches again and again"),
        Some(DecisionWord::Equal) => (CiStatus::Passed, "the same bot"),
        Some(DecisionWord::NeverAnswered) => (CiStatus::Failed, "a bot that never answers"),
    };
    (status, format!("{word}{matches}"))
}

impl Ci<'_> {
    /// Plays the bot against that of the base.
    pub fn compare(&self, base: &Base) -> Result<BranchComparison, Failure> {
        let began = Instant::now();
        let text = format!("{}{}:.", git::PREFIX, base.commit);
        let old = common::named(&text, &self.bots).map_err(of_the_machine)?;
        let theirs = |why: &str| format!("the bot of {} ({}) does not play: {why}", base.name, base.commit);
        match build::build(&old, self.over) {
            Ok(State::Failed(_)) if self.is_over() => return Err(Failure::Stopped),
            Ok(State::Failed(why)) => {
                return Ok(BranchComparison::nothing(theirs(&format!("it cannot be built: {why}"))));
            }
            Err(failure) if failure.is_the_users() => {
                return Ok(BranchComparison::nothing(theirs(&failure.sentence())));
            }
            done => done?,
        };
        if let Err(error) = Launch::of(&old) {
            return Ok(BranchComparison::nothing(theirs(&error.to_string())));
        }
        let journal = self.journal(base)?;
        let run = RunOptions {
            jobs: self.options.jobs,
            resume: goes_on(&journal)?,
            journal: Some(journal),
            replays: Replays::None,
            quiet: self.options.json,
            ..RunOptions::default()
        };
        let options = SeriesOptions { rules: self.rules.clone(), run, ..SeriesOptions::default() };
        let test = self.options.test();
        let ready = series::prepare(&Wanted {
            kind: SeriesKind::Sprt,
            game: self.game.info().name,
            bots: vec![".".to_owned(), text],
            games: self.options.games,
            chosen: true,
            format: None,
            like: None,
            how: None,
            test: Some(test.clone()),
            options: &options,
        });
        let ready = match ready {
            Err(Failure::Answer(code)) if code == DecisionWord::Equal.exit_code() => {
                return Ok(BranchComparison { decision: Some(DecisionWord::Equal), why: None, series: None });
            }
            ready => ready.map_err(of_the_machine)?,
        };
        let end = match series::run_until(&ready, &options.run, self.over) {
            // The bot has passed its check: it is the other that does not play.
            Err(failure) if failure.is_the_users() => {
                return Ok(BranchComparison::nothing(theirs(&failure.sentence())));
            }
            end => end?,
        };
        let header = ready.scheduler.header();
        let (word, state) = ready.scheduler.look(|state| {
            let decision =
                state.standing.test.as_ref().map_or(Decision::Continue, |test| test.status().decision);
            let word = sprt::word(&test, &state.standing, decision);
            (word, progress::state("result", state, header, began))
        });
        let why = (word == DecisionWord::Undecided).then(|| match end {
            SeriesEnd::Stopped => self.what_ended_it(),
            _ => format!("{} matches were played, as --games says", state.games),
        });
        Ok(BranchComparison { decision: Some(word), why, series: Some(state) })
    }

    /// The journal of this comparison, named after all that decides its results. Of the rest the journal knows itself.
    fn journal(&self, base: &Base) -> Result<PathBuf, Failure> {
        let info = self.game.info();
        let own = common::named(".", &self.bots)?;
        let own = content::of_bot(&own).map_err(Failure::Own)?;
        let TestId { model, elo0, elo1, alpha, beta } = self.options.test();
        let key = format!(
            "{own:016x} {} {} {} {} {:?} {FORMAT} {} {model} {elo0} {elo1} {alpha} {beta}",
            base.commit,
            base.folder,
            info.name,
            info.rules_version,
            self.rules,
            plan::VERSION,
        );
        let all = agon_bot::build::cache().join("ci");
        forget_old(&all);
        Ok(all.join(format!("{:016x}", content::of_text(key.as_bytes()))).join(JOURNAL))
    }
}

/// What the bot, which has passed its check, is not to blame for.
fn of_the_machine(failure: Failure) -> Failure {
    if failure.is_the_users() { Failure::Own(failure.sentence()) } else { failure }
}

/// Whether a journal is there to go on with. One that is damaged is begun anew: it came from a build server's cache.
fn goes_on(journal: &Path) -> Result<bool, Failure> {
    if !journal.exists() {
        return Ok(false);
    }
    match Journal::reopen(journal, |_| ()) {
        Ok(_) => Ok(true),
        Err(error @ (JournalError::Foreign(..) | JournalError::Damaged { .. })) => {
            eprintln!("note: {error}\n  the comparison begins anew");
            fs::remove_file(journal)?;
            Ok(false)
        }
        Err(error) => Err(Failure::own(error.to_string())),
    }
}

/// Removes journals that nobody goes on with.
fn forget_old(all: &Path) {
    for folder in fs::read_dir(all).into_iter().flatten().flatten() {
        let written = fs::metadata(folder.path().join(JOURNAL)).and_then(|found| found.modified());
        if written.is_ok_and(|when| when.elapsed().is_ok_and(|age| age > KEPT)) {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}
