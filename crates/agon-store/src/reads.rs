//! Everything that only reads.

mod clocks;
mod counts;
mod matches;
mod people;
mod pipeline;
mod puzzles;
mod settings;
mod versus;
mod workers;

use std::collections::{BTreeMap, BTreeSet};

use sqlx::AssertSqlSafe;

use crate::backend::Flag;
use crate::{
    Attempt, ContestId, ContestRow, ContestStore, EntrantId, EntrantVersion, Event, Kind, LogEntry, LogRow,
    MatchId, PostedMatch, RatingRun, Ruled, Sha, Store, StoreError, Time, VersionId, VersionState, WorkerId,
};

pub use agon_api::played::Ended;
pub use counts::Counts;
pub use matches::{Eyes, Failure, Filter, LatelyPlayed, PAGE, StoredMatch};
pub(crate) use pipeline::quota;
pub use pipeline::{AllowanceUse, Allowances, AskedMatch, KeptTrial, OpenTrial, TrialMatch};
pub use puzzles::{StoredPosition, StoredPuzzle};
pub use versus::{EndingCount, GroundCount, Rival};
pub use workers::{AtWork, ComparedOf, Conduct, Hands, TriesOf, TryState, Voiding, Working};

/// How many unchecked results are read at once.
pub const MOST_POSTED: usize = 256;

/// The state at a moment, for telling whether something has changed since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// The last row of the log that the board covers.
    pub board: i64,
    /// The last entry of the audit log.
    pub acts: i64,
    /// The state of matches and versions: the number changes when a match is planned or over, or a version changes state.
    pub work: i64,
}

/// The state of a version's check match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckState {
    pub game: MatchId,
    /// `planned`, `leased`, `posted`, `valid` or `dead`.
    pub state: crate::MatchState,
    /// The kind of fault by which the version's program failed there, when the match is over.
    pub fault: Option<String>,
    /// The object of the match that belongs to the version's author.
    pub own: Option<Sha>,
    /// Why the last try failed.
    pub why: Option<String>,
    /// Whether it failed because the version cannot be made ready.
    pub unfit: bool,
}

/// The columns of a version, in the order of [`VersionRow`].
pub(crate) const VERSION: &str = "v.id, e.name, e.boss = TRUE, v.n, v.builtin, v.source_sha, v.received_ms, v.state, v.reason, v.cause, \
                                  v.only_if_better = TRUE";
/// The tables they come from.
pub(crate) const VERSIONS: &str = "versions v JOIN entrants e ON e.id = v.entrant_id";

pub(crate) type VersionRow =
    (i64, String, Flag, i64, Option<String>, String, i64, String, Option<String>, Option<String>, Flag);

pub(crate) fn version(row: VersionRow) -> Result<EntrantVersion, StoreError> {
    let (id, entrant, Flag(boss), n, builtin, source, received, state, reason, cause, Flag(only_if_better)) =
        row;
    Ok(EntrantVersion {
        id: VersionId(id),
        entrant,
        boss,
        n,
        builtin,
        source: source.parse().map_err(StoreError::Damaged)?,
        received: Time(received),
        state: VersionState::of(&state)?,
        reason,
        cause: cause.as_deref().map(read).transpose()?,
        only_if_better,
    })
}

/// Reads JSON from the database.
pub(crate) fn read<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::Damaged(error.to_string()))
}

impl ContestStore {
    /// The contest as it is now.
    ///
    /// # Errors
    /// Database errors.
    pub async fn now(&self) -> Result<ContestRow, StoreError> {
        let own = self.contests().await?.into_iter().find(|contest| contest.id == self.id);
        own.ok_or_else(|| StoreError::Damaged(format!("contest {} is not there", self.id)))
    }

