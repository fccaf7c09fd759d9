//! Recovery codes: an owner who has forgotten the password sets another with one. They arrive as hashes, and each works once.

use crate::acts::people::{TokensToEnd, end_codes, end_logins};
use crate::acts::{Act, note_own};
use crate::backend::Conn;
use crate::{AccountId, ContestId, Sha, StoreError, Time};

/// Gives an account new recovery codes. Its old ones end.
#[derive(Clone, Debug)]
pub struct RenewCodes {
    pub account: AccountId,
    /// The hashes of the codes.
    pub codes: Vec<Sha>,
}

impl Act for RenewCodes {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        end_codes(conn, self.account).await?;
        for code in &self.codes {
            // Whoever was deleted meanwhile has no secrets.
            let add = "INSERT INTO recovery_codes (sha, account_id) \
                       SELECT $1, id FROM accounts WHERE id = $2 AND withdrawn_ms IS NULL";
            sqlx::query(add).bind(code.to_string()).bind(self.account.0).execute(&mut *conn).await?;
        }
        Ok(())
    }
}

/// Uses up a recovery code and sets a password. All sessions and tokens of the account end.
#[derive(Clone, Debug)]
pub struct Recover {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub account: AccountId,
    /// The hash of the code.
    pub code: Sha,
    /// The hash of the new password.
    pub password: String,
    pub now: Time,
}

impl Act for Recover {
    /// The number of tokens that have ended; none when it is no code of this account, or was used before.
    type Reply = Option<i64>;

    async fn run(&self, conn: &mut Conn) -> Result<Option<i64>, StoreError> {
        if !take_code(conn, self.account, &self.code).await? {
            return Ok(None);
        }
        sqlx::query(
            "UPDATE accounts SET checksum = NULL, password = $2 WHERE id = $1 AND withdrawn_ms IS NULL",
        )
        .bind(self.account.0)
        .bind(&self.password)
        .execute(&mut *conn)
        .await?;
        let words = ["recover", "a new password was set with a recovery code"];
        note_own(conn, self.contest, self.account, self.now, words).await?;
        Ok(Some(end_logins(conn, self.account, &TokensToEnd::All, self.now).await?.ended))
    }
}

/// Uses up a recovery code of an account; whether it was one.
pub(crate) async fn take_code(conn: &mut Conn, account: AccountId, code: &Sha) -> Result<bool, StoreError> {
    let taken = sqlx::query("DELETE FROM recovery_codes WHERE account_id = $1 AND sha = $2");
    let taken = taken.bind(account.0).bind(code.to_string()).execute(&mut *conn).await?;
    Ok(taken.rows_affected() > 0)
}
