//! How a lease continues and ends: heartbeats, matches given back, and leases that nobody renews.

use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{Attempt, ContestId, LeaseId, MatchId, PAUSE_MS, StoreError, TRIES, Time, WorkerId};

/// A heartbeat: renews a lease.
#[derive(Clone, Debug)]
pub struct RenewLease {
    pub worker: WorkerId,
    pub lease: LeaseId,
    pub now: Time,
    /// Its new end.
    pub until: Time,
}

impl Act for RenewLease {
    /// Whether the worker still holds it. Otherwise its matches have been given away.
    type Reply = bool;

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let renewed = sqlx::query(
            "UPDATE leases SET checksum = NULL, until_ms = $3 WHERE id = $1 AND worker_id = $2 \
             AND EXISTS (SELECT 1 FROM jobs WHERE lease_id = $1)",
        )
        .bind(self.lease.0)
        .bind(self.worker.0)
        .bind(self.until.0)
        .execute(&mut *conn)
        .await?
        .rows_affected();
        sqlx::query("UPDATE workers SET checksum = NULL, seen_ms = $2 WHERE id = $1")
            .bind(self.worker.0)
            .bind(self.now.0)
            .execute(conn)
            .await?;
        Ok(renewed > 0)
    }
}

/// Gives back what a worker has not finished; no match is charged a try.
#[derive(Clone, Debug)]
pub struct Abort {
    pub worker: WorkerId,
    pub lease: LeaseId,
    pub now: Time,
}

impl Act for Abort {
    /// How many matches wait again.
    type Reply = u64;

    async fn run(&self, conn: &mut Conn) -> Result<u64, StoreError> {
        let own: Option<i64> = sqlx::query_scalar("SELECT id FROM leases WHERE id = $1 AND worker_id = $2")
            .bind(self.lease.0)
            .bind(self.worker.0)
            .fetch_optional(&mut *conn)
            .await?;
        match own {
            Some(_) => release(conn, self.lease, self.now, Release::Aborted).await.map(|freed| freed.waiting),
            None => Ok(0),
        }
    }
}

/// Ends leases that nobody renewed. Only matches that had begun are charged a try.
#[derive(Clone, Debug)]
pub struct Expire {
    pub now: Time,
}

/// What happened to the matches of ended leases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Matches that wait again.
    pub waiting: u64,
    /// Matches that were tried too often.
    pub dead: u64,
}

impl std::ops::AddAssign for Freed {
    fn add_assign(&mut self, other: Self) {
        self.waiting += other.waiting;
        self.dead += other.dead;
    }
}

/// How long an ended lease is remembered, in milliseconds: until then its request can be repeated.
const REMEMBERED_MS: i64 = 600_000;

impl Act for Expire {
    type Reply = Freed;

    async fn run(&self, conn: &mut Conn) -> Result<Freed, StoreError> {
        let late: Vec<i64> = sqlx::query_scalar(
            "SELECT DISTINCT l.id FROM jobs j JOIN leases l ON l.id = j.lease_id \
             WHERE j.lease_id IS NOT NULL AND l.until_ms <= $1 ORDER BY l.id",
        )
        .bind(self.now.0)
        .fetch_all(&mut *conn)
        .await?;
        let freed = release_all(conn, late, self.now).await?;
        sqlx::query(
            "DELETE FROM leases WHERE until_ms <= $1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE lease_id = leases.id)",
        )
        .bind(self.now.0 - REMEMBERED_MS)
        .execute(conn)
        .await?;
        Ok(freed)
    }
}

/// Ends the leases of a worker that is known to be gone, for example because its process was replaced.
#[derive(Clone, Debug)]
pub struct Reclaim {
    pub worker: WorkerId,
    pub now: Time,
}

impl Act for Reclaim {
    type Reply = Freed;

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<Freed, StoreError> {
        let its: Vec<i64> = sqlx::query_scalar(
            "SELECT id FROM leases WHERE worker_id = $1 AND EXISTS (SELECT 1 FROM jobs WHERE lease_id = leases.id) \
             ORDER BY id",
        )
        .bind(self.worker.0)
        .fetch_all(&mut *conn)
        .await?;
        release_all(conn, its, self.now).await
    }
}

/// Ends all leases of a contest: its matches in play are played again, and none is charged a try.
pub(crate) async fn cut(conn: &mut Conn, contest: ContestId, now: Time) -> Result<(), StoreError> {
    let open: Vec<i64> = sqlx::query_scalar(
        "SELECT DISTINCT lease_id FROM jobs WHERE contest_id = $1 AND lease_id IS NOT NULL ORDER BY lease_id",
    )
    .bind(contest.0)
    .fetch_all(&mut *conn)
    .await?;
    for lease in open {
        release(conn, LeaseId(lease), now, Release::Aborted).await?;
    }
    Ok(())
}