    /// All versions of a contest, oldest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn versions(&self) -> Result<Vec<EntrantVersion>, StoreError> {
        let all = self.players().await?;
        Ok(all.into_iter().filter(|version| version.state != VersionState::Draft).collect())
    }

    /// Everything that may sit in a match: versions and drafts.
    ///
    /// # Errors
    /// Database errors.
    pub async fn players(&self) -> Result<Vec<EntrantVersion>, StoreError> {
        // Assembled from our own texts.
        let all = format!("SELECT {VERSION} FROM {VERSIONS} WHERE e.contest_id = $1 ORDER BY v.id");
        let rows: Vec<VersionRow> =
            sqlx::query_as(AssertSqlSafe(all)).bind(self.id.0).fetch_all(&self.reader).await?;
        rows.into_iter().map(version).collect()
    }

    /// For each version, the number of matches that are planned, being played, or waiting to be checked.
    ///
    /// # Errors
    /// Database errors.
    pub async fn in_flight(&self) -> Result<BTreeMap<VersionId, u32>, StoreError> {
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT s.version_id, count(*) FROM seats s WHERE s.match_id IN \
             (SELECT match_id FROM jobs WHERE contest_id = $1 AND but_id IS NULL UNION ALL SELECT m.id FROM matches m \
             JOIN blocks b ON b.id = m.block_id WHERE m.state = 'posted' AND b.kind <> 'again') \
             GROUP BY s.version_id",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows
            .into_iter()
            .map(|(id, count)| (VersionId(id), u32::try_from(count).unwrap_or(u32::MAX)))
            .collect())
    }

    /// The number of planned matches that nobody has leased, counted up to `most`.
    ///
    /// # Errors
    /// Database errors.
    pub async fn waiting(&self, most: i64) -> Result<i64, StoreError> {
        let count = sqlx::query_scalar(
            "SELECT count(*) FROM (SELECT id FROM jobs WHERE contest_id = $1 AND lease_id IS NULL AND but_id IS NULL LIMIT $2) AS found",
        );
        Ok(count.bind(self.id.0).bind(most).fetch_one(&self.reader).await?)
    }

    /// Unchecked results, the oldest first, at most [`MOST_POSTED`].
    ///
    /// # Errors
    /// Database errors.
    pub async fn posted(&self) -> Result<Vec<PostedMatch>, StoreError> {
        type Row = (i64, i64, String, String, i64, i64, String, String, i64);
        let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT m.id, m.attempt, w.name, b.kind, b.map, b.seed, m.result, m.replay_sha, s.version_id FROM matches m \
             JOIN blocks b ON b.id = m.block_id JOIN seats s ON s.match_id = m.id \
             JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt JOIN workers w ON w.id = a.worker_id \
             WHERE m.id IN (SELECT p.id FROM matches p WHERE p.state = 'posted' AND (SELECT o.contest_id FROM blocks o \
             WHERE o.id = p.block_id) = $1 ORDER BY p.id LIMIT {MOST_POSTED}) ORDER BY m.id, s.seat",
        )))
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let mut all: Vec<PostedMatch> = Vec::new();
        for (id, n, worker, kind, map, seed, result, replay, version) in rows {
            let attempt = Attempt { game: MatchId(id), n };
            match all.last_mut().filter(|last| last.attempt == attempt) {
                Some(last) => last.seats.push(VersionId(version)),
                None => all.push(PostedMatch {
                    attempt,
                    worker,
                    kind: Kind::of(&kind)?,
                    map,
                    seed,
                    seats: vec![VersionId(version)],
                    result,
                    replay: replay.parse().map_err(StoreError::Damaged)?,
                }),
            }
        }
        Ok(all)
    }

    /// The check matches of versions that are not live yet, the last one of each.
    ///
    /// # Errors
    /// Database errors.
    pub async fn checks(&self) -> Result<BTreeMap<VersionId, Vec<CheckState>>, StoreError> {
        type Row = (i64, i64, String, Option<String>, Option<String>, Option<String>, Option<String>);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT s.version_id, m.id, m.state, s.fault, s.own_sha, a.why, a.how \
             FROM (SELECT id FROM versions WHERE state IN ('received', 'building', 'checking')) v CROSS JOIN seats s CROSS JOIN matches m \
             CROSS JOIN blocks b LEFT JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt \
             WHERE s.version_id = v.id AND m.id = s.match_id AND b.id = m.block_id AND b.kind = 'check' \
             AND b.contest_id = $1 ORDER BY m.id, s.seat",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let mut all: BTreeMap<VersionId, Vec<CheckState>> = BTreeMap::new();
        for (version, id, state, fault, own, why, how) in rows {
            let state = crate::MatchState::of(&state)?;
            let unfit = how.as_deref() == Some("unfit");
            let own = own.map(|own| own.parse()).transpose().map_err(StoreError::Damaged)?;
            let check = CheckState { game: MatchId(id), state, fault, own, why, unfit };
            all.entry(VersionId(version)).or_default().push(check);
        }
        Ok(all)
    }

    /// The state of matches and versions as a number: it changes when a match is planned or over, and when a version changes state.
    ///
    /// # Errors
    /// Database errors.
    pub async fn work(&self) -> Result<i64, StoreError> {
        // Matches ever planned, matches that are over, the last step of a version, trials that are over.
        let work = sqlx::query_scalar(
            "SELECT 2 * (SELECT coalesce(max(id), 0) FROM matches) - (SELECT count(*) FROM jobs WHERE contest_id = $1) \
             - (SELECT count(*) FROM matches WHERE state = 'posted') + (SELECT coalesce(max(at_ms), 0) FROM steps) \
             + (SELECT count(*) FROM trials WHERE ended_ms IS NOT NULL)",
        );
        Ok(work.bind(self.id.0).fetch_one(&self.reader).await?)
    }

    /// The rows of the log after row `after`, at most `most`.
    ///
    /// # Errors
    /// Database errors.
    pub async fn log(&self, after: i64, most: i64) -> Result<Vec<LogRow>, StoreError> {
        let rows: Vec<(i64, String, String)> = sqlx::query_as(
            "SELECT seq, body, sha FROM log WHERE contest_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        )
        .bind(self.id.0)
        .bind(after)
        .bind(most)
        .fetch_all(&self.reader)
        .await?;
        let row = |(seq, body, sha): (i64, String, String)| {
            Ok(LogRow { seq, body, sha: sha.parse::<Sha>().map_err(StoreError::Damaged)? })
        };
        rows.into_iter().map(row).collect()
    }

    /// All rulings about teams and versions, oldest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn rulings(&self) -> Result<Vec<Ruled>, StoreError> {
        let all = self.decisions().await?.into_iter();
        Ok(all
            .filter_map(|entry| if let LogEntry::Ruling(ruled) = entry { Some(ruled) } else { None })
            .collect())
    }

    /// Versions that are suspended because their matches failed: since when, and why.
    ///
    /// # Errors
    /// Database errors.
    pub async fn suspended(&self) -> Result<BTreeMap<VersionId, (Time, String)>, StoreError> {
        let rows: Vec<(i64, i64, String)> = sqlx::query_as(
            "SELECT o.version_id, o.from_ms, o.why FROM suspensions o JOIN versions v ON v.id = o.version_id \
             JOIN entrants e ON e.id = v.entrant_id \
             WHERE o.to_ms IS NULL AND e.contest_id = $1",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows.into_iter().map(|(version, from, why)| (VersionId(version), (Time(from), why))).collect())
    }

    /// The decisions of organisers: the rows of the log that belong to no match, oldest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn decisions(&self) -> Result<Vec<LogEntry>, StoreError> {
        let bodies: Vec<String> = sqlx::query_scalar(
            "SELECT body FROM log WHERE contest_id = $1 AND match_id IS NULL ORDER BY seq",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        bodies.iter().map(|body| read(body)).collect()
    }

    /// The owner of each version.
    ///
    /// # Errors
    /// Database errors.
    pub async fn owners(&self) -> Result<BTreeMap<VersionId, EntrantId>, StoreError> {
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT v.id, e.id FROM versions v JOIN entrants e ON e.id = v.entrant_id \
             WHERE e.contest_id = $1",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows.into_iter().map(|(version, entrant)| (VersionId(version), EntrantId(entrant))).collect())
    }

    /// Blocks that share the seed of another one: their numbers and the other's.
    ///
    /// # Errors
    /// Database errors.
    pub async fn twins(&self) -> Result<BTreeMap<i64, i64>, StoreError> {
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT n, twin_of FROM blocks WHERE contest_id = $1 AND n > 0 AND twin_of IS NOT NULL",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows.into_iter().collect())
    }

    /// The last entries of the audit log, the newest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn events(&self, most: i64) -> Result<Vec<Event>, StoreError> {
        type Row = (i64, i64, String, String, String, String);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT id, at_ms, actor, verb, object, detail FROM events WHERE contest_id = $1 ORDER BY id DESC LIMIT $2",
        )
        .bind(self.id.0)
        .bind(most)
        .fetch_all(&self.reader)
        .await?;
        let event = |(id, at, actor, verb, object, detail): Row| Event {
            id,
            at: Time(at),
            actor,
            verb,
            object,
            detail,
        };
        Ok(rows.into_iter().map(event).collect())
    }

    /// The newest table kept, and any older one that was asked for by its place in the log.
    ///
    /// # Errors
    /// Database errors.
    pub async fn boards(&self) -> Result<Vec<RatingRun>, StoreError> {
        let rows: Vec<(i64, String, String)> = sqlx::query_as(
            "SELECT upto_seq, program, board FROM rating_runs WHERE contest_id = $1 ORDER BY upto_seq DESC",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows.into_iter().map(|(upto, program, board)| RatingRun { upto, program, board }).collect())
    }
}

