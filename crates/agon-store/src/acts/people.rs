//! Accounts, the secrets that identify them, and one-time links. Secrets arrive as hashes, and passwords as Argon2id hashes: neither can be
//! read here.

use agon_api::contest::SignUpWord;

use crate::acts::held::settings;
use crate::acts::{Act, note, note_own};
use crate::backend::Conn;
use crate::names::likeness;
use crate::{AccountId, ContestId, LinkKind, LoginId, LoginKind, Sha, StoreError, Time};

/// How many secrets of a kind an account may have.
pub const MOST_LOGINS: i64 = 30;

/// Makes an account.
#[derive(Clone, Debug)]
pub struct SignUp {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub name: String,
    /// The password's hash.
    pub password: String,
    /// The code that was typed: the contest's settings say whether it is asked for, and whether anybody may sign up. None for whom an
    /// organiser's link lets in.
    pub invite: Option<String>,
    pub now: Time,
}

/// The outcome of [`SignUp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedUp {
    New(AccountId),
    /// The name looks like that of another one.
    Taken(String),
    /// The code is not the contest's.
    Uninvited,
    /// Nobody may sign up now.
    Closed,
}

impl Act for SignUp {
    type Reply = SignedUp;

    async fn run(&self, conn: &mut Conn) -> Result<SignedUp, StoreError> {
        if let Some(code) = &self.invite {
            match settings(conn, self.contest).await?.sign_up {
                Some(SignUpWord::Open) => {}
                Some(SignUpWord::Invite) if is_invited(conn, self.contest, code).await? => {}
                Some(SignUpWord::Invite) => return Ok(SignedUp::Uninvited),
                Some(SignUpWord::Closed) | None => return Ok(SignedUp::Closed),
            }
        }
        let likeness = likeness(&self.name);
        let taken: Option<String> = sqlx::query_scalar("SELECT name FROM accounts WHERE likeness = $1")
            .bind(&likeness)
            .fetch_optional(&mut *conn)
            .await?;
        if let Some(name) = taken {
            return Ok(SignedUp::Taken(name));
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO accounts (name, likeness, password, organiser, made_ms) VALUES ($1, $2, $3, FALSE, $4) \
             RETURNING id",
        )
        .bind(&self.name)
        .bind(&likeness)
        .bind(&self.password)
        .bind(self.now.0)
        .fetch_one(&mut *conn)
        .await?;
        note(conn, self.contest, self.now, [&self.name, "sign up", &self.name, ""]).await?;
        Ok(SignedUp::New(AccountId(id)))
    }
}

/// Whether this is the contest's code.
async fn is_invited(conn: &mut Conn, contest: ContestId, code: &str) -> Result<bool, StoreError> {
    let known: Option<String> = sqlx::query_scalar("SELECT code FROM invites WHERE contest_id = $1")
        .bind(contest.0)
        .fetch_optional(conn)
        .await?;
    Ok(known.as_deref() == Some(code))
}

/// Stores a secret that identifies an account from now on.
#[derive(Clone, Debug)]
pub struct Begin {
    pub account: AccountId,
    /// The hash of the secret.
    pub sha: Sha,
    pub kind: LoginKind,
    /// The name its owner gave it.
    pub name: String,
    pub now: Time,
    /// It expires at this time,
    pub ends: Time,
    /// or when it was not used for this long, in milliseconds.
    pub idle_ms: i64,
}

impl Act for Begin {
    /// None when the account has too many tokens, or nobody can sign in to it. A new session replaces the one that was not used for
    /// longest.
    type Reply = Option<LoginId>;

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<Option<LoginId>, StoreError> {
        sqlx::query(
            "DELETE FROM logins WHERE account_id = $1 AND (ends_ms <= $2 OR seen_ms + idle_ms <= $2)",
        )
        .bind(self.account.0)
        .bind(self.now.0)
        .execute(&mut *conn)
        .await?;
        let known: i64 =
            sqlx::query_scalar("SELECT count(*) FROM accounts WHERE id = $1 AND password IS NOT NULL")
                .bind(self.account.0)
                .fetch_one(&mut *conn)
                .await?;
        let count: i64 =
            sqlx::query_scalar("SELECT count(*) FROM logins WHERE account_id = $1 AND kind = $2")
                .bind(self.account.0)
                .bind(self.kind.word())
                .fetch_one(&mut *conn)
                .await?;
        let is_full = count >= MOST_LOGINS;
        if known == 0 || (is_full && self.kind == LoginKind::Token) {
            return Ok(None);
        }
        if is_full {
            sqlx::query(
                "DELETE FROM logins WHERE id = (SELECT id FROM logins WHERE account_id = $1 AND kind = $2 \
                 ORDER BY seen_ms, id LIMIT 1)",
            )
            .bind(self.account.0)
            .bind(self.kind.word())
            .execute(&mut *conn)
            .await?;
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO logins (account_id, sha, kind, name, made_ms, seen_ms, ends_ms, idle_ms) \
             VALUES ($1, $2, $3, $4, $5, $5, $6, $7) RETURNING id",
        )
        .bind(self.account.0)
        .bind(self.sha.to_string())
        .bind(self.kind.word())
        .bind(&self.name)
        .bind(self.now.0)
        .bind(self.ends.0)
        .bind(self.idle_ms)
        .fetch_one(conn)
        .await?;
        Ok(Some(LoginId(id)))
    }
}

