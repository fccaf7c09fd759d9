//! fsck finds what it is there for: anything changed behind the store's back.

use agon_store::acts::{
    Add, Added, GiveRuling, JudgeAll, Judgement, Lease, Meet, PlanBlocks, PostAll, PostResult, Promote, Seal,
};
use agon_store::{Cause, Kind, Objects, Sha, Stage, Store, Time, Whose};
use sqlx::{Connection as _, Executor as _};

use crate::common;

fn cause() -> Cause {
    Cause { whose: Whose::Yours, stage: Stage::Match, what: "crash".into(), fix: Some("mend it".into()) }
}

/// A contest with one block, one match of it sealed, the other leased.
pub(crate) async fn contest(folder: &std::path::Path) {
    let store = Store::open(folder).await.expect("a database");
    let now = Time(1);
    let (contest, lineup) = common::founded(&store, &["a", "b"], now).await;
    let worker = store.act(Meet { name: "w".into(), level: "not confined".into(), now }).await.expect("met");
    store
        .act(PlanBlocks { contest, kind: Kind::Ladder, blocks: vec![(0, lineup)], rotations: 2, now })
        .await
        .expect("planned");
    let lease = Lease { contest, worker, request: "1".into(), most: 8, now, until: Time(9) };
    let granted = store.act(lease).await.expect("granted");
    let attempt = granted.matches[0].attempt;
    let replay = Objects::open(folder).expect("a place").put(b"replay").await.expect("room");
    let post = PostResult { worker, attempt, result: "{}".into(), replay, own: Vec::new(), now };
    store.act(PostAll { posts: vec![post] }).await.expect("posted");
    let judged = vec![(attempt, Judgement::Valid(common::outcome(vec![1, 2])))];
    store.act(JudgeAll { judged, now }).await.expect("judged");
    assert_eq!(store.act(Seal { contest }).await.expect("sealed").len(), 1);
    store.close().await;
}

#[tokio::test]
async fn every_kind_of_damage_is_found_and_named() {
    let damages: [(&str, &str); 25] = [
        ("DELETE FROM jobs", "a job exists exactly while"),
        ("UPDATE jobs SET lease_id = NULL", "a match is leased exactly while"),
        (
            "UPDATE attempts SET ended_ms = NULL, how = NULL WHERE how = 'posted'",
            "an attempt is open exactly while",
        ),
        ("UPDATE attempts SET how = NULL WHERE how = 'posted'", "an attempt says how it ended"),
        ("UPDATE matches SET replay_sha = NULL WHERE state = 'valid'", "a posted match has a result"),
        ("UPDATE seats SET rank = 1", "a valid match has all its ranks"),
        ("UPDATE jobs SET tries = 2", "failed attempts count"),
        ("UPDATE contests SET blocks = 7", "blocks of a contest are numbered"),
        ("UPDATE matches SET log_seq = 2 WHERE state = 'valid'", "a match in the log is valid"),
        ("DELETE FROM log", "a match that names a place"),
        ("UPDATE log SET seq = 2", "the log has no gaps"),
        ("UPDATE log SET body = replace(body, 'not confined', 'confined')", "the log's chain is unbroken"),
        ("UPDATE contests SET terms = '{\"x\":1}'", "the log's chain is unbroken"),
        (
            "UPDATE matches SET outcome = replace(outcome, '[1,2]', '[2,1]')",
            "the log agrees with its matches",
        ),
        ("UPDATE blocks SET seed = 5", "the seed of a block follows"),
        ("UPDATE versions SET state = 'former' WHERE id = 1", "a team has at most one live version"),
        ("UPDATE blocks SET asked_by = 1", "only challenges and drafts name who asked"),
        ("UPDATE jobs SET but_id = 1", "a repeat has the seed and map of its original"),
        (
            "INSERT INTO agains (of_id, match_id, first_id, second_id) VALUES (1, 9, 1, 1)",
            "a match is compared once another worker",
        ),
        ("INSERT INTO own_rules (block_id, rules) VALUES (1, '{}')", "only drafts have rules of their own"),
        ("UPDATE blocks SET trial_id = 1", "promotion blocks belong to a trial"),
        ("UPDATE versions SET state = 'trial' WHERE id = 1", "a version in its trial has one"),
        ("DELETE FROM steps", "a version was received, and its state is"),
        ("UPDATE versions SET cause = '{}'", "only a failed version has a cause"),
        (
            "UPDATE seats SET own_sha = (SELECT replay_sha FROM matches WHERE replay_sha IS NOT NULL)",
            "only a match with a result has reports",
        ),
    ];
    for (damage, rule) in damages {
        let folder = common::folder();
        contest(folder.path()).await;
        let mut conn = sqlx::AnyConnection::connect(&common::url(folder.path())).await.expect("opens");
        conn.execute(damage).await.expect("damaged");
        conn.close().await.expect("closed");
        let store = Store::open(folder.path()).await.expect("opens");
        let found =
            store.fsck(&Objects::open(folder.path()).expect("a place")).await.expect("looked through");
        assert!(found.iter().any(|finding| finding.rule.starts_with(rule)), "{damage}: {found:?}");
    }
}

