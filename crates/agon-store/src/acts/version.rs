//! Versions: handed in, promoted, demoted. The content of a version never changes.

use crate::acts::held::{check_again_if_due, settings};
use crate::acts::{Act, note, trial};
use crate::backend::{Conn, Flag};
use crate::names::likeness;
use crate::reads::{quota, read};
use crate::{
    Cause, ContestId, ContestSettings, EntrantId, Sha, Stage, StoreError, Time, Uploads, VersionId,
    VersionState, Whose,
};

/// Takes in a version. The first one also makes the entrant.
#[derive(Clone, Debug)]
pub struct Add {
    pub contest: ContestId,
    /// The name of the entrant it belongs to, which is compared by [`likeness`].
    pub entrant: String,
    /// Whether the entrant is a boss.
    pub boss: bool,
    /// A bot inside the program.
    pub builtin: Option<String>,
    /// The hash of the upload.
    pub source: Sha,
    /// When it arrived.
    pub received: Time,
    /// Whether it takes the place of the one before only if it is better.
    pub only_if_better: bool,
    /// Its size in bytes.
    pub bytes: i64,
    /// Whether the times of the contest and the entrant's quota apply, and its waiting versions give way to this one; not for an organiser.
    pub counts: bool,
    /// Who hands it in.
    pub actor: String,
}

/// How many versions an entrant may hand in within an hour.
pub const MOST_AN_HOUR: i64 = 10;
/// And within a day.
pub const MOST_A_DAY: i64 = 40;
/// How many bytes all its versions may have together.
pub const MOST_BYTES: i64 = 2 << 30;
/// A day, in milliseconds.
pub const DAY_MS: i64 = 86_400_000;

/// The outcome of [`Add`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    /// A new version, with this number among those of its entrant.
    New(VersionId, i64),
    /// The entrant handed in the same bytes before: that version, its number and its state.
    Same(VersionId, i64, VersionState),
    /// The name looks like that of another entrant, or of a boss.
    Taken(String),
    /// The entrant has used up its quota, and may hand in again at this time. Without a time nothing more is taken: its versions have
    /// [`MOST_BYTES`] together.
    TooMany(Option<Time>),
    /// Nothing is taken now.
    Closed(Uploads),
    /// Who hands it in has not confirmed a mail address that the contest takes.
    Unconfirmed,
}

/// Whether the person of this name has confirmed a mail address that the contest takes, where it asks for one.
async fn has_confirmed(conn: &mut Conn, settings: &ContestSettings, name: &str) -> Result<bool, StoreError> {
    if settings.mail_domains.is_empty() {
        return Ok(true);
    }
    let mail: Option<String> = sqlx::query_scalar(
        "SELECT mail FROM accounts WHERE name = $1 AND mail IS NOT NULL AND mail_ms IS NOT NULL",
    )
    .bind(name)
    .fetch_optional(conn)
    .await?;
    Ok(mail.is_some_and(|mail| settings.takes_mail(&mail)))
}

impl Act for Add {
    type Reply = Added;