/// Gives out a token of an account that plays for a team, without the account's asking.
#[derive(Clone, Debug)]
pub struct GiveToken {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub token: Begin,
    /// The name of the team.
    pub team: String,
    /// Who asks for it.
    pub actor: String,
}

impl Act for GiveToken {
    /// As that of [`Begin`].
    type Reply = Option<LoginId>;

    async fn run(&self, conn: &mut Conn) -> Result<Option<LoginId>, StoreError> {
        let given = self.token.run(conn).await?;
        if given.is_some() {
            let words = [&*self.actor, "give token", &self.team, &self.token.name];
            note(conn, self.contest, self.token.now, words).await?;
        }
        Ok(given)
    }
}

/// Records that a secret was used.
#[derive(Clone, Copy, Debug)]
pub struct RecordUse {
    pub login: LoginId,
    pub now: Time,
}

impl Act for RecordUse {
    type Reply = ();

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query("UPDATE logins SET checksum = NULL, seen_ms = $2 WHERE id = $1 AND seen_ms < $2")
            .bind(self.login.0)
            .bind(self.now.0)
            .execute(conn)
            .await?;
        Ok(())
    }
}

/// Which secrets of an account to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// This one, if it is the account's.
    One(LoginId),
    /// All sessions but this one.
    OtherSessions(LoginId),
}

/// Ends secrets of an account.
#[derive(Clone, Copy, Debug)]
pub struct EndSecrets {
    pub account: AccountId,
    pub which: Which,
}

impl Act for EndSecrets {
    /// How many ended.
    type Reply = u64;

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<u64, StoreError> {
        let (statement, login) = match self.which {
            Which::One(login) => ("DELETE FROM logins WHERE account_id = $1 AND id = $2", login),
            Which::OtherSessions(login) => {
                ("DELETE FROM logins WHERE account_id = $1 AND id <> $2 AND kind = 'session'", login)
            }
        };
        Ok(sqlx::query(statement).bind(self.account.0).bind(login.0).execute(conn).await?.rows_affected())
    }
}

/// Which tokens of an account end with its password; all its sessions do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokensToEnd {
    All,
    /// Those of these that are the account's.
    These(Vec<LoginId>),
}

/// What became of an account's tokens when its password was set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokensLeft {
    pub kept: i64,
    pub ended: i64,
}

/// Sets the password of an account. All its sessions end, and its owner must sign in again. Where all tokens end, its recovery codes end, too:
/// somebody else may have had the account.
#[derive(Clone, Debug)]
pub struct SetPassword {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    pub account: AccountId,
    /// The hash of the new password.
    pub password: String,
    pub tokens: TokensToEnd,
    pub now: Time,
}

impl Act for SetPassword {
    type Reply = TokensLeft;

    async fn run(&self, conn: &mut Conn) -> Result<TokensLeft, StoreError> {
        let name: Option<String> = sqlx::query_scalar(
            "UPDATE accounts SET checksum = NULL, password = $2 WHERE id = $1 AND withdrawn_ms IS NULL RETURNING name",
        )
        .bind(self.account.0)
        .bind(&self.password)
        .fetch_optional(&mut *conn)
        .await?;
        let Some(name) = name else { return Ok(TokensLeft::default()) };
        note(conn, self.contest, self.now, [&name, "password", &name, "a new one was set"]).await?;
        if self.tokens == TokensToEnd::All {
            end_codes(conn, self.account).await?;
        }
        end_logins(conn, self.account, &self.tokens, self.now).await
    }
}

/// Ends all sessions of an account, and some of its tokens.
pub(super) async fn end_logins(
    conn: &mut Conn,
    account: AccountId,
    tokens: &TokensToEnd,
    now: Time,
) -> Result<TokensLeft, StoreError> {
    // Those that have run out count for nothing.
    let gone = "DELETE FROM logins WHERE account_id = $1 AND (kind <> $2 OR ends_ms <= $3 OR seen_ms + idle_ms <= $3)";
    let gone = sqlx::query(gone).bind(account.0).bind(LoginKind::Token.word()).bind(now.0);
    gone.execute(&mut *conn).await?;
    let mut ended = 0;
    match tokens {
        TokensToEnd::All => {
            let all = sqlx::query("DELETE FROM logins WHERE account_id = $1").bind(account.0);
            ended += all.execute(&mut *conn).await?.rows_affected();
        }
        TokensToEnd::These(these) => {
            for token in these {
                let one = sqlx::query("DELETE FROM logins WHERE account_id = $1 AND id = $2");
                ended += one.bind(account.0).bind(token.0).execute(&mut *conn).await?.rows_affected();
            }
        }
    }
    let kept = sqlx::query_scalar("SELECT count(*) FROM logins WHERE account_id = $1").bind(account.0);
    Ok(TokensLeft { kept: kept.fetch_one(conn).await?, ended: ended.try_into().unwrap_or_default() })
}

