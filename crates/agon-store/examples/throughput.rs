//! How many jobs a second the store leases and finishes: `cargo run --release -p agon-store --example throughput [JOBS [WORKERS]]`.
//!
//! In process, without replays and without playing: workers lease batches of 8 and post each result, and the server's part judges and seals
//! them. `leased, posted` is a worker's side, `valid and in the log` is all of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use agon_store::acts::{
    Add, Added, FoundContest, JudgeAll, Judgement, Lease, Meet, PlanBlocks, PostAll, PostResult, Promote,
    Seal,
};
use agon_store::{ContestId, Kind, Sha, Store, Time, VersionId};
use agon_store::{FaultsTold, MatchResult, Observed, Proven};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<usize>().expect("a number"));
    let (jobs, workers) = (arguments.next().unwrap_or(20_000), arguments.next().unwrap_or(32));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    runtime.block_on(measure(jobs / 2 * 2, workers));
}

async fn found(store: &Store) -> (ContestId, Vec<VersionId>) {
    let now = Time(1);
    let act =
        FoundContest { name: "t".into(), game: "g".into(), terms: "{}".into(), secret: "s".into(), now };
    let contest = store.act(act).await.expect("founded");
    let mut versions = Vec::new();
    for number in 0..40 {
        let (entrant, source) = (format!("bot {number}"), Sha::of(format!("{number}")));
        let add = Add {
            contest,
            entrant,
            boss: false,
            builtin: None,
            source,
            received: now,
            only_if_better: false,
            bytes: 1,
            counts: false,
            actor: "t".into(),
        };
        let Added::New(version, _) = store.act(add).await.expect("added") else { panic!("new") };
        store.act(Promote { version, now }).await.expect("live");
        versions.push(version);
    }
    (contest, versions)
}

async fn measure(jobs: usize, workers: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).await.expect("a database");
    let (contest, versions) = found(&store).await;
    let now = Time(2);
    let began = Instant::now();
    let plans = (0..jobs / 2).map(|block| {
        let lineup = vec![versions[block % 40], versions[(block + 1 + block / 40 % 39) % 40]];
        let plan = PlanBlocks { contest, kind: Kind::Ladder, blocks: vec![(0, lineup)], rotations: 2, now };
        let store = store.clone();
        tokio::spawn(async move { store.act(plan).await.expect("planned") })
    });
    for plan in plans.collect::<Vec<_>>() {
        plan.await.expect("planned");
    }
    say("planned", jobs, began);

    let began = Instant::now();
    let (done, attempts) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Mutex::new(Vec::new())));
    let tasks = (0..workers).map(|number| {
        let (store, done, attempts) = (store.clone(), Arc::clone(&done), Arc::clone(&attempts));
        tokio::spawn(async move {
            let meet = Meet { name: format!("w{number}"), level: "not confined".into(), now };
            let worker = store.act(meet).await.expect("met");
            for request in 0.. {
                let request = format!("{request}");
                let lease = Lease { contest, worker, request, most: 8, now, until: Time(60_000) };
                let granted = store.act(lease).await.expect("granted");
                if granted.matches.is_empty() {
                    return;
                }
                // In the way a worker's request with several results is handled.
                let posts = granted.matches.iter().map(|leased| {
                    let (result, replay) = (RESULT.to_owned(), Sha::of(leased.attempt.game.0.to_le_bytes()));
                    PostResult { worker, attempt: leased.attempt, result, replay, own: Vec::new(), now }
                });
                store.act(PostAll { posts: posts.collect() }).await.expect("posted");
                done.fetch_add(granted.matches.len(), Ordering::Relaxed);
                attempts.lock().await.extend(granted.matches.iter().map(|leased| leased.attempt));
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("done");
    }
    assert_eq!(done.load(Ordering::Relaxed), jobs);
    let first = began.elapsed();
    say("leased, posted", jobs, began);

    let began = Instant::now();
    let attempts = attempts.lock().await;
    for batch in attempts.chunks(64) {
        let judged = batch.iter().map(|&attempt| (attempt, Judgement::Valid(outcome()))).collect();
        assert_eq!(store.act(JudgeAll { judged, now }).await.expect("judged"), [true].repeat(batch.len()));
        while !store.act(Seal { contest }).await.expect("sealed").is_empty() {}
    }
    say("judged, sealed", jobs, began);
    let all = first + began.elapsed();
    println!("{:<28} {:>8.0} jobs/s", "leased to valid and in the log", jobs as f64 / all.as_secs_f64());
    store.close().await;
}

const RESULT: &str = r#"{"faults":[null,null],"max_ms":[12.5,7.25],"wall_us":312000,"level":"not confined"}"#;

fn outcome() -> MatchResult {
    MatchResult {
        proven: Proven {
            ranks: vec![1, 2],
            scores: vec![1.0, 0.0],
            reason: "all units of one side are gone".into(),
            steps: 150,
            start: "0123456789abcdef".into(),
            answers: "0123456789abcdef".into(),
            silent: Vec::new(),
        },
        observed: Observed {
            faults: FaultsTold::Public(vec![None, None]),
            max_ms: vec![12.5, 7.25],
            level: "not confined".into(),
            ..Observed::default()
        },
    }
}

fn say(what: &str, jobs: usize, began: Instant) {
    println!("{what:<28} {:>8.0} jobs/s", jobs as f64 / began.elapsed().as_secs_f64());
}
