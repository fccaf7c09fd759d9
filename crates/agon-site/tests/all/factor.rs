//! The second factor of organisers: off until its owner turns it on, each code once, and no way around it.

use agon_site::totp::TotpSecret;
use agon_store::LoginKind;

use crate::common::{self, Answer, Browser, PASSWORD, World, between};

const STEP: i64 = 30_000;
const WRONG: &str = "That is not the code.";

/// An organiser with a password and ten recovery codes.
async fn rita(world: &World) -> Browser {
    let (sha, kind, now) = (agon_site::secrets::sha("link"), agon_store::LinkKind::Organiser, world.now());
    let offer = agon_store::acts::MakeLink { sha, kind, account: None, now, ends: now.plus(1000) };
    world.server.store().act(offer).await.expect("made");
    let mut rita = world.browser();
    let fields = [("name", "Rita"), ("password", PASSWORD), ("link", "link")];
    assert_eq!(rita.post("/organiser", &fields).await.status, 200);
    rita
}

/// The secret that an app reads, as the site keeps it.
async fn secret(world: &World) -> TotpSecret {
    let store = world.server.store();
    let rita = store.account_like("Rita").await.expect("read").expect("there");
    let factor = store.factor(rita.id).await.expect("read").expect("offered");
    TotpSecret::of(&factor.secret).expect("twenty bytes")
}

fn code(world: &World, secret: &TotpSecret, later: i64) -> String {
    secret.code(world.now().0 / STEP + later)
}

fn codes(page: &str) -> Vec<String> {
    between(page, "aria-label=\"Recovery codes\">", "<").lines().map(str::to_owned).collect()
}

/// Turns it on; its secret, and the recovery codes.
async fn on(world: &World, rita: &mut Browser) -> (TotpSecret, Vec<String>) {
    assert_eq!(rita.post("/account/factor", &[("password", PASSWORD)]).await.status, 200);
    let secret = secret(world).await;
    let page = rita.post("/account/factor/on", &[("code", &code(world, &secret, 0))]).await;
    assert_eq!(page.heading(), "Your recovery codes", "{}", page.text());
    world.wait(STEP);
    (secret, codes(&page.text()))
}

/// The page after the password, and what its form bears.
async fn password(browser: &mut Browser) -> (Answer, String) {
    let answer =
        browser.post("/sign-in", &[("name", "Rita"), ("password", PASSWORD), ("next", "/organise")]).await;
    let text = answer.text();
    let pass =
        if text.contains("name=\"pass\"") { between(&text, "name=\"pass\" value=\"", "\"") } else { "" };
    let pass = pass.to_owned();
    (answer, pass)
}

