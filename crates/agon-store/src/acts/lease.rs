//! Leasing: workers take matches.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use sqlx::AssertSqlSafe;

use crate::acts::{Act, ActTurn};
use crate::backend::{Conn, many};
use crate::{Attempt, ContestId, Kind, LeaseId, Leased, MatchId, StoreError, Time, VersionId, WorkerId};

/// Registers a worker that introduces itself.
#[derive(Clone, Debug)]
pub struct Meet {
    pub name: String,
    /// How strictly it confines bots.
    pub level: String,
    pub now: Time,
}

impl Act for Meet {
    type Reply = WorkerId;

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<WorkerId, StoreError> {
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO workers (name, level, seen_ms) VALUES ($1, $2, $3) \
             ON CONFLICT (name) DO UPDATE SET checksum = NULL, level = $2, seen_ms = $3 RETURNING id",
        )
        .bind(&self.name)
        .bind(&self.level)
        .bind(self.now.0)
        .fetch_one(conn)
        .await?;
        Ok(WorkerId(id))
    }
}

/// Records that a worker inside a server plays nothing there: it is then no worker that has fallen silent.
#[derive(Clone, Debug)]
pub struct StandBy {
    pub worker: WorkerId,
}

impl Act for StandBy {
    type Reply = ();

    const BY_CLOCK: bool = false;

    async fn run(&self, conn: &mut Conn) -> Result<(), StoreError> {
        sqlx::query("UPDATE workers SET checksum = NULL, seen_ms = 0 WHERE id = $1")
            .bind(self.worker.0)
            .execute(conn)
            .await?;
        Ok(())
    }
}

/// Asks for matches for a worker. The same request gets the same answer, so it can be repeated when the answer was lost. A worker that is
/// paused, or whose token was revoked while it waited, gets none.
#[derive(Clone, Debug)]
pub struct Lease {
    pub contest: ContestId,
    pub worker: WorkerId,
    /// A name for this request, never used again by the worker.
    pub request: String,
    /// The most it takes. Rounded down to 1, 8 or 32.
    pub most: usize,
    pub now: Time,
    /// When they are given to somebody else, unless a [`RenewLease`](crate::acts::RenewLease) comes.
    pub until: Time,
}

/// What was granted; without matches there is no lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseGrant {
    pub lease: Option<LeaseId>,
    /// Its matches that are not over.
    pub matches: Vec<Leased>,
}

/// The most matches a lease may have: few sizes, so that there are few statements.
const BATCHES: [usize; 3] = [1, 8, 32];

/// A worker that has been silent for this long, in milliseconds, is not waited for.
pub(crate) const AWAY_MS: i64 = 60_000;

impl Act for Lease {
    type Reply = LeaseGrant;

    const TURN: ActTurn = ActTurn::First;

    async fn run(&self, conn: &mut Conn) -> Result<LeaseGrant, StoreError> {
        Ok(Self::run_all(&[self], conn).await?.pop().unwrap_or_default())
    }

    async fn run_all(acts: &[&Self], conn: &mut Conn) -> Result<Vec<LeaseGrant>, StoreError> {
        // By worker and request name: a request that comes twice, even at once, gets the same answer.
        let mut granted: BTreeMap<(i64, &str), LeaseGrant> = BTreeMap::new();
        let mut new: Vec<&Self> = Vec::new();
        for (act, found) in acts.iter().zip(look(conn, acts).await?) {
            let Entry::Vacant(own) = granted.entry(act.asked()) else { continue };
            match found {
                Found::Lease(lease) => {
                    own.insert(still(conn, lease).await?);
                }
                Found::Job => {
                    own.insert(LeaseGrant::default());
                    new.push(act);
                }
                Found::Nothing => {}
            }
        }
        let begun: Vec<(&Self, i64)> = new.iter().copied().zip(begin(conn, &new).await?).collect();
        let taken = take_all(conn, &begun).await?;
        for (_, lease) in begun {
            if !taken.iter().any(|taken| taken.lease == lease) {
                // Others were quicker, or all jobs left are reserved for another worker.
                sqlx::query("DELETE FROM leases WHERE id = $1").bind(lease).execute(&mut *conn).await?;
            }
        }
        let tries = try_on(conn, &taken).await?;
        for (taken, leased) in taken.iter().zip(described(conn, tries).await?) {
            let own = granted.entry(taken.act.asked()).or_default();
            own.lease = Some(LeaseId(taken.lease));
            own.matches.push(leased);
        }
        Ok(acts.iter().map(|act| granted.get(&act.asked()).cloned().unwrap_or_default()).collect())
    }
}

