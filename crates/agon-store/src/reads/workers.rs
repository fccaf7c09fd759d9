//! Workers: who plays the matches.

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;

use crate::backend::many;
use crate::{
    Attempt, ContestStore, EntrantId, Kind, MatchId, MatchState, Sha, Store, StoreError, Time, VersionId,
    WorkerId,
};

/// The state of a try of a match that a worker was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TryState {
    /// A result of it would be kept.
    Open,
    /// It has posted the result with this hash.
    Posted(Sha),
    /// Another try was first, or the match is dead.
    Over,
}

/// A worker, as its organiser sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Working {
    pub id: WorkerId,
    pub name: String,
    /// How strictly it confines bots; empty before it introduced itself.
    pub level: String,
    /// What it said of its machine, as JSON; none for the server's own worker, and before it introduced itself.
    pub about: Option<String>,
    /// When its token was made; none for the server's own worker, which has none.
    pub made: Option<Time>,
    /// When its token was revoked.
    pub revoked: Option<Time>,
    /// Why it is paused, if it is.
    pub paused: Option<String>,
    /// When it last called; 0 for never.
    pub seen: Time,
    /// How many matches it has now.
    pub playing: i64,
    /// Matches posted since the moment asked about.
    pub posted: i64,
    /// Tries that failed since that moment.
    pub wasted: i64,
    /// Results that their replays did not bear out, ever.
    pub lies: i64,
}

/// A worker that identifies itself by its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWork {
    pub id: WorkerId,
    pub name: String,
    /// The process that was admitted last.
    pub run: Option<String>,
    /// When it last called.
    pub seen: Time,
    /// Whether its token was revoked.
    pub revoked: bool,
    pub paused: bool,
}

/// Numbers of leases and workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hands {
    /// Leases with matches that are not posted yet.
    pub leases: i64,
    /// Workers that called lately and are not paused.
    pub heard: i64,
    /// Those that called once but not lately, and may come back.
    pub silent: i64,
    /// Paused ones, whether they call or not.
    pub paused: i64,
}

/// The conduct of the active workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conduct {
    pub tries: Vec<TriesOf>,
    /// Comparisons of results between two of them.
    pub compared: Vec<ComparedOf>,
}

/// The last tries of a worker that ended with a result, or failed while it was connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriesOf {
    pub worker: WorkerId,
    /// Whether it has a token: the server's own worker does not.
    pub has_token: bool,
    /// The number of tries.
    pub ended: i64,
    /// How many of them failed.
    pub void: i64,
    /// In how many different minutes those failures were.
    pub minutes: i64,
}

/// Matches that both of these workers have played, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparedOf {
    pub workers: [WorkerId; 2],
    /// The number of matches compared.
    pub compared: i64,
    /// How many of them ended with different ranks.
    pub differ: i64,
}

/// How many of the last matches are considered for workers' tries, so that the query costs the same in every contest.
const MOST_TRIES: i64 = 50_000;
/// How many of the last comparisons are considered for workers' results.
const MOST_COMPARED: i64 = 20_000;

type Row =
    (i64, String, String, Option<String>, Option<i64>, Option<i64>, Option<String>, i64, i64, i64, i64, i64);

/// A version in whose matches tries were void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voiding {
    pub version: VersionId,
    /// How many tries.
    pub tries: i64,
    /// How many of them it made void, by what was counted.
    pub own: i64,
}

impl ContestStore {
    /// How many tries of a contest ended without a result, by how they ended.
    ///
    /// # Errors
    /// Database errors.
    pub async fn tries(&self) -> Result<Vec<(String, i64)>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT a.how, count(*) FROM attempts a JOIN matches m ON m.id = a.match_id JOIN blocks b ON b.id = m.block_id \
             WHERE b.contest_id = $1 AND a.how <> 'posted' GROUP BY a.how ORDER BY a.how",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?)
    }

    /// The versions in whose matches tries were void since a moment: those that did it themselves, and those that were in at least three.
    /// Whoever did it most often comes first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn voiding(&self, since: Time) -> Result<Vec<Voiding>, StoreError> {
        let rows: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT s.version_id, count(*), count(CASE WHEN a.by_seat = s.seat THEN 1 END) FROM attempts a \
             JOIN matches m ON m.id = a.match_id JOIN blocks b ON b.id = m.block_id JOIN seats s ON s.match_id = a.match_id \
             WHERE a.how = 'void' AND a.ended_ms >= $2 AND b.contest_id = $1 GROUP BY s.version_id \
             HAVING count(CASE WHEN a.by_seat = s.seat THEN 1 END) > 0 OR count(*) >= 3 \
             ORDER BY count(CASE WHEN a.by_seat = s.seat THEN 1 END) DESC, count(*) DESC, s.version_id LIMIT 12",
        )
        .bind(self.id.0)
        .bind(since.0)
        .fetch_all(&self.reader)
        .await?;
        let voiding = |(version, tries, own)| Voiding { version: VersionId(version), tries, own };
        Ok(rows.into_iter().map(voiding).collect())
    }
}