    async fn run(&self, conn: &mut Conn) -> Result<Added, StoreError> {
        let settings = settings(conn, self.contest).await?;
        let uploads = settings.uploads(self.received);
        if self.counts && uploads != Uploads::Open {
            return Ok(Added::Closed(uploads));
        }
        if self.counts && !has_confirmed(conn, &settings, &self.actor).await? {
            return Ok(Added::Unconfirmed);
        }
        let likeness = likeness(&self.entrant);
        let known: Option<(i64, String, Flag)> =
            // An exact name comes first: two names may look alike since names are compared more strictly, and each must be found.
            sqlx::query_as(
                "SELECT id, name, boss = TRUE FROM entrants WHERE contest_id = $1 AND (likeness = $2 OR name = $3) \
                 ORDER BY name = $3 DESC, id LIMIT 1",
            )
            .bind(self.contest.0)
            .bind(&likeness)
            .bind(&self.entrant)
            .fetch_optional(&mut *conn)
            .await?;
        let entrant = match known {
            Some((_, name, Flag(boss))) if name != self.entrant || boss != self.boss => {
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
        let same: Option<(i64, i64, String)> =
            sqlx::query_as("SELECT id, n, state FROM versions WHERE entrant_id = $1 AND source_sha = $2")
                .bind(entrant)
                .bind(self.source.to_string())
                .fetch_optional(&mut *conn)
                .await?;
        let mut draft = None;
        if let Some((id, n, state)) = same {
            match VersionState::of(&state)? {
                VersionState::Draft => draft = Some(id),
                // A version whose failure was our fault, or in another image, is tried again.
                VersionState::Failed if failed_by_us(conn, id, settings.image_since).await? => {
                    sqlx::query(
                        "UPDATE versions SET checksum = NULL, cause = NULL, reason = NULL WHERE id = $1",
                    )
                    .bind(id)
                    .execute(&mut *conn)
                    .await?;
                    enter_state(conn, VersionId(id), VersionState::Received, self.received).await?;
                    return Ok(Added::New(VersionId(id), n));
                }
                state => return Ok(Added::Same(VersionId(id), n, state)),
            }
        }
        if self.counts
            && let Some(full) = quota(conn, EntrantId(entrant), self.received).await?.full(self.bytes)
        {
            return Ok(Added::TooMany(full));
        }
        // Drafts have numbers below 1.
        let n: i64 = sqlx::query_scalar(
            "SELECT coalesce(max(n), 0) + 1 FROM versions WHERE entrant_id = $1 AND n > 0",
        )
        .bind(entrant)
        .fetch_one(&mut *conn)
        .await?;
        let id: i64 = match draft {
            // A draft becomes a version as it is.
            Some(id) => {
                sqlx::query_scalar(
                    "UPDATE versions SET checksum = NULL, n = $2, received_ms = $3, only_if_better = $4, bytes = $5 WHERE id = $1 RETURNING id",
                )
                .bind(id)
                .bind(n)
                .bind(self.received.0)
                .bind(self.only_if_better)
                .bind(self.bytes)
                .fetch_one(&mut *conn)
                .await?
            }
            None => {
                sqlx::query_scalar(
                    "INSERT INTO versions (entrant_id, n, builtin, source_sha, received_ms, state, only_if_better, bytes) \
                     VALUES ($1, $2, $3, $4, $5, 'received', $6, $7) RETURNING id",
                )
                .bind(entrant)
                .bind(n)
                .bind(&self.builtin)
                .bind(self.source.to_string())
                .bind(self.received.0)
                .bind(self.only_if_better)
                .bind(self.bytes)
                .fetch_one(&mut *conn)
                .await?
            }
        };
        enter_state(conn, VersionId(id), VersionState::Received, self.received).await?;
        if self.counts {
            replace_waiting(conn, entrant, VersionId(id), n, self.received).await?;
        }
        let object = format!("{} v{n}", self.entrant);
        note(conn, self.contest, self.received, [&self.actor, "add", &object, &self.source.to_string()])
            .await?;
        Ok(Added::New(VersionId(id), n))
    }
}

/// Whether a version's failure was our fault, or before the contest had its image.
async fn failed_by_us(conn: &mut Conn, version: i64, image: Option<Time>) -> Result<bool, StoreError> {
    let (cause, failed): (Option<String>, Option<i64>) = sqlx::query_as(
        "SELECT cause, (SELECT at_ms FROM steps WHERE version_id = id AND steps.state = 'failed') FROM versions WHERE id = $1",
    )
    .bind(version)
    .fetch_one(conn)
    .await?;
    let cause: Option<Cause> = cause.as_deref().map(read).transpose()?;
    let before = image.zip(failed).is_some_and(|(image, failed)| failed <= image.0);
    Ok(before || cause.is_some_and(|cause| cause.whose == Whose::Ours))
}

/// Replaces versions of an entrant that are still waiting by a newer one, which also takes over their planned check match.
async fn replace_waiting(
    conn: &mut Conn,
    entrant: i64,
    newer: VersionId,
    n: i64,
    now: Time,
) -> Result<(), StoreError> {
    let waiting: Vec<i64> = sqlx::query_scalar(
        "SELECT v.id FROM versions v WHERE v.entrant_id = $1 AND v.id <> $2 AND v.state = 'received' AND NOT EXISTS \
         (SELECT 1 FROM seats s JOIN attempts a ON a.match_id = s.match_id WHERE s.version_id = v.id)",
    )
    .bind(entrant)
    .bind(newer.0)
    .fetch_all(&mut *conn)
    .await?;
    for older in waiting {
        sqlx::query("UPDATE seats SET checksum = NULL, version_id = $2 WHERE version_id = $1")
            .bind(older)
            .bind(newer.0)
            .execute(&mut *conn)
            .await?;
        let cause = Cause {
            // Nobody's fault; what is not its author's may be handed in again.
            whose: Whose::Ours,
            stage: Stage::Waiting,
            what: format!("v{n} was submitted before this version was checked, so it was skipped."),
            fix: Some("Submit it again if you want it checked.".to_owned()),
        };
        let demote = Demote { version: VersionId(older), cause, now };
        demote.run(conn).await?;
    }
    Ok(())
}

/// Makes a version stand for its entrant, unless a later one does already.
#[derive(Clone, Debug)]
pub struct Promote {
    pub version: VersionId,
    pub now: Time,
}

/// Records that a version enters a state, and when.
pub(crate) async fn enter_state(
    conn: &mut Conn,
    version: VersionId,
    state: VersionState,
    now: Time,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE versions SET checksum = NULL, state = $2 WHERE id = $1")
        .bind(version.0)
        .bind(state.word())
        .execute(&mut *conn)
        .await?;
    sqlx::query(
        "INSERT INTO steps (version_id, state, at_ms) VALUES ($1, $2, $3) \
         ON CONFLICT (version_id, state) DO UPDATE SET checksum = NULL, at_ms = $3",
    )
    .bind(version.0)
    .bind(state.word())
    .bind(now.0)
    .execute(conn)
    .await?;
    Ok(())
}

/// The contest, entrant, number and name of a version, if it is in such a state.
pub(crate) async fn named(
    conn: &mut Conn,
    version: VersionId,
    is: impl Fn(VersionState) -> bool,
) -> Result<Option<(ContestId, i64, i64, String)>, StoreError> {
    let row: Option<(i64, i64, i64, String, String)> = sqlx::query_as(
        "SELECT e.contest_id, e.id, v.n, e.name, v.state FROM versions v JOIN entrants e ON e.id = v.entrant_id WHERE v.id = $1",
    )
    .bind(version.0)
    .fetch_optional(conn)
    .await?;
    let Some((contest, entrant, n, team, state)) = row else { return Ok(None) };
    let name = format!("{team} v{n}");
    Ok(is(VersionState::of(&state)?).then_some((ContestId(contest), entrant, n, name)))
}

/// Whether a version may still go live for the first time.
fn may_rise(state: VersionState) -> bool {
    state.is_waiting() || state == VersionState::Trial
}

impl Act for Promote {
    /// Whether it stands for its entrant now and did not before.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some((contest, entrant, n, name)) = named(conn, self.version, may_rise).await? else {
            return Ok(false);
        };
        let live: Option<(i64, i64)> =
            sqlx::query_as("SELECT id, n FROM versions WHERE entrant_id = $1 AND state = 'live'")
                .bind(entrant)
                .fetch_optional(&mut *conn)
                .await?;
        if let Some((against, before)) = live
            && before < n
            && trial::begin(conn, self.version, VersionId(against), self.now).await? == trial::Begun::First
        {
            enter_state(conn, self.version, VersionState::Trial, self.now).await?;
            note(conn, contest, self.now, ["ladder", "try", &name, "it goes live if it is better"]).await?;
            return Ok(false);
        }
        let (own, overtaken) = match live {
            // A later upload was ready first.
            Some((_, later)) if later > n => (VersionState::Former, None),
            Some((id, _)) => (VersionState::Live, Some(id)),
            None => (VersionState::Live, None),
        };
        if let Some(former) = overtaken {
            step_down(conn, former, self.now).await?;
        }
        enter_state(conn, self.version, own, self.now).await?;
        if own == VersionState::Former {
            note(conn, contest, self.now, ["ladder", "decline", &name, "a later version is live"]).await?;
            return Ok(false);
        }
        enter(conn, self.version, self.now).await?;
        check_again_if_due(conn, contest, self.version).await?;
        note(conn, contest, self.now, ["ladder", "promote", &name, ""]).await?;
        Ok(true)
    }
}

