//! Versions: handed in, promoted, demoted. What a version is made of never changes.

use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{ContestId, Sha, StoreError, Time, VersionId, VersionState};

/// Takes in a version. The entrant and its bot are made with the first one.
#[derive(Clone, Debug)]
pub struct Add {
    /// For which contest.
    pub contest: ContestId,
    /// Whose it is.
    pub entrant: String,
    /// The name as it is compared ([`likeness`]).
    pub boss: bool,
    /// A bot inside the program.
    pub builtin: Option<String>,
    /// The hash of what was handed in.
    pub source: Sha,
    /// When that arrived.
    pub received: Time,
    /// Who brings it.
    pub actor: String,
}

/// What came of [`Add`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is a new version, with this number among those of its bot.
    New(VersionId, i64),
    /// The entrant has handed in the same before: that version, with its matches, and where it is in its life.
    Same(VersionId, i64, VersionState),
    /// The name looks like that of another entrant, or of a boss.
    Taken(String),
}

/// How names are compared: no two may look alike.
pub fn likeness(name: &str) -> String {
    name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl Act for Add {
    type Reply = Added;

    async fn run(&self, conn: &mut Conn) -> Result<Added, StoreError> {
        let likeness = likeness(&self.entrant);
        let known: Option<(i64, String, bool)> =
            sqlx::query_as("SELECT id, name, boss FROM entrants WHERE contest_id = $1 AND likeness = $2")
                .bind(self.contest.0)
                .bind(&likeness)
                .fetch_optional(&mut *conn)
                .await?;
        let entrant = match known {
            Some((_, name, boss)) if name != self.entrant || boss != self.boss => {
                return Ok(Added::Taken(name));
            }
            Some((id, ..)) => id,
            None => {
                sqlx::query_scalar(
                    "INSERT INTO entrants (contest_id, name, likeness, boss, made_ms) \
                     VALUES ($1, $2, $3, $4, $5) RETURNING id",
                )
                .bind(self.contest.0)
                .bind(&self.entrant)
                .bind(&likeness)
                .bind(self.boss)
                .bind(self.received.0)
                .fetch_one(&mut *conn)
                .await?
            }
        };
        let known: Option<i64> = sqlx::query_scalar("SELECT id FROM bots WHERE entrant_id = $1")
            .bind(entrant)
            .fetch_optional(&mut *conn)
            .await?;
        let bot: i64 = match known {
            Some(id) => id,
            None => {
                sqlx::query_scalar("INSERT INTO bots (entrant_id, name) VALUES ($1, $2) RETURNING id")
                    .bind(entrant)
                    .bind(&self.entrant)
                    .fetch_one(&mut *conn)
                    .await?
            }
        };
        let same: Option<(i64, i64, String)> =
            sqlx::query_as("SELECT id, n, state FROM versions WHERE bot_id = $1 AND source_sha = $2")
                .bind(bot)
                .bind(self.source.to_string())
                .fetch_optional(&mut *conn)
                .await?;
        if let Some((id, n, state)) = same {
            return Ok(Added::Same(VersionId(id), n, VersionState::of(&state)?));
        }
        let n: i64 = sqlx::query_scalar("SELECT coalesce(max(n), 0) + 1 FROM versions WHERE bot_id = $1")
            .bind(bot)
            .fetch_one(&mut *conn)
            .await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO versions (bot_id, n, builtin, source_sha, received_ms, state) \
             VALUES ($1, $2, $3, $4, $5, 'checking') RETURNING id",
        )
        .bind(bot)
        .bind(n)
        .bind(&self.builtin)
        .bind(self.source.to_string())
        .bind(self.received.0)
        .fetch_one(&mut *conn)
        .await?;
        let object = format!("{} v{n}", self.entrant);
        note(conn, self.contest, self.received, [&self.actor, "add", &object, &self.source.to_string()])
            .await?;
        Ok(Added::New(VersionId(id), n))
    }
}

/// A version stands for its bot from now on, unless a later one does already.
#[derive(Clone, Debug)]
pub struct Promote {
    /// Which.
    pub version: VersionId,
    /// Now.
    pub now: Time,
}

