//! What happens to an upload, as its entrant may see it: each query checks the owner. And the state of trials.

use agon_api::MatchResult;
use sqlx::AssertSqlSafe;

use super::{VERSION, VERSIONS, VersionRow, version};
use crate::acts::asked::{HOUR_MS, MOST_ASKED, may_meet, player};
use crate::acts::held;
use crate::acts::version::{DAY_MS, MOST_A_DAY, MOST_AN_HOUR, MOST_BYTES};
use crate::backend::Conn;
use crate::{
    ContestId, ContestStore, EntrantId, EntrantVersion, Kind, MatchId, MatchState, OwnVersion, Sha, Store,
    StoreError, Time, VersionId, VersionState,
};

/// A trial in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenTrial {
    /// The new version.
    pub version: VersionId,
    /// The version before it.
    pub against: VersionId,
    /// When it began.
    pub began: Time,
    /// Blocks that were planned, twins counted once.
    pub planned: u32,
    /// Its matches that are not over.
    pub open: u32,
}

/// A match of a trial that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialMatch {
    /// The number of its block.
    pub block: i64,
    /// The number of the block whose twin it is.
    pub twin_of: Option<i64>,
    /// The map, from 0.
    pub map: i64,
    pub rotation: i64,
    pub seats: Vec<VersionId>,
    /// How it ended.
    pub outcome: MatchResult,
}

/// A stored trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTrial {
    /// The version that it is compared with.
    pub against: VersionId,
    /// Its number among the versions of the entrant.
    pub against_n: i64,
    /// When it began.
    pub began: Time,
    /// When it ended; none while it is in progress.
    pub ended: Option<Time>,
    /// The verdict as JSON, once there is one.
    pub verdict: Option<String>,
}

/// How much of an allowance is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct AllowanceUse {
    /// The amount used.
    pub used: i64,
    /// The limit.
    pub most: i64,
    /// When there is room again, in milliseconds since 1970; none if there is some now, or waiting does not help.
    #[cfg_attr(feature = "described", ts(type = "number | null"))]
    pub until: Option<Time>,
}

/// What an entrant may still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Allowances {
    /// Uploads within an hour.
    pub uploads_an_hour: AllowanceUse,
    /// Uploads within a day.
    pub uploads_a_day: AllowanceUse,
    /// Bytes of all versions.
    pub bytes: AllowanceUse,
    /// Challenges and drafts within an hour.
    pub asked_an_hour: AllowanceUse,
}

/// A match that somebody requested.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedMatch {
    pub id: MatchId,
    /// A challenge, or a draft.
    pub kind: Kind,
    /// When it was asked for.
    pub asked: Time,
    /// The map, from 0.
    pub map: i64,
    pub seed: i64,
    /// Rules of its own, as JSON.
    pub rules: Option<String>,
    pub state: MatchState,
    /// How it ended.
    pub outcome: Option<MatchResult>,
    pub replay: Option<Sha>,
    pub seats: Vec<VersionId>,
    /// For each seat of the entrant, the object that belongs to it.
    pub own: Vec<(usize, Sha)>,
    /// Why the last try failed, and whether it was because the bot cannot be made ready.
    pub why: Option<(String, bool)>,
}

impl Allowances {
    /// Whether this many more bytes are too many, and until when: forever, where the limit on the bytes of all versions is reached.
    pub fn full(&self, bytes: i64) -> Option<Option<Time>> {
        if self.bytes.used + bytes > self.bytes.most {
            return Some(None);
        }
        self.uploads_a_day.until.max(self.uploads_an_hour.until).map(Some)
    }
}

impl ContestStore {
    /// Whether a requested match is waiting for its turn.
    ///
    /// # Errors
    /// Database errors.
    pub async fn is_asked(&self) -> Result<bool, StoreError> {
        let one: Option<i64> = sqlx::query_scalar(
            "SELECT id FROM jobs WHERE contest_id = $1 AND lease_id IS NULL AND lane = 1 AND not_before_ms = $2 LIMIT 1",
        )
        .bind(self.id.0)
        .bind(crate::acts::asked::HELD.0)
        .fetch_optional(&self.reader)
        .await?;
        Ok(one.is_some())
    }