impl Lease {
    /// The most matches it gets.
    fn batch(&self) -> usize {
        BATCHES.into_iter().rev().find(|size| *size <= self.most).unwrap_or(BATCHES[0])
    }

    /// The worker and its request name.
    fn asked(&self) -> (i64, &str) {
        (self.worker.0, &self.request)
    }
}

/// A match that a lease takes.
struct Taken<'a> {
    act: &'a Lease,
    lease: i64,
    game: i64,
}

/// What a request meets.
enum Found {
    /// It was granted before.
    Lease(i64),
    /// There is a job that may be taken.
    Job,
    /// There is none, or this worker gets none.
    Nothing,
}

/// Looks up what each request meets. Every row is looked up by itself, without a join: there is one way to do it, and no plan to choose.
async fn look(conn: &mut Conn, acts: &[&Lease]) -> Result<Vec<Found>, StoreError> {
    let mut all: BTreeMap<i64, Found> = BTreeMap::new();
    let numbered: Vec<(i64, &Lease)> = (0..).zip(acts.iter().copied()).collect();
    for numbered in many::padded(&numbered) {
        let select = format!(
            "SELECT asked.column1, \
             (SELECT l.id FROM leases l WHERE l.worker_id = asked.column2 AND l.request = asked.column3), \
             (SELECT j.id FROM jobs j WHERE j.lease_id IS NULL AND j.contest_id = asked.column4 \
             AND j.not_before_ms <= asked.column5 AND (j.but_id IS NULL OR j.but_id <> asked.column2) \
             AND NOT (SELECT c.paused FROM contests c WHERE c.id = asked.column4) \
             AND (SELECT w.id FROM workers w WHERE w.id = asked.column2 AND w.revoked_ms IS NULL \
             AND w.paused_ms IS NULL) IS NOT NULL ORDER BY j.lane, j.id LIMIT 1) FROM (VALUES {}) AS asked",
            many::rows(numbered.len(), "(@, @, @, @, @)", 1)
        );
        let mut select = sqlx::query_as(AssertSqlSafe(select));
        for (number, act) in numbered {
            select = select.bind(*number).bind(act.worker.0).bind(&act.request);
            select = select.bind(act.contest.0).bind(act.now.0);
        }
        let rows: Vec<(i64, Option<i64>, Option<i64>)> = select.fetch_all(&mut *conn).await?;
        let found = |(number, lease, job): (i64, Option<i64>, Option<i64>)| match (lease, job) {
            (Some(lease), _) => (number, Found::Lease(lease)),
            (None, Some(_)) => (number, Found::Job),
            (None, None) => (number, Found::Nothing),
        };
        all.extend(rows.into_iter().map(found));
    }
    Ok(all.into_values().collect())
}

/// Makes leases for these requests.
async fn begin(conn: &mut Conn, acts: &[&Lease]) -> Result<Vec<i64>, StoreError> {
    let mut leases = Vec::with_capacity(acts.len());
    for acts in many::slices(acts) {
        let insert = format!(
            "INSERT INTO leases (worker_id, request, until_ms) VALUES {} RETURNING id, worker_id, request",
            many::rows(acts.len(), "(@, @, @)", 1)
        );
        let mut insert = sqlx::query_as(AssertSqlSafe(insert));
        for act in acts {
            insert = insert.bind(act.worker.0).bind(&act.request).bind(act.until.0);
        }
        let made: Vec<(i64, i64, String)> = insert.fetch_all(&mut *conn).await?;
        for act in acts {
            let own = made.iter().find(|(_, worker, request)| (*worker, request.as_str()) == act.asked());
            leases.push(own.ok_or_else(|| unknown("the lease of worker", act.worker.0))?.0);
        }
    }
    Ok(leases)
}

