//! People and teams, as they are now.

use std::collections::BTreeMap;

use crate::backend::Flag;
use crate::{
    Account, AccountId, ContestStore, Entrant, EntrantId, LinkKind, Login, LoginId, LoginKind, SecondFactor,
    Sha, Store, StoreError, Time, VersionId,
};

type AccountRow = (i64, String, Option<String>, Flag, i64, Option<i64>, Option<String>, Option<i64>);
type LoginRow = (i64, i64, String, String, i64, i64, i64);

fn account(row: AccountRow) -> Account {
    let (id, name, password, Flag(organiser), made, withdrawn, mail, confirmed) = row;
    let (made, withdrawn, confirmed) = (Time(made), withdrawn.map(Time), confirmed.map(Time));
    Account { id: AccountId(id), name, password, organiser, made, withdrawn, mail, confirmed }
}

fn login((id, account, kind, name, made, seen, ends): LoginRow) -> Result<Login, StoreError> {
    Ok(Login {
        id: LoginId(id),
        account: AccountId(account),
        kind: LoginKind::of(&kind)?,
        name,
        made: Time(made),
        seen: Time(seen),
        ends: Time(ends),
    })
}

impl ContestStore {
    /// The code with which people sign up.
    ///
    /// # Errors
    /// Database errors.
    pub async fn invite(&self) -> Result<Option<String>, StoreError> {
        let code = sqlx::query_scalar("SELECT code FROM invites WHERE contest_id = $1");
        Ok(code.bind(self.id.0).fetch_optional(&self.reader).await?)
    }

    /// The team for which an account plays now.
    ///
    /// # Errors
    /// Database errors.
    pub async fn team_of(&self, account: AccountId) -> Result<Option<EntrantId>, StoreError> {
        let id: Option<i64> = sqlx::query_scalar(
            "SELECT entrant_id FROM members WHERE contest_id = $1 AND account_id = $2 AND to_ms IS NULL",
        )
        .bind(self.id.0)
        .bind(account.0)
        .fetch_optional(&self.reader)
        .await?;
        Ok(id.map(EntrantId))
    }

    /// All teams of a contest, bosses included, oldest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn entrants(&self) -> Result<Vec<Entrant>, StoreError> {
        type Row = (i64, String, Flag, Option<String>, i64, Option<i64>, Option<i64>);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT e.id, e.name, e.boss = TRUE, e.join_code, e.made_ms, e.withdrawn_ms, v.id FROM entrants e \
             LEFT JOIN versions v ON v.entrant_id = e.id AND v.state = 'live' \
             WHERE e.contest_id = $1 ORDER BY e.id",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let people: Vec<(i64, i64, String)> = sqlx::query_as(
            "SELECT m.entrant_id, a.id, a.name FROM members m JOIN accounts a ON a.id = m.account_id \
             WHERE m.contest_id = $1 AND m.to_ms IS NULL ORDER BY m.from_ms, a.id",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let mut members: BTreeMap<i64, Vec<(AccountId, String)>> = BTreeMap::new();
        for (team, id, name) in people {
            members.entry(team).or_default().push((AccountId(id), name));
        }
        let entrant = |(id, name, Flag(boss), code, made, withdrawn, live): Row| Entrant {
            id: EntrantId(id),
            name,
            boss,
            code,
            made: Time(made),
            withdrawn: withdrawn.map(Time),
            members: members.remove(&id).unwrap_or_default(),
            live: live.map(VersionId),
        };
        Ok(rows.into_iter().map(entrant).collect())
    }

    /// A team of a contest.
    ///
    /// # Errors
    /// Database errors.
    pub async fn entrant(&self, id: EntrantId) -> Result<Option<Entrant>, StoreError> {
        Ok(self.entrants().await?.into_iter().find(|entrant| entrant.id == id))
    }
}

