//! The settings of a contest: what the organiser decides. Whoever accepts an upload, somebody who signs up, a member of a team or a result
//! reads them in the transaction that accepts it, so that a change holds on every server from its answer on.

use crate::acts::held::settings;
use crate::acts::seal::end_of;
use crate::acts::version::{Add, Added, Promote, Return, step_down};
use crate::acts::{Act, note, recheck, ruling};
use crate::backend::Conn;
use crate::{
    AccountId, ChangedSettings, ContestId, ContestSettings, LogEntry, Sha, StoreError, Time, VersionState,
};

async fn keep(
    conn: &mut Conn,
    contest: ContestId,
    settings: &ContestSettings,
    only: &'static str,
) -> Result<u64, StoreError> {
    let text = serde_json::to_string(settings).map_err(|error| StoreError::Damaged(error.to_string()))?;
    Ok(sqlx::query(only).bind(contest.0).bind(text).execute(conn).await?.rows_affected())
}

/// Takes the settings from the file with which a contest is founded. From then on the file decides nothing.
#[derive(Clone, Debug)]
pub struct TakeInSettings {
    pub contest: ContestId,
    pub settings: ContestSettings,
}

impl Act for TakeInSettings {
    /// Whether they were taken in: another server may have been first.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        const ONLY: &str =
            "UPDATE contests SET checksum = NULL, settings = $2 WHERE id = $1 AND settings IS NULL";
        Ok(keep(conn, self.contest, &self.settings, ONLY).await? > 0)
    }
}

/// Changes settings: an entry of the log and of the audit log.
#[derive(Clone, Debug)]
pub struct ChangeSettings {
    pub contest: ContestId,
    /// As whoever changes them saw them.
    pub before: ContestSettings,
    pub after: ContestSettings,
    /// What the audit log says of it: the verb, its object, and details.
    pub said: [String; 3],
    /// The account of who does it; none at the command line.
    pub by: Option<AccountId>,
    pub actor: String,
    /// Which built-in bots the bosses are.
    pub built_ins: &'static str,
    pub now: Time,
}

/// The outcome of [`ChangeSettings`].
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsReply {
    Changed(Box<ContestSettings>),
    /// They are so already.
    Same,
    /// Somebody else has changed them meanwhile.
    Overtaken,
}

impl Act for ChangeSettings {
    type Reply = SettingsReply;

    async fn run(&self, conn: &mut Conn) -> Result<SettingsReply, StoreError> {
        if settings(conn, self.contest).await? != self.before {
            return Ok(SettingsReply::Overtaken);
        }
        let mut after = self.after.clone();
        let image_changes = after.image != self.before.image;
        if image_changes {
            after.image_since = Some(self.now);
        }
        let changes = self.before.differences(&after);
        if changes.is_empty() {
            return Ok(SettingsReply::Same);
        }
        keep(conn, self.contest, &after, "UPDATE contests SET checksum = NULL, settings = $2 WHERE id = $1")
            .await?;
        let seq = end_of(conn, self.contest).await?.0 + 1;
        let row = ChangedSettings { seq, settings: changes, by: self.by, at: self.now };
        ruling::write(conn, self.contest, &LogEntry::Settings(row)).await?;
        let [verb, object, detail] = &self.said;
        note(conn, self.contest, self.now, [&self.actor, verb, object, detail]).await?;
        if image_changes {
            recheck::begin(conn, self.contest, self.now).await?;
        }
        if after.conditions() != self.before.conditions() {
            // Machines introduce themselves again, and hear the new conditions before they play on.
            sqlx::query("UPDATE workers SET checksum = NULL, run = '' WHERE run IS NOT NULL")
                .execute(&mut *conn)
                .await?;
        }
        if after.bosses != self.before.bosses {
            seat_bosses(conn, self.contest, (&after.bosses, self.built_ins), self.now).await?;
        }
        Ok(SettingsReply::Changed(Box::new(after)))
    }
}

/// Puts the bosses of the settings on the ladder, and takes others off it. They are ours, and need no check. Once they play
/// otherwise they come as a new version.
#[derive(Clone, Debug)]
pub struct SeatBosses {
    pub contest: ContestId,
    /// Which built-in bots these are.
    pub built_ins: &'static str,
    pub now: Time,
}

impl Act for SeatBosses {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        let bosses = settings(conn, self.contest).await?.bosses;
        seat_bosses(conn, self.contest, (&bosses, self.built_ins), self.now).await
    }
}

async fn seat_bosses(
    conn: &mut Conn,
    contest: ContestId,
    (bosses, built_ins): (&[String], &str),
    now: Time,
) -> Result<(), StoreError> {
    for boss in bosses {
        let add = Add {
            contest,
            entrant: boss_name(boss).to_owned(),
            boss: true,
            builtin: Some(boss.clone()),
            source: Sha::of(format!("{boss}\n{built_ins}")),
            received: now,
            only_if_better: false,
            bytes: 0,
            counts: false,
            actor: "server".to_owned(),
        };
        match add.run(conn).await? {
            Added::Same(version, _, VersionState::Former) => {
                Return { version, actor: "server".to_owned(), now }.run(conn).await?;
            }
            Added::New(version, _) | Added::Same(version, ..) => {
                Promote { version, now }.run(conn).await?;
            }
            _ => {}
        }
    }
    let live: Vec<(i64, i64, String)> = sqlx::query_as(
        "SELECT v.id, v.n, e.name FROM versions v JOIN entrants e ON e.id = v.entrant_id \
         WHERE e.contest_id = $1 AND e.boss AND v.state = 'live' ORDER BY v.id",
    )
    .bind(contest.0)
    .fetch_all(&mut *conn)
    .await?;
    for (version, n, name) in live {
        if !bosses.iter().any(|boss| boss_name(boss) == name) {
            step_down(conn, version, now).await?;
            note(conn, contest, now, ["server", "unseat", &format!("{name} v{n}"), ""]).await?;
        }
    }
    Ok(())
}

fn boss_name(boss: &str) -> &str {
    boss.strip_prefix("builtin:").unwrap_or(boss)
}

/// A server is there, and its file says this.
#[derive(Clone, Debug)]
pub struct SeeServer {
    pub contest: ContestId,
    pub name: String,
    /// The settings in its file, as JSON.
    pub file: String,
    pub now: Time,
}

/// For how long a server that is gone is remembered, in milliseconds.
const REMEMBERED_MS: i64 = 86_400_000;

impl Act for SeeServer {
    type Reply = ();

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM servers WHERE contest_id = $1 AND seen_ms < $2")
            .bind(self.contest.0)
            .bind(self.now.0 - REMEMBERED_MS)
            .execute(&mut *conn)
            .await?;
        sqlx::query(
            "INSERT INTO servers (contest_id, name, seen_ms, file) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (contest_id, name) DO UPDATE SET checksum = NULL, seen_ms = $3, file = $4",
        )
        .bind(self.contest.0)
        .bind(&self.name)
        .bind(self.now.0)
        .bind(&self.file)
        .execute(&mut *conn)
        .await?;
        // A server that is gone for good waits for nobody.
        sqlx::query(
            "DELETE FROM clock_doubts WHERE contest_id = $1 AND since_ms < $2 \
             AND server NOT IN (SELECT name FROM servers WHERE contest_id = $1)",
        )
        .bind(self.contest.0)
        .bind(self.now.0 - REMEMBERED_MS)
        .execute(conn)
        .await?;
        Ok(())
    }
}