impl Store {
    /// The workers, the most recently heard first; those with a revoked token last. Tries are counted since a moment.
    ///
    /// # Errors
    /// Database errors.
    pub async fn working(&self, since: Time) -> Result<Vec<Working>, StoreError> {
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT w.id, w.name, w.level, w.about, w.made_ms, w.revoked_ms, w.paused_why, w.seen_ms, \
             (SELECT count(*) FROM jobs j JOIN leases l ON l.id = j.lease_id WHERE l.worker_id = w.id), \
             (SELECT count(*) FROM attempts a WHERE a.worker_id = w.id AND a.ended_ms >= $1 AND a.how = 'posted'), \
             (SELECT count(*) FROM attempts a WHERE a.worker_id = w.id AND a.ended_ms >= $1 \
             AND a.how IN ('lost', 'void', 'mismatch')), \
             (SELECT count(*) FROM attempts a WHERE a.worker_id = w.id AND a.how = 'mismatch') \
             FROM workers w WHERE w.made_ms IS NOT NULL OR w.seen_ms > 0 ORDER BY w.revoked_ms IS NOT NULL, w.seen_ms DESC, w.id LIMIT 100",
        )
        .bind(since.0)
        .fetch_all(&self.reader)
        .await?;
        let working =
            |(id, name, level, about, made, revoked, paused, seen, playing, posted, wasted, lies): Row| {
                Working {
                    id: WorkerId(id),
                    name,
                    level,
                    about,
                    made: made.map(Time),
                    revoked: revoked.map(Time),
                    paused,
                    seen: Time(seen),
                    playing,
                    posted,
                    wasted,
                    lies,
                }
            };
        Ok(rows.into_iter().map(working).collect())
    }

    /// The numbers of leases and workers. A worker counts as heard if it called since a moment.
    ///
    /// # Errors
    /// Database errors.
    pub async fn hands(&self, since: Time) -> Result<Hands, StoreError> {
        let leases =
            sqlx::query_scalar("SELECT count(DISTINCT lease_id) FROM jobs WHERE lease_id IS NOT NULL");
        let leases: i64 = leases.fetch_one(&self.reader).await?;
        let (heard, paused, all): (i64, i64, i64) = sqlx::query_as(
            "SELECT count(CASE WHEN seen_ms >= $1 AND paused_ms IS NULL THEN 1 END), count(paused_ms), count(*) FROM workers \
             WHERE revoked_ms IS NULL AND seen_ms > 0",
        )
        .bind(since.0)
        .fetch_one(&self.reader)
        .await?;
        Ok(Hands { leases, heard, silent: all - heard - paused, paused })
    }

    /// The worker whose token has this hash.
    ///
    /// # Errors
    /// Database errors.
    pub async fn worker_known_by(&self, sha: &Sha) -> Result<Option<AtWork>, StoreError> {
        self.callers.known_by(sha).await
    }

    /// Whether a worker is paused.
    ///
    /// # Errors
    /// Database errors.
    pub async fn is_paused(&self, worker: WorkerId) -> Result<bool, StoreError> {
        let one = sqlx::query_scalar("SELECT id FROM workers WHERE id = $1 AND paused_ms IS NOT NULL");
        let one: Option<i64> = one.bind(worker.0).fetch_optional(&self.reader).await?;
        Ok(one.is_some())
    }

    /// The facts by which a worker that stands out is found: the last tries of active workers since a moment, and the comparisons of their
    /// results. A try that a bot has made void says nothing of its worker.
    ///
    /// # Errors
    /// Database errors.
    pub async fn conduct(&self, since: Time) -> Result<Conduct, StoreError> {
        let tries: Vec<(i64, i64, i64, i64, i64)> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT w.id, count(w.token_sha), count(*), count(CASE WHEN a.how <> 'posted' AND a.by_seat IS NULL THEN 1 END), \
             count(DISTINCT CASE WHEN a.how <> 'posted' AND a.by_seat IS NULL THEN a.ended_ms / 60000 END) \
             FROM attempts a JOIN workers w ON w.id = a.worker_id \
             WHERE a.match_id > (SELECT coalesce(max(id), 0) - {MOST_TRIES} FROM matches) \
             AND a.how IN ('posted', 'void', 'mismatch') AND a.ended_ms >= $1 AND a.ended_ms > w.counted_ms \
             AND w.revoked_ms IS NULL AND w.paused_ms IS NULL GROUP BY w.id ORDER BY w.id"
        )))
        .bind(since.0)
        .fetch_all(&self.reader)
        .await?;
        let compared: Vec<(i64, i64, i64, i64)> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT g.first_id, g.second_id, count(*), CAST(sum(g.differs) AS BIGINT) \
             FROM (SELECT first_id, second_id, differs, at_ms FROM agains WHERE at_ms IS NOT NULL \
             ORDER BY at_ms DESC LIMIT {MOST_COMPARED}) g \
             JOIN workers f ON f.id = g.first_id JOIN workers s ON s.id = g.second_id \
             WHERE g.at_ms > f.counted_ms AND g.at_ms > s.counted_ms AND f.revoked_ms IS NULL AND s.revoked_ms IS NULL \
             AND f.paused_ms IS NULL AND s.paused_ms IS NULL GROUP BY g.first_id, g.second_id"
        )))
        .fetch_all(&self.reader)
        .await?;
        let tries = tries.into_iter().map(|(id, tokens, ended, void, minutes)| TriesOf {
            worker: WorkerId(id),
            has_token: tokens > 0,
            ended,
            void,
            minutes,
        });
        let compared = compared.into_iter().map(|(first, second, compared, differ)| ComparedOf {
            workers: [WorkerId(first), WorkerId(second)],
            compared,
            differ,
        });
        Ok(Conduct { tries: tries.collect(), compared: compared.collect() })
    }

    /// What the first worker with a token that introduced itself said of its machine, this one excluded.
    ///
    /// # Errors
    /// Database errors.
    pub async fn first_machine(&self, but: WorkerId) -> Result<Option<String>, StoreError> {
        let first = sqlx::query_scalar(
            "SELECT about FROM workers WHERE about IS NOT NULL AND revoked_ms IS NULL AND id <> $1 ORDER BY id LIMIT 1",
        );
        Ok(first.bind(but.0).fetch_optional(&self.reader).await?)
    }

    /// Whether a worker currently holds a match in which these bytes play.
    ///
    /// # Errors
    /// Database errors.
    pub async fn may_fetch(&self, worker: WorkerId, source: &Sha) -> Result<bool, StoreError> {
        let one: Option<i64> = sqlx::query_scalar(
            "SELECT j.id FROM leases l JOIN jobs j ON j.lease_id = l.id JOIN seats s ON s.match_id = j.match_id \
             JOIN versions v ON v.id = s.version_id WHERE l.worker_id = $1 AND v.source_sha = $2 LIMIT 1",
        )
        .bind(worker.0)
        .bind(source.to_string())
        .fetch_optional(&self.reader)
        .await?;
        if one.is_some() {
            return Ok(true);
        }
        // A position in which the team of such a bot has it tried.
        let tested: Option<i64> = sqlx::query_scalar(
            "SELECT t.id FROM leases l JOIN jobs j ON j.lease_id = l.id JOIN seats s ON s.match_id = j.match_id \
             JOIN versions v ON v.id = s.version_id JOIN team_tests t ON t.entrant_id = v.entrant_id \
             JOIN matches m ON m.id = t.match_id WHERE l.worker_id = $1 AND m.replay_sha = $2 LIMIT 1",
        )
        .bind(worker.0)
        .bind(source.to_string())
        .fetch_optional(&self.reader)
        .await?;
        Ok(tested.is_some())
    }

    /// Of these tries, those that the worker was ever given.
    ///
    /// # Errors
    /// Database errors.
    pub async fn given(
        &self,
        worker: WorkerId,
        attempts: &[Attempt],
    ) -> Result<BTreeMap<Attempt, TryState>, StoreError> {
        let mut tries = BTreeMap::new();
        for asked in many::padded(attempts) {
            // No join: with one, a database whose statistics are old may begin with all matches.
            let select = format!(
                "SELECT a.match_id, a.n, a.result_sha, (SELECT m.state FROM matches m WHERE m.id = a.match_id) \
                 FROM attempts a WHERE a.match_id IN ({}) AND a.worker_id = $1",
                many::rows(asked.len(), "@", 2)
            );
            let mut select = sqlx::query_as(AssertSqlSafe(select)).bind(worker.0);
            for attempt in &asked {
                select = select.bind(attempt.game.0);
            }
            let found: Vec<(i64, i64, Option<String>, String)> = select.fetch_all(&self.reader).await?;
            for (game, n, posted, state) in found {
                let tried = match posted {
                    Some(sha) => TryState::Posted(sha.parse().map_err(StoreError::Damaged)?),
                    None => match MatchState::of(&state)? {
                        MatchState::Planned | MatchState::Leased => TryState::Open,
                        MatchState::Posted | MatchState::Valid | MatchState::Dead => TryState::Over,
                    },
                };
                tries.insert(Attempt { game: MatchId(game), n }, tried);
            }
        }
        Ok(tries)
    }

    /// Whose bots sit in the seats of these matches, from 0.
    ///
    /// # Errors
    /// Database errors.
    pub async fn whose_seats(
        &self,
        games: &[MatchId],
    ) -> Result<BTreeMap<(MatchId, usize), EntrantId>, StoreError> {
        let mut whose = BTreeMap::new();
        for games in many::padded(games) {
            let select = format!(
                "SELECT s.match_id, s.seat, (SELECT v.entrant_id FROM versions v JOIN entrants e ON e.id = v.entrant_id \
                 WHERE v.id = s.version_id AND e.withdrawn_ms IS NULL) FROM seats s WHERE s.match_id IN ({})",
                many::rows(games.len(), "@", 1)
            );
            let mut select = sqlx::query_as(AssertSqlSafe(select));
            for game in games {
                select = select.bind(game.0);
            }
            let found: Vec<(i64, i64, Option<i64>)> = select.fetch_all(&self.reader).await?;
            let seat = |(game, seat, entrant): (i64, i64, Option<i64>)| {
                Some(((MatchId(game), usize::try_from(seat).ok()?), EntrantId(entrant?)))
            };
            whose.extend(found.into_iter().filter_map(seat));
        }
        Ok(whose)
    }

    /// Whether a worker holds a match in which a version is tried out, of whose build it tells.
    ///
    /// # Errors
    /// Database errors.
    pub async fn may_tell_of_build(&self, worker: WorkerId, attempt: Attempt) -> Result<bool, StoreError> {
        let mut conn = self.reader.acquire().await?;
        Ok(crate::acts::building::checked(&mut conn, worker, attempt).await?.is_some())
    }

    /// The name of a worker.
    ///
    /// # Errors
    /// Database errors.
    pub async fn name_of_worker(&self, worker: WorkerId) -> Result<String, StoreError> {
        let name: Option<String> = sqlx::query_scalar("SELECT name FROM workers WHERE id = $1")
            .bind(worker.0)
            .fetch_optional(&self.reader)
            .await?;
        Ok(name.unwrap_or_else(|| worker.to_string()))
    }

    /// The kind of a match.
    ///
    /// # Errors
    /// Database errors.
    pub async fn kind_of(&self, game: MatchId) -> Result<Option<Kind>, StoreError> {
        let kind: Option<String> = sqlx::query_scalar(
            "SELECT b.kind FROM matches m JOIN blocks b ON b.id = m.block_id WHERE m.id = $1",
        )
        .bind(game.0)
        .fetch_optional(&self.reader)
        .await?;
        Ok(kind.as_deref().map(Kind::of).transpose()?)
    }
}
