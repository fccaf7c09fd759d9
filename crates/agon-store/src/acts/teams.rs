//! Teams: who plays for which entrant. And what remains of a deleted account.

use crate::acts::asked::unnamed;
use crate::acts::held::settings;
use crate::acts::puzzle::forget_team;
use crate::acts::version::step_down;
use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::names::likeness;
use crate::{AccountId, ContestId, EntrantId, MatchId, Sha, StoreError, Time, VersionState};

/// Makes a team with one member.
#[derive(Clone, Debug)]
pub struct MakeTeam {
    pub contest: ContestId,
    pub account: AccountId,
    /// The team's name.
    pub name: String,
    /// The code by which others join.
    pub code: String,
    pub now: Time,
}

/// The outcome of [`MakeTeam`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamMade {
    /// The team was made.
    New(EntrantId),
    /// The name looks like that of another team, or of a boss.
    Taken(String),
    /// The account plays for this team already; it may play for one at a time.
    Member(EntrantId),
}

impl Act for MakeTeam {
    type Reply = TeamMade;

    async fn run(&self, conn: &mut Conn) -> Result<TeamMade, StoreError> {
        if let Some(team) = team_of(conn, self.contest, self.account).await? {
            return Ok(TeamMade::Member(team));
        }
        let likeness = likeness(&self.name);
        let taken: Option<String> =
            sqlx::query_scalar("SELECT name FROM entrants WHERE contest_id = $1 AND likeness = $2")
                .bind(self.contest.0)
                .bind(&likeness)
                .fetch_optional(&mut *conn)
                .await?;
        if let Some(name) = taken {
            return Ok(TeamMade::Taken(name));
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO entrants (contest_id, name, likeness, boss, made_ms, join_code) \
             VALUES ($1, $2, $3, FALSE, $4, $5) RETURNING id",
        )
        .bind(self.contest.0)
        .bind(&self.name)
        .bind(&likeness)
        .bind(self.now.0)
        .bind(&self.code)
        .fetch_one(&mut *conn)
        .await?;
        enter(conn, self.contest, self.account, EntrantId(id), self.now).await?;
        let actor = name_of(conn, self.account).await?;
        note(conn, self.contest, self.now, [&actor, "make team", &self.name, ""]).await?;
        Ok(TeamMade::New(EntrantId(id)))
    }
}

/// Joins a team by its code.
#[derive(Clone, Debug)]
pub struct JoinTeam {
    pub contest: ContestId,
    pub account: AccountId,
    pub code: String,
    pub now: Time,
}

/// The outcome of [`JoinTeam`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Joined {
    /// The account is now a member of this team.
    In(EntrantId),
    /// No team has that code.
    Unknown,
    /// The team of this name has as many members as a team may have.
    Full(String, u8),
    /// The account plays for this team already; it may play for one at a time.
    Member(EntrantId),
}

impl Act for JoinTeam {
    type Reply = Joined;

    async fn run(&self, conn: &mut Conn) -> Result<Joined, StoreError> {
        if let Some(team) = team_of(conn, self.contest, self.account).await? {
            return Ok(Joined::Member(team));
        }
        let team: Option<(i64, String)> = sqlx::query_as(
            "SELECT id, name FROM entrants WHERE contest_id = $1 AND join_code = $2 AND withdrawn_ms IS NULL",
        )
        .bind(self.contest.0)
        .bind(&self.code)
        .fetch_optional(&mut *conn)
        .await?;
        let Some((team, name)) = team else { return Ok(Joined::Unknown) };
        let most = settings(conn, self.contest).await?.team_size;
        if members(conn, EntrantId(team)).await? >= i64::from(most) {
            return Ok(Joined::Full(name, most));
        }
        enter(conn, self.contest, self.account, EntrantId(team), self.now).await?;
        let actor = name_of(conn, self.account).await?;
        note(conn, self.contest, self.now, [&actor, "join team", &name, ""]).await?;
        Ok(Joined::In(EntrantId(team)))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct LeaveTeam {
    pub contest: ContestId,
    pub account: AccountId,
    pub now: Time,
}

/// The outcome of [`LeaveTeam`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The account is no longer a member.
    Gone,
    /// The account had no team.
    Nowhere,
    /// Refused: the last member of a team that has handed something in must stay, because its bot has to belong to somebody.
    Last,
}

impl Act for LeaveTeam {
    type Reply = Left;

