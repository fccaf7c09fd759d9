//! Texts of the workbench: kept as they are typed, the newest of each author.

use crate::acts::Act;
use crate::backend::Conn;
use crate::{StoreError, TextId, TextOwner, Time, VersionId};

/// How many texts of somebody stay for a team, those that were handed in among them.
pub const MOST_TEXTS: i64 = 20;
/// For how long after its beginning the newest text is replaced by the next one, in milliseconds.
const IN_PLACE_MS: i64 = 60_000;

/// Keeps a text.
#[derive(Clone, Debug)]
pub struct KeepText {
    pub owner: TextOwner,
    /// The text that it was made from: nothing is kept if that is not the newest one.
    pub base: Option<TextId>,
    /// Its files, in a form that the store only keeps.
    pub files: String,
    pub note: Option<String>,
    /// Lines more and fewer than the newest text has, and than the one before that.
    pub lines: [(i64, i64); 2],
    pub now: Time,
}

/// The outcome of [`KeepText`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextReply {
    Kept(TextId),
    /// A newer text was kept from elsewhere.
    Newer,
}

impl Act for KeepText {
    type Reply = TextReply;

    async fn run(&self, conn: &mut Conn) -> Result<TextReply, StoreError> {
        let TextOwner { contest, account, team } = self.owner;
        if let Some(team) = team {
            // What was written before there was a team was written for it.
            sqlx::query(
                "UPDATE texts SET checksum = NULL, entrant_id = $3 WHERE contest_id = $1 AND account_id = $2 AND entrant_id IS NULL",
            )
            .bind(contest.0)
            .bind(account.0)
            .bind(team.0)
            .execute(&mut *conn)
            .await?;
        }
        let newest: Option<(i64, i64, i64)> = sqlx::query_as(
            "SELECT id, made_ms, CASE WHEN note IS NULL AND match_id IS NULL AND version_id IS NULL THEN 1 ELSE 0 END FROM texts \
             WHERE contest_id = $1 AND account_id = $2 AND coalesce(entrant_id, 0) = $3 ORDER BY id DESC LIMIT 1",
        )
        .bind(contest.0)
        .bind(account.0)
        .bind(team.map_or(0, |team| team.0))
        .fetch_optional(&mut *conn)
        .await?;
        if newest.map(|(id, ..)| TextId(id)) != self.base {
            return Ok(TextReply::Newer);
        }
        let [since_newest, since_before] = self.lines;
        let fresh = newest
            .filter(|(_, made, is_plain)| *is_plain == 1 && !Time(*made).is_past(IN_PLACE_MS, self.now));
        let (made, lines) = match fresh {
            // Its number changes all the same: whoever has it open elsewhere has another text.
            Some((id, made, _)) => {
                sqlx::query("DELETE FROM texts WHERE id = $1").bind(id).execute(&mut *conn).await?;
                (made, since_before)
            }
            None => (self.now.0, since_newest),
        };
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO texts (contest_id, account_id, entrant_id, made_ms, kept_ms, note, files, more, fewer) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id",
        )
        .bind(contest.0)
        .bind(account.0)
        .bind(team.map(|team| team.0))
        .bind(made)
        .bind(self.now.0)
        .bind(&self.note)
        .bind(&self.files)
        .bind(lines.0)
        .bind(lines.1)
        .fetch_one(&mut *conn)
        .await?;
        sqlx::query(
            "DELETE FROM texts WHERE contest_id = $1 AND account_id = $2 AND coalesce(entrant_id, 0) = $3 AND id NOT IN \
             (SELECT id FROM texts WHERE contest_id = $1 AND account_id = $2 AND coalesce(entrant_id, 0) = $3 ORDER BY id DESC LIMIT $4)",
        )
        .bind(contest.0)
        .bind(account.0)
        .bind(team.map_or(0, |team| team.0))
        .bind(MOST_TEXTS)
        .execute(conn)
        .await?;
        Ok(TextReply::Kept(TextId(id)))
    }
}

/// Gives a kept text another note.
#[derive(Clone, Debug)]
pub struct NoteText {
    pub text: TextId,
    pub note: Option<String>,
}

impl Act for NoteText {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        let set = sqlx::query("UPDATE texts SET checksum = NULL, note = $2 WHERE id = $1");
        set.bind(self.text.0).bind(&self.note).execute(conn).await?;
        Ok(())
    }
}

/// Writes down what came of a text's last match, which is forgotten some day.
#[derive(Clone, Debug)]
pub struct TellText {
    pub text: TextId,
    pub did: String,
}

impl Act for TellText {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        let set = sqlx::query("UPDATE texts SET checksum = NULL, did = $2 WHERE id = $1");
        set.bind(self.text.0).bind(&self.did).execute(conn).await?;
        Ok(())
    }
}

/// Records as which version a text was handed in, and by which request.
#[derive(Clone, Debug)]
pub struct HandInText {
    pub text: TextId,
    pub version: VersionId,
    pub request: String,
}

impl Act for HandInText {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE texts SET checksum = NULL, version_id = $2, request = $3, \
             entrant_id = (SELECT entrant_id FROM versions WHERE id = $2) WHERE id = $1",
        )
        .bind(self.text.0)
        .bind(self.version.0)
        .bind(&self.request)
        .execute(conn)
        .await?;
        Ok(())
    }
}