/// Takes free jobs for each lease, by order of request and of the queue.
async fn take_all<'a>(conn: &mut Conn, leases: &[(&'a Lease, i64)]) -> Result<Vec<Taken<'a>>, StoreError> {
    let mut taken = Vec::new();
    if let Some(jobs) = plain(conn, leases).await? {
        let mut jobs = jobs.into_iter();
        let mut assigned = Vec::new();
        for (act, lease) in leases.iter().copied() {
            for (job, game) in jobs.by_ref().take(act.batch()) {
                assigned.push((job, lease));
                taken.push(Taken { act, lease, game });
            }
        }
        for assigned in many::padded(&assigned) {
            let update = format!(
                "UPDATE jobs SET checksum = NULL, lease_id = fresh.column2 FROM (VALUES {}) AS fresh WHERE jobs.id = fresh.column1",
                many::rows(assigned.len(), "(@, @)", 1)
            );
            let mut update = sqlx::query(AssertSqlSafe(update));
            for (job, lease) in assigned {
                update = update.bind(*job).bind(*lease);
            }
            update.execute(&mut *conn).await?;
        }
        return Ok(taken);
    }
    for (act, lease) in leases.iter().copied() {
        let games = take(conn, act, lease).await?;
        taken.extend(games.into_iter().map(|game| Taken { act, lease, game }));
    }
    Ok(taken)
}

/// The first free jobs of the queue with their matches, as many as these leases of one contest take; none if one of them is not open to
/// every worker, and each lease has to search by itself.
async fn plain(conn: &mut Conn, leases: &[(&Lease, i64)]) -> Result<Option<Vec<(i64, i64)>>, StoreError> {
    let [(first, _), ..] = leases else { return Ok(None) };
    if leases.iter().any(|(act, _)| act.contest != first.contest) {
        return Ok(None);
    }
    let now = leases.iter().map(|(act, _)| act.now.0).min().unwrap_or_default();
    let wanted: usize = leases.iter().map(|(act, _)| act.batch()).sum();
    // Powers of two, so that there are few different statements.
    let select = format!(
        "SELECT id, match_id, but_id, tries FROM jobs WHERE lease_id IS NULL AND contest_id = $1 AND not_before_ms <= $2 \
         ORDER BY lane, id LIMIT {}",
        wanted.next_power_of_two()
    );
    let jobs: Vec<(i64, i64, Option<i64>, i64)> =
        sqlx::query_as(AssertSqlSafe(select)).bind(first.contest.0).bind(now).fetch_all(conn).await?;
    let for_all = |(id, game, but, tries)| ((but, tries) == (None, 0)).then_some((id, game));
    Ok(jobs.into_iter().map(for_all).collect())
}

/// Takes free jobs for one lease, and returns their matches in the order of the queue. A match that went wrong on this worker goes to
/// another, if there is one that is not paused; a match that it has played is played again only by another.
async fn take(conn: &mut Conn, act: &Lease, lease: i64) -> Result<Vec<i64>, StoreError> {
    // The limit is not a bound parameter: with one, PostgreSQL plans for a tenth of the table.
    let update = format!(
        "UPDATE jobs SET checksum = NULL, lease_id = $1 WHERE id IN (SELECT j.id FROM jobs j WHERE j.lease_id IS NULL \
         AND j.contest_id = $2 AND j.not_before_ms <= $3 AND (j.but_id IS NULL OR j.but_id <> $4) AND (j.tries = 0 OR NOT EXISTS (SELECT 1 FROM attempts a \
         WHERE a.match_id = j.match_id AND a.worker_id = $4 AND a.how IN ('lost', 'void', 'mismatch')) \
         OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id <> $4 AND w.seen_ms > $5 AND w.paused_ms IS NULL)) \
         ORDER BY j.lane, j.id LIMIT {}) RETURNING lane, id, match_id",
        act.batch()
    );
    let mut jobs: Vec<(i64, i64, i64)> = sqlx::query_as(AssertSqlSafe(update))
        .bind(lease)
        .bind(act.contest.0)
        .bind(act.now.0)
        .bind(act.worker.0)
        .bind(act.now.0 - AWAY_MS)
        .fetch_all(conn)
        .await?;
    jobs.sort_unstable();
    Ok(jobs.into_iter().map(|(_, _, game)| game).collect())
}

/// A match that is leased: its number, its try, and the kind, map, seed and rules of its block.
type Try = (i64, i64, String, i64, i64, Option<String>);

/// The columns of a match's block, looked up without a join: so there is no plan to choose.
const OF_BLOCK: &str = "(SELECT b.kind FROM blocks b WHERE b.id = matches.block_id), \
                             (SELECT b.map FROM blocks b WHERE b.id = matches.block_id), \
                             (SELECT b.seed FROM blocks b WHERE b.id = matches.block_id), \
                             (SELECT o.rules FROM own_rules o WHERE o.block_id = matches.block_id)";

