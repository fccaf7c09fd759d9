//! The mail address of an account. The audit log says that one was given or confirmed, by the account's number, and never which.

use crate::acts::people::take_link;
use crate::acts::{Act, note_own};
use crate::backend::Conn;
use crate::{AccountId, ContestId, LinkKind, Sha, StoreError, Time};

/// Gives an account another mail address, or none. Links sent to the one before are worth nothing from then on.
#[derive(Clone, Debug)]
pub struct SetMail {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub account: AccountId,
    pub mail: Option<String>,
    pub now: Time,
}

impl Act for SetMail {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        let set = "UPDATE accounts SET checksum = NULL, mail = $2, mail_ms = NULL WHERE id = $1 AND withdrawn_ms IS NULL";
        let set = sqlx::query(set).bind(self.account.0).bind(&self.mail).execute(&mut *conn).await?;
        if set.rows_affected() == 0 {
            return Ok(());
        }
        sqlx::query("DELETE FROM links WHERE account_id = $1 AND kind IN ($2, $3)")
            .bind(self.account.0)
            .bind(LinkKind::Mailed.word())
            .bind(LinkKind::Address.word())
            .execute(&mut *conn)
            .await?;
        note_own(conn, self.contest, self.account, self.now, ["set mail", ""]).await
    }
}

/// Uses up the link that was sent to an account's address: its owner has shown that mail arrives there.
#[derive(Clone, Debug)]
pub struct ConfirmMail {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub account: AccountId,
    /// The hash of the link's secret.
    pub sha: Sha,
    pub now: Time,
}

impl Act for ConfirmMail {
    /// Whether the link was valid, and this account's.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        if !take_link(conn, &self.sha, LinkKind::Address, self.account, self.now).await? {
            return Ok(false);
        }
        sqlx::query("UPDATE accounts SET checksum = NULL, mail_ms = $2 WHERE id = $1 AND mail IS NOT NULL")
            .bind(self.account.0)
            .bind(self.now.0)
            .execute(&mut *conn)
            .await?;
        note_own(conn, self.contest, self.account, self.now, ["confirm mail", ""]).await?;
        Ok(true)
    }
}