    /// Whether an entrant may ask for a match against a version.
    ///
    /// # Errors
    /// Database errors.
    pub async fn may_meet(&self, entrant: EntrantId, against: VersionId) -> Result<bool, StoreError> {
        let other = player(&mut *self.reader.acquire().await?, self.id, against).await?;
        Ok(other.is_some_and(|other| may_meet(entrant, other)))
    }

    /// Trials in progress, oldest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn open_trials(&self) -> Result<Vec<OpenTrial>, StoreError> {
        let rows: Vec<(i64, i64, i64, i64, i64)> = sqlx::query_as(
            "SELECT t.version_id, t.against_id, t.began_ms, \
             (SELECT count(*) FROM blocks o WHERE o.trial_id = t.version_id AND o.twin_of IS NULL), \
             (SELECT count(*) FROM blocks o JOIN matches m ON m.block_id = o.id WHERE o.trial_id = t.version_id \
             AND m.state IN ('planned', 'leased', 'posted')) FROM trials t JOIN versions v ON v.id = t.version_id \
             JOIN entrants e ON e.id = v.entrant_id \
             WHERE t.ended_ms IS NULL AND e.contest_id = $1 ORDER BY t.began_ms, t.version_id",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
        let trial = |(version, against, began, planned, open): (i64, i64, i64, i64, i64)| OpenTrial {
            version: VersionId(version),
            against: VersionId(against),
            began: Time(began),
            planned: count(planned),
            open: count(open),
        };
        Ok(rows.into_iter().map(trial).collect())
    }
}

impl Store {
    /// Whether any version is waiting for admission, in any contest.
    ///
    /// # Errors
    /// Database errors.
    pub async fn is_anybody_waiting(&self) -> Result<bool, StoreError> {
        let waiting: Option<i64> = sqlx::query_scalar(
            "SELECT id FROM versions WHERE state IN ('received', 'building', 'checking') ORDER BY id LIMIT 1",
        )
        .fetch_optional(&self.reader)
        .await?;
        Ok(waiting.is_some())
    }

