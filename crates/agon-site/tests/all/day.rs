//! A day: the organiser sets up the contest, two teams join and upload, matches are played, and a spectator sees what
//! everybody may see and nothing else.

use crate::common::{self, Browser, PASSWORD, World, between, play_some, sign_up};
use agon_server::settings::SettingKey;
use agon_site::{Way, secrets};
use agon_store::acts::MakeLink;
use agon_store::{LinkKind, LoginKind, VersionState};

async fn organiser(world: &World) -> Browser {
    let ends = world.now().plus(1000);
    let (sha, kind) = (secrets::sha("link"), LinkKind::Organiser);
    world
        .server
        .store()
        .act(MakeLink { sha, kind, account: None, now: world.now(), ends })
        .await
        .expect("made");
    let mut rita = world.browser();
    let answer = rita.post("/organiser", &[("link", "link"), ("name", "Rita"), ("password", PASSWORD)]).await;
    assert!(answer.text().contains("href=\"/organise/settings\">I have kept them"), "{}", answer.text());
    rita
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_the_first_link_to_a_ladder_that_all_see() {
    let world = World::with("", Way::Loopback).await;
    let mut rita = organiser(&world).await;
    assert_eq!(rita.get("/organise/settings").await.heading(), "Who may take part, and until when?");
    let settings = [
        ("title", "Autumn Cup"),
        ("sign_up", "invite"),
        ("team_size", "2"),
        ("time_zone", "Europe/Vienna"),
        ("opens", ""),
        ("closes", "2026-11-24T18:00"),
        ("matches", "40"),
    ];
    let wrong = settings.map(|(key, value)| if key == "closes" { (key, "soon") } else { (key, value) });
    let answer = rita.post("/organise/settings", &wrong).await;
    assert!(
        answer.status == 422 && answer.text().contains("<code>soon</code> is not a date"),
        "{}",
        answer.text()
    );
    assert_eq!(rita.post("/organise/settings", &settings).await.header("location"), Some("/organise"));
    let file = std::fs::read_to_string(world.folder.path().join("contest.toml")).expect("there");
    assert!(file.starts_with("# Ours\n") && !file.contains("2026-11-24"), "a form writes no file: {file}");
    world.server.now().await.expect("read");
    assert_eq!(SettingKey::Closes.told(&world.server.settings()), "2026-11-24T18:00:00");
    let cockpit = rita.get("/organise").await.text();
    let code = between(&cockpit, "<code class=\"secret\">", "<").to_owned();
    // Two teams: Ann and Cid together, and Bob alone.
    let mut ann = sign_up(&world, "Ann", &code).await;
    let mut bob = sign_up(&world, "Bob", &code).await;
    let mut cid = sign_up(&world, "Cid", &code.to_lowercase()).await;
    assert_eq!(ann.post("/team/new", &[("name", "Brute Forcers")]).await.status, 303);
    let join = between(&ann.get("/team").await.text(), "<code class=\"secret\">", "<").to_owned();
    assert_eq!(cid.post("/team/join", &[("code", "AAAAA-AAAAA")]).await.status, 422);
    assert_eq!(cid.post("/team/join", &[("code", &join)]).await.status, 303);
    assert!(bob.post("/team/join", &[("code", &join)]).await.text().contains("already has 2 members"));
    assert!(ann.get("/").await.heading().contains("has no bot yet"));
    // They upload.
    let answer = ann.upload("/upload", &[], "bot.py", b"print('secret strategy of ann')").await;
    let version = answer.header("location").unwrap_or_else(|| panic!("{}", answer.text())).to_owned();
    assert!(cid.get(&version).await.heading().contains("is being checked"));
    assert_eq!(cid.upload("/upload", &[], "bot.py", b"print('secret strategy of ann')").await.status, 409);
    assert_eq!(bob.get(&version).await.status, 404, "it is not Bob's");
    assert_eq!(bob.upload("/upload", &[], "bot.py", b"").await.status, 422);
    let huge = vec![0; 21 << 20];
    assert_eq!(bob.upload("/upload", &[], "bot.zip", &huge).await.status, 413);
    assert_eq!(bob.upload("/upload", &[], "bot.py", b"print('bob')").await.status, 303);
    play_some(&world, 60).await;
    let versions = world.server.store().versions().await.expect("read");
    let own: Vec<_> = versions.iter().filter(|version| !version.boss).collect();
    assert_eq!(own.iter().map(|version| version.state).collect::<Vec<_>>(), [VersionState::Live; 2]);
    assert_eq!(own[1].entrant, "Bob", "a team of one is made by itself");
    // Everybody sees the ladder, the teams and the matches; nobody else sees what belongs to a team.
    let mut spectator = world.browser();
    let ladder = spectator.get("/ladder").await;
    assert!(
        ladder.text().contains("Brute Forcers") && ladder.text().contains("Ann, Cid"),
        "{}",
        ladder.text()
    );
    assert!(ladder.body.len() < 60_000);
    let team = format!("/team/{}", between(&ladder.text(), "href=\"/team/", "\""));
    let list = spectator.get("/matches").await.text();
    let game = format!("/match/{}", between(&list, "href=\"/match/", "\""));
    for path in ["/", "/matches", "/rules", &team, &game] {
        let answer = spectator.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text().contains("secret strategy") && !answer.text().contains(&code), "{path}");
    }
    // The first match was somebody's check match: only they and the organiser see it.
    assert!(rita.get("/match/1").await.text().contains("check match"));
    assert_eq!(spectator.get("/match/1").await.status, 404);
    let replay = spectator.get(&format!("{game}/replay")).await;
    assert_eq!(replay.status, 200, "{}", replay.text());
    assert!(agon_replay::Replay::read(&replay.body).is_ok());
    assert!(replay.header("content-disposition").is_some_and(|name| name.starts_with("attachment")));
    let view = spectator.get(&format!("{game}/view")).await;
    assert!(view.status == 200 || view.text().contains("built without its web app"), "{}", view.text());
    for path in ["/upload", "/account", "/team", "/organise", &version] {
        let answer = spectator.get(path).await;
        let to = answer.header("location").unwrap_or_default().to_owned();
        assert!(answer.status == 303 && to.starts_with("/sign-in?next=/"), "{path}: {} {to}", answer.status);
    }
    let home = ann.get("/").await;
    assert!(
        home.heading().contains("with v1") || home.heading().contains("is being placed"),
        "{}",
        home.heading()
    );
    assert!(home.text().contains("Your matches") && home.text().contains("/match/"), "{}", home.text());
    assert!(ann.get(&format!("/matches?team={}&ended=won", &team[6..])).await.status == 200);
    // The organiser acts, and everybody sees it.
    assert_eq!(rita.post("/organise/announce", &[("text", "Pizza at <b>seven</b>")]).await.status, 303);
    assert!(spectator.get("/ladder").await.text().contains("Pizza at &lt;b&gt;seven&lt;/b&gt;"));
    assert_eq!(rita.post("/organise/pause", &[]).await.status, 303);
    assert_eq!(rita.get("/organise").await.heading(), "The contest is paused");
    assert_eq!(rita.post("/organise/resume", &[]).await.status, 303);
    // A second version, and back to the first.
    let answer = ann.upload("/upload", &[], "bot.py", b"print('second')").await;
    let second = answer.header("location").expect("taken in").to_owned();
    play_some(&world, 6).await;
    assert_eq!(ann.get(&second).await.heading(), "v2 is live");
    assert_eq!(ann.get(&version).await.heading(), "v1 no longer plays");
    assert_eq!(bob.post(&format!("{version}/live"), &[]).await.status, 404);
    assert_eq!(
        rita.post(&format!("{version}/live"), &[]).await.status,
        404,
        "organisers look, and do not play for others"
    );
    assert_eq!(ann.post(&format!("{version}/live"), &[]).await.status, 303);
    assert_eq!(ann.get(&version).await.heading(), "v1 is live");
    let first = ann.get(&version).await.text();
    assert!(first.contains("none: there is no earlier version"), "{first}");
    // After the deadline no upload is taken, and nothing else changes.
    world.wait(40 * 3_600_000);
    let mut ann = sign_in(&world, "Ann").await;
    assert_eq!(ann.get("/upload").await.heading(), "Uploads are closed");
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"late").await.status, 403);
    let (_, found) = agon_server::status::fsck(world.folder.path(), true).await.expect("looked through");
    assert_eq!(found, Vec::<String>::new());
}

