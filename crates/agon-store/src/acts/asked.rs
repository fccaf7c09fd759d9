//! Matches on request: challenges, and drafts, which make no version. Neither is rated, and the entrant chooses map, seed and seat. Such
//! blocks have numbers below 0, because their seeds are not derived from the secret.

use crate::acts::Act;
use crate::acts::plan::{Block, lay};
use crate::backend::Conn;
use crate::reads::quota;
use crate::{ContestId, EntrantId, Kind, MatchId, Sha, StoreError, TextId, Time, VersionId, VersionState};

/// The most challenges and drafts within an hour that an organiser may allow a team.
pub const MOST_ASKED: u32 = 1_000;
/// How many bytes the drafts of an entrant may have together while they are kept: 20 of the largest.
pub const MOST_DRAFT_BYTES: i64 = 400 << 20;
/// An hour, in milliseconds.
pub const HOUR_MS: i64 = 3_600_000;
/// The time of a job that waits for its lane's turn.
pub(crate) const HELD: Time = Time(i64::MAX / 2);

/// A bot that is to play in a match on request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedBot {
    /// A version: one's own that has passed its check, or as an opponent also one that is live.
    Version(VersionId),
    /// Bytes of one's own that make no version: an object of this many.
    Draft(Sha, i64),
}

/// Requests a match.
#[derive(Clone, Debug)]
pub struct RequestMatch {
    pub contest: ContestId,
    pub entrant: EntrantId,
    /// Which bot of theirs plays.
    pub own: AskedBot,
    /// The opponents, in the order of their seats; one alone takes all of them. Only a draft meets drafts.
    pub against: Vec<AskedBot>,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    pub seed: i64,
    /// The seat that they want, from 0.
    pub seat: usize,
    /// How many seats a match has.
    pub seats: usize,
    /// Rules of its own, as JSON. Only a draft has them: nothing that is rated, and nothing that others see.
    pub rules: Option<String>,
    /// The kept text that their bot is.
    pub text: Option<TextId>,
    pub now: Time,
}

/// The outcome of [`RequestMatch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchRequested {
    Planned(MatchId),
    /// They have used up their requests, and may ask again at this time.
    TooMany(Time),
    /// One of the versions does not exist for them, or cannot play.
    NotThere,
}

impl Act for RequestMatch {
    type Reply = MatchRequested;

    async fn run(&self, conn: &mut Conn) -> Result<MatchRequested, StoreError> {
        if let Some(until) = quota(conn, self.entrant, self.now).await?.asked_an_hour.until {
            return Ok(MatchRequested::TooMany(until));
        }
        if !self.is_possible(conn).await? {
            return Ok(MatchRequested::NotThere);
        }
        let kind = match self.own {
            AskedBot::Version(_) => Kind::Challenge,
            AskedBot::Draft(..) => Kind::Draft,
        };
        let mut others = Vec::new();
        for other in &self.against {
            others.push(self.seated(conn, other).await?);
        }
        let mut lineup: Vec<VersionId> = others.into_iter().cycle().take(self.seats.max(1) - 1).collect();
        lineup.insert(self.seat, self.seated(conn, &self.own).await?);
        let n = next_below(conn, self.contest).await?;
        let block = Block {
            contest: self.contest,
            n,
            kind,
            map: self.map,
            seed: self.seed,
            lineup,
            rotations: 1,
            asked_by: Some(self.entrant),
            trial: None,
            twin_of: None,
            rules: self.rules.clone(),
            not_before: HELD,
            now: self.now,
        };
        let game = lay(conn, &[block]).await?[0][0];
        if let Some(text) = self.text {
            sqlx::query(
                "UPDATE texts SET checksum = NULL, match_id = $2, seat = $3, did = NULL, entrant_id = $4 WHERE id = $1",
            )
            .bind(text.0)
            .bind(game.0)
            .bind(self.seat as i64)
            .bind(self.entrant.0)
            .execute(conn)
            .await?;
        }
        Ok(MatchRequested::Planned(game))
    }
}