    /// The versions of an entrant, with what only it may know, newest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn own_versions(&self, entrant: EntrantId) -> Result<Vec<OwnVersion>, StoreError> {
        // Assembled from our own texts.
        let all = format!("SELECT {VERSION} FROM {VERSIONS} WHERE e.id = $1 AND v.n > 0 ORDER BY v.n DESC");
        let rows: Vec<VersionRow> =
            sqlx::query_as(AssertSqlSafe(all)).bind(entrant.0).fetch_all(&self.reader).await?;
        let mut own = Vec::new();
        for row in rows {
            own.push(self.with_steps(version(row)?).await?);
        }
        Ok(own)
    }

    /// A version of an entrant, with what only it may know.
    ///
    /// # Errors
    /// Database errors.
    pub async fn own_version(&self, entrant: EntrantId, n: i64) -> Result<Option<OwnVersion>, StoreError> {
        let one = format!("SELECT {VERSION} FROM {VERSIONS} WHERE e.id = $1 AND v.n = $2 AND v.n > 0");
        let row: Option<VersionRow> =
            sqlx::query_as(AssertSqlSafe(one)).bind(entrant.0).bind(n).fetch_optional(&self.reader).await?;
        match row {
            Some(row) => Ok(Some(self.with_steps(version(row)?).await?)),
            None => Ok(None),
        }
    }

    async fn with_steps(&self, version: EntrantVersion) -> Result<OwnVersion, StoreError> {
        let steps: Vec<(String, i64)> =
            sqlx::query_as("SELECT state, at_ms FROM steps WHERE version_id = $1 ORDER BY at_ms")
                .bind(version.id.0)
                .fetch_all(&self.reader)
                .await?;
        let steps = steps.iter().map(|(state, at)| Ok((VersionState::of(state)?, Time(*at))));
        let steps: Vec<(VersionState, Time)> = steps.collect::<Result<_, StoreError>>()?;
        let (log, check): (Option<String>, Option<i64>) = sqlx::query_as(
            "SELECT v.log_sha, (SELECT max(m.id) FROM seats s JOIN matches m ON m.id = s.match_id \
             JOIN blocks b ON b.id = m.block_id WHERE s.version_id = v.id AND s.seat = 0 AND b.kind = 'check') \
             FROM versions v WHERE v.id = $1",
        )
        .bind(version.id.0)
        .fetch_one(&self.reader)
        .await?;
        let log = log.map(|sha| sha.parse()).transpose().map_err(StoreError::Damaged)?;
        Ok(OwnVersion { version, steps, log, check: check.map(MatchId) })
    }

    /// The objects of a match that belong to an entrant, one for each of its seats.
    ///
    /// # Errors
    /// Database errors.
    pub async fn own_of_match(
        &self,
        entrant: EntrantId,
        game: MatchId,
    ) -> Result<Vec<(usize, Sha)>, StoreError> {
        let rows: Vec<(i64, String)> = sqlx::query_as(
            "SELECT s.seat, s.own_sha FROM seats s JOIN versions v ON v.id = s.version_id \
             WHERE s.match_id = $1 AND v.entrant_id = $2 AND s.own_sha IS NOT NULL ORDER BY s.seat",
        )
        .bind(game.0)
        .bind(entrant.0)
        .fetch_all(&self.reader)
        .await?;
        let own = |(seat, sha): (i64, String)| {
            Ok((usize::try_from(seat).unwrap_or(0), sha.parse().map_err(StoreError::Damaged)?))
        };
        rows.into_iter().map(own).collect()
    }

    /// A match that an entrant requested.
    ///
    /// # Errors
    /// Database errors.
    pub async fn asked(&self, entrant: EntrantId, game: MatchId) -> Result<Option<AskedMatch>, StoreError> {
        type Row = (
            String,
            i64,
            i64,
            i64,
            Option<String>,
            String,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<String>,
        );
        let row: Option<Row> = sqlx::query_as(
            "SELECT b.kind, b.made_ms, b.map, b.seed, r.rules, m.state, m.outcome, m.replay_sha, a.why, a.how FROM matches m \
             JOIN blocks b ON b.id = m.block_id LEFT JOIN own_rules r ON r.block_id = b.id \
             LEFT JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt WHERE m.id = $1 AND b.asked_by = $2",
        )
        .bind(game.0)
        .bind(entrant.0)
        .fetch_optional(&self.reader)
        .await?;
        let Some((kind, asked, map, seed, rules, state, outcome, replay, why, how)) = row else {
            return Ok(None);
        };
        let seats: Vec<i64> =
            sqlx::query_scalar("SELECT version_id FROM seats WHERE match_id = $1 ORDER BY seat")
                .bind(game.0)
                .fetch_all(&self.reader)
                .await?;
        Ok(Some(AskedMatch {
            id: game,
            kind: Kind::of(&kind)?,
            asked: Time(asked),
            map,
            seed,
            rules,
            state: MatchState::of(&state)?,
            outcome: outcome.as_deref().map(super::read).transpose()?,
            replay: replay.map(|sha| sha.parse()).transpose().map_err(StoreError::Damaged)?,
            seats: seats.into_iter().map(VersionId).collect(),
            own: self.own_of_match(entrant, game).await?,
            why: why.map(|why| (why, how.as_deref() == Some("unfit"))),
        }))
    }

    /// What an entrant may still do.
    ///
    /// # Errors
    /// Database errors.
    pub async fn quota(&self, entrant: EntrantId, now: Time) -> Result<Allowances, StoreError> {
        quota(&mut *self.reader.acquire().await?, entrant, now).await
    }

    /// How many bytes the drafts of an entrant have, and when the oldest of them came.
    ///
    /// # Errors
    /// Database errors.
    pub async fn draft_bytes(&self, entrant: EntrantId) -> Result<(i64, Option<Time>), StoreError> {
        let (bytes, oldest): (i64, Option<i64>) = sqlx::query_as(
            "SELECT CAST(coalesce(sum(v.bytes), 0) AS BIGINT), min(v.received_ms) FROM versions v WHERE v.entrant_id = $1 AND v.n < 0",
        )
        .bind(entrant.0)
        .fetch_one(&self.reader)
        .await?;
        Ok((bytes, oldest.map(Time)))
    }

    /// The matches of a version's trial that are over.
    ///
    /// # Errors
    /// Database errors.
    pub async fn trial_matches(&self, version: VersionId) -> Result<Vec<TrialMatch>, StoreError> {
        type Row = (i64, i64, Option<i64>, i64, i64, String, i64);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT m.id, b.n, b.twin_of, b.map, m.rotation, m.outcome, s.version_id FROM blocks b \
             JOIN matches m ON m.block_id = b.id JOIN seats s ON s.match_id = m.id \
             WHERE b.trial_id = $1 AND m.state = 'valid' ORDER BY m.id, s.seat",
        )
        .bind(version.0)
        .fetch_all(&self.reader)
        .await?;
        let (mut all, mut last): (Vec<TrialMatch>, i64) = (Vec::new(), 0);
        for (id, block, twin_of, map, rotation, outcome, seat) in rows {
            match all.last_mut().filter(|_| last == id) {
                Some(one) => one.seats.push(VersionId(seat)),
                None => {
                    let (outcome, seats) = (super::read(&outcome)?, vec![VersionId(seat)]);
                    all.push(TrialMatch { block, twin_of, map, rotation, seats, outcome });
                }
            }
            last = id;
        }
        Ok(all)
    }

    /// The trial of a version.
    ///
    /// # Errors
    /// Database errors.
    pub async fn trial(&self, version: VersionId) -> Result<Option<KeptTrial>, StoreError> {
        type Row = (i64, i64, i64, Option<i64>, Option<String>);
        let row: Option<Row> = sqlx::query_as(
            "SELECT t.against_id, v.n, t.began_ms, t.ended_ms, t.verdict FROM trials t \
             JOIN versions v ON v.id = t.against_id WHERE t.version_id = $1",
        )
        .bind(version.0)
        .fetch_optional(&self.reader)
        .await?;
        Ok(row.map(|(against, against_n, began, ended, verdict)| KeptTrial {
            against: VersionId(against),
            against_n,
            began: Time(began),
            ended: ended.map(Time),
            verdict,
        }))
    }
}

