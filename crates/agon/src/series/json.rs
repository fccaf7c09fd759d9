//! What these commands print with `--json`: one event a line while a series runs, the last of them its result.
//!
//! Bots are named by their index in `bots` of the first event, from 0.

use std::collections::BTreeMap;
use std::path::Path;

use agon_contest::origin::OwnEnding;
use agon_contest::{BotId, FormatId, JournalHeader, MapId, SeriesKind, TestId};
use agon_desk::ratings::RatedGame;
use agon_pairing::Standing;
use agon_spec::RecordedClock;
use agon_stats::sequential::Status;
use agon_stats::{Decision, Estimate, Model};
use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

/// The first event.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Start<'a> {
    /// `start`.
    pub event: &'static str,
    #[cfg_attr(test, ts(type = "\"gauntlet\" | \"tournament\" | \"sprt\""))]
    pub kind: SeriesKind,
    pub game: &'a str,
    /// The name of the rules.
    pub rules: &'a str,
    /// Of a match.
    pub seats: u8,
    /// Of the first block.
    pub seed: String,
    #[cfg_attr(test, ts(type = "string"))]
    pub clock: &'a RecordedClock,
    /// How many matches are played at once.
    pub jobs: usize,
    pub bots: &'a [BotId],
    /// Bots that are the same program.
    pub copies: Vec<Vec<usize>>,
    pub maps: &'a [MapId],
    pub test: Option<&'a TestId>,
    #[cfg_attr(test, ts(type = "string"))]
    pub journal: &'a Path,
    /// How many matches earlier runs had finished.
    pub resumed: u64,
    /// How well the bots were contained, as a sentence.
    pub containment: String,
}

impl<'a> Start<'a> {
    /// The first event of the series of `header`.
    pub fn new(
        header: &'a JournalHeader,
        journal: &'a Path,
        jobs: usize,
        resumed: u64,
        containment: String,
    ) -> Self {
        Self {
            event: "start",
            kind: header.kind,
            game: &header.game,
            rules: &header.rules.name,
            seats: header.seats,
            seed: header.seed.to_string(),
            clock: &header.clock,
            jobs,
            bots: &header.bots,
            copies: header.copies(),
            maps: &header.maps,
            test: header.test.as_ref(),
            journal,
            resumed,
            containment,
        }
    }
}

/// Sent once, when the first blocks show how long matches take.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct HowLong {
    /// `estimate`.
    pub event: &'static str,
    pub matches_per_hour: f64,
    /// Until the end; null while the number of matches is unknown.
    pub hours: Option<f64>,
}

/// The state of a series: an event every second, and the part of its result that all commands share.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct State {
    /// `progress` or `result`.
    pub event: &'static str,
    /// Finished matches, including those of earlier runs.
    pub games: u64,
    /// The total; null when it is not fixed.
    pub all_games: Option<u64>,
    /// Of earlier runs.
    pub resumed: u64,
    pub games_per_second: f64,
    pub seconds_left: Option<f64>,
    /// How many times a match was put back because the machine was late and it would have been unfair.
    pub late: u64,
    pub first_late: Option<String>,
    /// Matches that stayed void in every attempt.
    pub void: Vec<VoidMatch>,
    /// Finished matches whose block, or an earlier one, is unfinished.
    pub waiting: u64,
    /// Null in a tournament.
    pub pairings: Option<Vec<PairingState>>,
    /// The best first.
    pub standings: Vec<BotScore>,
    pub test: Option<Status>,
    pub faults: Vec<Faults>,
    pub rejected: Vec<RejectedOrders>,
    pub origin: Origin,
    /// How long matches took; null before the first.
    pub steps: Option<Steps>,
}

/// How long the matches of a series took, in steps.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Steps {
    pub least: u32,
    pub mean: f64,
    pub most: u32,
}

/// A match that could not be played fairly.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct VoidMatch {
    /// From 1.
    pub block: u64,
    /// In its block, from 1.
    pub game: u32,
    pub seed: String,
    /// In the order of the seats.
    pub bots: Vec<usize>,
    /// What happened the last time.
    pub why: String,
    /// The bot that kept the others from being asked fairly; null when the load came from elsewhere.
    pub culprit: Option<usize>,
    pub tries: u32,
    /// Plays it.
    pub command: String,
}

/// The score between bots that meet.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PairingState {
    pub bots: Vec<usize>,
    pub blocks: u64,
    /// Rounds: a block on each map of the series.
    pub rounds: u64,
    /// Rounds that are evidence: not those that only repeat others.
    pub counted: u64,
    /// Blocks in which both bots answered alike, move for move.
    pub same: u64,
    /// Starts that are one piece of evidence because the bots always played them alike.
    pub repeated_starts: u64,
    /// Won, drawn and lost by the first bot, in blocks that count.
    pub games: agon_stats::WinDrawLoss,
    /// Null before the first block.
    pub estimate: Option<Estimate>,
}

/// A bot's share of the points.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct BotScore {
    pub bot: usize,
    /// From 0 to 1.
    pub score: f64,
}

/// The faults of a bot, which are program errors.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Faults {
    pub bot: usize,
    /// In words.
    pub kind: String,
    pub count: u64,
    /// In how many matches.
    pub matches: u64,
    /// Plays the first of these matches again.
    pub first: String,
}

/// Orders of a bot that the rules rejected.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RejectedOrders {
    pub bot: usize,
    pub count: u64,
    /// In how many matches.
    pub matches: u64,
    /// Plays the first of these matches again.
    pub first: String,
}

