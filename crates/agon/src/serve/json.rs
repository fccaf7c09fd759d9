//! What the commands of `agon serve` print with `--json`.

use std::path::Path;

use agon_api::version::Whose;
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
    /// How many of them are withheld, as in a night's archive: only their places in the chain are there.
    pub withheld: i64,
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
            withheld: report.withheld,
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

/// `serve add`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct AddedBot {
    pub team: String,
    /// Its number within the team.
    #[cfg_attr(test, ts(type = "number"))]
    pub version: i64,
    pub state: AddedState,
    /// The size of what was packed.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
}

/// What became of a bot that was handed in.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(TS))]
pub(crate) enum AddedState {
    /// It is new, and plays a check match first.
    New,
    /// The team has submitted it before; nothing was changed.
    Known,
    /// The team has submitted it before, and it plays for the team again.
    Back,
}

/// `serve add --each`: what became of one of them, a line for each.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct AddedOfMany {
    /// Its name in the folder.
    pub entry: String,
    /// What was submitted, now or before; absent for what was refused or ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bot: Option<AddedBot>,
    /// Whose fault it is that it was refused; absent for what was submitted or ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whose: Option<Whose>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// `serve add --each`: the last line, in numbers.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct AddedMany {
    pub submitted: usize,
    pub unchanged: usize,
    pub refused: usize,
    pub ignored: usize,
}

/// `serve pause`, `serve resume` and `serve drain`: how it is now.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Pausing {
    pub paused: bool,
    /// Whether it plays what is planned, and is paused then.
    pub draining: bool,
    /// Whether that is new.
    pub changed: bool,
}

/// `serve fsck`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct FoundDamage<'a> {
    pub name: &'a str,
    /// Whether every match was computed again.
    pub replays: bool,
    /// What is wrong; empty if nothing is.
    pub found: &'a [String],
}

/// `serve backup`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct BackedUp<'a> {
    #[cfg_attr(test, ts(type = "string"))]
    pub file: &'a Path,
    /// The bots, replays and logs in it.
    #[cfg_attr(test, ts(type = "number"))]
    pub objects: u64,
    /// The bytes of all that is in it.
    #[cfg_attr(test, ts(type = "number"))]
    pub holds: u64,
    /// The size of the file.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
}

/// `serve restore`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Restored<'a> {
    #[cfg_attr(test, ts(type = "string"))]
    pub dir: &'a Path,
    /// The bots, replays and logs in it.
    #[cfg_attr(test, ts(type = "number"))]
    pub objects: u64,
    /// What is wrong; empty if nothing is.
    pub found: &'a [String],
}

/// `serve export`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Exported<'a> {
    #[cfg_attr(test, ts(type = "string"))]
    pub file: &'a Path,
    /// Rows of the log: results, and decisions about them.
    #[cfg_attr(test, ts(type = "number"))]
    pub rows: i64,
    /// The size of the file.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
    /// Whether the secret that seeds come from is in it.
    pub revealed: bool,
}

/// `serve move`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Moved<'a> {
    /// Rows of the database that were moved; null if it was not moved.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub rows: Option<u64>,
    /// Bots, replays and logs that were moved; null if they were not.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub objects: Option<u64>,
    /// What is wrong where it is now; empty if nothing is.
    pub found: &'a [String],
}

/// `serve worker`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct WorkerToken<'a> {
    pub name: &'a str,
    /// The token, shown only this once; null with `--out`.
    pub token: Option<&'a str>,
    /// The file of `--out`.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub file: Option<&'a Path>,
}

/// `serve revoke` and `serve play-on`: the machine that it was done to.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct MachineNamed<'a> {
    pub machine: &'a str,
}

/// `serve token`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct TeamToken<'a> {
    pub team: &'a str,
    /// The account whose token it is.
    pub account: &'a str,
    pub name: &'a str,
    /// Shown only this once.
    pub token: &'a str,
    /// When it expires, in milliseconds of the epoch.
    #[cfg_attr(test, ts(type = "number"))]
    pub ends: i64,
}

/// `serve link`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct OrganiserLink<'a> {
    pub link: &'a str,
    /// When it expires, in milliseconds of the epoch.
    #[cfg_attr(test, ts(type = "number"))]
    pub ends: i64,
}

/// `serve clock`.
#[derive(Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Clocks<'a> {
    /// How many were confirmed now.
    pub confirmed: u32,
    /// The clocks that are in doubt.
    pub doubts: &'a [ClockDoubt],
}
