//! Results that come together. The usual ones take a few statements in all; each other one is then handled on its own.

use agon_api::MatchResult;
use std::collections::{BTreeMap, BTreeSet};

use sqlx::AssertSqlSafe;

use crate::acts::expire::{end, wait_again};
use crate::acts::result::{Judgement, PostReply, PostResult, mismatch, unusual};
use crate::acts::{Act, ActTurn};
use crate::backend::{Conn, many};
use crate::{Attempt, ContestId, ContestSettings, MatchId, MatchState, Sha, StoreError, Time};

/// Several results of one worker.
#[derive(Clone, Debug)]
pub struct PostAll {
    pub posts: Vec<PostResult>,
}

impl Act for PostAll {
    /// Their outcomes, in order.
    type Reply = Vec<PostReply>;

    async fn run(&self, conn: &mut Conn) -> Result<Vec<PostReply>, StoreError> {
        Ok(Self::run_all(&[self], conn).await?.into_iter().flatten().collect())
    }

    async fn run_all(acts: &[&Self], conn: &mut Conn) -> Result<Vec<Vec<PostReply>>, StoreError> {
        let all: Vec<&PostResult> = acts.iter().flat_map(|act| &act.posts).collect();
        let attempts: Vec<Attempt> = all.iter().map(|post| post.attempt).collect();
        let usual = usual(conn, &attempts, MatchState::Leased).await?;
        let other = other_images(conn, &all).await?;
        // Of several results of one try the first counts.
        let mut seen = BTreeSet::new();
        let is_usual = |own: &PostResult| {
            let whose = (own.attempt.game.0, own.attempt.n, own.worker.0);
            usual.contains(&whose) && !other.contains(&own.attempt) && seen.insert(own.attempt.game.0)
        };
        let together: Vec<bool> = all.iter().copied().map(is_usual).collect();
        let posts: Vec<&PostResult> =
            all.iter().zip(&together).filter_map(|(post, is_one)| is_one.then_some(*post)).collect();
        keep(conn, &posts).await?;
        let mut replies = Vec::with_capacity(all.len());
        for (post, is_one) in all.iter().zip(together) {
            replies.push(match is_one {
                true => PostReply::Kept,
                false if other.contains(&post.attempt) => {
                    let is_held = usual.contains(&(post.attempt.game.0, post.attempt.n, post.worker.0));
                    refuse(conn, post, is_held).await?
                }
                false => unusual(conn, post).await?,
            });
        }
        let mut replies = replies.into_iter();
        Ok(acts.iter().map(|act| replies.by_ref().take(act.posts.len()).collect()).collect())
    }
}

/// What of a result says in which images its programs ran.
#[derive(serde::Deserialize)]
struct RanIn {
    #[serde(default)]
    images: Vec<String>,
}

/// The results that were not played in their contest's image. It is read here, in the transaction that keeps the others: so nothing counts
/// that was played in a former one.
async fn other_images(conn: &mut Conn, posts: &[&PostResult]) -> Result<BTreeSet<Attempt>, StoreError> {
    let all: Vec<(i64, Option<String>)> =
        sqlx::query_as("SELECT id, settings FROM contests").fetch_all(&mut *conn).await?;
    let mut images = BTreeMap::new();
    for (contest, settings) in all {
        let settings: Option<ContestSettings> = settings.as_deref().map(crate::reads::read).transpose()?;
        images.extend(settings.and_then(|settings| Some((contest, (settings.image?, settings.trust_bots)))));
    }
    let mut other = BTreeSet::new();
    if images.is_empty() {
        return Ok(other);
    }
    for post in posts {
        let (contest, uploaded): (Option<i64>, Option<i64>) = sqlx::query_as(
            "SELECT (SELECT b.contest_id FROM matches m JOIN blocks b ON b.id = m.block_id WHERE m.id = $1), \
             (SELECT v.id FROM seats s JOIN versions v ON v.id = s.version_id WHERE s.match_id = $1 AND v.builtin IS NULL LIMIT 1)",
        )
        .bind(post.attempt.game.0)
        .fetch_one(&mut *conn)
        .await?;
        let Some((image, trusts)) = contest.and_then(|contest| images.get(&contest)) else { continue };
        let ran: RanIn = crate::reads::read(&post.result)?;
        // Bots inside the program need none; nor do those of people who are trusted, where a machine confines nobody.
        let may_lack = uploaded.is_none() || *trusts;
        if ran.images.iter().any(|other| other != image) || (ran.images.is_empty() && !may_lack) {
            other.insert(post.attempt);
        }
    }
    Ok(other)
}

