//! The size of a contest's database after a number of jobs: the waiting and leased part stays small however many went through, and the
//! stored part takes no more room than its rows. `AGON_JOBS` sets the number; for large numbers the sizes are printed.

use std::time::Instant;

use agon_store::acts::{
    Add, Added, Expire, FoundContest, JudgeAll, Judgement, Lease, Meet, PlanBlocks, PostAll, PostResult,
    Promote, Seal, Start,
};
use agon_store::{Attempt, ContestId, Kind, Sha, Store, Time, VersionId, WorkerId};
use sqlx::{AnyConnection, Connection as _};

use crate::common;

/// From this number of jobs on sizes are printed.
const MANY: usize = 100_000;
/// The number of versions that play, and of workers.
const VERSIONS: usize = 40;
const WORKERS: usize = 32;
/// The size of a worker's lease.
const BATCH: usize = 8;
/// The number of jobs planned and played per round.
const ROUND: usize = WORKERS * BATCH;

/// How long a machine's request is remembered, in seconds: eleven minutes and a moment.
const REMEMBERED_S: usize = 662;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_and_is_leased_stays_small() {
    let jobs = std::env::var("AGON_JOBS").map_or(40 * ROUND, |jobs| jobs.parse().expect("a number"));
    let folder = common::folder();
    let store = Store::open(folder.path()).await.expect("a database");
    // Half of the rounds take longer than anything is remembered, so that as much is remembered after them as after all.
    let apart_ms = (2 * REMEMBERED_S * 1_000 * ROUND / jobs).max(1_000) as i64;
    let mut contest = Contest::found(&store, apart_ms).await;
    let mut own = AnyConnection::connect(&common::url(folder.path())).await.expect("it is there");
    let is_server = common::url(folder.path()).starts_with("postgres");
    // The server reuses space of deleted rows when it finds time, which a short run does not leave.
    let settles = !is_server || jobs >= MANY;
    let began = Instant::now();
    contest.play(jobs / 2).await;
    let half = hot(&mut own, is_server).await;
    contest.play(jobs - jobs / 2).await;
    let whole = hot(&mut own, is_server).await;
    if jobs >= MANY {
        println!("{jobs} jobs in {:.0} s", began.elapsed().as_secs_f64());
        let began = Instant::now();
        assert_eq!(
            store.of(contest.contest).counts().await.expect("counted").valid,
            (contest.round * ROUND) as i64
        );
        println!("how matches stand is counted in {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
        weigh(&mut own, is_server, "before VACUUM").await;
        run(&mut own, if is_server { "VACUUM ANALYZE" } else { "VACUUM" }).await;
        weigh(&mut own, is_server, "after VACUUM").await;
        if is_server {
            run(&mut own, "VACUUM FULL").await;
            weigh(&mut own, is_server, "after VACUUM FULL").await;
        }
    }
    assert_eq!(count(&mut own, "SELECT count(*) FROM jobs").await, 0);
    assert!(count(&mut own, "SELECT count(*) FROM leases").await <= (WORKERS * REMEMBERED_S) as i64);
    println!("jobs and leases: {half} bytes after half of {jobs}, {whole} after all");
    assert!(
        !settles || whole <= half + half / 2,
        "jobs and leases took {half} bytes after half of {jobs}, {whole} after all"
    );
    store.close().await;
}

struct Contest<'a> {
    store: &'a Store,
    contest: ContestId,
    versions: Vec<VersionId>,
    workers: Vec<WorkerId>,
    round: usize,
    apart_ms: i64,
}

impl<'a> Contest<'a> {
    async fn found(store: &'a Store, apart_ms: i64) -> Self {
        let now = Time(1);
        let found =
            FoundContest { name: "t".into(), game: "g".into(), terms: "{}".into(), secret: "s".into(), now };
        let contest = store.act(found).await.expect("founded");
        let (mut versions, mut workers) = (Vec::new(), Vec::new());
        for number in 0..VERSIONS {
            let add = Add {
                contest,
                entrant: format!("bot {number}"),
                boss: false,
                builtin: None,
                source: Sha::of(format!("{number}")),
                received: now,
                only_if_better: false,
                bytes: 1,
                counts: false,
                actor: "t".into(),
            };
            let Added::New(version, _) = store.act(add).await.expect("added") else { panic!("it is new") };
            store.act(Promote { version, now }).await.expect("live");
            versions.push(version);
        }
        for number in 0..WORKERS {
            let meet = Meet { name: format!("w{number}"), level: "not confined".into(), now };
            workers.push(store.act(meet).await.expect("met"));
        }
        Self { store, contest, versions, workers, round: 0, apart_ms }
    }

