//! Check matches of versions that stand for their teams already: the contest's image was changed, and each has to pass one in the new one.
//! Until it has failed there a version plays on.

use crate::acts::expire::cut;
use crate::acts::held::again;
use crate::acts::version::{enter_state, keep_cause, leave, named};
use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{Cause, ContestId, StoreError, Time, VersionId, VersionState};

/// Has every version that plays checked again, and what is being played in the former image played again.
pub(crate) async fn begin(conn: &mut Conn, contest: ContestId, now: Time) -> Result<(), StoreError> {
    cut(conn, contest, now).await?;
    let playing: Vec<i64> = sqlx::query_scalar(
        "SELECT v.id FROM versions v JOIN entrants e ON e.id = v.entrant_id WHERE e.contest_id = $1 \
         AND v.state IN ('live', 'trial') AND v.builtin IS NULL ORDER BY v.id",
    )
    .bind(contest.0)
    .fetch_all(&mut *conn)
    .await?;
    for version in playing {
        again(conn, VersionId(version)).await?;
    }
    Ok(())
}

/// A version has passed its check match in the new image, or nobody could play it, which is not its author's fault.
#[derive(Clone, Debug)]
pub struct PassRecheck {
    pub version: VersionId,
    /// Why nobody could; none if it passed.
    pub given_up: Option<String>,
    pub now: Time,
}

impl Act for PassRecheck {
    /// Whether it was to be checked.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        if !is_over(conn, self.version).await? {
            return Ok(false);
        }
        if let Some((contest, _, _, name)) = named(conn, self.version, |_| true).await? {
            match &self.given_up {
                None => note(conn, contest, self.now, ["ladder", "pass", &name, ""]).await?,
                Some(why) => note(conn, contest, self.now, ["server", "give up check", &name, why]).await?,
            }
        }
        Ok(true)
    }
}

/// A version that was to be checked no longer stands for its team. It is checked when it comes back.
#[derive(Clone, Debug)]
pub struct DropRecheck {
    pub version: VersionId,
}

impl Act for DropRecheck {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        is_over(conn, self.version).await.map(drop)
    }
}

/// A version has failed its check match in the new image: it no longer stands for its team.
#[derive(Clone, Debug)]
pub struct FailRecheck {
    pub version: VersionId,
    pub cause: Cause,
    pub now: Time,
}

impl Act for FailRecheck {
    /// Whether it stood for its team, or was in its trial, and does no longer.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        if !is_over(conn, self.version).await? {
            return Ok(false);
        }
        let plays = |state| matches!(state, VersionState::Live | VersionState::Trial);
        let Some((contest, _, _, name)) = named(conn, self.version, plays).await? else { return Ok(false) };
        keep_cause(conn, self.version, &self.cause).await?;
        leave(conn, self.version.0, self.now).await?;
        enter_state(conn, self.version, VersionState::Failed, self.now).await?;
        let detail = "in the contest's new image; no other version plays for the team until it goes back to one, or submits another";
        note(conn, contest, self.now, ["ladder", "fail", &name, detail]).await?;
        Ok(true)
    }
}

/// Ends the check of a version, if it has one.
async fn is_over(conn: &mut Conn, version: VersionId) -> Result<bool, StoreError> {
    let gone =
        sqlx::query("DELETE FROM rechecks WHERE version_id = $1").bind(version.0).execute(conn).await?;
    Ok(gone.rows_affected() > 0)
}
