//! What pages say of machines and versions is so.

use crate::common::{World, hall, play_some, sign_up};
use agon_store::acts::{Decline, Promote};
use agon_store::{LoginKind, Time, VersionId};

/// The built-in worker asks for nothing while there is nothing to play: when it is given matches after that, it is not silent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_other_machines_can_go_quiet() {
    let world = hall::world().await;
    let rita = world.account("Rita", true).await;
    let (mut rita, _) = world.signed_in(rita, LoginKind::Session).await;
    let (_bob, mut ann) = (sign_up(&world, "Bob", "").await, sign_up(&world, "Ann", "").await);
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    let own = world.server.meet("inside", "not confined", world.now()).await.expect("met");
    world.wait(120_000);
    let store = world.server.store();
    let playing = async || {
        store.working(world.now()).await.expect("read").iter().map(|worker| worker.playing).sum::<i64>()
    };
    world.server.tick(world.now()).await.expect("done");
    // As the built-in worker does: what it was given at its last request, two minutes ago.
    let before = Time(world.now().0 - 120_000);
    world.server.lease(own, "a request", 1, before).await.expect("answered");
    assert_eq!(playing().await, 1);
    let quiet = |page: &str| page.contains("has gone quiet") || page.contains("no contact for");
    for path in ["/organise", "/organise/workers"] {
        let page = rita.get(path).await.text();
        assert!(!quiet(&page), "{path}: {page}");
    }
    let mut other = hall::Worker::new(&world, "hall-3").await;
    assert_eq!(other.lease(1).await.jobs.len(), 1);
    world.wait(64_000);
    for path in ["/organise", "/organise/workers"] {
        let page = rita.get(path).await;
        assert!(page.heading() == "hall-3 has gone quiet" && quiet(&page.text()), "{path}: {}", page.text());
    }
}

/// A version that lost its trial was never live, and its page says so; its team may still make it live.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_lost_its_trial_did_not_replace_the_one_before_it() {
    let world = World::new().await;
    let mut ann = sign_up(&world, "Ann", "").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('one')").await.status, 303);
    play_some(&world, 2).await;
    let better = [("only_if_better", "yes")];
    let answer = ann.upload("/upload", &better, "bot.py", b"print('two')").await;
    let page = answer.header("location").expect("taken in").to_owned();
    let waits = ann.get(&page).await.text();
    assert!(waits.contains("if it passes, it plays a trial against v1"), "{waits}");
    let version = VersionId(page.trim_start_matches("/version/").parse().expect("a number"));
    let store = world.server.store();
    let refused = ann.post(&format!("{page}/live"), &[]).await;
    assert!(refused.status == 422 && refused.text().contains("Only a version that has passed its check"));
    assert!(
        !store.act(Promote { version, now: world.now() }).await.expect("answered"),
        "its trial comes first"
    );
    assert_eq!(ann.get(&page).await.heading(), "v2 is in a trial");
    let reason = "not shown to be better than v1, which stays live: 0 ± 21 Elo after 50 blocks".to_owned();
    assert!(store.act(Decline { version, reason, now: world.now() }).await.expect("answered"));
    let lost = ann.get(&page).await;
    assert_eq!(lost.heading(), "v2 did not replace v1");
    let text = lost.text();
    assert!(
        text.contains("Not shown to be better than v1, which stays live: 0 ± 21 Elo after 50 blocks."),
        "{text}"
    );
    assert!(
        text.contains("it never was") && text.contains("Make live: v2") && !text.contains("since"),
        "{text}"
    );
    assert_eq!(ann.post(&format!("{page}/live"), &[]).await.status, 303);
    let live = ann.get(&page).await;
    assert!(live.heading() == "v2 is live" && !live.text().contains("it never was"), "{}", live.text());
}
