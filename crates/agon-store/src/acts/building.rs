//! Steps of a version on its way to its check match, as its worker tells them.

use crate::acts::Act;
use crate::acts::version::{enter_state, named};
use crate::backend::Conn;
use crate::{Attempt, Sha, StoreError, Time, VersionId, VersionState, WorkerId};

/// A worker unpacks and builds the version that a check match is about: should it vanish from now on, this match has been
/// tried.
#[derive(Clone, Debug)]
pub struct Building {
    /// Who.
    pub worker: WorkerId,
    /// For which match.
    pub attempt: Attempt,
    /// Now.
    pub now: Time,
}

/// The version that a check match is about sits in its first seat; a draft is known by its state.
async fn checked(
    conn: &mut Conn,
    worker: WorkerId,
    attempt: Attempt,
) -> Result<Option<VersionId>, StoreError> {
    let row: Option<i64> = sqlx::query_scalar(
        "SELECT s.version_id FROM attempts a JOIN matches m ON m.id = a.match_id JOIN blocks b ON b.id = m.block_id \
         JOIN seats s ON s.match_id = m.id JOIN versions v ON v.id = s.version_id WHERE a.match_id = $1 AND a.n = $2 \
         AND a.worker_id = $3 AND a.ended_ms IS NULL AND (b.kind = 'check' AND s.seat = 0 \
         OR b.kind = 'draft' AND v.state = 'draft') ORDER BY s.seat LIMIT 1",
    )
    .bind(attempt.game.0)
    .bind(attempt.n)
    .bind(worker.0)
    .fetch_optional(conn)
    .await?;
    Ok(row.map(VersionId))
}

impl Act for Building {
    /// Whether the match is its own to play.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let marked = sqlx::query(
            "UPDATE attempts SET started_ms = coalesce(started_ms, $3) WHERE match_id = $1 AND n = $2 \
             AND worker_id = $4 AND ended_ms IS NULL",
        )
        .bind(self.attempt.game.0)
        .bind(self.attempt.n)
        .bind(self.now.0)
        .bind(self.worker.0)
        .execute(&mut *conn)
        .await?;
        if let Some(version) = checked(conn, self.worker, self.attempt).await? {
            rise(conn, version, VersionState::Building, self.now).await?;
        }
        Ok(marked.rows_affected() > 0)
    }
}

/// What a build said is an object already.
#[derive(Clone, Debug)]
pub struct Built {
    /// Who.
    pub worker: WorkerId,
    /// For which match.
    pub attempt: Attempt,
    /// What it said; none where nothing was said.
    pub log: Option<Sha>,
}

impl Act for Built {
    /// Whether the match is its own to play.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some(version) = checked(conn, self.worker, self.attempt).await? else { return Ok(false) };
        sqlx::query("UPDATE versions SET log_sha = $2 WHERE id = $1")
            .bind(version.0)
            .bind(self.log.map(|sha| sha.to_string()))
            .execute(conn)
            .await?;
        Ok(true)
    }
}

/// The check match that a worker begins is the version's next step.
pub(crate) async fn check_begins(
    conn: &mut Conn,
    worker: WorkerId,
    attempt: Attempt,
    now: Time,
) -> Result<(), StoreError> {
    match checked(conn, worker, attempt).await? {
        Some(version) => rise(conn, version, VersionState::Checking, now).await,
        None => Ok(()),
    }
}

/// A version that waits for its check comes a step on.
async fn rise(conn: &mut Conn, version: VersionId, state: VersionState, now: Time) -> Result<(), StoreError> {
    match named(conn, version, VersionState::is_waiting).await? {
        Some(_) => enter_state(conn, version, state, now).await,
        None => Ok(()),
    }
}
