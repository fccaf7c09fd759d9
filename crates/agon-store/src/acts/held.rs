//! What an act reads of a contest's settings, in its own transaction, and which versions these have checked again.

use crate::backend::Conn;
use crate::{ContestId, ContestSettings, StoreError, VersionId};

/// The settings of a contest; the usual ones where no start has taken them from its file yet.
pub(crate) async fn settings(conn: &mut Conn, contest: ContestId) -> Result<ContestSettings, StoreError> {
    let text: Option<Option<String>> = sqlx::query_scalar("SELECT settings FROM contests WHERE id = $1")
        .bind(contest.0)
        .fetch_optional(conn)
        .await?;
    text.flatten().map_or_else(|| Ok(ContestSettings::default()), |text| crate::reads::read(&text))
}

/// Has a version checked again.
pub(crate) async fn again(conn: &mut Conn, version: VersionId) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO rechecks (version_id, after_match) SELECT $1, coalesce(max(id), 0) FROM matches \
         WHERE 1 = 1 ON CONFLICT (version_id) DO UPDATE SET checksum = NULL, after_match = excluded.after_match",
    )
    .bind(version.0)
    .execute(conn)
    .await?;
    Ok(())
}

/// Has a version that begins to stand for its team checked again, if its last check match was in a former image.
pub(crate) async fn check_again_if_due(
    conn: &mut Conn,
    contest: ContestId,
    version: VersionId,
) -> Result<(), StoreError> {
    let Some(since) = settings(conn, contest).await?.image_since else { return Ok(()) };
    let is_uploaded: Option<i64> =
        sqlx::query_scalar("SELECT id FROM versions WHERE id = $1 AND builtin IS NULL")
            .bind(version.0)
            .fetch_optional(&mut *conn)
            .await?;
    let checked: Option<i64> = sqlx::query_scalar(
        "SELECT max(a.leased_ms) FROM seats s JOIN matches m ON m.id = s.match_id JOIN blocks b ON b.id = m.block_id \
         JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt \
         WHERE s.version_id = $1 AND b.kind = 'check' AND m.state = 'valid'",
    )
    .bind(version.0)
    .fetch_one(&mut *conn)
    .await?;
    if is_uploaded.is_some() && checked.is_none_or(|checked| checked < since.0) {
        again(conn, version).await?;
    }
    Ok(())
}
