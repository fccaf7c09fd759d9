//! A contest that moves to a server and back is the same to the last row, and continues with numbers never used before.

use agon_store::acts::{Add, Added, FoundContest, Lease, LeaseGrant, Meet, PlanBlocks, Promote};
use agon_store::{Kind, Objects, Store, StoreError, Time};
use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use crate::common;

/// All rows of all tables, as text.
async fn dump(file: &std::path::Path) -> Vec<String> {
    let mut conn = sqlx::SqliteConnection::connect(file.to_str().expect("a path")).await.expect("opens");
    let names: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            .fetch_all(&mut conn)
            .await
            .expect("read");
    let mut all = Vec::new();
    for name in names {
        let columns: Vec<String> =
            sqlx::query_scalar("SELECT 'quote(' || name || ')' FROM pragma_table_info($1)")
                .bind(&name)
                .fetch_all(&mut conn)
                .await
                .expect("read");
        let asked = format!("SELECT {} AS row FROM {name}", columns.join(" || ',' || "));
        let rows: Vec<String> = sqlx::query(AssertSqlSafe(asked))
            .fetch(&mut conn)
            .map_ok(|row| format!("{name}: {}", row.get::<String, _>("row")))
            .try_collect()
            .await
            .expect("read");
        all.extend(rows);
    }
    all.sort();
    all
}

#[tokio::test]
async fn a_contest_moves_to_a_server_and_back_and_is_the_same() {
    let Some(server) = common::POSTGRES.as_ref() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let store = Store::open(at).await.expect("opens");
    let found = FoundContest {
        name: "t".into(),
        game: "g".into(),
        terms: "{}".into(),
        secret: "s".into(),
        now: Time(1),
    };
    let contest = store.act(found).await.expect("founded");
    let mut lineup = Vec::new();
    for name in ["Ann \"\\ä'", "Bob"] {
        let add = Add {
            contest,
            entrant: name.into(),
            boss: true,
            builtin: None,
            source: Objects::open(at).expect("a place").put(name.as_bytes()).await.expect("room"),
            received: Time(2),
            only_if_better: true,
            bytes: 7,
            counts: false,
            actor: "t".into(),
        };
        let Added::New(version, _) = store.act(add).await.expect("added") else { panic!("it is new") };
        store.act(Promote { version, now: Time(3) }).await.expect("live");
        lineup.push(version);
    }
    let plan =
        PlanBlocks { contest, kind: Kind::Ladder, blocks: vec![(0, lineup)], rotations: 2, now: Time(4) };
    store.act(plan).await.expect("planned");
    let worker = store.act(Meet { name: "w".into(), level: "A".into(), now: Time(4) }).await.expect("met");
    let lease = |request: &str| Lease {
        contest,
        worker,
        request: request.into(),
        most: 1,
        now: Time(5),
        until: Time(60),
    };
    let first: LeaseGrant = store.act(lease("1")).await.expect("granted");
    store.close().await;

    let before = dump(&at.join(agon_store::DATABASE)).await;
    let other = tempfile::tempdir().expect("a folder");
    server.place(other.path());
    let url = common::url(other.path());
    let rows = agon_store::relocate(at, Some(&url)).await.expect("moved");
    assert!(rows > 10 && !at.join(agon_store::DATABASE).exists());
    let again = agon_store::relocate(at, Some(&url)).await;
    assert!(again.is_err_and(|error| error.to_string().contains("already on a server")));
    let store = Store::open(at).await.expect("opens");
    assert_eq!(store.fsck(&Objects::open(at).expect("a place")).await.expect("looked through"), []);
    store.close().await;
    assert_eq!(agon_store::relocate(at, None).await.expect("moved back"), rows);
    assert_eq!(dump(&at.join(agon_store::DATABASE)).await, before, "to the last row and number");

    // Numbers forgotten meanwhile are not used again.
    let Err(error) = agon_store::relocate(at, Some(&url)).await else { panic!("it is taken") };
    assert!(error.to_string().contains("already holds a contest"), "{error}");
    let other = tempfile::tempdir().expect("a folder");
    server.place(other.path());
    agon_store::relocate(at, Some(&common::url(other.path()))).await.expect("moved");
    let store = Store::open(at).await.expect("opens");
    let second = store.act(lease("2")).await.expect("granted");
    assert!(second.lease > first.lease && !second.matches.is_empty(), "{second:?}");
}

#[tokio::test]
async fn a_server_that_ends_is_told_and_when_it_is_back_nothing_is_lost() {
    // Its own server, because other tests run on the shared one.
    let Some(server) = common::Postgres::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    server.place(folder.path());
    let store = Store::open(folder.path()).await.expect("opens");
    let found = FoundContest {
        name: "t".into(),
        game: "g".into(),
        terms: "{}".into(),
        secret: "s".into(),
        now: Time(1),
    };
    store.act(found).await.expect("founded");
    let meet = |name: &str| Meet { name: name.into(), level: "A".into(), now: Time(4) };
    let first = store.act(meet("one")).await.expect("met");
    server.kill();
    for _ in 0..3 {
        let error = store.act(meet("two")).await.expect_err("nobody is there");
        assert!(matches!(error, StoreError::Away(_)), "{error}");
        assert!(store.contests().await.is_err());
    }
    server.run();
    // The first one may still use the connection that has ended.
    let mut again = store.act(meet("one")).await;
    for _ in 0..3 {
        if again.is_ok() {
            break;
        }
        again = store.act(meet("one")).await;
    }
    assert_eq!(again.expect("it is back"), first, "what was acknowledged is there");
    assert_eq!(store.contests().await.expect("read").len(), 1);
}
