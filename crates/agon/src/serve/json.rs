//! What the commands of `agon serve` print with `--json`.

use agon_api::{LadderRow, VersionRating};
use agon_server::ContestStatus;
use agon_server::export::ArchiveReport;
use agon_server::settings::SettingKey;
use agon_store::reads::Working;
use agon_store::{ClockDoubt, ContestSettings, EntrantVersion, Event};
use agon_worker::wire::PlayingMachine;
use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

/// `serve status`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Contest<'a> {
    pub name: &'a str,
    pub game: &'a str,
    pub paused: bool,
    /// Whether the contest is draining: it plays what is planned, plans nothing more, then pauses.
    pub draining: bool,
    /// The hash of the secret that seeds come from.
    pub seeds_sha256: &'a str,
    pub matches: Matches,
    /// The last row of the log that the board includes.
    pub upto: i64,
    /// The ladder, best first.
    pub board: &'a [LadderRow],
    pub versions: &'a [EntrantVersion],
    /// The last entries of the audit log, the newest first.
    pub events: &'a [Event],
    /// The servers whose clocks are in doubt, and that do nothing meanwhile.
    pub clocks: &'a [ClockDoubt],
}

/// The number of matches of a contest in each state.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Matches {
    /// Waiting for a worker.
    pub planned: i64,
    /// With a worker.
    pub leased: i64,
    /// Posted, not recomputed yet.
    pub posted: i64,
    /// Recomputed and right.
    pub valid: i64,
    /// Given up after several attempts.
    pub dead: i64,
    pub in_log: i64,
    /// Attempts that were void.
    pub wasted_tries: i64,
}

impl<'a> Contest<'a> {
    pub fn new(status: &'a ContestStatus) -> Self {
        let counts = &status.counts;
        Self {
            name: status.contest.title(),
            game: &status.contest.game,
            paused: status.contest.paused,
            draining: status.contest.draining,
            seeds_sha256: &status.contest.secret_sha,
            matches: Matches {
                planned: counts.planned,
                leased: counts.leased,
                posted: counts.posted,
                valid: counts.valid,
                dead: counts.dead,
                in_log: counts.sealed,
                wasted_tries: counts.wasted,
            },
            upto: status.upto,
            board: &status.board,
            versions: &status.versions,
            events: &status.events,
            clocks: &status.clocks,
        }
    }
}

/// `verify`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Verified<'a> {
    pub name: &'a str,
    /// The program that wrote the archive.
    pub program: &'a str,
    /// Whether everything checks out.
    pub holds: bool,
    /// What does not check out, at most twenty entries.
    pub wrong: &'a [String],
    /// Rows of the log that were checked.
    pub rows: i64,
    /// The hash of all of them.
    pub sha256: &'a str,
    /// Matches that were recomputed.
    #[cfg_attr(test, ts(type = "number"))]
    pub recomputed: u64,
    /// Seeds that were recomputed; null while their secret is unpublished.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub seeds: Option<u64>,
    /// The table, computed from the log, best first.
    pub places: &'a [VersionRating],
}

impl<'a> Verified<'a> {
    pub fn new(report: &'a ArchiveReport) -> Self {
        Self {
            name: &report.name,
            program: &report.program,
            holds: report.wrong.is_empty(),
            wrong: &report.wrong,
            rows: report.rows,
            sha256: &report.sha,
            recomputed: report.recomputed,
            seeds: report.seeds,
            places: &report.table.places,
        }
    }
}

/// `serve set`: the settings that hold.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct HeldSettings {
    pub settings: Vec<HeldSetting>,
}

/// A setting of a contest.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct HeldSetting {
    pub key: &'static str,
    /// As `serve set` takes it; empty for none.
    pub value: String,
    /// What it means.
    pub means: &'static str,
}

impl HeldSettings {
    pub fn new(settings: &ContestSettings) -> Self {
        let setting =
            |key: &SettingKey| HeldSetting { key: key.word(), value: key.told(settings), means: key.means() };
        Self { settings: SettingKey::ALL.iter().map(setting).collect() }
    }
}

/// A machine that plays: one of `serve workers`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Worker<'a> {
    pub name: &'a str,
    /// How it contains bots; empty until it has introduced itself.
    pub sandbox: &'a str,
    /// How many times a second one of its CPUs does a fixed piece of work; null for the built-in worker, and until it has
    /// introduced itself.
    pub speed: Option<f64>,
    /// Matches it plays at once.
    pub jobs: Option<u32>,
    /// When it was last heard of, in milliseconds of the epoch; null if never.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub seen: Option<i64>,
    /// When its token was revoked.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub revoked: Option<i64>,
    /// Why it is paused and gets no matches; null if it is not.
    pub paused: Option<&'a str>,
    /// Matches it holds now.
    #[cfg_attr(test, ts(type = "number"))]
    pub in_hand: i64,
    /// Results of the last hour.
    #[cfg_attr(test, ts(type = "number"))]
    pub posted: i64,
    /// Attempts of the last hour that were void.
    #[cfg_attr(test, ts(type = "number"))]
    pub void: i64,
    /// All its results so far that their replays did not bear out.
    #[cfg_attr(test, ts(type = "number"))]
    pub mismatches: i64,
}

impl<'a> Worker<'a> {
    pub fn new(worker: &'a Working) -> Self {
        let machine =
            worker.about.as_deref().and_then(|about| serde_json::from_str::<PlayingMachine>(about).ok());
        Self {
            name: &worker.name,
            sandbox: &worker.level,
            speed: machine.as_ref().map(|machine| machine.speed),
            jobs: machine.as_ref().map(|machine| machine.jobs),
            seen: Some(worker.seen.0).filter(|seen| *seen > 0),
            revoked: worker.revoked.map(|at| at.0),
            paused: worker.paused.as_deref().filter(|_| worker.revoked.is_none()),
            in_hand: worker.playing,
            posted: worker.posted,
            void: worker.wasted,
            mismatches: worker.lies,
        }
    }
}
