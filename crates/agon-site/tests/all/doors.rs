//! The doors: sessions, forms from other sites, limits, and the headers of every answer.
//!
//! Longer than 500 lines: one test for each way in.

use crate::common::{Browser, World};
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
    assert_eq!((answer.status, answer.heading()), (200, "Your recovery codes".to_owned()));
    assert!(answer.text().contains("href=\"/\">I have kept them"), "{}", answer.text());
    assert!(answer.text().contains("href=\"/account\">Ann"), "she is signed in already");
    let cookie = answer.header("set-cookie").expect("a session").to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && !cookie.contains("Secure"),
        "{cookie}"
    );
    assert!(ann.get("/").await.text().contains("Ann"));
    let before = ann.clone();
    assert_eq!(ann.post("/sign-out", &[]).await.status, 303);
    assert!(ann.secret().is_empty(), "{:?}", ann.cookies);
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
    browser.extra = vec![("Origin".into(), "https://evil.example".into())];
    for path in ["/", "/ladder", "/sign-in", "/style.css", "/nowhere", "/api/v1/me"] {
        let answer = browser.get(path).await;
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        let cached = if path == "/style.css" { "public, max-age=300" } else { "no-store" };
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("x-frame-options", "DENY"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cache-control", cached),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}: {name}");
        }
        // No other site is let in, and nobody is told what answers.
        for name in ["access-control-allow-origin", "server", "x-powered-by"] {
            assert_eq!(answer.header(name), None, "{path}: {name}");
        }
        let kind = answer.header("content-type").unwrap_or_default();
        assert!(kind.ends_with("; charset=utf-8") || kind == "application/problem+json", "{path}: {kind}");
        assert!(answer.body.len() < 60_000, "{path}");
        // The page contains nothing that the policy forbids.
        let text = answer.text();
        assert!(
            !text.contains(" style=") && !text.contains("<script>") && !text.contains(" onclick"),
            "{path}"
        );
    }
    browser.extra.clear();
    // A foreign name can be made to resolve here.
    let foreign = "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(browser.raw(foreign.as_bytes()).await.status, 421);
}