impl Store {
    /// The contest, where there is only one; none where there is none yet.
    ///
    /// # Errors
    /// Database errors; and when there are several.
    pub async fn only(&self) -> Result<Option<ContestStore>, StoreError> {
        let mut all = self.contests().await?;
        if all.len() > 1 {
            let names: Vec<&str> = all.iter().map(|contest| contest.name.as_str()).collect();
            return Err(StoreError::Wrong(format!(
                "the database holds the contests {}, and nothing says which of them is meant: `title` in contest.toml is its name",
                names.join(", ")
            )));
        }
        Ok(all.pop().map(|contest| self.of(contest.id)))
    }

    /// The contest of this name, or the only one whatever its name is: its title may be another by now.
    ///
    /// # Errors
    /// As [`only`](Self::only).
    pub async fn named(&self, name: &str) -> Result<Option<ContestStore>, StoreError> {
        match self
            .contests()
            .await?
            .into_iter()
            .find(|contest| contest.name == name || contest.title() == name)
        {
            Some(contest) => Ok(Some(self.of(contest.id))),
            None => self.only().await,
        }
    }

    /// All contests, oldest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn contests(&self) -> Result<Vec<ContestRow>, StoreError> {
        type Row = (i64, String, String, String, String, String, Flag, Flag, i64, i64, Option<String>);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT id, name, game, terms, secret, secret_sha, paused = TRUE, draining = TRUE, blocks, made_ms, settings FROM contests ORDER BY id",
        )
        .fetch_all(&self.reader)
        .await?;
        let contest = |row: Row| {
            let (
                id,
                name,
                game,
                terms,
                secret,
                secret_sha,
                Flag(paused),
                Flag(draining),
                blocks,
                made,
                settings,
            ) = row;
            Ok(ContestRow {
                id: ContestId(id),
                name,
                game,
                terms,
                secret,
                secret_sha,
                paused,
                draining,
                blocks,
                made: Time(made),
                settings: settings.as_deref().map(read).transpose()?,
            })
        };
        rows.into_iter().map(contest).collect()
    }

    /// The number of unchecked results, in all contests.
    ///
    /// # Errors
    /// Database errors.
    pub async fn unchecked(&self) -> Result<i64, StoreError> {
        let count = sqlx::query_scalar("SELECT count(*) FROM matches WHERE state = 'posted'");
        Ok(count.fetch_one(&self.reader).await?)
    }

    /// The objects named in the database, each with what names it.
    ///
    /// # Errors
    /// Database errors.
    pub async fn named_objects(&self) -> Result<Vec<(Sha, String)>, StoreError> {
        let rows: Vec<(String, String)> = sqlx::query_as(
            "SELECT v.source_sha, 'version ' || v.id FROM versions v JOIN entrants e ON e.id = v.entrant_id WHERE v.builtin IS NULL AND e.withdrawn_ms IS NULL UNION ALL \
             SELECT replay_sha, 'the replay of match ' || id FROM matches WHERE replay_sha IS NOT NULL UNION ALL \
             SELECT v.log_sha, 'the build of version ' || v.id FROM versions v WHERE v.log_sha IS NOT NULL UNION ALL \
             SELECT own_sha, 'what belongs to a seat of match ' || match_id FROM seats WHERE own_sha IS NOT NULL",
        )
        .fetch_all(&self.reader)
        .await?;
        let named =
            |(sha, what): (String, String)| Ok((sha.parse::<Sha>().map_err(StoreError::Damaged)?, what));
        rows.into_iter().map(named).collect()
    }

    /// The sources of all versions and drafts whose owners are there.
    ///
    /// # Errors
    /// Database errors.
    pub async fn sources(&self) -> Result<BTreeSet<Sha>, StoreError> {
        let rows: Vec<String> = sqlx::query_scalar(
            "SELECT DISTINCT v.source_sha FROM versions v JOIN entrants e ON e.id = v.entrant_id \
             WHERE v.builtin IS NULL AND e.withdrawn_ms IS NULL",
        )
        .fetch_all(&self.reader)
        .await?;
        rows.into_iter().map(|sha| sha.parse().map_err(StoreError::Damaged)).collect()
    }

    /// The attempts of a match, oldest first: number, worker, how it ended and why.
    ///
    /// # Errors
    /// Database errors.
    pub async fn attempts(
        &self,
        game: MatchId,
    ) -> Result<Vec<(i64, WorkerId, Option<String>, Option<String>)>, StoreError> {
        let rows: Vec<(i64, i64, Option<String>, Option<String>)> =
            sqlx::query_as("SELECT n, worker_id, how, why FROM attempts WHERE match_id = $1 ORDER BY n")
                .bind(game.0)
                .fetch_all(&self.reader)
                .await?;
        Ok(rows.into_iter().map(|(n, worker, how, why)| (n, WorkerId(worker), how, why)).collect())
    }
}