    async fn run(&self, conn: &mut Conn) -> Result<Left, StoreError> {
        let Some(team) = team_of(conn, self.contest, self.account).await? else { return Ok(Left::Nowhere) };
        let is_last = members(conn, team).await? == 1;
        let versions: i64 = sqlx::query_scalar("SELECT count(*) FROM versions v WHERE v.entrant_id = $1")
            .bind(team.0)
            .fetch_one(&mut *conn)
            .await?;
        if is_last && versions > 0 {
            return Ok(Left::Last);
        }
        let actor = name_of(conn, self.account).await?;
        let name: String = sqlx::query_scalar("SELECT name FROM entrants WHERE id = $1")
            .bind(team.0)
            .fetch_one(&mut *conn)
            .await?;
        leave(conn, self.account, team, self.now).await?;
        note(conn, self.contest, self.now, [&actor, "leave team", &name, ""]).await?;
        if is_last {
            // Nothing of it is on the ladder, so its name becomes free again.
            withdraw_team(conn, self.contest, team, self.now).await?;
        }
        Ok(Left::Gone)
    }
}

/// Sets the code with which others join a team.
#[derive(Clone, Debug)]
pub struct NewCode {
    pub team: EntrantId,
    pub code: String,
}

impl Act for NewCode {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query("UPDATE entrants SET checksum = NULL, join_code = $2 WHERE id = $1 AND withdrawn_ms IS NULL AND NOT boss")
            .bind(self.team.0)
            .bind(&self.code)
            .execute(conn)
            .await?;
        Ok(())
    }
}

/// Deletes an account. Matches that others played against it stay in the log, under a number; the name is removed everywhere. A team
/// without members leaves the ladder.
#[derive(Clone, Copy, Debug)]
pub struct Withdraw {
    pub contest: ContestId,
    pub account: AccountId,
    pub now: Time,
}

impl Act for Withdraw {
    /// Uploads that nobody owns any more: the objects to be removed.
    type Reply = Vec<Sha>;

    async fn run(&self, conn: &mut Conn) -> Result<Vec<Sha>, StoreError> {
        let id = self.account.0;
        let before = name_of(conn, self.account).await?;
        let name = format!("withdrawn {id}");
        // No name can look like this.
        let likeness = format!("-{id}");
        let gone = sqlx::query(
            "UPDATE accounts SET checksum = NULL, name = $2, likeness = $3, password = NULL, organiser = FALSE, withdrawn_ms = $4, \
             mail = NULL, mail_ms = NULL \
             WHERE id = $1 AND withdrawn_ms IS NULL",
        )
        .bind(id)
        .bind(&name)
        .bind(likeness)
        .bind(self.now.0)
        .execute(&mut *conn)
        .await?
        .rows_affected();
        if gone == 0 {
            return Ok(Vec::new());
        }
        for statement in [
            "DELETE FROM logins WHERE account_id = $1",
            "DELETE FROM links WHERE account_id = $1",
            "DELETE FROM recovery_codes WHERE account_id = $1",
            "DELETE FROM factors WHERE account_id = $1",
        ] {
            sqlx::query(statement).bind(id).execute(&mut *conn).await?;
        }
        rename_in_events(conn, self.contest, &before, &name).await?;
        note(conn, self.contest, self.now, [&name, "withdraw", &name, ""]).await?;
        let Some(team) = team_of(conn, self.contest, self.account).await? else { return Ok(Vec::new()) };
        leave(conn, self.account, team, self.now).await?;
        match members(conn, team).await? {
            0 => withdraw_team(conn, self.contest, team, self.now).await,
            _ => Ok(Vec::new()),
        }
    }
}

