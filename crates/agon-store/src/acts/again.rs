//! Comparing workers: a share of matches is played again by another worker, and a worker that stands out is paused. What stands out is
//! decided elsewhere.

use crate::acts::asked::{forget, next_below, unnamed};
use crate::acts::lease::AWAY_MS;
use crate::acts::plan::{Block, lay};
use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{ContestId, Kind, MatchId, Sha, StoreError, Time, VersionId, WorkerId};

/// No matches are drawn while this many wait to be played again: workers that may not have them must scan past them.
pub const MOST_WAITING: i64 = 100;

/// Plans matches of the ladder to be played again by another worker, while at least two have called lately.
#[derive(Clone, Debug)]
pub struct PlayAgain {
    pub contest: ContestId,
    pub games: Vec<MatchId>,
    pub now: Time,
}

impl Act for PlayAgain {
    /// How many were planned.
    type Reply = usize;

    async fn run(&self, conn: &mut Conn) -> Result<usize, StoreError> {
        let heard =
            "SELECT count(*) FROM workers WHERE revoked_ms IS NULL AND paused_ms IS NULL AND seen_ms > $1";
        let heard: i64 = sqlx::query_scalar(heard).bind(self.now.0 - AWAY_MS).fetch_one(&mut *conn).await?;
        if heard < 2 {
            return Ok(0);
        }
        let waiting = sqlx::query_scalar("SELECT count(*) FROM jobs WHERE but_id IS NOT NULL");
        let waiting: i64 = waiting.fetch_one(&mut *conn).await?;
        let room = usize::try_from(MOST_WAITING - waiting).unwrap_or(0);
        let mut planned = 0;
        for game in self.games.iter().take(room) {
            planned += usize::from(plan(conn, self.contest, *game, self.now).await?);
        }
        Ok(planned)
    }
}

/// Plans one; not if it is not a ladder match with a result, or was drawn before.
async fn plan(conn: &mut Conn, contest: ContestId, game: MatchId, now: Time) -> Result<bool, StoreError> {
    let found: Option<(i64, i64, i64, i64)> = sqlx::query_as(
        "SELECT b.n, b.map, b.seed, a.worker_id FROM matches m JOIN blocks b ON b.id = m.block_id \
         JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt WHERE m.id = $1 AND b.contest_id = $2 \
         AND b.kind = 'ladder' AND m.state = 'valid' AND NOT EXISTS (SELECT 1 FROM agains WHERE of_id = m.id)",
    )
    .bind(game.0)
    .bind(contest.0)
    .fetch_optional(&mut *conn)
    .await?;
    let Some((twin_of, map, seed, first)) = found else { return Ok(false) };
    let seats: Vec<i64> =
        sqlx::query_scalar("SELECT version_id FROM seats WHERE match_id = $1 ORDER BY seat")
            .bind(game.0)
            .fetch_all(&mut *conn)
            .await?;
    let block = Block {
        contest,
        n: next_below(conn, contest).await?,
        kind: Kind::Again,
        map,
        seed,
        // The same seating again, which is the first rotation of this block.
        lineup: seats.into_iter().map(VersionId).collect(),
        rotations: 1,
        asked_by: None,
        trial: None,
        twin_of: Some(twin_of),
        rules: None,
        not_before: now,
        now,
    };
    let again = lay(conn, &[block]).await?[0][0];
    sqlx::query("UPDATE jobs SET checksum = NULL, but_id = $2 WHERE match_id = $1")
        .bind(again.0)
        .bind(first)
        .execute(&mut *conn)
        .await?;
    sqlx::query("INSERT INTO agains (of_id, match_id, first_id) VALUES ($1, $2, $3)")
        .bind(game.0)
        .bind(again.0)
        .bind(first)
        .execute(conn)
        .await?;
    Ok(true)
}

/// Compares the matches played again since the last time.
#[derive(Clone, Debug)]
pub struct Compare {
    pub now: Time,
}

impl Act for Compare {
    /// How many were compared.
    type Reply = u64;