/// Begins a try of each match, in their order.
async fn try_on(conn: &mut Conn, taken: &[Taken<'_>]) -> Result<Vec<Try>, StoreError> {
    let mut tries = BTreeMap::new();
    for taken in many::padded(taken) {
        let update = format!(
            "UPDATE matches SET checksum = NULL, state = 'leased', \
             attempt = (SELECT coalesce(max(a.n), 0) + 1 FROM attempts a WHERE a.match_id = matches.id) \
             WHERE id IN ({}) RETURNING id, attempt, {OF_BLOCK}",
            many::rows(taken.len(), "@", 1)
        );
        let mut update = sqlx::query_as(AssertSqlSafe(update));
        for taken in taken {
            update = update.bind(taken.game);
        }
        let begun: Vec<Try> = update.fetch_all(&mut *conn).await?;
        tries.extend(begun.into_iter().map(|begun| (begun.0, begun)));
    }
    for taken in many::slices(taken) {
        let insert = format!(
            "INSERT INTO attempts (match_id, n, worker_id, leased_ms) VALUES {}",
            many::rows(taken.len(), "(@, @, @, @)", 1)
        );
        let mut insert = sqlx::query(AssertSqlSafe(insert));
        for Taken { act, game, .. } in taken {
            let n = tries.get(game).map(|(_, n, ..)| *n);
            insert = insert.bind(*game).bind(n).bind(act.worker.0).bind(act.now.0);
        }
        insert.execute(&mut *conn).await?;
    }
    taken.iter().map(|taken| tries.remove(&taken.game).ok_or_else(|| unknown("match", taken.game))).collect()
}

/// What a lease granted earlier still holds.
async fn still(conn: &mut Conn, lease: i64) -> Result<LeaseGrant, StoreError> {
    let tries: Vec<Try> = sqlx::query_as(AssertSqlSafe(format!(
        "SELECT matches.id, matches.attempt, {OF_BLOCK} FROM jobs j JOIN matches ON matches.id = j.match_id \
         WHERE j.lease_id = $1 ORDER BY j.lane, j.id",
    )))
    .bind(lease)
    .fetch_all(&mut *conn)
    .await?;
    let matches = described(conn, tries).await?;
    Ok(LeaseGrant { lease: Some(LeaseId(lease)).filter(|_| !matches.is_empty()), matches })
}

/// What `select` finds of each of these matches, in this order; it ends where the list of matches follows.
async fn by_match(
    conn: &mut Conn,
    tries: &[Try],
    select: &str,
    order: &str,
) -> Result<BTreeMap<i64, Vec<i64>>, StoreError> {
    let mut all: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for tries in many::padded(tries) {
        let select = format!("{select} ({}) ORDER BY {order}", many::rows(tries.len(), "@", 1));
        let mut select = sqlx::query_as(AssertSqlSafe(select));
        for (game, ..) in tries {
            select = select.bind(*game);
        }
        let found: Vec<(i64, i64)> = select.fetch_all(&mut *conn).await?;
        for (game, one) in found {
            all.entry(game).or_default().push(one);
        }
    }
    Ok(all)
}

/// These matches as a worker gets them, in their order.
async fn described(conn: &mut Conn, tries: Vec<Try>) -> Result<Vec<Leased>, StoreError> {
    let seats = "SELECT match_id, version_id FROM seats WHERE match_id IN";
    let mut seats = by_match(conn, &tries, seats, "match_id, seat").await?;
    // Few matches are tried again.
    let again: Vec<Try> = tries.iter().filter(|(_, n, ..)| *n > 1).cloned().collect();
    let void_by = "SELECT match_id, by_seat FROM attempts WHERE by_seat IS NOT NULL AND match_id IN";
    let mut void_by = by_match(conn, &again, void_by, "match_id, n").await?;
    let leased = |(game, n, kind, map, seed, rules): Try| {
        let attempt = Attempt { game: MatchId(game), n };
        let seats = seats.remove(&game).unwrap_or_default().into_iter().map(VersionId).collect();
        let void_by = void_by.remove(&game).unwrap_or_default();
        Ok(Leased { attempt, kind: Kind::of(&kind)?, map, seed, rules, seats, void_by })
    };
    tries.into_iter().map(leased).collect()
}

fn unknown(what: &str, id: i64) -> StoreError {
    StoreError::Damaged(format!("{what} has gone: {id}"))
}