/// The team for which an account plays.
async fn team_of(
    conn: &mut Conn,
    contest: ContestId,
    account: AccountId,
) -> Result<Option<EntrantId>, StoreError> {
    let team: Option<i64> = sqlx::query_scalar(
        "SELECT entrant_id FROM members WHERE contest_id = $1 AND account_id = $2 AND to_ms IS NULL",
    )
    .bind(contest.0)
    .bind(account.0)
    .fetch_optional(conn)
    .await?;
    Ok(team.map(EntrantId))
}

pub(crate) async fn members(conn: &mut Conn, team: EntrantId) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar("SELECT count(*) FROM members WHERE entrant_id = $1 AND to_ms IS NULL");
    Ok(count.bind(team.0).fetch_one(conn).await?)
}

async fn name_of(conn: &mut Conn, account: AccountId) -> Result<String, StoreError> {
    let name = sqlx::query_scalar("SELECT name FROM accounts WHERE id = $1");
    Ok(name.bind(account.0).fetch_one(conn).await?)
}

pub(crate) async fn enter(
    conn: &mut Conn,
    contest: ContestId,
    account: AccountId,
    team: EntrantId,
    now: Time,
) -> Result<(), StoreError> {
    // A member who returns within the same millisecond never left.
    sqlx::query(
        "INSERT INTO members (contest_id, account_id, entrant_id, from_ms) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (account_id, entrant_id, from_ms) DO UPDATE SET checksum = NULL, to_ms = NULL",
    )
    .bind(contest.0)
    .bind(account.0)
    .bind(team.0)
    .bind(now.0)
    .execute(conn)
    .await?;
    Ok(())
}

async fn leave(conn: &mut Conn, account: AccountId, team: EntrantId, now: Time) -> Result<(), StoreError> {
    sqlx::query("UPDATE members SET checksum = NULL, to_ms = $3 WHERE account_id = $1 AND entrant_id = $2 AND to_ms IS NULL")
        .bind(account.0)
        .bind(team.0)
        .bind(now.0)
        .execute(conn)
        .await?;
    Ok(())
}

/// Withdraws a team without members: its name becomes a number. Returns the uploads that nobody owns any more.
async fn withdraw_team(
    conn: &mut Conn,
    contest: ContestId,
    team: EntrantId,
    now: Time,
) -> Result<Vec<Sha>, StoreError> {
    let before: String = sqlx::query_scalar("SELECT name FROM entrants WHERE id = $1")
        .bind(team.0)
        .fetch_one(&mut *conn)
        .await?;
    let name = format!("withdrawn {team}");
    sqlx::query(
        "UPDATE entrants SET checksum = NULL, name = $2, likeness = $3, join_code = NULL, withdrawn_ms = $4 WHERE id = $1",
    )
    .bind(team.0)
    .bind(&name)
    .bind(format!("-{team}"))
    .bind(now.0)
    .execute(&mut *conn)
    .await?;
    rename_in_events(conn, contest, &before, &name).await?;
    forget_team(conn, team).await?;
    let versions: Vec<(i64, String, String)> =
        sqlx::query_as("SELECT v.id, v.state, v.source_sha FROM versions v WHERE v.entrant_id = $1")
            .bind(team.0)
            .fetch_all(&mut *conn)
            .await?;
    for (version, state, _) in &versions {
        match VersionState::of(state)? {
            VersionState::Live => step_down(conn, *version, now).await?,
            state if state.is_waiting() || state == VersionState::Trial => {
                sqlx::query("UPDATE versions SET checksum = NULL, state = 'failed', reason = 'withdrawn' WHERE id = $1")
                    .bind(version)
                    .execute(&mut *conn)
                    .await?;
            }
            _ => {}
        }
    }
    let mut gone: Vec<String> = versions.into_iter().map(|(_, _, source)| source).collect();
    gone.extend(forget(conn, team).await?);
    unnamed(conn, gone).await
}

