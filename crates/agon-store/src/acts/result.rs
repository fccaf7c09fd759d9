//! Results: posted once, checked, and then valid; or void, and tried again.

use crate::acts::batch::keep;
use crate::acts::building::checked;
use crate::acts::expire::{end, give_up, wait_again};
use crate::acts::teams::has_withdrawn;
use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{Attempt, ContestId, MatchState, Sha, StoreError, Time, WorkerId};
use agon_api::MatchResult;

/// The result of a match; its replay is stored already. It may come late, and it may come twice.
#[derive(Clone, Debug)]
pub struct PostResult {
    pub worker: WorkerId,
    /// The match and try.
    pub attempt: Attempt,
    /// The result, as JSON; its hash distinguishes it from another one.
    pub result: String,
    pub replay: Sha,
    /// For each seat, the object that belongs to its author.
    pub own: Vec<Option<Sha>>,
    pub now: Time,
}

/// The outcome of a [`PostResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostReply {
    /// It is kept, and will be checked.
    Kept,
    /// The same result was kept before.
    Same,
    /// This try has posted a different result before. The audit log has an alarm.
    Conflict,
    /// Another try was first, or the match is dead.
    Settled,
    /// The worker never had this try.
    Unknown,
    /// It was played in another image than the contest's, or in none. The match is played again.
    OtherImage,
}

/// The state of a try: its contest, the state and current try of its match, how it ended, and what it posted.
struct Tried {
    contest: ContestId,
    state: MatchState,
    current: i64,
    ended: bool,
    posted: Option<String>,
    tries: Option<i64>,
}

async fn tried(
    conn: &mut Conn,
    attempt: Attempt,
    worker: Option<WorkerId>,
) -> Result<Option<Tried>, StoreError> {
    type Found = (i64, String, i64, Option<i64>, Option<String>, Option<i64>, i64);
    let row: Option<Found> = sqlx::query_as(
        "SELECT b.contest_id, m.state, m.attempt, a.ended_ms, a.result_sha, j.tries, a.worker_id FROM attempts a \
         JOIN matches m ON m.id = a.match_id JOIN blocks b ON b.id = m.block_id LEFT JOIN jobs j ON j.match_id = m.id \
         WHERE a.match_id = $1 AND a.n = $2",
    )
    .bind(attempt.game.0)
    .bind(attempt.n)
    .fetch_optional(conn)
    .await?;
    let Some((contest, state, current, ended, posted, tries, its)) = row else { return Ok(None) };
    if worker.is_some_and(|worker| worker.0 != its) {
        return Ok(None);
    }
    let state = MatchState::of(&state)?;
    Ok(Some(Tried { contest: ContestId(contest), state, current, ended: ended.is_some(), posted, tries }))
}

impl PostResult {
    /// Distinguishes it from another result of the same try.
    pub(crate) fn sha(&self) -> Sha {
        Self::sha_of(&self.replay, &self.result)
    }

    /// The same, for a result that is not posted yet.
    pub fn sha_of(replay: &Sha, result: &str) -> Sha {
        Sha::of(format!("{replay}\n{result}"))
    }
}

/// Handles a result that is not the usual one of a leased match: it is late, comes again, or is not this worker's.
pub(crate) async fn unusual(conn: &mut Conn, post: &PostResult) -> Result<PostReply, StoreError> {
    let Some(tried) = tried(conn, post.attempt, Some(post.worker)).await? else {
        return Ok(PostReply::Unknown);
    };
    let sha = post.sha().to_string();
    if let Some(before) = tried.posted {
        if before == sha {
            return Ok(PostReply::Same);
        }
        let worker: String = sqlx::query_scalar("SELECT name FROM workers WHERE id = $1")
            .bind(post.worker.0)
            .fetch_one(&mut *conn)
            .await?;
        let object = format!("match {} try {}", post.attempt.game, post.attempt.n);
        let detail = format!("worker {worker}: posted {before} and then {sha}");
        note(conn, tried.contest, post.now, ["server", "alarm", &object, &detail]).await?;
        return Ok(PostReply::Conflict);
    }
    if !matches!(tried.state, MatchState::Planned | MatchState::Leased) {
        return Ok(PostReply::Settled);
    }
    if tried.state == MatchState::Leased && tried.current != post.attempt.n {
        let running = Attempt { n: tried.current, ..post.attempt };
        end(conn, running, "overtaken", Some("an older attempt arrived late"), post.now).await?;
    }
    keep(conn, &[post]).await?;
    Ok(PostReply::Kept)
}