    /// Plans, leases, plays, judges and seals this many jobs, round by round.
    async fn play(&mut self, jobs: usize) {
        for _ in 0..jobs / ROUND {
            self.round += 1;
            let now = Time(self.apart_ms * self.round as i64);
            let lineup = |block: usize| {
                let other = (block + 1 + block / VERSIONS % (VERSIONS - 1)) % VERSIONS;
                (0, vec![self.versions[block % VERSIONS], self.versions[other]])
            };
            let blocks = (0..ROUND / 2).map(|block| lineup(block + self.round * ROUND / 2)).collect();
            let (contest, kind) = (self.contest, Kind::Ladder);
            self.store.act(PlanBlocks { contest, kind, blocks, rotations: 2, now }).await.expect("planned");
            let all = self.workers.iter().map(|&worker| self.work(worker, now));
            let attempts: Vec<Attempt> =
                futures_util::future::join_all(all).await.into_iter().flatten().collect();
            assert_eq!(attempts.len(), ROUND);
            for batch in attempts.chunks(64) {
                let valid = |&attempt| (attempt, Judgement::Valid(common::outcome(vec![1, 2])));
                let judged = batch.iter().map(valid).collect();
                self.store.act(JudgeAll { judged, now }).await.expect("judged");
            }
            while !self.store.act(Seal { contest }).await.expect("sealed").is_empty() {}
            self.store.act(Expire { now }).await.expect("looked");
        }
    }

    /// A worker's batch.
    async fn work(&self, worker: WorkerId, now: Time) -> Vec<Attempt> {
        let (contest, request, until) = (self.contest, self.round.to_string(), now.plus(60_000));
        let lease = Lease { contest, worker, request, most: BATCH, now, until };
        let granted = self.store.act(lease).await.expect("granted");
        let mut posts = Vec::new();
        for leased in granted.matches {
            let attempt = leased.attempt;
            assert!(self.store.act(Start { worker, attempt, now }).await.expect("begun"));
            let (result, replay) = (RESULT.to_owned(), Sha::of(attempt.game.0.to_le_bytes()));
            posts.push(PostResult { worker, attempt, result, replay, own: Vec::new(), now });
        }
        let attempts = posts.iter().map(|post| post.attempt).collect();
        self.store.act(PostAll { posts }).await.expect("posted");
        attempts
    }
}

const RESULT: &str = r#"{"faults":[null,null],"max_ms":[12.5,7.25],"wall_us":312000,"level":"not confined"}"#;

/// The bytes of what is waiting and leased, indices included.
async fn hot(own: &mut AnyConnection, is_server: bool) -> i64 {
    let asked = match is_server {
        true => "SELECT CAST(pg_total_relation_size('jobs') + pg_total_relation_size('leases') AS BIGINT)",
        false => {
            "SELECT CAST(sum(s.pgsize) AS BIGINT) FROM dbstat s JOIN sqlite_schema m ON m.name = s.name \
             WHERE m.tbl_name IN ('jobs', 'leases')"
        }
    };
    count(own, asked).await
}

/// Prints the size of each table.
async fn weigh(own: &mut AnyConnection, is_server: bool, when: &str) {
    let asked = match is_server {
        // The numbers of dead rows come from the server's own statistics, a moment late.
        true => {
            "SELECT c.relname::text, pg_table_size(c.oid), pg_indexes_size(c.oid), \
             pg_stat_get_live_tuples(c.oid), pg_stat_get_dead_tuples(c.oid) FROM pg_class c JOIN pg_namespace n \
             ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = 'public' AND pg_table_size(c.oid) > 1000000 \
             ORDER BY 2 DESC"
        }
        false => {
            "SELECT m.tbl_name, CAST(sum(CASE WHEN m.type = 'table' THEN s.pgsize ELSE 0 END) AS BIGINT), \
             CAST(sum(CASE WHEN m.type = 'index' THEN s.pgsize ELSE 0 END) AS BIGINT), CAST(0 AS BIGINT), \
             CAST(sum(CASE WHEN m.type = 'table' THEN s.unused ELSE 0 END) AS BIGINT) FROM dbstat s \
             JOIN sqlite_schema m ON m.name = s.name GROUP BY m.tbl_name HAVING sum(s.pgsize) > 1000000 ORDER BY 2 DESC"
        }
    };
    if is_server {
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    } else {
        let free = count(own, "SELECT freelist_count FROM pragma_freelist_count").await;
        let pages = count(own, "SELECT page_count FROM pragma_page_count").await;
        println!("{when}: {pages} pages, {free} of them free");
    }
    let rows: Vec<(String, i64, i64, i64, i64)> =
        sqlx::query_as(asked).fetch_all(own).await.expect("it says");
    let last = if is_server { "dead rows" } else { "unused bytes" };
    for (table, bytes, indices, live, dead) in rows {
        let mb = |bytes: i64| bytes as f64 / 1e6;
        println!(
            "{when}: {table:<12} {:>7.1} MB, indices {:>7.1} MB, {live} rows, {dead} {last}",
            mb(bytes),
            mb(indices)
        );
    }
}

async fn count(own: &mut AnyConnection, asked: &'static str) -> i64 {
    sqlx::query_scalar(asked).fetch_one(own).await.expect("it says")
}

async fn run(own: &mut AnyConnection, statement: &'static str) {
    sqlx::query(statement).execute(own).await.expect("it does");
}