/// Refuses a result from another image. If its try is still the match's, that waits to be played again, at once.
async fn refuse(conn: &mut Conn, post: &PostResult, is_held: bool) -> Result<PostReply, StoreError> {
    if is_held {
        let held: Option<(i64, i64)> =
            sqlx::query_as("SELECT contest_id, tries FROM jobs WHERE match_id = $1")
                .bind(post.attempt.game.0)
                .fetch_optional(&mut *conn)
                .await?;
        if let Some((contest, tries)) = held {
            end(conn, post.attempt, "aborted", Some("it was played in another image"), post.now).await?;
            wait_again(conn, ContestId(contest), post.attempt.game, tries, None).await?;
        }
    }
    Ok(PostReply::OtherImage)
}

/// Several judgements.
#[derive(Clone, Debug)]
pub struct JudgeAll {
    pub judged: Vec<(Attempt, Judgement)>,
    pub now: Time,
}

impl Act for JudgeAll {
    /// For each, whether it was still to be judged.
    type Reply = Vec<bool>;

    const TURN: ActTurn = ActTurn::Last;

    async fn run(&self, conn: &mut Conn) -> Result<Vec<bool>, StoreError> {
        let attempts: Vec<Attempt> = self.judged.iter().map(|(attempt, _)| *attempt).collect();
        let usual = usual(conn, &attempts, MatchState::Posted).await?;
        let open: BTreeSet<(i64, i64)> = usual.iter().map(|(game, n, _)| (*game, *n)).collect();
        let is_open = |attempt: &Attempt| open.contains(&(attempt.game.0, attempt.n));
        let valid = |(attempt, judgement): &'_ (Attempt, Judgement)| match judgement {
            Judgement::Valid(outcome) if is_open(attempt) => Some((attempt.game.0, outcome.clone())),
            _ => None,
        };
        let settled: Vec<(i64, MatchResult)> = self.judged.iter().filter_map(valid).collect();
        settle(conn, &settled, self.now).await?;
        let mut judged = Vec::with_capacity(self.judged.len());
        for (attempt, judgement) in &self.judged {
            judged.push(match judgement {
                Judgement::Valid(_) => is_open(attempt),
                Judgement::Mismatch(why) => mismatch(conn, *attempt, why, self.now).await?,
            });
        }
        Ok(judged)
    }
}

/// Of these tries, those that are neither posted nor ended, of matches in this state whose current try is this one: match, number, worker.
async fn usual(
    conn: &mut Conn,
    attempts: &[Attempt],
    state: MatchState,
) -> Result<BTreeSet<(i64, i64, i64)>, StoreError> {
    let fresh = match state {
        MatchState::Leased => "AND a.result_sha IS NULL AND a.ended_ms IS NULL",
        _ => "",
    };
    let asked: BTreeSet<Attempt> = attempts.iter().copied().collect();
    let mut all = BTreeSet::new();
    for attempts in many::padded(attempts) {
        // No join: with one, a database whose statistics are old may begin with all matches.
        let select = format!(
            "SELECT a.match_id, a.n, a.worker_id FROM attempts a WHERE a.match_id IN ({}) {fresh} \
             AND (SELECT m.state FROM matches m WHERE m.id = a.match_id AND m.attempt = a.n) = $1",
            many::rows(attempts.len(), "@", 2)
        );
        let mut select = sqlx::query_as(AssertSqlSafe(select)).bind(state.word());
        for attempt in attempts {
            select = select.bind(attempt.game.0);
        }
        let found: Vec<(i64, i64, i64)> = select.fetch_all(&mut *conn).await?;
        let is_asked =
            |(game, n, _): &(i64, i64, i64)| asked.contains(&Attempt { game: MatchId(*game), n: *n });
        all.extend(found.into_iter().filter(is_asked));
    }
    Ok(all)
}

