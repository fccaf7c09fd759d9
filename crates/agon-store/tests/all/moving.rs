//! A contest that moves to a server and back is the same to the last row, and continues with numbers never used before.

use agon_store::acts::{Add, Added, FoundContest, Lease, LeaseGrant, Meet, PlanBlocks, Promote};
use agon_store::{Kind, Objects, Store, StoreError, Time};
use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use std::path::Path;

use crate::common;

/// All rows of all tables, as text.
pub(crate) async fn dump(file: &std::path::Path) -> Vec<String> {
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
    let rows = agon_store::relocate(at, Some(&url), false, Time(9)).await.expect("moved");
    assert!(rows > 10 && !at.join(agon_store::DATABASE).exists());
    let again = agon_store::relocate(at, Some(&url), true, Time(9)).await;
    assert!(again.is_err_and(|error| error.to_string().contains("already on a server")));
    let store = Store::open(at).await.expect("opens");
    assert_eq!(store.fsck(&Objects::open(at).expect("a place")).await.expect("looked through"), []);
    store.close().await;
    assert_eq!(agon_store::relocate(at, None, false, Time(9)).await.expect("moved back"), rows);
    assert_eq!(dump(&at.join(agon_store::DATABASE)).await, before, "to the last row and number");

    // There and back again, over what it left there, which has to be confirmed. Numbers forgotten meanwhile are not used again.
    let asked = agon_store::relocate(at, Some(&url), false, Time(9)).await;
    let Err(StoreError::Older(what)) = asked else { panic!("{asked:?}") };
    assert!(what.contains("the copy that this contest left"), "{what}");
    assert_eq!(agon_store::relocate(at, Some(&url), true, Time(9)).await.expect("there again"), rows);
    assert_eq!(agon_store::relocate(at, None, false, Time(9)).await.expect("and back"), rows);
    assert_eq!(dump(&at.join(agon_store::DATABASE)).await, before, "to the last row and number");
    agon_store::relocate(at, Some(&url), true, Time(9)).await.expect("moved");
    let store = Store::open(at).await.expect("opens");
    let second = store.act(lease("2")).await.expect("granted");
    assert!(second.lease > first.lease && !second.matches.is_empty(), "{second:?}");
}

/// A contest in a file, in a folder of its own.
async fn founded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).await.expect("opens");
    common::founded(&store, &["a", "b"], Time(1)).await;
    store.close().await;
    folder
}

/// An empty database of the server, and a folder of another machine that names it.
fn second(server: &common::Postgres) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    server.place(folder.path());
    let url = common::url(folder.path());
    (folder, url)
}

async fn refused(folder: &Path) -> String {
    match Store::open(folder).await {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{}: it is opened", folder.display()),
    }
}

#[tokio::test]
async fn what_a_contest_has_left_is_never_gone_on_with() {
    let Some(server) = common::POSTGRES.as_ref() else { return };
    let (first, (other, url)) = (founded().await, second(server));
    let at = first.path();
    // A command of somebody that has it open while it moves.
    let open = Store::open(at).await.expect("opens");
    agon_store::relocate(at, Some(&url), false, Time(9)).await.expect("moved");
    let meet = || Meet { name: "w".into(), level: "A".into(), now: Time(4) };
    let late = open.act(meet()).await.expect_err("it was moved");
    assert!(matches!(&late, StoreError::Moved { .. }), "{late}");
    open.close().await;
    // The old file under its old name, as from a copy of the folder.
    let copied = tempfile::tempdir().expect("a folder");
    let old = copied.path().join(agon_store::DATABASE);
    std::fs::copy(at.join("agon.db.moved"), &old).expect("copied");
    for _ in 0..3 {
        let said = refused(copied.path()).await;
        assert!(
            said.contains("was moved to postgres://agon@localhost/contest") && said.contains("1970"),
            "{said}"
        );
    }
    // Two servers of it: it is not moved while either runs, from whichever folder.
    let (here, there) =
        (Store::open(at).await.expect("opens"), Store::open(other.path()).await.expect("opens"));
    assert!(there.keeps().await.expect("asked"));
    let played = agon_store::relocate(at, None, true, Time(10)).await.expect_err("it is played").to_string();
    let own = format!("in use by process {} on ", std::process::id());
    assert!(played.contains(&own) && played.contains("stop every server of it first"), "{played}");
    let elsewhere = at.join("big disk");
    let objects = agon_store::relocate_objects(at, elsewhere.to_str().expect("UTF-8"), Time(10)).await;
    assert!(objects.is_err_and(|error| error.to_string().contains(&own)));
    there.close().await;
    // One that is restarted at once finds nothing to go on with, and one that still runs is stopped by its next act.
    agon_store::relocate(at, None, false, Time(10)).await.expect("moved back");
    assert!(matches!(here.act(meet()).await, Err(StoreError::Moved { .. })));
    here.close().await;
    for _ in 0..3 {
        let said = refused(other.path()).await;
        let place = at.canonicalize().expect("there").display().to_string();
        assert!(said.contains(&format!("the folder {place} on the machine ")), "{said}");
    }
    assert!(!std::fs::read_dir(at).expect("there").any(|entry| {
        entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("database.url"))
    }));
}

