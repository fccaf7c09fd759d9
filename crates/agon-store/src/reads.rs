//! What only reads.

mod counts;
mod matches;
mod people;
mod pipeline;
mod versus;
mod workers;

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;

use crate::backend::Flag;
use crate::{
    Attempt, Contest, ContestId, EntrantId, Entry, Event, Kind, LogRow, MatchId, Posted, RatingRun, Ruled,
    Sha, Store, StoreError, Time, Version, VersionId, VersionState, WorkerId,
};

pub use counts::Counts;
pub use matches::{Ended, Eyes, Failure, Filter, LatelyPlayed, MatchSeat, PAGE, Played};
pub(crate) use pipeline::quota;
pub use pipeline::{AskedMatch, KeptTrial, OpenTrial, Quota, TrialMatch, Used};
pub use versus::{Ending, Rival};
pub use workers::{AtWork, ComparedOf, Conduct, Hands, TriesOf, Working};

/// So many results that nobody has checked are looked at at once.
pub const MOST_POSTED: usize = 256;

/// What was there at a moment, by which one knows that something changed since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// The last row of the log that the board has seen.
    pub board: i64,
    /// The last entry of the audit log.
    pub acts: i64,
    /// Of matches and versions: another number when one was planned or is over, or came to be something else.
    pub work: i64,
}

/// How a check match of a version stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckState {
    /// The match.
    pub game: MatchId,
    /// `planned`, `leased`, `posted`, `valid` or `dead`.
    pub state: crate::MatchState,
    /// By what kind of fault the version's program broke there, when it is over.
    pub fault: Option<String>,
    /// What belongs to the version's author of it: an object.
    pub own: Option<Sha>,
    /// Why the last try came to nothing.
    pub why: Option<String>,
    /// Whether that was because the version cannot be made ready.
    pub unfit: bool,
}

/// The columns of a version, in the order of [`VersionRow`].
pub(crate) const VERSION: &str = "v.id, e.name, e.boss = TRUE, v.n, v.builtin, v.source_sha, v.received_ms, v.state, v.reason, v.cause, \
                                  v.only_if_better = TRUE";
/// Where they are.
pub(crate) const VERSIONS: &str =
    "versions v JOIN bots b ON b.id = v.bot_id JOIN entrants e ON e.id = b.entrant_id";

pub(crate) type VersionRow =
    (i64, String, Flag, i64, Option<String>, String, i64, String, Option<String>, Option<String>, Flag);