impl RequestMatch {
    /// Whether each of the bots is there for them and may play in such a match.
    async fn is_possible(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        if self.seat >= self.seats || ![1, self.seats - 1].contains(&self.against.len()) {
            return Ok(false);
        }
        for other in &self.against {
            if let AskedBot::Version(other) = other {
                let other = player(conn, self.contest, *other).await?;
                if !other.is_some_and(|other| may_meet(self.entrant, other)) {
                    return Ok(false);
                }
            }
        }
        let AskedBot::Version(own) = self.own else { return Ok(true) };
        let is_seen =
            self.rules.is_none() && self.against.iter().all(|one| matches!(one, AskedBot::Version(_)));
        let own = player(conn, self.contest, own).await?;
        Ok(is_seen && own.is_some_and(|(whose, state)| whose == self.entrant && state.can_play()))
    }

    /// What sits in the match for a bot.
    async fn seated(&self, conn: &mut Conn, bot: &AskedBot) -> Result<VersionId, StoreError> {
        match bot {
            AskedBot::Version(version) => Ok(*version),
            AskedBot::Draft(source, bytes) => draft(conn, self.entrant, (source, *bytes), self.now).await,
        }
    }
}

/// Whether an entrant may ask for a match against a version with this owner and state.
pub(crate) fn may_meet(entrant: EntrantId, (whose, state): (EntrantId, VersionState)) -> bool {
    state == VersionState::Live || whose == entrant && state.can_play()
}

/// The owner and the state of a version.
pub(crate) async fn player(
    conn: &mut Conn,
    contest: ContestId,
    version: VersionId,
) -> Result<Option<(EntrantId, VersionState)>, StoreError> {
    let row: Option<(i64, String)> = sqlx::query_as(
        "SELECT e.id, v.state FROM versions v JOIN entrants e ON e.id = v.entrant_id \
         WHERE v.id = $1 AND e.contest_id = $2 AND e.withdrawn_ms IS NULL",
    )
    .bind(version.0)
    .bind(contest.0)
    .fetch_optional(conn)
    .await?;
    row.map(|(entrant, state)| Ok((EntrantId(entrant), VersionState::of(&state)?))).transpose()
}

/// Makes these bytes able to sit in a match: the version that was made of them, else a draft.
async fn draft(
    conn: &mut Conn,
    entrant: EntrantId,
    (source, bytes): (&Sha, i64),
    now: Time,
) -> Result<VersionId, StoreError> {
    let same: Option<i64> =
        sqlx::query_scalar("SELECT id FROM versions WHERE entrant_id = $1 AND source_sha = $2")
            .bind(entrant.0)
            .bind(source.to_string())
            .fetch_optional(&mut *conn)
            .await?;
    if let Some(same) = same {
        return Ok(VersionId(same));
    }
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO versions (entrant_id, n, source_sha, received_ms, state, bytes) \
         SELECT $1, coalesce(min(n), 0) - 1, $2, $3, 'draft', $4 FROM versions WHERE entrant_id = $1 AND n < 0 RETURNING id",
    )
    .bind(entrant.0)
    .bind(source.to_string())
    .bind(now.0)
    .bind(bytes)
    .fetch_one(conn)
    .await?;
    Ok(VersionId(id))
}

/// Releases the oldest waiting request, whose turn has come.
#[derive(Clone, Debug)]
pub struct Release {
    pub contest: ContestId,
    pub now: Time,
}

impl Act for Release {
    /// How many matches this released.
    type Reply = usize;

    async fn run(&self, conn: &mut Conn) -> Result<usize, StoreError> {
        let released = sqlx::query(
            "UPDATE jobs SET checksum = NULL, not_before_ms = $2 WHERE id IN (SELECT id FROM jobs WHERE contest_id = $1 AND lease_id IS NULL \
             AND lane = 1 AND not_before_ms = $3 ORDER BY id LIMIT 1)",
        )
        .bind(self.contest.0)
        .bind(self.now.0)
        .bind(HELD.0)
        .execute(conn)
        .await?;
        Ok(released.rows_affected() as usize)
    }
}

/// Deletes drafts that were requested before `before`, once they are over.
#[derive(Clone, Debug)]
pub struct ForgetDrafts {
    pub contest: ContestId,
    /// The limit of age.
    pub before: Time,
}

