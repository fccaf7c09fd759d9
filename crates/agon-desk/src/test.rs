//! The tests in a bot's folder ([`BotTest`]), run.

use std::io;
use std::path::{Path, PathBuf};

use agon_bot::BotName;
use agon_game::Seat;
use agon_match::record::Void;
use agon_match::{Clock, Ponder, Terms};
use agon_replay::Replay;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::DeskError;
use crate::feed::{Feed, check_turn};
use crate::kept::{BotTest, WantedAnswer, WantedLater};
use crate::later::Later;
use crate::lesson::{PositionTried, PositionWant, judged, keeps_less, try_position};
use crate::replays;
use crate::replays::TurnCount;
use crate::seats::{names, seat_of};
use crate::words::{score, tidy};

/// Most tests run at once.
const MOST: usize = 1_000;
/// The longest that a position is tried.
const LONGEST: Duration = Duration::from_secs(600);
/// How often a match with an unfair clock is played.
const TRIES: u32 = 3;

/// What `agon test --json` prints; one line each time with `--watch`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct Tested {
    /// The folder of the bot.
    pub bot: String,
    pub passed: usize,
    pub failed: usize,
    /// How many could not be run.
    pub broken: usize,
    pub seconds: f64,
    pub tests: Vec<TestedOne>,
}

/// A test of a bot.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct TestedOne {
    pub name: String,
    pub status: TestStatus,
    /// From 0; null when the test cannot be read.
    pub turn: Option<u32>,
    /// In the game's words.
    pub moment: Option<String>,
    /// What the bot answered, if the test is about that.
    pub answer: Option<String>,
    /// The bot's score later, if the test is about that.
    pub score: Option<f64>,
    pub advantage: Option<f64>,
    /// What is wrong, as a sentence.
    pub why: Option<String>,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is named after what it is")]
pub enum TestStatus {
    Passed,
    Failed,
    /// It could not be run: its replay is gone or has other rules, or it is not a test.
    Broken,
}

impl Tested {
    /// The sum of these tests of a bot, run in this time.
    pub fn new(bot: &str, tests: Vec<TestedOne>, seconds: f64) -> Self {
        let count = |status| tests.iter().filter(|test| test.status == status).count();
        let [passed, failed, broken] =
            [TestStatus::Passed, TestStatus::Failed, TestStatus::Broken].map(count);
        Self { bot: bot.to_owned(), passed, failed, broken, seconds, tests }
    }
}

/// The files of the tests in a folder of which the names contain one of these texts, sorted by name; of all if there are no texts.
///
/// # Errors
/// When there are none, or more than can be run.
pub fn files(folder: &Path, wanted: &[String]) -> Result<Vec<PathBuf>, DeskError> {
    let failed = |why: &dyn std::fmt::Display| DeskError::Impossible(format!("{}: {why}", folder.display()));
    let found = match std::fs::read_dir(folder) {
        Ok(found) => found.flatten().map(|file| file.path()).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(failed(&error)),
    };
    let is_test = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "toml");
    let mut files: Vec<PathBuf> = found.into_iter().filter(is_test).collect();
    files.sort();
    if files.is_empty() {
        return Err(failed(
            &"there are no tests; agon replay keep REPLAY --seat N --turn T makes one from a turn of a match",
        ));
    }
    files.retain(|file| wanted.is_empty() || wanted.iter().any(|name| label(file).contains(name)));
    match files.len() {
        0 => Err(DeskError::Impossible(format!(
            "no test in {} has `{}` in its name",
            folder.display(),
            wanted.join("` or `")
        ))),
        count if count > MOST => Err(failed(&format!("{count} tests, but at most {MOST} can be run"))),
        _ => Ok(files),
    }
}

/// The name of a test.
fn label(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Finds bots by their names, ready to start; an error is a sentence.
pub type FindBots<'a> = dyn Fn(&[String]) -> Result<Vec<BotName>, String> + 'a;

/// How the tests of a bot are run.
pub struct Tester<'a> {
    /// The bot.
    pub bot: &'a BotName,
    /// How limits are applied.
    pub clock: Clock,
    /// What happens to bots that compute in their opponent's time.
    pub ponder: Ponder,
    /// Finds the bots of the other seats.
    pub find: &'a FindBots<'a>,
    /// Ends the match early.
    pub stop: &'a AtomicBool,
}

