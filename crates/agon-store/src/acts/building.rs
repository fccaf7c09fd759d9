//! Steps of a version on its way to its check match, as its worker reports them.

use crate::acts::Act;
use crate::acts::version::{enter_state, named};
use crate::backend::Conn;
use crate::{Attempt, Sha, StoreError, Time, VersionId, VersionState, WorkerId};

/// A worker begins to unpack and build the version that a check match is about. If it vanishes from now on, this match counts as tried.
#[derive(Clone, Debug)]
pub struct Building {
    pub worker: WorkerId,
    /// The match and try.
    pub attempt: Attempt,
    pub now: Time,
}

/// The version that a check match is about, which sits in its first seat; a draft is recognised by its state. None when its owner was
/// deleted meanwhile: nothing more is kept of it.
pub(crate) async fn checked(
    conn: &mut Conn,
    worker: WorkerId,
    attempt: Attempt,
) -> Result<Option<VersionId>, StoreError> {
    let row: Option<i64> = sqlx::query_scalar(
        "SELECT s.version_id FROM attempts a JOIN matches m ON m.id = a.match_id JOIN blocks b ON b.id = m.block_id \
         JOIN seats s ON s.match_id = m.id JOIN versions v ON v.id = s.version_id \
         JOIN entrants e ON e.id = v.entrant_id AND e.withdrawn_ms IS NULL WHERE a.match_id = $1 AND a.n = $2 \
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
    /// Whether the worker holds the match.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let marked = sqlx::query(
            "UPDATE attempts SET checksum = NULL, started_ms = coalesce(started_ms, $3) WHERE match_id = $1 AND n = $2 \
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

/// Records the output of a build, which is stored as an object already.
#[derive(Clone, Debug)]
pub struct RecordBuild {
    pub worker: WorkerId,
    /// The match and try.
    pub attempt: Attempt,
    /// The output; none if there was none.
    pub log: Option<Sha>,
}

impl Act for RecordBuild {
    /// Whether the worker holds the match.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some(version) = checked(conn, self.worker, self.attempt).await? else { return Ok(false) };
        sqlx::query("UPDATE versions SET checksum = NULL, log_sha = $2 WHERE id = $1")
            .bind(version.0)
            .bind(self.log.map(|sha| sha.to_string()))
            .execute(conn)
            .await?;
        Ok(true)
    }
}

/// Moves a version on when a worker begins its check match.
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

/// Moves a version that waits for its check one step on.
async fn rise(conn: &mut Conn, version: VersionId, state: VersionState, now: Time) -> Result<(), StoreError> {
    match named(conn, version, VersionState::is_waiting).await? {
        Some(_) => enter_state(conn, version, state, now).await,
        None => Ok(()),
    }
}
