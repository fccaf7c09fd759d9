//! Clocks in doubt: a server says so, an organiser confirms the time, and the server trusts its clock again.

use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{ClockDoubt, ContestId, StoreError, Time};

/// A server doubts its clock, or finds it further off than before.
#[derive(Clone, Debug)]
pub struct DoubtClock {
    pub contest: ContestId,
    pub doubt: ClockDoubt,
    /// The same in words, for the audit log.
    pub why: String,
}

impl Act for DoubtClock {
    type Reply = ();

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        let doubt = &self.doubt;
        let known = sqlx::query(
            "UPDATE clock_doubts SET checksum = NULL, ahead_ms = $3, apart_ms = $4, confirmed = $5 \
             WHERE contest_id = $1 AND server = $2",
        )
        .bind(self.contest.0)
        .bind(&doubt.server)
        .bind(doubt.ahead_ms)
        .bind(doubt.apart_ms)
        .bind(doubt.confirmed)
        .execute(&mut *conn)
        .await?
        .rows_affected();
        if known > 0 {
            return Ok(());
        }
        sqlx::query(
            "INSERT INTO clock_doubts (contest_id, server, since_ms, ahead_ms, apart_ms, confirmed) \
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(self.contest.0)
        .bind(&doubt.server)
        .bind(doubt.since.0)
        .bind(doubt.ahead_ms)
        .bind(doubt.apart_ms)
        .bind(doubt.confirmed)
        .execute(&mut *conn)
        .await?;
        let object = format!("the clock of {}", doubt.server);
        note(conn, self.contest, doubt.since, ["server", "doubt", &object, &self.why]).await
    }
}

/// An organiser confirms what the clock of a server shows.
#[derive(Clone, Debug)]
pub struct ConfirmClock {
    pub contest: ContestId,
    pub server: String,
    /// How far it was ahead when the organiser looked, in milliseconds. If it has jumped since, nothing is confirmed.
    pub ahead_ms: i64,
    /// How much that may differ.
    pub tolerance_ms: i64,
    /// What is confirmed, in words.
    pub why: String,
    pub actor: String,
    pub now: Time,
}

impl Act for ConfirmClock {
    /// Whether that is what waits to be confirmed.
    type Reply = bool;

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let confirmed = sqlx::query(
            "UPDATE clock_doubts SET checksum = NULL, confirmed = TRUE WHERE contest_id = $1 AND server = $2 \
             AND NOT confirmed AND ahead_ms BETWEEN $3 AND $4",
        )
        .bind(self.contest.0)
        .bind(&self.server)
        .bind(self.ahead_ms.saturating_sub(self.tolerance_ms))
        .bind(self.ahead_ms.saturating_add(self.tolerance_ms))
        .execute(&mut *conn)
        .await?
        .rows_affected();
        if confirmed > 0 {
            let object = format!("the clock of {}", self.server);
            note(conn, self.contest, self.now, [&self.actor, "confirm", &object, &self.why]).await?;
        }
        Ok(confirmed > 0)
    }
}

/// A server trusts its clock again. Leases were given by a time that no longer holds: each ends when it would if it was renewed now.
#[derive(Clone, Debug)]
pub struct TrustClock {
    pub contest: ContestId,
    pub server: String,
    pub now: Time,
    /// The new end of leases.
    pub until: Time,
}

impl Act for TrustClock {
    type Reply = ();

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        let gone = sqlx::query("DELETE FROM clock_doubts WHERE contest_id = $1 AND server = $2")
            .bind(self.contest.0)
            .bind(&self.server)
            .execute(&mut *conn)
            .await?
            .rows_affected();
        if gone == 0 {
            return Ok(());
        }
        sqlx::query(
            "UPDATE leases SET checksum = NULL, until_ms = $2 WHERE id IN \
             (SELECT lease_id FROM jobs WHERE contest_id = $1 AND lease_id IS NOT NULL)",
        )
        .bind(self.contest.0)
        .bind(self.until.0)
        .execute(&mut *conn)
        .await?;
        let object = format!("the clock of {}", self.server);
        note(conn, self.contest, self.now, ["server", "trust", &object, ""]).await
    }
}
