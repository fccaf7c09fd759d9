//! Contests: founding, pausing, writing to the audit log, and storing tables.

use crate::acts::{Act, ActTurn, note};
use crate::backend::Conn;
use crate::{AccountId, ContestId, Sha, StoreError, Time};

/// Founds a contest; an existing one of that name stays as it is.
#[derive(Clone, Debug)]
pub struct FoundContest {
    pub name: String,
    pub game: String,
    /// What decides results, as JSON.
    pub terms: String,
    /// The secret from which seeds are derived ([`crate::seeds::secret`]).
    pub secret: String,
    pub now: Time,
}

impl Act for FoundContest {
    type Reply = ContestId;

    async fn run(&self, conn: &mut Conn) -> Result<ContestId, StoreError> {
        let known: Option<i64> = sqlx::query_scalar("SELECT id FROM contests WHERE name = $1")
            .bind(&self.name)
            .fetch_optional(&mut *conn)
            .await?;
        if let Some(id) = known {
            return Ok(ContestId(id));
        }
        let secret_sha = Sha::of(&self.secret).to_string();
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO contests (name, game, terms, secret, secret_sha, paused, blocks, made_ms) \
             VALUES ($1, $2, $3, $4, $5, FALSE, 0, $6) RETURNING id",
        )
        .bind(&self.name)
        .bind(&self.game)
        .bind(&self.terms)
        .bind(&self.secret)
        .bind(&secret_sha)
        .bind(self.now.0)
        .fetch_one(&mut *conn)
        .await?;
        let detail = format!("seeds come from a secret with the SHA-256 {secret_sha}");
        note(conn, ContestId(id), self.now, ["organiser", "found", &self.name, &detail]).await?;
        Ok(ContestId(id))
    }
}

/// Pauses a contest, or resumes it: while it is paused nothing is leased, and nothing is lost.
#[derive(Clone, Debug)]
pub struct Pause {
    pub contest: ContestId,
    pub paused: bool,
    /// Who asks for it.
    pub actor: String,
    pub now: Time,
}

impl Act for Pause {
    /// Whether that changed anything.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let changed = sqlx::query(
            "UPDATE contests SET checksum = NULL, paused = $2, draining = FALSE WHERE id = $1 AND (paused <> $2 OR draining)",
        )
        .bind(self.contest.0)
        .bind(self.paused)
        .execute(&mut *conn)
        .await?
        .rows_affected();
        if changed > 0 {
            let verb = if self.paused { "pause" } else { "resume" };
            note(conn, self.contest, self.now, [&self.actor, verb, "contest", ""]).await?;
        }
        Ok(changed > 0)
    }
}

/// Lets a contest come to rest: planned matches are played, no more are planned, and then it is paused ([`Drained`]), with no block half
/// played. A [`Pause`], even one that resumes it, cancels this.
#[derive(Clone, Debug)]
pub struct Drain {
    pub contest: ContestId,
    /// Who asks for it.
    pub actor: String,
    pub now: Time,
}

impl Act for Drain {
    /// Whether that changed anything: a paused contest must be resumed first.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let changed =
            sqlx::query("UPDATE contests SET checksum = NULL, draining = TRUE WHERE id = $1 AND NOT paused AND NOT draining")
                .bind(self.contest.0)
                .execute(&mut *conn)
                .await?
                .rows_affected();
        if changed > 0 {
            note(conn, self.contest, self.now, [&self.actor, "drain", "contest", ""]).await?;
        }
        Ok(changed > 0)
    }
}

/// Pauses a draining contest once none of its matches is waiting, being played, or to be checked.
#[derive(Clone, Debug)]
pub struct Drained {
    pub contest: ContestId,
    pub now: Time,
}

impl Act for Drained {
    /// Whether this paused it.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        // Challenges waiting for their turn were not released, and go on waiting; nobody waits for matches that are only played again.
        let changed = sqlx::query(
            "UPDATE contests SET checksum = NULL, paused = TRUE, draining = FALSE WHERE id = $1 AND draining AND NOT EXISTS \
             (SELECT 1 FROM jobs WHERE contest_id = $1 AND not_before_ms < $2 AND but_id IS NULL) AND NOT EXISTS \
             (SELECT 1 FROM matches WHERE state = 'posted')",
        )
        .bind(self.contest.0)
        .bind(crate::acts::asked::HELD.0)
        .execute(&mut *conn)
        .await?
        .rows_affected();
        if changed > 0 {
            let detail = "all scheduled matches were played";
            note(conn, self.contest, self.now, ["server", "pause", "contest", detail]).await?;
        }
        Ok(changed > 0)
    }
}

/// Writes into the audit log.
#[derive(Clone, Debug)]
pub struct Tell {
    pub contest: ContestId,
    pub actor: String,
    pub verb: String,
    pub object: String,
    /// The details, in words.
    pub detail: String,
    pub now: Time,
}

impl Tell {
    /// Of what somebody did to their own account. By number: it says nothing about a person who is deleted later.
    pub fn own(contest: ContestId, account: AccountId, [verb, detail]: [&str; 2], now: Time) -> Self {
        let who = format!("account {account}");
        let (verb, detail) = (verb.to_owned(), detail.to_owned());
        Self { contest, actor: who.clone(), verb, object: who, detail, now }
    }
}

impl Act for Tell {
    type Reply = ();

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        note(conn, self.contest, self.now, [&self.actor, &self.verb, &self.object, &self.detail]).await
    }
}

/// Stores a table. It is derived: if it is missing, it is computed again.
#[derive(Clone, Debug)]
pub struct KeepBoard {
    pub contest: ContestId,
    /// The last row of the log that it covers.
    pub upto: i64,
    /// The version of the program that computed it.
    pub program: String,
    /// The table as JSON.
    pub board: String,
    pub now: Time,
}

/// How many tables are kept; older ones can be computed again.
const TABLES: i64 = 20;

impl Act for KeepBoard {
    type Reply = ();

    const TURN: ActTurn = ActTurn::Last;

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO rating_runs (contest_id, upto_seq, program, made_ms, board, board_sha) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (contest_id, upto_seq, program) \
             DO UPDATE SET checksum = NULL, made_ms = $4, board = $5, board_sha = $6",
        )
        .bind(self.contest.0)
        .bind(self.upto)
        .bind(&self.program)
        .bind(self.now.0)
        .bind(&self.board)
        .bind(Sha::of(&self.board).to_string())
        .execute(&mut *conn)
        .await?;
        sqlx::query(
            "DELETE FROM rating_runs WHERE contest_id = $1 AND upto_seq < (SELECT min(upto_seq) FROM \
             (SELECT upto_seq FROM rating_runs WHERE contest_id = $1 ORDER BY upto_seq DESC LIMIT $2) AS kept)",
        )
        .bind(self.contest.0)
        .bind(TABLES)
        .execute(&mut *conn)
        .await?;
        Ok(())
    }
}
