//! Workers on other machines: each has a token, which an organiser makes and revokes.

use sqlx::AssertSqlSafe;

use crate::acts::expire::Reclaim;
use crate::acts::{Act, note};
use crate::backend::{Conn, many};
use crate::names::likeness;
use crate::{ContestId, Sha, StoreError, Time, WorkerId};

/// How many workers may have a token at once.
pub const MOST_WORKERS: i64 = 1_000;

/// Makes a worker with a token; one whose token was revoked comes back under its name with a new one.
#[derive(Clone, Debug)]
pub struct Enlist {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    /// Its name, which must be unique.
    pub name: String,
    /// The hash of its token.
    pub sha: Sha,
    /// Who makes it.
    pub actor: String,
    pub now: Time,
}

/// The outcome of [`Enlist`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enlisted {
    New(WorkerId),
    /// A worker whose name looks like this one exists, and is not revoked.
    Taken(String),
    /// There are [`MOST_WORKERS`] already.
    TooMany,
}

impl Act for Enlist {
    type Reply = Enlisted;

    async fn run(&self, conn: &mut Conn) -> Result<Enlisted, StoreError> {
        let known: Vec<(i64, String, Option<i64>)> =
            sqlx::query_as("SELECT id, name, revoked_ms FROM workers ORDER BY id")
                .fetch_all(&mut *conn)
                .await?;
        if known.iter().filter(|(.., revoked)| revoked.is_none()).count() as i64 >= MOST_WORKERS {
            return Ok(Enlisted::TooMany);
        }
        let own = likeness(&self.name);
        let same = known.into_iter().find(|(_, name, _)| likeness(name) == own);
        let id = match same {
            Some((id, _, Some(_))) => {
                sqlx::query(
                    "UPDATE workers SET checksum = NULL, token_sha = $2, made_ms = $3, revoked_ms = NULL, run = NULL, about = NULL, \
                     paused_ms = NULL, paused_why = NULL, counted_ms = $3 WHERE id = $1",
                )
                .bind(id)
                .bind(self.sha.to_string())
                .bind(self.now.0)
                .execute(&mut *conn)
                .await?;
                id
            }
            Some((_, name, None)) => return Ok(Enlisted::Taken(name)),
            None => {
                // Until it introduces itself nobody knows how it confines bots, and it has never called.
                sqlx::query_scalar(
                    "INSERT INTO workers (name, level, seen_ms, token_sha, made_ms) VALUES ($1, '', 0, $2, $3) RETURNING id",
                )
                .bind(&self.name)
                .bind(self.sha.to_string())
                .bind(self.now.0)
                .fetch_one(&mut *conn)
                .await?
            }
        };
        note(conn, self.contest, self.now, [&self.actor, "enlist", &format!("worker {}", self.name), ""])
            .await?;
        Ok(Enlisted::New(WorkerId(id)))
    }
}

/// Admits a process that introduces itself with a worker's token and whose machine is fit. Whatever another process under the token holds
/// is freed, and that process is no longer admitted.
#[derive(Clone, Debug)]
pub struct Admit {
    pub worker: WorkerId,
    /// Identifies the process.
    pub run: String,
    /// How strictly it confines bots.
    pub level: String,
    /// What it says of its machine, as JSON.
    pub about: String,
    pub now: Time,
}

impl Act for Admit {
    /// Whether the token is still valid.
    type Reply = bool;

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let run: Option<Option<String>> = sqlx::query_scalar(
            "SELECT run FROM workers WHERE id = $1 AND revoked_ms IS NULL AND token_sha IS NOT NULL",
        )
        .bind(self.worker.0)
        .fetch_optional(&mut *conn)
        .await?;
        let Some(run) = run else { return Ok(false) };
        if run.as_ref() != Some(&self.run) {
            Reclaim { worker: self.worker, now: self.now }.run(&mut *conn).await?;
        }
        sqlx::query("UPDATE workers SET checksum = NULL, run = $2, level = $3, about = $4, seen_ms = $5 WHERE id = $1")
            .bind(self.worker.0)
            .bind(&self.run)
            .bind(&self.level)
            .bind(&self.about)
            .bind(self.now.0)
            .execute(conn)
            .await?;
        Ok(true)
    }
}

/// Records that a worker called.
#[derive(Clone, Debug)]
pub struct RecordCall {
    pub worker: WorkerId,
    pub now: Time,
}

impl Act for RecordCall {
    type Reply = ();

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        Self::run_all(&[self], conn).await.map(drop)
    }

    async fn run_all(acts: &[&Self], conn: &mut Conn) -> Result<Vec<()>, StoreError> {
        for acts in many::padded(acts) {
            let update = format!(
                "UPDATE workers SET checksum = NULL, seen_ms = heard.column2 FROM (VALUES {}) AS heard WHERE id = heard.column1",
                many::rows(acts.len(), "(@, @)", 1)
            );
            let mut update = sqlx::query(AssertSqlSafe(update));
            for act in acts {
                update = update.bind(act.worker.0).bind(act.now.0);
            }
            update.execute(&mut *conn).await?;
        }
        Ok(vec![(); acts.len()])
    }
}

/// Revokes a worker's token. The matches it holds are played by others; its posted results stay.
#[derive(Clone, Debug)]
pub struct Revoke {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub worker: WorkerId,
    /// Who does it.
    pub actor: String,
    pub now: Time,
}

impl Act for Revoke {
    /// Whether there is such a worker and its token was valid.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let name: Option<String> = sqlx::query_scalar(
            "UPDATE workers SET checksum = NULL, revoked_ms = $2, run = NULL WHERE id = $1 AND revoked_ms IS NULL AND token_sha IS NOT NULL \
             RETURNING name",
        )
        .bind(self.worker.0)
        .bind(self.now.0)
        .fetch_optional(&mut *conn)
        .await?;
        let Some(name) = name else { return Ok(false) };
        let freed = Reclaim { worker: self.worker, now: self.now }.run(&mut *conn).await?;
        let detail = format!("{} of its matches went back to the queue", freed.waiting);
        note(conn, self.contest, self.now, [&self.actor, "revoke", &format!("worker {name}"), &detail])
            .await?;
        Ok(true)
    }
}