/// Ends the recovery codes of an account.
pub(super) async fn end_codes(conn: &mut Conn, account: AccountId) -> Result<(), StoreError> {
    let gone = sqlx::query("DELETE FROM recovery_codes WHERE account_id = $1");
    gone.bind(account.0).execute(conn).await?;
    Ok(())
}

/// Makes a one-time link. An older one for the same purpose becomes invalid.
#[derive(Clone, Copy, Debug)]
pub struct MakeLink {
    /// The hash of the link's secret.
    pub sha: Sha,
    /// What it does.
    pub kind: LinkKind,
    /// For whom; none for whoever opens it.
    pub account: Option<AccountId>,
    pub now: Time,
    /// When it expires.
    pub ends: Time,
}

impl Act for MakeLink {
    type Reply = ();

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM links WHERE kind = $1 AND coalesce(account_id, 0) = $2")
            .bind(self.kind.word())
            .bind(self.account.map_or(0, |account| account.0))
            .execute(&mut *conn)
            .await?;
        sqlx::query(
            "INSERT INTO links (sha, kind, account_id, made_ms, ends_ms) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(self.sha.to_string())
        .bind(self.kind.word())
        .bind(self.account.map(|account| account.0))
        .bind(self.now.0)
        .bind(self.ends.0)
        .execute(conn)
        .await?;
        Ok(())
    }
}

/// Uses up a link.
#[derive(Clone, Copy, Debug)]
pub struct TakeLink {
    /// The contest whose audit log records it.
    pub contest: ContestId,
    /// The hash of the link's secret.
    pub sha: Sha,
    /// The account that uses it: it becomes an organiser, or its password is to be set.
    pub account: AccountId,
    /// What it must be for.
    pub kind: LinkKind,
    pub now: Time,
}

/// Uses up a link of this kind that is for this account, or for whoever has it; whether it was valid.
pub(crate) async fn take_link(
    conn: &mut Conn,
    sha: &Sha,
    kind: LinkKind,
    account: AccountId,
    now: Time,
) -> Result<bool, StoreError> {
    let gone = sqlx::query(
        "DELETE FROM links WHERE sha = $1 AND kind = $2 AND ends_ms > $3 AND coalesce(account_id, $4) = $4",
    )
    .bind(sha.to_string())
    .bind(kind.word())
    .bind(now.0)
    .bind(account.0)
    .execute(&mut *conn)
    .await?;
    Ok(gone.rows_affected() > 0)
}

impl Act for TakeLink {
    /// Whether the link was valid. If so, all sessions and tokens of that account have ended.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        if !take_link(conn, &self.sha, self.kind, self.account, self.now).await? {
            return Ok(false);
        }
        if self.kind == LinkKind::Mailed {
            note_own(conn, self.contest, self.account, self.now, ["recover by mail", ""]).await?;
        }
        if self.kind == LinkKind::Organiser {
            let name: String = sqlx::query_scalar(
                "UPDATE accounts SET checksum = NULL, organiser = TRUE WHERE id = $1 RETURNING name",
            )
            .bind(self.account.0)
            .fetch_one(&mut *conn)
            .await?;
            note(conn, self.contest, self.now, [&name, "organise", &name, "by the one-time link"]).await?;
        }
        // Sessions and tokens issued with fewer rights gain none.
        sqlx::query("DELETE FROM logins WHERE account_id = $1").bind(self.account.0).execute(conn).await?;
        Ok(true)
    }
}

/// Sets the code with which people sign up. The old one becomes invalid.
#[derive(Clone, Debug)]
pub struct Invite {
    pub contest: ContestId,
    pub code: String,
    /// Who asks for it.
    pub actor: String,
    pub now: Time,
}

impl Act for Invite {
    type Reply = ();

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO invites (contest_id, code, made_ms) VALUES ($1, $2, $3) \
             ON CONFLICT (contest_id) DO UPDATE SET checksum = NULL, code = $2, made_ms = $3",
        )
        .bind(self.contest.0)
        .bind(&self.code)
        .bind(self.now.0)
        .execute(&mut *conn)
        .await?;
        note(conn, self.contest, self.now, [&self.actor, "invite", "contest", "a new code"]).await
    }
}