#[tokio::test]
async fn a_move_replaces_only_an_older_copy_of_the_same_contest() {
    let Some(server) = common::POSTGRES.as_ref() else { return };
    let (first, (other, url)) = (founded().await, second(server));
    let at = first.path();
    let store = Store::open(other.path()).await.expect("opens");
    let found = FoundContest {
        name: "test".into(),
        game: "g".into(),
        terms: "{}".into(),
        secret: "other".into(),
        now: Time(1),
    };
    store.act(found).await.expect("founded");
    store.close().await;
    let foreign = agon_store::relocate(at, Some(&url), true, Time(9)).await.expect_err("another contest");
    assert!(foreign.to_string().contains("and not this one"), "{foreign}");
    // The same contest, not marked: with a log that ours goes on with, and then with results of its own.
    let (other, url) = second(server);
    agon_store::relocate(at, Some(&url), false, Time(9)).await.expect("moved");
    agon_store::relocate(at, None, false, Time(9)).await.expect("back");
    run(&url, "DELETE FROM moved").await;
    let older = agon_store::relocate(at, Some(&url), false, Time(9)).await;
    assert!(matches!(older, Err(StoreError::Older(_))), "{older:?}");
    run(&url, "INSERT INTO log (contest_id, seq, body, sha) VALUES (1, 1, '{}', 'x')").await;
    let own = agon_store::relocate(at, Some(&url), true, Time(9)).await.expect_err("it went on");
    assert!(own.to_string().contains("results that are not in the one that moves"), "{own}");
    run(&url, "DELETE FROM log").await;
    // Nobody's contest is taken from under a server.
    let there = Store::open(other.path()).await.expect("opens");
    assert!(there.keeps().await.expect("asked"));
    assert!(agon_store::relocate(at, Some(&url), true, Time(9)).await.is_err());
    there.close().await;
    agon_store::relocate(at, Some(&url), true, Time(9)).await.expect("replaced");
}

async fn run(url: &str, statement: &'static str) {
    let mut conn = sqlx::AnyConnection::connect(url).await.expect("opens");
    sqlx::Executor::execute(&mut conn, statement).await.expect("done");
    conn.close().await.expect("closed");
}

/// The states in which a kill can leave a move, made from the one at its end: exactly one copy can be played in each.
#[tokio::test]
async fn a_move_that_is_killed_leaves_exactly_one_copy_that_can_be_played() {
    const ARRIVING: &str = "INSERT INTO moved (place, at_ms, state) VALUES ('x', 1, 'arriving')";
    let Some(server) = common::POSTGRES.as_ref() else { return };
    let (first, (other, url)) = (founded().await, second(server));
    let at = first.path();
    let file = |name: &str| at.join(name);
    let rename = |from: &str, to: &str| std::fs::rename(file(from), file(to)).expect("renamed");
    let plays = async |folder: &Path| {
        let store = Store::open(folder).await.expect("it can be played");
        assert_eq!(store.contests().await.expect("read").len(), 1);
        store.close().await;
    };
    // There, before it was decided: the copy is complete, and not in use.
    agon_store::relocate(at, Some(&url), false, Time(9)).await.expect("moved");
    run(&url, ARRIVING).await;
    std::fs::remove_file(file("database.url")).expect("there");
    rename("agon.db.moved", "agon.db");
    let own = format!("sqlite://{}", file("agon.db").display());
    run(&own, "DELETE FROM moved").await;
    std::fs::write(file("database.url.new"), &url).expect("written");
    assert!(refused(other.path()).await.contains("not in use"));
    plays(at).await;
    assert!(file("agon.db").exists(), "it stays where it is");
    // Again, over what that left; then after it was decided, before the names.
    agon_store::relocate(at, Some(&url), false, Time(9)).await.expect("moved");
    run(&url, ARRIVING).await;
    rename("agon.db.moved", "agon.db");
    rename("database.url", "database.url.new");
    assert!(refused(other.path()).await.contains("not in use"));
    plays(at).await;
    assert!(!file("agon.db").exists() && file("database.url").exists(), "it was finished");
    plays(other.path()).await;
    // Between the two names.
    rename("database.url", "database.url.new");
    rename("agon.db.moved", "agon.db");
    plays(at).await;
    // Back: half a draft, then a whole one that is not decided on, then one that is.
    std::fs::write(file("agon.db.part"), "half").expect("written");
    plays(at).await;
    agon_store::relocate(at, None, false, Time(9)).await.expect("back");
    for draft in ["agon.db.part", "agon.db"] {
        std::fs::write(file("database.url"), &url).expect("written");
        rename("agon.db", "agon.db.x");
        rename("agon.db.x", draft);
        assert!(refused(other.path()).await.contains("was moved to the folder"));
        plays(at).await;
        assert!(file("agon.db").exists() && !file("database.url").exists(), "it was finished");
    }
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