impl Act for ForgetDrafts {
    /// Objects that nothing names any more.
    type Reply = Vec<Sha>;

    async fn run(&self, conn: &mut Conn) -> Result<Vec<Sha>, StoreError> {
        let old: Vec<(i64, i64, Option<String>)> = sqlx::query_as(
            "SELECT b.id, m.id, m.replay_sha FROM blocks b JOIN matches m ON m.block_id = b.id WHERE b.contest_id = $1 \
             AND b.kind = 'draft' AND b.made_ms < $2 AND m.state IN ('valid', 'dead') LIMIT 200",
        )
        .bind(self.contest.0)
        .bind(self.before.0)
        .fetch_all(&mut *conn)
        .await?;
        let mut gone = forget(conn, old).await?;
        let drafts: Vec<(i64, String, Option<String>)> = sqlx::query_as(
            "SELECT v.id, v.source_sha, v.log_sha FROM versions v JOIN entrants e ON e.id = v.entrant_id WHERE e.contest_id = $1 AND v.state = 'draft' AND v.received_ms < $2 \
             AND NOT EXISTS (SELECT 1 FROM seats s WHERE s.version_id = v.id) LIMIT 200",
        )
        .bind(self.contest.0)
        .bind(self.before.0)
        .fetch_all(&mut *conn)
        .await?;
        for (version, source, log) in drafts {
            gone.push(source);
            gone.extend(log);
            sqlx::query("DELETE FROM versions WHERE id = $1").bind(version).execute(&mut *conn).await?;
        }
        unnamed(conn, gone).await
    }
}

/// Deletes blocks of one match each without a trace: their rows, those of the matches, and the replays. Returns all objects that they
/// named.
pub(crate) async fn forget(
    conn: &mut Conn,
    all: Vec<(i64, i64, Option<String>)>,
) -> Result<Vec<String>, StoreError> {
    let mut gone: Vec<String> = Vec::new();
    for (block, game, replay) in all {
        gone.extend(replay);
        let own: Vec<String> =
            sqlx::query_scalar("SELECT own_sha FROM seats WHERE match_id = $1 AND own_sha IS NOT NULL")
                .bind(game)
                .fetch_all(&mut *conn)
                .await?;
        gone.extend(own);
        for statement in [
            "DELETE FROM jobs WHERE match_id = $1",
            "DELETE FROM attempts WHERE match_id = $1",
            "DELETE FROM seats WHERE match_id = $1",
            "DELETE FROM matches WHERE id = $1",
        ] {
            sqlx::query(statement).bind(game).execute(&mut *conn).await?;
        }
        for statement in ["DELETE FROM own_rules WHERE block_id = $1", "DELETE FROM blocks WHERE id = $1"] {
            sqlx::query(statement).bind(block).execute(&mut *conn).await?;
        }
    }
    Ok(gone)
}

/// The next block number below 0, for a seed that is not derived from the secret.
pub(crate) async fn next_below(conn: &mut Conn, contest: ContestId) -> Result<i64, StoreError> {
    let next =
        sqlx::query_scalar("SELECT coalesce(min(n), 0) - 1 FROM blocks WHERE contest_id = $1 AND n < 0");
    Ok(next.bind(contest.0).fetch_one(conn).await?)
}

/// The objects among these that nothing names.
pub(crate) async fn unnamed(conn: &mut Conn, mut all: Vec<String>) -> Result<Vec<Sha>, StoreError> {
    all.sort();
    all.dedup();
    let mut unnamed = Vec::new();
    for sha in all {
        let names: i64 = sqlx::query_scalar(
            "SELECT (SELECT count(*) FROM versions v JOIN entrants e ON e.id = v.entrant_id \
             WHERE v.source_sha = $1 AND e.withdrawn_ms IS NULL) + (SELECT count(*) FROM versions WHERE log_sha = $1) \
             + (SELECT count(*) FROM seats WHERE own_sha = $1) + (SELECT count(*) FROM matches WHERE replay_sha = $1)",
        )
        .bind(&sha)
        .fetch_one(&mut *conn)
        .await?;
        if names == 0 {
            unnamed.push(sha.parse().map_err(StoreError::Damaged)?);
        }
    }
    Ok(unnamed)
}