/// Makes a version no longer stand for its entrant.
pub(crate) async fn step_down(conn: &mut Conn, version: i64, now: Time) -> Result<(), StoreError> {
    enter_state(conn, VersionId(version), VersionState::Former, now).await?;
    leave(conn, version, now).await
}

/// Keeps why a version failed.
pub(crate) async fn keep_cause(conn: &mut Conn, version: VersionId, cause: &Cause) -> Result<(), StoreError> {
    let json = serde_json::to_string(cause).map_err(|error| StoreError::Damaged(error.to_string()))?;
    sqlx::query("UPDATE versions SET checksum = NULL, reason = $2, cause = $3 WHERE id = $1")
        .bind(version.0)
        .bind(cause.to_string())
        .bind(json)
        .execute(conn)
        .await?;
    Ok(())
}

/// Ends the time in which a version stands for its entrant.
pub(crate) async fn leave(conn: &mut Conn, version: i64, now: Time) -> Result<(), StoreError> {
    sqlx::query("UPDATE entries SET checksum = NULL, to_ms = $2 WHERE version_id = $1 AND to_ms IS NULL")
        .bind(version)
        .bind(now.0)
        .execute(conn)
        .await?;
    Ok(())
}

/// Makes a version stand for its entrant.
async fn enter(conn: &mut Conn, version: VersionId, now: Time) -> Result<(), StoreError> {
    // A version that returns within the same millisecond never left.
    sqlx::query(
        "INSERT INTO entries (version_id, from_ms) VALUES ($1, $2) \
         ON CONFLICT (version_id, from_ms) DO UPDATE SET checksum = NULL, to_ms = NULL",
    )
    .bind(version.0)
    .bind(now.0)
    .execute(conn)
    .await?;
    Ok(())
}

