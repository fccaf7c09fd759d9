//! The doors: sessions, forms from other sites, limits, and the headers of every answer.

use crate::common::World;
use agon_site::Way;
use agon_store::LoginKind;

const PASSWORD: &str = "four unrelated words here";

#[tokio::test]
async fn somebody_signs_up_out_and_in() {
    let world = World::new().await;
    let mut ann = world.browser();
    assert_eq!(ann.get("/sign-up").await.heading(), "Take part in Autumn Cup");
    let answer = ann.post("/sign-up", &[("name", "Ann"), ("password", "short")]).await;
    assert_eq!(answer.status, 422);
    assert!(answer.text().contains("needs at least 12") && answer.text().contains("value=\"Ann\""));
    let answer = ann.post("/sign-up", &[("name", "Ann"), ("password", PASSWORD), ("next", "//evil")]).await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let cookie = answer.header("set-cookie").expect("a session").to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && !cookie.contains("Secure"),
        "{cookie}"
    );
    assert!(ann.get("/").await.text().contains("Ann"));
    let before = ann.clone();
    assert_eq!(ann.post("/sign-out", &[]).await.status, 303);
    assert!(ann.cookies.is_empty());
    let mut stolen = before;
    assert!(
        !stolen.get("/").await.text().contains(">Ann<"),
        "the session is over also for who has the cookie"
    );
    let wrong = ann.post("/sign-in", &[("name", "Ann"), ("password", "some other words")]).await;
    let nobody = ann.post("/sign-in", &[("name", "Nobody"), ("password", PASSWORD)]).await;
    assert_eq!((wrong.status, nobody.status), (422, 422));
    let same = |text: String| text.replace("Nobody", "Ann");
    assert_eq!(same(nobody.text()), wrong.text(), "whether there is such an account is not told");
    let answer = ann.post("/sign-in", &[("name", "ANN"), ("password", PASSWORD), ("next", "/ladder")]).await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/ladder")));
    // Signing in again makes a new session, and ends the one before.
    let mut first = ann.clone();
    ann.post("/sign-in", &[("name", "Ann"), ("password", PASSWORD)]).await;
    assert_ne!(first.secret(), ann.secret());
    assert!(!first.get("/").await.text().contains(">Ann<"));
    world.wait(7 * 86_400_000);
    assert!(!ann.get("/").await.text().contains(">Ann<"), "unused for seven days");
}

#[tokio::test]
async fn forms_of_other_sites_and_of_before_do_nothing() {
    let world = World::new().await;
    let account = world.account("Ann", false).await;
    let (mut ann, _) = world.signed_in(account, LoginKind::Session).await;
    let with = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let own = format!("http://{}", world.address);
    for extra in [
        with("Origin", "http://evil.example"),
        with("Origin", "null"),
        with("Origin", &format!("{own}.evil.example")),
        with("Sec-Fetch-Site", "cross-site"),
        with("Sec-Fetch-Site", "same-site"),
    ] {
        ann.extra = extra;
        let answer = ann.post("/sign-out", &[]).await;
        assert_eq!(
            (answer.status, answer.heading().as_str()),
            (403, "Not sent from here"),
            "{:?}",
            ann.extra
        );
    }
    ann.extra.clear();
    let plain = format!(
        "POST /sign-out HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        world.address
    );
    assert_eq!(ann.raw(plain.as_bytes()).await.status, 403, "who says neither is no browser");
    for token in ["", "x", &agon_site::secrets::form_token("another session")] {
        let answer = ann.post_with("/sign-out", token, &[]).await;
        assert_eq!((answer.status, answer.heading().as_str()), (403, "This form is too old"), "{token}");
    }
    let two = format!("form={}&form=x", ann.form());
    let answer = ann.ask("POST", "/sign-out", "application/x-www-form-urlencoded", two.as_bytes()).await;
    assert_eq!(answer.status, 403, "one token, not one of two");
    assert!(ann.get("/").await.text().contains(">Ann<"), "nothing of it was done");
    ann.extra = with("Sec-Fetch-Site", "same-origin");
    assert_eq!(ann.post("/sign-out", &[]).await.status, 303);
}

#[tokio::test]
async fn every_answer_bears_what_keeps_browsers_safe() {
    let world = World::new().await;
    let mut browser = world.browser();
    for path in ["/", "/ladder", "/sign-in", "/style.css", "/nowhere", "/api/v1/me"] {
        let answer = browser.get(path).await;
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"), "{path}");
        assert!(answer.header("cache-control").is_some(), "{path}");
        assert!(answer.body.len() < 60_000, "{path}");
        // The page contains nothing that the policy forbids.
        let text = answer.text();
        assert!(
            !text.contains(" style=") && !text.contains("<script>") && !text.contains(" onclick"),
            "{path}"
        );
    }
    // A foreign name can be made to resolve here.
    let foreign = "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(browser.raw(foreign.as_bytes()).await.status, 421);
}

#[tokio::test]
async fn too_much_is_refused_in_words_and_memory() {
    let world = World::new().await;
    let account = world.account("Ann", false).await;
    let (mut ann, _) = world.signed_in(account, LoginKind::Session).await;
    let huge = vec![b'x'; 70_000];
    let answer = ann.ask("POST", "/sign-out", "application/x-www-form-urlencoded", &huge).await;
    assert_eq!((answer.status, answer.heading().as_str()), (413, "Too large"));
    let long = format!("GET /{} HTTP/1.1\r\nHost: {}\r\n\r\n", "x".repeat(100_000), world.address);
    assert!(matches!(ann.raw(long.as_bytes()).await.status, 0 | 414 | 431));
    for request in ["\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9\r\n\r\n", "\0\0\0\0\r\n\r\n"] {
        assert!(matches!(ann.raw(request.as_bytes()).await.status, 0 | 400 | 505), "{request:?}");
    }
    for _ in 0..700 {
        let answer = ann.get("/ladder").await;
        if answer.status == 429 {
            assert!(answer.header("retry-after").is_some() && answer.heading() == "Too much at once");
            assert_eq!(ann.get("/style.css").await.status, 200, "files are not counted");
            assert_eq!(world.browser().get("/ladder").await.status, 200, "others are not held back");
            world.wait(60_000);
            assert_eq!(ann.get("/ladder").await.status, 200);
            return;
        }
    }
    panic!("there is no end");
}

