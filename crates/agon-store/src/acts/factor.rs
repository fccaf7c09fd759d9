//! The second factor of an organiser's account: codes of an app, each accepted once, or a recovery code in the place of one.

use crate::acts::recovery::take_code;
use crate::acts::{Act, note_own};
use crate::backend::Conn;
use crate::{AccountId, ContestId, Sha, StoreError, Time};

/// Gives an account a secret, which counts from the first right code on. One that counts already stays.
#[derive(Clone)]
pub struct OfferFactor {
    pub account: AccountId,
    /// In base64.
    pub secret: String,
}

impl Act for OfferFactor {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO factors (account_id, secret, step) \
             SELECT id, $2, 0 FROM accounts WHERE id = $1 AND withdrawn_ms IS NULL \
             ON CONFLICT (account_id) DO UPDATE SET checksum = NULL, secret = excluded.secret, step = 0 \
             WHERE factors.on_ms IS NULL",
        )
        .bind(self.account.0)
        .bind(&self.secret)
        .execute(conn)
        .await?;
        Ok(())
    }
}

/// Accepts a right code, once. The first one turns the factor on: all other sessions, which began without it, end.
#[derive(Clone, Copy, Debug)]
pub struct UseFactor {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub account: AccountId,
    /// The 30 seconds that the code is of.
    pub step: i64,
    pub now: Time,
}

impl Act for UseFactor {
    /// Whether it was not used before, nor a later one.
    type Reply = bool;

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let is_on: Option<Option<i64>> =
            sqlx::query_scalar("SELECT on_ms FROM factors WHERE account_id = $1 AND step < $2")
                .bind(self.account.0)
                .bind(self.step)
                .fetch_optional(&mut *conn)
                .await?;
        let Some(is_on) = is_on else { return Ok(false) };
        sqlx::query("UPDATE factors SET checksum = NULL, step = $2, on_ms = coalesce(on_ms, $3) WHERE account_id = $1")
            .bind(self.account.0)
            .bind(self.step)
            .bind(self.now.0)
            .execute(&mut *conn)
            .await?;
        if is_on.is_none() {
            note_own(conn, self.contest, self.account, self.now, ["factor on", ""]).await?;
        }
        Ok(true)
    }
}

/// Uses up a recovery code in the place of a code of the app.
#[derive(Clone, Copy, Debug)]
pub struct UseCode {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub account: AccountId,
    /// The hash of the code.
    pub code: Sha,
    pub now: Time,
}

impl Act for UseCode {
    /// Whether it was one.
    type Reply = bool;

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        if !take_code(conn, self.account, &self.code).await? {
            return Ok(false);
        }
        note_own(conn, self.contest, self.account, self.now, ["use code", ""]).await?;
        Ok(true)
    }
}

/// Turns the second factor of an account off.
#[derive(Clone, Copy, Debug)]
pub struct DropFactor {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub account: AccountId,
    pub now: Time,
}

impl Act for DropFactor {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        let gone = sqlx::query("DELETE FROM factors WHERE account_id = $1").bind(self.account.0);
        if gone.execute(&mut *conn).await?.rows_affected() > 0 {
            note_own(conn, self.contest, self.account, self.now, ["factor off", ""]).await?;
        }
        Ok(())
    }
}