#[tokio::test]
async fn an_object_that_is_missing_or_changed_is_found_and_a_whole_contest_is_clean() {
    let folder = common::folder();
    contest(folder.path()).await;
    let objects = Objects::open(folder.path()).expect("a place");
    let store = Store::open(folder.path()).await.expect("opens");
    assert_eq!(store.fsck(&objects).await.expect("looked through"), []);
    let name = Sha::of(b"replay").to_string();
    let file = folder.path().join("objects").join(&name[..2]).join(&name[2..]);
    std::fs::write(&file, b"rePlay").expect("changed");
    let found = store.fsck(&objects).await.expect("looked through");
    assert_eq!(found.len(), 1);
    assert!(found[0].what.contains("was changed") && found[0].what.contains("match"), "{found:?}");
    std::fs::remove_file(&file).expect("removed");
    let found = store.fsck(&objects).await.expect("looked through");
    assert!(found[0].what.contains("is not there"), "{found:?}");
}

#[tokio::test]
async fn a_database_of_a_later_program_is_left_alone() {
    let folder = common::folder();
    contest(folder.path()).await;
    let mut conn = sqlx::AnyConnection::connect(&common::url(folder.path())).await.expect("opens");
    conn.execute("INSERT INTO schema_version (version) VALUES (99)").await.expect("written");
    conn.close().await.expect("closed");
    let Err(error) = Store::open(folder.path()).await else { panic!("it is refused") };
    assert!(error.to_string().contains("later agon (schema 99; this one knows 6)"), "{error}");
}

#[tokio::test]
async fn a_team_goes_back_to_what_it_had_and_only_to_that() {
    use agon_store::acts::{Demote, Return};
    let folder = common::folder();
    contest(folder.path()).await;
    let store = Store::open(folder.path()).await.expect("opens");
    let contest = store.contests().await.expect("read")[0].id;
    let objects = Objects::open(folder.path()).expect("a place");
    let add = async |text: &str, now: i64| {
        let source = objects.put(text.as_bytes()).await.expect("kept");
        let (entrant, actor) = ("ann".to_owned(), "ann".to_owned());
        let add = Add {
            contest,
            entrant,
            boss: false,
            builtin: None,
            source,
            received: Time(now),
            only_if_better: false,
            bytes: 1,
            counts: false,
            actor,
        };
        store.act(add).await.expect("added")
    };
    let (Added::New(first, 1), Added::New(second, 2), Added::New(third, 3)) =
        (add("1", 1).await, add("2", 2).await, add("3", 3).await)
    else {
        panic!("three versions");
    };
    // The second is ready before the first, so the first never stands for the bot.
    assert!(store.act(Promote { version: second, now: Time(5) }).await.expect("promoted"));
    assert!(!store.act(Promote { version: first, now: Time(6) }).await.expect("overtaken"));
    assert!(store.act(Demote { version: third, cause: cause(), now: Time(7) }).await.expect("failed"));
    assert!(!store.act(Promote { version: third, now: Time(8) }).await.expect("it stays failed"));
    let back = |version, now| store.act(Return { version, actor: "ann".into(), now: Time(now) });
    assert!(!back(third, 9).await.expect("it cannot play"));
    assert!(back(first, 9).await.expect("back"));
    assert!(back(second, 9).await.expect("and forth"));
    assert!(!back(second, 10).await.expect("it stands already"));
    let states: Vec<_> =
        store.of(contest).versions().await.expect("read").into_iter().skip(2).map(|own| own.state).collect();
    use agon_store::VersionState::{Failed, Former, Live};
    assert_eq!(states, [Former, Live, Failed]);
    assert_eq!(add("1", 11).await, Added::Same(first, 1, Former));
    assert_eq!(store.fsck(&objects).await.expect("looked through"), []);
    // A version taken out by a ruling does not stand for its team, even if somebody writes so behind the store's back.
    use agon_store::Ruling::{Back, Out};
    let entrant = store.owner_of(second).await.expect("read").expect("ann's");
    let rule = async |ruling, version| {
        let (reason, actor) = ("why".to_owned(), "rita".to_owned());
        let rule = GiveRuling { contest, ruling, entrant, version, reason, actor, now: Time(12) };
        store.act(rule).await.expect("answered").map(|ruled| ruled.seq)
    };
    assert_eq!(rule(Back, None).await, None, "nobody is out yet");
    assert_eq!((rule(Out, Some(second)).await, rule(Out, Some(second)).await), (Some(2), None));
    assert_eq!((rule(Out, None).await, rule(Back, None).await), (Some(3), Some(4)));
    assert_eq!(store.fsck(&objects).await.expect("looked through"), []);
    for (damage, holds) in [
        ("UPDATE versions SET state = 'live' WHERE id = 4", "a version that a ruling took out"),
        (
            "UPDATE log SET body = replace(body, 'why', 'because') WHERE seq = 2",
            "the log's chain is unbroken",
        ),
        ("DELETE FROM log WHERE seq = 3", "a ruling names a team"),
    ] {
        let mut conn = sqlx::AnyConnection::connect(&common::url(folder.path())).await.expect("opens");
        conn.execute(damage).await.expect("damaged");
        conn.close().await.expect("closed");
        let found = store.fsck(&objects).await.expect("looked through");
        assert!(found.iter().any(|finding| finding.rule.starts_with(holds)), "{damage}: {found:?}");
    }
}