/// What an entrant may still do: the same rules for displaying it and for the acts that it limits.
pub(crate) async fn quota(conn: &mut Conn, entrant: EntrantId, now: Time) -> Result<Allowances, StoreError> {
    let contest: i64 = sqlx::query_scalar("SELECT contest_id FROM entrants WHERE id = $1")
        .bind(entrant.0)
        .fetch_one(&mut *conn)
        .await?;
    let most_asked = held::settings(conn, ContestId(contest)).await?.asked_an_hour.clamp(1, MOST_ASKED);
    let uploads: Vec<i64> = sqlx::query_scalar(
        "SELECT v.received_ms FROM versions v WHERE v.entrant_id = $1 AND v.n > 0 \
         AND v.received_ms > $2 ORDER BY v.received_ms DESC LIMIT 100",
    )
    .bind(entrant.0)
    .bind(now.0 - DAY_MS)
    .fetch_all(&mut *conn)
    .await?;
    let asked: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(format!(
        "SELECT made_ms FROM blocks WHERE asked_by = $1 AND made_ms > $2 ORDER BY made_ms DESC LIMIT {MOST_ASKED}",
    )))
    .bind(entrant.0)
    .bind(now.0 - HOUR_MS)
    .fetch_all(&mut *conn)
    .await?;
    let bytes: i64 = sqlx::query_scalar(
        "SELECT CAST(coalesce(sum(v.bytes), 0) AS BIGINT) FROM versions v \
         WHERE v.entrant_id = $1 AND v.n > 0",
    )
    .bind(entrant.0)
    .fetch_one(&mut *conn)
    .await?;
    let used = |times: &[i64], most: i64, within: i64| {
        let recent = times.iter().filter(|time| **time > now.0 - within).count() as i64;
        let full = times.get(most as usize - 1).map(|oldest| Time(oldest + within));
        AllowanceUse { used: recent, most, until: full.filter(|until| *until > now) }
    };
    Ok(Allowances {
        uploads_an_hour: used(&uploads, MOST_AN_HOUR, HOUR_MS),
        uploads_a_day: used(&uploads, MOST_A_DAY, DAY_MS),
        bytes: AllowanceUse { used: bytes, most: MOST_BYTES, until: None },
        asked_an_hour: used(&asked, most_asked.into(), HOUR_MS),
    })
}
