//! What `agon ci --json` prints; the summary and the JUnit file are made of the same.

use agon_contest::TestId;
use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

use crate::series::json::{DecisionWord, State};

/// What `agon ci --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct CiResult {
    /// In words.
    pub verdict: String,
    /// As `agon sprt` says it; null when a step failed, and when there was nothing to compare with.
    pub decision: Option<DecisionWord>,
    /// Why there is no decision, as a sentence.
    pub why: Option<String>,
    /// The branch or commit that it was compared with.
    pub base: Option<String>,
    /// The commit where this branch left it.
    pub commit: Option<String>,
    /// The bot's folder in the repository, empty at its top.
    pub folder: String,
    /// The hypotheses.
    pub test: TestId,
    /// In the order in which they were done: build, check, tests, sprt. After a failure some are missing.
    pub steps: Vec<CiStep>,
    /// The series, with the bot as 0 and that of the base as 1; null if none was played.
    pub series: Option<State>,
}

/// A step.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct CiStep {
    #[cfg_attr(test, ts(type = "\"build\" | \"check\" | \"tests\" | \"sprt\""))]
    pub step: &'static str,
    pub status: CiStatus,
    /// What came of it, in a few words.
    pub seen: String,
    pub seconds: f64,
    /// Its parts: findings of the check, tests.
    pub cases: Vec<CiCase>,
}

/// A part of a step.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct CiCase {
    pub name: String,
    pub status: CiStatus,
    /// What is to be known about it, in lines.
    pub message: Option<String>,
    /// A command that shows a failure again, in the bot's folder.
    pub again: Option<String>,
}

/// What came of a step or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub(crate) enum CiStatus {
    Passed,
    /// Because of the bot.
    Failed,
    /// There is nothing to do.
    Skipped,
    /// The time was over.
    Stopped,
    /// Because of agon or the machine.
    Error,
}

impl CiResult {
    /// Whether the bot is not built, or a check or a test of it failed. A comparison that ends badly has a decision.
    pub fn is_broken(&self) -> bool {
        self.decision.is_none() && self.steps.iter().any(|step| step.status == CiStatus::Failed)
    }

    /// What it was compared with: the branch, and the commit where this one left it.
    pub fn other(&self) -> String {
        let commit = self.commit.as_deref().unwrap_or_default();
        let name = self.base.as_deref().unwrap_or_default();
        if commit.starts_with(name) || name.starts_with(commit) {
            commit.to_owned()
        } else {
            format!("{name} ({commit})")
        }
    }
}