impl Tester<'_> {
    /// Runs the test in a file.
    pub fn run(&self, file: &Path) -> TestedOne {
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
        match self.try_run(file, &mut tested) {
            Ok(wrong) if wrong.is_empty() => tested.status = TestStatus::Passed,
            Ok(wrong) => {
                tested.status = TestStatus::Failed;
                tested.why = Some(wrong.join("; "));
            }
            Err(why) => tested.why = Some(why),
        }
        tested
    }

    /// Tries the bot in a position of a recorded match: in a seat, at a step, from 1. `name` is what the test is called.
    pub fn run_position(
        &self,
        name: &str,
        replay: &Replay,
        at: (Seat, u32),
        want: &PositionWant<'_>,
    ) -> TestedOne {
        let terms = Terms::new(self.clock, self.ponder, self.stop);
        let until = Instant::now() + LONGEST;
        let tried = try_position(replay, self.bot, at, want, &terms, until, &mut || {});
        let (status, answer, why) = match tried {
            Ok(PositionTried { passed: Some(true), answer, .. }) => (TestStatus::Passed, answer, None),
            Ok(PositionTried { passed: Some(false), answer, why, .. }) => (TestStatus::Failed, answer, why),
            Ok(PositionTried { why, .. }) => {
                let late = || format!("it was not known after {} minutes", LONGEST.as_secs() / 60);
                (TestStatus::Broken, None, Some(why.unwrap_or_else(late)))
            }
            Err(why) => (TestStatus::Broken, None, Some(why)),
        };
        let turn = Some(TurnCount::of(replay).turn(at.1.saturating_sub(1)));
        let name = name.to_owned();
        TestedOne { name, status, turn, moment: None, answer, score: None, advantage: None, why }
    }

    /// What is not as it should be; an error with a sentence when the test cannot be run.
    fn try_run(&self, file: &Path, tested: &mut TestedOne) -> Result<Vec<String>, String> {
        let said = |error: DeskError| error.to_string();
        let test = BotTest::read(file)?;
        tested.turn = Some(test.turn);
        let path = file.parent().unwrap_or(Path::new(".")).join(&test.replay);
        if !path.exists() {
            return Err(format!(
                "{} is not there: it was moved or deleted; `replay` in {} names it",
                path.display(),
                file.display()
            ));
        }
        let shown = |error: DeskError| format!("{}: {error}", path.display());
        let replay = replays::read(&path).map_err(said)?;
        let seat = seat_of(&replay, test.seat).map_err(shown)?;
        let step = TurnCount::of(&replay).step(test.turn);
        check_turn(&replay, seat, step).map_err(shown)?;
        let terms = Terms::new(self.clock, self.ponder, self.stop);
        let mut wrong = Vec::new();
        if let Some(wanted) = &test.answer {
            let answered = fairly(|| {
                let feed = Feed::new(&replay, self.bot, seat, step as usize + 1, self.clock);
                let answered = feed.map_err(shown)?.answer(step, &terms);
                Ok((answered.void.clone(), answered))
            })?;
            tested.moment = Some(answered.moment);
            wrong.extend(is_wrong(wanted, answered.now.as_deref()));
            wrong.extend(answered.faults.first().map(|fault| fault.in_a_line()));
            if let (Some(least), Some(now)) = (wanted.keeps, &answered.now) {
                let on = &mut || !self.stop.load(Ordering::Relaxed);
                let policy = replays::game_of(&replay.header).map_err(said)?.info().judge;
                let chance = judged(&replay, (seat, step + 1), policy, now, on)?;
                let short = chance.filter(|chance| chance.mean < least);
                wrong.extend(short.map(|chance| keeps_less(now, &chance, least)));
            }
            tested.answer = answered.now;
        }
        if let Some(wanted) = &test.later {
            let names = names(&self.bot.text, &wanted.against, &replay, seat).map_err(said)?;
            let names = (self.find)(&names)?;
            let later = fairly(|| {
                let span = (step, wanted.turns);
                let later = Later::of(&replay, &names, seat, span, &terms).map_err(shown)?;
                Ok((later.void.clone(), later))
            })?;
            wrong.extend(stands_wrong(wanted, later.score, later.advantage));
            wrong.extend(later.faults.first().map(|fault| fault.in_a_line()));
            tested.moment.get_or_insert(later.moment);
            (tested.score, tested.advantage) = (later.score, later.advantage);
        }
        Ok(wrong)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compared_by_what_they_mean() {
        let wanted = |is: &[&str], is_not: &[&str]| WantedAnswer {
            is: is.iter().map(|one| (*one).to_owned()).collect(),
            is_not: is_not.iter().map(|one| (*one).to_owned()).collect(),
            keeps: None,
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