/// Keeps results, each of which its match still lacks.
pub(crate) async fn keep(conn: &mut Conn, posts: &[&PostResult]) -> Result<(), StoreError> {
    for posts in many::padded(posts) {
        let update = format!(
            "UPDATE matches SET checksum = NULL, state = 'posted', attempt = fresh.column2, result = fresh.column3, replay_sha = fresh.column4 \
             FROM (VALUES {}) AS fresh WHERE matches.id = fresh.column1",
            many::rows(posts.len(), "(@, @, @, @)", 1)
        );
        let mut update = sqlx::query(AssertSqlSafe(update));
        for post in &posts {
            update = update.bind(post.attempt.game.0).bind(post.attempt.n);
            update = update.bind(&post.result).bind(post.replay.to_string());
        }
        update.execute(&mut *conn).await?;
        let delete = format!("DELETE FROM jobs WHERE match_id IN ({})", many::rows(posts.len(), "@", 1));
        let mut delete = sqlx::query(AssertSqlSafe(delete));
        for post in &posts {
            delete = delete.bind(post.attempt.game.0);
        }
        delete.execute(&mut *conn).await?;
        let update = format!(
            "UPDATE attempts SET checksum = NULL, ended_ms = fresh.column3, how = 'posted', why = NULL, result_sha = fresh.column4, \
             started_ms = coalesce(started_ms, fresh.column3) FROM (VALUES {}) AS fresh \
             WHERE attempts.match_id = fresh.column1 AND attempts.n = fresh.column2",
            many::rows(posts.len(), "(@, @, @, @)", 1)
        );
        let mut update = sqlx::query(AssertSqlSafe(update));
        for post in &posts {
            update = update.bind(post.attempt.game.0).bind(post.attempt.n).bind(post.now.0);
            update = update.bind(post.sha().to_string());
        }
        update.execute(&mut *conn).await?;
    }
    let own = |post: &&PostResult| {
        let game = post.attempt.game.0;
        // One without an object too: a try before may have left one. Of whoever was deleted meanwhile nothing is kept.
        (0..).zip(&post.own).map(|(seat, own)| (game, seat, *own)).collect::<Vec<_>>()
    };
    let own: Vec<(i64, i64, Option<Sha>)> = posts.iter().flat_map(own).collect();
    for own in many::padded(&own) {
        let update = format!(
            "UPDATE seats SET checksum = NULL, own_sha = CASE WHEN fresh.column3 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM versions v \
             JOIN entrants e ON e.id = v.entrant_id WHERE v.id = seats.version_id AND e.withdrawn_ms IS NOT NULL) \
             THEN fresh.column3 END FROM (VALUES {}) AS fresh WHERE seats.match_id = fresh.column1 AND seats.seat = fresh.column2",
            many::rows(own.len(), "(@, @, @)", 1)
        );
        let mut update = sqlx::query(AssertSqlSafe(update));
        for (game, seat, sha) in own {
            update = update.bind(*game).bind(*seat).bind(sha.map(|sha| sha.to_string()));
        }
        update.execute(&mut *conn).await?;
    }
    Ok(())
}

/// Settles posted matches that have been recomputed, with these outcomes.
async fn settle(conn: &mut Conn, settled: &[(i64, MatchResult)], now: Time) -> Result<(), StoreError> {
    for settled in many::padded(settled) {
        let update = format!(
            // A result that is not part of the contest has no place in the log, which is 0.
            "UPDATE matches SET checksum = NULL, state = 'valid', outcome = fresh.column2, settled_ms = $1, result = NULL, \
             log_seq = (SELECT 0 FROM blocks b WHERE b.id = matches.block_id AND b.kind IN ('draft', 'again')) \
             FROM (VALUES {}) AS fresh WHERE matches.id = fresh.column1",
            many::rows(settled.len(), "(@, @)", 2)
        );
        let mut update = sqlx::query(AssertSqlSafe(update)).bind(now.0);
        for (game, outcome) in settled {
            let json =
                serde_json::to_string(outcome).map_err(|error| StoreError::Damaged(error.to_string()))?;
            update = update.bind(*game).bind(json);
        }
        update.execute(&mut *conn).await?;
    }
    let seats: Vec<(i64, usize, &MatchResult)> = settled
        .iter()
        .flat_map(|(game, outcome)| (0..outcome.proven.ranks.len()).map(move |seat| (*game, seat, outcome)))
        .collect();
    for seats in many::padded(&seats) {
        let update = format!(
            "UPDATE seats SET checksum = NULL, rank = fresh.column3, score = fresh.column4, fault = fresh.column5, max_ms = fresh.column6 \
             FROM (VALUES {}) AS fresh WHERE seats.match_id = fresh.column1 AND seats.seat = fresh.column2",
            many::rows(seats.len(), "(@, @, @, @, @, @)", 1)
        );
        let mut update = sqlx::query(AssertSqlSafe(update));
        for (game, seat, outcome) in seats {
            update = update.bind(*game).bind(*seat as i64).bind(i64::from(outcome.proven.ranks[*seat]));
            update = update.bind(outcome.proven.scores.get(*seat).copied());
            update = update.bind(outcome.observed.faults.public().get(*seat).cloned().flatten());
            update = update.bind(outcome.observed.max_ms.get(*seat).copied());
        }
        update.execute(&mut *conn).await?;
    }
    Ok(())
}