#[tokio::test]
async fn what_people_type_stays_text() {
    let world = World::new().await;
    let mut ann = world.browser();
    assert_eq!(ann.post("/sign-up", &[("name", "O'Brien"), ("password", PASSWORD)]).await.status, 200);
    let mut thief = world.browser();
    for name in ["O'Brien' OR '1'='1", "'; DROP TABLE accounts; --", "\"><script>alert(1)</script>"] {
        let answer = thief.post("/sign-in", &[("name", name), ("password", PASSWORD)]).await;
        assert_eq!(answer.status, 422, "{name}");
        let text = answer.text();
        assert!(!text.contains("<script>"), "{text}");
        assert!(!name.contains('<') || text.contains("value=\"&quot;&gt;&lt;script&gt;alert(1)"), "{text}");
        ann.post("/account/tokens", &[("name", name)]).await;
        let found = ann.get(&format!("/matches?reason={}", agon_site::gate::encoded(name))).await;
        assert_eq!(found.status, 200, "{name}");
        assert!(!found.text().contains("<script>"), "{}", found.text());
    }
    let page = ann.get("/account").await.text();
    assert!(page.contains("DROP TABLE accounts; --"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script>"), "{page}");
    assert_eq!(thief.post("/sign-in", &[("name", "O'Brien"), ("password", PASSWORD)]).await.status, 303);
}

/// A request of these lines, which asks to close afterwards.
fn lines(first: &str, headers: &[&str]) -> Vec<u8> {
    let mut text = format!("{first}\r\nConnection: close\r\n");
    headers.iter().for_each(|header| text += &format!("{header}\r\n"));
    (text + "\r\n").into_bytes()
}

#[tokio::test]
async fn a_request_names_one_address_on_one_host() {
    let world = World::new().await;
    let (browser, at) = (world.browser(), world.address);
    let host = format!("Host: {at}");
    for (first, status) in [
        ("OPTIONS * HTTP/1.1".to_owned(), 405),
        ("GET * HTTP/1.1".to_owned(), 400),
        (format!("CONNECT {at} HTTP/1.1"), 405),
        ("CONNECT evil.example:443 HTTP/1.1".to_owned(), 405),
        ("CONNECT / HTTP/1.1".to_owned(), 405),
        (format!("GET {at} HTTP/1.1"), 400),
        (format!("GET http://{at}/ladder HTTP/1.1"), 200),
        (format!("GET http://{at} HTTP/1.1"), 200),
        (format!("GET ftp://{at}/ladder HTTP/1.1"), 400),
        ("GET http://evil.example/ HTTP/1.1".to_owned(), 400),
        (format!("GET http://user@{at}/ HTTP/1.1"), 400),
        ("TRACE / HTTP/1.1".to_owned(), 405),
        ("BREW /ladder HTTP/1.1".to_owned(), 405),
        ("BREW /nowhere HTTP/1.1".to_owned(), 405),
        ("OPTIONS /ladder HTTP/1.1".to_owned(), 405),
        ("PUT /ladder HTTP/1.1".to_owned(), 405),
        ("PUT /nowhere HTTP/1.1".to_owned(), 404),
        ("POST /nowhere HTTP/1.1".to_owned(), 404),
        ("POST /ladder HTTP/1.1".to_owned(), 405),
        ("GET //evil.example HTTP/1.1".to_owned(), 404),
        ("GET /ladder HTTP/1.0".to_owned(), 200),
    ] {
        let answer = browser.raw(&lines(&first, &[&host])).await;
        assert_eq!(answer.status, status, "{first}: {}", answer.text());
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{first}");
    }
    for version in ["1.0", "1.1"] {
        for (headers, status) in [
            (vec![], 400),
            (vec![host.as_str(), &host], 400),
            (vec![&host, "Host: evil.example"], 400),
            (vec!["Host: evil.example", &host], 400),
            (vec!["Host:"], 400),
            (vec![&format!("Host: user@{at}")], 400),
            (vec![&format!("Host: {at}, evil.example")], 400),
            (vec![&format!("Host: {at}/ladder")], 400),
            (vec!["Host: evil.example"], 421),
            (vec![&host], 200),
            (vec![&host, "Content-Length: 0", "Content-Length: 1"], 400),
            (vec![&host, "Content-Length: x"], 400),
        ] {
            let answer = browser.raw(&lines(&format!("GET /ladder HTTP/{version}"), &headers)).await;
            assert_eq!(answer.status, status, "{version} {headers:?}");
        }
    }
}

#[tokio::test]
async fn a_server_without_pages_is_asked_for_one_address_on_one_host() {
    let router = axum::Router::new().route("/", axum::routing::get(async || "here"));
    let listening = agon_site::listen::open(Way::Loopback, router, Way::Loopback.at(None, 0), || ())
        .await
        .expect("a port");
    let address = listening.address();
    let browser = Browser { address, cookies: Default::default(), bearer: None, extra: Vec::new() };
    let host = format!("Host: {address}");
    for (first, headers, status) in [
        ("GET / HTTP/1.1", vec![host.as_str()], 200),
        ("GET / HTTP/1.1", vec![&host, &host], 400),
        ("GET / HTTP/1.1", vec![], 400),
        ("OPTIONS * HTTP/1.1", vec![&host], 405),
        ("CONNECT evil.example:443 HTTP/1.1", vec![&host], 405),
        ("GET http://evil.example/ HTTP/1.1", vec![&host], 400),
    ] {
        let answer = browser.raw(&lines(first, &headers)).await;
        assert_eq!(answer.status, status, "{first} {headers:?}");
        let is_problem = answer.header("content-type") == Some("application/problem+json");
        assert_eq!(is_problem, status != 200, "{first}");
    }
    listening.stop().await;
}

#[tokio::test]
async fn signing_in_leads_to_this_site() {
    let world = World::new().await;
    let mut ann = world.browser();
    ann.post("/sign-up", &[("name", "Ann"), ("password", PASSWORD)]).await;
    for (next, to) in [
        ("/ladder?page=2", "/ladder?page=2"),
        ("/\t/evil.example", "/"),
        ("/\n/evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/\\/evil.example", "/"),
        ("//evil.example", "/"),
        ("/.//evil.example", "/"),
        ("//user@evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
    ] {
        let fields = [("name", "Ann"), ("password", PASSWORD), ("next", next)];
        let answer = ann.post("/sign-in", &fields).await;
        assert_eq!((answer.status, answer.header("location")), (303, Some(to)), "{next:?}");
    }
    // From the address of the form, as a link brings it.
    let page = ann.get("/sign-in?next=/%09/evil.example").await.text();
    let next = crate::common::between(&page, "name=\"next\" value=\"", "\"").to_owned();
    let answer = ann.post("/sign-in", &[("name", "Ann"), ("password", PASSWORD), ("next", &next)]).await;
    assert_eq!(answer.header("location"), Some("/"));
    // Whoever has to sign in first comes back to where he was, on this site.
    let asked = world.browser().get("/account?x=//evil.example").await;
    assert_eq!(asked.header("location"), Some("/sign-in?next=/account%3Fx%3D//evil.example"));
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

/// Somebody far away at this address, behind the proxy.
fn from(world: &World, address: &str) -> Browser {
    let extra = [("Origin", "https://cup.example"), ("X-Forwarded-For", address)];
    Browser {
        extra: extra.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..world.browser()
    }
}

/// Tries a password; the status of the answer.
async fn try_password(browser: &mut Browser, name: &str, password: &str) -> u16 {
    browser.post("/sign-in", &[("name", name), ("password", password)]).await.status
}

#[tokio::test]
async fn who_guesses_locks_out_himself_and_nobody_else() {
    let section = "sign_up = \"open\"\nwrong_passwords = 4";
    let world = World::with(section, Way::Proxy("https://cup.example".into())).await;
    let mut ann = from(&world, "192.0.2.1");
    assert_eq!(ann.post("/sign-up", &[("name", "Ann"), ("password", PASSWORD)]).await.status, 200);
    let mut thief = from(&world, "198.51.100.7");
    for wrong in 0..4 {
        assert_eq!(try_password(&mut thief, "Ann", &format!("guess number {wrong}")).await, 422);
    }
    assert_eq!(try_password(&mut thief, "Ann", PASSWORD).await, 429);
    // What anybody writes before the proxy's own entry makes him nobody else.
    thief.extra[1].1 = "203.0.113.9, 198.51.100.7".into();
    assert_eq!(try_password(&mut thief, "ann", PASSWORD).await, 429);
    assert_eq!(try_password(&mut thief, "Bob", "whatever it may be").await, 422, "other names");
    assert_eq!(try_password(&mut from(&world, "192.0.2.2"), "Ann", PASSWORD).await, 303, "other places");
    // The thief comes into Ann's network: those who are signed in, and browsers that she used, are not held up.
    let mut near = from(&world, "192.0.2.1");
    for _ in 0..4 {
        assert_eq!(try_password(&mut near, "Ann", "guess guess guess").await, 422);
    }
    assert_eq!(try_password(&mut from(&world, "192.0.2.1"), "Ann", PASSWORD).await, 429);
    let known = |browser: &Browser| browser.cookies.get("__Host-agon-known").cloned().expect("a cookie");
    let first = known(&ann);
    ann.post("/sign-out", &[]).await;
    assert_eq!(try_password(&mut ann, "Ann", PASSWORD).await, 303);
    assert_ne!(known(&ann), first);
    let change = [("password", PASSWORD), ("fresh", "melon brass hat dune")];
    let set = ann.post("/account/password", &change).await;
    assert_eq!(set.header("location"), Some("/sign-in?after=password&kept=0&ended=0"));
    assert_eq!(
        try_password(&mut ann, "Ann", "melon brass hat dune").await,
        303,
        "the new one is known at once"
    );
    // A cookie of before the change, a changed one and one of somebody else are worth nothing.
    let mut cat = from(&world, "192.0.2.77");
    assert_eq!(cat.post("/sign-up", &[("name", "Cat"), ("password", PASSWORD)]).await.status, 200);
    let mut changed = known(&ann).into_bytes();
    let last = changed.len() - 2;
    changed[last] = if changed[last] == b'a' { b'b' } else { b'a' };
    for cookie in [first, String::from_utf8(changed).expect("text"), known(&cat), "~~..~".repeat(900)] {
        let mut forger = from(&world, "192.0.2.1");
        forger.cookies.insert("__Host-agon-known".into(), cookie);
        assert_eq!(try_password(&mut forger, "Ann", "melon brass hat dune").await, 429);
    }
    // Who has the known browser guesses within a bound of its own, and leaves Ann's other ones alone.
    let mut stolen = from(&world, "192.0.2.1");
    stolen.cookies.insert("__Host-agon-known".into(), known(&ann));
    for _ in 0..4 {
        assert_eq!(try_password(&mut stolen, "Ann", "guess guess guess").await, 422);
    }
    assert_eq!(try_password(&mut stolen, "Ann", "melon brass hat dune").await, 429);
    assert_eq!(ann.post("/account/password", &[("password", "wrong"), ("fresh", "x")]).await.status, 422);
    // Ninety days later nothing of it is known.
    world.wait(90 * 86_400_000);
    for _ in 0..4 {
        assert_eq!(try_password(&mut near, "Ann", "guess guess guess").await, 422);
    }
    let mut late = from(&world, "192.0.2.1");
    late.cookies.insert("__Host-agon-known".into(), known(&ann));
    assert_eq!(try_password(&mut late, "Ann", "melon brass hat dune").await, 429);
}

#[tokio::test]
async fn an_owner_who_is_signed_in_counts_apart() {
    let world = World::new().await;
    let mut ann = world.browser();
    ann.post("/sign-up", &[("name", "Ann"), ("password", PASSWORD)]).await;
    let mut thief = world.browser();
    for _ in 0..10 {
        assert_eq!(try_password(&mut thief, "Ann", "guess guess guess").await, 422);
    }
    assert_eq!(try_password(&mut thief, "Ann", PASSWORD).await, 429);
    let mut other = ann.clone();
    assert_eq!(try_password(&mut other, "Ann", PASSWORD).await, 303, "a second session");
    assert_eq!(ann.post("/sign-in", &[("name", "Ann"), ("password", PASSWORD)]).await.status, 303);
    for _ in 0..10 {
        let wrong = [("password", "guess guess guess"), ("fresh", "melon brass hat dune")];
        assert_eq!(ann.post("/account/password", &wrong).await.status, 422);
    }
    assert_eq!(
        ann.post("/account/delete", &[("password", PASSWORD)]).await.status,
        429,
        "this session's end"
    );
    assert_eq!(
        ann.post("/account/tokens", &[("name", "laptop")]).await.status,
        200,
        "what asks for no password goes on"
    );
    let change = [("password", PASSWORD), ("fresh", "melon brass hat dune")];
    assert_eq!(other.post("/account/password", &change).await.status, 303, "another session has its own");
}

#[tokio::test]
async fn a_browser_is_known_for_several_people() {
    let world = World::new().await;
    let mut shared = world.browser();
    for name in ["Ann", "Bob", "Cat", "Dan", "Eve", "Fay"] {
        let answer = shared.post("/sign-up", &[("name", name), ("password", PASSWORD)]).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        shared.post("/sign-out", &[]).await;
    }
    assert!(shared.cookies.values().all(|cookie| cookie.len() < 600), "{:?}", shared.cookies);
    let mut thief = world.browser();
    for name in ["Ann", "Bob", "Fay"] {
        for _ in 0..10 {
            assert_eq!(try_password(&mut thief, name, "guess guess guess").await, 422);
        }
    }
    assert_eq!(try_password(&mut shared, "Fay", PASSWORD).await, 303);
    assert_eq!(try_password(&mut shared, "Bob", PASSWORD).await, 303);
    assert_eq!(try_password(&mut shared, "Ann", PASSWORD).await, 429, "five at most");
}

#[tokio::test]
async fn passwords_that_anybody_would_try_are_refused_and_old_ones_work() {
    let world = World::new().await;
    let boss = world.account("Boss", false).await;
    world.team(boss, "Brute Forcers").await;
    let game = format!("{}-wars-1", agon_games::all()[0].info().name);
    let mut ann = world.browser();
    for (weak, why) in [
        ("letmein123456", "anybody here would try first"),
        ("starwars2026", "a password that many use"),
        ("autumncup2026", "anybody here would try first"),
        ("BruteForcers1!", "anybody here would try first"),
        (game.as_str(), "anybody here would try first"),
        ("annannann2026", "too easy to guess"),
    ] {
        let answer = ann.post("/sign-up", &[("name", "Ann"), ("password", weak)]).await;
        assert_eq!(answer.status, 422, "{weak}");
        assert!(
            answer.text().contains(why) && answer.text().contains("Use four unrelated words"),
            "{}",
            answer.text()
        );
        assert!(!answer.text().contains(weak), "it is not shown again");
    }
    // An account of before this was asked.
    let (contest, now) = (world.server.contest(), world.now());
    let password = world.site.passwords.hash("letmein123456".into()).await;
    let old = agon_store::acts::SignUp { contest, name: "Old".into(), password, invite: None, now };
    world.server.store().act(old).await.expect("answered");
    let mut old = world.browser();
    assert_eq!(try_password(&mut old, "Old", "letmein123456").await, 200, "and it is shown recovery codes");
    let change = [("password", "letmein123456"), ("fresh", "summer2026!!")];
    let answer = old.post("/account/password", &change).await;
    assert_eq!((answer.status, answer.text().contains("Use four unrelated words")), (422, true));
    assert!(old.get("/").await.text().contains(">Old<"));
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
    assert_eq!(ann.post("/sign-up", &fields).await.status, 200, "blanks and small letters do not matter");
    let closed = World::with("", Way::Loopback).await;
    let answer = closed.browser().get("/sign-up").await;
    assert_eq!(answer.heading(), "Nobody can sign up now");
    assert_eq!(closed.browser().post("/sign-up", &fields).await.status, 422);
}

#[tokio::test]
async fn the_first_link_makes_an_organiser_once() {
    let world = World::new().await;
    let offer = |secret: &str| agon_store::acts::MakeLink {
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
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains("href=\"/organise\">I have kept them"), "{}", answer.text());
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