/// Deletes what only the team knew of its builds and matches, and returns the objects that held it.
async fn forget(conn: &mut Conn, team: EntrantId) -> Result<Vec<String>, StoreError> {
    let mut held: Vec<String> = sqlx::query_scalar(
        "SELECT v.log_sha FROM versions v \
         WHERE v.entrant_id = $1 AND v.log_sha IS NOT NULL",
    )
    .bind(team.0)
    .fetch_all(&mut *conn)
    .await?;
    let told: Vec<String> = sqlx::query_scalar(
        "SELECT s.own_sha FROM versions v JOIN seats s ON s.version_id = v.id \
         WHERE v.entrant_id = $1 AND s.own_sha IS NOT NULL",
    )
    .bind(team.0)
    .fetch_all(&mut *conn)
    .await?;
    held.extend(told);
    for statement in [
        "UPDATE versions SET checksum = NULL, log_sha = NULL, cause = NULL, reason = CASE WHEN state = 'failed' THEN 'withdrawn' END \
         WHERE entrant_id = $1",
        "UPDATE seats SET checksum = NULL, own_sha = NULL WHERE own_sha IS NOT NULL AND version_id IN \
         (SELECT v.id FROM versions v WHERE v.entrant_id = $1)",
        // A reason may quote what its program wrote. Why one could not be made ready is about the one that was tried out, which sits in
        // the first seat, or is a draft.
        "UPDATE attempts SET checksum = NULL, why = NULL WHERE why IS NOT NULL AND how <> 'unfit' AND match_id IN \
         (SELECT s.match_id FROM versions v JOIN seats s ON s.version_id = v.id WHERE v.entrant_id = $1)",
        "UPDATE attempts SET checksum = NULL, why = NULL WHERE why IS NOT NULL AND match_id IN \
         (SELECT s.match_id FROM versions v JOIN seats s ON s.version_id = v.id WHERE v.entrant_id = $1 \
         AND (s.seat = 0 OR v.state = 'draft'))",
    ] {
        sqlx::query(statement).bind(team.0).execute(&mut *conn).await?;
    }
    Ok(held)
}

/// Whether somebody whose account was deleted sits in a match.
pub(crate) async fn has_withdrawn(conn: &mut Conn, game: MatchId) -> Result<bool, StoreError> {
    let one: Option<i64> = sqlx::query_scalar(
        "SELECT s.seat FROM seats s JOIN versions v ON v.id = s.version_id JOIN entrants e ON e.id = v.entrant_id \
         WHERE s.match_id = $1 AND e.withdrawn_ms IS NOT NULL LIMIT 1",
    )
    .bind(game.0)
    .fetch_optional(conn)
    .await?;
    Ok(one.is_some())
}

/// Removes the name from the audit log.
async fn rename_in_events(
    conn: &mut Conn,
    contest: ContestId,
    before: &str,
    name: &str,
) -> Result<(), StoreError> {
    for statement in [
        "UPDATE events SET checksum = NULL, salt = NULL, actor = $3 WHERE contest_id = $1 AND actor = $2",
        "UPDATE events SET checksum = NULL, salt = NULL, object = $3 WHERE contest_id = $1 AND object = $2",
        "UPDATE events SET checksum = NULL, salt = NULL, object = $3 || substr(object, length($2) + 1) WHERE contest_id = $1 \
         AND substr(object, 1, length($2) + 2) = $2 || ' v'",
    ] {
        sqlx::query(statement).bind(contest.0).bind(before).bind(name).execute(&mut *conn).await?;
    }
    Ok(())
}
