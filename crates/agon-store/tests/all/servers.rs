//! Two servers of one contest, on one PostgreSQL: nothing is handed out or accepted twice when they act at the same moment, and a duty that
//! only one does at a time is taken over by the other.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_store::acts::{JudgeAll, Judgement, Lease, Meet, PlanBlocks, PostAll, PostReply, PostResult, Seal};
use agon_store::{Attempt, Kind, Store, Time};
use futures_util::future::join_all;

use crate::common;

const NOW: Time = Time(1_000_000);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_at_the_same_moment_give_out_and_take_each_match_once() {
    let Some(database) = common::POSTGRES.as_ref() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    database.place(folder.path());
    let stores = [open(folder.path()).await, open(folder.path()).await];
    let (contest, versions) = common::founded(&stores[0], &["a", "b"], NOW).await;
    let blocks = (0..100).map(|_| (0, versions.clone())).collect();
    let plan = PlanBlocks { contest, kind: Kind::Ladder, blocks, rotations: 2, now: NOW };
    let planned = stores[0].act(plan).await.expect("planned");
    let all: BTreeSet<_> = planned.iter().flat_map(|block| &block.matches).copied().collect();
    assert_eq!(all.len(), 200);
    let objects = common::objects(folder.path());
    let replay = objects.put(b"replay").await.expect("room");
    // Sixteen workers ask both servers in turn; each result is posted to both at once.
    let workers = (0..16).map(|number| {
        let stores = stores.clone();
        tokio::spawn(async move {
            let meet = Meet { name: format!("w{number}"), level: "not confined".into(), now: NOW };
            let worker = stores[number % 2].act(meet).await.expect("met");
            let mut played: Vec<Attempt> = Vec::new();
            for request in 0.. {
                let until = NOW.plus(60_000);
                let lease = Lease { contest, worker, request: request.to_string(), most: 8, now: NOW, until };
                let granted = stores[(number + request) % 2].act(lease).await.expect("answered");
                if granted.matches.is_empty() {
                    return played;
                }
                let posts =
                    granted.matches.iter().flat_map(|leased| [0, 1].map(|store| (store, leased.attempt)));
                let replies = join_all(posts.map(|(store, attempt)| {
                    let post = PostResult {
                        worker,
                        attempt,
                        result: "{}".into(),
                        replay,
                        own: Vec::new(),
                        now: NOW,
                    };
                    stores[store].act(PostAll { posts: vec![post] })
                }))
                .await;
                let replies: Vec<PostReply> =
                    replies.into_iter().flat_map(|reply| reply.expect("answered")).collect();
                for two in replies.chunks(2) {
                    let kept = two.iter().filter(|reply| **reply == PostReply::Kept).count();
                    assert!(kept == 1 && two.contains(&PostReply::Same), "{two:?}");
                }
                played.extend(granted.matches.iter().map(|leased| leased.attempt));
            }
            unreachable!("requests end")
        })
    });
    let played: Vec<Attempt> =
        join_all(workers).await.into_iter().flat_map(|played| played.expect("no worker panics")).collect();
    assert_eq!(played.len(), 200, "each is given out once");
    assert_eq!(played.iter().map(|attempt| attempt.game).collect::<BTreeSet<_>>(), all);
    // Both judge and seal at once: the log has no gap, and each match once.
    let judged = join_all(played.iter().flat_map(|attempt| {
        [0, 1].map(|store| {
            let judgement = Judgement::Valid(common::outcome(vec![1, 2]));
            stores[store].act(JudgeAll { judged: vec![(*attempt, judgement)], now: NOW })
        })
    }))
    .await;
    assert_eq!(judged.into_iter().filter(|judged| judged.as_ref().expect("answered")[0]).count(), 200);
    let sealed = join_all((0..4).map(|turn| stores[turn % 2].act(Seal { contest }))).await;
    let sealed: usize = sealed.into_iter().map(|rows| rows.expect("sealed").len()).sum();
    assert_eq!(sealed, 200);
    assert_eq!(stores[1].fsck(&objects).await.expect("looked through"), []);
}

async fn open(folder: &std::path::Path) -> Store {
    Store::open(folder).await.expect("a database")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_looks_after_the_contest_and_another_takes_over() {
    let Some(database) = common::POSTGRES.as_ref() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    database.place(folder.path());
    let (first, second) = (open(folder.path()).await, open(folder.path()).await);
    for _ in 0..3 {
        assert!(first.keeps().await.expect("asked"));
        assert!(!second.keeps().await.expect("asked"), "one at a time");
    }
    // Once cleanly, and once as a kill ends it: with its connections.
    first.close().await;
    assert!(second.keeps().await.expect("asked"));
    drop(second);
    let third = open(folder.path()).await;
    let takes_over = async {
        while !third.keeps().await.expect("asked") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), takes_over)
        .await
        .expect("the lock goes with its connection");
    // A contest in a file has one server, which does everything.
    let file = tempfile::tempdir().expect("a folder");
    let alone = open(file.path()).await;
    assert!(alone.keeps().await.expect("asked") && !alone.is_shared());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_plans_at_a_time_and_whoever_gives_up_holds_nobody_up() {
    // Its own server, because it is killed.
    let Some(database) = common::Postgres::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    database.place(folder.path());
    let (first, second) = (open(folder.path()).await, open(folder.path()).await);
    let alone = first.alone().await.expect("nobody else plans");
    assert!(second.alone().await.is_err(), "it is told after two seconds that somebody does");
    // The caller goes away in the middle.
    drop(alone);
    second.alone().await.expect("free").over().await.expect("given back");
    first.alone().await.expect("free").over().await.expect("given back");
    // The same connections work again after the database was away.
    database.kill();
    assert!(first.alone().await.is_err() && first.keeps().await.is_err());
    database.run();
    first.alone().await.expect("free").over().await.expect("given back");
    assert!(first.keeps().await.expect("asked"));
}