/// Reports that a match gave no result that could count: it is played again, or dead.
#[derive(Clone, Debug)]
pub struct ReportVoid {
    pub worker: WorkerId,
    /// The match and try.
    pub attempt: Attempt,
    /// Why, as a sentence.
    pub why: String,
    /// A bot cannot even be made ready, so trying again is pointless.
    pub hopeless: bool,
    /// The seat, from 0, of the bot whose doing it was.
    pub by: Option<i64>,
    /// What was counted, as JSON.
    pub counted: Option<String>,
    pub now: Time,
}

/// The outcome of [`ReportVoid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoidReply {
    /// The match waits again.
    Again,
    /// It was tried too often, or nobody can play it.
    Dead,
    /// The worker no longer held it.
    Stale,
}

impl Act for ReportVoid {
    type Reply = VoidReply;

    async fn run(&self, conn: &mut Conn) -> Result<VoidReply, StoreError> {
        let Some(tried) = tried(conn, self.attempt, Some(self.worker)).await? else {
            return Ok(VoidReply::Stale);
        };
        let Some(tries) = tried.tries.filter(|_| !tried.ended && tried.state == MatchState::Leased) else {
            return Ok(VoidReply::Stale);
        };
        // It may quote what a program wrote: of one whose owner was deleted meanwhile it is not kept. A bot that cannot be made ready
        // is the one that is tried out, whoever it meets.
        let is_kept = self.hopeless && checked(conn, self.worker, self.attempt).await?.is_some()
            || !has_withdrawn(conn, self.attempt.game).await?;
        let why = is_kept.then_some(self.why.as_str());
        if self.hopeless {
            end(conn, self.attempt, "unfit", why, self.now).await?;
            give_up(conn, self.attempt.game).await?;
            return Ok(VoidReply::Dead);
        }
        end(conn, self.attempt, "void", why, self.now).await?;
        sqlx::query(
            "UPDATE attempts SET checksum = NULL, by_seat = $3, counted = $4 WHERE match_id = $1 AND n = $2",
        )
        .bind(self.attempt.game.0)
        .bind(self.attempt.n)
        .bind(self.by)
        .bind(self.counted.as_deref())
        .execute(&mut *conn)
        .await?;
        let waits = wait_again(conn, tried.contest, self.attempt.game, tries + 1, Some(self.now)).await?;
        Ok(if waits { VoidReply::Again } else { VoidReply::Dead })
    }
}

/// What recomputing found.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all are valid")]
pub enum Judgement {
    /// The replay is of the match that was planned, and has this outcome.
    Valid(MatchResult),
    /// It is not, and why. An alarm that names the worker goes to the audit log.
    Mismatch(String),
}

/// Rejects a posted result: its match is played again, or dead. Returns whether it was still to be judged.
pub(crate) async fn mismatch(
    conn: &mut Conn,
    attempt: Attempt,
    why: &str,
    now: Time,
) -> Result<bool, StoreError> {
    let Some(tried) = tried(conn, attempt, None).await? else { return Ok(false) };
    if tried.state != MatchState::Posted || tried.current != attempt.n {
        return Ok(false);
    }
    end(conn, attempt, "mismatch", Some(why), now).await?;
    let (worker, kind): (String, String) = sqlx::query_as(
        "SELECT w.name, b.kind FROM attempts a JOIN workers w ON w.id = a.worker_id JOIN matches m ON m.id = a.match_id \
         JOIN blocks b ON b.id = m.block_id WHERE a.match_id = $1 AND a.n = $2",
    )
    .bind(attempt.game.0)
    .bind(attempt.n)
    .fetch_one(&mut *conn)
    .await?;
    let object = format!("match {} try {}", attempt.game, attempt.n);
    note(conn, tried.contest, now, ["server", "alarm", &object, &format!("worker {worker}: {why}")]).await?;
    let kind = crate::Kind::of(&kind)?;
    if kind == crate::Kind::Again {
        give_up(conn, attempt.game).await?;
        return Ok(true);
    }
    let tries: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM attempts WHERE match_id = $1 AND how IN ('lost', 'void', 'mismatch')",
    )
    .bind(attempt.game.0)
    .fetch_one(&mut *conn)
    .await?;
    sqlx::query(
        "INSERT INTO jobs (match_id, contest_id, lane, not_before_ms, tries) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(attempt.game.0)
    .bind(tried.contest.0)
    .bind(kind.lane())
    .bind(now.0)
    .bind(tries)
    .execute(&mut *conn)
    .await?;
    wait_again(conn, tried.contest, attempt.game, tries, Some(now)).await?;
    Ok(true)
}