async fn release_all(conn: &mut Conn, leases: Vec<i64>, now: Time) -> Result<Freed, StoreError> {
    let mut all = Freed::default();
    for lease in leases {
        let freed = release(conn, LeaseId(lease), now, Release::Late).await?;
        all.waiting += freed.waiting;
        all.dead += freed.dead;
    }
    Ok(all)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Release {
    Aborted,
    Late,
}

/// Frees the matches that a lease still holds.
async fn release(conn: &mut Conn, lease: LeaseId, now: Time, how: Release) -> Result<Freed, StoreError> {
    let held: Vec<(i64, i64, i64, i64, Option<i64>)> = sqlx::query_as(
        "SELECT j.match_id, m.attempt, j.contest_id, j.tries, a.started_ms FROM jobs j JOIN matches m ON m.id = j.match_id \
         JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt WHERE j.lease_id = $1 ORDER BY j.id",
    )
    .bind(lease.0)
    .fetch_all(&mut *conn)
    .await?;
    let mut freed = Freed::default();
    for (id, n, contest, tries, started) in held {
        let lost = how == Release::Late && started.is_some();
        let word = match how {
            Release::Aborted => "aborted",
            Release::Late if lost => "lost",
            Release::Late => "expired",
        };
        let why = lost.then_some("its worker was no longer heard from");
        end(conn, Attempt { game: MatchId(id), n }, word, why, now).await?;
        let tries = tries + i64::from(lost);
        match wait_again(conn, ContestId(contest), MatchId(id), tries, if lost { Some(now) } else { None })
            .await?
        {
            true => freed.waiting += 1,
            false => freed.dead += 1,
        }
    }
    Ok(freed)
}

/// Ends a try.
pub(crate) async fn end(
    conn: &mut Conn,
    attempt: Attempt,
    how: &str,
    why: Option<&str>,
    now: Time,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE attempts SET checksum = NULL, ended_ms = $3, how = $4, why = $5 WHERE match_id = $1 AND n = $2")
        .bind(attempt.game.0)
        .bind(attempt.n)
        .bind(now.0)
        .bind(how)
        .bind(why)
        .execute(conn)
        .await?;
    Ok(())
}

/// Lets a match with a job wait again, or gives it up after too many tries. Returns whether it waits. With a time, it waits for a while
/// from then. A match that is only played again is given up at the first failure, without an entry in the audit log.
pub(crate) async fn wait_again(
    conn: &mut Conn,
    contest: ContestId,
    id: MatchId,
    tries: i64,
    failed: Option<Time>,
) -> Result<bool, StoreError> {
    if tries > 0 && is_again(conn, id).await? {
        give_up(conn, id).await?;
        return Ok(false);
    }
    if tries >= TRIES {
        give_up(conn, id).await?;
        let (at, detail) = (failed.unwrap_or_default(), format!("tried {tries} times"));
        note(conn, contest, at, ["server", "bury", &format!("match {id}"), &detail]).await?;
        return Ok(false);
    }
    forget(conn, id, "planned").await?;
    let not_before = failed.map_or(0, |at| at.0 + PAUSE_MS * tries);
    sqlx::query("UPDATE jobs SET checksum = NULL, lease_id = NULL, tries = $2, not_before_ms = $3 WHERE match_id = $1")
        .bind(id.0)
        .bind(tries)
        .bind(not_before)
        .execute(conn)
        .await?;
    Ok(true)
}

/// Whether a match with a job is only being played again.
async fn is_again(conn: &mut Conn, id: MatchId) -> Result<bool, StoreError> {
    let but = sqlx::query_scalar("SELECT but_id FROM jobs WHERE match_id = $1 AND but_id IS NOT NULL");
    let but: Option<i64> = but.bind(id.0).fetch_optional(conn).await?;
    Ok(but.is_some())
}

/// Gives up a match: nobody plays it any more.
pub(crate) async fn give_up(conn: &mut Conn, id: MatchId) -> Result<(), StoreError> {
    forget(conn, id, "dead").await?;
    sqlx::query("DELETE FROM jobs WHERE match_id = $1").bind(id.0).execute(conn).await?;
    Ok(())
}

/// Deletes what a try left, including what it told its authors; the match gets `state`.
async fn forget(conn: &mut Conn, id: MatchId, state: &str) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE seats SET checksum = NULL, own_sha = NULL WHERE match_id = $1 AND own_sha IS NOT NULL",
    )
    .bind(id.0)
    .execute(&mut *conn)
    .await?;
    sqlx::query(
        "UPDATE matches SET checksum = NULL, state = $2, result = NULL, replay_sha = NULL WHERE id = $1",
    )
    .bind(id.0)
    .bind(state)
    .execute(conn)
    .await?;
    Ok(())
}