pub(crate) fn version(row: VersionRow) -> Result<Version, StoreError> {
    let (id, entrant, Flag(boss), n, builtin, source, received, state, reason, cause, Flag(only_if_better)) =
        row;
    Ok(Version {
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

/// What stands in the database as JSON.
pub(crate) fn read<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::Damaged(error.to_string()))
}

impl Store {
    /// All contests, the first first.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn contests(&self) -> Result<Vec<Contest>, StoreError> {
        type Row = (i64, String, String, String, String, String, Flag, Flag, i64, i64);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT id, name, game, terms, secret, secret_sha, paused = TRUE, draining = TRUE, blocks, made_ms FROM contests ORDER BY id",
        )
        .fetch_all(&self.reader)
        .await?;
        let contest =
            |(id, name, game, terms, secret, secret_sha, Flag(paused), Flag(draining), blocks, made): Row| {
                Contest {
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
                }
            };
        Ok(rows.into_iter().map(contest).collect())
    }

    /// All versions of a contest, the first first.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn versions(&self, contest: ContestId) -> Result<Vec<Version>, StoreError> {
        let all = self.players(contest).await?;
        Ok(all.into_iter().filter(|version| version.state != VersionState::Draft).collect())
    }

    /// All that may sit in a match: versions, and drafts.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn players(&self, contest: ContestId) -> Result<Vec<Version>, StoreError> {
        // Two texts of ours, put together.
        let all = format!("SELECT {VERSION} FROM {VERSIONS} WHERE e.contest_id = $1 ORDER BY v.id");
        let rows: Vec<VersionRow> =
            sqlx::query_as(AssertSqlSafe(all)).bind(contest.0).fetch_all(&self.reader).await?;
        rows.into_iter().map(version).collect()
    }

    /// How many matches of each version wait, are played, or wait to be checked.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn in_flight(&self, contest: ContestId) -> Result<BTreeMap<VersionId, u32>, StoreError> {
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT s.version_id, count(*) FROM seats s WHERE s.match_id IN \
             (SELECT match_id FROM jobs WHERE contest_id = $1 AND but_id IS NULL UNION ALL SELECT m.id FROM matches m \
             JOIN blocks b ON b.id = m.block_id WHERE m.state = 'posted' AND b.kind <> 'again') \
             GROUP BY s.version_id",
        )
        .bind(contest.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows
            .into_iter()
            .map(|(id, count)| (VersionId(id), u32::try_from(count).unwrap_or(u32::MAX)))
            .collect())
    }

    /// How many results nobody has checked yet, in all contests.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn unchecked(&self) -> Result<i64, StoreError> {
        let count = sqlx::query_scalar("SELECT count(*) FROM matches WHERE state = 'posted'");
        Ok(count.fetch_one(&self.reader).await?)
    }

    /// How many matches are planned that nobody has in hand; with `most` no more are counted.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn waiting(&self, contest: ContestId, most: i64) -> Result<i64, StoreError> {
        let count = sqlx::query_scalar(
            "SELECT count(*) FROM (SELECT id FROM jobs WHERE contest_id = $1 AND lease_id IS NULL AND but_id IS NULL LIMIT $2) AS found",
        );
        Ok(count.bind(contest.0).bind(most).fetch_one(&self.reader).await?)
    }

    /// Results that nobody has checked yet, the oldest first, [`MOST_POSTED`] at most.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn posted(&self, contest: ContestId) -> Result<Vec<Posted>, StoreError> {
        type Row = (i64, i64, String, String, i64, i64, String, String, i64);
        let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT m.id, m.attempt, w.name, b.kind, b.map, b.seed, m.result, m.replay_sha, s.version_id FROM matches m \
             JOIN blocks b ON b.id = m.block_id JOIN seats s ON s.match_id = m.id \
             JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt JOIN workers w ON w.id = a.worker_id \
             WHERE m.id IN (SELECT id FROM matches WHERE state = 'posted' ORDER BY id LIMIT {MOST_POSTED}) \
             AND b.contest_id = $1 ORDER BY m.id, s.seat",
        )))
        .bind(contest.0)
        .fetch_all(&self.reader)
        .await?;
        let mut all: Vec<Posted> = Vec::new();
        for (id, n, worker, kind, map, seed, result, replay, version) in rows {
            let attempt = Attempt { game: MatchId(id), n };
            match all.last_mut().filter(|last| last.attempt == attempt) {
                Some(last) => last.seats.push(VersionId(version)),
                None => all.push(Posted {
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

    /// The check matches of versions that are not live yet, the last of each.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn checks(
        &self,
        contest: ContestId,
    ) -> Result<BTreeMap<VersionId, Vec<CheckState>>, StoreError> {
        type Row = (i64, i64, String, Option<String>, Option<String>, Option<String>, Option<String>);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT s.version_id, m.id, m.state, s.fault, s.own_sha, a.why, a.how \
             FROM (SELECT id FROM versions WHERE state IN ('received', 'building', 'checking')) v CROSS JOIN seats s CROSS JOIN matches m \
             CROSS JOIN blocks b LEFT JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt \
             WHERE s.version_id = v.id AND m.id = s.match_id AND b.id = m.block_id AND b.kind = 'check' \
             AND b.contest_id = $1 ORDER BY m.id, s.seat",
        )
        .bind(contest.0)
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

    /// What of matches and versions is there now: each that is planned or over, and each step of a version, makes it another
    /// number.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn work(&self, contest: ContestId) -> Result<i64, StoreError> {
        // Matches that were ever planned, those of them that are over, versions' last step, trials that are over.
        let work = sqlx::query_scalar(
            "SELECT 2 * (SELECT coalesce(max(id), 0) FROM matches) - (SELECT count(*) FROM jobs WHERE contest_id = $1) \
             - (SELECT count(*) FROM matches WHERE state = 'posted') + (SELECT coalesce(max(at_ms), 0) FROM steps) \
             + (SELECT count(*) FROM trials WHERE ended_ms IS NOT NULL)",
        );
        Ok(work.bind(contest.0).fetch_one(&self.reader).await?)
    }

    /// The log behind row `after`, at most `most` rows.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn log(&self, contest: ContestId, after: i64, most: i64) -> Result<Vec<LogRow>, StoreError> {
        let rows: Vec<(i64, String, String)> = sqlx::query_as(
            "SELECT seq, body, sha FROM log WHERE contest_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        )
        .bind(contest.0)
        .bind(after)
        .bind(most)
        .fetch_all(&self.reader)
        .await?;
        let row = |(seq, body, sha): (i64, String, String)| {
            Ok(LogRow { seq, body, sha: sha.parse::<Sha>().map_err(StoreError::Damaged)? })
        };
        rows.into_iter().map(row).collect()
    }

    /// All rulings about teams and versions, the first first.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn rulings(&self, contest: ContestId) -> Result<Vec<Ruled>, StoreError> {
        let all = self.decisions(contest).await?.into_iter();
        Ok(all
            .filter_map(|entry| if let Entry::Ruling(ruled) = entry { Some(ruled) } else { None })
            .collect())
    }

    /// Versions that rest because their matches came to nothing: since when, and why.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn suspended(
        &self,
        contest: ContestId,
    ) -> Result<BTreeMap<VersionId, (Time, String)>, StoreError> {
        let rows: Vec<(i64, i64, String)> = sqlx::query_as(
            "SELECT o.version_id, o.from_ms, o.why FROM suspensions o JOIN versions v ON v.id = o.version_id \
             JOIN bots b ON b.id = v.bot_id JOIN entrants e ON e.id = b.entrant_id \
             WHERE o.to_ms IS NULL AND e.contest_id = $1",
        )
        .bind(contest.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows.into_iter().map(|(version, from, why)| (VersionId(version), (Time(from), why))).collect())
    }

    /// What an organiser has decided: the rows of the log that are of no match, the first first.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn decisions(&self, contest: ContestId) -> Result<Vec<Entry>, StoreError> {
        let bodies: Vec<String> = sqlx::query_scalar(
            "SELECT body FROM log WHERE contest_id = $1 AND match_id IS NULL ORDER BY seq",
        )
        .bind(contest.0)
        .fetch_all(&self.reader)
        .await?;
        bodies.iter().map(|body| read(body)).collect()
    }

    /// Whose each version is.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn owners(&self, contest: ContestId) -> Result<BTreeMap<VersionId, EntrantId>, StoreError> {
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT v.id, e.id FROM versions v JOIN bots b ON b.id = v.bot_id JOIN entrants e ON e.id = b.entrant_id \
             WHERE e.contest_id = $1",
        )
        .bind(contest.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows.into_iter().map(|(version, entrant)| (VersionId(version), EntrantId(entrant))).collect())
    }

    /// Blocks that share the seed of another one: their numbers, and its.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn twins(&self, contest: ContestId) -> Result<BTreeMap<i64, i64>, StoreError> {
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT n, twin_of FROM blocks WHERE contest_id = $1 AND n > 0 AND twin_of IS NOT NULL",
        )
        .bind(contest.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows.into_iter().collect())
    }

    /// The last entries of the audit log, the newest first.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn events(&self, contest: ContestId, most: i64) -> Result<Vec<Event>, StoreError> {
        type Row = (i64, i64, String, String, String, String);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT id, at_ms, actor, verb, object, detail FROM events WHERE contest_id = $1 ORDER BY id DESC LIMIT $2",
        )
        .bind(contest.0)
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

    /// The newest table that was kept, and any other one asked for by its place in the log.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn boards(&self, contest: ContestId) -> Result<Vec<RatingRun>, StoreError> {
        let rows: Vec<(i64, String, String)> = sqlx::query_as(
            "SELECT upto_seq, program, board FROM rating_runs WHERE contest_id = $1 ORDER BY upto_seq DESC",
        )
        .bind(contest.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows.into_iter().map(|(upto, program, board)| RatingRun { upto, program, board }).collect())
    }

    /// The objects that something in the database names, with what that is.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn named_objects(&self) -> Result<Vec<(Sha, String)>, StoreError> {
        let rows: Vec<(String, String)> = sqlx::query_as(
            "SELECT v.source_sha, 'version ' || v.id FROM versions v JOIN bots b ON b.id = v.bot_id \
             JOIN entrants e ON e.id = b.entrant_id WHERE v.builtin IS NULL AND e.withdrawn_ms IS NULL UNION ALL \
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

    /// The attempts of a match, the first first: number, worker, how it ended and why.
    ///
    /// # Errors
    /// Those of the database.
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
