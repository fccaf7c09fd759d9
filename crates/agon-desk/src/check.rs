//! A bot is played through situations, and what it did there becomes findings, as a test runner would report them.
//!
//! It is independent of the game. A situation is a setup, a seat, opponents, and perhaps a beginning played by others,
//! so that the bot gets into positions it would not choose (`situation`). What happened in all of them together becomes
//! findings (`finding`).

mod examine;
mod finding;
mod situation;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon_bot::BotName;
use agon_game::{AnyGame, Setup};
use agon_match::{Clock, Fault};
use serde::Serialize;

use crate::DeskError;
use examine::{Seen, Silence};
use situation::Situation;

pub use finding::{CheckFinding, FindingStatus, KeepReplay};

/// The longest that a bot is waited for that has not answered yet, though some rules allow minutes; a clock with more time multiplies it.
const PATIENCE: Duration = Duration::from_secs(10);

/// What `agon check --json` prints; with `--watch` one line for each check.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct Checked {
    pub bot: String,
    pub game: &'static str,
    /// How many matches were played.
    pub matches: usize,
    pub findings: Vec<CheckFinding>,
    pub passed: usize,
    pub failed: usize,
    pub warnings: usize,
    pub seconds: f64,
    /// The answer that came closest to its limit, first answers left out: how long it took, and the limit.
    #[serde(skip)]
    pub slowest: Option<(Duration, Duration)>,
}

impl Checked {
    /// Adds something worth knowing.
    pub fn note(&mut self, what: &'static str, seen: String) {
        self.findings.push(CheckFinding::new(what, FindingStatus::Note, seen));
    }
}

/// How far a check is.
pub enum CheckStep<'a> {
    /// A part begins.
    Begins {
        /// How many parts are over.
        done: usize,
        /// What the bot is in for.
        what: &'a str,
    },
    /// The bot's first fault in a situation that is over.
    Fault {
        /// The situation.
        what: &'a str,
        /// The fault.
        fault: &'a Fault,
    },
}

/// How a bot is checked.
pub struct Checker<'a> {
    /// The bot.
    pub bot: &'a BotName,
    /// What it is called in commands that show a finding again.
    pub called: &'a str,
    /// How limits are applied.
    pub clock: Clock,
    /// Keeps the replays that findings name.
    pub keep: &'a KeepReplay<'a>,
    /// Ends the check early.
    pub stop: &'a AtomicBool,
}

/// The check of a bot of a game.
pub struct BotCheck<'a> {
    game: &'a dyn AnyGame,
    situations: Vec<Situation>,
}

impl<'a> BotCheck<'a> {
    /// Finds the situations, in matches like `base`.
    ///
    /// # Errors
    /// When no such match can be set up.
    pub fn new(game: &'a dyn AnyGame, base: &Setup) -> Result<Self, DeskError> {
        Ok(Self { game, situations: situation::all(game, base)? })
    }

    /// How many parts it has: the situations, the first of them again, and how the bot ends.
    pub fn parts(&self) -> usize {
        self.situations.len() + 2
    }

    /// Plays a bot through the situations; `told` gets how far that is.
    ///
    /// # Errors
    /// When the bot cannot be started, the machine is too busy to be fair, or the check was stopped.
    pub fn run(
        &self,
        checker: &Checker<'_>,
        told: &mut dyn FnMut(CheckStep<'_>),
    ) -> Result<Checked, DeskError> {
        let &Checker { bot, stop, .. } = checker;
        let patience = PATIENCE.mul_f64(checker.clock.scale.max(1.0));
        let rules = checker.clock;
        let short = Clock { cap: Some(rules.cap.map_or(patience, |cap| cap.min(patience))), ..rules };
        let (began, mut seen, mut hopeless) = (Instant::now(), Vec::<Seen>::new(), false);
        let first = &self.situations[0];
        for situation in &self.situations {
            told(CheckStep::Begins { done: seen.len(), what: &situation.what });
            let silence = seen.last().map_or(Silence::default(), |seen| seen.silence);
            let has_answered = seen.iter().any(|seen| !seen.times.is_empty());
            let clocks = (if has_answered { rules } else { short }, rules);
            let played = examine::play(self.game, bot, situation, clocks, silence, stop)?;
            if let Some(fault) = played.record.faults_of(situation.seat).next() {
                told(CheckStep::Fault { what: &situation.what, fault });
            }
            hopeless = played.is_hopeless();
            seen.push(played);
            if hopeless {
                break;
            }
        }
        let rest = if hopeless {
            None
        } else {
            told(CheckStep::Begins { done: seen.len(), what: "the first match again" });
            let again = examine::play(self.game, bot, first, (rules, rules), Silence::default(), stop)?;
            told(CheckStep::Begins { done: seen.len() + 1, what: "its end" });
            Some((again, examine::ending(self.game, bot, first)?))
        };
        let matches = seen.len() + usize::from(rest.is_some());
        let info = self.game.info();
        let findings = finding::all(info, checker.called, &self.situations, &seen, rest, checker.keep);
        let count = |status| findings.iter().filter(|finding| finding.status == status).count();
        Ok(Checked {
            bot: bot.text.clone(),
            game: info.name,
            matches,
            passed: count(FindingStatus::Passed),
            failed: count(FindingStatus::Failed),
            warnings: count(FindingStatus::Warning),
            findings,
            seconds: began.elapsed().as_secs_f64(),
            slowest: finding::slowest(&seen),
        })
    }
}
