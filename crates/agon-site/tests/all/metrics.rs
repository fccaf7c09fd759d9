//! Metrics for Prometheus: who may read them, and that they are correct.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::common::{Answer, Browser, World, database, play};
use agon_site::Way;
use agon_store::LoginKind;

const TOKEN: &str = "a-token-of-twenty-signs";

/// The values by name with labels; panics on a line that is not in the format.
fn figures(answer: &Answer) -> BTreeMap<String, f64> {
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("text/plain; version=0.0.4; charset=utf-8"))
    );
    let text = answer.text();
    let mut named = "";
    let mut found = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            named = rest.split(' ').next().expect("a name");
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (name, value) = line.rsplit_once(' ').expect("a value");
        assert!(!named.is_empty() && name.split('{').next() == Some(named), "{line} stands below {named}");
        let value = value.replace("+Inf", "inf").parse().expect("a number");
        assert!(found.insert(name.to_owned(), value).is_none(), "{line} stands there twice");
    }
    found
}

async fn read(browser: &mut Browser) -> BTreeMap<String, f64> {
    figures(&browser.get("/metrics").await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn figures_follow_what_happens() {
    let world = World::new().await;
    let mut browser = world.browser();
    let before = read(&mut browser).await;
    assert_eq!((before["agon_database_up"], before["agon_log_rows_total"]), (1.0, 0.0));
    assert_eq!((before["agon_drain_seconds"], before["agon_queue_age_seconds"]), (f64::INFINITY, 0.0));
    let worker = world.server.meet("inside", "A", world.now()).await.expect("met");
    let granted = world.server.lease(worker, "1", 1, world.now()).await.expect("granted");
    assert!(world.server.start(worker, granted.jobs[0].attempt, world.now()).await.expect("answered"));
    world.wait(7_000);
    let leased = read(&mut browser).await;
    assert_eq!(leased["agon_matches{state=\"leased\"}"], 1.0);
    assert_eq!((leased["agon_queue_age_seconds"], leased["agon_leases"]), (7.0, 1.0));
    assert_eq!(
        (leased["agon_workers{state=\"heard\"}"], leased["agon_workers{state=\"silent\"}"]),
        (1.0, 0.0)
    );
    play(&world, worker, &granted.jobs[0]).await;
    let other = world.server.lease(worker, "2", 1, world.now()).await.expect("granted");
    let nothing = agon_worker::Nothing::again("ours: late");
    world.server.void(worker, other.jobs[0].attempt, &nothing, world.now()).await.expect("void");
    world.server.tick(world.now()).await.expect("done");
    world.wait(90_000);
    let after = read(&mut browser).await;
    assert_eq!((after["agon_matches{state=\"valid\"}"], after["agon_log_rows_total"]), (1.0, 1.0));
    assert_eq!(after["agon_tries_total{how=\"void\"}"], 1.0);
    assert_eq!(after["agon_workers{state=\"silent\"}"], 1.0);
    assert!(after["agon_matches_owed"] > 0.0);
    assert_eq!(
        after["agon_drain_seconds"],
        7.0 * after["agon_matches_owed"],
        "the one that was played took 7"
    );
    assert_eq!((after["agon_table_behind_rows"], after["agon_table_age_seconds"]), (0.0, 90.0));
    browser.get("/nowhere").await;
    let last = read(&mut browser).await;
    assert_eq!(last["agon_requests_total{kind=\"page\",status=\"404\"}"], 1.0);
    assert_eq!(last["agon_requests_total{kind=\"metrics\",status=\"200\"}"], 3.0);
    assert!(last["agon_request_seconds_total{kind=\"metrics\"}"] > 0.0);
}

#[tokio::test]
async fn figures_are_for_this_machine_and_for_whoever_has_the_token() {
    let site = "title = \"Autumn Cup\"";
    let denied = |answer: Answer| {
        let text = answer.text();
        assert!(answer.status == 401 && text.contains("not public") && !text.contains("agon_"), "{text}");
    };
    // From this machine, and under no name that could have been made to resolve here.
    let lan = World::with(site, Way::Lan).await;
    let mut browser = lan.browser();
    read(&mut browser).await;
    denied(browser.raw(b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").await);
    // Behind a proxy everybody comes from this machine, even if it forgets to say for whom it speaks.
    let proxied = World::with(site, Way::Proxy("https://cup.example".into())).await;
    let mut browser = proxied.browser();
    denied(browser.get("/metrics").await);
    browser.extra = vec![("X-Forwarded-For".into(), "127.0.0.1".into())];
    denied(browser.get("/metrics").await);
    browser.bearer = Some(TOKEN.into());
    denied(browser.get("/metrics").await);
    proxied.site.measured_with(TOKEN);
    read(&mut browser).await;
    browser.bearer = Some(format!("{TOKEN}s"));
    denied(browser.get("/metrics").await);
    // Neither a worker nor a person may read metrics, and a reader is neither of them.
    let (_, mut worker) = proxied.worker("hall 3").await;
    denied(worker.get("/metrics").await);
    browser.bearer = Some(TOKEN.into());
    assert_eq!(browser.get("/api/v1/me").await.status, 401);
    assert_eq!(browser.get("/work/v1?program=x").await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_is_told() {
    let Some(server) = database::Postgres::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    server.place(folder.path());
    let world = World::in_folder(folder, "title = \"Autumn Cup\"", Way::Loopback).await;
    let mut browser = world.browser();
    assert_eq!(read(&mut browser).await["agon_database_up"], 1.0);
    server.kill();
    let away = read(&mut browser).await;
    assert_eq!(away["agon_database_up"], 0.0);
    assert!(
        !away.contains_key("agon_log_rows_total") && away.keys().any(|name| name.starts_with("agon_info{")),
        "{away:?}"
    );
    server.run();
    let back = read(&mut browser).await;
    assert!(back["agon_database_up"] == 1.0 || read(&mut browser).await["agon_database_up"] == 1.0);
}

/// Asks until it answers with this status; a minute is more than any machine needs.
async fn answers(browser: &mut Browser, path: &str, status: u16) -> Answer {
    for _ in 0..600 {
        let response = browser.get(path).await;
        if response.status == status {
            return response;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path} never answers {status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_database_is_away_at_once_for_everybody() {
    let Some(server) = database::Postgres::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    server.place(folder.path());
    let world = World::in_folder(folder, "sign_up = \"open\"\ntitle = \"Autumn Cup\"", Way::Loopback).await;
    let account = world.account("ann", false).await;
    let (mut ann, _) = world.signed_in(account, LoginKind::Token).await;
    let mut browser = world.browser();
    let ready = answers(&mut browser, "/health/ready", 200).await;
    assert_eq!(ready.body, b"ready\n");
    assert_eq!(ann.get("/api/v1/me").await.status, 200);

    server.freeze(true);
    // Whoever asked before anybody knew is answered as well.
    let mut early = world.browser();
    let (page, api) = tokio::join!(early.get("/ladder"), ann.get("/api/v1/me"));
    for (what, response) in [("a page", &page), ("the API", &api)] {
        assert_eq!(response.status, 503, "{what}: {}", response.text());
        assert!(response.text().contains("database does not answer"), "{what}: {}", response.text());
        assert_eq!(response.header("retry-after"), Some("5"), "{what}");
    }
    assert!(page.text().contains("<html") && api.text().starts_with('{'));
    assert_eq!(
        answers(&mut browser, "/health/ready", 503).await.header("content-type"),
        Some("application/problem+json")
    );
    for path in ["/health/live", "/style.css", "/icon.svg"] {
        assert_eq!(browser.get(path).await.status, 200, "{path}");
    }
    assert_eq!(read(&mut browser).await["agon_database_up"], 0.0);

    server.freeze(false);
    answers(&mut browser, "/health/ready", 200).await;
    answers(&mut browser, "/ladder", 200).await;
    answers(&mut ann, "/api/v1/me", 200).await;
}
