//! While the clock of a server is in doubt pages are there and sessions last, what would be accepted is refused with the reason, and an
//! organiser confirms the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::common::{World, play_some, sign_up, write_file};
use agon_server::clock::ALIKE_MS;
use agon_site::Way;
use agon_store::LoginKind;

const DAY: i64 = 86_400_000;

/// In a file: the clock of a server's database is not the test's.
async fn world() -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let section = "sign_up = \"open\"\nteam_size = 2\ntitle = \"Autumn Cup\"\ncloses = 2026-11-25T06:40";
    write_file(folder.path(), section);
    World::in_folder(folder, section, Way::Loopback).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organiser_confirms_the_time() {
    let world = world().await;
    let rita = world.account("Rita", true).await;
    let mut rita = world.signed_in(rita, LoginKind::Session).await.0;
    let mut ann = sign_up(&world, "Ann", "").await;
    let (_, mut machine) = world.worker("hall-1").await;
    let jumped = Arc::new(AtomicI64::new(0));
    world.watches_clock(&jumped).await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    play_some(&world, 3).await;
    world.server.look_after(world.site.now()).await.expect("done");
    assert!(!rita.get("/organise").await.text().contains("in doubt"));
    // By this clock uploads would be closed, and all sessions over.
    jumped.store(60 * DAY, Ordering::Relaxed);
    let held = ann.upload("/upload", &[], "bot.py", b"print('ann again')").await;
    assert_eq!((held.status, held.heading().as_str()), (503, "The server's clock is in doubt"));
    assert_eq!(held.header("retry-after"), Some("30"));
    assert!(held.text().contains("It jumped ahead by 60 d 0 h."), "{}", held.text());
    let lease = r#"{"request":"x","most":1,"wait_ms":0}"#;
    let refused = machine.post_json("/work/v1/lease?run=x", lease).await;
    assert_ne!(refused.status, 200, "{}", refused.text());
    world.server.look_after(world.site.now()).await.expect("done");
    // People are still there, and new ones come in.
    for page in ["/", "/ladder", "/account", "/team"] {
        assert_eq!(ann.get(page).await.status, 200, "{page}");
    }
    assert!(ann.get("/").await.text().contains("Ann"), "signed in");
    let cockpit = rita.get("/organise").await;
    assert_eq!(cockpit.heading(), "The clock of hall cup is in doubt");
    let text = cockpit.text();
    for words in [
        "It jumped ahead by 60 d 0 h. That server accepts, hands out and seals nothing meanwhile",
        "Fri 22 Jan 2027 06:40",
        "action=\"/organise/clock\"",
        "the clock of hall cup</b> is in doubt",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let seen = (60 * DAY).to_string();
    let confirm = [("server", "hall cup"), ("ahead", seen.as_str())];
    assert_eq!(ann.post("/organise/clock", &confirm).await.status, 403);
    for wrong in [[("server", "another"), confirm[1]], [confirm[0], ("ahead", "3600000")]] {
        assert_eq!(rita.post("/organise/clock", &wrong).await.status, 422, "{wrong:?}");
    }
    assert_eq!(rita.post("/organise/clock", &confirm).await.status, 303);
    let text = rita.get("/organise").await.text();
    assert!(text.contains("Rita</b> confirmed the clock of hall cup"), "{text}");
    assert!(!text.contains("action=\"/organise/clock\""), "{text}");
    world.server.look_after(world.site.now()).await.expect("hears of it");
    let held = ann.upload("/upload", &[], "bot.py", b"print('ann again')").await;
    assert_eq!(held.status, 503, "for a minute");
    world.wait(ALIKE_MS);
    world.server.look_after(world.site.now()).await.expect("done");
    world.server.look_after(world.site.now()).await.expect("done");
    // What was confirmed holds: sessions are over by it, and so are uploads.
    assert_eq!(world.site.now().0, world.now().0 + 60 * DAY);
    assert_eq!(ann.get("/account").await.status, 303);
    let rita = world.server.store().organisers().await.expect("read");
    assert_eq!(rita, 1);
    assert_eq!(world.server.store().clock_doubts().await.expect("read"), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_signed_in_stays_so_when_the_clock_comes_back() {
    let world = world().await;
    let mut ann = sign_up(&world, "Ann", "").await;
    let jumped = Arc::new(AtomicI64::new(0));
    world.watches_clock(&jumped).await;
    for jump in [60 * DAY, -60 * DAY] {
        jumped.store(jump, Ordering::Relaxed);
        assert_eq!(ann.get("/account").await.status, 200, "{jump}");
        world.wait(ALIKE_MS);
        assert_eq!(ann.get("/account").await.status, 200, "{jump}");
    }
    jumped.store(0, Ordering::Relaxed);
    assert_eq!(ann.get("/account").await.status, 200);
    world.wait(ALIKE_MS);
    assert_eq!(ann.get("/account").await.status, 200);
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303, "and all goes on");
    // Signing out and in is no matter of the time.
    jumped.store(60 * DAY, Ordering::Relaxed);
    assert_eq!(ann.post("/sign-out", &[]).await.status, 303);
    assert_ne!(ann.get("/account").await.status, 200);
    let form = [("name", "Ann"), ("password", crate::common::PASSWORD)];
    assert_eq!(ann.post("/sign-in", &form).await.status, 303);
    assert_eq!(ann.get("/account").await.status, 200);
}