/// Where the points came from.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Origin {
    /// By seat, in their order.
    pub seats: Vec<Mean>,
    /// Of the bot under test; empty in a tournament.
    #[serde(flatten)]
    pub share: Share,
    /// Of each bot of a tournament; otherwise empty.
    pub bots: Vec<OfBot>,
    /// Present when the result rests on faults of opponents.
    pub note: Option<String>,
}

/// Where the points of a bot came from.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Share {
    pub maps: BTreeMap<String, Mean>,
    pub opponents: Vec<OfOpponent>,
    pub endings: Vec<OfEnding>,
}

/// The same for one of several bots.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OfBot {
    pub bot: usize,
    #[serde(flatten)]
    pub share: Share,
}

/// The mean of scores from 0 to 1.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Mean {
    pub score: Option<f64>,
    /// How far the mean may be from the truth on either side (95 %); null for fewer than two.
    pub error: Option<f64>,
    pub count: u64,
}

impl From<&agon_contest::ScoreMean> for Mean {
    fn from(mean: &agon_contest::ScoreMean) -> Self {
        Self { score: mean.mean(), error: mean.error(), count: mean.count }
    }
}

/// The points against one opponent.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OfOpponent {
    pub bot: usize,
    #[serde(flatten)]
    pub mean: Mean,
}

/// The points from matches that ended in one way.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OfEnding {
    #[cfg_attr(
        test,
        ts(type = "\"rules\" | \"others_fault\" | \"others_timeout\" | \"own_fault\" | \"own_timeout\"")
    )]
    pub ending: OwnEnding,
    #[serde(flatten)]
    pub mean: Mean,
}

/// The last event of `agon gauntlet --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GauntletResult {
    #[serde(flatten)]
    pub state: State,
    /// Whether every match was played.
    pub complete: bool,
}

/// The last event of `agon sprt --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SprtResult {
    #[serde(flatten)]
    pub state: State,
    pub decision: DecisionWord,
    /// False when it was stopped.
    pub complete: bool,
}

/// The last event of `agon sprt --json` when both bots are the same.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Same {
    pub event: &'static str,
    pub decision: DecisionWord,
    pub why: String,
}

/// The outcome of a test. The exit codes of `agon sprt` say the same, also with `--from` and `--counts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum DecisionWord {
    /// H1 was accepted.
    Better,
    /// H0 was accepted: not better by elo1.
    NotBetter,
    /// H0 was accepted, and the bot is worse than the other.
    Worse,
    /// It ended before a decision.
    Undecided,
    /// All starts were played three times or more with the same answers: the score is exact, as far as that shows.
    Repeated,
    /// Both are the same program.
    Equal,
    /// One of the two never gave an answer, so nothing is stated.
    NeverAnswered,
}

impl DecisionWord {
    /// What a decision means, with the probability that the bot is better at all.
    pub fn of(decision: Decision, asks_better: bool, superiority: f64) -> Self {
        match decision {
            Decision::AcceptH1 => Self::Better,
            Decision::AcceptH0 if !asks_better || superiority < 0.05 => Self::Worse,
            Decision::AcceptH0 => Self::NotBetter,
            Decision::Continue | Decision::OutOfGames { .. } => Self::Undecided,
        }
    }

    /// The exit code of `agon sprt`.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Better => 0,
            Self::NotBetter => 10,
            Self::Worse => 11,
            Self::Undecided => 12,
            Self::Repeated => 13,
            Self::Equal => 14,
            Self::NeverAnswered => 15,
        }
    }
}

/// The last event of `agon tournament --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct TournamentResult<'a> {
    #[serde(flatten)]
    pub state: State,
    /// Whether every match was played.
    pub complete: bool,
    /// The format, unless it is a round robin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "Record<string, unknown>"))]
    pub format: Option<&'a FormatId>,
    /// The bots in the order of the format, unless it is a round robin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub places: Option<Vec<Standing>>,
    /// How certain the order of the best is, in a ladder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub certainty: Option<Certainty>,
    /// With `--add`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub placed: Option<Newcomer<'a>>,
    pub tables: &'a [RatedGame],
}

/// How certain the order of the best bots is.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Certainty {
    /// How many of the best.
    pub top: usize,
    /// From 0 to 1.
    pub certainty: f64,
}

/// The standing of a newcomer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Newcomer<'a> {
    pub bot: &'a str,
    /// Null while no finite rating fits.
    pub elo: Option<f64>,
    /// Half of its interval.
    pub half: Option<f64>,
    pub blocks: u32,
    /// The target for `half`.
    pub within: u32,
    pub reason: Reason,
}

/// Why no more matches of a newcomer were played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub(crate) enum Reason {
    /// Its interval is narrow enough.
    Narrow,
    /// It won everything: it stands above all others, and no interval closes.
    Above,
    /// It won nothing.
    Below,
    /// Its matches are used up.
    Budget,
    Stopped,
}

/// What `agon sprt --counts` and `--from` print.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CountsResult<'a> {
    pub llr: f64,
    pub decision: DecisionWord,
    /// The bounds of the log-likelihood ratio.
    pub lower: f64,
    pub upper: f64,
    pub model: Model,
    pub elo0: f64,
    pub elo1: f64,
    pub alpha: f64,
    pub beta: f64,
    pub games: u64,
    /// Blocks by their points, the fewest first.
    pub counts: &'a [u64],
    pub estimate: Estimate,
}

/// What `agon pin --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Pinned<'a> {
    pub bot: &'a str,
    /// Where its copy is.
    #[cfg_attr(test, ts(type = "string"))]
    pub frozen: &'a Path,
    /// How many files were copied.
    pub files: usize,
}