async fn second(browser: &mut Browser, pass: &str, code: &str) -> Answer {
    browser.post("/sign-in/code", &[("pass", pass), ("code", code), ("next", "/organise")]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_off_until_a_code_was_right_and_then_sign_in_asks_for_one() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    let mut other = world.browser();
    assert_eq!(password(&mut other).await.0.status, 303, "off by default");
    let token = rita.post("/account/tokens", &[("name", "laptop")]).await.text();
    let mut program = world.browser();
    program.bearer = Some(between(&token, "<code class=\"secret\">", "<").to_owned());
    // Not for others, and not without the password.
    let mut ann = common::sign_up(&world, "Ann", "").await;
    assert!(!ann.get("/account").await.text().contains("Second factor"));
    assert_eq!(ann.post("/account/factor", &[("password", PASSWORD)]).await.status, 403);
    assert_eq!(rita.post("/account/factor/on", &[("code", "123456")]).await.status, 422);
    assert_eq!(rita.post("/account/factor", &[("password", "some other words")]).await.status, 422);
    let page = rita.post("/account/factor", &[("password", PASSWORD)]).await.text();
    let secret = secret(&world).await;
    let shown = between(&page, "aria-label=\"Key\">", "<").replace(' ', "");
    assert_eq!(shown, secret.shown());
    assert!(
        page.contains(&format!("otpauth://totp/Autumn%20Cup:Rita?secret={shown}&amp;issuer=Autumn%20Cup")),
        "{page}"
    );
    assert!(!rita.get("/account").await.text().contains(&shown));
    // Nothing is asked for before a code was right; a wrong one shows the key again.
    assert_eq!(password(&mut world.browser()).await.0.status, 303);
    let again = rita.post("/account/factor/on", &[("code", &code(&world, &secret, 5))]).await;
    assert!(again.status == 422 && again.text().contains(&secret.shown()[..4]), "{}", again.text());
    let done = rita.post("/account/factor/on", &[("code", &code(&world, &secret, 0))]).await;
    assert_eq!((done.status, codes(&done.text()).len()), (200, 10));
    assert!(done.text().contains("If your app is lost") && !done.text().contains("Forgotten your password?"));
    assert!(
        rita.get("/account").await.text().contains("10 are left. Each stands once for a code of your app.")
    );
    assert_eq!(other.get("/account").await.status, 303, "sessions that began without it are over");
    assert_eq!(rita.get("/account").await.status, 200, "this one is not");
    assert_eq!(program.get("/api/v1/me").await.status, 200, "tokens are not asked");
    // The code that turned it on is used up, for sign-in too.
    let mut other = world.browser();
    let (page, pass) = password(&mut other).await;
    assert_eq!((page.status, page.heading()), (200, "A code for Rita".to_owned()));
    assert!(other.secret().is_empty(), "nobody is signed in by the password alone");
    assert!(second(&mut other, &pass, &code(&world, &secret, 0)).await.text().contains(WRONG), "once");
    let next = code(&world, &secret, 1);
    let signed = second(&mut other, &pass, &next).await;
    assert_eq!((signed.status, signed.header("location")), (303, Some("/organise")), "{}", signed.text());
    assert_eq!(other.get("/organise").await.status, 200);
    // A code that somebody has seen is worth nothing, nor is one before it.
    let mut thief = world.browser();
    let (_, stolen) = password(&mut thief).await;
    for used in [next, code(&world, &secret, 0), code(&world, &secret, -1)] {
        assert!(second(&mut thief, &stolen, &used).await.text().contains(WRONG));
    }
    let log = rita.get("/organise").await.text();
    assert!(log.contains("turned the second factor on"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recovery_code_stands_for_the_app_once_and_not_for_the_password() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    let (secret, codes) = on(&world, &mut rita).await;
    let mut lost = world.browser();
    let (_, pass) = password(&mut lost).await;
    let typed = codes[0].to_lowercase().replace('-', " ");
    assert_eq!(second(&mut lost, &pass, &typed).await.status, 303);
    let (_, pass) = password(&mut world.browser()).await;
    assert!(second(&mut world.browser(), &pass, &codes[0]).await.text().contains(WRONG), "once");
    // Who finds the paper needs the password as well.
    let fresh = "melon brass hat dune";
    let recover = [("name", "Rita"), ("code", &*codes[1]), ("fresh", fresh)];
    let refused = world.browser().post("/recover", &recover).await;
    assert!(refused.status == 422 && refused.text().contains("Wrong name or code"), "{}", refused.text());
    // A password that an organiser's link sets is not enough either.
    let boss = world.account("Boss", true).await;
    let (mut boss, _) = world.signed_in(boss, LoginKind::Session).await;
    let page = boss.post("/organise/reset", &[("name", "Rita")]).await.text();
    let link = between(&page, "/password?link=", "<").to_owned();
    assert_eq!(lost.post("/password", &[("link", &link), ("fresh", PASSWORD)]).await.status, 303);
    assert_eq!(rita.get("/account").await.status, 303, "it has signed her out everywhere");
    let (page, pass) = password(&mut lost).await;
    assert_eq!(page.heading(), "A code for Rita");
    let signed = second(&mut lost, &pass, &code(&world, &secret, 0)).await;
    assert_eq!(signed.heading(), "Your recovery codes", "the link has ended the old ones: {}", signed.text());
    // Off, for whoever has password and code.
    world.wait(2 * STEP);
    for (password, code) in [(PASSWORD, "000000"), ("some other words", &*code(&world, &secret, 0))] {
        let fields = [("password", password), ("code", code)];
        assert_eq!(lost.post("/account/factor/off", &fields).await.status, 422);
    }
    let fields = [("password", PASSWORD), ("code", &*code(&world, &secret, 0))];
    assert_eq!(lost.post("/account/factor/off", &fields).await.status, 303);
    assert_eq!(password(&mut world.browser()).await.0.status, 303);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_second_page_bears_is_for_one_account_and_some_minutes() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    let (secret, codes) = on(&world, &mut rita).await;
    let mut browser = world.browser();
    let (_, pass) = password(&mut browser).await;
    let ann = world.account("Ann", false).await;
    let (id, rest) = pass.split_once('.').expect("three parts");
    for wrong in [
        String::new(),
        "..".to_owned(),
        format!("{ann}.{rest}"),
        format!("0{id}.{rest}"),
        format!("{id}.{}.{}", i64::MAX, rest.split_once('.').expect("two parts").1),
        pass[..pass.len() - 1].to_owned(),
    ] {
        let answer = second(&mut browser, &wrong, &code(&world, &secret, 0)).await;
        assert_eq!((answer.status, answer.header("location")), (303, Some("/sign-in")), "{wrong}");
        assert!(browser.secret().is_empty());
    }
    world.wait(5 * 60_000);
    let late = second(&mut browser, &pass, &code(&world, &secret, 0)).await;
    assert_eq!(late.header("location"), Some("/sign-in"), "too late");
    // Another password: what was shown for the one before is worth nothing.
    let (_, pass) = password(&mut browser).await;
    let change = [("password", PASSWORD), ("fresh", "melon brass hat dune")];
    assert_eq!(rita.post("/account/password", &change).await.status, 303);
    assert_eq!(second(&mut browser, &pass, &codes[0]).await.header("location"), Some("/sign-in"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_the_password_cannot_guess_the_code() {
    let world = World::new().await;
    world.set(&[("wrong_passwords", "5")]).await;
    let mut rita = rita(&world).await;
    let (secret, codes) = on(&world, &mut rita).await;
    let mut thief = world.browser();
    let (_, pass) = password(&mut thief).await;
    // One network: as wrong passwords, with which it shares its count.
    for _ in 0..4 {
        assert_eq!(second(&mut thief, &pass, "000000").await.status, 422);
    }
    assert_eq!(second(&mut thief, &pass, "000000").await.status, 429);
    assert_eq!(password(&mut thief).await.0.status, 429, "the right password makes no room");
    // Many networks: after ten in an hour no code of the app is accepted, wherever it comes from.
    world.wait(15 * 60_000);
    let (_, pass) = password(&mut thief).await;
    for _ in 0..4 {
        second(&mut thief, &pass, "000000").await;
    }
    world.wait(15 * 60_000);
    let (_, pass) = password(&mut thief).await;
    for _ in 0..4 {
        second(&mut thief, &pass, "000000").await;
    }
    let (_, own) = password(&mut rita).await;
    let right = second(&mut rita, &own, &code(&world, &secret, 0)).await;
    assert!(right.status == 422 && right.text().contains(WRONG), "{}", right.text());
    // Its owner has recovery codes, which nobody guesses.
    let (_, own) = password(&mut rita).await;
    assert_eq!(second(&mut rita, &own, &codes[0]).await.status, 303);
    world.wait(3_600_000);
    let (_, own) = password(&mut rita).await;
    assert_eq!(second(&mut rita, &own, &code(&world, &secret, 0)).await.status, 303);
}
