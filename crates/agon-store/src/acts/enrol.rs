//! Enrols many people at once from an organiser's list: all who can be; a line that cannot stops none of the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::acts::held::settings;
use crate::acts::teams::{enter, members};
use crate::acts::{Act, note};
use crate::backend::{Conn, Flag};
use crate::names::likeness;
use crate::{AccountId, ContestId, EntrantId, LinkKind, Sha, StoreError, Time};

/// A person on the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPerson {
    pub name: String,
    /// The team, if the list names one, with the join code to give it if this creates it.
    pub team: Option<(String, String)>,
    /// The hash of the secret in the link by which the password is set.
    pub link: Sha,
}

/// Makes accounts and puts them into teams. Nobody can sign in to such an account until its link was used to set a password.
#[derive(Clone, Debug)]
pub struct Enrol {
    pub contest: ContestId,
    pub people: Vec<ListedPerson>,
    /// When the links expire.
    pub ends: Time,
    /// Who brings the list.
    pub actor: String,
    pub now: Time,
}

/// Why a person on the list cannot be enrolled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unenrollable {
    /// The name looks like that of an account, or of somebody earlier on the list.
    Taken(String),
    /// The team's name looks like that of another team, or is a boss's.
    TeamTaken(String),
    /// The team would have more members than this, as many as a team may have.
    TeamFull(String, u8),
}

impl Act for Enrol {
    /// Who is not enrolled and why, by place on the list from 0; everybody else is.
    type Reply = Vec<(usize, Unenrollable)>;

    async fn run(&self, conn: &mut Conn) -> Result<Vec<(usize, Unenrollable)>, StoreError> {
        let wrong = self.wrong(conn).await?;
        let refused: BTreeSet<usize> = wrong.iter().map(|(place, _)| *place).collect();
        for (_, one) in self.people.iter().enumerate().filter(|(place, _)| !refused.contains(place)) {
            let account: i64 = sqlx::query_scalar(
                "INSERT INTO accounts (name, likeness, password, organiser, made_ms) VALUES ($1, $2, NULL, FALSE, $3) \
                 RETURNING id",
            )
            .bind(&one.name)
            .bind(likeness(&one.name))
            .bind(self.now.0)
            .fetch_one(&mut *conn)
            .await?;
            sqlx::query(
                "INSERT INTO links (sha, kind, account_id, made_ms, ends_ms) VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(one.link.to_string())
            .bind(LinkKind::Password.word())
            .bind(account)
            .bind(self.now.0)
            .bind(self.ends.0)
            .execute(&mut *conn)
            .await?;
            note(conn, self.contest, self.now, [&self.actor, "enrol", &one.name, ""]).await?;
            if let Some((team, code)) = &one.team {
                let team = self.team(conn, team, code).await?;
                enter(conn, self.contest, AccountId(account), team, self.now).await?;
            }
        }
        Ok(wrong)
    }
}

impl Enrol {
    async fn wrong(&self, conn: &mut Conn) -> Result<Vec<(usize, Unenrollable)>, StoreError> {
        let most = settings(conn, self.contest).await?.team_size;
        let mut wrong = Vec::new();
        let mut names: BTreeMap<String, &str> = BTreeMap::new();
        // For each team its name and how many members it would have.
        let mut teams: BTreeMap<String, (String, i64)> = BTreeMap::new();
        for (place, one) in self.people.iter().enumerate() {
            let person = likeness(&one.name);
            let known: Option<String> = sqlx::query_scalar("SELECT name FROM accounts WHERE likeness = $1")
                .bind(&person)
                .fetch_optional(&mut *conn)
                .await?;
            let taken = known.or_else(|| names.get(&person).map(|name| (*name).to_owned()));
            let unfit = match (&one.team, taken) {
                (_, Some(other)) => Some(Unenrollable::Taken(other)),
                (None, None) => None,
                (Some((team, _)), None) => {
                    let like = likeness(team);
                    let (known, is_boss) = match teams.get(&like) {
                        Some(known) => (known.clone(), false),
                        None => self.known(conn, team).await?,
                    };
                    let (name, count) = known;
                    if is_boss || name != *team {
                        Some(Unenrollable::TeamTaken(name))
                    } else if count >= i64::from(most) {
                        Some(Unenrollable::TeamFull(name, most))
                    } else {
                        // Only who is enrolled takes a place.
                        teams.insert(like, (name, count + 1));
                        None
                    }
                }
            };
            match unfit {
                Some(unfit) => wrong.push((place, unfit)),
                None => {
                    names.insert(person, &one.name);
                }
            }
        }
        Ok(wrong)
    }

    /// The team with this name or one that looks like it, with its members, and whether it is a boss.
    async fn known(&self, conn: &mut Conn, team: &str) -> Result<((String, i64), bool), StoreError> {
        let known: Option<(i64, String, Flag)> = sqlx::query_as(
            "SELECT id, name, boss = TRUE FROM entrants WHERE contest_id = $1 AND (likeness = $2 OR name = $3) \
             ORDER BY name = $3 DESC, id LIMIT 1",
        )
        .bind(self.contest.0)
        .bind(likeness(team))
        .bind(team)
        .fetch_optional(&mut *conn)
        .await?;
        Ok(match known {
            Some((_, name, Flag(true))) => ((name, 0), true),
            Some((id, name, Flag(false))) => ((name, members(conn, EntrantId(id)).await?), false),
            None => ((team.to_owned(), 0), false),
        })
    }

    /// The team with this name, created if there is none.
    async fn team(&self, conn: &mut Conn, name: &str, code: &str) -> Result<EntrantId, StoreError> {
        let like = likeness(name);
        let known: Option<i64> =
            sqlx::query_scalar("SELECT id FROM entrants WHERE contest_id = $1 AND name = $2")
                .bind(self.contest.0)
                .bind(name)
                .fetch_optional(&mut *conn)
                .await?;
        if let Some(id) = known {
            return Ok(EntrantId(id));
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO entrants (contest_id, name, likeness, boss, made_ms, join_code) \
             VALUES ($1, $2, $3, FALSE, $4, $5) RETURNING id",
        )
        .bind(self.contest.0)
        .bind(name)
        .bind(like)
        .bind(self.now.0)
        .bind(code)
        .fetch_one(&mut *conn)
        .await?;
        note(conn, self.contest, self.now, [&self.actor, "make team", name, ""]).await?;
        Ok(EntrantId(id))
    }
}
