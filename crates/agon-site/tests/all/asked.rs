//! Challenges and drafts from the pages, and live pages.

use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use crate::common::{Browser, World};
use agon_bot::BotName;
use agon_site::limits::STREAMS;
use agon_store::LoginKind;
use agon_worker::BotSource;
use agon_worker::play::MatchEnd;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Plays what is leased until nothing is left, with an upper limit; everybody plays like the first built-in bot.
async fn play(world: &World, most: usize) {
    let worker = world.server.meet("one", "not confined", world.now()).await.expect("met");
    for number in 0..most {
        world.wait(1_000);
        world.server.tick(world.now()).await.expect("done");
        let request = format!("{}-{number}", world.now().0);
        let granted = world.server.lease(worker, &request, 1, world.now()).await.expect("answered");
        for job in &granted.jobs {
            let first = agon_games::all()[0].info().builtins[0].name;
            let bot = |seat: &agon_worker::Sitting| match &seat.program {
                BotSource::Builtin(name) => BotName::parse(name).expect("a name"),
                BotSource::Source(_) => BotName::parse(&format!("builtin:{first}")).expect("a name"),
            };
            let bots: Vec<BotName> = job.seats.iter().map(bot).collect();
            let played =
                world.server.table().play(job, &bots, &[0], &AtomicBool::new(false), &AtomicU32::new(0));
            let MatchEnd::Whole(recorded) = played.expect("begins") else { panic!("it is whole") };
            let whole = recorded.shared_out(world.server.table()).expect("a replay");
            assert!(world.server.start(worker, job.attempt, world.now()).await.expect("answered"));
            let result = (&whole.observed, &whole.replay[..], &whole.own[..]);
            world.server.post(worker, job.attempt, result, world.now()).await.expect("answered");
        }
        world.server.tick(world.now()).await.expect("done");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drafts_and_challenges_are_asked_for_played_and_bounded() {
    let world = World::new().await;
    let (ann, bob) = (world.account("Ann", false).await, world.account("Bob", false).await);
    world.team(bob, "Others").await;
    let (mut ann, _) = world.signed_in(ann, LoginKind::Session).await;
    let (mut bob, _) = world.signed_in(bob, LoginKind::Session).await;
    let mut nobody = world.browser();
    assert_eq!(ann.get("/challenge").await.heading(), "You have no version to challenge with yet");
    // A draft needs no version, and makes none.
    let form = ann.get("/draft").await;
    assert!(
        form.text().contains("<textarea") && form.text().contains("of 60")
            || form.text().contains("Up to 60")
    );
    assert!(form.body.len() < 60_000, "{}", form.body.len());
    let versions = world.server.store().versions().await.expect("read");
    let boss = versions[0].id.to_string();
    let wish: &[(&str, &str)] =
        &[("language", "python"), ("code", "print('of my own')\r\n"), ("against", &boss), ("seat", "2")];
    let answer = ann.upload("/draft", wish, "", b"").await;
    let game = answer.header("location").unwrap_or_else(|| panic!("{}", answer.text())).to_owned();
    assert!(game.starts_with("/match/"), "{game}");
    let heading = ann.get(&game).await.heading();
    assert!(heading.contains(" against your draft of 06:"), "it has a name: {heading}");
    let sources: Vec<_> = world.server.objects().list().await.expect("read");
    assert_eq!(sources.len(), 1);
    let kept = world.server.objects().get(&sources[0], 1 << 20).await.expect("there");
    let kept = String::from_utf8_lossy(&kept).into_owned();
    assert!(kept.contains("print('of my own')\n") && kept.contains("agon.toml") && !kept.contains("\r\n"));
    play(&world, 6).await;
    let page = ann.get(&game).await.text();
    assert!(page.contains("id=\"match\" data-pace"), "a page that was live finds the last of it: {page}");
    assert!(
        page.contains("draft of 06:") && page.contains("Play again") && page.contains("/draft?"),
        "{page}"
    );
    for other in [&mut bob, &mut nobody] {
        assert_eq!(other.get(&game).await.status, 404, "a draft is nobody else's to see");
    }
    let after = world.server.store().versions().await.expect("read");
    assert_eq!(after.len(), versions.len(), "no version was made");
    // Mistakes are reported, and no match is asked for.
    for (wrong, why) in [
        (&[("code", ""), ("against", &boss)][..], "Write something"),
        (&[("code", "x"), ("against", "none")], "Choose an opponent"),
        (&[("code", "x"), ("against", "999999")], "no longer live"),
        (&[("code", "x"), ("against", &boss), ("seat", "9")], "there is no seat 9"),
        (&[("code", "x"), ("against", &boss), ("map", "7")], "there is no map 7"),
        (&[("code", "x"), ("against", &boss), ("seed", "ten")], "whole number"),
    ] {
        let answer = ann.upload("/draft", wrong, "", b"").await;
        assert!(answer.status == 422 && answer.text().contains(why), "{why}: {}", answer.text());
    }
    // A challenge with a version that plays.
    ann.upload("/upload", &[], "bot.py", b"print('first')").await;
    play(&world, 6).await;
    let form = ann.get("/challenge").await.text();
    assert!(form.contains("Challenges and drafts: ") && form.contains(" of 60 this hour"), "{form}");
    let all = world.server.store().versions().await.expect("read");
    let own = all.iter().find(|version| version.entrant == "Ann").expect("live").id.to_string();
    let wish =
        [("own", own.as_str()), ("against", boss.as_str()), ("map", "1"), ("seed", "7"), ("seat", "1")];
    let answer = ann.post("/challenge", &wish).await;
    let game = answer.header("location").unwrap_or_else(|| panic!("{}", answer.text())).to_owned();
    play(&world, 30).await;
    let page = ann.get(&game).await.text();
    assert!(page.contains("challenge (match") && page.contains("<code>7</code>"), "{page}");
    let theirs = bob.post("/challenge", &wish).await;
    assert_eq!(theirs.status, 422, "it is not Bob's to play with");
    // The hourly limit: once reached, the page says when there is room again before anybody tries.
    let mut last = 0;
    world.set(&[("asked_an_hour", "20")]).await;
    for _ in 0..21 {
        last = ann.post("/challenge", &wish).await.status;
    }
    assert_eq!(last, 429);
    let form = ann.get("/challenge").await.text();
    assert!(form.contains("the limit. It can ask again from ") && form.contains("disabled"), "{form}");
    let (_, found) = agon_server::status::fsck(world.folder.path(), true).await.expect("looked through");
    assert_eq!(found, Vec::<String>::new());
}

struct Hints(TcpStream, String);

impl Hints {
    async fn open(browser: &Browser, last: Option<&str>) -> Self {
        Self::at(browser, "/events", last).await
    }

    async fn at(browser: &Browser, path: &str, last: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(browser.address).await.expect("it listens");
        let cookies: Vec<String> =
            browser.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let last = last.map_or_else(String::new, |last| format!("Last-Event-ID: {last}\r\n"));
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{last}\r\n",
            browser.address,
            cookies.join("; ")
        );
        stream.write_all(head.as_bytes()).await.expect("sent");
        Self(stream, String::new())
    }

    /// Reads until `text` has come.
    async fn until(&mut self, text: &str) {
        let read = async {
            while !self.1.contains(text) {
                let mut bytes = [0; 4096];
                let count = self.0.read(&mut bytes).await.expect("read");
                assert!(count > 0, "it ended: {}", self.1);
                self.1 += &String::from_utf8_lossy(&bytes[..count]);
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(60), read).await;
        assert!(in_time.is_ok(), "`{text}` was not said: {}", self.1);
    }

    /// The last id that came.
    fn last(&self) -> String {
        let from = self.1.rfind("id: ").expect("something was said") + 4;
        self.1[from..].lines().next().unwrap_or_default().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_looks_on_hears_that_something_changed_and_after_a_cut_what_they_missed() {
    let mut world = World::new().await;
    let rita = world.account("Rita", true).await;
    let (mut rita, _) = world.signed_in(rita, LoginKind::Session).await;
    let nobody = world.browser();
    let mut hints = Hints::open(&nobody, None).await;
    hints.until("text/event-stream").await;
    hints.until("retry: ").await;
    // nginx passes them on at once as well.
    assert!(hints.1.contains("x-accel-buffering: no"), "{}", hints.1);
    // The first beat tells the current state; whatever comes after it is a change.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(rita.post("/organise/announce", &[("text", "Pizza")]).await.status, 303);
    hints.until("data: acts\n").await;
    let seen = hints.last();
    drop(hints);
    assert_eq!(rita.post("/organise/announce", &[("text", "No pizza")]).await.status, 303);
    let mut again = Hints::open(&nobody, Some(&seen)).await;
    again.until("data: acts\n").await;
    assert_ne!(again.last(), seen);
    // A page says what it knew when it was made, so a change before its stream was open is not missed.
    let page = rita.get("/ladder").await.text();
    let from = page.find("data-seen=\"").expect("it says so") + 11;
    let seen = page[from..].split('"').next().unwrap_or_default();
    assert_eq!(rita.post("/organise/announce", &[("text", "Pizza at last")]).await.status, 303);
    let mut late = Hints::at(&nobody, &format!("/events?seen={seen}"), None).await;
    late.until("data: acts\n").await;
    let mut strange = Hints::open(&nobody, Some("../../x")).await;
    strange.until("200 OK").await;
    // Only so many per account at once; then none, until one is closed.
    let mut open = Vec::new();
    for _ in 0..STREAMS {
        let mut one = Hints::open(&rita, None).await;
        one.until("200 OK").await;
        open.push(one);
    }
    let mut refused = Hints::open(&rita, None).await;
    refused.until("503 ").await;
    refused.until("retry-after: 30").await;
    // A page with many live parts asks no more often than allowed, and the server stops without waiting for streams.
    let pages = rita.get("/").await;
    assert!(pages.status == 200 && pages.text().contains("data-live=\"board acts"));
    let stopped = tokio::time::timeout(Duration::from_secs(30), world.stop()).await;
    assert!(stopped.is_ok());
}