#[tokio::test]
async fn ten_wrong_passwords_are_all_one_may_try() {
    let world = World::new().await;
    let mut ann = world.browser();
    ann.post("/sign-up", &[("name", "Ann"), ("password", PASSWORD)]).await;
    let mut thief = world.browser();
    for _ in 0..10 {
        assert_eq!(
            thief.post("/sign-in", &[("name", "Ann"), ("password", "guess guess guess")]).await.status,
            422
        );
    }
    let answer = thief.post("/sign-in", &[("name", "ann"), ("password", PASSWORD)]).await;
    assert_eq!(answer.status, 429);
    assert!(
        answer.text().contains("Try again in 16 min") || answer.text().contains("Try again in 15 min"),
        "{}",
        answer.text()
    );
    world.wait(15 * 60_000);
    assert_eq!(thief.post("/sign-in", &[("name", "Ann"), ("password", PASSWORD)]).await.status, 303);
}

#[tokio::test]
async fn behind_a_proxy_cookies_are_for_the_world_outside() {
    let world = World::with("sign_up = \"open\"", Way::Proxy("https://cup.example".into())).await;
    let mut ann = world.browser();
    ann.extra = vec![("Origin".into(), format!("http://{}", world.address))];
    assert_eq!(ann.post("/sign-up", &[("name", "Ann"), ("password", PASSWORD)]).await.status, 403);
    ann.extra =
        vec![("Origin".into(), "https://cup.example".into()), ("X-Forwarded-For".into(), "1.2.3.4".into())];
    let answer = ann.post("/sign-up", &[("name", "Ann"), ("password", PASSWORD)]).await;
    let cookie = answer.header("set-cookie").expect("a session");
    let (pair, mut attributes) = (cookie.split("; ").next(), cookie.split("; ").skip(1).collect::<Vec<_>>());
    assert!(pair.is_some_and(|pair| pair.starts_with("__Host-agon=")), "{cookie}");
    attributes.sort_unstable();
    let [http_only, age, path, same_site, secure] = attributes[..] else { panic!("{cookie}") };
    assert_eq!([http_only, path, same_site, secure], ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
    assert!(age.starts_with("Max-Age="), "{cookie}");
    assert!(answer.header("strict-transport-security").is_some());
    assert!(ann.get("/").await.text().contains(">Ann<"));
}

#[tokio::test]
async fn where_a_code_is_asked_for_nobody_gets_in_without() {
    let world = World::with("sign_up = \"invite\"", Way::Loopback).await;
    let mut ann = world.browser();
    let fields = [("name", "Ann"), ("password", PASSWORD), ("invite", "abcde 23456")];
    let answer = ann.post("/sign-up", &fields).await;
    assert!(answer.status == 422 && answer.text().contains("not this contest's code"), "{}", answer.text());
    let code = "ABCDE-23456".to_owned();
    let (contest, now) = (world.server.contest(), world.now());
    let invite = agon_store::acts::Invite { contest, code, actor: "o".into(), now };
    world.server.store().act(invite).await.expect("set");
    assert_eq!(ann.post("/sign-up", &fields).await.status, 303, "blanks and small letters do not matter");
    let closed = World::with("", Way::Loopback).await;
    let answer = closed.browser().get("/sign-up").await;
    assert_eq!(answer.heading(), "Nobody can sign up now");
    assert_eq!(closed.browser().post("/sign-up", &fields).await.status, 422);
}

#[tokio::test]
async fn the_first_link_makes_an_organiser_once() {
    let world = World::new().await;
    let offer = |secret: &str| agon_store::acts::Offer {
        sha: agon_site::secrets::sha(secret),
        kind: agon_store::LinkKind::Organiser,
        account: None,
        now: world.now(),
        ends: world.now().plus(1000),
    };
    world.server.store().act(offer("link")).await.expect("made");
    let mut boss = world.browser();
    assert_eq!(boss.get("/organiser?link=other").await.status, 410);
    for _ in 0..2 {
        assert_eq!(
            boss.get("/organiser?link=link").await.heading(),
            "Run this contest",
            "looking uses nothing up"
        );
    }
    let answer = boss.post("/organiser", &[("link", "link"), ("name", "Rita"), ("password", PASSWORD)]).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert!(boss.get("/").await.text().contains("Rita, organiser"));
    let mut late = world.browser();
    let answer = late.post("/organiser", &[("link", "link"), ("name", "Late"), ("password", PASSWORD)]).await;
    assert_eq!(answer.status, 410);
    world.wait(12 * 3_600_000);
    assert!(!boss.get("/").await.text().contains("Rita"), "an organiser's session lasts half a day");
}

#[tokio::test]
async fn a_site_that_stops_answers_who_was_there() {
    let mut world = World::new().await;
    let mut browser = world.browser();
    assert_eq!(browser.get("/ladder").await.status, 200);
    world.stop().await;
    assert!(tokio::net::TcpStream::connect(world.address).await.is_err());
}
