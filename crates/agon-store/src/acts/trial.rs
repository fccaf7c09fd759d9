//! Trials: a version against the one before it. Their verdicts are reached elsewhere and kept here.

use crate::acts::version::{enter_state, named};
use crate::acts::{Act, note};
use crate::backend::{Conn, Flag};
use crate::{StoreError, Time, VersionId, VersionState};

/// Whether a version goes live at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// It does; its trial runs beside the ladder.
    Beside,
    /// It does not: it must first prove better.
    First,
}

/// Begins the trial of a version that passed its check, against the live one. Bosses are ours, and have no trial; and no version has a
/// second one.
pub(crate) async fn begin(
    conn: &mut Conn,
    version: VersionId,
    against: VersionId,
    now: Time,
) -> Result<Begun, StoreError> {
    let (state, Flag(only_if_better), Flag(boss)): (String, Flag, Flag) = sqlx::query_as(
        "SELECT v.state, v.only_if_better = TRUE, e.boss = TRUE FROM versions v JOIN entrants e ON e.id = v.entrant_id WHERE v.id = $1",
    )
    .bind(version.0)
    .fetch_one(&mut *conn)
    .await?;
    if boss {
        return Ok(Begun::Beside);
    }
    sqlx::query(
        "INSERT INTO trials (version_id, against_id, began_ms) VALUES ($1, $2, $3) ON CONFLICT (version_id) DO NOTHING",
    )
    .bind(version.0)
    .bind(against.0)
    .bind(now.0)
    .execute(conn)
    .await?;
    let waits = VersionState::of(&state)?.is_waiting();
    Ok(if only_if_better && waits { Begun::First } else { Begun::Beside })
}

/// Keeps the verdict of a trial, interim or final.
#[derive(Clone, Debug)]
pub struct KeepVerdict {
    /// The new version.
    pub version: VersionId,
    /// The verdict, as JSON.
    pub verdict: String,
    /// When it ended, if it has.
    pub ended: Option<Time>,
}

impl Act for KeepVerdict {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE trials SET checksum = NULL, verdict = $2, ended_ms = $3 WHERE version_id = $1 AND ended_ms IS NULL",
        )
        .bind(self.version.0)
        .bind(&self.verdict)
        .bind(self.ended.map(|ended| ended.0))
        .execute(conn)
        .await?;
        Ok(())
    }
}

/// Declines a version that had to be better and is not, or not provably: the one before it stays.
#[derive(Clone, Debug)]
pub struct Decline {
    pub version: VersionId,
    /// Why, in words for its author.
    pub reason: String,
    pub now: Time,
}

impl Act for Decline {
    /// Whether it was in its trial.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some((contest, _, _, name)) =
            named(conn, self.version, |state| state == VersionState::Trial).await?
        else {
            return Ok(false);
        };
        sqlx::query("UPDATE versions SET checksum = NULL, reason = $2 WHERE id = $1")
            .bind(self.version.0)
            .bind(&self.reason)
            .execute(&mut *conn)
            .await?;
        enter_state(conn, self.version, VersionState::Former, self.now).await?;
        note(conn, contest, self.now, ["ladder", "decline", &name, ""]).await?;
        Ok(true)
    }
}