impl Store {
    /// An account by its number.
    ///
    /// # Errors
    /// Database errors.
    pub async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        let row: Option<AccountRow> = sqlx::query_as(
            "SELECT id, name, password, organiser = TRUE, made_ms, withdrawn_ms, mail, mail_ms FROM accounts WHERE id = $1",
        )
        .bind(id.0)
        .fetch_optional(&self.reader)
        .await?;
        Ok(row.map(account))
    }

    /// The account whose name looks like this one.
    ///
    /// # Errors
    /// Database errors.
    pub async fn account_like(&self, name: &str) -> Result<Option<Account>, StoreError> {
        let row: Option<AccountRow> = sqlx::query_as(
            // An exact name comes first: two names may look alike since names are compared more strictly, and both can sign in.
            "SELECT id, name, password, organiser = TRUE, made_ms, withdrawn_ms, mail, mail_ms FROM accounts WHERE likeness = $1 OR name = $2 \
             ORDER BY name = $2 DESC, id LIMIT 1",
        )
        .bind(crate::names::likeness(name))
        .bind(name)
        .fetch_optional(&self.reader)
        .await?;
        Ok(row.map(account))
    }

    /// The first accounts by name, and the number of all.
    ///
    /// # Errors
    /// Database errors.
    pub async fn accounts(&self, most: i64) -> Result<(Vec<Account>, i64), StoreError> {
        let rows: Vec<AccountRow> = sqlx::query_as(
            "SELECT id, name, password, organiser = TRUE, made_ms, withdrawn_ms, mail, mail_ms FROM accounts \
             WHERE withdrawn_ms IS NULL ORDER BY likeness LIMIT $1",
        )
        .bind(most)
        .fetch_all(&self.reader)
        .await?;
        let count = sqlx::query_scalar("SELECT count(*) FROM accounts WHERE withdrawn_ms IS NULL");
        Ok((rows.into_iter().map(account).collect(), count.fetch_one(&self.reader).await?))
    }

    /// The number of organisers.
    ///
    /// # Errors
    /// Database errors.
    pub async fn organisers(&self) -> Result<i64, StoreError> {
        let count = sqlx::query_scalar("SELECT count(*) FROM accounts WHERE organiser");
        Ok(count.fetch_one(&self.reader).await?)
    }

    /// Whether nobody has come yet, to any contest here, and no act has changed a setting.
    ///
    /// # Errors
    /// Database errors.
    pub async fn is_being_founded(&self) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT (SELECT count(*) FROM accounts) + (SELECT count(*) FROM entrants WHERE NOT boss) + \
             (SELECT count(*) FROM events WHERE verb IN ('set', 'freeze') AND actor NOT IN ('server', $1))",
        )
        .bind(crate::FOUNDER)
        .fetch_one(&self.reader)
        .await?;
        Ok(count == 0)
    }

    /// The account and secret that have this hash, while the secret is valid.
    ///
    /// # Errors
    /// Database errors.
    pub async fn known_by(
        &self,
        sha: &Sha,
        kind: LoginKind,
        now: Time,
    ) -> Result<Option<(Login, Account)>, StoreError> {
        let row: Option<LoginRow> = sqlx::query_as(
            "SELECT id, account_id, kind, name, made_ms, seen_ms, ends_ms FROM logins \
             WHERE sha = $1 AND kind = $2 AND ends_ms > $3 AND seen_ms + idle_ms > $3",
        )
        .bind(sha.to_string())
        .bind(kind.word())
        .bind(now.0)
        .fetch_optional(&self.reader)
        .await?;
        let Some(login) = row.map(login).transpose()? else { return Ok(None) };
        Ok(self.account(login.account).await?.map(|account| (login, account)))
    }

    /// The valid secrets of an account, newest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn logins(&self, account: AccountId, now: Time) -> Result<Vec<Login>, StoreError> {
        let rows: Vec<LoginRow> = sqlx::query_as(
            "SELECT id, account_id, kind, name, made_ms, seen_ms, ends_ms FROM logins \
             WHERE account_id = $1 AND ends_ms > $2 AND seen_ms + idle_ms > $2 ORDER BY id DESC",
        )
        .bind(account.0)
        .bind(now.0)
        .fetch_all(&self.reader)
        .await?;
        rows.into_iter().map(login).collect()
    }

    /// How many recovery codes of an account are left.
    ///
    /// # Errors
    /// Database errors.
    pub async fn recovery_codes(&self, account: AccountId) -> Result<i64, StoreError> {
        let count = sqlx::query_scalar("SELECT count(*) FROM recovery_codes WHERE account_id = $1");
        Ok(count.bind(account.0).fetch_one(&self.reader).await?)
    }

    /// Whether this is the hash of a recovery code of an account that was not used.
    ///
    /// # Errors
    /// Database errors.
    pub async fn is_recovery_code(&self, account: AccountId, code: &Sha) -> Result<bool, StoreError> {
        let count: i64 =
            sqlx::query_scalar("SELECT count(*) FROM recovery_codes WHERE account_id = $1 AND sha = $2")
                .bind(account.0)
                .bind(code.to_string())
                .fetch_one(&self.reader)
                .await?;
        Ok(count > 0)
    }

    /// The accounts with this mail address, whatever the case of its letters, that have confirmed it: the first few.
    ///
    /// # Errors
    /// Database errors.
    pub async fn accounts_with_mail(&self, mail: &str, most: i64) -> Result<Vec<Account>, StoreError> {
        let rows: Vec<AccountRow> = sqlx::query_as(
            "SELECT id, name, password, organiser = TRUE, made_ms, withdrawn_ms, mail, mail_ms FROM accounts \
             WHERE lower(mail) = $1 AND mail_ms IS NOT NULL ORDER BY id LIMIT $2",
        )
        .bind(mail.to_ascii_lowercase())
        .bind(most)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows.into_iter().map(account).collect())
    }

    /// The second factor of an account, confirmed or not.
    ///
    /// # Errors
    /// Database errors.
    pub async fn factor(&self, account: AccountId) -> Result<Option<SecondFactor>, StoreError> {
        let row: Option<(String, Option<i64>, i64)> =
            sqlx::query_as("SELECT secret, on_ms, step FROM factors WHERE account_id = $1")
                .bind(account.0)
                .fetch_optional(&self.reader)
                .await?;
        Ok(row.map(|(secret, on, step)| SecondFactor { secret, on: on.map(Time), step }))
    }

    /// What the link with this hash does and for whom, while it is valid.
    ///
    /// # Errors
    /// Database errors.
    pub async fn link(
        &self,
        sha: &Sha,
        now: Time,
    ) -> Result<Option<(LinkKind, Option<AccountId>)>, StoreError> {
        let row: Option<(String, Option<i64>)> =
            sqlx::query_as("SELECT kind, account_id FROM links WHERE sha = $1 AND ends_ms > $2")
                .bind(sha.to_string())
                .bind(now.0)
                .fetch_optional(&self.reader)
                .await?;
        row.map(|(kind, account)| Ok((LinkKind::of(&kind)?, account.map(AccountId)))).transpose()
    }

    /// The owner of a version.
    ///
    /// # Errors
    /// Database errors.
    pub async fn owner_of(&self, version: VersionId) -> Result<Option<EntrantId>, StoreError> {
        let id: Option<i64> = sqlx::query_scalar("SELECT v.entrant_id FROM versions v WHERE v.id = $1")
            .bind(version.0)
            .fetch_optional(&self.reader)
            .await?;
        Ok(id.map(EntrantId))
    }
}