/// Makes a former version stand for its entrant again, with all its matches.
#[derive(Clone, Debug)]
pub struct Return {
    pub version: VersionId,
    /// Who asks for it.
    pub actor: String,
    pub now: Time,
}

impl Act for Return {
    /// Whether it stands for its entrant now and did not before.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some((contest, entrant, _, name)) =
            named(conn, self.version, |state| state == VersionState::Former).await?
        else {
            return Ok(false);
        };
        let live: Option<i64> =
            sqlx::query_scalar("SELECT id FROM versions WHERE entrant_id = $1 AND state = 'live'")
                .bind(entrant)
                .fetch_optional(&mut *conn)
                .await?;
        if let Some(live) = live {
            step_down(conn, live, self.now).await?;
        }
        enter_state(conn, self.version, VersionState::Live, self.now).await?;
        enter(conn, self.version, self.now).await?;
        check_again_if_due(conn, contest, self.version).await?;
        note(conn, contest, self.now, [&self.actor, "return", &name, ""]).await?;
        Ok(true)
    }
}

/// Fails a version whose check match is not over. The one before it stays where it is.
#[derive(Clone, Debug)]
pub struct Demote {
    pub version: VersionId,
    /// Why.
    pub cause: Cause,
    pub now: Time,
}

impl Act for Demote {
    /// Whether it was waiting for its check.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some((contest, _, _, name)) = named(conn, self.version, VersionState::is_waiting).await? else {
            return Ok(false);
        };
        keep_cause(conn, self.version, &self.cause).await?;
        enter_state(conn, self.version, VersionState::Failed, self.now).await?;
        let whose = format!("{}, at its {}", self.cause.whose.word(), self.cause.stage.word());
        note(conn, contest, self.now, ["ladder", "fail", &name, &whose]).await?;
        Ok(true)
    }
}