    async fn run(&self, conn: &mut Conn) -> Result<u64, StoreError> {
        let compared = sqlx::query(
            "UPDATE agains SET checksum = NULL, at_ms = $1, \
             second_id = (SELECT a.worker_id FROM matches m JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt \
             WHERE m.id = agains.match_id), \
             differs = CASE WHEN EXISTS (SELECT 1 FROM seats s JOIN seats o ON o.match_id = agains.of_id AND o.seat = s.seat \
             WHERE s.match_id = agains.match_id AND s.rank <> o.rank) THEN 1 ELSE 0 END \
             WHERE at_ms IS NULL AND EXISTS (SELECT 1 FROM matches m WHERE m.id = agains.match_id AND m.state = 'valid')",
        )
        .bind(self.now.0)
        .execute(conn)
        .await?;
        Ok(compared.rows_affected())
    }
}

/// Forgets what was drawn before `before`: it was compared, or no other worker has taken it. Only a false result stays, as evidence about
/// its worker.
#[derive(Clone, Debug)]
pub struct ForgetAgains {
    pub contest: ContestId,
    /// The limit of age.
    pub before: Time,
}

impl Act for ForgetAgains {
    /// Objects that nothing names any more.
    type Reply = Vec<Sha>;

    async fn run(&self, conn: &mut Conn) -> Result<Vec<Sha>, StoreError> {
        let old: Vec<(i64, i64, Option<String>)> = sqlx::query_as(
            "SELECT b.id, m.id, m.replay_sha FROM blocks b JOIN matches m ON m.block_id = b.id WHERE b.contest_id = $1 \
             AND b.n < 0 AND b.kind = 'again' AND b.made_ms < $2 AND (m.state IN ('planned', 'dead') OR m.state = 'valid' \
             AND NOT EXISTS (SELECT 1 FROM agains g WHERE g.match_id = m.id AND g.at_ms IS NULL)) \
             AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.match_id = m.id AND a.how = 'mismatch') LIMIT 200",
        )
        .bind(self.contest.0)
        .bind(self.before.0)
        .fetch_all(&mut *conn)
        .await?;
        let gone = forget(conn, old).await?;
        sqlx::query(
            "DELETE FROM agains WHERE at_ms IS NULL AND NOT EXISTS \
             (SELECT 1 FROM matches m WHERE m.id = agains.match_id AND m.state <> 'dead')",
        )
        .execute(&mut *conn)
        .await?;
        unnamed(conn, gone).await
    }
}

/// Pauses a worker that stands out: it gets no more matches. It may still post those it holds, and its results stay. Never the server's own
/// worker.
#[derive(Clone, Debug)]
pub struct PauseWorker {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub worker: WorkerId,
    /// Why, as a sentence.
    pub why: String,
    pub now: Time,
}

impl Act for PauseWorker {
    /// Whether this paused it.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let name: Option<String> = sqlx::query_scalar(
            "UPDATE workers SET checksum = NULL, paused_ms = $2, paused_why = $3 WHERE id = $1 AND paused_ms IS NULL AND revoked_ms IS NULL \
             AND token_sha IS NOT NULL RETURNING name",
        )
        .bind(self.worker.0)
        .bind(self.now.0)
        .bind(&self.why)
        .fetch_optional(&mut *conn)
        .await?;
        let Some(name) = name else { return Ok(false) };
        note(conn, self.contest, self.now, ["server", "pause", &format!("worker {name}"), &self.why]).await?;
        Ok(true)
    }
}

/// Resumes a paused worker, and no longer holds what it did before against it.
#[derive(Clone, Debug)]
pub struct LetPlayOn {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub worker: WorkerId,
    /// Who resumes it.
    pub actor: String,
    pub now: Time,
}

impl Act for LetPlayOn {
    /// Whether it was paused.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let name: Option<String> = sqlx::query_scalar(
            "UPDATE workers SET checksum = NULL, paused_ms = NULL, paused_why = NULL, counted_ms = $2 \
             WHERE id = $1 AND paused_ms IS NOT NULL RETURNING name",
        )
        .bind(self.worker.0)
        .bind(self.now.0)
        .fetch_optional(&mut *conn)
        .await?;
        let Some(name) = name else { return Ok(false) };
        note(conn, self.contest, self.now, [&self.actor, "let play on", &format!("worker {name}"), ""])
            .await?;
        Ok(true)
    }
}