/// The contest and the name of a version, where it is in this state.
async fn named(
    conn: &mut Conn,
    version: VersionId,
    state: VersionState,
) -> Result<Option<(ContestId, i64, i64, String)>, StoreError> {
    let row: Option<(i64, i64, i64, String)> = sqlx::query_as(
        "SELECT e.contest_id, b.id, v.n, e.name FROM versions v JOIN bots b ON b.id = v.bot_id \
         JOIN entrants e ON e.id = b.entrant_id WHERE v.id = $1 AND v.state = $2",
    )
    .bind(version.0)
    .bind(state.word())
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|(contest, bot, n, entrant)| (ContestId(contest), bot, n, format!("{entrant} v{n}"))))
}

impl Act for Promote {
    /// Whether it stands for its bot now and did not before.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some((contest, bot, n, name)) = named(conn, self.version, VersionState::Checking).await? else {
            return Ok(false);
        };
        let live: Option<(i64, i64)> =
            sqlx::query_as("SELECT id, n FROM versions WHERE bot_id = $1 AND state = 'live'")
                .bind(bot)
                .fetch_optional(&mut *conn)
                .await?;
        let (own, overtaken) = match live {
            // A later upload was ready first.
            Some((_, later)) if later > n => (VersionState::Former, None),
            Some((id, _)) => (VersionState::Live, Some(id)),
            None => (VersionState::Live, None),
        };
        if let Some(former) = overtaken {
            step_down(conn, former, self.now).await?;
        }
        sqlx::query("UPDATE versions SET state = $2 WHERE id = $1")
            .bind(self.version.0)
            .bind(own.word())
            .execute(&mut *conn)
            .await?;
        if own == VersionState::Former {
            return Ok(false);
        }
        enter(conn, self.version, self.now).await?;
        note(conn, contest, self.now, ["ladder", "promote", &name, ""]).await?;
        Ok(true)
    }
}

/// A version stands for its bot no more.
pub(crate) async fn step_down(conn: &mut Conn, version: i64, now: Time) -> Result<(), StoreError> {
    sqlx::query("UPDATE versions SET state = 'former' WHERE id = $1")
        .bind(version)
        .execute(&mut *conn)
        .await?;
    sqlx::query("UPDATE entries SET to_ms = $2 WHERE version_id = $1 AND to_ms IS NULL")
        .bind(version)
        .bind(now.0)
        .execute(conn)
        .await?;
    Ok(())
}

/// A version stands for its bot from now on.
async fn enter(conn: &mut Conn, version: VersionId, now: Time) -> Result<(), StoreError> {
    // Back within the same millisecond, it never went.
    sqlx::query(
        "INSERT INTO entries (version_id, from_ms) VALUES ($1, $2) \
         ON CONFLICT (version_id, from_ms) DO UPDATE SET to_ms = NULL",
    )
    .bind(version.0)
    .bind(now.0)
    .execute(conn)
    .await?;
    Ok(())
}

/// A version that stood for its bot before does so again, with all its matches.
#[derive(Clone, Debug)]
pub struct Return {
    /// Which.
    pub version: VersionId,
    /// Who wants it.
    pub actor: String,
    /// Now.
    pub now: Time,
}

impl Act for Return {
    /// Whether it stands for its bot now and did not before.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some((contest, bot, _, name)) = named(conn, self.version, VersionState::Former).await? else {
            return Ok(false);
        };
        let live: Option<i64> =
            sqlx::query_scalar("SELECT id FROM versions WHERE bot_id = $1 AND state = 'live'")
                .bind(bot)
                .fetch_optional(&mut *conn)
                .await?;
        if let Some(live) = live {
            step_down(conn, live, self.now).await?;
        }
        sqlx::query("UPDATE versions SET state = 'live' WHERE id = $1")
            .bind(self.version.0)
            .execute(&mut *conn)
            .await?;
        enter(conn, self.version, self.now).await?;
        note(conn, contest, self.now, [&self.actor, "return", &name, ""]).await?;
        Ok(true)
    }
}

/// A version whose check match was not over cannot play. The one before it stays where it is.
#[derive(Clone, Debug)]
pub struct Demote {
    /// Which.
    pub version: VersionId,
    /// Why, in words for its author.
    pub reason: String,
    /// Now.
    pub now: Time,
}

impl Act for Demote {
    /// Whether it was waiting for its check.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some((contest, _, _, name)) = named(conn, self.version, VersionState::Checking).await? else {
            return Ok(false);
        };
        sqlx::query("UPDATE versions SET state = 'failed', reason = $2 WHERE id = $1")
            .bind(self.version.0)
            .bind(&self.reason)
            .execute(&mut *conn)
            .await?;
        note(conn, contest, self.now, ["ladder", "fail", &name, &self.reason]).await?;
        Ok(true)
    }
}