async fn sign_in(world: &World, name: &str) -> Browser {
    let mut browser = world.browser();
    let answer = browser.post("/sign-in", &[("name", name), ("password", PASSWORD)]).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    browser
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_shown_once_and_end_when_their_owner_says() {
    let world = World::new().await;
    let mut ann = sign_up(&world, "Ann", "").await;
    let shown = ann.post("/account/tokens", &[("name", "laptop")]).await;
    let secret = between(&shown.text(), "<code class=\"secret\">", "<").to_owned();
    let page = ann.get("/account").await.text();
    assert!(page.contains("laptop") && !page.contains(&secret));
    let mut program = world.browser();
    assert_eq!(program.get("/api/v1/me").await.status, 401);
    program.bearer = Some(secret.clone());
    let me = program.get("/api/v1/me").await;
    assert_eq!(me.text(), r#"{"name":"Ann","organiser":false,"team":null,"quota":null}"#);
    let mut as_session = world.browser();
    as_session.cookies.insert(format!("agon-{}", world.address.port()), secret);
    assert_eq!(as_session.get("/account").await.status, 303, "a token is no session");
    let login = between(&page, "/account/logins/", "/end").to_owned();
    let other = world.account("Bob", false).await;
    let (mut bob, _) = world.signed_in(other, LoginKind::Session).await;
    assert_eq!(bob.post(&format!("/account/logins/{login}/end"), &[]).await.status, 404);
    assert_eq!(program.get("/api/v1/me").await.status, 200);
    assert_eq!(ann.post(&format!("/account/logins/{login}/end"), &[]).await.status, 303);
    assert_eq!(program.get("/api/v1/me").await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_password_keeps_the_tokens_that_are_not_ticked() {
    let world = World::new().await;
    let mut ann = sign_up(&world, "Ann", "").await;
    assert!(!ann.get("/account").await.text().contains("Tokens stay valid"), "there are none");
    let mut programs = Vec::new();
    for name in ["laptop", "build server", "old"] {
        let shown = ann.post("/account/tokens", &[("name", name)]).await;
        let mut program = world.browser();
        program.bearer = Some(between(&shown.text(), "<code class=\"secret\">", "<").to_owned());
        programs.push(program);
    }
    let page = ann.get("/account").await.text();
    assert!(
        page.contains("Tokens stay valid") && page.contains("End the token <b>build server</b> too"),
        "{page}"
    );
    // The newest comes first.
    let old = format!("end-{}", between(&page, "name=\"end-", "\""));
    let mut other = world.browser();
    assert_eq!(other.post("/sign-in", &[("name", "Ann"), ("password", common::PASSWORD)]).await.status, 303);
    let change = [("password", common::PASSWORD), ("fresh", "melon brass hat dune"), (&old, "yes")];
    let wrong = [("password", "wrong words here"), ("fresh", "melon brass hat dune"), (&old, "yes")];
    assert_eq!(ann.post("/account/password", &wrong).await.status, 422);
    let set = ann.post("/account/password", &change).await;
    let said = ann.get(set.header("location").expect("somewhere")).await.text();
    assert!(said.contains("1 token has ended") && said.contains("2 tokens stay valid"), "{said}");
    let mut statuses = Vec::new();
    for program in &mut programs {
        statuses.push(program.get("/api/v1/me").await.status);
    }
    assert_eq!(statuses, [200, 200, 401]);
    assert_eq!(other.get("/account").await.status, 303, "every browser is signed out");
    // A link of an organiser's ends them all, and says so before and after.
    let boss = world.account("Boss", true).await;
    let (mut boss, _) = world.signed_in(boss, LoginKind::Session).await;
    let page = boss.post("/organise/reset", &[("name", "Ann")]).await.text();
    assert!(page.contains("all tokens and recovery codes of the account end"), "{page}");
    let link = between(&page, "/password?link=", "<").to_owned();
    let form = other.get(&format!("/password?link={link}")).await.text();
    assert!(form.contains("all tokens and recovery codes of the account end"), "{form}");
    let set = other.post("/password", &[("link", &link), ("fresh", "another set of words")]).await;
    let said = other.get(set.header("location").expect("somewhere")).await.text();
    assert!(said.contains("2 tokens have ended") && !said.contains("valid"), "{said}");
    assert_eq!(programs[0].get("/api/v1/me").await.status, 401);
}

/// The recovery codes on a page.
fn codes(page: &str) -> Vec<String> {
    between(page, "aria-label=\"Recovery codes\">", "<").lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recovery_code_sets_a_password_once() {
    let world = World::new().await;
    let mut ann = world.browser();
    let sign_up = [("name", "Ann"), ("password", PASSWORD), ("next", "/upload")];
    let page = ann.post("/sign-up", &sign_up).await.text();
    let shown = codes(&page);
    assert_eq!(
        (shown.len(), shown.iter().collect::<std::collections::BTreeSet<_>>().len()),
        (10, 10),
        "{page}"
    );
    assert!(page.contains("href=\"/upload\">I have kept them"), "{page}");
    let account = ann.get("/account").await.text();
    assert!(account.contains("10 are left") && !shown.iter().any(|code| account.contains(code)), "{account}");
    let secret = ann.post("/account/tokens", &[("name", "laptop")]).await.text();
    let mut program = world.browser();
    program.bearer = Some(between(&secret, "<code class=\"secret\">", "<").to_owned());
    let mut lost = world.browser();
    assert!(lost.get("/sign-in").await.text().contains("href=\"/recover\""));
    let fresh = "melon brass hat dune";
    let with = |name: &'static str, code: &str, fresh: &'static str| {
        [("name", name.to_owned()), ("code", code.to_owned()), ("fresh", fresh.to_owned())]
    };
    let send = async |browser: &mut Browser, fields: [(&str, String); 3]| {
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        browser.post("/recover", &fields).await
    };
    // Another's name, no code, a name that nobody has: one answer.
    super::common::sign_up(&world, "Bob", "").await;
    for (name, code) in
        [("Bob", &*shown[0]), ("Ann", "K7PQ-M3XW-DA2B-9CDE"), ("Ann", ""), ("Nobody", &shown[0])]
    {
        let answer = send(&mut lost, with(name, code, fresh)).await;
        assert!(answer.status == 422 && answer.text().contains("Wrong name or code"), "{name} {code}");
    }
    // A password that is too weak uses nothing up.
    assert_eq!(send(&mut lost, with("Ann", &shown[0], "password1234")).await.status, 422);
    let typed = shown[0].to_lowercase().replace('-', " ");
    let set = send(&mut lost, with("ann", &typed, fresh)).await;
    let said = lost.get(set.header("location").expect("somewhere")).await.text();
    assert!(said.contains("Your password is set.") && said.contains("1 token has ended"), "{said}");
    assert_eq!(program.get("/api/v1/me").await.status, 401);
    assert_eq!(ann.get("/account").await.status, 303, "every browser is signed out");
    assert_eq!(send(&mut lost, with("Ann", &shown[0], "another set of words")).await.status, 422, "once");
    assert_eq!(lost.post("/sign-in", &[("name", "Ann"), ("password", fresh)]).await.status, 303);
    assert!(lost.get("/account").await.text().contains("9 are left"));
    // New ones, for whoever knows the password; the old ones end.
    assert_eq!(lost.post("/account/codes", &[("password", PASSWORD)]).await.status, 422);
    let renewed = codes(&lost.post("/account/codes", &[("password", fresh)]).await.text());
    assert_eq!(renewed.len(), 10);
    let mut other = world.browser();
    assert_eq!(send(&mut other, with("Ann", &shown[1], PASSWORD)).await.status, 422);
    // The audit log says that it happened, without a name.
    let boss = world.account("Boss", true).await;
    let (mut boss, _) = world.signed_in(boss, LoginKind::Session).await;
    let log = boss.get("/organise").await.text();
    for did in ["set a new password with a recovery code", "made new recovery codes"] {
        let before = log.split(did).next().filter(|before| before.len() < log.len()).expect(did);
        let line = before.rsplit("<li").next().unwrap_or_default();
        assert!(line.contains("account ") && !line.contains("Ann"), "{line}");
    }
    // A link of an organiser's ends the codes as well.
    let page = boss.post("/organise/reset", &[("name", "Ann")]).await.text();
    let link = between(&page, "/password?link=", "<").to_owned();
    assert_eq!(other.post("/password", &[("link", &link), ("fresh", PASSWORD)]).await.status, 303);
    assert_eq!(send(&mut world.browser(), with("Ann", &renewed[0], fresh)).await.status, 422);
    // Who signs in and has none is shown new ones, once.
    let sign_in = [("name", "Ann"), ("password", PASSWORD), ("next", "/ladder")];
    let page = other.post("/sign-in", &sign_in).await.text();
    assert!(page.contains("href=\"/ladder\">I have kept them"), "{page}");
    let shown = codes(&page);
    assert_eq!((shown.len(), other.post("/sign-in", &sign_in).await.status), (10, 303));
    assert_eq!(send(&mut world.browser(), with("Ann", &shown[9], fresh)).await.status, 303);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codes_cannot_be_guessed_faster_than_passwords() {
    let world = World::new().await;
    let mut ann = world.browser();
    let shown = codes(&ann.post("/sign-up", &[("name", "Ann"), ("password", PASSWORD)]).await.text());
    let guess = [("name", "Ann"), ("code", "K7PQ-M3XW-DA2B-9CDE"), ("fresh", "melon brass hat dune")];
    let mut thief = world.browser();
    for _ in 0..10 {
        assert_eq!(thief.post("/recover", &guess).await.status, 422);
    }
    assert_eq!(thief.post("/recover", &guess).await.status, 429);
    let right = [("name", "Ann"), ("code", &*shown[0]), ("fresh", "melon brass hat dune")];
    assert_eq!(thief.post("/recover", &right).await.status, 429);
    assert_eq!(
        thief.post("/sign-in", &[("name", "Ann"), ("password", PASSWORD)]).await.status,
        429,
        "one count"
    );
    // Where she signed in before, others use up nothing.
    assert_eq!(ann.post("/recover", &right).await.status, 303);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_forgot_the_password_gets_a_link_and_who_leaves_a_number() {
    let world = World::new().await;
    let mut ann = sign_up(&world, "Ann", "").await;
    let boss = world.account("Boss", true).await;
    let (mut boss, _) = world.signed_in(boss, LoginKind::Session).await;
    let page = boss.post("/organise/reset", &[("name", "Ann")]).await.text();
    let link = between(&page, "/password?link=", "<").to_owned();
    let mut other = world.browser();
    assert_eq!(other.get(&format!("/password?link={link}")).await.heading(), "A new password for Ann");
    let weak = other.post("/password", &[("link", &link), ("fresh", "password1234")]).await;
    assert_eq!(weak.status, 422);
    assert_eq!(
        other.post("/password", &[("link", &link), ("fresh", "another set of words")]).await.status,
        303
    );
    assert_eq!(other.post("/password", &[("link", &link), ("fresh", "yet another set")]).await.status, 410);
    // A link for one person is valid for a day and one of a list for a fortnight, so the refusal names no time.
    let over = other.get(&format!("/password?link={link}")).await;
    assert!(
        over.status == 410 && over.text().contains("has already been used, has expired"),
        "{}",
        over.text()
    );
    assert_eq!(ann.get("/account").await.status, 303, "whoever was signed in is so no more");
    ann = world.browser();
    ann.post("/sign-in", &[("name", "Ann"), ("password", "another set of words")]).await;
    ann.upload("/upload", &[], "bot.py", b"print('mine')").await;
    let objects = async || world.server.objects().list().await.expect("read").len();
    assert_eq!(objects().await, 1);
    assert_eq!(ann.post("/account/delete", &[("password", PASSWORD)]).await.status, 422);
    assert_eq!(ann.post("/account/delete", &[("password", "another set of words")]).await.status, 303);
    assert_eq!((objects().await, ann.get("/account").await.status), (0, 303));
    let people = boss.get("/organise/people").await.text();
    let audit = boss.get("/organise").await.text();
    assert!(!people.contains(">Ann<") && !audit.contains(">Ann<"), "{audit}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_disqualified_leaves_the_table_and_not_the_log_and_comes_back() {
    let world = World::new().await;
    let rita = world.account("Rita", true).await;
    let (mut rita, _) = world.signed_in(rita, LoginKind::Session).await;
    let (mut ann, mut bob) = (sign_up(&world, "Ann", "").await, sign_up(&world, "Bob", "").await);
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    assert_eq!(bob.upload("/upload", &[], "bot.py", b"print('bob')").await.status, 303);
    play_some(&world, 60).await;
    let store = world.server.store();
    let number = |team: &str| {
        let team = team.to_owned();
        async move {
            let all = store.versions().await.expect("read");
            let version = all.into_iter().find(|version| version.entrant == team).expect("it is there").id;
            (store.owner_of(version).await.expect("read").expect("somebody's"), version)
        }
    };
    let ((bobs, _), (anns, first)) = (number("Bob").await, number("Ann").await);
    let before = world.server.board().await.expect("made");
    let places =
        |board: &agon_server::Board| board.table.places.iter().map(|place| place.version).collect::<Vec<_>>();
    let sealed = store.counts().await.expect("read").sealed;
    // A ruling needs a reason and a subject.
    let about = bobs.to_string();
    let rule = |about: &str, ruling: &str, reason: &str| {
        [("about", about.to_owned()), ("ruling", ruling.to_owned()), ("reason", reason.to_owned())]
    };
    async fn sent(browser: &mut Browser, fields: [(&str, String); 3]) -> common::Answer {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.post("/organise/rulings", &fields).await
    }
    let long = "x".repeat(301);
    for (who, ruling, reason) in [
        (about.as_str(), "out", " "),
        (&about, "out", &long),
        (&about, "out", "two\nlines"),
        (&about, "forgive", "why not"),
        ("999999", "out", "nobody"),
        ("1/x", "out", "nothing"),
        (&about, "back", "is not out"),
        // Bosses are ours, and another team's version is not Bob's.
        ("1", "out", "a boss"),
        (&format!("{bobs}/{first}"), "out", "of Ann"),
    ] {
        assert_eq!(sent(&mut rita, rule(who, ruling, reason)).await.status, 422, "{who} {ruling} {reason}");
    }
    assert_eq!(sent(&mut bob, rule(&anns.to_string(), "out", "I want to win")).await.status, 403);
    assert_eq!(store.counts().await.expect("read").sealed, sealed, "nothing was written");
    // Out: gone from the ladder and the table, not from the log.
    let reason = "Played from <two> accounts.";
    assert_eq!(sent(&mut rita, rule(&about, "out", reason)).await.status, 303);
    assert_eq!(sent(&mut rita, rule(&about, "out", reason)).await.status, 422, "it is so already");
    assert_eq!(store.counts().await.expect("read").sealed, sealed + 1);
    let mut spectator = world.browser();
    assert!(!spectator.get("/ladder").await.text().contains("<b>Bob</b>"));
    let told = spectator.get("/rulings").await.text();
    assert!(told.contains("Played from &lt;two&gt; accounts.") && told.contains("<b>Bob</b>"), "{told}");
    assert!(spectator.get(&format!("/team/{bobs}")).await.text().contains("Disqualified on"));
    assert_eq!(bob.get("/").await.heading(), "Bob is disqualified");
    let played = |matches: &[agon_store::reads::StoredMatch]| matches.len();
    let filter = agon_store::reads::Filter { team: Some(bobs), ..Default::default() };
    let eyes = agon_store::reads::Eyes::Organiser;
    let count = played(&store.matches(eyes, &filter).await.expect("read"));
    play_some(&world, 12).await;
    let since = store.matches(eyes, &filter).await.expect("read");
    assert!(
        since.len() <= count + 2,
        "what was planned ends, and nothing new begins: {} {count}",
        since.len()
    );
    // Back: it plays and counts again.
    assert_eq!(sent(&mut rita, rule(&about, "back", "They were brothers.")).await.status, 303);
    assert!(spectator.get("/ladder").await.text().contains("<b>Bob</b>"));
    let after = world.server.board().await.expect("made");
    let both =
        |board: &agon_server::Board| places(board).into_iter().collect::<std::collections::BTreeSet<_>>();
    assert!(both(&after).is_superset(&both(&before)));
    // A single version: it is no longer live, and nobody can go back to it.
    let version = format!("{anns}/{first}");
    assert_eq!(sent(&mut rita, rule(&version, "out", "Asked for by the team.")).await.status, 303);
    assert_eq!(ann.get(&format!("/version/{first}")).await.heading(), "v1 was removed from the ratings");
    assert_eq!(ann.post(&format!("/version/{first}/live"), &[]).await.status, 422);
    assert_eq!(
        ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status,
        409,
        "nor by handing it in"
    );
    assert_eq!(sent(&mut rita, rule(&version, "back", "It was a mistake.")).await.status, 303);
    assert_eq!(ann.post(&format!("/version/{first}/live"), &[]).await.status, 303);
    // A button closes uploads as well.
    assert_eq!(rita.post("/organise/freeze", &[]).await.status, 303);
    assert_eq!(ann.get("/upload").await.heading(), "Uploads are closed");
    // And no page invites to upload any more.
    for page in ["/", &format!("/team/{anns}"), &format!("/version/{first}")] {
        let told = ann.get(page).await.text();
        assert!(!told.contains("/upload"), "{page}: {told}");
    }
    let home = spectator.get("/").await.text();
    assert!(home.contains("Uploads closed on") && !home.contains("Take part"), "{home}");
    assert!(spectator.get("/sign-up").await.text().contains("Uploads closed on"));
    let audit = rita.get("/organise").await.text();
    assert!(
        audit.contains("disqualified Bob")
            && audit.contains("reinstated")
            && audit.contains("closed uploads"),
        "{audit}"
    );
    let (_, found) = agon_server::status::fsck(world.folder.path(), true).await.expect("looked through");
    assert_eq!(found, Vec::<String>::new());
    // The log has gone on since: uploads were closed.
    world.server.tick(world.now()).await.expect("done");
    world.server.keep_board(world.now(), true).await.expect("kept");
    // Rebuilt from the log alone, the table is the same.
    let again = agon_server::status::status(world.folder.path()).await.expect("read");
    let now = world.server.board().await.expect("made");
    assert_eq!((again.board, again.upto), (now.lines, now.upto));
}
